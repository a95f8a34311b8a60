// Correct answer: a list of rules, of which the first one that applies decides
#include "exercises/3_optimization/name_the_limiter/name_the_limiter.h"

#include <cmath>

namespace {

struct Facts {
    double launch, memory, fp32, issue, needed;

    double most() const { return std::fmax(memory, std::fmax(fp32, issue)); }
};

struct Rule {
    bool (*applies)(const Facts&);
    double (*fraction)(const Facts&);
    Limiter limiter;
};

double launch_of(const Facts& f) { return f.launch; }
double most_of(const Facts& f) { return f.most(); }

const Rule rules[] = {
    {[](const Facts& f) { return f.launch >= 0.25; }, launch_of, Limiter::launch_overhead},
    {[](const Facts& f) { return f.most() < 0.5; }, most_of, Limiter::latency},
    {[](const Facts& f) { return f.memory == f.most() && f.needed < 0.75; }, most_of,
     Limiter::excess_sectors},
    {[](const Facts& f) { return f.memory == f.most(); }, most_of,
     Limiter::memory_bandwidth},
    {[](const Facts& f) { return f.fp32 == f.most(); }, most_of, Limiter::fp32},
    {[](const Facts&) { return true; }, most_of, Limiter::instruction_issue},
};

}  // namespace

Verdict limiter_of(const Kernel& kernel, const Chip& chip) {
    const auto of_peak = [&](double amount, double peak) {
        return amount / kernel.seconds / peak;
    };
    const double moved = kernel.sectors_moved;
    const Facts facts{chip.launch_seconds / kernel.seconds,
                      of_peak(32 * moved, chip.bytes_per_second),
                      of_peak(kernel.fp32_operations, chip.fp32_per_second),
                      of_peak(kernel.instructions, chip.instructions_per_second),
                      moved > 0 ? kernel.sectors_needed / moved : 1};
    const Rule* rule = rules;
    while (!rule->applies(facts)) ++rule;
    return {rule->limiter, rule->fraction(facts)};
}
