#include "exercises/1_basics_and_pi/pi_block_sum/pi_block_sum.h"

#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cstddef>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

const grading::Exercise grading::exercise{"1_basics_and_pi", "pi_block_sum"};

namespace {

/// The sum of every block in double precision.
std::vector<double> expected_sums(int slices, int blocks, int threads_per_block) {
    std::vector<double> sums(static_cast<std::size_t>(blocks));
    for (int i = 0; i < slices; ++i) {
        const double x = (i + 0.5) / slices;
        sums[static_cast<std::size_t>(i / threads_per_block % blocks)] += 4 / (1 + x * x);
    }
    return sums;
}

/// Bound of the relative error of a sum of positive terms that are added along paths of
/// `additions` additions: additions * u (Higham, Accuracy and Stability of Numerical
/// Algorithms, 2nd ed., section 4.2), u = 2^-24. Computing a term adds less than 6 u.
double relative_bound(int slices, int blocks, int threads_per_block) {
    const int additions_of_a_thread = slices / (blocks * threads_per_block) + 1;
    const int rounds = 10;  // 2^10 = 1024 threads
    return (additions_of_a_thread + rounds + 6) / double(1 << 24);
}

/// What a block adds up, in float, when `keep` tells how the parts of its threads become
/// one number.
template <class Keep>
std::vector<double> sums_of_parts(int slices, int blocks, int threads_per_block,
                                  Keep keep) {
    std::vector<double> sums;
    for (int block = 0; block < blocks; ++block) {
        std::vector<float> parts(static_cast<std::size_t>(threads_per_block));
        for (int thread = 0; thread < threads_per_block; ++thread) {
            for (int i = block * threads_per_block + thread; i < slices;
                 i += blocks * threads_per_block) {
                const float x = (static_cast<float>(i) + 0.5f) / static_cast<float>(slices);
                parts[static_cast<std::size_t>(thread)] += 4.0f / (1.0f + x * x);
            }
        }
        sums.push_back(keep(std::move(parts)));
    }
    return sums;
}

float first_part(const std::vector<float>& parts) { return parts[0]; }

/// Halves that are rounded down: the last part of an odd number is lost.
float without_odd_parts(std::vector<float> parts) {
    for (std::size_t half = parts.size() / 2; half > 0; half /= 2) {
        for (std::size_t i = 0; i < half; ++i) parts[i] += parts[i + half];
    }
    return parts[0];
}

/// Halves that are rounded up, and as many threads that add: with an odd number, the last
/// of them adds an element behind the parts of this round, which is one of a round before.
float with_stale_parts(std::vector<float> parts) {
    for (std::size_t count = parts.size(); count > 1; count = (count + 1) / 2) {
        const std::size_t half = (count + 1) / 2;
        for (std::size_t i = 0; i < half && i + half < parts.size(); ++i)
            parts[i] += parts[i + half];
    }
    return parts[0];
}

/// What to go through by hand: few parts, whose sum tells which ones are missing.
std::string question_about_rounds(int threads_per_block) {
    const bool is_power = std::has_single_bit(static_cast<unsigned>(threads_per_block));
    return std::string("Write down the rounds of a block of ") +
           (is_power ? "4 threads with the parts 1, 2, 4, and 8: which parts does each "
                       "round add, and is part[0] 15 at the end?"
                     : "5 threads with the parts 1, 2, 4, 8, and 16: which parts does each "
                       "round add, and is part[0] 31 at the end?");
}

/// No atomic operations on shared memory.
grading::InstrumentedMatcher WithoutAtomics() {
    const auto judge = [](const grading::Instrumented& instrumented) -> grading::Judgement {
        const warpwise::Counts counts = warpwise::sum_of(instrumented.launches);
        const double operations = counts.shared_atomic.lanes + counts.global_atomic.lanes;
        return {operations == 0, grading::counted(operations, "atomic operation") +
                                     ", none allowed: their order, and so "
                                     "the rounded sum, would differ from run to run"};
    };
    return {judge,
            "Which thread adds which two parts in a round, so that no two threads write "
            "the same one?"};
}

/// A tree keeps many lanes busy: on average, so many lanes take part in a warp's load from
/// shared memory.
grading::InstrumentedMatcher LanesThatLoadAtLeast(double lanes) {
    const auto judge =
        [lanes](const grading::Instrumented& instrumented) -> grading::Judgement {
        const warpwise::RequestCounts loads =
            warpwise::sum_of(instrumented.launches).shared_load;
        const double done = loads.lanes_per_request();
        return {!instrumented.countable || done >= lanes,
                "on average " + warpwise::ratio_text(done) +
                    " of 32 lanes take part in a load from shared memory, at least " +
                    warpwise::ratio_text(lanes) + " wanted"};
    };
    return {judge,
            "Which threads add in the first round, and how many of them are in one warp?"};
}

std::vector<float> check_sums(int slices, int blocks, int threads_per_block) {
    INFO(grading::counted(slices, "slice")
         << ", launched with <<<" << blocks << ", " << threads_per_block << ">>>");
    grading::Guarded<float> d_sums(static_cast<std::size_t>(blocks));
    const grading::Instrumented instrumented = grading::instrument(
        [&] { sum_slices_by_block(d_sums.data(), slices, blocks, threads_per_block); });
    REQUIRE_THAT(grading::finish(),
                 grading::Succeeds().when(
                     {"data race", "shared memory"},
                     "Which thread writes this part, which thread reads it, and what makes "
                     "the later of the two wait for the other?"));
    CHECK_THAT(d_sums, grading::WrittenEverywhere());
    const std::vector<double> expected = expected_sums(slices, blocks, threads_per_block);
    const warpwise::Tolerance rounding{
        .relative = relative_bound(slices, blocks, threads_per_block)};
    CHECK_THAT(
        d_sums,
        grading::CloseTo(expected, rounding)
            .when(grading::equals(
                      sums_of_parts(slices, blocks, threads_per_block, first_part)),
                  "This is the part of thread 0 alone. Who adds the other parts?")
            .when(grading::equals(
                      sums_of_parts(slices, blocks, threads_per_block, without_odd_parts)),
                  "What happens to the part in the middle when the number of parts is odd?")
            .when(grading::equals(
                      sums_of_parts(slices, blocks, threads_per_block, with_stale_parts)),
                  "When the number of parts is odd, one thread of this round has no "
                  "partner. What does it add?")
            .when([&](const grading::MismatchedArray&) { return threads_per_block > 2; },
                  question_about_rounds(threads_per_block)));
    CHECK_THAT(d_sums, grading::StaysInside());

    CHECK_THAT(instrumented, grading::LaunchesExactly(1));
    CHECK_THAT(instrumented,
               grading::EveryLaunchHas({static_cast<unsigned>(blocks), 1, 1},
                                       {static_cast<unsigned>(threads_per_block), 1, 1}));
    CHECK_THAT(d_sums, grading::WrittenOnce());
    CHECK_THAT(d_sums, grading::WrittenByBlocks(static_cast<std::size_t>(blocks)));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyHostToDevice"));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, WithoutAtomics());
    if (threads_per_block >= 1000) {
        CHECK_THAT(instrumented, grading::UsesSharedMemory());
        CHECK_THAT(instrumented, LanesThatLoadAtLeast(4));
    }
    return d_sums.download();
}

}  // namespace

