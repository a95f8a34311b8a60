#include "exercises/4_examples/scan_in_a_block/scan_in_a_block.h"

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

const grading::Exercise grading::exercise{"4_examples", "scan_in_a_block"};

namespace {

constexpr std::size_t most_at_once = 4;  // values that a thread may read
constexpr double bytes_of_sector = 32;

// Magnitudes from 1/2 to 1 and both signs, so that every value shows in its sums.
std::vector<float> make_values(int count) {
    std::vector<float> values = grading::random_floats(static_cast<std::size_t>(count));
    for (float& value : values) value = std::copysign(0.5f + 0.5f * std::abs(value), value);
    return values;
}

// What an answer should give, and what known mistakes would give instead.
struct Expected {
    std::vector<double> scanned, sums;
    std::vector<double> exclusive, warps_alone, with_own_warp, with_one_warp, all_lanes_add;
    std::vector<double> sums_of_first_warp;
};

// What a warp has if its first lanes add the value that the shuffle gives back to them.
std::vector<double> rounds_of_all_lanes(std::vector<double> warp) {
    warp.resize(32);
    for (std::size_t distance = 1; distance < 32; distance *= 2) {
        const std::vector<double> before = warp;
        for (std::size_t lane = 0; lane < 32; ++lane)
            warp[lane] += before[lane >= distance ? lane - distance : lane];
    }
    return warp;
}

Expected expect(const std::vector<float>& values, std::size_t tile) {
    Expected expected;
    expected.sums.resize((values.size() + tile - 1) / tile);
    expected.sums_of_first_warp = expected.sums;
    double sum = 0, of_warp = 0, of_warp_before = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i % tile == 0) sum = of_warp = 0;
        if (i % tile % 32 == 0) {
            of_warp_before = of_warp;
            of_warp = 0;
            const auto first = values.begin() + static_cast<std::ptrdiff_t>(i);
            const std::vector<double> warp(
                first, first + static_cast<std::ptrdiff_t>(
                                   std::min<std::size_t>(32, values.size() - i)));
            double up_to_warp = sum;
            for (const double value : warp) up_to_warp += value;
            double alone = 0;
            const std::vector<double> doubled = rounds_of_all_lanes(warp);
            for (std::size_t lane = 0; lane < warp.size(); ++lane) {
                alone += warp[lane];
                expected.with_own_warp.push_back(alone + up_to_warp);
                expected.all_lanes_add.push_back(doubled[lane]);
            }
        }
        expected.exclusive.push_back(sum);
        sum += values[i];
        of_warp += values[i];
        expected.scanned.push_back(sum);
        expected.warps_alone.push_back(of_warp);
        expected.with_one_warp.push_back(of_warp + of_warp_before);
        expected.sums[i / tile] = sum;
        if (i % tile < 32) expected.sums_of_first_warp[i / tile] = sum;
    }
    return expected;
}

