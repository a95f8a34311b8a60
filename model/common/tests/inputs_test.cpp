#include "common/helpers/inputs.h"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>
#include <vector>

using warpwise::random_bits;
using warpwise::uniform;
using warpwise::uniform_integers;

TEST_CASE("an element depends on the seed and its index only") {
    const std::vector<float> few = uniform<float>(10, 7);
    const std::vector<float> many = uniform<float>(1'000'000, 7);  // several host threads
    CHECK(std::equal(few.begin(), few.end(), many.begin()));
    CHECK(uniform<float>(10, 7) == few);
    CHECK(uniform<float>(10, 8) != few);
    CHECK(many.back() == uniform<float>(1'000'000, 7).back());
}

TEST_CASE("neighboring seeds do not give one stream, shifted") {
    std::set<std::uint64_t> seen;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        for (std::uint64_t index = 0; index < 100; ++index) seen.insert(random_bits(seed, index));
    }
    CHECK(seen.size() == 10'000);
}

TEST_CASE("the values are the same on every machine") {
    // The definition, spelled out: both mixing steps of SplitMix64.
    const auto mix = [](std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    };
    CHECK(mix(0x9E3779B97F4A7C15u) == 0xE220A8397B1DCDAFu);  // first output of SplitMix64 from state 0
    CHECK(random_bits(0, 0) == mix(0xE220A8397B1DCDAFu + 0x9E3779B97F4A7C15u));
}

TEST_CASE("uniform values fill their range evenly") {
    const std::vector<double> values = uniform<double>(100'000, 1, -2, 3);
    const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
    CHECK(*least >= -2);
    CHECK(*least < -1.99);
    CHECK(*greatest <= 3);
    CHECK(*greatest > 2.99);
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / 100'000;
    CHECK(std::fabs(mean - 0.5) < 0.02);  // standard deviation of the mean: 0.0046
}

TEST_CASE("float values stay in their range although they are rounded") {
    const float low = 1;
    const float high = std::nextafter(low, 2.0f);
    for (const float value : uniform<float>(1000, 3, low, high)) CHECK((value == low || value == high));
}

TEST_CASE("integers include both ends and are evenly distributed") {
    std::array<int, 7> counts{};
    for (const int value : uniform_integers(70'000, 5, -3, 3)) {
        REQUIRE(value >= -3);
        REQUIRE(value <= 3);
        ++counts[static_cast<std::size_t>(value + 3)];
    }
    for (const int count : counts) CHECK(std::abs(count - 10'000) < 500);  // 5 standard deviations
}

TEST_CASE("integers may span the whole type or a single value") {
    constexpr int lowest = std::numeric_limits<int>::min();
    constexpr int highest = std::numeric_limits<int>::max();
    const std::vector<int> all = uniform_integers(1000, 1, lowest, highest);
    CHECK(*std::min_element(all.begin(), all.end()) < lowest / 2);
    CHECK(*std::max_element(all.begin(), all.end()) > highest / 2);
    CHECK(uniform_integers(3, 1, 42, 42) == std::vector<int>{42, 42, 42});
}

TEST_CASE("no values are no values") {
    CHECK(uniform<float>(0, 1).empty());
    CHECK(uniform_integers(0, 1, 0, 1).empty());
}

TEST_CASE("a range that is upside down is refused") {
    CHECK_THROWS_AS(uniform<float>(1, 1, 2, 1), std::invalid_argument);
    CHECK_THROWS_AS(uniform<double>(1, 1, NAN, 1), std::invalid_argument);
    CHECK_THROWS_AS(uniform_integers(1, 1, 2, 1), std::invalid_argument);
}
