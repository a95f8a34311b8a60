#include "exercises/4_examples/layer_norm_welford/layer_norm_welford.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/instrument.h"

#ifndef __CPU_DEVICE__
#include "common/grading/figure.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#endif

const grading::Exercise grading::exercise{"4_examples", "layer_norm_welford"};

namespace {

constexpr double epsilon = 1e-5;

/// A matrix, row after row, with its layer norm.
struct Rows {
    Rows(std::size_t rows_, std::size_t cols_, std::vector<float> in_)
        : rows(rows_), cols(cols_), in(std::move(in_)), out(in.size()) {
        for (std::size_t row = 0; row < rows && cols > 0; ++row) {
            const float* const x = in.data() + row * cols;
            const double count = static_cast<double>(cols);
            double sum = 0, squares = 0, most = 0;
            for (std::size_t col = 0; col < cols; ++col) {
                sum += double{x[col]};
                most = std::max(most, std::fabs(double{x[col]}));
            }
            const double mean = sum / count;
            for (std::size_t col = 0; col < cols; ++col)
                squares += (x[col] - mean) * (x[col] - mean);
            const double deviation = std::sqrt(squares / count + epsilon);
            for (std::size_t col = 0; col < cols; ++col)
                out[row * cols + col] = (x[col] - mean) / deviation;
            largest = std::max(largest, most / deviation);
        }
    }

    /// A mean may be off by some roundings of the elements, which counts as a share of the
    /// deviation. 32 threads or more share a row.
    warpwise::Tolerance tolerance() const {
        const double rounding = std::numeric_limits<float>::epsilon() / 2;
        const double chain = static_cast<double>(cols) / 32 + 16;
        return {.absolute = rounding * (8 + 6 * std::sqrt(chain)) * (1 + largest)};
    }

    std::size_t rows, cols;
    std::vector<float> in;
    std::vector<double> out;
    double largest = 0;  // of |x| / deviation
};

/// Elements within 1 of their row's offset.
Rows rows_around(std::size_t rows, std::size_t cols,
                 const std::function<float(std::size_t row)>& offset,
                 std::uint64_t stream = 0) {
    std::vector<float> in = grading::random_floats(rows * cols, 100 * stream + rows + cols);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] += offset(i / cols);
    return {rows, cols, std::move(in)};
}

Rows rows_around(std::size_t rows, std::size_t cols, float offset = 0) {
    return rows_around(rows, cols, [offset](std::size_t) { return offset; });
}

void check_values(const Rows& data, const grading::Guarded<float>& d_out) {
    CHECK_THAT(
        d_out,
        grading::CloseTo(data.out, data.tolerance())
            .when(grading::never_written(), "Which thread writes these elements?")
            .when(grading::both(grading::not_a_number(), grading::all_wrong()),
                  "NaN is the root of a negative number, or 0 / 0. Which difference should "
                  "never be negative, and which count may be 0?"));
}

/// Computes, checks the results and who worked, and returns what the kernels did.
grading::Instrumented check_norm(const Rows& data) {
    INFO(grading::counted(data.rows, "row")
         << " of " << grading::counted(data.cols, "element"));
    const grading::Guarded<float> d_in(data.in);
    grading::Guarded<float> d_out(data.in.size());
    if (data.cols > 0) d_out.show_as_rows_of(data.cols);
    const grading::Instrumented instrumented = grading::instrument(
        [&] { normalize(d_in.data(), data.rows, data.cols, d_out.data()); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_values(data, d_out);
    CHECK_THAT(d_out, grading::StaysInside());
    CHECK_THAT(d_in, grading::Unchanged());
    if (!data.in.empty()) {
        CHECK_THAT(d_out, grading::WrittenByThreads(
                              data.rows * std::clamp<std::size_t>(data.cols / 16, 1, 32)));
        CHECK_THAT(instrumented,
                   grading::BarriersAtMost(6,
                                           "How many times do all warps of a block have "
                                           "to wait for each other?"));
    }
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CallsNot({"cudaMallocManaged", "cudaHostAlloc",
                                                "cudaHostRegister"}));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    return instrumented;
}

}  // namespace

TEST_CASE("normalizes rows around 0") {
    check_norm(rows_around(3, 256));
    check_norm(rows_around(3, 1024));
    check_norm(rows_around(5, 32));
}

