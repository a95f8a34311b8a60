#include "exercises/1_basics_and_pi/launch_shape_2d/launch_shape_2d.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <tuple>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

const grading::Exercise grading::exercise{"1_basics_and_pi", "launch_shape_2d"};

namespace {

std::string shape(dim3 extents) {
    std::string text = std::to_string(extents.x) + " x " + std::to_string(extents.y);
    return extents.z == 1 ? text : text + " x " + std::to_string(extents.z);
}

bool same(dim3 a, dim3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

dim3 needed(unsigned rows, unsigned cols, dim3 block) {
    return {static_cast<unsigned>((std::size_t{cols} + block.x - 1) / block.x),
            static_cast<unsigned>((std::size_t{rows} + block.y - 1) / block.y)};
}

struct Mistake {
    dim3 (*grid)(unsigned rows, unsigned cols, dim3 block);
    const char* question;
};
const Mistake mistakes[] = {
    {[](unsigned rows, unsigned cols, dim3 block) { return needed(cols, rows, block); },
     "Does x run along a row, from column to column, and y from row to row?"},
    {[](unsigned rows, unsigned cols, dim3 block) {
         return needed(rows, cols, {block.y, block.x});
     },
     "Is the width of a block block.x or block.y?"},
    {[](unsigned rows, unsigned cols, dim3 block) {
         return dim3(cols / block.x, rows / block.y);
     },
     "Were the quotients rounded up?"},
    {[](unsigned rows, unsigned cols, dim3 block) {
         return dim3(std::max(cols / block.x, 1u), std::max(rows / block.y, 1u));
     },
     "Were the quotients rounded up?"},
    {[](unsigned rows, unsigned cols, dim3 block) {
         return dim3(cols / block.x + 1, rows / block.y + 1);
     },
     "How many blocks are needed when the block divides the matrix?"},
};

/// The question that a mistake suggests which gives just these grids, or a general one.
std::string question() {
    for (const Mistake& mistake : mistakes) {
        bool agrees = true;
        for (const auto& [rows, cols, block] : {std::tuple{40u, 1000u, dim3(8, 4)},
                                                {3001u, 77u, dim3(5, 64)},
                                                {64u, 96u, dim3(16, 32)},
                                                {9u, 10u, dim3(16, 2)}}) {
            agrees = agrees &&
                     same(grid_for(rows, cols, block), mistake.grid(rows, cols, block));
        }
        if (agrees) return mistake.question;
    }
    return "How many blocks of this width cover all columns, and how many of this height "
           "all "
           "rows?";
}

void check_grid(unsigned rows, unsigned cols, dim3 block) {
    const dim3 grid = grid_for(rows, cols, block);
    const dim3 wanted = needed(rows, cols, block);
    INFO(grading::counted(rows, "row")
         << " and " << grading::counted(cols, "column") << " in blocks of " << shape(block)
         << " threads (x, y)");
    if (same(grid, wanted)) return;
    FAIL("grid_for returned " << shape(grid) << " blocks (x, y); " << shape(wanted)
                              << " are needed.\n"
                              << question());
}

/// What to ask where a thread outside of the matrix takes part in the first thing that was
/// found, such as a data race with the thread that has the element; empty otherwise.
std::string question_about_outside(const std::string& found, unsigned rows, unsigned cols,
                                   dim3 block) {
    const std::string first = found.substr(0, found.find("\n\n"));
    for (std::size_t at = first.find("thread ("); at != std::string::npos;
         at = first.find("thread (", at + 1)) {
        dim3 thread, at_block;
        if (std::sscanf(first.c_str() + at, "thread (%u, %u, %u) of block (%u, %u, %u)",
                        &thread.x, &thread.y, &thread.z, &at_block.x, &at_block.y,
                        &at_block.z) != 6)
            continue;
        const bool past_columns = at_block.x * block.x + thread.x >= cols;
        const bool past_rows = at_block.y * block.y + thread.y >= rows;
        if (!past_columns && !past_rows) continue;
        const std::string place =
            first.substr(at, first.find(')', first.find("block (", at)) + 1 - at);
        return std::string(past_columns ? "Which column" : "Which row") + " does " + place +
               " have, and is it inside the matrix?";
    }
    return "";
}

std::vector<double> table_of(unsigned rows, unsigned cols) {
    std::vector<double> table;
    for (unsigned row = 0; row < rows; ++row) {
        for (unsigned col = 0; col < cols; ++col)
            table.push_back((row + 1.0) * (col + 1.0));
    }
    return table;
}

void check_table(unsigned rows, unsigned cols, dim3 block) {
    check_grid(rows, cols, block);
    INFO(grading::counted(rows, "row")
         << " and " << grading::counted(cols, "column") << " in blocks of " << shape(block)
         << " threads (x, y)");
    const std::vector<double> expected = table_of(rows, cols);
    grading::Guarded<int> d_table(expected.size());
    d_table.show_as_rows_of(cols);
    const grading::Instrumented instrumented = grading::instrument(
        [&] { fill_multiplication_table(d_table.data(), rows, cols, block); });
    const grading::Outcome outcome = grading::finish();
    REQUIRE_THAT(outcome, grading::Succeeds().when(
                              {"data race"}, question_about_outside(outcome.diagnostics,
                                                                    rows, cols, block)));

    CHECK_THAT(d_table, grading::WrittenEverywhere());
    CHECK_THAT(d_table, grading::StaysInside());
    CHECK_THAT(d_table, grading::EqualTo(expected));

    const dim3 grid = needed(rows, cols, block);
    CHECK_THAT(instrumented, grading::LaunchesExactly(1));
    CHECK_THAT(instrumented,
               grading::EveryLaunchHas({grid.x, grid.y, 1}, {block.x, block.y, 1}));
    CHECK_THAT(d_table, grading::WrittenOnce());
    CHECK_THAT(d_table, grading::WrittenByThreads(expected.size()));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyHostToDevice"));
}

/// Not instrumented: the table takes millions of threads.
void check_long_table(unsigned rows, unsigned cols, dim3 block) {
    check_grid(rows, cols, block);
    INFO(grading::counted(rows, "row")
         << " and " << grading::counted(cols, "column") << " in blocks of " << shape(block)
         << " threads (x, y)");
    grading::Guarded<int> d_table(std::size_t{rows} * cols);
    d_table.show_as_rows_of(cols);
    fill_multiplication_table(d_table.data(), rows, cols, block);
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_table, grading::EqualTo(table_of(rows, cols)));
}

unsigned some(std::size_t low, std::size_t high, std::uint64_t stream) {
    return static_cast<unsigned>(grading::random_size(low, high, stream));
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
    for (std::uint64_t k = 0; k < 8; k += 2) {
        const dim3 block(some(1, 32, k), some(1, 32, k + 1));
        check_table(some(1, 200, 10 + k), some(1, 200, 11 + k), block);
    }
}

TEST_CASE("handles matrices smaller than a block") {
    check_table(1, 1, {16, 16});
    check_table(1, 33, {32, 32});
    check_table(33, 1, {32, 32});
}

TEST_CASE("covers a matrix of many blocks") { check_table(601, 700, {16, 16}); }

TEST_CASE("uses no block more than needed") {
    check_grid(2 * 16, 4 * 32, {32, 16});
    check_grid(2 * 16 + 1, 4 * 32, {32, 16});
    check_grid(2 * 16, 4 * 32 + 1, {32, 16});
}

TEST_CASE("counts the blocks of very long matrices") {
    check_long_table(1, 2'100'000, {4, 1});
    check_long_table(2'100'000, 1, {1, 256});
    // Odd, and beyond 2^24: float does not have these numbers.
    check_grid(1, some(1 << 23, (1 << 24) - 1, 20) * 2 + 1, {1, 16});
    check_grid(some(1 << 14, 65'000, 21) * 1024 + 1, 1, {1, 1024});
}
