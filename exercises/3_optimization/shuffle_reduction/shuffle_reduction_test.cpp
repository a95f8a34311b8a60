#include "exercises/3_optimization/shuffle_reduction/shuffle_reduction.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/watched.h"
#include "common/helpers/counts.h"
#include "common/helpers/inputs.h"

const grading::Exercise grading::exercise{"3_optimization", "shuffle_reduction"};

namespace {

// Whole numbers from 1 to 100: sums are exact in any order, and one that is left out shows.
std::vector<float> make_values(int count) {
    const std::vector<int> numbers = warpwise::uniform_integers(static_cast<std::size_t>(count), 41, 1, 100);
    return {numbers.begin(), numbers.end()};
}

std::string likely_mistake(int count, int threads_per_block) {
    if (threads_per_block == 32) return "Do five rounds add up all 32 lanes?";
    if (count % threads_per_block != 0) return "Do threads without a value add nothing?";
    return "Are the sums of all warps added, however many there are?";
}

// Checks the sums, and returns what the kernels did.
grading::Watched check_sums(int count, int threads_per_block) {
    INFO(count << " values, blocks of " << threads_per_block << " threads");
    const std::vector<float> values = make_values(count);
    const std::size_t tile = static_cast<std::size_t>(threads_per_block);
    std::vector<double> expected((values.size() + tile - 1) / tile);
    for (std::size_t i = 0; i < values.size(); ++i) expected[i / tile] += values[i];
    const grading::Guarded<float> d_values(values);
    grading::Guarded<float> d_sums(expected.size());
    grading::Watched watched =
        grading::watch([&] { sum_tiles(d_values.data(), count, d_sums.data(), threads_per_block); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_sums, grading::WrittenEverywhere("Does one thread of each block write a sum?"));
    CHECK_THAT(d_sums, grading::EqualTo(expected, likely_mistake(count, threads_per_block)));
    CHECK_THAT(d_sums, grading::StaysInside("There is one sum a tile."));
    CHECK_THAT(d_values, grading::Unchanged());
    return watched;
}

// Threads that load from shared memory or store to it, all accesses together: at most `limit`.
grading::WatchedMatcher SharedAccessesAtMost(double limit, std::string hint) {
    const auto judge = [limit](const grading::Watched& watched) -> grading::Verdict {
        if (!watched.countable) return {true, "not counted on this device"};
        const double lanes = warpwise::sum_of(watched.launches).shared().lanes;
        return {lanes <= limit, warpwise::count_text(lanes) +
                                    " loads and stores of threads in shared memory, at most " +
                                    warpwise::count_text(limit) + " allowed"};
    };
    return {judge, std::move(hint)};
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
    for (const int count : {1, 2, 31, 33, 63, 95, 255, 257, 1009, 4099}) {
        for (const int threads : {32, 96, 256, 1024}) check_sums(count, threads);
    }
}

TEST_CASE("handles an empty array") { check_sums(0, 256); }

TEST_CASE("waits for the block at most twice") {
    const std::string hint = "A shuffle waits for its warp by itself. When does a warp need another one?";
    CHECK_THAT(check_sums(4096, 256), grading::BarriersAtMost(2, hint));
    CHECK_THAT(check_sums(4096, 1024), grading::BarriersAtMost(2, hint));
}

// A sum for each warp, stored once, and read by 32 lanes at most: 64 for a block. A tree has 1022 for 256 threads.
TEST_CASE("uses shared memory for the sums of the warps only") {
    const std::string hint = "Lanes of a warp can hand over values without shared memory.";
    CHECK_THAT(check_sums(4096, 256), SharedAccessesAtMost(64 * 4096.0 / 256, hint));
    CHECK_THAT(check_sums(4096, 1024), SharedAccessesAtMost(96 * 4096.0 / 1024, hint));
}
