# NCCL and MPI are no part of the CUDA Toolkit. Without NCCL, the chapter has no steps of NCCL; without MPI, or without
# NCCL, there is no program for mpirun. Both are said when the build is configured, and by the lessons.
#
# NCCL is looked for in NCCL_ROOT, among the system's libraries and those of the toolkit (libnccl-dev), and in the Python
# package nvidia-nccl, which has it in nvidia/nccl. On the CPU device it is a part of that device.
set(NCCL_ROOT "" CACHE PATH "A folder with include/nccl.h and lib/libnccl.so.2")
if(TARGET several_gpus_cuda)
    set(places ${NCCL_ROOT} $ENV{NCCL_ROOT})
    find_program(WARPWISE_PYTHON NAMES python3 python)
    mark_as_advanced(WARPWISE_PYTHON)
    if(WARPWISE_PYTHON)
        execute_process(
            COMMAND ${WARPWISE_PYTHON} -c "import importlib.util as u
spec = u.find_spec('nvidia')
print(';'.join(p + '/nccl' for p in spec.submodule_search_locations) if spec else '')"
            OUTPUT_VARIABLE in_python OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
        list(APPEND places ${in_python})
    endif()
    find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${places} ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
    find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS ${places} ${CUDAToolkit_LIBRARY_DIR} PATH_SUFFIXES lib lib64)
    mark_as_advanced(NCCL_INCLUDE_DIR NCCL_LIBRARY)
    if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
        message(STATUS "NCCL: ${NCCL_LIBRARY}")
        set(nccl_cuda ON)
    else()
        message(STATUS "NCCL is not installed: chapter 6 is built without its steps (libnccl-dev, or -DNCCL_ROOT=...)")
    endif()
endif()
if(TARGET several_gpus_cpu AND EXISTS ${PROJECT_SOURCE_DIR}/common/cpu_device/include/nccl.h)
    set(nccl_cpu ON)
endif()

function(use_nccl target device)
    target_compile_definitions(${target} PRIVATE WARPWISE_NCCL)
    if(device STREQUAL "cuda")
        # In LD_LIBRARY_PATH, another NCCL goes before this one.
        target_include_directories(${target} SYSTEM PRIVATE ${NCCL_INCLUDE_DIR})
        target_link_libraries(${target} PRIVATE ${NCCL_LIBRARY})
    else()
        target_link_libraries(${target} PRIVATE toolkit_libraries)
    endif()
endfunction()

find_package(MPI COMPONENTS CXX QUIET)
if(NOT MPI_CXX_FOUND)
    message(STATUS "MPI is not installed: chapter 6 is built without the program for mpirun (libopenmpi-dev, openmpi-bin)")
endif()
add_custom_target(several_gpus_mpi)
foreach(device IN LISTS WARPWISE_DEVICES)
    if(NOT nccl_${device})
        continue()
    endif()
    use_nccl(several_gpus_${device} ${device})
    if(device STREQUAL "cpu")
        use_nccl(several_gpus_plain cpu)
    endif()
    if(MPI_CXX_FOUND)
        set(program several_gpus_mpi_${device})
        add_executable(${program})
        add_dependencies(several_gpus_mpi ${program})
        add_dependencies(several_gpus_programs ${program})
        target_device_sources(${program} ${device} processes/mpi/several_gpus_mpi.cu)
        target_link_libraries(${program} PRIVATE helpers_${device} ${MPI_CXX_LIBRARIES})
        target_include_directories(${program} SYSTEM PRIVATE ${MPI_CXX_INCLUDE_DIRS})
        target_compile_definitions(${program} PRIVATE OMPI_SKIP_MPICXX)  # the C++ interface that MPI has given up
        use_nccl(${program} ${device})
        set_target_properties(${program} PROPERTIES
            OUTPUT_NAME several_gpus_mpi
            RUNTIME_OUTPUT_DIRECTORY ${WARPWISE_BIN_DIR}/${device})
    endif()
endforeach()