TEST_CASE("handles rows of any length") {
    for (const std::size_t cols :
         grading::sizes({1, 2, 31, 33, 63, 100, 255, 257, 1009}, 3, 1500)) {
        check_norm(rows_around(4, cols));
    }
    check_norm(rows_around(1, 10007));
    check_norm(rows_around(301, 7));
}

TEST_CASE("normalizes rows whose mean is large") {
    for (const std::size_t cols : {37, 300, 1024}) {
        for (const float offset : {100.0f, -1000.0f, 10'000.0f, -10'000.0f}) {
            INFO("elements around " << offset);
            check_norm(rows_around(4, cols, offset));
        }
    }
}

TEST_CASE("finds the mean of each row") {
    check_norm(rows_around(
        9, 333, [](std::size_t row) { return 500 * (static_cast<float>(row) - 4); }));
}

TEST_CASE("combines parts of a row that have different means") {
    for (const std::size_t cols : {100, 256, 777}) {
        std::vector<float> in = grading::random_floats(3 * cols, cols);
        for (std::size_t i = 0; i < in.size(); ++i) {
            const std::size_t row = i / cols, col = i % cols;
            in[i] += row == 0   ? (col < cols / 3 ? 50.0f : 0.0f)
                     : row == 1 ? static_cast<float>(col % 32)
                                : static_cast<float>(col % 256 / 32 * 10);
        }
        check_norm({3, cols, std::move(in)});
    }
}

TEST_CASE("handles rows of equal elements") {
    for (const std::size_t cols : {1, 20, 300}) {
        check_norm({2, cols, std::vector<float>(2 * cols, 0.0f)});
        check_norm({2, cols, std::vector<float>(2 * cols, 0.75f)});
    }
}

TEST_CASE("handles matrices without elements") {
    check_norm({0, 0, {}});
    check_norm({0, 5, {}});
    check_norm({5, 0, {}});
}

namespace {

/// Not instrumented, because that would take seconds.
void check_without_instrumenting(std::size_t rows, std::size_t cols) {
    const warpwise::Instrumentation not_instrumented({});
    INFO(grading::counted(rows, "row") << " of " << grading::counted(cols, "element"));
    const Rows data = rows_around(rows, cols, 3);
    const grading::Guarded<float> d_in(data.in);
    grading::Guarded<float> d_out(data.in.size());
    normalize(d_in.data(), rows, cols, d_out.data());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_values(data, d_out);
}

}  // namespace

TEST_CASE("handles very long rows") { check_without_instrumenting(1, 1'000'003); }

// More rows than a grid has blocks in y, for the model answer only. In the first run only:
// it takes seconds.
TEST_CASE("handles very many rows", "[.very_large]") {
    if (!grading::is_further_run()) check_without_instrumenting(70'000, 3);
}

TEST_CASE("reads each element at most twice") {
    const grading::Instrumented instrumented = check_norm(rows_around(64, 1024));
    CHECK_THAT(instrumented,
               grading::BytesMovedAtMost(
                   1.1 * 3 * 64 * 1024 * sizeof(float),
                   "Reading a row twice and writing it once is 12 bytes per element."));
}

TEST_CASE("reads and writes whole sectors") {
    const grading::Instrumented instrumented = check_norm(rows_around(64, 512));
    CHECK_THAT(instrumented, grading::GlobalEfficiencyAtLeast(0.8));
}

#ifndef __CPU_DEVICE__
// A copy moves 8 bytes per element; two passes move 12.
TEST_CASE("takes less than 3 times the time of a copy") {
    constexpr std::size_t rows = 16384, cols = 4096;
    const warpwise::DeviceBuffer<float> d_in(
        warpwise::uniform<float>(rows * cols, 53, 9, 11));
    warpwise::DeviceBuffer<float> d_copy(d_in.size()), d_out(d_in.size());
    const auto [answer, copy] = grading::measure_beside_copy(
        [&] { normalize(d_in.data(), rows, cols, d_out.data()); }, d_copy.data(),
        d_in.data(), d_in.bytes());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(grading::time_beside(answer, copy, "a copy of the matrix"),
               grading::AtMost(3, "How often does the kernel pass over a row?"));
}
#endif
