#include "exercises/4_examples/separable_filter/separable_filter.h"

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
#include "common/helpers/counts.h"

const grading::Exercise grading::exercise{"4_examples", "separable_filter"};

namespace {

constexpr double most_loads = 30;  // of a warp, for 32 pixels

struct Image {
    int rows, cols;
    std::vector<float> pixels;

    double at(int row, int col) const {
        return pixels[static_cast<std::size_t>(row) * static_cast<std::size_t>(cols) +
                      static_cast<std::size_t>(col)];
    }
};

using Weights = std::vector<float>;

// Nine different weights, of either sign.
Weights make_weights(std::size_t seed) { return grading::random_floats(taps, seed); }

double weight(const Weights& weights, int tap) {
    return weights[static_cast<std::size_t>(tap)];
}

std::vector<double> filtered(const Image& image, const Weights& down, const Weights& across,
                             const std::function<double(int, int)>& pixel) {
    std::vector<double> out;
    for (int row = 0; row < image.rows; ++row) {
        for (int col = 0; col < image.cols; ++col) {
            double sum = 0;
            for (int i = 0; i < taps; ++i) {
                for (int j = 0; j < taps; ++j)
                    sum += weight(down, i) * weight(across, j) *
                           pixel(row + i - radius, col + j - radius);
            }
            out.push_back(sum);
        }
    }
    return out;
}

// What an answer should give, and what known mistakes would give instead.
struct Expected {
    std::vector<double> right, exchanged, across_only, down_only, zeros_outside;
};

Expected expect(const Image& image, const Weights& down, const Weights& across) {
    const auto clamped = [&](int row, int col) {
        return image.at(std::clamp(row, 0, image.rows - 1),
                        std::clamp(col, 0, image.cols - 1));
    };
    const auto zero = [&](int row, int col) {
        const bool inside = 0 <= row && row < image.rows && 0 <= col && col < image.cols;
        return inside ? image.at(row, col) : 0.0;
    };
    Weights one(taps, 0.0f);
    one[radius] = 1;
    return {filtered(image, down, across, clamped), filtered(image, across, down, clamped),
            filtered(image, one, across, clamped), filtered(image, down, one, clamped),
            filtered(image, down, across, zero)};
}

// So many roundings, each of a sum of at most all products; pixels are at most 1.
warpwise::Tolerance tolerance_of(const Weights& down, const Weights& across) {
    double of_down = 0, of_across = 0;
    for (int k = 0; k < taps; ++k) {
        of_down += std::abs(weight(down, k));
        of_across += std::abs(weight(across, k));
    }
    return {.absolute = 2.0 * taps * taps * of_down * of_across / (1 << 24)};
}

// Checks the image, and returns what the kernels did.
grading::Instrumented check_filter(int rows, int cols) {
    INFO(std::to_string(rows) << " x " << cols << " pixels");
    const auto count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
    const Image image = {rows, cols, grading::random_floats(count, count)};
    const Weights down = make_weights(2000 + count), across = make_weights(5000 + count);
    const Expected expected = expect(image, down, across);
    grading::Guarded<float> d_in(image.pixels), d_out(count);
    d_in.show_as_rows_of(static_cast<std::size_t>(cols));
    d_out.show_as_rows_of(static_cast<std::size_t>(cols));
    grading::Instrumented instrumented = grading::instrument([&] {
        filter_separable(d_in.data(), d_out.data(), rows, cols, down.data(), across.data());
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_out, grading::WrittenEverywhere());
    CHECK_THAT(d_out,
               grading::CloseTo(expected.right, tolerance_of(down, across))
                   .when(grading::equals(expected.exchanged),
                         "The weights of rows and columns are exchanged. Which ones belong "
                         "to neighbors in the same row?")
                   .when(grading::equals(expected.across_only),
                         "The image is filtered along its rows only. What is still to be "
                         "done?")
                   .when(grading::equals(expected.down_only),
                         "The image is filtered along its columns only. What is still to "
                         "be done?")
                   .when(grading::equals(expected.zeros_outside),
                         "There the pixels outside of the image count as 0. Which pixel "
                         "should stand for them?"));
    CHECK_THAT(d_out, grading::StaysInside());
    CHECK_THAT(d_in, grading::Unchanged());
    if (count > 0) CHECK_THAT(d_out, grading::WrittenByThreads(count / 64));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    return instrumented;
}

/// At most so many loads of a warp from global and shared memory together, for 32 pixels.
grading::InstrumentedMatcher LoadsAtMost(double loads, double pixels) {
    const auto judge =
        [loads, pixels](const grading::Instrumented& instrumented) -> grading::Judgement {
        if (!instrumented.countable) {
            grading::note_left_out();
            return {true, "not counted on this device"};
        }
        const warpwise::Counts total = warpwise::sum_of(instrumented.launches);
        const double made =
            (total.global_load.requests + total.shared_load.requests) / (pixels / 32);
        return {made <= loads, "a pixel takes " + warpwise::ratio_text(made) +
                                   " loads from global and shared memory, at most " +
                                   warpwise::ratio_text(loads) + " are allowed"};
    };
    return {judge, "Which sum do nine pixels below each other share, and who computes it?"};
}

}  // namespace

TEST_CASE("filters an image of a few tiles") {
    check_filter(32, 32);
    check_filter(64, 128);
}

TEST_CASE("takes the pixel at the border for those outside") {
    check_filter(9, 9);
    check_filter(5, 40);
    check_filter(40, 5);
}

TEST_CASE("handles images that are no multiples of a tile") {
    check_filter(33, 65);
    check_filter(31, 63);
    check_filter(67, 17);
    check_filter(17, 67);
}

TEST_CASE("handles images that are smaller than the filter") {
    check_filter(1, 1);
    check_filter(1, 200);
    check_filter(200, 1);
    check_filter(3, 2);
}

TEST_CASE("handles images of any size") {
    for (const std::size_t seed : {1, 2, 3, 4}) {
        check_filter(static_cast<int>(grading::random_size(1, 150, seed)),
                     static_cast<int>(grading::random_size(1, 250, seed + 10)));
    }
}

TEST_CASE("handles an empty image") {
    check_filter(0, 10);
    check_filter(10, 0);
}

// A large image, of which a few pixels are enough: tall, so that a buffer of fixed size or
// a grid with too many rows shows.
TEST_CASE("handles a tall image") {
    constexpr int rows = 70'001, cols = 16;
    constexpr std::size_t count = std::size_t{rows} * cols;
    const Image image = {rows, cols, grading::random_floats(count)};
    const Weights down = make_weights(11), across = make_weights(12);
    const grading::Guarded<float> d_in(image.pixels);
    grading::Guarded<float> d_out(count);
    filter_separable(d_in.data(), d_out.data(), rows, cols, down.data(), across.data());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    const auto clamped = [&](int row, int col) {
        return image.at(std::clamp(row, 0, rows - 1), std::clamp(col, 0, cols - 1));
    };
    CHECK_THAT(d_out, grading::CloseTo(filtered(image, down, across, clamped),
                                       tolerance_of(down, across)));
}

// Two launches take 18 loads. A tile of 32 rows in shared memory takes about 20.
TEST_CASE("makes few loads for a pixel") {
    for (const auto& [rows, cols] : {std::pair{128, 256}, std::pair{256, 128}})
        CHECK_THAT(check_filter(rows, cols), LoadsAtMost(most_loads, double(rows) * cols));
}

TEST_CASE("loads and stores whole sectors") {
    CHECK_THAT(check_filter(128, 256), grading::GlobalEfficiencyAtLeast(0.7));
    CHECK_THAT(check_filter(128, 256), grading::NoBankConflicts());
}
