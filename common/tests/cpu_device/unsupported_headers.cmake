# Proves that every header in unsupported_headers.txt can be included, and says that it is not supported:
#
#     cmake -DCOMPILER=c++ -DINCLUDES=-Ione;-Itwo -DFOLDER=scratch_folder -P unsupported_headers.cmake

cmake_minimum_required(VERSION 3.22)

file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../../cpu_device/unsupported_headers.txt names REGEX "^    ")
list(TRANSFORM names STRIP)
list(LENGTH names count)
if(count LESS 40)
    message(FATAL_ERROR "unsupported_headers.txt has ${count} headers only")
endif()
list(TRANSFORM names REPLACE "(.+)" "#include <\\1>\n" OUTPUT_VARIABLE lines)
list(JOIN lines "" text)
file(WRITE ${FOLDER}/includes.cpp "${text}")
set(all_errors -fmax-errors=0)
if(COMPILER MATCHES "clang")
    set(all_errors -ferror-limit=0)
endif()
execute_process(COMMAND ${COMPILER} ${INCLUDES} ${all_errors} -E ${FOLDER}/includes.cpp -o ${FOLDER}/includes.ii
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)

function(expect sentence)
    string(FIND "${output}" "${sentence}" position)
    if(position EQUAL -1)
        message(FATAL_ERROR "the compiler does not say: ${sentence}\n${output}")
    endif()
endfunction()
if(status STREQUAL "0")
    message(FATAL_ERROR "the compiler is content")
endif()
expect("The CPU device does not support this part of CUB (<cub/grid/grid_queue.cuh>): build this program with nvcc")
expect("The CPU device does not support asynchronous barriers (<cuda_awbarrier.h>): build this program with nvcc")
expect("The CPU device does not support the template library CUTLASS (<cutlass/cutlass.h>): build this program with nvcc")
foreach(name IN LISTS names)
    expect(" (<${name}>): build this program with nvcc")
endforeach()
message(STATUS "${count} headers say that they are not supported")
