# Proves that `warpwise try` runs a CUDA program as it is, finds no mistake in it (notes are none), and gets out of it what is expected:
#
#     cmake -DGUIDE=the/guide -DROOT=the/repository -DPROGRAM=folder/name.cu -P check_program.cmake
#
# Beside the program lies name.expected:
#
#     # A line like this one is a comment; empty lines do not count.
#     lines that the program's stdout must contain, whole and in this order, whatever stands between them
#     status 0
#
# The last line is the exit status. Spaces at the ends of lines do not count. -DTIMEOUT=SECONDS: 300 unless told.
# -DEXPECTED=FILE names that file where it does not lie beside the program. -DOPTIONS="--gpu more.cu", words with spaces between
# them, is given to `warpwise try`. -DSAYS=TEXT: stderr has to contain that text.

cmake_minimum_required(VERSION 3.22)

foreach(variable GUIDE ROOT PROGRAM)
    if(NOT DEFINED ${variable})
        message(FATAL_ERROR "usage: cmake -DGUIDE=... -DROOT=... -DPROGRAM=name.cu -P check_program.cmake")
    endif()
endforeach()
if(NOT DEFINED TIMEOUT)
    set(TIMEOUT 300)
endif()
cmake_path(ABSOLUTE_PATH PROGRAM BASE_DIRECTORY "${CMAKE_CURRENT_LIST_DIR}" NORMALIZE)
if(DEFINED EXPECTED)
    cmake_path(ABSOLUTE_PATH EXPECTED BASE_DIRECTORY "${CMAKE_CURRENT_LIST_DIR}" NORMALIZE OUTPUT_VARIABLE expected_file)
else()
    cmake_path(REPLACE_EXTENSION PROGRAM LAST_ONLY expected OUTPUT_VARIABLE expected_file)
endif()
foreach(file "${PROGRAM}" "${expected_file}")
    if(NOT EXISTS "${file}")
        message(FATAL_ERROR "There is no file ${file}")
    endif()
endforeach()

# Text is searched as a whole, never as a list: lines may hold brackets and semicolons, which lists do not keep.
function(tidy_lines text result)
    string(REPLACE "\r\n" "\n" text "\n${text}\n")
    string(REGEX REPLACE "[ \t]+\n" "\n" text "${text}")
    set(${result} "${text}" PARENT_SCOPE)
endfunction()

# Takes the first line off the text in the variable `rest`.
function(next_line rest line)
    set(text "${${rest}}")
    string(FIND "${text}" "\n" end)
    string(SUBSTRING "${text}" 0 ${end} first)
    math(EXPR begin "${end} + 1")
    string(SUBSTRING "${text}" ${begin} -1 text)
    set(${rest} "${text}" PARENT_SCOPE)
    set(${line} "${first}" PARENT_SCOPE)
endfunction()

file(READ "${expected_file}" expected)
tidy_lines("${expected}" expected)
if(NOT expected MATCHES "\nstatus ([0-9]+)\n+$")
    message(FATAL_ERROR "${expected_file} does not end with a line 'status 0' or another status")
endif()
set(expected_status ${CMAKE_MATCH_1})
string(REGEX REPLACE "\nstatus [0-9]+\n+$" "\n" expected "${expected}")

separate_arguments(OPTIONS UNIX_COMMAND "${OPTIONS}")
execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env "WARPWISE_ROOT=${ROOT}" --unset=CPU_DEVICE_DIAGNOSTICS
        --unset=CPU_DEVICE_FINDINGS "${GUIDE}" try ${OPTIONS} "${PROGRAM}"
    TIMEOUT ${TIMEOUT} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)

set(complaint "")
tidy_lines("${output}" unseen)
set(lines 0)
while(NOT expected STREQUAL "")
    next_line(expected line)
    if(line STREQUAL "" OR line MATCHES "^#")
        continue()
    endif()
    math(EXPR lines "${lines} + 1")
    string(FIND "${unseen}" "\n${line}\n" position)
    if(position EQUAL -1)
        string(FIND "\n${output}\n" "\n${line}\n" anywhere)
        set(complaint "stdout lacks this line")
        if(NOT anywhere EQUAL -1)
            set(complaint "stdout has this line, but too early")
        endif()
        string(APPEND complaint ": ${line}")
        break()
    endif()
    # The newline behind a line is the one in front of the next.
    string(LENGTH "\n${line}" length)
    math(EXPR position "${position} + ${length}")
    string(SUBSTRING "${unseen}" ${position} -1 unseen)
endwhile()

# A note is no complaint.
string(REGEX REPLACE "(^|\n)CPU device: note: [^\n]*" "" complaints "${errors}")
string(REGEX MATCH "(^|\n)CPU device: [^\n]*" diagnostic "${complaints}")
if(NOT status STREQUAL expected_status)
    set(complaint "it ended with ${status}, not with ${expected_status}")
elseif(NOT diagnostic STREQUAL "")
    string(STRIP "${diagnostic}" diagnostic)
    set(complaint "the CPU device complains: ${diagnostic}")
elseif(complaint STREQUAL "" AND lines EQUAL 0)
    set(complaint "${expected_file} expects no line at all")
endif()
if(complaint STREQUAL "" AND DEFINED SAYS)
    string(FIND "${errors}" "${SAYS}" position)
    if(position EQUAL -1)
        set(complaint "stderr lacks this text: ${SAYS}")
    endif()
endif()
if(NOT complaint STREQUAL "")
    message(FATAL_ERROR "${PROGRAM}: ${complaint}\n---- stdout\n${output}\n---- stderr\n${errors}")
endif()
message(STATUS "as expected: ${lines} lines and status ${status}")