// Checks the results, and returns what the kernels did.
grading::Instrumented check_scan(int count, int threads_per_block, bool in_place = false) {
    INFO(grading::counted(count, "value")
         << ", blocks of " << grading::counted(threads_per_block, "thread")
         << (in_place ? ", in place" : ""));
    const std::vector<float> values = make_values(count);
    const auto tile = static_cast<std::size_t>(threads_per_block);
    const Expected expected = expect(values, tile);
    const std::vector<float> of_a_tile(
        values.begin(),
        values.begin() + static_cast<std::ptrdiff_t>(std::min(tile, values.size())));
    const warpwise::Tolerance tolerance = grading::sum_tolerance_of(of_a_tile, 32);
    const grading::Guarded<float> d_values(values);
    grading::Guarded<float> d_scanned =
        in_place ? grading::Guarded<float>(values) : grading::Guarded<float>(values.size());
    grading::Guarded<float> d_sums(expected.sums.size());
    const float* const d_from = in_place ? d_scanned.data() : d_values.data();
    grading::Instrumented instrumented = grading::instrument([&] {
        scan_tiles(d_from, count, d_scanned.data(), d_sums.data(), threads_per_block);
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_scanned,
               grading::CloseTo(expected.scanned, tolerance)
                   .when(grading::equals(expected.exclusive),
                         "These sums leave out the value itself. Which of the two scans is "
                         "asked for?")
                   .when(grading::equals(expected.warps_alone),
                         "These are the scans of the warps, each by itself. What comes "
                         "before a warp?")
                   .when(grading::equals(expected.with_own_warp),
                         "The sum of its own warp is added to each value as well. Which "
                         "warps come before a value's warp?")
                   .when(grading::equals(expected.with_one_warp),
                         "The sum of a single warp is added, of the one before. What do "
                         "the values of the third warp need?")
                   .when(grading::equals(expected.all_lanes_add),
                         "The first lanes add their own value once more. What does a lane "
                         "get from __shfl_up_sync if no lane is that far below it?"));
    CHECK_THAT(d_sums, grading::WrittenEverywhere());
    CHECK_THAT(d_sums, grading::CloseTo(expected.sums, tolerance)
                           .when(grading::equals(expected.sums_of_first_warp),
                                 "These are the sums of the first warp of each tile. Which "
                                 "thread holds the sum of all?"));
    CHECK_THAT(d_scanned, grading::StaysInside());
    CHECK_THAT(d_sums, grading::StaysInside());
    CHECK_THAT(d_values, grading::Unchanged());
    CHECK_THAT(instrumented, grading::LaunchesAtMost(1));
    if (count > 0) {
        CHECK_THAT(instrumented,
                   grading::EveryLaunchHas(
                       {0, 0, 0}, {static_cast<unsigned>(threads_per_block), 1, 1}));
        CHECK_THAT(d_sums, grading::WrittenByBlocks(expected.sums.size()));
        CHECK_THAT(d_scanned, grading::WrittenByThreads(values.size() / most_at_once));
    }
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyHostToDevice"));
    return instrumented;
}

}  // namespace

TEST_CASE("scans tiles of one warp") {
    check_scan(32, 32);
    check_scan(32 * 100, 32);
}

TEST_CASE("scans tiles of several warps") {
    check_scan(64, 64);
    check_scan(256 * 3, 256);
    check_scan(1024 * 2, 1024);
}

TEST_CASE("works with any multiple of 32 threads") {
    for (int threads = 32; threads <= 1024; threads += 32) check_scan(threads * 2, threads);
}

TEST_CASE("handles a last tile that is short") {
    for (const std::size_t count :
         grading::sizes({1, 2, 31, 33, 63, 95, 255, 257, 1009, 4099}, 3, 10'000)) {
        const auto random = static_cast<int>(32 * grading::random_size(1, 32, count));
        for (const int threads : {32, 96, 256, 1024, random})
            check_scan(static_cast<int>(count), threads);
    }
}

TEST_CASE("scans in place") {
    check_scan(32, 32, true);
    check_scan(1009, 256, true);
    check_scan(4099, 1024, true);
}

TEST_CASE("handles an empty array") { check_scan(0, 256); }

TEST_CASE("waits for the block at most twice") {
    for (const int threads : {256, 1024})
        CHECK_THAT(check_scan(4096, threads), grading::BarriersAtMost(2));
}

TEST_CASE("has no bank conflicts") {
    for (const int threads : {256, 1024})
        CHECK_THAT(check_scan(4096, threads), grading::NoBankConflicts());
}

TEST_CASE("reads each value once in whole sectors") {
    const grading::Instrumented instrumented = check_scan(4096, 256);
    CHECK_THAT(instrumented, grading::GlobalEfficiencyAtLeast(0.8));
    CHECK_THAT(instrumented,
               grading::BytesMovedAtMost(
                   1.1 * (2 * sizeof(float) * 4096 + bytes_of_sector * 4096 / 256),
                   "How many threads load the same value?"));
}
