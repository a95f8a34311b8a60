#include "exercises/4_examples/aligned_elimination/aligned_elimination.h"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/figure.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/instrument.h"

#ifndef __CPU_DEVICE__
#include "common/helpers/device_buffer.h"
#endif

const grading::Exercise grading::exercise{"4_examples", "aligned_elimination"};

namespace {

constexpr float padding = -7777.25f;

/// Random numbers, and a pivot of 0.75.
std::vector<float> make_matrix(std::size_t rows, std::size_t cols, std::size_t pitch,
                               std::size_t column) {
    std::vector<float> matrix = grading::random_floats(rows * pitch, rows + cols);
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t col = cols; col < pitch; ++col)
            matrix[row * pitch + col] = padding;
    }
    matrix[column * pitch + column] = 0.75f;
    return matrix;
}

/// The matrix after the step; `takes(row, col)` says which elements change.
template <class Takes>
std::vector<double> eliminated(const std::vector<float>& matrix, std::size_t pitch,
                               std::size_t column, Takes takes) {
    std::vector<double> after(matrix.begin(), matrix.end());
    const std::size_t rows = matrix.size() / pitch;
    for (std::size_t row = 0; row < rows; ++row) {
        const double factor =
            double{matrix[row * pitch + column]} / matrix[column * pitch + column];
        for (std::size_t col = 0; col < pitch; ++col) {
            if (takes(row, col))
                after[row * pitch + col] -= factor * matrix[column * pitch + col];
        }
    }
    return after;
}

/// The elements whose last writer has to be a kernel: all that change.
auto ChangedByKernels(std::size_t pitch, std::size_t cols, std::size_t column) {
    const auto judge = [=](const grading::GuardedMemory& buffer) -> grading::Judgement {
        const std::vector<grading::ElementActivity> elements = grading::activity_of(buffer);
        std::vector<warpwise::KernelThread> writers;
        for (std::size_t i = 0; i < elements.size(); ++i) {
            const std::size_t row = i / pitch, col = i % pitch;
            if (row == column || col <= column || col >= cols) continue;
            if (elements[i].writer != warpwise::Writer::kernel) {
                return {false, grading::name_elements({i}, pitch) +
                                   " was not written by a kernel"};
            }
            writers.push_back(elements[i].written_by);
        }
        const std::size_t changed = writers.size();
        std::sort(writers.begin(), writers.end());
        writers.erase(std::unique(writers.begin(), writers.end()), writers.end());
        // A thread may take a column of 64 rows, or a few neighboring elements of a row.
        const std::size_t wanted = changed / 128;
        if (writers.size() >= wanted) return {true, "written by kernels"};
        return {false, grading::counted(writers.size(), "thread") + " wrote " +
                           grading::counted(changed, "element") +
                           "; the task asks for at least " + std::to_string(wanted)};
    };
    return grading::BufferMatcher(judge, "Which elements of a row does one thread change?");
}

void check_values(const std::vector<float>& matrix, std::size_t pitch, std::size_t cols,
                  std::size_t column, const grading::Guarded<float>& d_a) {
    const auto right = [&](std::size_t row, std::size_t col) {
        return row != column && col > column && col < cols;
    };
    // Three roundings, of numbers below 4/3, 4/3, and 7/3.
    const warpwise::Tolerance rounding{
        .absolute = 4 * double{std::numeric_limits<float>::epsilon()}};
    const auto should_stay = [&](const grading::MismatchedArray& mismatch) {
        return std::all_of(
            mismatch.wrong.begin(), mismatch.wrong.end(),
            [&](std::size_t i) { return mismatch.expected[i] == double{matrix[i]}; });
    };
    const auto result = [&](auto takes) {
        return eliminated(matrix, pitch, column, takes);
    };
    CHECK_THAT(d_a, grading::CloseTo(result(right), rounding)
                        .when(grading::equals(result([&](std::size_t row, std::size_t col) {
                                  return right(row, col) && row > column;
                              })),
                              "The rows above the pivot row are as they were. Gauss-Jordan "
                              "elimination changes them, too.")
                        .when(grading::equals({matrix.begin(), matrix.end()}),
                              "These elements are as they were before. Which lanes take "
                              "the first and the last columns?")
                        .when(should_stay,
                              "These elements should stay as they were. Which lanes have "
                              "no business there?"));
}

