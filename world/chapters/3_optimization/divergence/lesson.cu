// Problem: 32 lanes share one instruction. What if they want different ones?
//
// A warp that comes to a branch executes both sides, one after the other, if some of its
// lanes want one side and some the other; on each side the lanes of the other side idle. A
// loop ends for the warp when it ends for the last lane. The results are right, but the
// warp becomes slow, up to 32 times.
//
// Two problems. First, n numbers, and for each the inverse of its square root or of its
// cube root, as a second array tells: two kinds of work, mixed at random. Then hailstone
// numbers: n is halved if it is even, and replaced by 3 n + 1 if it is odd, until it is 1.
// How many steps this takes is not known before, and it is different for each lane.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "chapters/3_optimization/divergence/kernels.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace optimization {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

// ---- two kinds of work ------------------------------------------------------------------

// Which root each element wants: 2 or 3.
using Arrangement = unsigned char (*)(std::size_t i);
unsigned char at_random(std::size_t i) {
    return warpwise::random_bits(51, i) % 2 == 0 ? 2 : 3;
}

// `count` numbers from 1 to 1000 with their degrees, and room for number^(-1 / degree).
struct Roots {
    std::size_t count;
    std::vector<float> numbers, roots;
    std::vector<unsigned char> degrees;
    DeviceBuffer<float> d_numbers, d_roots;
    DeviceBuffer<unsigned char> d_degrees;
    DeviceBuffer<unsigned> d_order, d_taken;  // for the step that sorts
    bool roots_are_on_host = false;  // set by the step that leaves its result in `roots`

    explicit Roots(const warpwise::Size& size, Arrangement degree_of = at_random)
        : count(size[0]),
          numbers(warpwise::uniform<float>(count, 52, 1, 1000)),
          roots(count),
          degrees(count),
          d_numbers(numbers),
          d_roots(count),
          d_order(count),
          d_taken(2) {
        if (count > std::numeric_limits<unsigned>::max())
            throw warpwise::Refusal("divergence: at most 2^32 - 1 numbers");
        for (std::size_t i = 0; i < count; ++i) degrees[i] = degree_of(i);
        d_degrees = DeviceBuffer<unsigned char>(degrees);
    }

    void poison() {
        std::fill(roots.begin(), roots.end(), std::numeric_limits<float>::quiet_NaN());
        d_roots.fill_bytes(0xFF);
        d_order.fill_bytes(0xFF);
        roots_are_on_host = false;
    }

    // The last round of Newton's method rounds five or six times, and forgets what was
    // before it.
    warpwise::Comparison compare() {
        if (!roots_are_on_host) roots = d_roots.download();
        constexpr double epsilon = std::numeric_limits<float>::epsilon();
        const auto expected = [&](std::size_t i) {
            return degrees[i] == 2 ? 1 / std::sqrt(double{numbers[i]})
                                   : 1 / std::cbrt(double{numbers[i]});
        };
        return warpwise::compare_each(roots, count, expected, {.relative = 8 * epsilon});
    }

    // A number and its degree in, a root out; five operations per round.
    warpwise::Work work() const {
        return {.bytes = 9.0 * count, .operations = 5.0 * kRounds * count};
    }

    static std::size_t device_bytes(const warpwise::Size& size) { return 13 * size[0] + 8; }
};

// Step 1, one core of the host. It does one thing after the other, so nothing can diverge;
// at most it guesses the next branch wrong.
void serial(Roots& problem) {
    for (std::size_t i = 0; i < problem.count; ++i) {
        const float a = problem.numbers[i];
        problem.roots[i] =
            problem.degrees[i] == 2 ? inverse_square_root(a) : inverse_cube_root(a);
    }
    problem.roots_are_on_host = true;
}

using RootKernel = void (*)(const float*, const unsigned char*, float*, std::size_t);

template <RootKernel kernel>
void run_roots(Roots& problem) {
    kernel<<<warpwise::blocks_for(problem.count, kThreads), kThreads>>>(
        problem.d_numbers.data(), problem.d_degrees.data(), problem.d_roots.data(),
        problem.count);
    warpwise::check_launch();
}

