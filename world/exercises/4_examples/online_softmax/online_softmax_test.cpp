#include "exercises/4_examples/online_softmax/online_softmax.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <string>
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

const grading::Exercise grading::exercise{"4_examples", "online_softmax"};

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// A matrix, row after row, with its softmax as it should be and as some mistakes make it.
struct Rows {
    std::size_t rows, cols;
    std::vector<float> in;

    /// `counts(col, of)`: whether element `of` of a row counts for the result in `col`.
    template <class Counts>
    std::vector<double> softmax_of(Counts counts) const {
        std::vector<double> out(in.size());
        for (std::size_t row = 0; row < rows; ++row) {
            const float* const x = in.data() + row * cols;
            for (std::size_t col = 0; col < cols; ++col) {
                double largest = -std::numeric_limits<double>::infinity(), sum = 0;
                for (std::size_t of = 0; of < cols; ++of)
                    if (counts(col, of)) largest = std::max(largest, double{x[of]});
                for (std::size_t of = 0; of < cols; ++of)
                    if (counts(col, of)) sum += std::exp(double{x[of]} - largest);
                out[row * cols + col] = std::exp(double{x[col]} - largest) / sum;
            }
        }
        return out;
    }

    /// The same where all elements count, in one pass per row.
    std::vector<double> softmax() const {
        std::vector<double> out(in.size());
        for (std::size_t row = 0; row < rows; ++row) {
            const float* const x = in.data() + row * cols;
            const double largest = cols == 0 ? 0 : double{*std::max_element(x, x + cols)};
            double sum = 0;
            for (std::size_t col = 0; col < cols; ++col)
                sum += std::exp(double{x[col]} - largest);
            for (std::size_t col = 0; col < cols; ++col)
                out[row * cols + col] = std::exp(double{x[col]} - largest) / sum;
        }
        return out;
    }

    /// The rounding of the arguments, of the exponentials, and of sums in any order. An
    /// argument below -104 gives 0, however it is rounded.
    warpwise::Tolerance tolerance() const {
        double spread = 0;
        for (std::size_t row = 0; row < rows && cols > 0; ++row) {
            const float* const x = in.data() + row * cols;
            const double largest = *std::max_element(x, x + cols);
            for (std::size_t col = 0; col < cols; ++col)
                if (largest - double{x[col]} <= 104)
                    spread = std::max(spread, largest - double{x[col]});
        }
        const double rounding = std::numeric_limits<float>::epsilon() / 2;
        return {.absolute = 1e-37,
                .relative = rounding *
                            (2 * spread + 20 + 6 * std::sqrt(static_cast<double>(cols)))};
    }
};

Rows random_rows(std::size_t rows, std::size_t cols, std::uint64_t stream = 0) {
    std::vector<float> in = grading::random_floats(rows * cols, 100 * stream + rows + cols);
    for (float& x : in) x *= 8;
    return {rows, cols, std::move(in)};
}

Rows rows_of(std::size_t rows, std::size_t cols,
             const std::function<float(std::size_t row, std::size_t col)>& element) {
    Rows made = {rows, cols, {}};
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t col = 0; col < cols; ++col) made.in.push_back(element(row, col));
    return made;
}

void check_values(const Rows& data, const grading::Guarded<float>& d_out) {
    auto close =
        grading::CloseTo(data.softmax(), data.tolerance())
            .when(grading::never_written(), "Which thread writes these elements?")
            .when(grading::not_a_number(),
                  "NaN comes from a difference or a product of infinities. Where do maxima "
                  "begin, and what is -infinity minus -infinity?");
    if (data.in.size() > 4096) {
        CHECK_THAT(d_out, close);
        return;
    }
    const auto of_own_warp = [](std::size_t col, std::size_t of) {
        return col % 256 / 32 == of % 256 / 32;
    };
    const auto of_own_thread = [](std::size_t col, std::size_t of) {
        return col % 256 == of % 256;
    };
    CHECK_THAT(d_out,
               std::move(close)
                   .when(grading::equals(data.softmax_of(of_own_warp)),
                         "In each warp the results are the softmax of its own elements. "
                         "Who combines the pairs of the warps?")
                   .when(grading::equals(data.softmax_of(of_own_thread)),
                         "Each thread has the softmax of its own elements. Who combines "
                         "the pairs of the lanes?"));
}

