// Problem: 32 lanes share one instruction. What if they want different ones?
//
// A warp that comes to a branch carries out both sides, one after the other, if some of its lanes want the one and
// some the other; on each side the lanes of the other side idle. A loop ends for the warp when it ends for the last
// lane. Nothing becomes wrong. It only becomes slow, up to 32 times.
//
// Two problems. First, n numbers and for each the inverse of its square root or of its cube root, as a second array
// tells: two kinds of work, mixed at random. Then hailstone numbers: n is halved if it is even, and replaced by 3 n +
// 1 if it is odd, until it is 1. How many steps that takes nobody knows before, and it is different for each lane.
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

#include "chapters/3_optimization/lessons.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"

namespace optimization {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr unsigned kLanes = 32;
constexpr unsigned kThreads = 256;  // of a block

std::string microseconds_of(const warpwise::RecordedStep& step) {
    return warpwise::text_or_dash("%.4g us", step.microseconds());
}

// ---- two kinds of work -------------------------------------------------------------------------------------------

// Which root each element wants: 2 or 3.
using Arrangement = unsigned char (*)(std::size_t i);
unsigned char at_random(std::size_t i) { return warpwise::random_bits(51, i) % 2 == 0 ? 2 : 3; }

// `count` numbers from 1 to 1000 with their degrees, and room for number^(-1 / degree).
struct Roots {
    std::size_t count;
    std::vector<float> numbers, roots;
    std::vector<unsigned char> degrees;
    DeviceBuffer<float> d_numbers, d_roots;
    DeviceBuffer<unsigned char> d_degrees;
    DeviceBuffer<unsigned> d_order, d_taken;  // for the step that sorts
    bool roots_are_on_host = false;           // set by the step that leaves its result in `roots`

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

    // The last round of Newton's method rounds five or six times, and forgets what was before it.
    warpwise::Comparison compare() {
        if (!roots_are_on_host) roots = d_roots.download();
        constexpr double epsilon = std::numeric_limits<float>::epsilon();
        const auto expected = [&](std::size_t i) {
            return degrees[i] == 2 ? 1 / std::sqrt(double{numbers[i]}) : 1 / std::cbrt(double{numbers[i]});
        };
        return warpwise::compare_each(roots, count, expected, {.relative = 8 * epsilon});
    }

    // A number and its degree in, a root out; five operations a round.
    warpwise::Work work() const;

