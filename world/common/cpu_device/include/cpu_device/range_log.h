// A log of NVTX ranges, beside that of the calls of the runtime API (cpu_device/activity_log.h).
//
//     cpu_device::start_log();
//     cpu_device::forget_ranges();
//     ... the program ...
//     cpu_device::stop_log();
//     for (const cpu_device::LoggedRange& range : cpu_device::logged_ranges()) ...
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cpu_device {

/// A range, or a mark, which is a range of no calls. Calls have the numbers of their places in logged_calls().
struct LoggedRange {
    std::string name;
    std::string domain = {};     ///< empty: the default one
    std::size_t first_call = 0;  ///< the first one after the range began
    std::size_t end_call = 0;    ///< the first one after it ended; as it is now where it has not ended
    int level = 0;               ///< open ranges of the thread around it; 0 for ranges of the process
    bool is_mark = false;
    bool is_of_process = false;  ///< nvtxRangeStart
    bool has_ended = false;
};

/// Forgets what was logged. Ranges that are open now are not in the next log.
void forget_ranges();

/// Ranges and marks that began while calls were logged, in the order of their begins.
std::vector<LoggedRange> logged_ranges();

}  // namespace cpu_device
