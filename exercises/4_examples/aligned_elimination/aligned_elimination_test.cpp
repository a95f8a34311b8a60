#include "exercises/4_examples/aligned_elimination/aligned_elimination.h"

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

#ifndef __CPU_DEVICE__
#include <cuda_runtime.h>

#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#endif

const grading::Exercise grading::exercise{"4_examples", "aligned_elimination"};

namespace {

constexpr float padding = -7777;

// Whole numbers from -9 to 9, and a pivot of 2: all results are exact.
std::vector<float> make_matrix(std::size_t rows, std::size_t cols, std::size_t pitch, std::size_t column) {
    const std::vector<int> numbers = warpwise::uniform_integers(rows * pitch, 61, -9, 9);
    std::vector<float> matrix(numbers.begin(), numbers.end());
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t col = cols; col < pitch; ++col) matrix[row * pitch + col] = padding;
    }
    matrix[column * pitch + column] = 2;
    return matrix;
}

// Eliminates, checks the whole matrix, and returns what the kernels did.
grading::Watched check_elimination(int rows, int cols, int column) {
    INFO(rows << " rows of " << cols << " columns, column " << column);
    const std::size_t height = static_cast<std::size_t>(rows), width = static_cast<std::size_t>(cols);
    const std::size_t pivot = static_cast<std::size_t>(column), pitch = floats_from_row_to_row(cols);
    INFO("floats_from_row_to_row says " << pitch << ": a row has to have room for its columns, and little more");
    REQUIRE((width <= pitch && pitch <= width + 32));
    const std::vector<float> matrix = make_matrix(height, width, pitch, pivot);
    std::vector<double> expected(matrix.begin(), matrix.end());
    for (std::size_t row = 0; row < height; ++row) {
        if (row == pivot) continue;
        const double factor = expected[row * pitch + pivot] / 2;
        for (std::size_t col = pivot + 1; col < width; ++col) {
            expected[row * pitch + col] -= factor * expected[pivot * pitch + col];
        }
    }
    grading::Guarded<float> d_a(matrix);
    d_a.show_as_rows_of(pitch);
    grading::Watched watched = grading::watch([&] { eliminate(d_a.data(), pitch, rows, cols, column); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_a, grading::EqualTo(expected,
                                     "Are the first columns behind it covered? Are the last columns covered?\n"
                                     "What is left of them stays as it is, and -7777 is padding, which belongs to "
                                     "nobody."));
    CHECK_THAT(d_a, grading::StaysInside());
    return watched;
}

// Bytes of all sectors that stores touch, for each byte that they store.
grading::WatchedMatcher SectorBytesAStoredByteAtMost(double limit, std::string hint) {
    const auto judge = [limit](const grading::Watched& watched) -> grading::Verdict {
        if (!watched.countable) return {true, "not counted on this device"};
        const warpwise::RequestCounts stores = warpwise::sum_of(watched.launches).global_store;
        const double ratio = stores.bytes == 0 ? 0 : stores.bytes_moved() / stores.bytes;
        return {stores.bytes > 0 && ratio <= limit,
                "stores touch sectors of " + warpwise::ratio_text(ratio) + " bytes for each byte that they store (" +
                    warpwise::ratio_text(stores.sectors_per_request()) + " sectors/request), at most " +
                    warpwise::ratio_text(limit) + " allowed"};
    };
    return {judge, std::move(hint)};
}

}  // namespace

TEST_CASE("eliminates behind the column") {
    for (const int column : {0, 4, 30, 31, 32, 33, 63, 70}) check_elimination(71, 72, column);
    check_elimination(128, 128, 17);
}

TEST_CASE("handles any number of columns") {
    for (const int cols : {1, 2, 31, 32, 33, 63, 64, 65, 97, 127, 129, 257}) {
        check_elimination(9, cols, 0);
        if (cols > 8) check_elimination(9, cols, 8);
        if (cols > 60) check_elimination(61, cols, 60);
    }
}

TEST_CASE("handles any number of rows") {
    for (const int rows : {1, 2, 7, 9, 63, 64, 65, 200, 1009}) check_elimination(rows, 40, 0);
}

TEST_CASE("lets rows begin at whole sectors") {
    for (const int cols : {1, 7, 8, 9, 100, 129, 1001}) {
        const std::size_t pitch = floats_from_row_to_row(cols);
        INFO("rows of " << cols << " floats, " << pitch << " floats apart");
        INFO("A row should begin at a multiple of 32 bytes, and it has to have room for its columns.");
        CHECK(pitch * sizeof(float) % 32 == 0);
        CHECK(pitch >= static_cast<std::size_t>(cols));
    }
}

// Sectors in part are left at both ends of a row: about 1.03 for 500 columns. Requests that begin anywhere: 1.25.
TEST_CASE("stores whole sectors") {
    const std::string hint = "Where does lane 0 of a warp begin, in bytes? Five sectors for 32 floats is one too many.";
    for (const int column : {3, 4, 20, 34}) {
        CHECK_THAT(check_elimination(65, 501 + column, column), SectorBytesAStoredByteAtMost(1.1, hint));
    }
}

// Of each row: its elements are loaded and stored, and a sector with the factor is loaded for each warp.
TEST_CASE("moves each element once in and once out") {
    constexpr int rows = 128, cols = 513;
    const double limit = 1.2 * rows * (2.0 * cols * sizeof(float) + 32.0 * (cols / 32 + 2));
    CHECK_THAT(check_elimination(rows, cols, 0),
               grading::BytesMovedAtMost(limit, "Do neighboring lanes still have neighboring columns?"));
}

#ifndef __CPU_DEVICE__
// A copy reads and writes as much. What five sectors cost in time is little on today's chips, which have caches.
TEST_CASE("takes less than twice the time of a copy of the matrix") {
    constexpr int side = 8192;
    const std::size_t pitch = floats_from_row_to_row(side);
    REQUIRE(pitch >= side);
    warpwise::DeviceBuffer<float> d_a(make_matrix(side, side, pitch, 4)), d_copy(d_a.size());
    const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
        {{[&] { eliminate(d_a.data(), pitch, side, side, 4); }, false},
         {[&] { warpwise::check(cudaMemcpyAsync(d_copy.data(), d_a.data(), d_a.bytes(), cudaMemcpyDeviceToDevice)); },
          false}});
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    const double share = timings[0].median / timings[1].median;
    INFO("your kernel: " << timings[0].median * 1e6 << " us; a copy: " << timings[1].median * 1e6 << " us");
    CHECK(share <= 2.0);
}
#endif
