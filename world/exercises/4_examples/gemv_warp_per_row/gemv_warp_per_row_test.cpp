#include "exercises/4_examples/gemv_warp_per_row/gemv_warp_per_row.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
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
#include "common/helpers/inputs.h"
#endif

const grading::Exercise grading::exercise{"4_examples", "gemv_warp_per_row"};

namespace {

constexpr std::size_t lanes = 32;
constexpr unsigned threads_of_block = 256;

std::size_t as_size(int n) { return static_cast<std::size_t>(n); }

/// A matrix and a vector, with the product as it should be, and as some mistakes make it.
struct Data {
    Data(int rows_, int cols_, int padding)
        : rows(as_size(rows_)),
          cols(as_size(cols_)),
          pitch(cols + as_size(padding)),
          x(grading::random_floats(cols, 1)) {
        matrix = grading::random_floats(rows * pitch, 2);
        for (std::size_t row = 0; row < rows; ++row) {
            for (std::size_t col = cols; col < pitch; ++col) {
                matrix[row * pitch + col] = std::numeric_limits<float>::quiet_NaN();
            }
        }
    }

    /// The product, of every element for which `takes(col)` holds.
    template <class Takes>
    std::vector<double> product_of(Takes takes) const {
        std::vector<double> y(rows);
        for (std::size_t row = 0; row < rows; ++row) {
            for (std::size_t col = 0; col < cols; ++col) {
                if (takes(col)) y[row] += double{matrix[row * pitch + col]} * x[col];
            }
        }
        return y;
    }

    /// The rounding of the products and of their sums, in the row where it may be largest.
    warpwise::Tolerance tolerance() const {
        double largest = 0;
        for (std::size_t row = 0; row < rows; ++row) {
            std::vector<float> products(cols);
            double squares = 0;
            for (std::size_t col = 0; col < cols; ++col) {
                products[col] = matrix[row * pitch + col] * x[col];
                squares += double{products[col]} * products[col];
            }
            const double of_products =
                6 * std::numeric_limits<float>::epsilon() / 2 * std::sqrt(squares);
            largest = std::max(largest,
                               grading::sum_tolerance_of(products).absolute + of_products);
        }
        return {.absolute = largest};
    }

