// Correct answer: sorts the fractions, with a stable sort for equal ones
#include "exercises/3_optimization/name_the_limiter/name_the_limiter.h"

#include <algorithm>
#include <utility>
#include <vector>

Verdict limiter_of(const Kernel& k, const Chip& c) {
    if (k.seconds <= 4 * c.launch_seconds)
        return {Limiter::launch_overhead, c.launch_seconds / k.seconds};
    std::vector<std::pair<double, Limiter>> ranking;
    ranking.emplace_back(32 * k.sectors_moved / k.seconds / c.bytes_per_second,
                         Limiter::memory_bandwidth);
    ranking.emplace_back(k.fp32_operations / k.seconds / c.fp32_per_second, Limiter::fp32);
    ranking.emplace_back(k.instructions / k.seconds / c.instructions_per_second,
                         Limiter::instruction_issue);
    std::stable_sort(ranking.begin(), ranking.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    auto [fraction, limiter] = ranking.front();
    if (limiter == Limiter::memory_bandwidth && k.sectors_needed * 4 < k.sectors_moved * 3)
        limiter = Limiter::excess_sectors;
    if (fraction < 0.5) limiter = Limiter::latency;
    return {limiter, fraction};
}
