# Proves that a grader rejects a wrong answer for the reason that the answer names:
#
#     cmake -DPROGRAM=grader_linked_with_the_answer -DANSWER=answer.cu -P check_rejection.cmake
#
# The answer begins with three comment lines, of which each may go on in lines that begin with "//     ":
#
#     // Wrong answer: what is wrong
#     // Rejected by: exact title of the test case that rejects it
#     // Message: text that the failure must contain
#
# Fails unless that test case ran and failed with that text, without a crash, an exception or a timeout, and unless the
# failure says something to ask or to try, which a learner needs. White space does not count, because Catch2 wraps its
# output.

cmake_minimum_required(VERSION 3.22)
include("${CMAKE_CURRENT_LIST_DIR}/check_question.cmake")

file(READ "${ANSWER}" answer LIMIT 2000)

function(read_field label result)
    if(NOT answer MATCHES "(^|\n)// ${label}: ([^\n]+(\n//     [^\n]+)*)")
        message(FATAL_ERROR "${ANSWER} has no line '// ${label}: ...'")
    endif()
    string(REGEX REPLACE "\n//     " " " field "${CMAKE_MATCH_2}")
    set(${result} "${field}" PARENT_SCOPE)
endfunction()

read_field("Wrong answer" mistake)
read_field("Rejected by" title)
read_field("Message" expected)

if(title MATCHES "[],*~\"\\[]")
    message(FATAL_ERROR "Catch2 would not take '${title}' for one title: avoid , * ~ quotes, backslashes and brackets")
endif()

ask_for_facts("${PROGRAM}" facts)
execute_process(COMMAND "${PROGRAM}" "${title}" --full TIMEOUT 60
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)

if(status STREQUAL "0")
    message(FATAL_ERROR "'${title}' accepts the wrong answer: ${mistake}\n${output}")
elseif(NOT status STREQUAL "1")
    message(FATAL_ERROR "The grader should reject the answer, but it ended with: ${status}\n${output}")
elseif(output MATCHES "unexpected exception|fatal error condition")
    message(FATAL_ERROR "The grader stumbled instead of rejecting the answer\n${output}")
endif()

string(REGEX REPLACE "[ \t\r\n]+" "" output_packed "${output}")
string(REGEX REPLACE "[ \t\r\n]+" "" expected_packed "${expected}")
string(FIND "${output_packed}" "${expected_packed}" position)
if(position EQUAL -1)
    message(FATAL_ERROR "'${title}' rejects the answer, but without saying: ${expected}\n${output}")
endif()
require_question("${facts}" "${output}")
message(STATUS "rejected as it should be: ${mistake}")