void sort_first(Roots& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.count, kThreads);
    warpwise::check(cudaMemsetAsync(problem.d_taken.data(), 0, problem.d_taken.bytes()));
    list_by_degree<<<warpwise::blocks_for(problem.count, kTile), kThreads>>>(
        problem.d_degrees.data(), problem.d_order.data(), problem.d_taken.data(),
        problem.count);
    warpwise::check_launch();
    branch_sorted<<<blocks, kThreads>>>(problem.d_numbers.data(), problem.d_degrees.data(),
                                        problem.d_order.data(), problem.d_roots.data(),
                                        problem.count);
    warpwise::check_launch();
}

// ---- the same branch, other neighbors ---------------------------------------------------

struct Neighbors {
    const char* name;
    Arrangement degree_of;
    double kinds;  // of work in a warp
};
constexpr std::array<Neighbors, 6> kNeighbors = {
    {{"all the same", [](std::size_t) -> unsigned char { return 2; }, 1},
     {"every other warp",
      [](std::size_t i) -> unsigned char { return i / kLanes % 2 == 0 ? 2 : 3; }, 1},
     {"every other lane", [](std::size_t i) -> unsigned char { return i % 2 == 0 ? 2 : 3; },
      2},
     {"lanes 0 to 15, 16 to 31",
      [](std::size_t i) -> unsigned char { return i / 16 % 2 == 0 ? 2 : 3; }, 2},
     {"at random", at_random, 2},
     {"lane 0 and the rest",
      [](std::size_t i) -> unsigned char { return i % kLanes == 0 ? 2 : 3; }, 2}}};

void show_neighbors(warpwise::Lesson& lesson) {
    const bool measures = lesson.measures();
    const std::size_t count = std::size_t{1} << (measures ? 24 : 12);
    std::vector<Roots> problems;
    problems.reserve(kNeighbors.size());
    std::vector<std::vector<std::string>> rows;
    for (const Neighbors& neighbors : kNeighbors) {
        Roots& problem = problems.emplace_back(warpwise::Size{count}, neighbors.degree_of);
        problem.poison();
        const auto counts = lesson.count([&] { run_roots<branch_by_lane>(problem); });
        lesson.expect(problem.compare().passed,
                      std::string(neighbors.name) + ": the roots are right");
        const double predicted = kLanes / neighbors.kinds;
        rows.push_back({neighbors.name, text_of("%g", neighbors.kinds),
                        text_of("%g", predicted), "-"});
        if (!counts) continue;
        rows.back().back() = text_of("%.1f", counts->active_lanes_per_step());
        // The few steps before and after the loops have all lanes active.
        lesson.expect(std::fabs(counts->active_lanes_per_step() / predicted - 1) < 0.1,
                      std::string(neighbors.name) + ": as many active lanes as predicted");
    }
    if (measures) {
        std::vector<warpwise::Candidate> candidates;
        for (Roots& problem : problems)
            candidates.push_back({[&problem] { run_roots<branch_by_lane>(problem); }});
        const std::vector<warpwise::Timing> timings =
            warpwise::measure_in_turn(candidates, {.seconds = 0.2});
        for (std::size_t k = 0; k < rows.size(); ++k) {
            rows[k].back() = text_of("%.2f", timings[k].median / timings[0].median);
        }
    }
    lesson.table({"degrees", "branch_by_lane, with other degrees"},
                 {"degrees", "kinds in a warp", "lanes, predicted",
                  measures ? "time, first = 1" : "lanes, counted"},
                 rows);
}

// ---- loops of different length ----------------------------------------------------------

// Up to here 3 n + 1 stays below 2^32, which the reference makes sure of.
constexpr unsigned kLargestStart = 1 << 17;

// Steps to 1 of all numbers up to the largest, in 64 bits.
std::vector<unsigned> all_hailstones() {
    std::vector<unsigned> steps(kLargestStart + 1);
    for (std::uint64_t start = 2; start <= kLargestStart; ++start) {
        unsigned taken = 0;
        std::uint64_t n = start;
        while (n >= start) {  // below that, the rest is known
            n = n % 2 == 0 ? n / 2 : 3 * n + 1;
            if (n > std::numeric_limits<unsigned>::max())
                throw std::logic_error("a hailstone too large for 32 bits");
            ++taken;
        }
        steps[start] = taken + steps[n];
    }
    return steps;
}

