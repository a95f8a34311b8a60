#include "exercises/3_optimization/name_the_limiter/name_the_limiter.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"

const grading::Exercise grading::exercise{"3_optimization", "name_the_limiter"};

namespace {

struct Case {
    Kernel kernel;
    Chip chip;
    std::string name = {};
};
using Cases = std::vector<Case>;

/// The rule, and how it comes out with one of the mistakes that are easily made.
struct Rules {
    double bytes_of_sector = 32;
    bool needed_for_moved = false;
    bool excess_before_half = false;
    bool without_launch = false;
    bool without_latency = false;
    bool without_excess = false;
    bool last_of_equals = false;
    bool launch_above = false;     ///< only above the threshold
    bool latency_at = false;       ///< at the threshold, too
    bool excess_at = false;        ///< at the threshold, too
    bool without_time = false;     ///< amounts instead of rates
    bool rest_of_launch = false;   ///< fraction: what is left of the time
    bool memory_first = false;     ///< memory wins when it reaches one half
    bool needed_fraction = false;  ///< excess sectors: the share that is needed
};

struct Mistake {
    Rules rules;
    const char* hint;
};

const Mistake mistakes[] = {
    {{.bytes_of_sector = 1}, "Sectors are taken for bytes. How many bytes has a sector?"},
    {{.bytes_of_sector = 4}, "A sector is taken for a float. How many bytes has a sector?"},
    {{.needed_for_moved = true},
     "The bandwidth is computed from the sectors that are needed. Which ones keep the "
     "memory "
     "busy?"},
    {{.excess_before_half = true},
     "Excess sectors are reported although the memory does not reach one half of its peak. "
     "Which step comes first?"},
    {{.without_launch = true},
     "The time of the launch never decides. Which step of the rule compares it?"},
    {{.without_latency = true},
     "A peak is named although less than one half of it is reached. What does the rule say "
     "there?"},
    {{.without_excess = true},
     "Excess sectors are never reported. Which step compares moved and needed sectors?"},
    {{.last_of_equals = true},
     "Of equal fractions, the last one is named. Which one does the task ask for?"},
    {{.launch_above = true},
     "A launch of exactly a quarter of the time does not count here. What does \"at "
     "least\" "
     "say?"},
    {{.latency_at = true},
     "Exactly one half of a peak is called latency here. What does \"below\" say?"},
    {{.excess_at = true},
     "Exactly three quarters of the sectors are called too few here. What does \"fewer\" "
     "say?"},
    {{.without_time = true},
     "Amounts are compared with amounts per second. What is an amount to be divided by?"},
    {{.rest_of_launch = true},
     "The fraction is the one of the time without the launch. Which one does step 1 ask "
     "for?"},
    {{.memory_first = true},
     "Memory is named where another fraction is larger. Which one does step 2 ask for?"},
    {{.needed_fraction = true},
     "With excess sectors, the fraction is not the one of the peak. Which one is "
     "returned?"},
};

Verdict verdict_by(const Rules& rules, const Kernel& kernel, const Chip& chip) {
    const double launch = chip.launch_seconds / kernel.seconds;
    const bool launched = rules.launch_above ? launch > 0.25 : launch >= 0.25;
    if (launched && !rules.without_launch)
        return {Limiter::launch_overhead, rules.rest_of_launch ? 1 - launch : launch};
    const double seconds = rules.without_time ? 1 : kernel.seconds;
    const double sectors =
        rules.needed_for_moved ? kernel.sectors_needed : kernel.sectors_moved;
    const double fractions[] = {
        rules.bytes_of_sector * sectors / seconds / chip.bytes_per_second,
        kernel.fp32_operations / seconds / chip.fp32_per_second,
        kernel.instructions / seconds / chip.instructions_per_second};
    const Limiter names[] = {Limiter::memory_bandwidth, Limiter::fp32,
                             Limiter::instruction_issue};
    std::size_t best = 0;
    for (std::size_t i = 1; i < 3; ++i) {
        if (rules.memory_first && fractions[0] >= 0.5) break;
        if (rules.last_of_equals ? fractions[i] >= fractions[best]
                                 : fractions[i] > fractions[best])
            best = i;
    }
    Verdict verdict = {names[best], fractions[best]};
    const bool excess = rules.excess_at
                            ? kernel.sectors_needed <= 0.75 * kernel.sectors_moved
                            : kernel.sectors_needed < 0.75 * kernel.sectors_moved;
    const bool low = rules.latency_at ? verdict.fraction <= 0.5 : verdict.fraction < 0.5;
    if (best == 0 && excess && rules.excess_before_half && verdict.fraction > 0) {
        verdict.limiter = Limiter::excess_sectors;
    } else if (low && !rules.without_latency) {
        verdict.limiter = Limiter::latency;
    } else if (best == 0 && excess && !rules.without_excess) {
        verdict.limiter = Limiter::excess_sectors;
        if (rules.needed_fraction)
            verdict.fraction = kernel.sectors_needed / kernel.sectors_moved;
    }
    return verdict;
}

std::string text_of(Limiter limiter) {
    switch (limiter) {
        case Limiter::launch_overhead:
            return "launch_overhead";
        case Limiter::memory_bandwidth:
            return "memory_bandwidth";
        case Limiter::excess_sectors:
            return "excess_sectors";
        case Limiter::fp32:
            return "fp32";
        case Limiter::instruction_issue:
            return "instruction_issue";
        case Limiter::latency:
            return "latency";
    }
    return "none of the six";
}

bool same_fraction(double got, double expected) {
    return std::abs(got - expected) <= 1e-9 * std::abs(expected);  // never for NaN
}

bool same(const Verdict& got, const Verdict& expected) {
    return got.limiter == expected.limiter &&
           same_fraction(got.fraction, expected.fraction);
}

std::string text_of(const Case& x) {
    std::ostringstream text;
    text.precision(12);
    text << (x.name.empty() ? "a kernel" : x.name) << ": " << x.kernel.seconds << " s, "
         << x.kernel.sectors_moved << " sectors moved, " << x.kernel.sectors_needed
         << " needed, " << x.kernel.fp32_operations << " FP32 operations, "
         << x.kernel.instructions << " instructions\nchip: " << x.chip.bytes_per_second
         << " bytes/s, " << x.chip.fp32_per_second << " FP32 operations/s, "
         << x.chip.instructions_per_second << " instructions/s, launch "
         << x.chip.launch_seconds << " s";
    return text.str();
}

void check(const Cases& cases) {
    std::vector<Verdict> got;
    std::size_t wrong = 0, first = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        got.push_back(limiter_of(cases[i].kernel, cases[i].chip));
        if (same(got[i], verdict_by({}, cases[i].kernel, cases[i].chip))) continue;
        if (wrong++ == 0) first = i;
    }
    if (wrong == 0) {
        SUCCEED();
        return;
    }
    const Verdict expected = verdict_by({}, cases[first].kernel, cases[first].chip);
    std::ostringstream text;
    text.precision(12);
    if (got[first].limiter != expected.limiter) {
        text << "the limiter is " << text_of(got[first].limiter) << ", should be "
             << text_of(expected.limiter) << " (fraction " << expected.fraction << ")";
    } else {
        text << "the limiter " << text_of(expected.limiter) << " is right, its fraction is "
             << got[first].fraction << ", should be " << expected.fraction;
    }
    text << "\n"
         << text_of(cases[first]) << "\n"
         << wrong << " of " << cases.size() << " kernels are wrong";
    std::string hint =
        "How large are the fractions of this kernel, worked out by hand, and which rule of "
        "the header comes first?";
    for (const Mistake& mistake : mistakes) {
        bool explains = true;
        for (std::size_t i = 0; i < cases.size() && explains; ++i)
            explains =
                same(got[i], verdict_by(mistake.rules, cases[i].kernel, cases[i].chip));
        if (!explains) continue;
        hint = mistake.hint;
        break;
    }
    FAIL_CHECK(text.str() << "\n" << hint);
}

