// Exercise: what limits a kernel, from its counters and its time (host code).
// The task: ./warpwise task name_the_limiter
#include "exercises/3_optimization/name_the_limiter/name_the_limiter.h"

Verdict limiter_of(const Kernel& kernel, const Chip& chip) {
    // TODO 1: is the kernel so short that the launch takes a quarter of its time or more?
    const double launch = 0;

    // TODO 2: which fraction of each peak does the kernel reach? Mind the units.
    const double memory = kernel.sectors_moved / chip.bytes_per_second;
    const double fp32 = kernel.fp32_operations / chip.fp32_per_second;
    const double issue = kernel.instructions / chip.instructions_per_second;

    // TODO 3: which fraction is the largest? What is the answer if it is below one half?
    if (launch > 0) return {Limiter::launch_overhead, launch};
    if (fp32 > memory) return {Limiter::fp32, fp32};
    if (issue > memory) return {Limiter::instruction_issue, issue};

    // TODO 4: how many of the sectors that were moved are needed?
    return {Limiter::memory_bandwidth, memory};
}
