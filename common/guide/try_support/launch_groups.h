// All launches of a program, however many: those that are alike become one with a number.
//
//     LaunchGroups groups;
//     for (LaunchCounts& launch : warpwise::take_counts()) groups.add(std::move(launch));
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/helpers/counts.h"

namespace guide {

/// Launches of one kernel at one place in the source, with one shape. Counts, `blocks` and `instrumented_blocks` are
/// sums.
struct LaunchGroup {
    warpwise::LaunchCounts counts;
    std::uint64_t launches = 0;

    std::uint64_t blocks_each() const { return counts.blocks / launches; }
};

class LaunchGroups {
public:
    void add(warpwise::LaunchCounts launch);

    /// In the order of the first launches.
    const std::vector<LaunchGroup>& all() const { return groups_; }

private:
    std::map<std::string, std::size_t> index_;  ///< by all that launches of a group have in common
    std::vector<LaunchGroup> groups_;
};

}  // namespace guide
