// Graders run several times, with the threads and blocks of the CPU device in different orders: an answer that leans on
// an order is wrong, but may pass in one of them.
//
//     if (!seed_is_given()) failure = first_failing_schedule(arguments, further_seeds);
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace grading {

/// Beside 0, the ascending order, in which the grader itself runs.
inline constexpr std::array<unsigned, 2> further_seeds = {1, 2};

/// Whether further orders make sense: on the CPU device, and not when CPU_DEVICE_SEED already names one.
bool can_try_other_orders();

struct FailingSchedule {
    unsigned seed;
    std::string output;
};

/// Runs the program again once for each seed, all at the same time and without showing what they print. Returns the
/// first one that does not end with status 0.
std::optional<FailingSchedule> first_failing_schedule(const std::vector<std::string>& arguments,
                                                      const std::vector<unsigned>& seeds);

}  // namespace grading
