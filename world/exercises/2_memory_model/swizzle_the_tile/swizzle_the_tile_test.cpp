#include "exercises/2_memory_model/swizzle_the_tile/swizzle_the_tile.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/counts.h"

const grading::Exercise grading::exercise{"2_memory_model", "swizzle_the_tile"};

namespace {

constexpr std::size_t tile_side = side;
constexpr std::size_t bytes_of_tile = sizeof(float2) * tile_side * tile_side;

/// The complex numbers of the matrix, as floats: real parts at even places.
std::vector<float> numbers(std::size_t rows, std::size_t cols) {
    return grading::random_floats(2 * rows * cols, 7 * rows + cols);
}

std::vector<double> as_doubles(const std::vector<float>& values) {
    return {values.begin(), values.end()};
}

/// With the number (row, col) at place col * rows + row, and its imaginary part multiplied
/// by `sign`.
std::vector<double> transposed(const std::vector<float>& matrix, std::size_t rows,
                               std::size_t cols, double sign) {
    std::vector<double> result(matrix.size());
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t col = 0; col < cols; ++col) {
            const std::size_t from = row * cols + col, to = col * rows + row;
            result[2 * to] = matrix[2 * from];
            result[2 * to + 1] = sign * matrix[2 * from + 1];
        }
    }
    return result;
}

/// Each wrong number is one that lies in the right row of the right tile.
grading::Cause from_another_column(std::vector<float> matrix, std::size_t rows,
                                   std::size_t cols) {
    return [matrix = std::move(matrix), rows,
            cols](const grading::MismatchedArray& mismatch) {
        const auto is_from_the_row = [&](std::size_t i) {
            const std::size_t row = i / 2 % rows, col = i / 2 / rows;
            const std::size_t first = col / tile_side * tile_side;
            const std::size_t end = std::min(first + tile_side, cols);
            const double sign = i % 2 == 0 ? 1 : -1;
            for (std::size_t other = first; other < end; ++other) {
                const float part = matrix[2 * (row * cols + other) + i % 2];
                if (mismatch.got[i] == sign * part) return true;
            }
            return false;
        };
        return std::all_of(mismatch.wrong.begin(), mismatch.wrong.end(), is_from_the_row);
    };
}

std::size_t tiles_of(std::size_t rows, std::size_t cols) {
    return (rows + tile_side - 1) / tile_side * ((cols + tile_side - 1) / tile_side);
}

/// Blocks have at most as much shared memory as a tile has numbers.
grading::InstrumentedMatcher SharedBytesAtMost(std::size_t limit) {
    const auto judge =
        [limit](const grading::Instrumented& instrumented) -> grading::Judgement {
        if (!instrumented.countable) {
            grading::note_left_out();
            return {true, "not counted on this device"};
        }
        for (const warpwise::LaunchCounts& launch : instrumented.launches) {
            if (launch.shared_bytes <= limit) continue;
            return {false, "a block of " + launch.kernel + " has " +
                               std::to_string(launch.shared_bytes) +
                               " bytes of shared memory, at most " + std::to_string(limit) +
                               " allowed"};
        }
        return {true, "few enough bytes of shared memory"};
    };
    return {judge,
            "How many numbers does a tile have, and where else could the order of its "
            "columns change?"};
}

/// Threads store at least so many bytes to shared memory and load at least so many.
grading::InstrumentedMatcher MovesThroughSharedMemory(double bytes) {
    const auto judge =
        [bytes](const grading::Instrumented& instrumented) -> grading::Judgement {
        if (!instrumented.countable) {
            grading::note_left_out();
            return {true, "not counted on this device"};
        }
        const warpwise::Counts counts = warpwise::sum_of(instrumented.launches);
        return {counts.shared_store.bytes >= bytes && counts.shared_load.bytes >= bytes,
                warpwise::count_text(counts.shared_store.bytes) +
                    " bytes were stored to shared memory and " +
                    warpwise::count_text(counts.shared_load.bytes) +
                    " loaded from it; the matrix has " + warpwise::count_text(bytes)};
    };
    return {judge,
            "Which number does each thread store to the tile, and which one does it load "
            "from it?"};
}

