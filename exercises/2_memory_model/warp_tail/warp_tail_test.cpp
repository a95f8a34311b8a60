#include "exercises/2_memory_model/warp_tail/warp_tail.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/watched.h"

const grading::Exercise grading::exercise{"2_memory_model", "warp_tail"};

namespace {

constexpr int tile_size = 256;

/// Whole numbers, so that sums are exact in any order. None is 0: one that is left out shows.
std::vector<float> make_values(int count) {
    std::vector<float> values;
    for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(1 + i * 37 % 101));
    return values;
}

std::vector<double> expected_sums(const std::vector<float>& values) {
    std::vector<double> sums((values.size() + tile_size - 1) / tile_size);
    for (std::size_t i = 0; i < values.size(); ++i) sums[i / tile_size] += values[i];
    return sums;
}

/// What the likely mistake is, judged by the length of the last tile.
std::string likely_mistake(int count) {
    if (count % tile_size == 0) {
        return "All tiles are full, so it is the tail: does a lane read a part before the lane that it belongs to has\n"
               "finished the round before?";
    }
    return "The last tile is short: what do the places in `part` hold whose threads have no element?";
}

/// Checks the sums, and returns what the kernels did.
grading::Watched check_sums(int count) {
    INFO(count << " floats, " << count % tile_size << " of them in a short tile");
    const std::vector<float> values = make_values(count);
    const grading::Guarded<float> d_values(values);
    grading::Guarded<float> d_sums(expected_sums(values).size());
    grading::Watched watched = grading::watch([&] { sum_tiles(d_values.data(), count, d_sums.data()); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_sums, grading::WrittenEverywhere("Does every block write the sum of its tile?"));
    CHECK_THAT(d_sums, grading::EqualTo(expected_sums(values), likely_mistake(count)));
    CHECK_THAT(d_sums, grading::StaysInside("There is one sum a tile."));
    CHECK_THAT(d_values, grading::Unchanged());
    return watched;
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
    for (const int count : {1, 2, 31, 33, 127, 128, 129, 255, 257, 1009, 5000}) check_sums(count);
}

TEST_CASE("handles no floats at all") { check_sums(0); }

// The lanes of a warp mostly run in step on a GPU, and a tail that waits for nothing fails there once in a while.
TEST_CASE("gives the same sums every time") {
    for (int run = 0; run < 10; ++run) {
        INFO("run " << run);
        check_sums(40 * tile_size);
    }
}

TEST_CASE("leaves the tail to one warp") {
    const grading::Watched watched = check_sums(8 * tile_size);
    CHECK_THAT(watched, grading::BarriersAtMost(4,
                                                "Three rounds and the way into the tail need __syncthreads(); in the "
                                                "tail __syncwarp() is enough."));
}
