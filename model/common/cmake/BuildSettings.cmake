# Compilers and options. Defines WARPWISE_DEVICES: the list of devices that this build is for.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug, RelWithDebInfo" FORCE)
endif()

# assert() in a kernel is part of the lesson, so no build type turns it off.
foreach(type RELEASE RELWITHDEBINFO)
    string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_${type} "${CMAKE_CXX_FLAGS_${type}}")
endforeach()
# Host code: g++ 12 warns about the standard library's own strings at -O3. Device code has nvcc's -O3 all the same.
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS ON)  # on_exit, 128-bit integers
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
option(WARPWISE_WERROR "Treat warnings as errors" OFF)

# The guide shows what compilers say in color. ninja takes the colors away again where its output is no terminal.
if(CMAKE_GENERATOR STREQUAL "Ninja")
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fdiagnostics-color=always>"
        "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-fdiagnostics-color=always>")
endif()

# g++ cleans its memory up less often (above 512 MiB): it needs more memory, and less time.
add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288;--param=ggc-min-expand=100>")

set(WARPWISE_WARNINGS -Wall -Wextra)
if(WARPWISE_WERROR)
    list(APPEND WARPWISE_WARNINGS -Werror)
endif()

# The rewriter, the lesson runner, the guide, graders, tests of host code, and what the CPU device does for its texts or once
# a launch: a learner waits for them, and their speed matters less. No kernel and nothing that is timed is compiled with this.
set(WARPWISE_QUICK_TO_BUILD -Og)
# Most of their time goes into these headers; a target has them precompiled.
set(WARPWISE_HEAVY_HEADERS <algorithm> <filesystem> <fmt/format.h> <functional> <map> <nlohmann/json.hpp> <optional> <string>
    <vector>)

# Compiles several files of the rewriter and of the CPU device as one (common/cpu_device/CMakeLists.txt).
option(WARPWISE_UNITY "Compile several files of the CPU device as one" ON)

# For those who change the CPU device: its own tests under AddressSanitizer and UndefinedBehaviorSanitizer (.ci/run).
option(WARPWISE_SANITIZE "Build with -fsanitize=address,undefined" OFF)
if(WARPWISE_SANITIZE)
    # Some of it runs on the small stacks of the CPU device's threads; with less optimization, the checks need larger frames.
    set(WARPWISE_QUICK_TO_BUILD -O1)
    # Programs may pass any number for an enumerator of CUDA's. Whether a thread-local variable's address is null is what
    # g++ asks of the processor's flags, which an instruction that the linker puts there does not set.
    add_compile_options(-fsanitize=address,undefined -fno-sanitize=enum,null -fno-sanitize-recover=undefined
        -fno-omit-frame-pointer)
    add_link_options(-fsanitize=address,undefined)
endif()

set(WARPWISE_DEVICES "")
if(NOT WARPWISE_DEVICE STREQUAL "cuda")
    list(APPEND WARPWISE_DEVICES cpu)
endif()
if(NOT WARPWISE_DEVICE STREQUAL "cpu")
    set(architectures_given ${CMAKE_CUDA_ARCHITECTURES})  # before CMake fills in its own
    include(CheckLanguage)
    if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
        find_program(WARPWISE_NVCC nvcc PATHS /usr/local/cuda/bin /opt/cuda/bin)
        if(WARPWISE_NVCC)
            set(CMAKE_CUDA_COMPILER ${WARPWISE_NVCC})
        endif()
    endif()
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
        list(APPEND WARPWISE_DEVICES cuda)
    elseif(WARPWISE_DEVICE STREQUAL "cuda")
        message(FATAL_ERROR "No nvcc found. Install the CUDA Toolkit, or set CUDACXX to nvcc's path, or build for the "
                            "CPU device: cmake --preset cpu")
    endif()
endif()

set(WARPWISE_GPU_PRESENT OFF)
if(EXISTS /dev/nvidiactl OR EXISTS /dev/nvidia0 OR EXISTS /dev/dxg)
    set(WARPWISE_GPU_PRESENT ON)
endif()

if("cuda" IN_LIST WARPWISE_DEVICES)
    # -DCMAKE_CUDA_ARCHITECTURES=80 overrides: without it, the GPUs of this machine, or what nvcc takes by default.
    enable_language(CUDA)
    if(NOT architectures_given AND CMAKE_CUDA_ARCHITECTURES_NATIVE)
        set(CMAKE_CUDA_ARCHITECTURES ${CMAKE_CUDA_ARCHITECTURES_NATIVE} CACHE STRING "GPUs to build for" FORCE)
    endif()
    string(REPLACE "-DNDEBUG" "" CMAKE_CUDA_FLAGS_RELEASE "${CMAKE_CUDA_FLAGS_RELEASE}")
    string(REPLACE "-O3" "-O2" CMAKE_CUDA_FLAGS_RELEASE "${CMAKE_CUDA_FLAGS_RELEASE}")
    find_package(CUDAToolkit REQUIRED)
    # Some versions of CMake do not know how to ask some versions of nvcc for C++20, so the option is given as it is.
    string(APPEND CMAKE_CUDA_FLAGS " -std=c++20 -Xcompiler=-Wall,-Wextra")
    string(APPEND CMAKE_CUDA_FLAGS " -lineinfo")
    if(WARPWISE_WERROR)
        string(APPEND CMAKE_CUDA_FLAGS " -Werror=all-warnings")
    endif()
    set(CMAKE_CUDA_STANDARD_REQUIRED OFF)
    unset(CMAKE_CUDA_STANDARD)
endif()

find_package(OpenMP COMPONENTS CXX)  # only the lessons that teach it use it

list(JOIN WARPWISE_DEVICES " and " devices)
message(STATUS "Building for: ${devices}")