/// Checks the adjoint and the shape of the launch, and returns what the kernels did.
grading::Instrumented check_adjoint(std::size_t rows, std::size_t cols,
                                    std::size_t threads = 0) {
    INFO("a matrix of " << rows << " x " << cols << " numbers");
    const std::vector<float> matrix = numbers(rows, cols);
    const grading::Guarded<float> d_matrix(matrix);
    grading::Guarded<float> d_adjoint(matrix.size());
    grading::Instrumented instrumented = grading::instrument([&] {
        make_adjoint(reinterpret_cast<const float2*>(d_matrix.data()),
                     reinterpret_cast<float2*>(d_adjoint.data()), static_cast<int>(rows),
                     static_cast<int>(cols));
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    {
        INFO(
            "Elements are counted in floats: number k of the adjoint is elements 2 k and "
            "2 k + 1.");
        CHECK_THAT(d_adjoint,
                   grading::EqualTo(transposed(matrix, rows, cols, -1))
                       .when(grading::equals(transposed(matrix, rows, cols, 1)),
                             "These parts have the wrong sign: the adjoint consists of "
                             "conjugates.")
                       .when(grading::equals(as_doubles(matrix)),
                             "These elements equal those of the matrix at the same "
                             "places.")
                       .when(from_another_column(matrix, rows, cols),
                             "These numbers come from the right row of the tile, but from "
                             "another column. At which place of its row does your kernel "
                             "store column c, and at which place does it look for it?"));
    }
    CHECK_THAT(d_adjoint, grading::StaysInside());
    CHECK_THAT(d_matrix, grading::Unchanged());
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    if (matrix.empty()) return instrumented;
    CHECK_THAT(d_matrix, grading::ReadByKernels());
    CHECK_THAT(d_adjoint, grading::WrittenByThreads(threads));
    CHECK_THAT(instrumented, grading::LaunchesExactly(1));
    if (!instrumented.launches.empty() &&
        instrumented.launches[0].blocks != tiles_of(rows, cols)) {
        FAIL("The launch has " << grading::counted(instrumented.launches[0].blocks, "block")
                               << ". The matrix has " << tiles_of(rows, cols)
                               << " tiles of 32 x 32 numbers, and the task asks for one "
                                  "block per tile.\nHow many tiles lie side by side, and "
                                  "how many one below the other?");
    }
    CHECK_THAT(instrumented, SharedBytesAtMost(bytes_of_tile));
    CHECK_THAT(instrumented, grading::BarriersAtMost(1));
    return instrumented;
}

}  // namespace

TEST_CASE("makes adjoints of any shape") {
    check_adjoint(32, 32);
    check_adjoint(64, 96);
    for (const std::size_t length : {1, 2, 31, 33, 70}) {
        check_adjoint(length, length);
        check_adjoint(length, 45);
        check_adjoint(45, length);
    }
    check_adjoint(1, 1009);
    check_adjoint(1009, 1);
    for (const std::size_t rows : grading::sizes({}, 3, 200))
        check_adjoint(rows, grading::random_size(1, 200, rows));
}

TEST_CASE("handles matrices without numbers") {
    check_adjoint(0, 0);
    check_adjoint(0, 5);
    check_adjoint(5, 0);
}

TEST_CASE("shares the numbers among many threads") { check_adjoint(256, 256, 2048); }

TEST_CASE("takes all numbers through shared memory") {
    CHECK_THAT(check_adjoint(128, 96), MovesThroughSharedMemory(sizeof(float2) * 128 * 96));
}

// Both sides are multiples of 32, because what a warp needs at least is known for full
// warps only: of eight bytes per lane, the two halves of a warp take a wavefront each.
TEST_CASE("has no bank conflicts in shared memory") {
    CHECK_THAT(check_adjoint(32, 32), grading::NoBankConflicts());
    CHECK_THAT(check_adjoint(96, 128), grading::NoBankConflicts());
    CHECK_THAT(check_adjoint(32 * grading::random_size(1, 5, 1),
                             32 * grading::random_size(1, 5, 2)),
               grading::NoBankConflicts());
}

// Rows of 32 neighboring numbers fill the sectors that they touch, where sides are
// multiples of 32. Other rows are misaligned and may be short.
TEST_CASE("still reads and writes whole sectors") {
    CHECK_THAT(check_adjoint(128, 96), grading::GlobalEfficiencyAtLeast(0.95));
    CHECK_THAT(check_adjoint(100, 131), grading::GlobalEfficiencyAtLeast(0.7));
}

TEST_CASE("makes the adjoint of long matrices") {
    check_adjoint(10'000, 2);
    check_adjoint(2, 10'000);
}