/// Fails where rows would overlap, or lie far apart.
void require_room(int cols, std::size_t pitch) {
    const std::size_t least = static_cast<std::size_t>(cols), most = least + 32;
    if (least <= pitch && pitch <= most) return;
    FAIL("floats_from_row_to_row(" << cols << ") is " << pitch << ", should be " << least
                                   << " to " << most << ".\nHow many floats does a row "
                                   << "need, and how many more make it end with a sector?");
}

/// Eliminates, checks the whole matrix and who changed it, and returns what the kernels
/// did.
grading::Instrumented check_elimination(int rows, int cols, int column) {
    INFO(grading::counted(rows, "row")
         << " of " << grading::counted(cols, "column") << ", column " << column);
    const std::size_t height = static_cast<std::size_t>(rows),
                      width = static_cast<std::size_t>(cols);
    const std::size_t pivot = static_cast<std::size_t>(column),
                      pitch = floats_from_row_to_row(cols);
    require_room(cols, pitch);
    const std::vector<float> matrix = make_matrix(height, width, pitch, pivot);
    grading::Guarded<float> d_a(matrix);
    d_a.show_as_rows_of(pitch);
    const grading::Instrumented instrumented =
        grading::instrument([&] { eliminate(d_a.data(), pitch, rows, cols, column); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_values(matrix, pitch, width, pivot, d_a);
    CHECK_THAT(d_a, grading::StaysInside());
    CHECK_THAT(d_a, ChangedByKernels(pitch, width, pivot));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CallsNot({"cudaMallocManaged", "cudaHostAlloc",
                                                "cudaHostRegister"}));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    return instrumented;
}

/// Bytes of all sectors that stores touch, for each byte that they store.
grading::InstrumentedMatcher SectorBytesPerStoredByteAtMost(double limit) {
    const auto judge =
        [limit](const grading::Instrumented& instrumented) -> grading::Judgement {
        if (!instrumented.countable) return {true, "not counted on this device"};
        const warpwise::RequestCounts stores =
            warpwise::sum_of(instrumented.launches).global_store;
        const double ratio = stores.bytes == 0 ? 0 : stores.bytes_moved() / stores.bytes;
        return {stores.bytes > 0 && ratio <= limit,
                "stores touch sectors of " + warpwise::ratio_text(ratio) +
                    " bytes for each byte that they store (" +
                    warpwise::ratio_text(stores.sectors_per_request()) +
                    " sectors/request), at most " + warpwise::ratio_text(limit) +
                    " allowed"};
    };
    return {judge, "Where does lane 0 of a warp begin, in bytes?"};
}

}  // namespace

TEST_CASE("eliminates behind the column") {
    for (const int column : {0, 4, 30, 31, 32, 33, 63, 70})
        check_elimination(71, 72, column);
    check_elimination(128, 128, 17);
}

TEST_CASE("handles any number of columns") {
    for (const std::size_t size :
         grading::sizes({1, 2, 31, 32, 33, 63, 64, 65, 97, 127, 129, 257}, 3, 500)) {
        const auto cols = static_cast<int>(size);
        check_elimination(9, cols, 0);
        if (cols > 8) check_elimination(9, cols, 8);
        if (cols > 60) check_elimination(61, cols, 60);
    }
}

TEST_CASE("does nothing for the last column") {
    for (const int cols : {1, 8, 31, 32, 33, 40, 64, 128})
        check_elimination(cols + 1, cols, cols - 1);
}

TEST_CASE("handles any number of rows") {
    for (const std::size_t rows :
         grading::sizes({1, 2, 7, 9, 63, 64, 65, 200, 1009}, 2, 1500)) {
        check_elimination(static_cast<int>(rows), 40, 0);
    }
}

