// How long the chain of dependent waits of a warp is: its events, replayed as its instructions depend on each other.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "common/model/facts.h"
#include "model_tally.h"

namespace cpu_device {

struct ReplayOptions {
    /// No pointer of the kernel may alias another (`__restrict__`): loads may move ahead of stores.
    bool no_aliases = false;
};

/// The waits of one warp from its start to its end, by kind; of all of its events, those that were not kept included.
/// `unrolled`: as unrolled_loops gives it.
std::array<double, warpwise::model::kLatencies> replay(const RecordedWarp& warp, const ReplayOptions& options,
                                                       const std::map<std::uint32_t, int>& unrolled);

/// How often loops are unrolled, by the block that a jump back leads to: 1 where nvcc would not.
std::map<std::uint32_t, int> unrolled_loops(const std::vector<RecordedWarp>& warps);

}  // namespace cpu_device
