#include "exercises/3_optimization/transpose_any_shape/transpose_any_shape.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/instrument.h"

const grading::Exercise grading::exercise{"3_optimization", "transpose_any_shape"};

namespace {

constexpr std::size_t most_of_a_thread = 32;  // elements of a tile that a thread may do

// Checks the transpose, and returns what the kernels did. Every element tells where it
// comes from: 12034 is row 12, column 34 of the input.
grading::Instrumented check_transpose(std::size_t rows, std::size_t cols) {
    INFO("a matrix of " << grading::counted(rows, "row") << " and "
                        << grading::counted(cols, "column")
                        << "; 12034 belongs to row 12, column 34 of the input");
    std::vector<float> in(rows * cols);
    std::vector<double> expected(in.size());
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t col = 0; col < cols; ++col) {
            const std::size_t element = 1000 * row + col;
            in[row * cols + col] = static_cast<float>(element);
            expected[col * rows + row] = static_cast<double>(element);
        }
    }
    // Where no access outside is reported: wide enough for a wrong row length, that of the
    // longer side, rounded up to whole tiles.
    const std::size_t longer = std::max(rows, cols) + 64;
    const std::size_t zone = longer * longer;
    const grading::Guarded<float> d_in(in, zone);
    grading::Guarded<float> d_out(in.size(), zone);
    d_out.show_as_rows_of(rows);
    grading::Instrumented instrumented = grading::instrument([&] {
        transpose(d_in.data(), d_out.data(), static_cast<int>(rows),
                  static_cast<int>(cols));
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_out, grading::StaysInside());
    CHECK_THAT(d_out, grading::WrittenEverywhere().when(grading::never_written(),
                                                        "Which guard stops the threads?"));
    CHECK_THAT(d_out, grading::EqualTo(expected).when(
                          grading::equals({in.begin(), in.end()}),
                          "These elements are where they were in the input."));
    CHECK_THAT(d_in, grading::Unchanged());
    if (!in.empty())
        CHECK_THAT(d_out, grading::WrittenByThreads(in.size() / most_of_a_thread));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyHostToDevice"));
    return instrumented;
}

// A matrix of one row or one column has the same order in memory as its transpose. It is
// not instrumented, which makes it fast.
void check_line(int rows, int cols) {
    INFO("a matrix of " << grading::counted(rows, "row") << " and "
                        << grading::counted(cols, "column"));
    const std::vector<float> in = grading::random_floats(static_cast<std::size_t>(rows) *
                                                         static_cast<std::size_t>(cols));
    const grading::Guarded<float> d_in(in);
    grading::Guarded<float> d_out(in.size());
    {
        const warpwise::Instrumentation nothing({});
        transpose(d_in.data(), d_out.data(), rows, cols);
        const grading::Outcome outcome = grading::finish();
        if (outcome.status == cudaErrorInvalidValue ||
            outcome.status == cudaErrorInvalidConfiguration) {
            FAIL("the launch was refused ("
                 << grading::text_of(outcome.status)
                 << "); a grid has at most 65,535 blocks in y and in z.\nHow many blocks "
                    "does this matrix need in y, and could they lie in x instead?");
        }
        REQUIRE_THAT(outcome, grading::Succeeds());
    }
    CHECK_THAT(d_out, grading::EqualTo({in.begin(), in.end()}));
    CHECK_THAT(d_out, grading::StaysInside());
}

}  // namespace

TEST_CASE("transposes square matrices of whole tiles") {
    for (const std::size_t side : {32, 64, 160}) check_transpose(side, side);
}

TEST_CASE("transposes wide and high matrices of whole tiles") {
    check_transpose(32, 64);
    check_transpose(64, 32);
    check_transpose(96, 160);
    check_transpose(256, 32);
}

TEST_CASE("transposes square matrices that cut tiles short") {
    for (const std::size_t side : grading::sizes({1, 2, 31, 33, 50, 97}, 2, 200))
        check_transpose(side, side);
}

TEST_CASE("transposes matrices of any shape") {
    for (const std::size_t side : {1, 31, 32, 33, 70}) {
        check_transpose(side, 45);
        check_transpose(45, side);
    }
    check_transpose(1, 999);
    check_transpose(1009, 1);
    check_transpose(130, 3);
    check_transpose(3, 130);
    for (const std::size_t rows : grading::sizes({}, 4, 300)) {
        check_transpose(rows, grading::random_size(1, 300, rows));
    }
}

TEST_CASE("handles matrices without elements") {
    check_transpose(0, 0);
    check_transpose(0, 5);
    check_transpose(5, 0);
}

// What the tile is for has to survive the repair. Short rows at the edge touch sectors that
// they need only a part of.
TEST_CASE("still reads and writes whole sectors without bank conflicts") {
    const grading::Instrumented instrumented = check_transpose(128, 96);
    CHECK_THAT(instrumented, grading::UsesSharedMemory());
    CHECK_THAT(instrumented, grading::GlobalEfficiencyAtLeast(0.95));
    CHECK_THAT(instrumented, grading::NoBankConflicts());
    const grading::Instrumented cut_short = check_transpose(131, 97);
    CHECK_THAT(cut_short, grading::GlobalEfficiencyAtLeast(0.6));
    CHECK_THAT(cut_short, grading::NoBankConflicts());
}

TEST_CASE("shares the tiles between blocks") {
    constexpr std::size_t side = 128;  // 16 tiles
    const std::vector<float> in = grading::random_floats(side * side);
    const grading::Guarded<float> d_in(in);
    grading::Guarded<float> d_out(in.size());
    (void)grading::instrument([&] { transpose(d_in.data(), d_out.data(), side, side); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_out, grading::WrittenByBlocks(8));
}

// For the model answer only, because answers with a grid of two dimensions are right for
// all smaller matrices. In the first run only: it takes seconds.
TEST_CASE("transposes matrices with more tiles on a side than a grid has blocks in y",
          "[.very_large]") {
    if (grading::is_further_run()) return;
    check_line(2'100'000, 1);
    check_line(1, 2'100'000);
}
