#include "exercises/2_memory_model/pad_the_tile/pad_the_tile.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/figure.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/counts.h"

#ifndef __CPU_DEVICE__
#include "common/helpers/device_buffer.h"
#endif

const grading::Exercise grading::exercise{"2_memory_model", "pad_the_tile"};

namespace {

/// An image with the sides exchanged whose pixels move to the places that `place` gives for
/// (row, col).
std::vector<double> moved(
    const std::vector<float>& image, std::size_t rows, std::size_t cols,
    const std::function<std::size_t(std::size_t, std::size_t)>& place) {
    std::vector<double> result(image.size());
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t col = 0; col < cols; ++col)
            result[place(row, col)] = image[row * cols + col];
    }
    return result;
}

void check_pixels(const grading::Guarded<float>& d_rotated, const std::vector<float>& image,
                  std::size_t rows, std::size_t cols) {
    const auto clockwise = [&](std::size_t row, std::size_t col) {
        return col * rows + (rows - 1 - row);
    };
    const auto transposed = [&](std::size_t row, std::size_t col) {
        return col * rows + row;
    };
    const auto counterclockwise = [&](std::size_t row, std::size_t col) {
        return (cols - 1 - col) * rows + row;
    };
    CHECK_THAT(
        d_rotated,
        grading::EqualTo(moved(image, rows, cols, clockwise))
            .when(grading::equals(moved(image, rows, cols, transposed)),
                  "These pixels are where a transposition would put them. In which row of "
                  "the image "
                  "does a row of the turned image begin?")
            .when(grading::equals(moved(image, rows, cols, counterclockwise)),
                  "These pixels are where a turn in the other direction would put them."));
}

// Checks the turned image, and returns what the kernels did.
grading::Instrumented check_rotation(std::size_t rows, std::size_t cols,
                                     std::size_t threads = 0, std::size_t blocks = 0) {
    INFO("an image of " << rows << " x " << cols << " pixels");
    const std::vector<float> image = grading::random_floats(rows * cols, rows);
    const grading::Guarded<float> d_image(image);
    grading::Guarded<float> d_rotated(image.size());
    d_rotated.show_as_rows_of(rows);
    grading::Instrumented instrumented = grading::instrument([&] {
        rotate_image(d_image.data(), d_rotated.data(), static_cast<int>(rows),
                     static_cast<int>(cols));
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_pixels(d_rotated, image, rows, cols);
    CHECK_THAT(d_rotated, grading::StaysInside());
    CHECK_THAT(d_image, grading::Unchanged());
    if (!image.empty()) {
        CHECK_THAT(d_image, grading::ReadByKernels());
        CHECK_THAT(d_rotated, grading::WrittenByThreads(threads));
        CHECK_THAT(d_rotated, grading::WrittenByBlocks(blocks));
    }
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    return instrumented;
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
                    " loaded from it; the image has " + warpwise::count_text(bytes)};
    };
    return {judge,
            "Which element does each thread store to the tile, and which one does it load "
            "from it?"};
}

void check_shape_without_instrumenting(std::size_t rows, std::size_t cols) {
    INFO("an image of " << rows << " x " << cols << " pixels");
    const std::vector<float> image = grading::random_floats(rows * cols);
    const grading::Guarded<float> d_image(image);
    grading::Guarded<float> d_rotated(image.size());
    d_rotated.show_as_rows_of(rows);
    rotate_image(d_image.data(), d_rotated.data(), static_cast<int>(rows),
                 static_cast<int>(cols));
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_pixels(d_rotated, image, rows, cols);
}

}  // namespace

TEST_CASE("turns images of any shape") {
    check_rotation(32, 32);
    check_rotation(64, 96);
    for (const std::size_t side : {1, 2, 31, 33, 70}) {
        check_rotation(side, side);
        check_rotation(side, 45);
        check_rotation(45, side);
    }
    check_rotation(1, 1009);
    check_rotation(1009, 1);
    for (const std::size_t rows : grading::sizes({}, 3, 300))
        check_rotation(rows, grading::random_size(1, 300, rows));
}

TEST_CASE("handles images without pixels") {
    check_rotation(0, 0);
    check_rotation(0, 5);
    check_rotation(5, 0);
}

TEST_CASE("shares the pixels among many threads") { check_rotation(256, 256, 2048, 16); }

// Rows of 32 neighboring pixels fill the sectors that they touch, where sides are multiples
// of 32. Other rows are misaligned and may be short.
TEST_CASE("still reads and writes whole sectors") {
    CHECK_THAT(check_rotation(128, 96), grading::GlobalEfficiencyAtLeast(0.95));
    CHECK_THAT(check_rotation(100, 131), grading::GlobalEfficiencyAtLeast(0.55));
    CHECK_THAT(check_rotation(128, 96),
               grading::BytesMovedAtMost(1.1 * 2 * sizeof(float) * 128 * 96));
}

TEST_CASE("takes all pixels through shared memory") {
    CHECK_THAT(check_rotation(128, 96), MovesThroughSharedMemory(sizeof(float) * 128 * 96));
}

TEST_CASE("has no bank conflicts in shared memory") {
    CHECK_THAT(check_rotation(32, 32), grading::NoBankConflicts());
    CHECK_THAT(check_rotation(96, 128), grading::NoBankConflicts());
    CHECK_THAT(check_rotation(50, 77), grading::NoBankConflicts());
    CHECK_THAT(
        check_rotation(grading::random_size(33, 200, 1), grading::random_size(33, 200, 2)),
        grading::NoBankConflicts());
}

// More rows of tiles than a grid has blocks in y, for the model answer only. Not
// instrumented, and in the first run only: it takes seconds.
TEST_CASE("turns images that are very high or very wide", "[.very_large]") {
    if (grading::is_further_run()) return;
    check_shape_without_instrumenting(2'100'000, 1);
    check_shape_without_instrumenting(1, 2'100'000);
}

#ifndef __CPU_DEVICE__
// Both move every pixel once in and once out. With 32 passes for every column, shared
// memory sets the pace.
TEST_CASE("takes less than twice the time of a copy of the image") {
    constexpr int side = 8192;
    warpwise::DeviceBuffer<float> d_image(std::size_t{side} * side);
    warpwise::DeviceBuffer<float> d_rotated(d_image.size());
    d_image.fill_bytes(1);
    const auto [answer, copy] = grading::measure_beside_copy(
        [&] { rotate_image(d_image.data(), d_rotated.data(), side, side); },
        d_rotated.data(), d_image.data(), d_image.bytes());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(grading::time_beside(answer, copy, "a copy of the image"),
               grading::AtMost(
                   2, "Which lanes of a warp wait for the same bank of shared memory?"));
}
#endif
