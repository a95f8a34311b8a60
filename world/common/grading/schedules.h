// Graders run several times: with other inputs and, on the CPU device, with the threads and blocks in other orders. An
// answer that leans on one of them is wrong, but may pass once.
//
//     failure = first_failing_run(arguments, further_runs());
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <optional>

namespace grading {

/// What is added to the environment of a run.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// The runs beside the first one: two other orders on the CPU device, each with a seed for inputs that is drawn at
/// random; one with a drawn seed elsewhere. What the environment names already stays as it is. None where nothing would
/// change, and none inside of a further run.
std::vector<Variables> further_runs();

/// Whether further orders make sense: on the CPU device, and not when CPU_DEVICE_SEED already names one.
bool can_try_other_orders();

struct FailingRun {
    Variables variables;
    std::string output;
    std::string facts;  ///< see facts.h
};

/// Runs the program again with each of these, all at the same time and without showing what they print. Returns the
/// first one that does not end with status 0.
std::optional<FailingRun> first_failing_run(const std::vector<std::string>& arguments,
                                            const std::vector<Variables>& runs);

}  // namespace grading
