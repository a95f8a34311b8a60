#include "exercises/3_optimization/shuffle_reduction/shuffle_reduction.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/counts.h"

const grading::Exercise grading::exercise{"3_optimization", "shuffle_reduction"};

namespace {

constexpr std::size_t most_at_once = 4;  // values that a thread may read
constexpr double bytes_of_sector = 32;

// Magnitudes from 1/2 to 1 and both signs, so that every value shows in its sum.
std::vector<float> make_values(int count) {
    std::vector<float> values = grading::random_floats(static_cast<std::size_t>(count));
    for (float& value : values) value = std::copysign(0.5f + 0.5f * std::abs(value), value);
    return values;
}

// Checks the sums, and returns what the kernels did.
grading::Instrumented check_sums(int count, int threads_per_block) {
    INFO(grading::counted(count, "value")
         << ", blocks of " << grading::counted(threads_per_block, "thread"));
    const std::vector<float> values = make_values(count);
    const std::size_t tile = static_cast<std::size_t>(threads_per_block);
    std::vector<double> expected((values.size() + tile - 1) / tile);
    std::vector<double> first_warp = expected, with_last_repeated = expected;
    std::vector<float> magnitudes;  // of a tile
    for (std::size_t i = 0; i < values.size(); ++i) {
        expected[i / tile] += values[i];
        if (i % tile < 32) first_warp[i / tile] += values[i];
        if (i < tile) magnitudes.push_back(std::abs(values[i]));
    }
    with_last_repeated = expected;
    for (std::size_t i = values.size(); i < expected.size() * tile; ++i)
        with_last_repeated.back() += values.back();
    const grading::Guarded<float> d_values(values);
    grading::Guarded<float> d_sums(expected.size());
    grading::Instrumented instrumented = grading::instrument(
        [&] { sum_tiles(d_values.data(), count, d_sums.data(), threads_per_block); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_sums, grading::WrittenEverywhere());
    CHECK_THAT(d_sums, grading::CloseTo(expected, grading::sum_tolerance_of(magnitudes, 32))
                           .when(grading::equals(first_warp),
                                 "These are the sums of the first warp of each block.")
                           .when(grading::equals(with_last_repeated),
                                 "Threads without a value have added the last value of the "
                                 "array once more."));
    CHECK_THAT(d_sums, grading::StaysInside());
    CHECK_THAT(d_values, grading::Unchanged());
    CHECK_THAT(instrumented, grading::LaunchesAtMost(1));
    if (count > 0) {
        CHECK_THAT(instrumented,
                   grading::EveryLaunchHas(
                       {0, 0, 0}, {static_cast<unsigned>(threads_per_block), 1, 1}));
        CHECK_THAT(d_sums, grading::WrittenByBlocks(expected.size()));
        CHECK_THAT(d_values, grading::ReadByThreads(values.size() / most_at_once));
    }
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyHostToDevice"));
    return instrumented;
}

// Threads that load from shared memory or store to it, all accesses together: at most
// `limit`.
grading::InstrumentedMatcher SharedAccessesAtMost(double limit) {
    const auto judge =
        [limit](const grading::Instrumented& instrumented) -> grading::Judgement {
        if (!instrumented.countable) return {true, "not counted on this device"};
        const double lanes = warpwise::sum_of(instrumented.launches).shared().lanes;
        return {lanes <= limit,
                warpwise::count_text(lanes) +
                    " loads and stores of threads in shared memory, at most " +
                    warpwise::count_text(limit) + " allowed"};
    };
    return {
        judge,
        "Which of these sums could a lane get from another lane of its warp by a shuffle?"};
}

grading::InstrumentedMatcher NoAtomics() {
    const auto judge = [](const grading::Instrumented& instrumented) -> grading::Judgement {
        if (!instrumented.countable) return {true, "not counted on this device"};
        const warpwise::Counts all = warpwise::sum_of(instrumented.launches);
        const double lanes = all.shared_atomic.lanes + all.global_atomic.lanes;
        return {lanes == 0,
                grading::counted(lanes, "atomic operation of threads") + ", none allowed"};
    };
    return {judge, "Which thread could add up these parts by itself, in a fixed order?"};
}

}  // namespace

TEST_CASE("adds up blocks of one warp") {
    check_sums(32, 32);
    check_sums(32 * 100, 32);
}

TEST_CASE("adds up blocks of several warps") {
    check_sums(64, 64);
    check_sums(256 * 3, 256);
    check_sums(1024 * 2, 1024);
}

TEST_CASE("works with any multiple of 32 threads") {
    for (int threads = 32; threads <= 1024; threads += 32) check_sums(threads * 2, threads);
}

TEST_CASE("handles a last tile that is short") {
    for (const std::size_t count :
         grading::sizes({1, 2, 31, 33, 63, 95, 255, 257, 1009, 4099}, 3, 10'000)) {
        const auto random = static_cast<int>(32 * grading::random_size(1, 32, count));
        for (const int threads : {32, 96, 256, 1024, random})
            check_sums(static_cast<int>(count), threads);
    }
}

TEST_CASE("handles an empty array") { check_sums(0, 256); }

TEST_CASE("waits for the block at most twice") {
    for (const int threads : {256, 1024}) {
        const grading::Instrumented instrumented = check_sums(4096, threads);
        CHECK_THAT(instrumented, grading::BarriersAtMost(2));
    }
}

// Enough for every warp to read all warps' sums; too little for all threads to store a
// value and to fetch one.
TEST_CASE("uses shared memory for the sums of the warps only") {
    for (const int threads : {256, 1024}) {
        const grading::Instrumented instrumented = check_sums(4096, threads);
        CHECK_THAT(instrumented, SharedAccessesAtMost((threads + 96) * (4096.0 / threads)));
    }
}

TEST_CASE("adds without atomic operations") {
    for (const int threads : {32, 256}) {
        const grading::Instrumented instrumented = check_sums(4096, threads);
        CHECK_THAT(instrumented, NoAtomics());
    }
}

TEST_CASE("reads each value once in whole sectors") {
    const grading::Instrumented instrumented = check_sums(4096, 256);
    CHECK_THAT(instrumented,
               grading::GlobalEfficiencyAtLeast(0.8, grading::Accesses::loads));
    CHECK_THAT(instrumented,
               grading::BytesMovedAtMost(
                   1.1 * (sizeof(float) * 4096 + bytes_of_sector * 4096 / 256)));
}