TEST_CASE("adds the parts of all threads") {
    check_sums(2, 1, 2);
    check_sums(64, 1, 64);
    check_sums(10000, 1, 256);
}

TEST_CASE("gives every block a sum of its own") {
    check_sums(320, 5, 64);
    check_sums(100000, 64, 128);
    check_sums(20'000, 300, 32);  // more blocks than any small table has
}

TEST_CASE("works with blocks of any size") {
    for (int threads_per_block : {1, 3, 31, 32, 33, 96, 100, 1000, 1023, 1024})
        check_sums(5000, 2, threads_per_block);
    for (const std::size_t slices : grading::sizes({}, 4, 50'000)) {
        check_sums(static_cast<int>(slices),
                   static_cast<int>(grading::random_size(1, 9, slices)),
                   static_cast<int>(grading::random_size(1, 1024, slices + 1)));
    }
}

TEST_CASE("handles fewer slices than threads") {
    check_sums(0, 2, 64);
    check_sums(1, 2, 64);
    check_sums(65, 2, 64);
}

// On a GPU the threads of one warp mostly run in step, so a missing barrier shows best in
// blocks of many warps. The CPU device reports it as a race in any block.
TEST_CASE("gives the same sums in every run of large blocks") {
    const std::vector<float> first = check_sums(1 << 18, 32, 1024);
    for (int run = 0; run < 3; ++run) {
        const std::vector<float> again = check_sums(1 << 18, 32, 1024);
        if (again != first) {
            FAIL_CHECK(
                "The same launch gave other sums than before.\nDoes a thread read a part "
                "before it is complete?");
        }
    }
}

TEST_CASE("all threads of a block work") {
    grading::Guarded<float> d_sums(4);
    const grading::Instrumented instrumented =
        grading::instrument([&] { sum_slices_by_block(d_sums.data(), 1 << 18, 4, 1024); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    INFO("262144 slices, launched with <<<4, 1024>>>");
    CHECK_THAT(instrumented, grading::ActiveLanesAtLeast(16));
}

TEST_CASE("adds up to pi") {
    const int slices = 1 << 16;
    const std::vector<float> sums = check_sums(slices, 16, 256);
    const double pi = std::accumulate(sums.begin(), sums.end(), 0.0) / slices;
    const double midpoint_rule =
        1.0 / 12 / slices /
        slices;  // h^2 / 24 * (f'(1) - f'(0)), f = 4 / (1 + x^2), doubled
    const double bound = midpoint_rule + std::numbers::pi * relative_bound(slices, 16, 256);
    CHECK_THAT(pi, Catch::Matchers::WithinAbs(std::numbers::pi, bound));
}
