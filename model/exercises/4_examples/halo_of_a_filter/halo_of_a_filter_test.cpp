#include "exercises/4_examples/halo_of_a_filter/halo_of_a_filter.h"

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

const grading::Exercise grading::exercise{"4_examples", "halo_of_a_filter"};

namespace {

struct Image {
    int rows, cols;
    std::vector<float> pixels;

    float at(int row, int col) const {
        return pixels[static_cast<std::size_t>(row) * static_cast<std::size_t>(cols) +
                      static_cast<std::size_t>(col)];
    }
};

struct Filter {
    int radius;
    std::vector<float> weights;

    int side() const { return 2 * radius + 1; }
    double at(int i, int j) const {
        return weights[static_cast<std::size_t>(i * side() + j)];
    }
};

// No weight is that of another place, so that each mistake in an index shows.
Filter make_filter(int radius) {
    const auto side = static_cast<std::size_t>(2 * radius + 1);
    return {radius, grading::random_floats(side * side, 1000 + side)};
}

// The filtered image: `pixel(row, col)` is also asked for places outside of it, and
// `weight(i, j)` for the weight of a place in the window.
std::vector<double> filtered(const Image& image, const Filter& filter,
                             const std::function<double(int, int)>& pixel,
                             const std::function<double(int, int)>& weight) {
    std::vector<double> out;
    for (int row = 0; row < image.rows; ++row) {
        for (int col = 0; col < image.cols; ++col) {
            double sum = 0;
            for (int i = 0; i < filter.side(); ++i) {
                for (int j = 0; j < filter.side(); ++j)
                    sum += weight(i, j) *
                           pixel(row + i - filter.radius, col + j - filter.radius);
            }
            out.push_back(sum);
        }
    }
    return out;
}

// What an answer should give, and what known mistakes would give instead.
struct Expected {
    std::vector<double> right, zeros_outside, wrapped, flipped, transposed, shifted;
};

Expected expect(const Image& image, const Filter& filter) {
    const auto clamped = [&](int row, int col) {
        return double{image.at(std::clamp(row, 0, image.rows - 1),
                               std::clamp(col, 0, image.cols - 1))};
    };
    const auto zero = [&](int row, int col) {
        const bool inside = 0 <= row && row < image.rows && 0 <= col && col < image.cols;
        return inside ? double{image.at(row, col)} : 0.0;
    };
    const auto wrapped = [&](int row, int col) {
        const int across = image.cols * (1 + filter.radius / image.cols);
        const int down = image.rows * (1 + filter.radius / image.rows);
        return double{image.at((row + down) % image.rows, (col + across) % image.cols)};
    };
    const auto shifted = [&](int row, int col) {
        return clamped(row + filter.radius, col + filter.radius);
    };
    const auto weight = [&](int i, int j) { return filter.at(i, j); };
    const int last = filter.side() - 1;
    const auto flipped = [&](int i, int j) { return filter.at(last - i, last - j); };
    const auto transposed = [&](int i, int j) { return filter.at(j, i); };
    return {filtered(image, filter, clamped, weight),
            filtered(image, filter, zero, weight),
            filtered(image, filter, wrapped, weight),
            filtered(image, filter, clamped, flipped),
            filtered(image, filter, clamped, transposed),
            filtered(image, filter, shifted, weight)};
}

// So many roundings, each of a sum of at most all products; pixels are at most 1.
warpwise::Tolerance tolerance_of(const Filter& filter) {
    double magnitudes = 0;
    for (const float weight : filter.weights) magnitudes += std::abs(double{weight});
    return {.absolute =
                2 * static_cast<double>(filter.weights.size()) * magnitudes / (1 << 24)};
}

// Checks the image, and returns what the kernels did.
grading::Instrumented check_filter(int rows, int cols, int radius) {
    INFO(std::to_string(rows) << " x " << cols << " pixels, radius " << radius);
    const auto count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
    const Image image = {rows, cols, grading::random_floats(count, count)};
    const Filter filter = make_filter(radius);
    const Expected expected = expect(image, filter);
    grading::Guarded<float> d_in(image.pixels), d_out(count);
    d_in.show_as_rows_of(static_cast<std::size_t>(cols));
    d_out.show_as_rows_of(static_cast<std::size_t>(cols));
    grading::Instrumented instrumented = grading::instrument([&] {
        filter_image(d_in.data(), d_out.data(), rows, cols, filter.weights.data(), radius);
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_out, grading::WrittenEverywhere());
    CHECK_THAT(
        d_out,
        grading::CloseTo(expected.right, tolerance_of(filter))
            .when(grading::equals(expected.zeros_outside),
                  "There the pixels outside of the image count as 0. Which pixel should "
                  "stand for them?")
            .when(grading::equals(expected.wrapped),
                  "There the image goes on with its other side. Which pixel should stand "
                  "for those outside?")
            .when(grading::equals(expected.flipped),
                  "The weights are used from the last one to the first. Which weight "
                  "belongs to the pixel above and to the left?")
            .when(grading::equals(expected.transposed),
                  "Rows and columns of the weights are exchanged. Which index of a weight "
                  "grows along a row?")
            .when(grading::equals(expected.shifted),
                  "The window begins at the pixel itself, as if the tile had no halo above "
                  "and to the left. Where does the tile begin?"));
    CHECK_THAT(d_out, grading::StaysInside());
    CHECK_THAT(d_in, grading::Unchanged());
    CHECK_THAT(instrumented, grading::LaunchesAtMost(1));
    if (count > 0) {
        CHECK_THAT(instrumented, grading::EveryLaunchHas({0, 0, 0}, {32, 8, 1}));
        CHECK_THAT(d_out, grading::WrittenByThreads(count / 4));
    }
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    return instrumented;
}

/// On average, at least so many lanes of a warp take part in a load from global memory.
grading::InstrumentedMatcher LoadingLanesAtLeast(double lanes) {
    const auto judge =
        [lanes](const grading::Instrumented& instrumented) -> grading::Judgement {
        if (!instrumented.countable) {
            grading::note_left_out();
            return {true, "not counted on this device"};
        }
        const double average =
            warpwise::sum_of(instrumented.launches).global_load.lanes_per_request();
        return {average >= lanes,
                "on average " + warpwise::ratio_text(average) +
                    " lanes of a warp take part in a load from global memory, at least " +
                    warpwise::ratio_text(lanes) + " wanted"};
    };
    return {judge, "Which pixels of the halo does each lane load, and which lanes wait?"};
}

}  // namespace

TEST_CASE("multiplies each pixel for radius 0") {
    check_filter(8, 32, 0);
    check_filter(20, 70, 0);
}

TEST_CASE("filters an image of one tile") {
    check_filter(8, 32, 1);
    check_filter(8, 32, 4);
}

TEST_CASE("takes the halo from neighboring tiles") {
    check_filter(24, 96, 1);
    check_filter(32, 128, 4);
}

TEST_CASE("works with a halo that is larger than the block") {
    check_filter(40, 96, 9);
    check_filter(33, 70, largest_radius);
}

TEST_CASE("handles images that are no multiples of a tile") {
    check_filter(7, 31, 2);
    check_filter(9, 33, 2);
    check_filter(50, 17, 3);
    check_filter(17, 50, 3);
}

TEST_CASE("handles images that are smaller than the filter") {
    check_filter(1, 1, 3);
    check_filter(1, 100, 5);
    check_filter(100, 1, 5);
    check_filter(3, 2, largest_radius);
}

TEST_CASE("handles images and filters of any size") {
    for (const std::size_t seed : {1, 2, 3, 4}) {
        check_filter(static_cast<int>(grading::random_size(1, 90, seed)),
                     static_cast<int>(grading::random_size(1, 150, seed + 10)),
                     static_cast<int>(grading::random_size(0, largest_radius, seed + 20)));
    }
}

TEST_CASE("handles an empty image") {
    check_filter(0, 10, 2);
    check_filter(10, 0, 2);
}

// A tile of 8 x 32 pixels with a halo of 4 has 16 rows of 40 floats, six sectors each: 12
// bytes per pixel, and 4 are written. Windows from global memory move about 400.
TEST_CASE("loads each tile once") {
    constexpr int rows = 64, cols = 256;
    const grading::Instrumented instrumented = check_filter(rows, cols, 4);
    INFO("radius 4, 64 x 256 pixels of 8 bytes each: what is read and written of them");
    CHECK_THAT(instrumented, grading::UsesSharedMemory());
    CHECK_THAT(instrumented, grading::BytesMovedAtMost(20.0 * rows * cols));
}

TEST_CASE("shares the loads among the threads of a block") {
    CHECK_THAT(check_filter(64, 256, 4), LoadingLanesAtLeast(16));
}