struct Hailstones {
    std::size_t count;
    std::vector<unsigned> starts, steps;
    std::vector<unsigned> known;  // by start
    double all_steps = 0;
    DeviceBuffer<unsigned> d_starts, d_steps;
    bool steps_are_on_host = false;  // set by the step that leaves its result in `steps`

    explicit Hailstones(const warpwise::Size& size)
        : count(size[0]),
          starts(count),
          steps(count),
          known(all_hailstones()),
          d_starts(count),
          d_steps(count) {
        for (std::size_t i = 0; i < count; ++i) {
            starts[i] =
                static_cast<unsigned>(1 + warpwise::random_bits(53, i) % kLargestStart);
            all_steps += known[starts[i]];
        }
        d_starts.upload(starts);
    }

    void poison() {
        std::fill(steps.begin(), steps.end(), std::numeric_limits<unsigned>::max());
        d_steps.fill_bytes(0xFF);
        steps_are_on_host = false;
    }

    // Whole numbers: they have to be exact.
    warpwise::Comparison compare() {
        if (!steps_are_on_host) steps = d_steps.download();
        return warpwise::compare_each(
            steps, count, [&](std::size_t i) { return double{1} * known[starts[i]]; });
    }

    // The operations are the steps of all numbers.
    warpwise::Work work() const {
        return {.bytes = 2.0 * sizeof(unsigned) * count, .operations = all_steps};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return 2 * sizeof(unsigned) * size[0];
    }
};

// Step 1, one core of the host.
void serial_hailstones(Hailstones& problem) {
    for (std::size_t i = 0; i < problem.count; ++i) {
        unsigned taken = 0;
        for (unsigned n = problem.starts[i]; n != 1; ++taken)
            n = n % 2 == 0 ? n / 2 : 3 * n + 1;
        problem.steps[i] = taken;
    }
    problem.steps_are_on_host = true;
}

using HailstoneKernel = void (*)(const unsigned*, unsigned*, std::size_t);

template <HailstoneKernel kernel>
void run_hailstones(Hailstones& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.count, kThreads);
    kernel<<<blocks, kThreads>>>(problem.d_starts.data(), problem.d_steps.data(),
                                 problem.count);
    warpwise::check_launch();
}

// As many blocks as fill the device, but lists of 32 numbers at least: what one lane has
// too much, it has too little of in the next number.
void run_refill(Hailstones& problem) {
    const unsigned lists = warpwise::blocks_for(problem.count, 32 * kThreads);
    const unsigned blocks =
        std::min(lists, warpwise::blocks_that_fill(refill_lanes, kThreads));
    refill_lanes<<<blocks, kThreads>>>(problem.d_starts.data(), problem.d_steps.data(),
                                       problem.count);
    warpwise::check_launch();
}

// Rounds of step 3: one for each tripling.
unsigned triplings(unsigned n) {
    unsigned count = 0;
    for (; n != 1; n = n % 2 == 0 ? n / 2 : 3 * n + 1) count += n % 2;
    return count;
}

// Active lanes in a loop whose lanes go round so often, if a warp takes 32 neighbors: the
// lanes' rounds over the warp's.
template <class RoundsOf>
double predicted_lanes(const Hailstones& problem, const RoundsOf& rounds_of) {
    double of_lanes = 0, of_warps = 0;
    for (std::size_t first = 0; first < problem.count; first += kLanes) {
        unsigned longest = 0;
        for (std::size_t i = first; i < std::min(first + kLanes, problem.count); ++i) {
            const unsigned rounds = rounds_of(problem.starts[i]);
            of_lanes += rounds;
            longest = std::max(longest, rounds);
        }
        of_warps += longest;
    }
    return of_warps == 0 ? 0 : of_lanes / of_warps;
}

