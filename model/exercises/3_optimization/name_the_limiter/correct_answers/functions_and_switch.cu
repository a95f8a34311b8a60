// Correct answer: a function per rate, and the order of tests turned around
#include "exercises/3_optimization/name_the_limiter/name_the_limiter.h"

#include <algorithm>

namespace {

double share(double amount, double seconds, double peak) { return amount / seconds / peak; }

Limiter peak_of(double memory, double fp32, double issue) {
    const double most = std::max({memory, fp32, issue});
    if (memory == most) return Limiter::memory_bandwidth;
    return fp32 == most ? Limiter::fp32 : Limiter::instruction_issue;
}

}  // namespace

Verdict limiter_of(const Kernel& kernel, const Chip& chip) {
    const double memory =
        share(32.0 * kernel.sectors_moved, kernel.seconds, chip.bytes_per_second);
    const double fp32 = share(kernel.fp32_operations, kernel.seconds, chip.fp32_per_second);
    const double issue =
        share(kernel.instructions, kernel.seconds, chip.instructions_per_second);
    const double launch = chip.launch_seconds / kernel.seconds;

    Verdict verdict{peak_of(memory, fp32, issue), std::max({memory, fp32, issue})};
    const bool wasteful = kernel.sectors_needed < kernel.sectors_moved * 3 / 4;
    if (verdict.limiter == Limiter::memory_bandwidth && wasteful)
        verdict.limiter = Limiter::excess_sectors;
    if (!(verdict.fraction >= 0.5)) verdict.limiter = Limiter::latency;
    if (launch >= 1.0 / 4) verdict = {Limiter::launch_overhead, launch};
    return verdict;
}