    static std::size_t device_bytes(const warpwise::Size& size) { return 13 * size[0] + 8; }
};

// Newton's method for y = a^(-1/2) and a^(-1/3), from below: while y is far too small, it grows by half or by a third
// in each round. 32 rounds take it from 1/1000 to the last bit, wherever it has to go.
constexpr unsigned kRounds = 32;
constexpr float kFirstGuess = 0.001f;

warpwise::Work Roots::work() const { return {.bytes = 9.0 * count, .operations = 5.0 * kRounds * count}; }

__host__ __device__ float inverse_square_root(float a) {
    float y = kFirstGuess;
    for (unsigned round = 0; round < kRounds; ++round) y *= 1.5f - 0.5f * a * (y * y);
    return y;
}

__host__ __device__ float inverse_cube_root(float a) {
    constexpr float third = 1 / 3.0f;
    float y = kFirstGuess;
    for (unsigned round = 0; round < kRounds; ++round) y *= 4 * third - third * a * (y * y * y);
    return y;
}

// Step 1, one core of the host. It does one thing after the other, so nothing can diverge; at most it guesses the
// next branch wrong.
void serial(Roots& problem) {
    for (std::size_t i = 0; i < problem.count; ++i) {
        const float a = problem.numbers[i];
        problem.roots[i] = problem.degrees[i] == 2 ? inverse_square_root(a) : inverse_cube_root(a);
    }
    problem.roots_are_on_host = true;
}

// Step 2, a number a thread, and a branch. With degrees at random, nearly every warp has lanes of both kinds: it goes
// through one loop and then through the other one, each time with half of its lanes.
// Slow: on average 16 of 32 lanes have nothing to do.
__global__ void branch_by_lane(const float* numbers, const unsigned char* degrees, float* roots, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    if (degrees[i] == 2) {
        roots[i] = inverse_square_root(numbers[i]);
    } else {
        roots[i] = inverse_cube_root(numbers[i]);
    }
}

using RootKernel = void (*)(const float*, const unsigned char*, float*, std::size_t);

template <RootKernel kernel>
void run_roots(Roots& problem) {
    kernel<<<warpwise::blocks_for(problem.count, kThreads), kThreads>>>(
        problem.d_numbers.data(), problem.d_degrees.data(), problem.d_roots.data(), problem.count);
    warpwise::check_launch();
}

// Step 3, no branch: every lane does both and keeps one. All lanes are active all the time.
// No better: the warp goes through both loops as before. Its lanes are busy with what is thrown away.
__global__ void both_and_choose(const float* numbers, const unsigned char* degrees, float* roots, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    const float of_square = inverse_square_root(numbers[i]);
    const float of_cube = inverse_cube_root(numbers[i]);
    roots[i] = degrees[i] == 2 ? of_square : of_cube;
}

// Step 4, one formula: y * y in one kind and y * y * y in the other are y * y * (p + q * y), with p and q either 1
// and 0 or 0 and 1. The other constants differ, too. Each lane has its own in registers, and that is not a branch:
// all lanes go through one loop together. Better: one loop instead of two, for one more instruction a round. Not
// always possible: the two kinds of work have to be alike.
__global__ void one_formula(const float* numbers, const unsigned char* degrees, float* roots, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    const bool square = degrees[i] == 2;
    const float p = square ? 1 : 0, q = square ? 0 : 1;
    const float share = square ? 0.5f : 1 / 3.0f;
    const float a = share * numbers[i];
    float y = kFirstGuess;
    for (unsigned round = 0; round < kRounds; ++round) y *= 1 + share - a * (y * y * (p + q * y));
    roots[i] = y;
}

// Step 5, sort first. One kernel makes a list of the elements, those of degree 2 from its front and those of degree 3
// from its back. A block counts both kinds among 4096 elements, takes as many places on either side of the list, and
// goes through its elements again. Which of its lanes want what, a warp sees in a ballot; lane 0 takes places for all
// of them, and each lane finds its own by counting the lanes before it. (One place at a time from the two counters in
// global memory would be millions of atomics, one after the other.) A second kernel is step 2 again, with elements in
// the order of the list: but for one, each warp is of one kind. Better: half of the rounds, whatever the two kinds of
// work are. Slow: a list is written and read, 8 bytes an element, by another launch, and neighbors are no longer
// neighbors in memory.
constexpr unsigned kTile = 16 * kThreads;  // elements of a block

__global__ void list_by_degree(const unsigned char* degrees, unsigned* order, unsigned* taken, std::size_t count) {
    __shared__ unsigned wanted[2], next[2];  // places at the front, and at the back
    const std::size_t first = std::size_t{blockIdx.x} * kTile + threadIdx.x;
    if (threadIdx.x < 2) wanted[threadIdx.x] = 0;
    __syncthreads();
    unsigned mine[2] = {0, 0};
    for (std::size_t i = first; i < first + kTile; i += kThreads) {
        if (i < count) (degrees[i] == 2 ? mine[0] : mine[1]) += 1;
    }
    atomicAdd(&wanted[0], mine[0]);
    atomicAdd(&wanted[1], mine[1]);
    __syncthreads();
    if (threadIdx.x < 2) next[threadIdx.x] = atomicAdd(&taken[threadIdx.x], wanted[threadIdx.x]);
    __syncthreads();
    const unsigned lane = threadIdx.x % kLanes;
    const unsigned lanes_before = (1u << lane) - 1;
    for (std::size_t i = first; i < first + kTile; i += kThreads) {
        const bool square = i < count && degrees[i] == 2;
        const bool cube = i < count && !square;
        const unsigned squares = __ballot_sync(~0u, square);  // a bit for each lane
        const unsigned cubes = __ballot_sync(~0u, cube);
        unsigned front = lane == 0 ? atomicAdd(&next[0], __popc(squares)) : 0;
        unsigned back = lane == 0 ? atomicAdd(&next[1], __popc(cubes)) : 0;
        front = __shfl_sync(~0u, front, 0) + __popc(squares & lanes_before);
        back = __shfl_sync(~0u, back, 0) + __popc(cubes & lanes_before);
        if (square) order[front] = static_cast<unsigned>(i);
        if (cube) order[count - 1 - back] = static_cast<unsigned>(i);
    }
}

__global__ void branch_sorted(const float* numbers, const unsigned char* degrees, const unsigned* order, float* roots,
                              std::size_t count) {
    const std::size_t place = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (place >= count) return;
    const unsigned i = order[place];
    if (degrees[i] == 2) {
        roots[i] = inverse_square_root(numbers[i]);
    } else {
        roots[i] = inverse_cube_root(numbers[i]);
    }
}

void sort_first(Roots& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.count, kThreads);
    warpwise::check(cudaMemsetAsync(problem.d_taken.data(), 0, problem.d_taken.bytes()));
    list_by_degree<<<warpwise::blocks_for(problem.count, kTile), kThreads>>>(
        problem.d_degrees.data(), problem.d_order.data(), problem.d_taken.data(), problem.count);
    warpwise::check_launch();
    branch_sorted<<<blocks, kThreads>>>(problem.d_numbers.data(), problem.d_degrees.data(), problem.d_order.data(),
                                        problem.d_roots.data(), problem.count);
    warpwise::check_launch();
}