// NVIDIA H200: copy bandwidth as recorded (docs/results/h200_chapter_2.json, coalescing,
// copy); 132 SMs with 128 FP32 units and 4 warp schedulers each at 1.98 GHz, a fused
// multiply-add being two operations; a launch of an empty kernel as recorded
// (h200_chapter_3.json, timers: events around 1000 launches).
constexpr Chip h200 = {4212.4175e9, 132 * 128 * 2 * 1.98e9, 132 * 4 * 1.98e9, 4.14e-6};

// Round numbers that are powers of two, so that fractions are exact.
constexpr Chip round_chip = {1099511627776.0, 4398046511104.0, 137438953472.0,
                             1.0 / 1048576};

/// Kernels of the round chip that reach these fractions in 1/1024 s.
Case reaching(double memory, double fp32, double issue, double needed = 1,
              double launch = 1.0 / 1024) {
    const double seconds = 1.0 / 1024;
    const double sectors = memory * round_chip.bytes_per_second * seconds / 32;
    Case x = {
        {seconds, sectors, needed * sectors, fp32 * round_chip.fp32_per_second * seconds,
         issue * round_chip.instructions_per_second * seconds},
        round_chip};
    x.chip.launch_seconds = launch * seconds;
    return x;
}

/// Made-up kernels of made-up chips for which `fits` holds.
Cases random_cases(std::size_t count, std::uint64_t stream,
                   const std::function<bool(const Verdict&)>& fits) {
    std::mt19937_64 engine(grading::seed() * 1000 + stream);
    const auto between = [&](double low, double high) {
        return low * std::pow(high / low, std::uniform_real_distribution<>(0, 1)(engine));
    };
    Cases cases;
    while (cases.size() < count) {
        const Chip chip = {between(1e10, 1e13), between(1e11, 1e14), between(1e10, 1e13),
                           between(1e-6, 2e-5)};
        const double seconds = between(1e-6, 1e-1);
        const double sectors = between(0.05, 1) * chip.bytes_per_second * seconds / 32;
        const Case x = {{seconds, sectors, between(0.4, 1) * sectors,
                         between(0.05, 1) * chip.fp32_per_second * seconds,
                         between(0.05, 1) * chip.instructions_per_second * seconds},
                        chip};
        if (fits(verdict_by({}, x.kernel, x.chip))) cases.push_back(x);
    }
    return cases;
}

