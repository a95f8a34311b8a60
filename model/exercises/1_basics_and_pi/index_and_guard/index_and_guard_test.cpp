#include "exercises/1_basics_and_pi/index_and_guard/index_and_guard.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

const grading::Exercise grading::exercise{"1_basics_and_pi", "index_and_guard"};

namespace {

/// From -300 to 300 degrees, none of them whole and none 0.
std::vector<float> temperatures(int n) {
    std::vector<float> celsius = grading::random_floats(static_cast<std::size_t>(n));
    for (float& degrees : celsius) degrees *= 300;
    return celsius;
}

/// Whether the first launch has blocks of the right size, and more of them than needed.
bool has_more_blocks(const grading::Instrumented& instrumented, unsigned blocks,
                     unsigned threads) {
    if (instrumented.launches.empty()) return false;
    const warpwise::LaunchCounts& launch = instrumented.launches[0];
    return launch.grid[0] > blocks && launch.block[0] == threads;
}

grading::Instrumented check_conversion(int n, int threads_per_block) {
    INFO(grading::counted(n, "element")
         << " in blocks of " << grading::counted(threads_per_block, "thread"));
    const std::vector<float> celsius = temperatures(n);
    std::vector<double> expected, as_they_were;
    for (float degrees : celsius) {
        expected.push_back(1.8 * degrees + 32.0);
        as_they_were.push_back(degrees);
    }

    grading::Guarded<float> d_celsius(celsius);
    grading::Guarded<float> d_fahrenheit(celsius.size());
    const grading::Instrumented instrumented = grading::instrument([&] {
        convert_to_fahrenheit(d_celsius.data(), d_fahrenheit.data(), n, threads_per_block);
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());

    // Three roundings (of 1.8, of the product, of the sum), each at most 2^-24 of a value
    // below 1024.
    const warpwise::Tolerance tolerance{.absolute = 3 * 1024.0 / (1 << 24)};
    CHECK_THAT(d_fahrenheit,
               grading::WrittenEverywhere().when(
                   grading::only_first_right(static_cast<std::size_t>(threads_per_block)),
                   "Only the first block's elements were written. Which elements belong to "
                   "the others?"));
    CHECK_THAT(d_fahrenheit, grading::CloseTo(expected, tolerance)
                                 .when(grading::equals(as_they_were),
                                       "These values are still in Celsius."));
    CHECK_THAT(d_fahrenheit, grading::StaysInside());
    CHECK_THAT(d_celsius, grading::Unchanged());

    if (n == 0) {
        CHECK_THAT(instrumented, grading::LaunchesExactly(0));
        return instrumented;
    }
    const auto threads = static_cast<unsigned>(threads_per_block);
    const unsigned blocks = (static_cast<unsigned>(n) + threads - 1) / threads;
    CHECK_THAT(instrumented, grading::LaunchesExactly(1));
    const std::string too_many =
        has_more_blocks(instrumented, blocks, threads)
            ? "Which element should thread 0 of the last block convert?"
            : "";
    CHECK_THAT(instrumented,
               grading::EveryLaunchHas({blocks, 1, 1}, {threads, 1, 1}, too_many));
    CHECK_THAT(d_fahrenheit, grading::WrittenOnce());
    CHECK_THAT(d_fahrenheit, grading::WrittenByThreads(celsius.size()));
    CHECK_THAT(d_celsius, grading::ReadByThreads(celsius.size()));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    return instrumented;
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
    for (int threads_per_block : {1, 32, 96, 1000, 1024})
        check_conversion(1009, threads_per_block);
    for (const std::size_t n : grading::sizes({}, 4, 20'000)) {
        check_conversion(static_cast<int>(n),
                         static_cast<int>(grading::random_size(1, 1024, n)));
    }
}

TEST_CASE("neighboring threads convert neighboring elements") {
    for (const int n : {4096, 10'007}) {
        const grading::Instrumented instrumented = check_conversion(n, 128);
        INFO(grading::counted(n, "element") << " in blocks of 128 threads");
        CHECK_THAT(instrumented, grading::GlobalEfficiencyAtLeast(0.8));
    }
}

TEST_CASE("counts more blocks and elements than 16 bits can") {
    check_conversion(70'001, 1);
    check_conversion(150'001, 1024);
}

TEST_CASE("does nothing for an empty array") { check_conversion(0, 256); }
