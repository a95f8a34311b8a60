#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/helpers/inputs.h"

const grading::Exercise grading::exercise{"3_optimization", "loop_invariants"};

namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();  // where nobody has written

/// All of it as ordinary numbers, for the reference.
struct Setting {
    double exposure = 0.25, gain = 3.5, line_time = 0.002, lifetime = 1.5;
};

/// Develops a picture of random counts, checks every pixel, and returns what it took.
Operations check_picture(int rows, int cols, const Setting& setting = {}) {
    INFO("a picture of " << rows << " x " << cols << " pixels");
    const auto height = static_cast<std::size_t>(rows), width = static_cast<std::size_t>(cols);
    const std::vector<double> counts = warpwise::uniform<double>(height * width, 1, 100.0, 4000.0);
    const std::vector<double> dark = warpwise::uniform<double>(width, 2, 0.0, 90.0);

    // Before and behind the result, and behind the inputs, there is room for a row that should not be there.
    const std::size_t border = width + 8;
    std::vector<Counted> counted_counts(counts.begin(), counts.end()), counted_dark(dark.begin(), dark.end());
    counted_counts.resize(counts.size() + border);
    counted_dark.resize(width + border);
    std::vector<Counted> light(height * width + 2 * border, Counted(nothing));
    const Camera camera{setting.exposure, setting.gain, setting.line_time, setting.lifetime};
    Counted::done = {};
    develop(counted_counts.data(), counted_dark.data(), light.data() + border, rows, cols, camera);
    const Operations done = Counted::done;

    bool stays_inside = true;
    for (std::size_t i = 0; i < border; ++i) {
        const Counted before = light[i], behind = light[light.size() - 1 - i];
        stays_inside = stays_inside && std::isnan(value_of(before)) && std::isnan(value_of(behind));
    }
    {
        INFO("Something was written outside of the picture. Is there a row at all, and a column?");
        CHECK(stays_inside);
    }

    std::vector<double> got, expected;
    for (std::size_t row = 0; row < height; ++row) {
        const double left = std::exp(-(static_cast<double>(row) * setting.line_time) / setting.lifetime);
        for (std::size_t col = 0; col < width; ++col) {
            const std::size_t i = row * width + col;
            expected.push_back((counts[i] - dark[col]) / (setting.exposure * setting.gain * left));
            got.push_back(value_of(light[border + i]));
        }
    }
    // A few roundings; and as many as there are rows for those who come from one row's factor to the next one's.
    const warpwise::Tolerance rounding{.relative = 1e-12};
    const grading::Verdict verdict = grading::judge_values(got, expected, rounding, width);
    INFO(verdict.text);
    INFO("Is something computed once that differs from row to row, or from column to column?");
    CHECK(verdict.passed);
    return done;
}

/// Fails with a hint when `what` was done more often than so many times a picture.
void check_count(const std::string& what, long done, long limit, const std::string& hint) {
    INFO(done << " " << what << ", and " << limit << " are enough. " << hint);
    CHECK(done <= limit);
}

struct Shape {
    int rows, cols;
    long pixels() const { return long{rows} * cols; }
};

constexpr Shape shapes[] = {{100, 1000}, {1000, 100}, {33, 65}};

}  // namespace

TEST_CASE("develops pictures of any shape") {
    check_picture(5, 7);
    check_picture(7, 5);
    for (const int side : {1, 2, 31, 32, 33}) {
        check_picture(side, side);
        check_picture(side, 1009);
        check_picture(1009, side);
    }
}

TEST_CASE("handles pictures without pixels") {
    check_picture(0, 0);
    check_picture(0, 5);
    check_picture(5, 0);
}

TEST_CASE("develops what any camera took") {
    check_picture(40, 30, {.exposure = 8, .gain = 0.01, .line_time = 0.1, .lifetime = 0.7});
    check_picture(40, 30, {.exposure = 1, .gain = 1, .line_time = 0, .lifetime = 2});  // all rows read at once
    check_picture(40, 30, {.lifetime = std::numeric_limits<double>::infinity()});      // no charge is lost
}

TEST_CASE("computes an exponential once a row") {
    for (const Shape& shape : shapes) {
        const Operations done = check_picture(shape.rows, shape.cols);
        check_count("exponentials", done.exponentials, shape.rows + 4,
                    "Which of its arguments change from one pixel of a row to the next?");
    }
}

TEST_CASE("divides a few times a row") {
    for (const Shape& shape : shapes) {
        const Operations done = check_picture(shape.rows, shape.cols);
        check_count("divisions", done.divisions, 6 * shape.rows + 4,
                    "Dividing by a number is multiplying by its reciprocal.");
    }
}

TEST_CASE("multiplies once a pixel") {
    for (const Shape& shape : shapes) {
        const Operations done = check_picture(shape.rows, shape.cols);
        check_count("multiplications", done.multiplications, shape.pixels() + 6 * shape.rows + 8,
                    "How many factors of a pixel differ from those of its neighbor?");
    }
}

TEST_CASE("subtracts once a pixel") {
    for (const Shape& shape : shapes) {
        const Operations done = check_picture(shape.rows, shape.cols);
        check_count("additions and subtractions", done.additions, shape.pixels() + 3 * shape.rows + 4,
                    "Is a sum built up in the inner loop?");
    }
}
