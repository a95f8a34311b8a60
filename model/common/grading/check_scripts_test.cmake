# Tests check_rejection.cmake and check_stub_fails.cmake with programs that only print and exit:
#
#     cmake -DFOLDER=empty_scratch_folder -P check_scripts_test.cmake

cmake_minimum_required(VERSION 3.22)
file(MAKE_DIRECTORY "${FOLDER}")

set(facts "{\"failure\": {\"observation\": \"d_out: wrong\", \"question\": \"Who writes it?\"}}")

# Writes a program that prints `output` (of one line or more), tells the guide `facts`, and then does `last_command`.
function(make_program output last_command)
    file(WRITE "${FOLDER}/output.txt" "${output}\n")
    file(WRITE "${FOLDER}/facts.txt" "${facts}\n")
    file(WRITE "${FOLDER}/program" "#!/bin/sh\ncat '${FOLDER}/output.txt'
cp '${FOLDER}/facts.txt' \"$WARPWISE_GRADING_FACTS\"\n${last_command}\n")
    file(CHMOD "${FOLDER}/program" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

function(make_answer)
    string(JOIN "\n" text ${ARGN})
    file(WRITE "${FOLDER}/answer.cu" "${text}\n")
endfunction()

# Runs a script; `judgement` is what it should say, "ok" or a part of its complaint.
function(expect script judgement)
    execute_process(
        COMMAND "${CMAKE_COMMAND}" "-DPROGRAM=${FOLDER}/program" "-DANSWER=${FOLDER}/answer.cu"
                -P "${CMAKE_CURRENT_LIST_DIR}/${script}.cmake"
        RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
    string(REGEX REPLACE "[ \t\r\n]+" " " output "${output}")
    string(FIND "${output}" "${judgement}" position)
    if(judgement STREQUAL "ok")
        if(NOT status STREQUAL "0")
            message(SEND_ERROR "${script} should be content, but says: ${output}")
        endif()
    elseif(status STREQUAL "0" OR position EQUAL -1)
        message(SEND_ERROR "${script} should complain '${judgement}', but says: ${output}")
    endif()
endfunction()

make_answer("// Wrong answer: nothing right" "// Rejected by: handles a row" "// Message: elements [3] to 5 were wrong (a + b)")
set(failure "FAILED: elements [3]\n  to 5 were wrong (a +\n  b)")

make_program("${failure}" "exit 1")
expect(check_rejection "ok")
expect(check_stub_fails "ok")
make_program("FAILED: something else" "exit 1")
expect(check_rejection "but without saying")
make_program("${failure}" "exit 0")
expect(check_rejection "accepts the wrong answer")
expect(check_stub_fails "solved before anybody worked on it")
make_program("${failure}" "exit 2")
expect(check_rejection "it ended with: 2")
expect(check_stub_fails "it ended with: 2")
make_program("${failure}" "kill -SEGV $$")
expect(check_rejection "it ended with")
expect(check_stub_fails "it ended with")
make_program("${failure}\ndue to unexpected exception with message" "exit 1")
expect(check_rejection "stumbled")
expect(check_stub_fails "stumble")
make_program("${failure}" "test \"$1\" = 'handles a row' && exit 1")
expect(check_rejection "ok")

foreach(no_question IN ITEMS
        "{\"failure\": {\"observation\": \"d_out: wrong\", \"question\": \"\"}}|asks nothing"
        "{\"failure\": {\"observation\": \"The grader requires: n <= 4\", \"question\": \"Why?\"}}|instead of words"
        "{\"failure\": null}|tell no failure")
    string(REPLACE "|" ";" no_question "${no_question}")
    list(POP_BACK no_question complaint)
    set(facts "${no_question}")
    make_program("${failure}" "exit 1")
    expect(check_rejection "${complaint}")
    expect(check_stub_fails "${complaint}")
endforeach()
make_program("${failure}" "rm -f \"$WARPWISE_GRADING_FACTS\"; exit 1")
expect(check_rejection "wrote no facts")

set(facts "{\"failure\": {\"observation\": \"d_out: wrong\", \"question\": \"Who writes it?\"}}")
make_program("${failure}" "exit 1")
make_answer("// Wrong answer: nothing right" "// Rejected by: handles a row")
expect(check_rejection "has no line '// Message: ...'")
make_answer("// Wrong answer: nothing right" "// Rejected by: handles rows, columns" "// Message: FAILED")
expect(check_rejection "would not take")
