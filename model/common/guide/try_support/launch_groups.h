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
#include "common/model/model.h"

namespace guide {

/// Launches of one kernel at one place in the source, with one shape. Counts, `blocks` and `instrumented_blocks` are
/// sums.
struct LaunchGroup {
    warpwise::LaunchCounts counts;
    std::uint64_t launches = 0;
    std::vector<warpwise::model::Estimate> estimates = {};  ///< of each launch; none where no GPU is chosen

    std::uint64_t blocks_each() const { return counts.blocks / launches; }
};

class LaunchGroups {
public:
    /// `each_launch`: every launch is a group of its own.
    explicit LaunchGroups(bool each_launch = false) : each_launch_(each_launch) {}

    void add(warpwise::LaunchCounts launch);

    /// In the order of the first launches.
    const std::vector<LaunchGroup>& all() const { return groups_; }

private:
    std::map<std::string, std::size_t> index_;  ///< by all that launches of a group have in common
    std::vector<LaunchGroup> groups_;
    bool each_launch_ = false;
};

}  // namespace guide
