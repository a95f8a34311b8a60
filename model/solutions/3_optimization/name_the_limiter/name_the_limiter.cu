// Solution: what limits a kernel, from its counters and its time.
//
// A limit is what the kernel would run into if everything else were free, so every rate is
// compared with its own peak. The largest fraction is the limiter only if it is large: a
// kernel that reaches a third of every peak spends its time waiting, and neither fewer
// bytes nor fewer operations would help it much. The launch comes first, because the
// fractions of a kernel of a few microseconds say nothing about the kernel.
#include "exercises/3_optimization/name_the_limiter/name_the_limiter.h"

Verdict limiter_of(const Kernel& kernel, const Chip& chip) {
    const double launch = chip.launch_seconds / kernel.seconds;
    if (launch >= 0.25) return {Limiter::launch_overhead, launch};

    const double bytes = 32 * kernel.sectors_moved;
    const double memory = bytes / kernel.seconds / chip.bytes_per_second;
    const double fp32 = kernel.fp32_operations / kernel.seconds / chip.fp32_per_second;
    const double issue =
        kernel.instructions / kernel.seconds / chip.instructions_per_second;

    // In the order of the table, so that the first of equal fractions wins.
    Verdict verdict = {Limiter::memory_bandwidth, memory};
    if (fp32 > verdict.fraction) verdict = {Limiter::fp32, fp32};
    if (issue > verdict.fraction) verdict = {Limiter::instruction_issue, issue};

    if (verdict.fraction < 0.5) {
        verdict.limiter = Limiter::latency;
    } else if (verdict.limiter == Limiter::memory_bandwidth &&
               kernel.sectors_needed < 0.75 * kernel.sectors_moved) {
        verdict.limiter = Limiter::excess_sectors;
    }
    return verdict;
}
