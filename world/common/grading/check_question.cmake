# For check_rejection.cmake and check_stub_fails.cmake: what a grader has told the guide (facts.h) about its first failure.

# Makes graders that are run from now on write their facts to a file, which has none of an earlier run.
function(ask_for_facts program result)
    set(file "${program}.facts.json")
    file(REMOVE "${file}")
    set(ENV{WARPWISE_GRADING_FACTS} "${file}")
    set(${result} "${file}" PARENT_SCOPE)
endfunction()

# Fails unless the first failure has a question, or something to try, and says more than a condition in C++.
function(require_question file output)
    if(NOT EXISTS "${file}")
        # The answer has ended the grader: then it is the supervisor who says so, and asks.
        if(output MATCHES "ended the program .*\\?")
            return()
        endif()
        message(FATAL_ERROR "The grader wrote no facts about its failure\n${output}")
    endif()
    file(READ "${file}" facts)
    file(REMOVE "${file}")
    string(JSON observation ERROR_VARIABLE no_observation GET "${facts}" failure observation)
    string(JSON question ERROR_VARIABLE no_question GET "${facts}" failure question)
    if(no_observation OR no_question)
        message(FATAL_ERROR "The grader's facts tell no failure\n${output}")
    elseif(observation MATCHES "^The grader requires: ")
        message(FATAL_ERROR "The failure shows a condition of the grader's source instead of words\n${output}")
    elseif(question STREQUAL "")
        message(FATAL_ERROR "The failure asks nothing, and says nothing to try\n${output}")
    endif()
endfunction()
