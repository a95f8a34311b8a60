#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/figure.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"

const grading::Exercise grading::exercise{"3_optimization", "loop_invariants"};

namespace {

struct Operations {
    long additions = 0;  ///< and subtractions
    long multiplications = 0;
    long divisions = 0;
    long exponentials = 0;

    Operations operator-(const Operations& other) const {
        return {additions - other.additions, multiplications - other.multiplications,
                divisions - other.divisions, exponentials - other.exponentials};
    }
};

struct TooManyOperations {};

// Atomic, so that an answer may use several threads of the host.
struct Counters {
    std::atomic<long> additions, multiplications, divisions, exponentials;
    std::atomic<long> opened;   ///< calls of value_of()
    std::atomic<long> outside;  ///< operations on what lies before or beyond an array
    std::atomic<long> unset;    ///< operations on results that nobody had written

    long at_most = 0;  ///< operations; an answer that does more is stopped

    void clear() {
        additions = multiplications = divisions = exponentials = opened = outside = unset =
            0;
    }
    void count(std::atomic<long>& kind) {
        ++kind;
        if (additions + multiplications + divisions + exponentials > at_most)
            throw TooManyOperations{};
    }
    Operations operations() const {
        return {additions, multiplications, divisions, exponentials};
    }
};
Counters counters;

constexpr std::uint64_t seal_of_zero = 0;  // of Counted(): nothing is encrypted there
constexpr std::uint64_t seal_of_outside =
    1;  // of elements that the answer has no business with
constexpr std::uint64_t seal_of_unset = 2;  // of results before they are written
constexpr std::uint64_t first_seal = 16;

/// Bits that an answer cannot foresee: each value is encrypted with others.
std::uint64_t bits_of_seal(std::uint64_t seal) {
    static const std::uint64_t key = [] {
        std::random_device random;
        return std::uint64_t{random()} << 32 | random();
    }();
    std::uint64_t bits = key + seal * 0x9E3779B97F4A7C15u;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
    return bits ^ bits >> 31;
}

}  // namespace

/// Reaches what a Counted holds. It is useless without bits_of_seal, which only this file
/// has.
class Seal {
public:
    static std::uint64_t& number(Counted& x) { return x.seal_; }
    static std::uint64_t& value(Counted& x) { return x.sealed_value_; }
};

namespace {

Counted sealed(double value) {
    static std::atomic<std::uint64_t> next = first_seal;
    Counted result;
    Seal::number(result) = next++;
    Seal::value(result) =
        std::bit_cast<std::uint64_t>(value) ^ bits_of_seal(Seal::number(result));
    return result;
}

/// An element that is not to be used; `seal` tells why.
Counted marked(std::uint64_t seal) {
    Counted result;
    Seal::number(result) = seal;
    return result;
}
bool is_marked(Counted x, std::uint64_t seal) { return Seal::number(x) == seal; }

bool same(Counted a, Counted b) {
    return Seal::number(a) == Seal::number(b) && Seal::value(a) == Seal::value(b);
}

/// NaN for what is not to be used.
double opened(Counted x) {
    if (Seal::number(x) == seal_of_zero) return 0;
    if (Seal::number(x) < first_seal) return std::numeric_limits<double>::quiet_NaN();
    return std::bit_cast<double>(Seal::value(x) ^ bits_of_seal(Seal::number(x)));
}

/// The same for an operation of the answer.
double used(Counted x) {
    if (is_marked(x, seal_of_outside)) ++counters.outside;
    if (is_marked(x, seal_of_unset)) ++counters.unset;
    return opened(x);
}

}  // namespace

Counted::Counted(double value) { *this = sealed(value); }

Counted operator+(Counted a, Counted b) {
    return counters.count(counters.additions), sealed(used(a) + used(b));
}
Counted operator-(Counted a, Counted b) {
    return counters.count(counters.additions), sealed(used(a) - used(b));
}
Counted operator*(Counted a, Counted b) {
    return counters.count(counters.multiplications), sealed(used(a) * used(b));
}
Counted operator/(Counted a, Counted b) {
    return counters.count(counters.divisions), sealed(used(a) / used(b));
}
Counted operator-(Counted a) { return sealed(-used(a)); }
Counted exp(Counted x) {
    return counters.count(counters.exponentials), sealed(std::exp(used(x)));
}
double value_of(Counted x) { return ++counters.opened, used(x); }