Cases random_cases(std::size_t count, Limiter limiter) {
    return random_cases(count, static_cast<std::uint64_t>(limiter) + 1,
                        [=](const Verdict& verdict) { return verdict.limiter == limiter; });
}

Cases joined(Cases cases, const Cases& more) {
    cases.insert(cases.end(), more.begin(), more.end());
    return cases;
}

}  // namespace

TEST_CASE("names the memory and its fraction") {
    check(joined({reaching(0.75, 0.25, 0.25), reaching(1, 0, 0), reaching(0.5, 0.25, 0)},
                 random_cases(100, Limiter::memory_bandwidth)));
}

TEST_CASE("names the arithmetic units and the issue of instructions") {
    check(joined(joined({reaching(0.25, 0.75, 0.25), reaching(0, 1, 0.5)},
                        random_cases(100, Limiter::fp32)),
                 joined({reaching(0.25, 0.25, 0.75), reaching(0, 0, 1)},
                        random_cases(100, Limiter::instruction_issue))));
}

TEST_CASE("finds latency where no peak is reached") {
    check(joined({reaching(0.25, 0.125, 0.0625), reaching(0.25, 0.375, 0.125),
                  reaching(0.125, 0.25, 0.4375), reaching(0, 0, 0, 1)},
                 random_cases(100, Limiter::latency)));
}

