// What the kernels of a program did, for the terminal.
//
//     fmt::print(stderr, "{}", kernel_table(groups, 256, false, terminal));
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/guide/try_support/launch_groups.h"
#include "common/lesson/terminal.h"

namespace guide {

/// A row for each kernel, its launches added up (`each_launch`: a row for each of the groups), and below the table what
/// the columns mean. `sample`: how many blocks of a launch were instrumented at most (0: all); where that left some
/// out, it says so. Wider than the terminal it becomes several tables.
std::string kernel_table(const std::vector<LaunchGroup>& groups, std::uint64_t sample, bool each_launch,
                         const warpwise::Terminal& terminal);

/// The kernels' source with the counts of each line.
std::string kernel_listing(const std::vector<LaunchGroup>& groups, const warpwise::Terminal& terminal);

}  // namespace guide
