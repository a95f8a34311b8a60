#include "exercises/1_basics_and_pi/matrix_add_index/matrix_add_index.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/instrument.h"

const grading::Exercise grading::exercise{"1_basics_and_pi", "matrix_add_index"};

namespace {

// A thread may add so many elements, so fewer threads than elements may be busy.
constexpr std::size_t most_of_a_thread = 4;

struct Matrices {
    Matrices(int rows_, int cols_)
        : rows(static_cast<std::size_t>(rows_)), cols(static_cast<std::size_t>(cols_)) {
        a = grading::random_floats(rows * cols, 1);
        b = grading::random_floats(rows * cols, 2);
        for (std::size_t i = 0; i < a.size(); ++i)
            sum.push_back(static_cast<double>(a[i] + b[i]));
    }

    /// What the sum holds at [row * row_length + col], where nothing is written twice.
    grading::Cause row_length_is(std::size_t row_length) const {
        return [*this, row_length](const grading::MismatchedArray& mismatch) {
            std::vector<bool> reached(sum.size());
            for (std::size_t row = 0; row < rows; ++row) {
                for (std::size_t col = 0; col < cols; ++col) {
                    const std::size_t i = row * row_length + col;
                    if (i < reached.size()) reached[i] = true;
                }
            }
            for (std::size_t i = 0; i < reached.size(); ++i) {
                if (mismatch.is_wrong(i) == reached[i]) return false;
            }
            return row_length != cols;
        };
    }

    std::size_t rows, cols;
    std::vector<float> a, b;
    std::vector<double> sum;  // as float rounds it: one addition has one right result
};

grading::Instrumented check_sum(int rows, int cols) {
    INFO(grading::counted(rows, "row") << ", " << grading::counted(cols, "column"));
    const Matrices matrices(rows, cols);
    grading::Guarded<float> d_a(matrices.a), d_b(matrices.b), d_sum(matrices.sum.size());
    for (grading::Guarded<float>* buffer : {&d_a, &d_b, &d_sum})
        buffer->show_as_rows_of(matrices.cols);
    const grading::Instrumented instrumented = grading::instrument(
        [&] { add_matrices(d_a.data(), d_b.data(), d_sum.data(), rows, cols); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());

    CHECK_THAT(
        d_sum,
        grading::EqualTo(matrices.sum)
            .when(matrices.row_length_is(matrices.rows),
                  "Square matrices came out right before. What is the same in a square "
                  "matrix, and\nwhat is not the same in this one?")
            .when(grading::never_written(),
                  "These elements were never written. Which elements do their threads "
                  "write instead,\nif any?"));
    CHECK_THAT(d_sum, grading::StaysInside());
    CHECK_THAT(d_a, grading::Unchanged());
    CHECK_THAT(d_b, grading::Unchanged());

    const std::size_t busy = matrices.sum.size() / most_of_a_thread;
    CHECK_THAT(instrumented, grading::LaunchesExactly(1));
    CHECK_THAT(instrumented, grading::EveryLaunchHas({0, 0, 1}, {16, 16, 1}));
    CHECK_THAT(d_sum, grading::WrittenOnce());
    CHECK_THAT(d_sum, grading::WrittenByThreads(busy));
    CHECK_THAT(d_a, grading::ReadByThreads(busy));
    CHECK_THAT(d_b, grading::ReadByThreads(busy));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    return instrumented;
}

}  // namespace

TEST_CASE("adds square matrices") {
    check_sum(16, 16);
    check_sum(96, 96);
}

TEST_CASE("adds matrices that are wider than high") {
    check_sum(32, 96);
    check_sum(16, 1024);
}

TEST_CASE("adds matrices that are higher than wide") {
    check_sum(96, 32);
    check_sum(1024, 16);
}

TEST_CASE("adds matrices whose sides are no multiples of the block") {
    check_sum(17, 17);
    check_sum(31, 33);
    check_sum(70, 101);
    for (std::uint64_t k = 0; k < 8; k += 2) {
        check_sum(static_cast<int>(grading::random_size(1, 300, k)),
                  static_cast<int>(grading::random_size(1, 300, k + 1)));
    }
}

TEST_CASE("adds a single row and a single column") {
    check_sum(1, 1);
    check_sum(1, 300);
    check_sum(300, 1);
}

TEST_CASE("neighboring threads add neighboring elements") {
    const grading::Instrumented instrumented = check_sum(80, 112);
    INFO("80 rows, 112 columns");
    CHECK_THAT(instrumented, grading::GlobalEfficiencyAtLeast(0.8));
}

TEST_CASE("adds very long matrices") {
    // Only the result counts: with millions of threads, looking for mistakes would take
    // seconds.
    const warpwise::Instrumentation nothing({});
    for (const auto& [rows, cols] : {std::pair{500'003, 1}, std::pair{1, 2'100'000}}) {
        INFO(grading::counted(rows, "row") << ", " << grading::counted(cols, "column"));
        const Matrices matrices(rows, cols);
        grading::Guarded<float> d_a(matrices.a), d_b(matrices.b),
            d_sum(matrices.sum.size());
        d_sum.show_as_rows_of(matrices.cols);
        add_matrices(d_a.data(), d_b.data(), d_sum.data(), rows, cols);
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        CHECK_THAT(d_sum, grading::EqualTo(matrices.sum));
    }
}