// What the page predicts for the roots, in rounds of Newton's method that a warp goes
// through.
struct PredictedRoots {
    const char* step;
    void (*run)(Roots&);
    double lanes, rounds;
};
constexpr std::array<PredictedRoots, 4> predicted_roots = {
    {{"branch_by_lane", run_roots<branch_by_lane>, 16, 64},
     {"both_and_choose", run_roots<both_and_choose>, 32, 64},
     {"one_formula", run_roots<one_formula>, 32, 32},
     {"sort_first", sort_first, 32, 32}}};

void expect_roots(warpwise::Lesson& lesson) {
    constexpr std::size_t count = 1 << 13;
    Roots problem({count});
    std::vector<std::vector<std::string>> rows;
    for (const PredictedRoots& predicted : predicted_roots) {
        problem.poison();
        const auto counts = lesson.count([&] { predicted.run(problem); });
        rows.push_back({predicted.step, text_of("%g", predicted.lanes), "-",
                        text_of("%g", predicted.rounds), "-"});
        if (!counts) continue;
        const double stretches = counts->steps / (count / kLanes);
        rows.back()[2] = text_of("%.1f", counts->active_lanes_per_step());
        rows.back()[4] = text_of("%.1f", stretches);
        const std::string step = predicted.step;
        lesson.expect(
            std::fabs(counts->active_lanes_per_step() / predicted.lanes - 1) < 0.1,
            step + ": as many active lanes as predicted");
        // The way to the loop and out of it is some stretches more; the list is another
        // kernel.
        lesson.expect(stretches > predicted.rounds && stretches < predicted.rounds + 30,
                      step + ": as many rounds as predicted, and little else");
    }
    if (!warpwise::Lesson::on_gpu()) {
        lesson.table({"random_degrees",
                      "Random degrees: active lanes, and what a warp goes through"},
                     {"step", "lanes, predicted", "counted", "rounds, predicted",
                      "stretches, counted"},
                     rows);
    }
}

// The trip counts are known before: what they say about the lanes, and what was counted.
void expect_hailstones(warpwise::Lesson& lesson) {
    Hailstones problem({std::size_t{1} << 13});
    const auto steps_of = [&](unsigned start) { return problem.known[start]; };
    const double by_steps = predicted_lanes(problem, steps_of),
                 by_triplings = predicted_lanes(problem, triplings);
    struct Row {
        const char* step;
        void (*run)(Hailstones&);
        double predicted;
    };
    std::vector<std::vector<std::string>> rows;
    for (const Row& row :
         {Row{"halve_or_triple", run_hailstones<halve_or_triple>, by_steps},
          Row{"triple_and_halve", run_hailstones<triple_and_halve>, by_triplings},
          Row{"refill_lanes", run_refill, 0}}) {
        const std::string predicted =
            row.predicted == 0 ? "more" : text_of("%.1f", row.predicted);
        rows.push_back({row.step, predicted, "-"});
        const auto counts = lesson.count([&] { row.run(problem); });
        if (!counts) continue;
        const double lanes = counts->active_lanes_per_step();
        rows.back()[2] = text_of("%.1f", lanes);
        const std::string step = row.step;
        if (row.run == run_hailstones<halve_or_triple>) {
            lesson.expect(lanes < by_steps,
                          step + ": fewer active lanes than the loop alone would have");
        } else if (row.run == run_refill) {
            lesson.expect(lanes > 1.4 * by_triplings,
                          step + ": nearly half as many active lanes again");
        } else {
            lesson.expect(std::fabs(lanes / by_triplings - 1) < 0.1,
                          step + ": as many active lanes as predicted");
        }
    }
    lesson.table({"hailstones", "Active lanes, from the lengths of 8192 random hailstones"},
                 {"step", "predicted", "counted"}, rows);
}

}  // namespace