// ---- the same branch, other neighbors ----------------------------------------------------------------------------

struct Neighbors {
    const char* name;
    Arrangement degree_of;
    double kinds;  // of work in a warp
};
constexpr std::array<Neighbors, 6> kNeighbors = {
    {{"all the same", [](std::size_t) -> unsigned char { return 2; }, 1},
     {"every other warp", [](std::size_t i) -> unsigned char { return i / kLanes % 2 == 0 ? 2 : 3; }, 1},
     {"every other lane", [](std::size_t i) -> unsigned char { return i % 2 == 0 ? 2 : 3; }, 2},
     {"lanes 0 to 15, 16 to 31", [](std::size_t i) -> unsigned char { return i / 16 % 2 == 0 ? 2 : 3; }, 2},
     {"at random", at_random, 2},
     {"lane 0 and the rest", [](std::size_t i) -> unsigned char { return i % kLanes == 0 ? 2 : 3; }, 2}}};

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
        lesson.expect(problem.compare().passed, std::string(neighbors.name) + ": the roots are right");
        const double predicted = kLanes / neighbors.kinds;
        rows.push_back({neighbors.name, text_of("%g", neighbors.kinds), text_of("%g", predicted), "-"});
        if (!counts) continue;
        rows.back().back() = text_of("%.1f", counts->active_lanes_per_step());
        // The few steps before and behind the loops have all lanes.
        lesson.expect(std::fabs(counts->active_lanes_per_step() / predicted - 1) < 0.1,
                      std::string(neighbors.name) + ": as many active lanes as predicted");
    }
    if (measures) {
        std::vector<warpwise::Candidate> candidates;
        for (Roots& problem : problems) candidates.push_back({[&problem] { run_roots<branch_by_lane>(problem); }});
        const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(candidates, {.seconds = 0.2});
        for (std::size_t k = 0; k < rows.size(); ++k) {
            rows[k].back() = text_of("%.2f", timings[k].median / timings[0].median);
        }
    }
    lesson.table("branch_by_lane, with other degrees",
                 {"degrees", "kinds in a warp", "lanes, predicted", measures ? "time, first = 1" : "lanes, counted"},
                 rows);
}

