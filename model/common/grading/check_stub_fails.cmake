# Proves that an exercise is not solved as it is handed out, and that its grader copes with that:
#
#     cmake -DPROGRAM=grader_linked_with_the_stub -P check_stub_fails.cmake
#
# Fails unless a check of the grader failed, without a crash, an exception or a timeout, and unless the failure says
# something to ask or to try.

cmake_minimum_required(VERSION 3.22)
include("${CMAKE_CURRENT_LIST_DIR}/check_question.cmake")

ask_for_facts("${PROGRAM}" facts)
execute_process(COMMAND "${PROGRAM}" --full TIMEOUT 60
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)

if(status STREQUAL "0")
    message(FATAL_ERROR "The exercise is solved before anybody worked on it\n${output}")
elseif(NOT status STREQUAL "1")
    message(FATAL_ERROR "The grader should fail a check, but it ended with: ${status}\n${output}")
elseif(output MATCHES "unexpected exception|fatal error condition")
    message(FATAL_ERROR "The stub makes the grader stumble instead of failing a check\n${output}")
endif()
require_question("${facts}" "${output}")
message(STATUS "fails as it should:\n${output}")