/// Computes, checks the results and who worked, and returns what the kernels did.
grading::Instrumented check_softmax(const Rows& data) {
    INFO(grading::counted(data.rows, "row")
         << " of " << grading::counted(data.cols, "element"));
    const grading::Guarded<float> d_in(data.in);
    grading::Guarded<float> d_out(data.in.size());
    if (data.cols > 0) d_out.show_as_rows_of(data.cols);
    const grading::Instrumented instrumented = grading::instrument(
        [&] { softmax(d_in.data(), data.rows, data.cols, d_out.data()); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_values(data, d_out);
    CHECK_THAT(d_out, grading::StaysInside());
    CHECK_THAT(d_in, grading::Unchanged());
    if (!data.in.empty()) {
        CHECK_THAT(d_out, grading::WrittenByThreads(
                              data.rows * std::clamp<std::size_t>(data.cols / 16, 1, 32)));
        CHECK_THAT(instrumented,
                   grading::BarriersAtMost(4,
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

TEST_CASE("handles rows of one element per thread") {
    check_softmax(random_rows(3, 256));
    check_softmax(random_rows(5, 32));
}

TEST_CASE("handles rows of several elements per thread") {
    check_softmax(random_rows(2, 512));
    check_softmax(random_rows(3, 1024));
}

TEST_CASE("handles rows of any length") {
    for (const std::size_t cols :
         grading::sizes({1, 2, 31, 33, 63, 100, 255, 257, 1009}, 3, 1500)) {
        check_softmax(random_rows(4, cols));
    }
    check_softmax(random_rows(1, 10007));
    check_softmax(random_rows(301, 7));
}

TEST_CASE("finds a maximum wherever it is") {
    for (const std::size_t cols : {20, 256, 700}) {
        check_softmax(rows_of(3, cols, [](std::size_t row, std::size_t col) {
            return 0.07f * static_cast<float>(col) - 20 * static_cast<float>(row);
        }));
        check_softmax(rows_of(3, cols, [](std::size_t row, std::size_t col) {
            return -0.07f * static_cast<float>(col) - 20 * static_cast<float>(row);
        }));
        for (const std::size_t place : {std::size_t{0}, cols / 2, cols - 1}) {
            check_softmax(rows_of(2, cols, [place](std::size_t, std::size_t col) {
                return col == place ? 3.5f : 0.25f;
            }));
        }
    }
}

TEST_CASE("handles rows of negative elements only") {
    for (const std::size_t cols : {5, 300}) {
        Rows data = random_rows(3, cols, 1);
        for (float& x : data.in) x -= 200;
        check_softmax(data);
    }
}

TEST_CASE("does not overflow") {
    for (const std::size_t cols : {2, 100, 600}) {
        check_softmax(rows_of(2, cols, [](std::size_t row, std::size_t col) {
            return (row == 0 ? 1e30f : 300.0f) * (col % 3 == 0 ? 1.0f : -1.0f);
        }));
        check_softmax(rows_of(2, cols, [](std::size_t, std::size_t col) {
            return 1000 + 0.5f * static_cast<float>(col % 7);
        }));
    }
}

TEST_CASE("gives masked elements 0") {
    for (const std::size_t cols : {3, 40, 300, 1000}) {
        const Rows ordinary = random_rows(4, cols, 2);
        check_softmax(rows_of(4, cols, [&](std::size_t row, std::size_t col) {
            const bool kept = row == 0   ? col >= cols / 2
                              : row == 1 ? col <= cols / 3
                              : row == 2 ? col == cols - 1
                                         : col % 2 == 0;
            return kept ? ordinary.in[row * cols + col] : -infinity;
        }));
    }
}

TEST_CASE("handles matrices without elements") {
    check_softmax({0, 0, {}});
    check_softmax({0, 5, {}});
    check_softmax({5, 0, {}});
}

namespace {

/// Not instrumented, because that would take seconds.
void check_without_instrumenting(std::size_t rows, std::size_t cols) {
    const warpwise::Instrumentation not_instrumented({});
    INFO(grading::counted(rows, "row") << " of " << grading::counted(cols, "element"));
    const Rows data = random_rows(rows, cols);
    const grading::Guarded<float> d_in(data.in);
    grading::Guarded<float> d_out(data.in.size());
    softmax(d_in.data(), rows, cols, d_out.data());
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
    const grading::Instrumented instrumented = check_softmax(random_rows(64, 1024));
    CHECK_THAT(instrumented,
               grading::BytesMovedAtMost(
                   1.1 * 3 * 64 * 1024 * sizeof(float),
                   "Reading a row twice and writing it once is 12 bytes per element."));
}

TEST_CASE("reads and writes whole sectors") {
    const grading::Instrumented instrumented = check_softmax(random_rows(64, 512));
    CHECK_THAT(instrumented, grading::GlobalEfficiencyAtLeast(0.8));
}

#ifndef __CPU_DEVICE__
// A copy moves 8 bytes per element; two passes move 12.
TEST_CASE("takes less than 2.5 times the time of a copy") {
    constexpr std::size_t rows = 16384, cols = 4096;
    const warpwise::DeviceBuffer<float> d_in(
        warpwise::uniform<float>(rows * cols, 53, -8, 8));
    warpwise::DeviceBuffer<float> d_copy(d_in.size()), d_out(d_in.size());
    const auto [answer, copy] = grading::measure_beside_copy(
        [&] { softmax(d_in.data(), rows, cols, d_out.data()); }, d_copy.data(), d_in.data(),
        d_in.bytes());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(grading::time_beside(answer, copy, "a copy of the matrix"),
               grading::AtMost(2.5, "How often does the kernel pass over a row?"));
}
#endif