namespace {

/// All of a camera as ordinary numbers, for the reference.
struct Setting {
    double exposure, gain, line_time, lifetime;
};

/// From `low` to `high`.
double random_between(double low, double high, std::uint64_t stream) {
    const double from_quarter_to_1 = std::fabs(grading::random_doubles(1, stream)[0]);
    return low + (high - low) * (from_quarter_to_1 - 0.25) / 0.75;
}

/// A camera whose last row has lost about half of its charge.
Setting random_setting(int rows, std::uint64_t stream) {
    const double lifetime = random_between(0.5, 2, stream + 1);
    return {.exposure = random_between(0.1, 10, stream + 2),
            .gain = random_between(0.2, 5, stream + 3),
            .line_time = lifetime * random_between(0.5, 1, stream + 4) / std::max(rows, 1),
            .lifetime = lifetime};
}

struct Shape {
    int rows, cols;
    std::string text() const {
        return std::to_string(rows) + " x " + std::to_string(cols) + " pixels";
    }
};

/// A picture with random counts. About a fifth of them are below the dark counts.
struct Picture {
    Shape shape;
    Setting setting;
    std::size_t rows, cols;
    std::vector<double> counts, dark;

    Picture(Shape shape_of_it, const Setting& setting_of_it, std::uint64_t stream)
        : shape(shape_of_it),
          setting(setting_of_it),
          rows(static_cast<std::size_t>(shape.rows)),
          cols(static_cast<std::size_t>(shape.cols)),
          counts(grading::random_doubles(rows * cols, stream + 5)),
          dark(grading::random_doubles(cols, stream + 6)) {
        for (double& count : counts) count = 2000 + 1900 * count;
        for (double& count : dark) count = 500 + 450 * count;
        // Not nearly as many as without light: a difference that cancels would magnify the
        // errors of other orders.
        for (std::size_t i = 0; i < counts.size(); ++i) {
            if (std::fabs(counts[i] - dark[i % cols]) < 30) counts[i] += 60;
        }
    }

    /// The light of all pixels; `darkness(row, col)` is subtracted, and `factor(row)`
    /// multiplies.
    template <class Darkness, class Factor>
    std::vector<double> light_with(const Darkness& darkness, const Factor& factor) const {
        std::vector<double> light;
        light.reserve(counts.size());
        for (std::size_t row = 0; row < rows; ++row) {
            const double factor_of_row = factor(static_cast<double>(row));
            for (std::size_t col = 0; col < cols; ++col) {
                light.push_back((counts[row * cols + col] - darkness(row, col)) *
                                factor_of_row);
            }
        }
        return light;
    }
    template <class Factor>
    std::vector<double> light_with(const Factor& factor) const {
        return light_with([this](std::size_t, std::size_t col) { return dark[col]; },
                          factor);
    }

    double scale() const { return setting.exposure * setting.gain; }
    double left(double row) const {
        return std::exp(-row * setting.line_time / setting.lifetime);
    }
    double factor(double row) const { return 1 / (scale() * left(row)); }

