#include "exercises/1_basics_and_pi/index_and_guard/index_and_guard.h"

#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"

const grading::Exercise grading::exercise{"1_basics_and_pi", "index_and_guard"};

namespace {

/// -40, -39.75, -39.5 ... and after 1024 of them from the start again: all exact in float.
std::vector<float> temperatures(int n) {
    std::vector<float> celsius;
    for (int i = 0; i < n; ++i) celsius.push_back(-40.0f + 0.25f * static_cast<float>(i % 1024));
    return celsius;
}

void check_conversion(int n, int threads_per_block) {
    INFO(n << " elements in blocks of " << threads_per_block << " threads");
    const std::vector<float> celsius = temperatures(n);
    std::vector<double> expected;
    for (float degrees : celsius) expected.push_back(1.8 * degrees + 32.0);

    grading::Guarded<float> d_celsius(celsius);
    grading::Guarded<float> d_fahrenheit(celsius.size());
    convert_to_fahrenheit(d_celsius.data(), d_fahrenheit.data(), n, threads_per_block);
    REQUIRE_THAT(grading::finish(), grading::Succeeds());

    // Three roundings (of 1.8, of the product, of the sum), each at most 2^-24 of a value below 512.
    const warpwise::Tolerance tolerance{.absolute = 3 * 512.0 / (1 << 24)};
    CHECK_THAT(d_fahrenheit, grading::WrittenEverywhere("Does every block use indices of its own?"));
    CHECK_THAT(d_fahrenheit, grading::StaysInside("Which threads of the last block have no element?"));
    CHECK_THAT(d_fahrenheit, grading::CloseTo(expected, tolerance, "Does thread i convert element i?"));
    CHECK_THAT(d_celsius, grading::Unchanged());
}

}  // namespace

TEST_CASE("converts every element of one full block") { check_conversion(256, 256); }

TEST_CASE("converts every element when there are several blocks") {
    check_conversion(512, 256);
    check_conversion(4096, 256);
}

TEST_CASE("stays inside the array when the last block is not full") {
    check_conversion(1009, 256);
    check_conversion(257, 256);
}

TEST_CASE("handles arrays about as short as a warp") {
    for (int n : {1, 31, 32, 33}) check_conversion(n, 64);
}

TEST_CASE("works with blocks of any size") {
    for (int threads_per_block : {1, 32, 96, 1000, 1024}) check_conversion(1009, threads_per_block);
}

TEST_CASE("does nothing for an empty array") { check_conversion(0, 256); }
