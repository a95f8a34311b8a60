// What a grader hands to the guide beside its text: a JSON object in the file that the environment names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/grading/failure.h"
#include "common/grading/figure.h"
#include "common/grading/instrumented.h"

namespace grading {

inline constexpr const char* facts_variable = "WARPWISE_GRADING_FACTS";  ///< a file's path; unset or empty: nobody asks

struct Facts {
    bool passed = false;
    std::size_t tests = 0;                  ///< of this grader
    std::optional<Failure> failure;         ///< the first one
    std::vector<std::string> more_failing;  ///< titles of further tests that do not pass
    std::size_t not_run = 0;                ///< tests that were not run any more
    std::string repeat;                     ///< the command that repeats a failure of a further run
    std::string catch2;                     ///< what Catch2 says
};

/// With what `instrument` has counted in this run, and the figures that it has.
std::string facts_json(const Facts& facts, const std::vector<CountedCall>& calls,
                       const std::vector<NotedFigure>& figures);

}  // namespace grading