    /// What the header promises, and the rounding of this reference.
    warpwise::Tolerance tolerance() const {
        return {.relative = std::max(1e-12, 5e-16 * static_cast<double>(rows)) + 1e-15};
    }
};

/// A matcher of the light of a picture, with hints for mistakes whose result is known.
auto is_light_of(const Picture& picture) {
    // Computed only when pixels are wrong.
    const auto all = [&picture](auto factor) {
        return [&picture, factor](const grading::MismatchedArray& mismatch) {
            return grading::equals(picture.light_with(factor))(mismatch);
        };
    };
    const auto right = [&picture](double row) { return picture.factor(row); };
    const auto dark_of_row = [&picture, right](const grading::MismatchedArray& mismatch) {
        if (picture.rows > picture.cols) return false;
        const auto dark = [&](std::size_t row, std::size_t) { return picture.dark[row]; };
        return grading::equals(picture.light_with(dark, right))(mismatch);
    };
    auto judge = [expected = picture.light_with(right), tolerance = picture.tolerance(),
                  cols = picture.cols](const std::vector<double>& light) {
        return grading::judge_values(light, expected, tolerance, cols);
    };
    return grading::BufferMatcher(std::move(judge), "")
        .when(all([&](double) { return picture.factor(0); }),
              "All rows have the factor that is right for row 0. Which of its parts change "
              "with the row?")
        .when(all([&](double) { return picture.factor(1); }),
              "All rows have the factor that is right for row 1. Which of its parts change "
              "with the row?")
        .when(all([&](double row) { return picture.factor(row + 1); }),
              "Each row has the factor of the row after it. Which factor belongs to row 0?")
        .when(all([&](double row) { return picture.left(row) / picture.scale(); }),
              "The light is multiplied by what was left of the charge. What does the "
              "formula in the header do?")
        .when(all([&](double row) { return 1 / picture.factor(row); }),
              "The light is multiplied by the denominator. What has to be done with its "
              "reciprocal?")
        .when(all([&](double row) { return picture.setting.gain * picture.factor(row); }),
              "The light is too large by a factor of `gain`. Where does it go?")
        .when(
            all([&](double row) { return picture.setting.exposure * picture.factor(row); }),
            "The light is too large by a factor of `exposure`. Where does it go?")
        .when(dark_of_row,
              "dark[row] was subtracted from the counts. Does it change with the row, or "
              "with the column?");
}

/// Develops a picture, checks every pixel, and returns what it took.
Operations check_picture(const Picture& picture) {
    INFO("a picture of " << picture.shape.text());
    // Around the arrays lie elements that must be left alone: enough for an index that
    // takes rows for columns.
    const std::size_t longer_side = std::max(picture.rows, picture.cols);
    const std::size_t border = longer_side < 1000 ? longer_side * longer_side + 16 : 64;
    const auto surrounded = [border](const std::vector<double>& values) {
        std::vector<Counted> result(values.size() + 2 * border, marked(seal_of_outside));
        std::transform(values.begin(), values.end(),
                       result.begin() + static_cast<std::ptrdiff_t>(border), sealed);
        return result;
    };
    std::vector<Counted> counts = surrounded(picture.counts),
                         dark = surrounded(picture.dark);
    const std::vector<Counted> counts_before = counts, dark_before = dark;
    std::vector<Counted> light = surrounded(picture.counts);
    for (std::size_t i = 0; i < picture.counts.size(); ++i)
        light[border + i] = marked(seal_of_unset);
    const Camera camera{sealed(picture.setting.exposure), sealed(picture.setting.gain),
                        sealed(picture.setting.line_time),
                        sealed(picture.setting.lifetime)};

    counters.clear();
    const auto pixels = static_cast<long>(picture.counts.size());
    counters.at_most = 10 * pixels + 30 * static_cast<long>(picture.rows) + 1000;
    try {
        develop(counts.data() + border, dark.data() + border, light.data() + border,
                picture.shape.rows, picture.shape.cols, camera);
    } catch (const TooManyOperations&) {
        FAIL_CHECK("The answer was stopped after "
                   << counters.at_most
                   << " operations, several times as many as the task allows.\n"
                      "Which loop of yours runs more often than once per pixel?");
        return counters.operations();
    }
    const Operations done = counters.operations();
    if (counters.outside > 0)
        FAIL_CHECK(
            "Elements before or beyond the arrays were used in a calculation.\n"
            "Which index belongs to the first pixel of the last row?");
    if (counters.unset > 0)
        FAIL_CHECK(
            "Elements of `light` were used in a calculation before they were written.\n"
            "Which statement of yours reads `light`?");
    if (counters.opened > 0) {
        FAIL_CHECK("The answer called value_of() "
                   << grading::counted(counters.opened, "time")
                   << ". Arithmetic with what it returns "
                   << "is not counted, so an answer may not use it.\n"
                      "Which line calls it?");
    }

    bool stays_inside = true;
    for (std::size_t i = 0; i < border; ++i) {
        stays_inside = stays_inside && is_marked(light[i], seal_of_outside) &&
                       is_marked(light[light.size() - 1 - i], seal_of_outside);
    }
    if (!stays_inside) {
        FAIL_CHECK(
            "Something was written before or beyond `light`.\n"
            "How many pixels does a row have, and how many rows are there?");
    }
    if (!std::equal(counts.begin(), counts.end(), counts_before.begin(), same) ||
        !std::equal(dark.begin(), dark.end(), dark_before.begin(), same)) {
        FAIL_CHECK(
            "`counts` or `dark` was changed. They are only to be read.\n"
            "To which array does the inner loop write?");
    }

    std::vector<double> got;
    std::vector<std::size_t> unwritten;
    for (std::size_t i = 0; i < picture.counts.size(); ++i) {
        if (is_marked(light[border + i], seal_of_unset)) unwritten.push_back(i);
        got.push_back(opened(light[border + i]));
    }
    if (!unwritten.empty()) {
        FAIL_CHECK("No light was written for "
                   << grading::name_elements(unwritten, picture.cols)
                   << ".\nIn which order do the loops visit the pixels, and where do they "
                      "end?");
        return done;
    }
    CHECK_THAT(got, is_light_of(picture));
    return done;
}

Operations check_picture(Shape shape) {
    const auto stream = static_cast<std::uint64_t>(shape.rows) * 100'003 +
                        static_cast<std::uint64_t>(shape.cols);
    return check_picture(
        Picture(shape, random_setting(shape.rows, stream * 10), stream * 10));
}

/// For the guide, which shows them beside those of the stub.
void note_operations(const Operations& done, const Shape& shape) {
    const std::string picture =
        " for " + std::to_string(shape.rows) + " x " + std::to_string(shape.cols);
    grading::figure("exponentials" + picture, static_cast<double>(done.exponentials));
    grading::figure("divisions" + picture, static_cast<double>(done.divisions));
    grading::figure("multiplications" + picture, static_cast<double>(done.multiplications));
    grading::figure("additions and subtractions" + picture,
                    static_cast<double>(done.additions));
}

/// Checks one kind of operation for pictures of several shapes: the whole picture against
/// `limit_of(rows, pixels)`. The hint is given where a pixel takes more than `per_pixel`.
template <class Limit>
void check_count(const std::string& what, long Operations::*kind, long per_pixel,
                 const std::string& hint, const Limit& limit_of) {
    std::vector<Shape> shapes = {{60, 700}, {700, 60}, {33, 65}};
    for (std::uint64_t k = 0; k < 3; ++k) {
        shapes.push_back({static_cast<int>(grading::random_size(20, 300, 2 * k)),
                          static_cast<int>(grading::random_size(20, 300, 2 * k + 1))});
    }
    for (const Shape& shape : shapes) {
        const Operations all = check_picture(shape);
        note_operations(all, shape);
        const long done = all.*kind;
        const long limit = limit_of(long{shape.rows}, long{shape.rows} * shape.cols);
        if (done <= limit) continue;
        // With one more column, the rows and the picture cost the same: the difference is
        // what the pixels cost.
        const long more = check_picture({shape.rows, shape.cols + 1}).*kind - done;
        const bool pixels_cost_too_much = more > per_pixel * shape.rows;
        FAIL_CHECK("The answer did "
                   << done << " " << what << " for " << shape.text() << ". At most "
                   << limit << " are allowed.\n"
                   << (pixels_cost_too_much
                           ? hint
                           : "Which of them does the answer do more often per row, or "
                             "per picture, than it has to?"));
    }
}

}  // namespace