    std::size_t rows, cols, pitch;
    std::vector<float> matrix, x;
};

void check_values(const Data& data, const grading::Guarded<float>& d_y) {
    const std::size_t in_whole_rounds = data.cols / lanes * lanes;
    const std::vector<double> without_tail =
        data.product_of([&](std::size_t col) { return col < in_whole_rounds; });
    const std::vector<double> of_lane_0 =
        data.product_of([](std::size_t col) { return col % lanes == 0; });
    CHECK_THAT(
        d_y, grading::CloseTo(data.product_of([](std::size_t) { return true; }),
                              data.tolerance())
                 .when(grading::both(grading::never_written(), grading::only_tail_wrong()),
                       "Nothing was written there, or NaN. Which warp takes the last rows?")
                 .when(grading::equals(of_lane_0),
                       "That is the sum of the columns 0, 32, 64 ... Who adds the sums of "
                       "the other lanes?")
                 .when(grading::equals(without_tail),
                       "The last cols % 32 products of the row are missing. Which lanes "
                       "take them?"));
}

/// Each row is read by one warp, by all of its lanes as far as there are elements for them,
/// and each element once. A lane may take four neighboring elements at once.
auto ReadByOneWarpPerRow(std::size_t cols) {
    const auto judge = [cols](const grading::GuardedMemory& matrix) -> grading::Judgement {
        const std::vector<grading::ElementActivity> elements = grading::activity_of(matrix);
        if (elements.empty() || cols == 0) return {true, "nobody saw who read"};
        const std::size_t pitch = matrix.row_length();
        std::set<std::pair<std::uint64_t, std::uint32_t>> warps;
        for (std::size_t row = 0; row * pitch < elements.size(); ++row) {
            std::set<warpwise::KernelThread> readers;
            std::set<std::pair<std::uint64_t, std::uint32_t>> warps_of_row;
            for (std::size_t col = 0; col < cols; ++col) {
                const grading::ElementActivity& element = elements[row * pitch + col];
                const std::string place =
                    "row " + std::to_string(row) + ", column " + std::to_string(col);
                if (!element.all_read)
                    return {false, place + " was not read by any kernel"};
                if (element.reads > 1)
                    return {false, place + " was read " + std::to_string(element.reads) +
                                       " times"};
                readers.insert(element.read_by);
                warps_of_row.insert(
                    {element.read_by.block, element.read_by.thread / lanes});
            }
            const std::string which = "row " + std::to_string(row) + " was read by " +
                                      grading::counted(readers.size(), "thread") + " of " +
                                      grading::counted(warps_of_row.size(), "warp");
            const std::size_t wanted = std::max<std::size_t>(std::min(lanes, cols / 4), 1);
            if (warps_of_row.size() != 1)
                return {false, which + "; the task asks for one warp per row"};
            if (readers.size() < wanted) {
                return {false, which + "; the task asks for at least " +
                                   grading::counted(wanted, "lane")};
            }
            if (!warps.insert(*warps_of_row.begin()).second) {
                return {false,
                        "row " + std::to_string(row) +
                            " was read by a warp that read another row as well; up to " +
                            "1024 rows, each row has a warp of its own"};
            }
        }
        return {true, "one warp read each row"};
    };
    return grading::BufferMatcher(
        judge,
        "Which row does the warp of a thread have, and which columns does its lane take?");
}

grading::InstrumentedMatcher BlocksHave256Threads() {
    const auto judge = [](const grading::Instrumented& instrumented) -> grading::Judgement {
        for (const warpwise::LaunchCounts& launch : instrumented.launches) {
            const unsigned threads = launch.block[0] * launch.block[1] * launch.block[2];
            if (threads == threads_of_block) continue;
            return {false, launch.kernel + " was launched with blocks of " +
                               grading::counted(threads, "thread") +
                               "; the task asks for 8 warps, so 256 threads"};
        }
        return {true, "blocks of 256 threads"};
    };
    return {judge, "Which argument of the launch is the number of threads per block?"};
}

grading::InstrumentedMatcher UsesNoSharedMemory() {
    const auto judge = [](const grading::Instrumented& instrumented) -> grading::Judgement {
        const double requests = warpwise::sum_of(instrumented.launches).shared().requests;
        if (requests == 0) return {true, "no shared memory"};
        return {false, grading::counted(requests, "request") +
                           " to shared memory; shuffles do without"};
    };
    return {judge, "Which values does a lane need from other lanes of its warp?"};
}

/// Multiplies, checks y and who worked, and returns what the kernels did. What is after the
/// columns of a row is NaN.
grading::Instrumented check_product(int rows, int cols, int padding = 0) {
    INFO(grading::counted(rows, "row")
         << " of " << grading::counted(cols, "column") << ", "
         << grading::counted(cols + padding, "float") << " apart");
    const Data data(rows, cols, padding);
    grading::Guarded<float> d_matrix(data.matrix);
    const grading::Guarded<float> d_x(data.x);
    grading::Guarded<float> d_y(data.rows);
    d_matrix.show_as_rows_of(data.pitch);
    const grading::Instrumented instrumented = grading::instrument(
        [&] { multiply(d_matrix.data(), data.pitch, rows, cols, d_x.data(), d_y.data()); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_values(data, d_y);
    CHECK_THAT(d_y, grading::StaysInside());
    CHECK_THAT(d_matrix, grading::Unchanged());
    CHECK_THAT(d_x, grading::Unchanged());
    if (rows > 0 && cols > 0) {
        CHECK_THAT(d_y, grading::WrittenByKernels());
        CHECK_THAT(d_matrix, ReadByOneWarpPerRow(data.cols));
        CHECK_THAT(instrumented, BlocksHave256Threads());
        CHECK_THAT(
            instrumented,
            grading::BarriersAtMost(0, "A row is the work of one warp. Shuffles suffice."));
        CHECK_THAT(instrumented, UsesNoSharedMemory());
        CHECK_THAT(instrumented, grading::AtomicsAtMost(0));
    }
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CallsNot({"cudaMallocManaged", "cudaHostAlloc",
                                                "cudaHostRegister"}));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    return instrumented;
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
    for (const std::size_t rows :
         grading::sizes({1, 2, 7, 9, 31, 33, 127, 1009}, 2, 1024)) {
        check_product(static_cast<int>(rows), 64);
    }
}

TEST_CASE("handles any number of columns") {
    for (const std::size_t cols :
         grading::sizes({1, 2, 31, 33, 63, 65, 127, 255, 257, 1009}, 2, 1500)) {
        check_product(19, static_cast<int>(cols));
    }
    check_product(1, 1);
    check_product(1, 10007);
    check_product(1009, 1);
}

TEST_CASE("finds rows that are a pitch apart") {
    check_product(16, 32, 32);
    check_product(21, 45, 19);
    check_product(5, 1, 7);
    check_product(static_cast<int>(grading::random_size(10, 40, 1)),
                  static_cast<int>(grading::random_size(10, 300, 2)),
                  static_cast<int>(grading::random_size(1, 70, 3)));
}

TEST_CASE("handles matrices without elements") {
    check_product(0, 0);
    check_product(0, 5);
    check_product(5, 0);
    check_product(5, 0, 4);
}

namespace {

/// Without padding. Not instrumented, because that would take seconds.
void check_without_instrumenting(int rows, int cols) {
    const warpwise::Instrumentation not_instrumented({});
    INFO(grading::counted(rows, "row")
         << " of " << grading::counted(cols, "column") << ", without padding");
    const Data data(rows, cols, 0);
    const grading::Guarded<float> d_matrix(data.matrix), d_x(data.x);
    grading::Guarded<float> d_y(data.rows);
    multiply(d_matrix.data(), data.pitch, rows, cols, d_x.data(), d_y.data());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_values(data, d_y);
}

}  // namespace

TEST_CASE("handles very wide matrices") { check_without_instrumenting(1, 2'100'000); }

// 525,000 rows are more than 65,535 blocks of 8 rows, and 17 million threads: for the model
// answer only, and in the first run only.
TEST_CASE("handles very long matrices", "[.very_large]") {
    if (!grading::is_further_run()) check_without_instrumenting(525'000, 1);
}

TEST_CASE("reads whole sectors") {
    {
        const grading::Instrumented instrumented = check_product(64, 256);
        CHECK_THAT(instrumented,
                   grading::GlobalEfficiencyAtLeast(0.8, grading::Accesses::loads));
    }
    {
        const grading::Instrumented instrumented = check_product(64, 250, 6);
        CHECK_THAT(instrumented,
                   grading::GlobalEfficiencyAtLeast(0.8, grading::Accesses::loads));
    }
}

// The matrix once, x at most once for each row, 4 bytes of a sector for each y.
TEST_CASE("reads each element once") {
    const grading::Instrumented instrumented = check_product(64, 256);
    CHECK_THAT(instrumented, grading::BytesMovedAtMost(2.2 * 64 * 256 * sizeof(float)));
}

TEST_CASE("lets 28 of 32 lanes work on average") {
    const grading::Instrumented instrumented = check_product(64, 512);
    CHECK_THAT(instrumented, grading::ActiveLanesAtLeast(28));
}

#ifndef __CPU_DEVICE__
// A copy moves twice the bytes. Wide enough for 16384 warps, and narrow enough that a block
// for a row would not do.
TEST_CASE("takes less than twice the time of a copy of the matrix") {
    constexpr int rows = 1 << 20, cols = 128;
    const warpwise::DeviceBuffer<float> d_matrix(
        warpwise::uniform<float>(std::size_t{rows} * cols, 53));
    const warpwise::DeviceBuffer<float> d_x(warpwise::uniform<float>(cols, 54));
    warpwise::DeviceBuffer<float> d_copy(d_matrix.size()), d_y(rows);
    const auto [answer, copy] = grading::measure_beside_copy(
        [&] { multiply(d_matrix.data(), cols, rows, cols, d_x.data(), d_y.data()); },
        d_copy.data(), d_matrix.data(), d_matrix.bytes());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(
        grading::time_beside(answer, copy, "a copy of the matrix"),
        grading::AtMost(
            2,
            "Do neighboring lanes read neighboring floats, and do all lanes have work?"));
}
#endif
