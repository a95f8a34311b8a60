// A chapter for the CPU device is built twice: bin/cpu/NAME, whose kernels can be instrumented, and bin/cpu/plain/NAME,
// the same without instrumenting. What is compiled for instrumenting runs slower, host code in the same files included:
// times of host code come from the plain program, and who wants no counters is sent there.
//
//     const HostTimes times = time_in_plain_program({plain_program(), "pi", {1 << 20}, {"serial", "openmp"}, {}});
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/helpers/benchmark.h"
#include "common/lesson/lesson.h"

namespace warpwise {

/// The path of the plain program beside this one; empty when this is one, or when it is not there.
std::string plain_program();

/// Runs `program` in the place of this one, with the same arguments. Throws Refusal when that fails.
[[noreturn]] void run_plain_program(const std::string& program, char** argv);

struct HostSteps {
    std::string program;
    std::string lesson;
    Size size;
    std::vector<std::string> steps;  ///< names
    std::optional<int> repeat;
};

struct HostTimes {
    std::map<std::string, Timing> by_step;
    std::string failure;  ///< why there are none; empty when all is well
};

/// Lets the plain program time these steps of a lesson.
HostTimes time_in_plain_program(const HostSteps& wanted);

}  // namespace warpwise
