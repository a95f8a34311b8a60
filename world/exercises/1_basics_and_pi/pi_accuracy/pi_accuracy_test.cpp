#include "exercises/1_basics_and_pi/pi_accuracy/pi_accuracy.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

const grading::Exercise grading::exercise{"1_basics_and_pi", "pi_accuracy"};

namespace {

constexpr double unit_roundoff = 1.0 / (1 << 24);  // of float

/// Each slice is rounded once (u), and a Kahan sum is off by at most 2 u + O(n u^2) of the
/// sum of magnitudes (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
/// section 4.3). Sums that keep all that was lost in a float of its own (Neumaier, two-sum)
/// are off by u + O(n^2 u^2) instead: below 4 u for a million slices, and up to about 8 u
/// for four million.
constexpr double relative_bound = 4 * unit_roundoff;
constexpr double relative_bound_of_four_million = 16 * unit_roundoff;

/// The slices of every thread, in float as the kernel has them.
template <class Add>
std::vector<double> sums_of(int slices, int threads, Add add) {
    std::vector<double> sums;
    for (int thread = 0; thread < threads; ++thread) {
        float sum = 0, compensation = 0;
        for (std::int64_t i = thread; i < slices; i += threads) {
            const double x = (static_cast<double>(i) + 0.5) / slices;
            add(sum, compensation, static_cast<float>(4 / (1 + x * x)));
        }
        sums.push_back(sum);
    }
    return sums;
}

std::vector<double> plain_sums(int slices, int threads) {
    return sums_of(slices, threads, [](float& sum, float&, float slice) { sum += slice; });
}

std::vector<double> sums_with_wrong_sign(int slices, int threads) {
    return sums_of(slices, threads, [](float& sum, float& compensation, float slice) {
        const float value = slice - compensation;
        const float next_sum = sum + value;
        compensation = value - (next_sum - sum);
        sum = next_sum;
    });
}

std::vector<double> sums_with_new_sum(int slices, int threads) {
    return sums_of(slices, threads, [](float& sum, float& compensation, float slice) {
        const float value = slice - compensation;
        const float next_sum = sum + value;
        sum = next_sum;
        compensation = (next_sum - sum) - value;
    });
}

std::vector<double> sums_with_all_errors(int slices, int threads) {
    return sums_of(slices, threads, [](float& sum, float& compensation, float slice) {
        const float value = slice - compensation;
        const float next_sum = sum + value;
        compensation += (next_sum - sum) - value;
        sum = next_sum;
    });
}

/// `(next_sum - sum) - slice`, without what was taken off the slice.
std::vector<double> sums_with_slice(int slices, int threads) {
    return sums_of(slices, threads, [](float& sum, float& compensation, float slice) {
        const float value = slice - compensation;
        const float next_sum = sum + value;
        compensation = (next_sum - sum) - slice;
        sum = next_sum;
    });
}

/// The sum of every thread in double precision, which is 2^29 times finer than float.
std::vector<double> expected_sums(int slices, int threads) {
    std::vector<double> sums(static_cast<std::size_t>(threads));
    for (int i = 0; i < slices; ++i) {
        const double x = (i + 0.5) / slices;
        sums[static_cast<std::size_t>(i % threads)] += 4 / (1 + x * x);
    }
    return sums;
}

/// All sums, also those within the tolerance, are to the last bit what a mistake gives: a
/// few alone could be chance.
grading::Cause are_just(std::vector<double> sums) {
    return [sums = std::move(sums)](const grading::MismatchedArray& mismatch) {
        return mismatch.got == sums;
    };
}

/// The right slices were added: what is wrong is less than any of them.
bool is_only_rounding(const grading::MismatchedArray& mismatch) {
    return std::all_of(mismatch.wrong.begin(), mismatch.wrong.end(), [&](std::size_t i) {
        return std::fabs(mismatch.got[i] - mismatch.expected[i]) < 1;
    });
}

/// The first variable of type double that begins with 0, as sums and compensations do, in
/// the file that launches; empty where there is none. Slices are computed in double, but
/// those variables begin with another value.
std::string sum_in_double(const grading::Instrumented& instrumented) {
    for (const warpwise::LaunchCounts& launch : instrumented.launches) {
        const std::string text = grading::code_of(launch.file);
        const std::regex from_zero(R"re(\bdouble\s+(\w+\s*[^;(){}]*,\s*)?\w+\s*(=\s*|\{))re"
                                   R"re((double\s*[({])?[0.]*(e0)?f?\s*[,;})])re"
                                   R"re(|\bauto\s+\w+\s*=\s*0\.0*\s*;)re");
        std::smatch found;
        if (std::regex_search(text, found, from_zero)) return found.str();
    }
    return "";
}

std::vector<float> check_sums(int slices, int blocks, int threads_per_block,
                              double bound = relative_bound) {
    INFO(grading::counted(slices, "slice")
         << ", launched with <<<" << blocks << ", " << threads_per_block << ">>>");
    const int threads = blocks * threads_per_block;
    grading::Guarded<float> d_sums(static_cast<std::size_t>(threads));
    const grading::Instrumented instrumented = grading::instrument(
        [&] { sum_slices_by_thread(d_sums.data(), slices, blocks, threads_per_block); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_sums, grading::WrittenEverywhere());
    CHECK_THAT(d_sums,
               grading::CloseTo(expected_sums(slices, threads), {.relative = bound})
                   .when(are_just(plain_sums(slices, threads)),
                         "These are the sums that plain addition gives. What is "
                         "`compensation` at the end?")
                   .when(are_just(sums_with_wrong_sign(slices, threads)),
                         "This is what a compensation of the opposite sign gives.")
                   .when(are_just(sums_with_all_errors(slices, threads)),
                         "This is what comes out if `compensation` adds up the errors of "
                         "all additions. Which of them has the next value already taken "
                         "into account?")
                   .when(are_just(sums_with_new_sum(slices, threads)),
                         "This is what comes out if `sum` changes before `compensation` is "
                         "computed. Which `sum` does the formula need, the old one or the "
                         "new one?")
                   .when(are_just(sums_with_slice(slices, threads)),
                         "This is what comes out if `compensation` compares what arrived "
                         "in the sum with the slice. Was it the slice that was added, or "
                         "the slice less the last compensation?")
                   .when(is_only_rounding,
                         "Near 2^25 neighboring floats are 4 apart. Let `sum` be 2^25, and "
                         "add 3 to it: `next_sum` is 2^25 + 4. What does your "
                         "`compensation` hold now, and what does it do to the next "
                         "value?"));
    CHECK_THAT(d_sums, grading::StaysInside());

    CHECK_THAT(instrumented, grading::LaunchesExactly(1));
    CHECK_THAT(instrumented,
               grading::EveryLaunchHas({static_cast<unsigned>(blocks), 1, 1},
                                       {static_cast<unsigned>(threads_per_block), 1, 1}));
    CHECK_THAT(d_sums, grading::WrittenByThreads(static_cast<std::size_t>(threads)));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyHostToDevice"));
    const std::string declaration = sum_in_double(instrumented);
    if (!declaration.empty()) {
        FAIL_CHECK(
            "The sum and its compensation have to be float, but the answer declares '"
            << declaration
            << "'.\nWhat does `compensation` hold that the float `sum` has lost?");
    }
    return d_sums.download();
}

}  // namespace

TEST_CASE("is exact for a few slices per thread") {
    check_sums(0, 1, 32);
    check_sums(1, 1, 32);
    check_sums(96, 2, 32);
}

TEST_CASE("handles any number of slices and threads") {
    check_sums(1009, 3, 33);
    check_sums(100'000, 2, 64);
    check_sums(20'000, 150, 64);  // more blocks than any small table has
    for (const std::size_t slices : grading::sizes({}, 4, 200'000)) {
        check_sums(static_cast<int>(slices),
                   static_cast<int>(grading::random_size(1, 9, slices)),
                   static_cast<int>(grading::random_size(1, 1024, slices + 1)));
    }
}

TEST_CASE("stays accurate over a thousand slices per thread") {
    check_sums(1 << 16, 2, 32);
}

TEST_CASE("stays accurate over a million slices per thread") {
    check_sums(1'000'003, 1, 1);
}

TEST_CASE("stays accurate over four million slices per thread") {
    const int slices = 1 << 22;
    const std::vector<float> sums =
        check_sums(slices, 1, 1, relative_bound_of_four_million);
    // The error of the midpoint rule, 1 / (12 slices^2), is far below that of the sum.
    CHECK_THAT(sums[0] / double(slices),
               Catch::Matchers::WithinAbs(
                   std::numbers::pi, relative_bound_of_four_million * std::numbers::pi));
}
