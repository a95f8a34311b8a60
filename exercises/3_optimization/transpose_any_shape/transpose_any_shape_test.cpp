#include "exercises/3_optimization/transpose_any_shape/transpose_any_shape.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/watched.h"

const grading::Exercise grading::exercise{"3_optimization", "transpose_any_shape"};

namespace {

constexpr const char* about_row_length =
    "The output has `cols` rows of `rows` elements. How far is it there from one row to the next?";
constexpr const char* about_guards =
    "Where a tile is cut short, other threads load than store: a thread loads row y, column x of its tile, and stores\n"
    "row x, column y of it. Which of the two has to be inside of the matrix when? And who may leave before that?";

// Checks the transpose, and returns what the kernels did. Every element tells where it comes from: 12034 is row 12,
// column 34 of the input.
grading::Watched check_transpose(int rows, int cols, const std::string& hint) {
    INFO("a matrix of " << rows << " rows and " << cols << " columns; 12034 belongs to row 12, column 34 of the input");
    INFO(hint);
    const std::size_t height = static_cast<std::size_t>(rows);
    const std::size_t width = static_cast<std::size_t>(cols);
    std::vector<float> in(height * width);
    std::vector<double> expected(in.size());
    for (std::size_t row = 0; row < height; ++row) {
        for (std::size_t col = 0; col < width; ++col) {
            const std::size_t element = 1000 * row + col;
            in[row * width + col] = static_cast<float>(element);
            expected[col * height + row] = static_cast<double>(element);
        }
    }
    // Wide enough for a wrong row length: that of the longer side, rounded up to whole tiles.
    const std::size_t longer = std::max(height, width) + 64;
    const std::size_t zone = longer * longer;
    const grading::Guarded<float> d_in(in, zone);
    grading::Guarded<float> d_out(in.size(), zone);
    d_out.show_as_rows_of(height);
    grading::Watched watched = grading::watch([&] { transpose(d_in.data(), d_out.data(), rows, cols); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_out, grading::StaysInside());
    CHECK_THAT(d_out, grading::WrittenEverywhere());
    CHECK_THAT(d_out, grading::EqualTo(expected));
    CHECK_THAT(d_in, grading::Unchanged());
    return watched;
}

}  // namespace

TEST_CASE("transposes square matrices of whole tiles") {
    for (const int side : {32, 64, 160}) check_transpose(side, side, "This was right before. What has changed?");
}

TEST_CASE("transposes wide and high matrices of whole tiles") {
    check_transpose(32, 64, about_row_length);
    check_transpose(64, 32, about_row_length);
    check_transpose(96, 160, about_row_length);
    check_transpose(256, 32, about_row_length);
}

TEST_CASE("transposes square matrices that cut tiles short") {
    for (const int side : {1, 2, 31, 33, 50, 97}) check_transpose(side, side, about_guards);
}

TEST_CASE("transposes matrices of any shape") {
    for (const int side : {1, 31, 32, 33, 70}) {
        check_transpose(side, 45, about_guards);
        check_transpose(45, side, about_guards);
    }
    check_transpose(1, 999, about_guards);
    check_transpose(1009, 1, about_guards);
    check_transpose(130, 3, about_guards);
    check_transpose(3, 130, about_guards);
}

TEST_CASE("handles matrices without elements") {
    check_transpose(0, 0, "Without elements nothing is to be done, and a grid of 0 blocks is an error.");
    check_transpose(0, 5, "Without elements nothing is to be done, and a grid of 0 blocks is an error.");
    check_transpose(5, 0, "Without elements nothing is to be done, and a grid of 0 blocks is an error.");
}

// What the tile is for has to survive the repair. Whole tiles have 4 sectors a request.
TEST_CASE("still reads and writes whole sectors without bank conflicts") {
    const grading::Watched watched = check_transpose(128, 96, about_row_length);
    CHECK_THAT(watched, grading::SectorsPerRequestAtMost(4, "Do neighboring threads use neighboring elements?"));
    CHECK_THAT(watched, grading::NoBankConflicts());
}
