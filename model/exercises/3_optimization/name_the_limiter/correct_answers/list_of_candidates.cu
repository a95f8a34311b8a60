// Correct answer: a table of candidates and std::max_element
#include "exercises/3_optimization/name_the_limiter/name_the_limiter.h"

#include <algorithm>
#include <array>

Verdict limiter_of(const Kernel& kernel, const Chip& chip) {
    if (4 * chip.launch_seconds >= kernel.seconds)
        return {Limiter::launch_overhead, chip.launch_seconds / kernel.seconds};
    const double t = kernel.seconds;
    const std::array<Verdict, 3> candidates{
        {{Limiter::memory_bandwidth,
          kernel.sectors_moved * 32 / (t * chip.bytes_per_second)},
         {Limiter::fp32, kernel.fp32_operations / (t * chip.fp32_per_second)},
         {Limiter::instruction_issue,
          kernel.instructions / (t * chip.instructions_per_second)}}};
    // The first of equal ones.
    Verdict best = *std::max_element(
        candidates.begin(), candidates.end(),
        [](const Verdict& a, const Verdict& b) { return a.fraction < b.fraction; });
    if (best.fraction < 0.5) best.limiter = Limiter::latency;
    if (best.limiter == Limiter::memory_bandwidth &&
        4 * kernel.sectors_needed < 3 * kernel.sectors_moved)
        best.limiter = Limiter::excess_sectors;
    return best;
}
