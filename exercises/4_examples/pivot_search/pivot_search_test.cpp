#include "exercises/4_examples/pivot_search/pivot_search.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/watched.h"

const grading::Exercise grading::exercise{"4_examples", "pivot_search"};

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

// The rule, for one row after the other.
std::size_t expected_pivot(const std::vector<float>& values, std::size_t first) {
    std::size_t best = first;
    for (std::size_t row = first; row < values.size(); ++row) {
        if (std::isnan(values[best])) break;
        if (std::isnan(values[row]) || std::fabs(values[row]) > std::fabs(values[best])) best = row;
    }
    return best;
}

// Searches a column with these values, and returns what the kernels did. All other elements are larger.
grading::Watched check_pivot(const std::vector<float>& values, int column = 0, const std::string& hint = "") {
    INFO(values.size() << " rows, column " << column);
    const std::size_t begin = static_cast<std::size_t>(column), pitch = begin + 3;
    std::vector<float> matrix(values.size() * pitch, 1e30f);
    for (std::size_t row = begin; row < values.size(); ++row) matrix[row * pitch + begin] = values[row];
    const grading::Guarded<float> d_matrix(matrix);
    grading::Guarded<int> d_pivot_row(1);
    grading::Watched watched = grading::watch(
        [&] { find_pivot(d_matrix.data(), pitch, static_cast<int>(values.size()), column, d_pivot_row.data()); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_pivot_row, grading::WrittenEverywhere());
    CHECK_THAT(d_pivot_row, grading::EqualTo({static_cast<double>(expected_pivot(values, begin))},
                                             hint.empty() ? "Does a thread read what another one has written?" : hint));
    CHECK_THAT(d_pivot_row, grading::StaysInside());
    return watched;
}

// Magnitudes that are all different, in no order, with both signs.
std::vector<float> different_values(std::size_t count) {
    std::vector<float> values;
    for (std::size_t i = 0; i < count; ++i) {
        const float magnitude = static_cast<float>(1 + i * 7919 % 16381);
        values.push_back(i % 3 == 0 ? -magnitude : magnitude);
    }
    return values;
}

}  // namespace

TEST_CASE("finds the largest magnitude") {
    for (const std::size_t rows : {256, 1, 2, 31, 33, 64, 255, 257, 1009, 5000}) check_pivot(different_values(rows));
    check_pivot({0, 0, -3, 2});
}

TEST_CASE("finds it wherever it is") {
    for (std::size_t place = 0; place < 600; place += 7) {
        std::vector<float> values = different_values(600);
        values[place] = -20000;
        check_pivot(values);
    }
}

TEST_CASE("begins with the row of the column") {
    const std::string hint = "The rows above the diagonal have been pivots before.";
    for (const int column : {1, 5, 31, 64, 299}) check_pivot(different_values(300), column, hint);
}

TEST_CASE("takes the lowest row of equal magnitudes") {
    const std::string hint = "Of equal magnitudes the lowest row is wanted, whichever thread has it.";
    check_pivot(std::vector<float>(1000, 2), 0, hint);
    check_pivot(std::vector<float>(77, 0), 0, hint);
    for (const std::size_t low : {3, 130, 200, 255, 300}) {
        for (const std::size_t more : {1, 56, 127, 128, 256, 300}) {
            std::vector<float> values = different_values(700);
            values[low] = 20000;
            values[low + more] = -20000;
            check_pivot(values, 0, hint);
        }
    }
}

TEST_CASE("takes NaN for the largest") {
    const std::string hint = "NaN counts as larger than any number. What do comparisons with NaN say?";
    for (const std::size_t place : {0, 1, 128, 255, 256, 511, 699}) {
        std::vector<float> values = different_values(700);
        values[place] = not_a_number;
        check_pivot(values, 0, hint);
        values[(place + 350) % 700] = std::numeric_limits<float>::infinity();
        check_pivot(values, 0, hint);
        values[(place + 129) % 700] = not_a_number;
        check_pivot(values, 0, hint);
    }
}

// On a GPU the warps mostly come by in an order that hides the mistake.
TEST_CASE("gives the same row every time") {
    for (int run = 0; run < 10; ++run) {
        INFO("run " << run);
        check_pivot(different_values(3000));
    }
}

TEST_CASE("waits once a round") {
    CHECK_THAT(check_pivot(different_values(1000)),
               grading::BarriersAtMost(10, "256 parts are eight rounds, and one wait before each is enough."));
}
