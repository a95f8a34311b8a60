// Builds an answer and grades it.
//
//     const GradeResult result = grade(project, exercise);
//     if (result.outcome == Outcome::passed) ...
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/guide/answers.h"
#include "common/guide/catalog.h"
#include "common/guide/improvement.h"
#include "common/guide/project.h"

namespace guide {

enum class Outcome {
    passed,
    failed,        ///< the grader says what is wrong
    build_failed,  ///< the compiler does
    never_ended,   ///< stopped after the time limit
    cancelled,
    broken,  ///< the grader could not be started, or crashed
};

struct GradeResult {
    Outcome outcome = Outcome::broken;
    std::string text;  ///< what the grader says, or the compiler's first error; for `broken` also what happened to it
    double build_seconds = 0;
    double grade_seconds = 0;
    /// The answer is still what was handed out: `text` invites, and nothing counts as an attempt.
    bool is_untouched = false;
    std::string details = {};  ///< Catch2's own output, or all of the compiler's; empty when there is none
    std::string facts = {};    ///< JSON of the grader (common/grading/facts.h); empty where it handed over none
    std::string learned = {};  ///< after success: what the exercise has taught
    std::vector<Improvement> improvement =
        {};  ///< after success, of kind `speed`: counts of the stub and of the answer
};

struct GradeOptions {
    std::function<void(int done, int of)> on_build = {};  ///< as Builder::build
    std::function<bool()> cancelled = {};
    bool colors = false;
    double limit_seconds = 60;  ///< for the grader
    bool is_brief = false;      ///< only passed or not: no look at later tests, no comparison with the stub
    std::size_t width = 80;     ///< of lines of text
};

/// What a grader is told: the file that it names as the learner's.
std::vector<std::pair<std::string, std::string>> answer_variables(const Project& project, const Answer& answer);

/// Builds and grades the file that counts as the answer (common/guide/answers.h).
GradeResult grade(const Project& project, const Exercise& exercise, const GradeOptions& options = {});

/// The exit status that `warpwise grade` ends with: 0 passed, 1 failed in any way, 2 broken, 130 cancelled.
int exit_status(Outcome outcome);

}  // namespace guide
