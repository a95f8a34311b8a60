#include "exercises/2_memory_model/stencil_halo/stencil_halo.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/watched.h"

const grading::Exercise grading::exercise{"2_memory_model", "stencil_halo"};

namespace {

// Whole numbers, so that sums are exact in any order. No element is 0: one that is left out shows.
std::vector<float> make_values(int count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(1 + i * 37 % 101);
    return values;
}

// The values with others around them that belong to nobody, and that no sum hides.
constexpr std::size_t margin = 1024;

std::vector<float> with_margins(const std::vector<float>& values) {
    std::vector<float> padded(margin + values.size() + margin, 1 << 20);
    std::copy(values.begin(), values.end(), padded.begin() + margin);
    return padded;
}

std::vector<double> expected_sums(const std::vector<float>& values, int radius) {
    const int count = static_cast<int>(values.size());
    std::vector<double> sums(values.size());
    for (int i = 0; i < count; ++i) {
        for (int k = std::max(0, i - radius); k <= std::min(count - 1, i + radius); ++k) {
            sums[static_cast<std::size_t>(i)] += values[static_cast<std::size_t>(k)];
        }
    }
    return sums;
}

std::string likely_mistake(int count, int radius, int threads_per_block) {
    if (radius > threads_per_block) return "Who loads a halo that has more elements than the block has threads?";
    if (count <= threads_per_block) return "Is the halo loaded, and are elements outside of the array 0?";
    return "Does every place of the halo hold the element that belongs there, also in the last block?";
}

// Checks the sums, and returns what the kernels did.
grading::Watched check_sums(int count, int radius, int threads_per_block) {
    INFO(count << " elements, radius " << radius << ", blocks of " << threads_per_block << " threads");
    const std::vector<float> values = make_values(count);
    const grading::Guarded<float> d_in(with_margins(values));
    grading::Guarded<float> d_out(values.size());
    grading::Watched watched =
        grading::watch([&] { sum_windows(d_in.data() + margin, d_out.data(), count, radius, threads_per_block); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_out, grading::WrittenEverywhere("Does every element have a thread?"));
    CHECK_THAT(d_out,
               grading::EqualTo(expected_sums(values, radius), likely_mistake(count, radius, threads_per_block)));
    CHECK_THAT(d_out, grading::StaysInside("There is one sum an element."));
    CHECK_THAT(d_in, grading::Unchanged());
    return watched;
}

}  // namespace

// Radius 0 has no halo, and a window of one element.
TEST_CASE("copies the array for radius 0") {
    check_sums(1, 0, 32);
    check_sums(1000, 0, 128);
}

TEST_CASE("sums the windows of one block") {
    check_sums(128, 1, 128);
    check_sums(512, 16, 512);
}

TEST_CASE("takes elements outside of the array for 0") {
    check_sums(64, 4, 64);
    check_sums(1, 3, 64);
    check_sums(5, 10, 64);
}

TEST_CASE("takes the halo from the neighboring blocks") {
    check_sums(4096, 1, 256);
    check_sums(4096, 16, 256);
    check_sums(2048, 64, 128);
}

TEST_CASE("handles a last block that is not full") {
    for (const int count : {1, 31, 33, 255, 257, 1009}) check_sums(count, 3, 128);
}

// Down to one thread, and with halos larger than a block: no thread has a number that it can be sure of.
TEST_CASE("works with blocks smaller than a window") {
    for (const int threads_per_block : {40, 33, 32, 31, 16, 8, 3, 2, 1}) check_sums(300, 12, threads_per_block);
    check_sums(1000, 100, 32);
}

TEST_CASE("works with blocks of any size") {
    for (const int threads_per_block : {64, 100, 127, 500, 1000, 1024}) check_sums(3000, 20, threads_per_block);
}

TEST_CASE("handles an empty array") { check_sums(0, 3, 64); }

// A tile of 256 elements with 16 more on either side is loaded with 36 sectors and written with 32: 8.5 bytes an
// element. Windows from global memory ask for more than 600.
TEST_CASE("reads each input little more than once") {
    constexpr int count = 8192;
    const grading::Watched watched = check_sums(count, 16, 256);
    INFO(count << " elements of 8 bytes each: what is read and written of them");
    CHECK_THAT(watched, grading::BytesMovedAtMost(12.0 * count, "Is the window read from the tile?"));
}
