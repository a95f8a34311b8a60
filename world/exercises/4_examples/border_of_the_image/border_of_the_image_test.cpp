#include "exercises/4_examples/border_of_the_image/border_of_the_image.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

const grading::Exercise grading::exercise{"4_examples", "border_of_the_image"};

namespace {

struct Image {
    int rows, cols;
    std::vector<float> pixels;

    float at(int row, int col) const {
        return pixels[static_cast<std::size_t>(row) * static_cast<std::size_t>(cols) +
                      static_cast<std::size_t>(col)];
    }
};

// Nine different weights of either sign.
std::vector<float> make_weights() { return grading::random_floats(9, 1000); }

// The filtered image; `pixel(row, col)` is also asked for places outside of it.
std::vector<double> filtered(const Image& image, const std::vector<float>& weights,
                             const std::function<double(int, int)>& pixel) {
    std::vector<double> out;
    for (int row = 0; row < image.rows; ++row) {
        for (int col = 0; col < image.cols; ++col) {
            double sum = 0;
            for (int k = 0; k < 9; ++k)
                sum += double{weights[static_cast<std::size_t>(k)]} *
                       pixel(row + k / 3 - 1, col + k % 3 - 1);
            out.push_back(sum);
        }
    }
    return out;
}

// What an answer should give, and what known mistakes would give instead.
struct Expected {
    std::vector<double> right, zeros_outside, mirrored, wrapped;
};

// Index -1 becomes 1, and the one past the end the last but one.
int mirrored_index(int index, int count) {
    if (index < 0) index = -index;
    if (index >= count) index = 2 * count - 2 - index;
    return std::clamp(index, 0, count - 1);
}

Expected expect(const Image& image, const std::vector<float>& weights) {
    const auto clamped = [&](int row, int col) {
        return double{image.at(std::clamp(row, 0, image.rows - 1),
                               std::clamp(col, 0, image.cols - 1))};
    };
    const auto zero = [&](int row, int col) {
        const bool inside = 0 <= row && row < image.rows && 0 <= col && col < image.cols;
        return inside ? double{image.at(row, col)} : 0.0;
    };
    const auto mirrored = [&](int row, int col) {
        return double{
            image.at(mirrored_index(row, image.rows), mirrored_index(col, image.cols))};
    };
    const auto wrapped = [&](int row, int col) {
        return double{
            image.at((row + image.rows) % image.rows, (col + image.cols) % image.cols)};
    };
    return {filtered(image, weights, clamped), filtered(image, weights, zero),
            filtered(image, weights, mirrored), filtered(image, weights, wrapped)};
}

// Ten roundings, each of a sum of at most all products; pixels are at most 1.
warpwise::Tolerance tolerance_of(const std::vector<float>& weights) {
    double magnitudes = 0;
    for (const float weight : weights) magnitudes += std::abs(double{weight});
    return {.absolute = 20 * magnitudes / (1 << 24)};
}

// Checks the image, and returns what the kernels did.
grading::Instrumented check_filter(int rows, int cols) {
    INFO(std::to_string(rows) << " x " << cols << " pixels");
    const auto count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
    const Image image = {rows, cols, grading::random_floats(count, count)};
    const std::vector<float> weights = make_weights();
    const Expected expected = expect(image, weights);
    grading::Guarded<float> d_in(image.pixels), d_out(count);
    d_in.show_as_rows_of(static_cast<std::size_t>(cols));
    d_out.show_as_rows_of(static_cast<std::size_t>(cols));
    grading::Instrumented instrumented = grading::instrument(
        [&] { filter_3x3(d_in.data(), d_out.data(), rows, cols, weights.data()); });
    REQUIRE_THAT(grading::finish(),
                 grading::Succeeds().when({"uninitialized memory", "shared memory"},
                                          "Where the image ends within a tile, which "
                                          "thread should load what lies past the end?"));
    CHECK_THAT(d_out, grading::WrittenEverywhere());
    CHECK_THAT(
        d_out,
        grading::CloseTo(expected.right, tolerance_of(weights))
            .when(grading::equals(expected.zeros_outside),
                  "There the pixels outside of the image count as 0. Which pixel should "
                  "stand for them?")
            .when(grading::equals(expected.mirrored),
                  "There the image is mirrored at its border, without the pixels at the "
                  "border. Which pixel is the nearest one?")
            .when(grading::equals(expected.wrapped),
                  "There the image goes on with its other side. Which pixel should stand "
                  "for those outside?"));
    CHECK_THAT(d_out, grading::StaysInside());
    CHECK_THAT(d_in, grading::Unchanged());
    CHECK_THAT(instrumented, grading::LaunchesAtMost(1));
    if (count > 0) {
        CHECK_THAT(instrumented, grading::EveryLaunchHas({0, 0, 0}, {16, 16, 1}));
        CHECK_THAT(d_out, grading::WrittenByThreads(count));
    }
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    return instrumented;
}

}  // namespace

TEST_CASE("filters images of whole tiles") {
    check_filter(16, 16);
    check_filter(48, 32);
}

TEST_CASE("filters images whose last tiles are not full") {
    check_filter(17, 33);
    check_filter(20, 40);
    check_filter(31, 47);
}

TEST_CASE("filters images that end within a tile in one direction only") {
    check_filter(16, 21);
    check_filter(21, 16);
    check_filter(64, 50);
    check_filter(50, 64);
}

TEST_CASE("filters images that are smaller than a tile") {
    check_filter(1, 1);
    check_filter(2, 2);
    check_filter(1, 100);
    check_filter(100, 1);
    check_filter(7, 5);
}

TEST_CASE("filters images of any size") {
    for (const std::size_t seed : {1, 2, 3, 4, 5, 6})
        check_filter(static_cast<int>(grading::random_size(1, 120, seed)),
                     static_cast<int>(grading::random_size(1, 120, seed + 10)));
}

TEST_CASE("handles an empty image") {
    check_filter(0, 10);
    check_filter(10, 0);
}

// A tile of 16 x 16 pixels has a halo of 68. Windows from global memory ask for more than
// 50 bytes per pixel.
TEST_CASE("loads each pixel little more than once") {
    constexpr int rows = 64, cols = 128;
    const grading::Instrumented instrumented = check_filter(rows, cols);
    INFO("64 x 128 pixels of 8 bytes each: what is read and written of them");
    CHECK_THAT(instrumented, grading::UsesSharedMemory());
    CHECK_THAT(instrumented, grading::BytesMovedAtMost(28.0 * rows * cols));
}
