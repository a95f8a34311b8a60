#include "exercises/5_modern_cuda/tile_by_tensor_map/tile_by_tensor_map.h"

#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/check.h"

const grading::Exercise grading::exercise{"5_modern_cuda", "tile_by_tensor_map"};

namespace {

constexpr float behind_rows = -7;  // what lies behind the rows of the output

std::size_t pitch_of(std::size_t floats) { return (floats + 3) / 4 * 4; }

void check_transpose(std::size_t rows, std::size_t cols, std::size_t more_in = 0,
                     std::size_t more_out = 0) {
    const std::size_t pitch_in = pitch_of(cols) + more_in;
    const std::size_t pitch_out = pitch_of(rows) + more_out;
    const std::vector<float> values =
        grading::random_floats(rows * pitch_in, rows * 1000 + cols);
    std::vector<double> expected(cols * pitch_out, behind_rows);
    std::vector<double> with_chunks_in_order = expected;
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t col = 0; col < cols; ++col) {
            expected[col * pitch_out + row] = values[row * pitch_in + col];
            // Whoever reads chunk c where the swizzle has put another one.
            const std::size_t other = col % 32 / 4 ^ row % 8;
            const std::size_t from = col / 32 * 32 + other * 4 + col % 4;
            with_chunks_in_order[col * pitch_out + row] =
                from < cols ? values[row * pitch_in + from] : 0;
        }
    }
    INFO(rows << " rows, " << cols << " columns; rows of the input are " << pitch_in
              << " floats apart, those of the output " << pitch_out);
    const grading::Guarded<float> d_in(values);
    grading::Guarded<float> d_out(std::vector<float>(cols * pitch_out, behind_rows));
    const grading::Instrumented instrumented = grading::instrument([&] {
        transpose(d_in.data(), pitch_in, d_out.data(), pitch_out,
                  static_cast<unsigned>(rows), static_cast<unsigned>(cols));
    });
    REQUIRE_THAT(grading::finish(),
                 grading::Succeeds()
                     .when({"data race", "no fence"},
                           "By which way does the accelerator read shared memory, and who "
                           "has told it of the threads' writes?")
                     .when({"misused barrier"}, "How many bytes does the whole box have?")
                     .when({"missing arrival"}, "How many bytes does the whole box have?"));
    // The accelerator stores chunks of 16 bytes, so the one in which a row ends is written
    // whole.
    const std::vector<float> behind(4 * cols, behind_rows);
    const std::size_t free_bytes = (pitch_of(rows) - rows) * sizeof(float);
    warpwise::check(cudaMemcpy2D(d_out.data() + rows, pitch_out * sizeof(float),
                                 behind.data(), 4 * sizeof(float), free_bytes, cols,
                                 cudaMemcpyHostToDevice));
    CHECK_THAT(d_out,
               grading::EqualTo(expected).when(grading::equals(with_chunks_in_order),
                                               "In which place of its row is chunk c of "
                                               "row r, after the swizzle?"));
    CHECK_THAT(d_in, grading::Unchanged());
    if (rows == 0 || cols == 0) return;
    CHECK_THAT(instrumented, grading::LaunchesExactly(1));
    CHECK_THAT(instrumented, grading::NoBankConflicts(
                                 "Which lanes read or write in one bank at a time?"));
    // A row of a tile begins anywhere in a sector, and may touch one more than it needs.
    const double tiles = static_cast<double>((rows + 31) / 32 * ((cols + 31) / 32));
    CHECK_THAT(instrumented,
               grading::BytesMovedAtMost(
                   2 * static_cast<double>(rows * cols) * sizeof(float) + tiles * 64 * 64));
}

}  // namespace

TEST_CASE("transposes one tile") { check_transpose(32, 32); }

TEST_CASE("transposes several tiles") {
    check_transpose(64, 96);
    check_transpose(128, 32);
}

TEST_CASE("handles a matrix that ends inside of a tile") {
    check_transpose(33, 31);
    check_transpose(5, 70);
    check_transpose(67, 1);
    check_transpose(1, 1);
    check_transpose(50, 101);
}

TEST_CASE("leaves what lies behind the last chunk of a row") {
    check_transpose(40, 45, 8, 4);
    check_transpose(29, 64, 0, 12);
}

TEST_CASE("handles a matrix without elements") {
    check_transpose(0, 5);
    check_transpose(5, 0);
}
