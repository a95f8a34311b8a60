#include "exercises/1_basics_and_pi/pi_accuracy/pi_accuracy.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"

const grading::Exercise grading::exercise{"1_basics_and_pi", "pi_accuracy"};

namespace {

constexpr double unit_roundoff = 1.0 / (1 << 24);  // of float

/// Each slice is rounded once (u), and a compensated sum is off by at most 2 u + O(n u^2) of the sum of magnitudes
/// (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.3). For the four million slices of the
/// longest sum here n u^2 is u / 4, with a factor of order one.
constexpr double relative_bound = 4 * unit_roundoff;

/// The sum of every thread in double precision, which is 2^29 times finer than float.
std::vector<double> expected_sums(int slices, int threads) {
    std::vector<double> sums(static_cast<std::size_t>(threads));
    for (int i = 0; i < slices; ++i) {
        const double x = (i + 0.5) / slices;
        sums[static_cast<std::size_t>(i % threads)] += 4 / (1 + x * x);
    }
    return sums;
}

std::vector<float> check_sums(int slices, int blocks, int threads_per_block) {
    INFO(slices << " slices, launched with <<<" << blocks << ", " << threads_per_block << ">>>");
    const int threads = blocks * threads_per_block;
    grading::Guarded<float> d_sums(static_cast<std::size_t>(threads));
    sum_slices_by_thread(d_sums.data(), slices, blocks, threads_per_block);
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_sums, grading::WrittenEverywhere());
    const std::vector<double> expected = expected_sums(slices, threads);
    const warpwise::Tolerance rounding{.relative = relative_bound};
    const char* hint = "Is the rounding error of every addition made good in the next one?";
    CHECK_THAT(d_sums, grading::CloseTo(expected, rounding, hint));
    CHECK_THAT(d_sums, grading::StaysInside());
    return d_sums.download();
}

}  // namespace

TEST_CASE("is exact for a few slices a thread") {
    check_sums(0, 1, 32);
    check_sums(1, 1, 32);
    check_sums(96, 2, 32);
}

TEST_CASE("handles any number of slices and threads") {
    check_sums(1009, 3, 33);
    check_sums(100000, 2, 64);
}

TEST_CASE("stays accurate over a thousand slices a thread") { check_sums(1 << 16, 2, 32); }

TEST_CASE("stays accurate over a million slices a thread") { check_sums(1 << 20, 1, 1); }

TEST_CASE("stays accurate over four million slices a thread") {
    const int slices = 1 << 22;
    const std::vector<float> sums = check_sums(slices, 1, 1);
    // The error of the midpoint rule, 1 / (12 slices^2), is far below that of the sum.
    CHECK_THAT(sums[0] / double(slices),
               Catch::Matchers::WithinAbs(std::numbers::pi, relative_bound * std::numbers::pi));
}