TEST_CASE("lets rows begin at whole sectors") {
    // What that costs, for the guide.
    const grading::Instrumented instrumented = check_elimination(65, 505, 4);
    if (instrumented.countable) {
        const warpwise::RequestCounts stores =
            warpwise::sum_of(instrumented.launches).global_store;
        grading::figure("sectors per request of the stores", stores.sectors_per_request());
    }
    for (const std::size_t cols :
         grading::sizes({1, 7, 8, 9, 100, 129, 1001}, 8, 100'000)) {
        const std::size_t pitch = floats_from_row_to_row(static_cast<int>(cols));
        require_room(static_cast<int>(cols), pitch);
        if (pitch * sizeof(float) % 32 != 0) {
            FAIL("floats_from_row_to_row(" << cols << ") is " << pitch << ", so rows begin "
                                           << pitch * sizeof(float)
                                           << " bytes apart, which is no multiple of 32.\n"
                                              "In which sector does row 1 begin, and "
                                              "where in it?");
        }
    }
}

TEST_CASE("handles very long and very wide matrices") {
    // Not instrumented. Blocks of 8 rows still fit into gridDim.y; blocks of 32 columns
    // would not.
    const warpwise::Instrumentation not_instrumented({});
    for (const auto& [rows, cols, column] :
         {std::array{500'000, 2, 0}, std::array{2, 2'100'000, 1}}) {
        INFO(grading::counted(rows, "row")
             << " of " << grading::counted(cols, "column") << ", column " << column);
        const std::size_t pitch = floats_from_row_to_row(cols);
        require_room(cols, pitch);
        const std::vector<float> matrix =
            make_matrix(static_cast<std::size_t>(rows), static_cast<std::size_t>(cols),
                        pitch, static_cast<std::size_t>(column));
        grading::Guarded<float> d_a(matrix);
        d_a.show_as_rows_of(pitch);
        eliminate(d_a.data(), pitch, rows, cols, column);
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        check_values(matrix, pitch, static_cast<std::size_t>(cols),
                     static_cast<std::size_t>(column), d_a);
    }
}

// Sectors in part are left at both ends of a row: about 1.03 for 500 columns. Requests that
// begin anywhere: 1.25.
TEST_CASE("stores whole sectors") {
    for (const int column : {3, 4, 20, 34}) {
        {
            const grading::Instrumented instrumented =
                check_elimination(65, 501 + column, column);
            CHECK_THAT(instrumented, SectorBytesPerStoredByteAtMost(1.1));
        }
    }
}

// Of each row: its elements are loaded and stored, the pivot row is loaded again, and a
// sector with the factor for each warp.
TEST_CASE("moves each element once in and once out") {
    constexpr int rows = 128, cols = 513;
    const double limit = 1.2 * rows * (3.0 * cols * sizeof(float) + 32.0 * (cols / 32 + 2));
    {
        const grading::Instrumented instrumented = check_elimination(rows, cols, 0);
        CHECK_THAT(instrumented, grading::BytesMovedAtMost(limit));
    }
}

#ifndef __CPU_DEVICE__
// A copy reads and writes as much. What five sectors cost in time is little on today's
// chips, which have caches.
TEST_CASE("takes less than twice the time of a copy of the matrix") {
    constexpr int side = 8192;
    const std::size_t pitch = floats_from_row_to_row(side);
    require_room(side, pitch);
    warpwise::DeviceBuffer<float> d_a(make_matrix(side, side, pitch, 4)),
        d_copy(d_a.size());
    const auto [answer, copy] =
        grading::measure_beside_copy([&] { eliminate(d_a.data(), pitch, side, side, 4); },
                                     d_copy.data(), d_a.data(), d_a.bytes());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(grading::time_beside(answer, copy, "a copy of the matrix"),
               grading::AtMost(2,
                               "Which bytes of a row does a warp read and write at a time, "
                               "and do they fill whole sectors?"));
}
#endif
