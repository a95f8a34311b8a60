#include "exercises/2_memory_model/pad_the_tile/pad_the_tile.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/watched.h"

#ifndef __CPU_DEVICE__
#include <cuda_runtime.h>

#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#endif

const grading::Exercise grading::exercise{"2_memory_model", "pad_the_tile"};

namespace {

// Checks the turned image, and returns what the kernels did. Every pixel has a value of its own.
grading::Watched check_rotation(int rows, int cols) {
    INFO("an image of " << rows << " x " << cols << " pixels");
    const std::size_t height = static_cast<std::size_t>(rows);
    const std::size_t width = static_cast<std::size_t>(cols);
    std::vector<float> image(height * width);
    std::iota(image.begin(), image.end(), 1.0f);
    std::vector<double> expected(image.size());
    for (std::size_t row = 0; row < height; ++row) {
        for (std::size_t col = 0; col < width; ++col) {
            expected[col * height + (height - 1 - row)] = image[row * width + col];
        }
    }
    const grading::Guarded<float> d_image(image);
    grading::Guarded<float> d_rotated(image.size());
    d_rotated.show_as_rows_of(height);
    grading::Watched watched = grading::watch([&] { rotate_image(d_image.data(), d_rotated.data(), rows, cols); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_rotated, grading::WrittenEverywhere("Does every pixel have a thread that writes it?"));
    CHECK_THAT(d_rotated, grading::EqualTo(expected, "Does a load look for a pixel where the store has put it?"));
    CHECK_THAT(d_rotated, grading::StaysInside("The turned image has as many pixels as the image."));
    CHECK_THAT(d_image, grading::Unchanged());
    return watched;
}

}  // namespace

TEST_CASE("turns images of any shape") {
    check_rotation(32, 32);
    check_rotation(64, 96);
    for (const int side : {1, 2, 31, 33, 70}) {
        check_rotation(side, side);
        check_rotation(side, 45);
        check_rotation(45, side);
    }
    check_rotation(1, 1009);
    check_rotation(1009, 1);
}

TEST_CASE("handles images without pixels") {
    check_rotation(0, 0);
    check_rotation(0, 5);
    check_rotation(5, 0);
}

// Sides that are multiples of 32: 4 sectors a request. Others are misaligned and have short rows: one or two more.
TEST_CASE("still reads and writes whole sectors") {
    const std::string hint = "Do neighboring threads read neighboring pixels, and write neighboring ones?";
    CHECK_THAT(check_rotation(128, 96), grading::SectorsPerRequestAtMost(4, hint));
    CHECK_THAT(check_rotation(100, 131), grading::SectorsPerRequestAtMost(6, hint));
}

TEST_CASE("has no bank conflicts on the tile") {
    const std::string hint = "The word at place w of shared memory is in bank w % 32. What is w for the 32 lanes?";
    CHECK_THAT(check_rotation(32, 32), grading::NoBankConflictsOn("tile", hint));
    CHECK_THAT(check_rotation(96, 128), grading::NoBankConflictsOn("tile", hint));
    CHECK_THAT(check_rotation(50, 77), grading::NoBankConflictsOn("tile", hint));
}

TEST_CASE("has no bank conflicts on any other array") {
    CHECK_THAT(check_rotation(96, 128), grading::NoBankConflicts("Another array has them now."));
}

#ifndef __CPU_DEVICE__
// Both move every pixel once in and once out. With 32 passes for every column, shared memory sets the pace.
TEST_CASE("takes less than twice the time of a copy of the image") {
    constexpr int side = 8192;
    warpwise::DeviceBuffer<float> d_image(std::size_t{side} * side);
    warpwise::DeviceBuffer<float> d_rotated(d_image.size());
    d_image.fill_bytes(1);
    const std::vector<warpwise::Timing> timings =
        warpwise::measure_in_turn({{[&] { rotate_image(d_image.data(), d_rotated.data(), side, side); }, false},
                                   {[&] {
                                        warpwise::check(cudaMemcpyAsync(d_rotated.data(), d_image.data(),
                                                                        d_image.bytes(), cudaMemcpyDeviceToDevice));
                                    },
                                    false}});
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    const double share = timings[0].median / timings[1].median;
    INFO("your kernel: " << timings[0].median * 1e6 << " us; a copy: " << timings[1].median * 1e6 << " us");
    INFO("When 32 lanes want words of one bank, they get them one after the other.");
    CHECK(share <= 2.0);
}
#endif
