#include "exercises/4_examples/gemv_warp_per_row/gemv_warp_per_row.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/watched.h"
#include "common/helpers/inputs.h"

#ifndef __CPU_DEVICE__
#include <cuda_runtime.h>

#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#endif

const grading::Exercise grading::exercise{"4_examples", "gemv_warp_per_row"};

namespace {

// Whole numbers from -9 to 9: sums are exact in any order.
std::vector<float> whole_numbers(std::size_t count, int seed) {
    const std::vector<int> numbers = warpwise::uniform_integers(count, static_cast<std::uint64_t>(seed), -9, 9);
    return {numbers.begin(), numbers.end()};
}

// Multiplies, checks y, and returns what the kernels did. What is behind the columns of a row is NaN.
grading::Watched check_product(int rows, int cols, int padding = 0) {
    INFO(rows << " rows of " << cols << " columns, " << cols + padding << " floats apart");
    const std::size_t height = static_cast<std::size_t>(rows), width = static_cast<std::size_t>(cols);
    const std::size_t pitch = width + static_cast<std::size_t>(padding);
    std::vector<float> matrix = whole_numbers(height * pitch, 51);
    const std::vector<float> x = whole_numbers(width, 52);
    std::vector<double> expected(height);
    for (std::size_t row = 0; row < height; ++row) {
        for (std::size_t col = 0; col < pitch; ++col) {
            float& element = matrix[row * pitch + col];
            if (col < width) {
                expected[row] += double{element} * x[col];
            } else {
                element = std::numeric_limits<float>::quiet_NaN();
            }
        }
    }
    const grading::Guarded<float> d_matrix(matrix), d_x(x);
    grading::Guarded<float> d_y(height);
    grading::Watched watched =
        grading::watch([&] { multiply(d_matrix.data(), pitch, rows, cols, d_x.data(), d_y.data()); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_y, grading::WrittenEverywhere("Does every row get a warp, also the last ones?"));
    const std::string hint = padding == 0 ? "Is each product of a row added once, and only once?"
                                          : "A row begins `pitch` floats behind the one before, and ends after `cols`.";
    CHECK_THAT(d_y, grading::EqualTo(expected, hint));
    CHECK_THAT(d_y, grading::StaysInside("There is one sum a row."));
    CHECK_THAT(d_x, grading::Unchanged());
    return watched;
}

}  // namespace

TEST_CASE("multiplies rows of one float for each lane") {
    check_product(8, 32);
    check_product(80, 32);
}

TEST_CASE("multiplies rows of many floats for each lane") {
    check_product(8, 1024);
    check_product(40, 256);
}

TEST_CASE("handles any number of rows") {
    for (const int rows : {1, 2, 7, 9, 31, 33, 127, 1009}) check_product(rows, 64);
}

TEST_CASE("handles any number of columns") {
    for (const int cols : {1, 2, 31, 33, 63, 65, 127, 255, 257, 1009}) check_product(19, cols);
    check_product(1, 1);
    check_product(1, 10007);
    check_product(1009, 1);
}

TEST_CASE("finds rows that are a pitch apart") {
    check_product(16, 32, 32);
    check_product(21, 45, 19);
    check_product(5, 1, 7);
}

TEST_CASE("handles matrices without elements") {
    check_product(0, 0);
    check_product(0, 5);
    check_product(5, 0);
    check_product(5, 0, 4);
}

TEST_CASE("reads whole sectors") {
    const std::string hint = "In each round the 32 lanes should read 32 neighboring floats.";
    CHECK_THAT(check_product(64, 256), grading::SectorsPerRequestAtMost(4, grading::Accesses::loads, hint));
    CHECK_THAT(check_product(64, 250, 6), grading::SectorsPerRequestAtMost(4, grading::Accesses::loads, hint));
}

// The matrix once, x at most once for each row, 4 bytes of a sector for each y.
TEST_CASE("reads each element once") {
    const double limit = 2.2 * 64 * 256 * sizeof(float);
    CHECK_THAT(check_product(64, 256),
               grading::BytesMovedAtMost(limit, "Does a single lane, of a single warp, read each element?"));
}

TEST_CASE("lets 28 of 32 lanes work on average") {
    CHECK_THAT(check_product(64, 512), grading::ActiveLanesAtLeast(28, "Do all lanes take part in every round?"));
}

TEST_CASE("never waits for the block") {
    CHECK_THAT(check_product(64, 256), grading::BarriersAtMost(0, "A row is a matter of one warp. Shuffles suffice."));
}

#ifndef __CPU_DEVICE__
// A copy moves twice the bytes. Wide enough for 16384 warps, and narrow enough that a block for a row would not do.
TEST_CASE("takes less than twice the time of a copy of the matrix") {
    constexpr int rows = 1 << 20, cols = 128;
    const warpwise::DeviceBuffer<float> d_matrix(warpwise::uniform<float>(std::size_t{rows} * cols, 53));
    const warpwise::DeviceBuffer<float> d_x(warpwise::uniform<float>(cols, 54));
    warpwise::DeviceBuffer<float> d_copy(d_matrix.size()), d_y(rows);
    const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
        {{[&] { multiply(d_matrix.data(), cols, rows, cols, d_x.data(), d_y.data()); }, false},
         {[&] {
              warpwise::check(
                  cudaMemcpyAsync(d_copy.data(), d_matrix.data(), d_matrix.bytes(), cudaMemcpyDeviceToDevice));
          },
          false}});
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    const double share = timings[0].median / timings[1].median;
    INFO("your kernel: " << timings[0].median * 1e6 << " us; a copy: " << timings[1].median * 1e6 << " us");
    INFO("Do neighboring lanes read neighboring floats, and do all lanes have work?");
    CHECK(share <= 2.0);
}
#endif
