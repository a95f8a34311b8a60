#include "exercises/2_memory_model/warp_tail/warp_tail.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <utility>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

const grading::Exercise grading::exercise{"2_memory_model", "warp_tail"};

namespace {

constexpr std::size_t tile_size = 256;

std::vector<double> expected_sums(const std::vector<float>& values) {
    std::vector<double> sums((values.size() + tile_size - 1) / tile_size);
    for (std::size_t i = 0; i < values.size(); ++i) sums[i / tile_size] += values[i];
    return sums;
}

grading::Cause only_last_wrong() {
    return [](const grading::MismatchedArray& mismatch) {
        return mismatch.wrong.size() == 1 &&
               mismatch.wrong[0] + 1 == mismatch.expected.size();
    };
}

/// Checks the sums and who added them up, and returns what the kernels did.
grading::Instrumented check_sums(std::size_t count) {
    INFO(grading::counted(count, "float")
         << ", " << count % tile_size << " of them in a short tile");
    const std::vector<float> values = grading::random_floats(count);
    const std::vector<double> expected = expected_sums(values);
    const std::vector<float> one_tile(
        values.begin(),
        values.begin() + static_cast<std::ptrdiff_t>(std::min(count, tile_size)));
    const grading::Guarded<float> d_values(values);
    grading::Guarded<float> d_sums(expected.size());
    grading::Instrumented instrumented = grading::instrument(
        [&] { sum_tiles(d_values.data(), static_cast<int>(count), d_sums.data()); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    auto close = grading::CloseTo(expected, grading::sum_tolerance_of(one_tile));
    if (count % tile_size != 0) {
        CHECK_THAT(d_sums,
                   std::move(close).when(
                       only_last_wrong(),
                       "Only the short tile is wrong. What do the places in `part` hold "
                       "whose threads have no element?"));
    } else {
        CHECK_THAT(d_sums, close);
    }
    CHECK_THAT(d_sums, grading::StaysInside());
    CHECK_THAT(d_values, grading::Unchanged());
    CHECK_THAT(d_sums, grading::WrittenByBlocks(expected.size()));
    CHECK_THAT(d_sums, grading::WrittenOnce());
    CHECK_THAT(d_values, grading::ReadByThreads(count / 4));
    if (count > 0) {
        CHECK_THAT(instrumented, grading::LaunchesExactly(1));
        CHECK_THAT(instrumented,
                   grading::EveryLaunchHas({static_cast<unsigned>(expected.size()), 1, 1},
                                           {tile_size, 1, 1}));
    }
    return instrumented;
}

}  // namespace

TEST_CASE("sums full tiles") {
    check_sums(tile_size);
    check_sums(5 * tile_size);
}

TEST_CASE("sums a last tile that is short by whole warps") {
    check_sums(tile_size + 224);
    check_sums(64);
    check_sums(32);
}

TEST_CASE("sums a last tile of any length") {
    for (const std::size_t count :
         grading::sizes({1, 2, 31, 33, 127, 128, 129, 255, 257, 1009, 5000}, 4, 20'000)) {
        check_sums(count);
    }
}

TEST_CASE("handles no floats at all") { check_sums(0); }

// The lanes of a warp mostly run in step on a GPU, and a tail that waits for nothing fails
// there once in a while.
TEST_CASE("gives the same sums every time") {
    for (int run = 0; run < 5; ++run) {
        INFO("run " << run);
        check_sums(40 * tile_size);
    }
}

TEST_CASE("leaves the tail to one warp") {
    const grading::Instrumented instrumented = check_sums(8 * tile_size);
    CHECK_THAT(instrumented,
               grading::BarriersAtMost(
                   4,
                   "Three rounds need __syncthreads(), and a fourth one may stand before "
                   "the tail; in the tail __syncwarp() is enough."));
}

TEST_CASE("adds by a tree") {
    const grading::Instrumented instrumented = check_sums(8 * tile_size);
    CHECK_THAT(instrumented, grading::ActiveLanesAtLeast(16));
}
