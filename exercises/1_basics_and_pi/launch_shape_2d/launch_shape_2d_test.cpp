#include "exercises/1_basics_and_pi/launch_shape_2d/launch_shape_2d.h"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"

const grading::Exercise grading::exercise{"1_basics_and_pi", "launch_shape_2d"};

namespace {

std::string shape(dim3 extents) { return std::to_string(extents.x) + " x " + std::to_string(extents.y); }

void check_table(unsigned rows, unsigned cols, dim3 block) {
    const dim3 grid = grid_for(rows, cols, block);
    INFO(rows << " rows and " << cols << " columns in blocks of " << shape(block) << " threads (x, y): grid "
              << shape(grid));

    std::vector<double> expected;
    for (unsigned row = 0; row < rows; ++row) {
        for (unsigned col = 0; col < cols; ++col) expected.push_back((row + 1.0) * (col + 1.0));
    }
    // Blocks that stick out must not do harm even when somebody drops the guard: they may reach 32 rows further.
    grading::Guarded<int> d_table(expected.size(), std::size_t{33} * (cols + 32));
    d_table.show_as_rows_of(cols);
    fill_multiplication_table(d_table.data(), rows, cols, block);
    REQUIRE_THAT(grading::finish(), grading::Succeeds());

    const bool swapped = grid.x == (rows + block.x - 1) / block.x && grid.y == (cols + block.y - 1) / block.y;
    const char* hint = swapped ? "Does x run along the columns and y down the rows?" : "Were the quotients rounded up?";
    CHECK_THAT(d_table, grading::WrittenEverywhere(hint));
    CHECK_THAT(d_table, grading::StaysInside("Is the guard of the kernel still there?"));
    CHECK_THAT(d_table, grading::EqualTo(expected));
}

}  // namespace

TEST_CASE("covers a matrix of one block") { check_table(16, 16, {16, 16}); }

TEST_CASE("covers a matrix that is wider than high") {
    check_table(16, 64, {16, 16});
    check_table(32, 512, {16, 16});
}

TEST_CASE("covers a matrix that is higher than wide") {
    check_table(64, 16, {16, 16});
    check_table(512, 32, {16, 16});
}

TEST_CASE("rounds up when the block does not divide the matrix") {
    check_table(17, 31, {16, 16});
    check_table(33, 100, {16, 16});
    check_table(1009, 3, {16, 16});
}

TEST_CASE("works with blocks that are not square") {
    check_table(70, 96, {32, 8});
    check_table(70, 96, {8, 32});
    check_table(5, 300, {256, 1});
    check_table(300, 5, {1, 256});
}

TEST_CASE("handles matrices smaller than a block") {
    check_table(1, 1, {16, 16});
    check_table(1, 33, {32, 32});
    check_table(33, 1, {32, 32});
}

TEST_CASE("covers a matrix of many blocks") { check_table(601, 700, {16, 16}); }

TEST_CASE("uses no block more than needed") {
    const dim3 whole_blocks = grid_for(2 * 16, 4 * 32, {32, 16});
    INFO("grid " << shape(whole_blocks) << " for 2 x 4 whole blocks (rows x columns): columns are x, rows are y");
    CHECK(whole_blocks.x == 4);
    CHECK(whole_blocks.y == 2);
    CHECK(whole_blocks.z == 1);

    const dim3 one_row_more = grid_for(2 * 16 + 1, 4 * 32, {32, 16});
    INFO("grid " << shape(one_row_more) << " for one row more");
    CHECK(one_row_more.x == 4);
    CHECK(one_row_more.y == 3);
}