TEST_CASE("develops pictures of any shape") {
    check_picture({5, 7});
    check_picture({7, 5});
    for (const int side : {1, 2, 31, 32, 33}) {
        check_picture({side, side});
        check_picture({side, 509});
        check_picture({509, side});
    }
    for (const std::size_t rows : grading::sizes({}, 3, 300)) {
        check_picture(
            {static_cast<int>(rows), static_cast<int>(grading::random_size(2, 300, rows))});
    }
}

TEST_CASE("handles pictures without pixels") {
    check_picture({0, 0});
    check_picture({0, 5});
    check_picture({5, 0});
}

TEST_CASE("develops what any camera took") {
    const auto check = [](const Setting& setting) {
        check_picture(Picture({40, 30}, setting, 7));
    };
    check({.exposure = 8, .gain = 0.01, .line_time = 0.1, .lifetime = 0.7});
    check({.exposure = 0.3,
           .gain = 1.7,
           .line_time = 0,
           .lifetime = 2});  // all rows are read at once
    check({.exposure = 0.25,
           .gain = 3.5,
           .line_time = 0.002,
           .lifetime = std::numeric_limits<double>::infinity()});  // no charge is lost
}

TEST_CASE("develops very long and very wide pictures") {
    check_picture({2'100'000, 1});
    check_picture({1, 2'100'000});
}

TEST_CASE("computes one exponential per row") {
    check_count("exponentials", &Operations::exponentials, 0,
                "The inner loop computes exponentials. Which parts of the exponent change "
                "from one pixel of a row to "
                "the next?",
                [](long rows, long) { return rows + 4; });
}

TEST_CASE("divides at most six times per row") {
    check_count("divisions", &Operations::divisions, 0,
                "The inner loop divides. Which multiplication has the same result?",
                [](long rows, long) { return 6 * rows + 4; });
}

TEST_CASE("multiplies once per pixel") {
    check_count("multiplications", &Operations::multiplications, 1,
                "The inner loop multiplies more than once per pixel. Which factors of a "
                "pixel differ from those of its "
                "neighbor in the same row?",
                [](long rows, long pixels) { return pixels + 6 * rows + 8; });
}

TEST_CASE("subtracts once per pixel") {
    check_count("additions and subtractions", &Operations::additions, 1,
                "The inner loop adds or subtracts more than once per pixel. Which of these "
                "operations give the same "
                "result for all pixels of a row?",
                [](long rows, long pixels) { return pixels + 3 * rows + 4; });
}