TEST_CASE("finds sectors that were moved and not needed") {
    check(joined({reaching(0.75, 0.25, 0.25, 0.5), reaching(1, 0, 0, 0.125)},
                 random_cases(100, Limiter::excess_sectors)));
    // Too many sectors, but something else limits.
    check({reaching(0.25, 0.75, 0, 0.5), reaching(0.375, 0.25, 0, 0.25),
           reaching(0.625, 0.25, 0.75, 0.125)});
}

TEST_CASE("finds kernels that are mostly launch") {
    check(joined({reaching(0.75, 0.25, 0.25, 1, 0.5), reaching(0.25, 0.25, 0.25, 1, 0.75),
                  reaching(0.25, 1, 0.25, 1, 1)},
                 random_cases(100, Limiter::launch_overhead)));
}

TEST_CASE("decides on both sides of each threshold and on it") {
    constexpr double step = 1.0 / 4096;
    Cases cases;
    for (const double d : {-step, 0.0, step}) {
        cases.push_back(reaching(0.75, 0.125, 0.125, 1, 0.25 + d));
        cases.push_back(reaching(0.5 + d, 0.25, 0.25));
        cases.push_back(reaching(0.25, 0.5 + d, 0.25));
        cases.push_back(reaching(0.25, 0.25, 0.5 + d));
        cases.push_back(reaching(0.75, 0.25, 0.25, 0.75 + d));
        cases.push_back(reaching(0.5 + d, 0.25, 0.25, 0.75 + d));
        cases.push_back(reaching(0.75, 0.75 + d, 0.25));
        cases.push_back(reaching(0.25, 0.75, 0.75 + d));
        cases.push_back(reaching(0.75 + d, 0.25, 0.75));
        cases.push_back(reaching(0.75, 0.75 + d, 0.75, 0.5));
    }
    check(cases);
}

// Seconds, bytes, and operations are those that were recorded; see each file. Kernels that
// nobody counted instructions for have a lower bound here: one per 32 loads or stores of 4
// bytes, and one per 32 operations or fused pairs of them.
TEST_CASE("judges kernels that were measured on an H200") {
    const auto measured = [](const char* name, double seconds, double bytes, double needed,
                             double operations, double instructions) {
        return Case{
            {seconds, bytes / 32, needed / 32, operations, instructions}, h200, name};
    };
    check({
        // h200_chapter_2.json, coalescing: 2^26 stars, of each 16 bytes read and 4 written.
        // In structures of 32 bytes, whole structures lie in the sectors that are moved.
        measured("energy_from_structures", 0.00055247998, 36.0 * (1 << 26),
                 20.0 * (1 << 26), 469762048, 20.0 * (1 << 26) / 128),
        measured("energy_from_arrays", 0.000320848, 20.0 * (1 << 26), 20.0 * (1 << 26),
                 469762048, 20.0 * (1 << 26) / 128),
        // h200_chapter_3.json, latency_hiding: the same bytes, with more and more loads in
        // flight.
        measured("one_load", 0.0031366401, 1107296256, 1107296256, 553648128,
                 1107296256 / 128.0),
        measured("eight_loads", 0.00061776, 1107296256, 1107296256, 553648128,
                 1107296256 / 128.0),
        measured("eight_loads_more_threads", 0.000261632, 1107296256, 1107296256, 553648128,
                 1107296256 / 128.0),
        // causes_h200.md, "The exclusive-or of the swizzle": instructions as counted there;
        // its bytes are not judged.
        measured("padded tile, without its bytes", 527e-6, 0, 0, 0, 187.7e6),
        // h200_chapter_4.json, matrix_multiply, 4096^3: each byte of the three matrices
        // once.
        measured("product_no_launch_bound", 0.0028935361, 3.0 * 4096 * 4096 * 4,
                 3.0 * 4096 * 4096 * 4, 137438953472.0, 137438953472.0 / 64),
        // h200_chapter_3.json, timers: events around one launch of a kernel that does
        // nothing.
        measured("empty kernel", 5.73e-6, 0, 0, 0, 0),
    });
}
