#include "common/helpers/ranges.h"

#ifdef __CPU_DEVICE__

#include "cpu_device/range_log.h"

namespace warpwise {

RangeLog log_ranges_during(const std::function<void()>& body) {
    cpu_device::forget_ranges();
    RangeLog log;
    log.calls = log_during(body);
    for (const cpu_device::LoggedRange& range : cpu_device::logged_ranges()) {
        if (range.is_mark) continue;
        log.ranges.push_back({range.name, range.first_call, range.end_call, range.level, range.has_ended});
    }
    return log;
}

}  // namespace warpwise

#else

namespace warpwise {

RangeLog log_ranges_during(const std::function<void()>& body) { return {log_during(body), {}}; }

}  // namespace warpwise

#endif
