#include "exercises/1_basics_and_pi/pi_block_sum/pi_block_sum.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"

const grading::Exercise grading::exercise{"1_basics_and_pi", "pi_block_sum"};

namespace {

/// The sum of every block in double precision.
std::vector<double> expected_sums(int slices, int blocks, int threads_per_block) {
    std::vector<double> sums(static_cast<std::size_t>(blocks));
    for (int i = 0; i < slices; ++i) {
        const double x = (i + 0.5) / slices;
        sums[static_cast<std::size_t>(i / threads_per_block % blocks)] += 4 / (1 + x * x);
    }
    return sums;
}

/// Bound of the relative error of a sum of positive terms that are added along paths of `additions` additions:
/// additions * u (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2), u = 2^-24. Computing a
/// term adds less than 6 u.
double relative_bound(int slices, int blocks, int threads_per_block) {
    const int additions_of_a_thread = slices / (blocks * threads_per_block) + 1;
    const int rounds = 10;  // 2^10 = 1024 threads
    return (additions_of_a_thread + rounds + 6) / double(1 << 24);
}

/// What the likely mistake is, judged by the size of the block.
std::string likely_mistake(int threads_per_block) {
    const bool power_of_two = (threads_per_block & (threads_per_block - 1)) == 0;
    if (!power_of_two) return "What happens to the part in the middle when their number is odd?";
    return "Were the parts of all threads added? Is there a barrier before every round?";
}

std::vector<float> check_sums(int slices, int blocks, int threads_per_block) {
    INFO(slices << " slices, launched with <<<" << blocks << ", " << threads_per_block << ">>>");
    grading::Guarded<float> d_sums(static_cast<std::size_t>(blocks));
    sum_slices_by_block(d_sums.data(), slices, blocks, threads_per_block);
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_sums, grading::WrittenEverywhere("Does every block write a sum to a place of its own?"));
    const std::vector<double> expected = expected_sums(slices, blocks, threads_per_block);
    const warpwise::Tolerance rounding{.relative = relative_bound(slices, blocks, threads_per_block)};
    CHECK_THAT(d_sums, grading::CloseTo(expected, rounding, likely_mistake(threads_per_block)));
    CHECK_THAT(d_sums, grading::StaysInside("There is one sum a block."));
    return d_sums.download();
}

}  // namespace

TEST_CASE("adds the parts of all threads") {
    check_sums(2, 1, 2);
    check_sums(64, 1, 64);
    check_sums(10000, 1, 256);
}

TEST_CASE("gives every block a sum of its own") {
    check_sums(320, 5, 64);
    check_sums(100000, 64, 128);
}

TEST_CASE("works with blocks of any size") {
    for (int threads_per_block : {1, 3, 31, 32, 33, 96, 100, 1000, 1023, 1024}) check_sums(5000, 2, threads_per_block);
}

TEST_CASE("handles fewer slices than threads") {
    check_sums(0, 2, 64);
    check_sums(1, 2, 64);
    check_sums(65, 2, 64);
}

// The threads of one warp mostly run in step, so a missing barrier shows best in blocks of many warps.
TEST_CASE("gives the same sums in every run of large blocks") {
    const std::vector<float> first = check_sums(1 << 18, 32, 1024);
    for (int run = 0; run < 10; ++run) {
        const std::vector<float> again = check_sums(1 << 18, 32, 1024);
        INFO("the same launch gave other sums: does a thread read a part before it is complete?");
        CHECK((again == first));
    }
}

TEST_CASE("adds up to pi") {
    const int slices = 1 << 16;
    const std::vector<float> sums = check_sums(slices, 16, 256);
    const double pi = std::accumulate(sums.begin(), sums.end(), 0.0) / slices;
    const double midpoint_rule = 1.0 / 12 / slices / slices;  // h^2 / 24 * (f'(1) - f'(0)), f = 4 / (1 + x^2), doubled
    const double bound = midpoint_rule + std::numbers::pi * relative_bound(slices, 16, 256);
    CHECK_THAT(pi, Catch::Matchers::WithinAbs(std::numbers::pi, bound));
}
