// Correct answer: compares the least times at each peak with the time that was measured
#include "exercises/3_optimization/name_the_limiter/name_the_limiter.h"

Verdict limiter_of(const Kernel& k, const Chip& c) {
    const double by_memory = k.sectors_moved * 32.0 / c.bytes_per_second;
    const double by_fp32 = k.fp32_operations / c.fp32_per_second;
    const double by_issue = k.instructions / c.instructions_per_second;

    if (c.launch_seconds / k.seconds >= 0.25)
        return Verdict{Limiter::launch_overhead, c.launch_seconds / k.seconds};

    if (by_memory >= by_fp32 && by_memory >= by_issue) {
        const double fraction = by_memory / k.seconds;
        if (fraction < 0.5) return Verdict{Limiter::latency, fraction};
        const bool few = k.sectors_needed / k.sectors_moved < 0.75;
        return Verdict{few ? Limiter::excess_sectors : Limiter::memory_bandwidth, fraction};
    }
    const bool arithmetic = by_fp32 >= by_issue;
    const double fraction = (arithmetic ? by_fp32 : by_issue) / k.seconds;
    if (fraction < 0.5) return Verdict{Limiter::latency, fraction};
    return Verdict{arithmetic ? Limiter::fp32 : Limiter::instruction_issue, fraction};
}
