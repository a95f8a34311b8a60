// Correct answer: an index of the largest fraction, and a switch; computed in long double
#include "exercises/3_optimization/name_the_limiter/name_the_limiter.h"

Verdict limiter_of(const Kernel& kernel, const Chip& chip) {
    const long double seconds = kernel.seconds;
    const long double launch = chip.launch_seconds / seconds;
    if (!(launch < 0.25L)) return {Limiter::launch_overhead, static_cast<double>(launch)};

    const long double amounts[] = {kernel.sectors_moved * 32.0L, kernel.fp32_operations,
                                   kernel.instructions};
    const long double peaks[] = {chip.bytes_per_second, chip.fp32_per_second,
                                 chip.instructions_per_second};
    int largest = 0;
    double fractions[3];
    for (int k = 0; k < 3; ++k) {
        fractions[k] = static_cast<double>(amounts[k] / seconds / peaks[k]);
        if (fractions[k] > fractions[largest]) largest = k;
    }
    const double fraction = fractions[largest];
    if (fraction < 0.5) return {Limiter::latency, fraction};
    switch (largest) {
        case 1:
            return {Limiter::fp32, fraction};
        case 2:
            return {Limiter::instruction_issue, fraction};
        default:
            break;
    }
    const bool enough = kernel.sectors_needed >= 0.75 * kernel.sectors_moved;
    return {enough ? Limiter::memory_bandwidth : Limiter::excess_sectors, fraction};
}
