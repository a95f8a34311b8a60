// Which calls of the runtime API a program makes inside which NVTX ranges: what a profiler's time line would show. Only
// the CPU device keeps this log, while it looks for errors; on a GPU the ranges are for Nsight Systems.
//
//     const warpwise::RangeLog log = warpwise::log_ranges_during([&] { step(d_in, d_out); });
//     for (const warpwise::Range& range : log.ranges) {
//         for (std::size_t i = range.first_call; i < range.end_call; ++i) log.calls[i] ...
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "common/helpers/activity.h"

namespace warpwise {

struct Range {
    std::string name;
    std::size_t first_call = 0;  ///< in RangeLog::calls
    std::size_t end_call = 0;    ///< one after its last call
    int level = 0;               ///< ranges of the thread around it
    bool has_ended = false;      ///< before the log ended
};

struct RangeLog {
    std::vector<ApiCall> calls;  ///< as of log_during
    std::vector<Range> ranges;   ///< in the order of their begins
};

/// Like log_during, with the ranges that begin meanwhile. Empty where no log is kept.
RangeLog log_ranges_during(const std::function<void()>& body);

}  // namespace warpwise