// ---- loops of different length -----------------------------------------------------------------------------------

constexpr unsigned kLargestStart = 1 << 17;  // up to here 3 n + 1 stays below 2^32, which the reference makes sure of

// Steps to 1 of all numbers up to the largest, in 64 bits.
std::vector<unsigned> all_hailstones() {
    std::vector<unsigned> steps(kLargestStart + 1);
    for (std::uint64_t start = 2; start <= kLargestStart; ++start) {
        unsigned taken = 0;
        std::uint64_t n = start;
        while (n >= start) {  // below that, the rest is known
            n = n % 2 == 0 ? n / 2 : 3 * n + 1;
            if (n > std::numeric_limits<unsigned>::max()) throw std::logic_error("a hailstone too large for 32 bits");
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
        : count(size[0]), starts(count), steps(count), known(all_hailstones()), d_starts(count), d_steps(count) {
        for (std::size_t i = 0; i < count; ++i) {
            starts[i] = static_cast<unsigned>(1 + warpwise::random_bits(53, i) % kLargestStart);
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
        return warpwise::compare_each(steps, count, [&](std::size_t i) { return double{1} * known[starts[i]]; });
    }

    // The operations are the steps of all numbers.
    warpwise::Work work() const { return {.bytes = 2.0 * sizeof(unsigned) * count, .operations = all_steps}; }

    static std::size_t device_bytes(const warpwise::Size& size) { return 2 * sizeof(unsigned) * size[0]; }
};

// Step 1, one core of the host.
void serial_hailstones(Hailstones& problem) {
    for (std::size_t i = 0; i < problem.count; ++i) {
        unsigned taken = 0;
        for (unsigned n = problem.starts[i]; n != 1; ++taken) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
        problem.steps[i] = taken;
    }
    problem.steps_are_on_host = true;
}

// Step 2, a number a thread. There is a branch in a loop; but its sides are so short that nvcc makes no branch of it:
// all lanes do both, and each keeps what it wants (predication). What costs is the loop: a warp goes round until its
// slowest lane is done.
__global__ void halve_or_triple(const unsigned* starts, unsigned* steps, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    unsigned taken = 0;
    for (unsigned n = starts[i]; n != 1; ++taken) {
        if (n % 2 == 0) {
            n /= 2;
        } else {
            n = 3 * n + 1;
        }
    }
    steps[i] = taken;
}

// Zero bits at the end of n > 0: n & -n is its lowest one bit. (__ffs(n) - 1 says the same, but takes two
// instructions of units that have 16 lanes only; this takes one.)
__device__ unsigned zeros_behind(unsigned n) { return 31 - __clz(static_cast<int>(n & -n)); }

// Step 3, think again: an odd n is tripled, and what follows is even, and halved as often as it ends in a zero bit.
// So a round can be one tripling and all halvings behind it.
// Better: a third of the rounds, and the question whether n is even is gone. Slow: the loop still waits for its
// slowest lane.
__global__ void triple_and_halve(const unsigned* starts, unsigned* steps, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    unsigned n = starts[i];
    unsigned taken = zeros_behind(n);
    n >>= taken;
#pragma unroll 1
    while (n != 1) {
        n = 3 * n + 1;
        const unsigned halvings = zeros_behind(n);
        n >>= halvings;
        taken += 1 + halvings;
    }
    steps[i] = taken;
}

// Step 4, lanes that are done take the next number. Each has a list of them, `stride` apart; every 16 rounds those
// that have come to 1 write down their result and go on. All lanes stay until the last has nothing left: __any_sync
// asks. Better: a lane idles for less than 16 rounds a number, and at the very end. The price is the question, and
// stores that are scattered.
constexpr unsigned kRoundsAtATime = 16;

__global__ void refill_lanes(const unsigned* starts, unsigned* steps, std::size_t count) {
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    unsigned n = i < count ? starts[i] : 1;
    unsigned taken = zeros_behind(n);
    n >>= taken;
    while (__any_sync(~0u, i < count)) {
#pragma unroll 1
        for (unsigned round = 0; round < kRoundsAtATime && n != 1; ++round) {
            n = 3 * n + 1;
            const unsigned halvings = zeros_behind(n);
            n >>= halvings;
            taken += 1 + halvings;
        }
        if (n == 1 && i < count) {
            steps[i] = taken;
            i += stride;
            n = i < count ? starts[i] : 1;
            taken = zeros_behind(n);
            n >>= taken;
        }
    }
}

using HailstoneKernel = void (*)(const unsigned*, unsigned*, std::size_t);

template <HailstoneKernel kernel>
void run_hailstones(Hailstones& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.count, kThreads);
    kernel<<<blocks, kThreads>>>(problem.d_starts.data(), problem.d_steps.data(), problem.count);
    warpwise::check_launch();
}

// As many blocks as fill the device, but lists of 32 numbers at least: what one lane has too much, it has too little
// of in the next number.
void run_refill(Hailstones& problem) {
    const unsigned lists = warpwise::blocks_for(problem.count, 32 * kThreads);
    const unsigned blocks = std::min(lists, warpwise::blocks_that_fill(refill_lanes, kThreads));
    refill_lanes<<<blocks, kThreads>>>(problem.d_starts.data(), problem.d_steps.data(), problem.count);
    warpwise::check_launch();
}

// Rounds of step 3: one for each tripling.
unsigned triplings(unsigned n) {
    unsigned count = 0;
    for (; n != 1; n = n % 2 == 0 ? n / 2 : 3 * n + 1) count += n % 2;
    return count;
}

// Active lanes in a loop whose lanes go round so often, if a warp takes 32 neighbors: the lanes' rounds over the
// warp's.
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

// What the text predicts for the roots, in rounds of Newton's method that a warp goes through.
struct PredictedRoots {
    const char* step;
    void (*run)(Roots&);
    double lanes, rounds;
};
constexpr std::array<PredictedRoots, 4> predicted_roots = {{{"branch_by_lane", run_roots<branch_by_lane>, 16, 64},
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
        rows.push_back({predicted.step, text_of("%g", predicted.lanes), "-", text_of("%g", predicted.rounds), "-"});
        if (!counts) continue;
        const double stretches = counts->steps / (count / kLanes);
        rows.back()[2] = text_of("%.1f", counts->active_lanes_per_step());
        rows.back()[4] = text_of("%.1f", stretches);
        const std::string step = predicted.step;
        lesson.expect(std::fabs(counts->active_lanes_per_step() / predicted.lanes - 1) < 0.1,
                      step + ": as many active lanes as predicted");
        // The way to the loop and out of it is some stretches more; the list is another kernel.
        lesson.expect(stretches > predicted.rounds && stretches < predicted.rounds + 30,
                      step + ": as many rounds as predicted, and little else");
    }
    if (!warpwise::Lesson::on_gpu()) {
        lesson.table("Random degrees: active lanes, and what a warp goes through",
                     {"step", "lanes, predicted", "counted", "rounds, predicted", "stretches, counted"}, rows);
    }
}

// The trip counts are known before: what they say about the lanes, and what was counted.
void expect_hailstones(warpwise::Lesson& lesson) {
    Hailstones problem({std::size_t{1} << 13});
    const auto steps_of = [&](unsigned start) { return problem.known[start]; };
    const double by_steps = predicted_lanes(problem, steps_of), by_triplings = predicted_lanes(problem, triplings);
    struct Row {
        const char* step;
        void (*run)(Hailstones&);
        double predicted;
    };
    std::vector<std::vector<std::string>> rows;
    for (const Row& row : {Row{"halve_or_triple", run_hailstones<halve_or_triple>, by_steps},
                           Row{"triple_and_halve", run_hailstones<triple_and_halve>, by_triplings},
                           Row{"refill_lanes", run_refill, 0}}) {
        const std::string predicted = row.predicted == 0 ? "more" : text_of("%.1f", row.predicted);
        rows.push_back({row.step, predicted, "-"});
        const auto counts = lesson.count([&] { row.run(problem); });
        if (!counts) continue;
        const double lanes = counts->active_lanes_per_step();
        rows.back()[2] = text_of("%.1f", lanes);
        const std::string step = row.step;
        if (row.run == run_hailstones<halve_or_triple>) {
            lesson.expect(lanes < by_steps, step + ": fewer active lanes than the loop alone would have");
        } else if (row.run == run_refill) {
            lesson.expect(lanes > 1.4 * by_triplings, step + ": nearly half as many active lanes again");
        } else {
            lesson.expect(std::fabs(lanes / by_triplings - 1) < 0.1, step + ": as many active lanes as predicted");
        }
    }
    lesson.table("Active lanes, from the lengths of 8192 random hailstones", {"step", "predicted", "counted"}, rows);
}

}  // namespace

void divergence(warpwise::Lesson& lesson) {
    lesson.text(
        R"(The lanes of a warp share their instructions. At a branch that they do not agree on, the warp goes
through both sides, and on each of them some lanes idle. This is called divergence. The counter for it are the active
lanes of an instruction, 32 at best; the CPU device counts them for stretches of code without a branch, because
instructions are nvcc's.

What you will see: the same branch with other neighbors; four ways to do two kinds of work; and loops of which nobody
knows how long they are.

Each of n numbers wants either its inverse square root or its inverse cube root, 32 rounds of Newton's method each. A
number a thread, and a branch. Predict the active lanes: if every other warp wants cube roots; if every other lane
does; if all lanes do but one.)");
    show_neighbors(lesson);
    lesson.text(
        R"(What counts is who shares a warp. If all of its lanes agree, a branch costs next to nothing, and the
next warp may do something else. If they do not, it does not matter whether 16 of them want the other side or one:
both loops are gone through. So write a condition on threadIdx.x / 32 where you have the choice, not one on
threadIdx.x % 2.

Often there is none, because data decide. Now the degrees are random. Three ideas: leave out the branch and compute
both; make one formula of both; sort by kind first. Which of them keep all lanes active? And which are faster? That is
not the same question.)");
    lesson.steps<Roots>({.gpu = {std::size_t{1} << 24},
                         .cpu = {std::size_t{1} << 14},
                         .awkward = {{0}, {1}, {31}, {32}, {33}, {255}, {257}, {1009}, {4099}}},
                        {{"serial", "one core of the host", serial, warpwise::StepKind::host},
                         {"branch_by_lane", "a branch", run_roots<branch_by_lane>},
                         {"both_and_choose", "both kinds for all, and a choice", run_roots<both_and_choose>},
                         {"one_formula", "one loop, constants by lane", run_roots<one_formula>},
                         {"sort_first", "a list by kind, then the branch", sort_first}});
    expect_roots(lesson);
    lesson.show_recorded_steps("Roots of 2^24 numbers",
                               {"branch_by_lane", "both_and_choose", "one_formula", "sort_first"}, "time",
                               microseconds_of);
    lesson.text(
        R"(Computing both has all lanes active, and gains nothing: a warp goes through 64 rounds as before, and
half of what it computes is thrown away. Idle lanes are not the cost. The cost is what the warp goes through; active
lanes tell of it only if no lane does superfluous work.

One formula and sorting go through 32 rounds. (Stretches of code behind those are the way to the loop and, for
sorting, the list.) But rounds are not all alike: nvcc 13.0 makes 3 instructions of a round for a square root, 4 of
one for a cube root, and 5 of the formula's. So a warp with both kinds has 7 for a pair of rounds, with the formula 5,
sorted 3 or 4. The formula works because the two kinds are nearly alike. Sorting works for any kinds, and has its own
price: a second kernel, a list of 4 bytes a number, and neighbors in a warp that are no longer neighbors in memory, so
that a load touches 8 or 9 sectors where it touched 4.

It pays if the work is long. 32 rounds are not: on an H200 sorting takes half as long again as the branch (217 us and
147 for 2^24 numbers), and the formula saves a tenth. Of these times 40 us are what a copy of the bytes takes, which no
step can save.)");

    lesson.text(
        R"(Some branches are none. A side of one or two instructions is carried out by all lanes, and written only
by those that want it, under a predicate. This is what nvcc 13.0 makes of the branch between n / 2 and 3 n + 1, for
compute capability 9.0:

    LOP3.LUT R0, R2, 0x1, RZ, 0xc0               the lowest bit of n
    ISETP.NE.U32.AND P0, PT, R0, 0x1, PT         P0: it is not set
    IMAD R0, R2, 0x3, R3                         3 n + 1, in all lanes
    @P0 SHF.R.U32.HI R0, RZ, 0x1, R2             n / 2, where P0 is true

No jump, nothing to diverge. Nobody has to write such code by hand: short sides without calls and stores become that,
and `a ? b : c` too. (The CPU device counts two sides here, and so fewer active lanes than a GPU.)

That line is the body of a loop: hailstone numbers. 1 to 131,072 take between 0 and some 350 steps to come to 1, about
100 on average. A warp goes round until its slowest lane is done. With the lengths of the loops known, the active
lanes can be worked out: all rounds of 32 lanes, divided by those of the longest. Is that rather 8, 16 or 24?)");
    lesson.steps<Hailstones>(
        {.gpu = {std::size_t{1} << 24},
         .cpu = {std::size_t{1} << 14},
         .awkward = {{0}, {1}, {31}, {32}, {33}, {255}, {257}, {1009}, {4099}}},
        {{"serial_hailstones", "one core of the host", serial_hailstones, warpwise::StepKind::host},
         {"halve_or_triple", "a number a thread", run_hailstones<halve_or_triple>},
         {"triple_and_halve", "a tripling and all halvings a round", run_hailstones<triple_and_halve>},
         {"refill_lanes", "lanes that are done take the next number", run_refill}});
    expect_hailstones(lesson);
    lesson.show_recorded_steps("2^24 hailstones", {"halve_or_triple", "triple_and_halve", "refill_lanes"}, "time",
                               microseconds_of);
    lesson.text(
        R"(About 15: random neighbors waste half of the warp. If the lengths were known, numbers of equal length
could be put side by side, as above. Here the warp finds out while it works, and refills idle lanes with new numbers.
A long number then holds up one lane, not 32, and its next numbers make up for it. It is not free: every 16 rounds
there is a question to all lanes, a piece of code for those that are done, often few, and loads and stores are
scattered. On an H200 it is not worth that: 440 us, against 413 of step 3.

And mind step 3. Its lanes are hardly more active than those of step 2, and still it goes round a third as often: the
best way to deal with a branch is a way to compute that has none.)");

    lesson.text(
        R"(Mistakes to avoid. Slow ones: a condition on the lane where one on the warp would do; taking out
branches that nvcc had taken out; judging by active lanes alone; sorting what is done in three instructions. And a
wrong one: an `if` that keeps some running threads from a barrier. The others wait for threads that never come; it may
hang, or pass by luck. The same goes for __syncwarp(), shuffles and votes whose mask names running lanes that never
come. Threads that have ended are not waited for, so `if (i >= count) return;` before a __syncthreads() does not hang;
but what these threads should have done for the others is missing, and a value taken by shuffle from an ended lane is
undefined. This is why refill_lanes keeps all lanes in its loop. Exercise warp_tail of chapter 2 has such mistakes in
it, and the lesson warp_synchronous_code tells what keeps lanes together.

Try next: sort the numbers before step 2 of the hailstones by their length (known[start] has it), and predict the
lanes. Then change kRounds: from how many rounds on does sorting pay?

    optimization divergence --lines --step branch_by_lane
    optimization divergence --step refill_lanes --size 1000003)");
}

}  // namespace optimization
