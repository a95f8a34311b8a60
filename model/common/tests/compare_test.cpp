#include "common/helpers/compare.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using warpwise::compare;
using warpwise::compare_each;
using warpwise::Comparison;
using warpwise::sum_tolerance;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("equal values are exact") {
    const Comparison result = compare<float>({1, 2, 3}, {1, 2, 3});
    CHECK(result.passed);
    CHECK(result.compared == 3);
    CHECK(result.mismatched == 0);
    CHECK(result.summary() == "exact");
}

TEST_CASE("NaN never passes, whatever the tolerance and wherever it is") {
    const Comparison got = compare<float>({1, NAN, 3}, {1, 2, 3}, {.absolute = 1e300});
    CHECK_FALSE(got.passed);
    CHECK(got.mismatched == 1);
    CHECK(std::isnan(got.largest_error));
    REQUIRE(got.mismatches.size() == 1);
    CHECK(got.mismatches[0].index == 1);
    CHECK(got.mismatches[0].expected == 2);

    CHECK_FALSE(compare<double>({1}, {not_a_number}, {.absolute = 1e300}).passed);
    CHECK_FALSE(compare<double>({not_a_number}, {not_a_number}, {.absolute = 1e300}).passed);
    CHECK_FALSE(compare<double>({not_a_number}, {not_a_number}, {.relative = 1}).passed);
}

TEST_CASE("a larger error after a NaN does not hide it") {
    CHECK(std::isnan(compare<double>({not_a_number, 100}, {0, 0}, {.absolute = 1000}).largest_error));
    CHECK(std::isnan(compare<double>({100, not_a_number}, {0, 0}, {.absolute = 1000}).largest_error));
}

TEST_CASE("infinity passes for the same infinity only") {
    CHECK(compare<double>({infinity, -infinity}, {infinity, -infinity}).passed);
    CHECK_FALSE(compare<double>({infinity}, {-infinity}, {.relative = 1}).passed);
    CHECK_FALSE(compare<double>({infinity}, {1}, {.absolute = 1e300, .relative = 1}).passed);
    CHECK_FALSE(compare<double>({1}, {infinity}, {.relative = 1}).passed);
}

TEST_CASE("an error equal to the tolerance passes, the next larger one does not") {
    CHECK(compare<double>({1.5}, {1}, {.absolute = 0.5}).passed);
    CHECK(compare<double>({0.5}, {1}, {.absolute = 0.5}).passed);
    CHECK_FALSE(compare<double>({1.5}, {1}, {.absolute = std::nextafter(0.5, 0)}).passed);
    CHECK(compare<double>({-5}, {-4}, {.relative = 0.25}).passed);
    CHECK_FALSE(compare<double>({-5}, {-4}, {.relative = std::nextafter(0.25, 0)}).passed);
    CHECK(compare<double>({-6}, {-4}, {.absolute = 1, .relative = 0.25}).passed);
}

TEST_CASE("the tolerance shown is the one at the element with the largest error") {
    const Comparison result = compare<double>({1.25, 100.5}, {1, 100}, {.relative = 0.5});
    CHECK(result.largest_error == 0.5);
    CHECK(result.tolerance == 50);
    CHECK(result.summary() == "max error 0.5 <= 50");
}

TEST_CASE("nothing compared with nothing passes") {
    const Comparison result = compare<float>({}, {});
    CHECK(result.passed);
    CHECK(result.compared == 0);
    CHECK(result.summary() == "nothing to compare");
}

TEST_CASE("different sizes fail with a note") {
    const Comparison result = compare<float>({1, 2}, {1, 2, 3});
    CHECK_FALSE(result.passed);
    CHECK(result.summary() == "got 2 values, expected 3");
    CHECK_FALSE(compare<float>({}, {1}).passed);
}

TEST_CASE("a tolerance that is no bound fails with a note") {
    for (const double bound : {not_a_number, infinity, -1.0}) {
        CHECK_FALSE(compare<double>({1}, {1}, {.absolute = bound}).passed);
        CHECK_FALSE(compare<double>({1}, {1}, {.relative = bound}).note.empty());
    }
}

TEST_CASE("integers are compared exactly") {
    CHECK(compare<int>({-1, 2147483647}, {-1, 2147483647}).passed);
    CHECK_FALSE(compare<int>({7}, {8}).passed);
    CHECK(compare<unsigned char>({255}, {255}).passed);
}

TEST_CASE("an integer that a double cannot hold never passes") {
    const std::int64_t beyond = (std::int64_t{1} << 53) + 1;  // would be rounded to 2^53
    CHECK_FALSE(compare<std::int64_t>({beyond}, {9007199254740992.0}).passed);
    CHECK(compare<std::int64_t>({beyond - 1}, {9007199254740992.0}).passed);
}

TEST_CASE("a large array gives the same result as a small one, with the first mismatches") {
    const std::size_t count = 1'000'003;
    std::vector<float> got(count, 1);
    for (const std::size_t wrong : {0u, 400'000u, 700'001u, 900'000u, 900'001u, 1'000'000u, 1'000'002u}) got[wrong] = 3;
    got[700'001] = 9;
    const Comparison result = compare_each(got, count, [](std::size_t) { return 1.0; });
    CHECK_FALSE(result.passed);
    CHECK(result.compared == count);
    CHECK(result.mismatched == 7);
    CHECK(result.largest_error == 8);
    REQUIRE(result.mismatches.size() == warpwise::kept_mismatches);
    CHECK(result.mismatches[0].index == 0);
    CHECK(result.mismatches[2].index == 700'001);
    CHECK(result.mismatches[4].index == 900'001);
    CHECK(result.summary() == "7 of 1000003 wrong");
}

TEST_CASE("the tolerance of a sum grows with the square root of its length") {
    CHECK(sum_tolerance(100, 1e-7, 50) == Catch::Approx(4 * 10 * 1e-7 * 50));
    CHECK(sum_tolerance(400, 1e-7, 50) == Catch::Approx(2 * sum_tolerance(100, 1e-7, 50)));
    CHECK(sum_tolerance(100, 1e-7, 50, 1) == Catch::Approx(10 * 1e-7 * 50));
}

TEST_CASE("the tolerance of a sum is never less than one rounding") {
    CHECK(sum_tolerance(0, 1e-7, 50) == 1e-7 * 50);
    CHECK(sum_tolerance(1, 1e-7, 50, 0.5) == 1e-7 * 50);
    CHECK(sum_tolerance(1000, 1e-7, 0) == 0);
}
