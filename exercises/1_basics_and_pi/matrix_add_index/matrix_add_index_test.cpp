#include "exercises/1_basics_and_pi/matrix_add_index/matrix_add_index.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"

const grading::Exercise grading::exercise{"1_basics_and_pi", "matrix_add_index"};

namespace {

void check_sum(int rows, int cols) {
    INFO(rows << " rows, " << cols << " columns");
    std::vector<float> a;
    std::vector<float> b;
    std::vector<double> expected;
    for (int row = 0; row < rows; ++row) {
        for (int col = 0; col < cols; ++col) {
            a.push_back(static_cast<float>(1000 * row));  // the sum tells row and column: 12034 is row 12, column 34
            b.push_back(static_cast<float>(col));
            expected.push_back(1000.0 * row + col);
        }
    }
    // Wide enough for a wrong row length: that of the longer side, rounded up to whole blocks.
    const auto longer = static_cast<std::size_t>(std::max(rows, cols)) + 16;
    const std::size_t zone = longer * longer;
    grading::Guarded<float> d_a(a, zone);
    grading::Guarded<float> d_b(b, zone);
    grading::Guarded<float> d_sum(expected.size(), zone);
    d_sum.show_as_rows_of(static_cast<std::size_t>(cols));
    add_matrices(d_a.data(), d_b.data(), d_sum.data(), rows, cols);
    REQUIRE_THAT(grading::finish(), grading::Succeeds());

    CHECK_THAT(d_sum, grading::WrittenEverywhere("Is the distance from a row to the next right?"));
    CHECK_THAT(d_sum, grading::StaysInside("Is the distance from a row to the next right?"));
    CHECK_THAT(d_sum, grading::EqualTo(expected));
    CHECK_THAT(d_a, grading::Unchanged());
    CHECK_THAT(d_b, grading::Unchanged());
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
}

TEST_CASE("adds a single row and a single column") {
    check_sum(1, 1);
    check_sum(1, 300);
    check_sum(300, 1);
}