void divergence(warpwise::Lesson& lesson) {
    lesson.question(
        R"(The lanes of a warp share their instructions. At a branch on which they disagree,
the warp executes both sides, one after the other, and on each side the lanes of the other
side are inactive. This is called divergence. Which branches cost something, and how
much?)");
    lesson.predict(
        {.question = R"(Every other lane of a warp wants cube roots, and the others
want square roots. The loop of each kind runs one after the other. How many of the 32
lanes are active in it?)",
         .answer = warpwise::Number{.value = 16, .unit = "lanes"},
         .because = R"(The branch splits the warp: each side runs with its own 16
lanes, while the others wait.)"});
    show_neighbors(lesson);
    lesson.conclusion(
        R"(What counts is who shares a warp. If all of its lanes agree, a branch costs next
to nothing. If they do not, it does not matter whether 16 lanes want the other side or one:
the warp goes through both loops. So where you have the choice, write a condition on
threadIdx.x / 32, not one on threadIdx.x % 2.)");

    lesson.question(
        R"(Often the data decide, so that no condition on the thread's number helps: now the
degrees are random. Step 3 computes both roots and chooses one, step 4 makes one formula of
both, and step 5 sorts the numbers by kind first.)");
    lesson.predict({.question = R"(both_and_choose lets every lane compute both roots and
choose one, so all 32 lanes stay active. How many times as fast as the branch is it on a
GPU?)",
                    .answer =
                        warpwise::Measured{
                            .by = warpwise::TimeRatio{"branch_by_lane", "both_and_choose"},
                            .unit = "times",
                            .factor = 1.1},
                    .because = R"(The warp does both loops in either case. Active lanes that
compute what nobody needs save nothing.)"});
    lesson.steps<Roots>(
        {.gpu = {std::size_t{1} << 24},
         .cpu = {std::size_t{1} << 14},
         .awkward = {{0}, {1}, {31}, {32}, {33}, {255}, {257}, {1009}, {4099}}},
        {{"serial", "one core of the host", serial, warpwise::StepKind::host},
         {"branch_by_lane", "a branch", run_roots<branch_by_lane>},
         {"both_and_choose", "both kinds for all, and a choice",
          run_roots<both_and_choose>},
         {"one_formula", "one loop, constants by lane", run_roots<one_formula>},
         {"sort_first", "a list by kind, then the branch", sort_first}});
    expect_roots(lesson);
    lesson.conclusion(
        R"(Computing both keeps all lanes active and gains nothing: a warp executes 64
rounds as before. The cost is what the warp executes, not that lanes idle. The formula and
sorting need 32 rounds, but a round of the formula takes more instructions, and making the
list costs more than 32 short rounds are worth. Sorting pays when the work is long.)");

    lesson.question(
        R"(A loop ends for the warp when it ends for its last lane. A hailstone number is
halved if it is even, and replaced by 3 n + 1 if it is odd, until it is 1. For numbers up to
131,072 this takes about 100 rounds on average, and up to some 350.)");
    lesson.predict(
        {.question = R"(Each lane follows a hailstone of its own, which takes its
own number of rounds. How many of the 32 lanes are active on average, until the last
lane is done?)",
         .answer = warpwise::Number{.value = 15.4,
                                    .unit = "lanes",
                                    .factor = 1.35,
                                    .shown_by = warpwise::TableCell{"hailstones",
                                                                    {"halve_or_triple"},
                                                                    "predicted"}},
         .because = R"(This is a mean over all rounds: 32 lanes are active at first, and one
at last. The longest of 32 lengths decides, which is about twice the average. Lanes that
halve and lanes that triple wait for each other, too.)"});
    lesson.steps<Hailstones>(
        {.gpu = {std::size_t{1} << 24},
         .cpu = {std::size_t{1} << 14},
         .awkward = {{0}, {1}, {31}, {32}, {33}, {255}, {257}, {1009}, {4099}}},
        {{"serial_hailstones", "one core of the host", serial_hailstones,
          warpwise::StepKind::host},
         {"halve_or_triple", "one number per thread", run_hailstones<halve_or_triple>},
         {"triple_and_halve", "a tripling and all halvings per round",
          run_hailstones<triple_and_halve>},
         {"refill_lanes", "lanes that are done take the next number", run_refill}});
    expect_hailstones(lesson);
    lesson.conclusion(
        R"(About 15: among random neighbors half of the warp idles. (The CPU device counts
fewer lanes in step 2, because it counts both sides of a branch that nvcc turns into
predicated instructions.) Step 3 gains most, although its lanes are no more active: it needs
a third of the rounds. Refilling has the most active lanes, but its votes and scattered
accesses cost more than the idle lanes did.)");
}

}  // namespace optimization
