#include "exercises/3_optimization/transpose_both_ways/transpose_both_ways.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/figure.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

#ifndef __CPU_DEVICE__
#include "common/helpers/device_buffer.h"
#endif

const grading::Exercise grading::exercise{"3_optimization", "transpose_both_ways"};

namespace {

constexpr std::size_t tile_side = 32;
constexpr std::size_t most_of_a_thread =
    64;  // elements of a pair of tiles that a thread may do

// Checks the symmetric part, and returns what the kernels did. `once`: each element has to
// be written once.
grading::Instrumented check_symmetric_part(std::size_t side, bool once = false) {
    INFO("a matrix of " << side << " x " << side);
    const std::vector<float> a = grading::random_floats(side * side);
    std::vector<double> expected(a.size());
    for (std::size_t row = 0; row < side; ++row) {
        for (std::size_t col = 0; col < side; ++col) {
            expected[row * side + col] =
                (static_cast<double>(a[row * side + col]) + a[col * side + row]) / 2;
        }
    }
    grading::Guarded<float> d_a(a);
    d_a.show_as_rows_of(side);
    grading::Instrumented instrumented =
        grading::instrument([&] { make_symmetric(d_a.data(), static_cast<int>(side)); });
    CHECK_THAT(instrumented, grading::NoRace());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    // One rounding of a sum below 2.
    CHECK_THAT(d_a, grading::CloseTo(expected, {.absolute = 1.0 / (1 << 24)})
                        .when(grading::equals({a.begin(), a.end()}),
                              "These elements still hold their old values.")
                        .when(grading::times(2), "These are sums, not averages."));
    CHECK_THAT(d_a, grading::StaysInside());
    CHECK_THAT(instrumented, grading::LaunchesAtMost(2));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToDevice"));
    CHECK_THAT(instrumented, grading::CallsNot({"cudaMalloc", "cudaMallocAsync",
                                                "cudaMallocManaged", "cudaMallocPitch"}));
    if (side > 0) {
        const std::size_t tiles = (side + tile_side - 1) / tile_side;
        if (once) CHECK_THAT(d_a, grading::WrittenOnce());
        CHECK_THAT(d_a, grading::WrittenByThreads(a.size() / most_of_a_thread));
        CHECK_THAT(d_a, grading::WrittenByBlocks(tiles * (tiles + 1) / 4));
    }
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyHostToDevice"));
    return instrumented;
}

}  // namespace

TEST_CASE("averages matrices of one tile and of several") {
    check_symmetric_part(32);
    check_symmetric_part(64);
    check_symmetric_part(160);
}

TEST_CASE("averages matrices that cut tiles short") {
    for (const std::size_t n : grading::sizes({1, 2, 31, 33, 50, 97, 131}, 3, 250))
        check_symmetric_part(n);
}

TEST_CASE("handles a matrix without elements") { check_symmetric_part(0); }

// Sides that are multiples of 32 need all of their sectors. Others are misaligned and have
// short rows at the edge.
TEST_CASE("reads and writes whole sectors both ways") {
    const grading::Instrumented whole_tiles = check_symmetric_part(128);
    CHECK_THAT(whole_tiles, grading::GlobalEfficiencyAtLeast(0.95));
    const grading::Instrumented cut_short = check_symmetric_part(131);
    CHECK_THAT(cut_short, grading::GlobalEfficiencyAtLeast(0.6));
}

// The least is 8 bytes per element.
TEST_CASE("moves every element in once and out once") {
    constexpr std::size_t n = 192;
    const grading::Instrumented instrumented = check_symmetric_part(n, true);
    CHECK_THAT(instrumented, grading::BytesMovedAtMost(8.5 * n * n));
    for (const std::size_t side : grading::sizes({97, 131}, 2, 250, 1))
        check_symmetric_part(side, true);
}

TEST_CASE("has no bank conflicts") {
    for (const std::size_t n : {128, 77}) {
        const grading::Instrumented instrumented = check_symmetric_part(n);
        CHECK_THAT(instrumented, grading::UsesSharedMemory());
        CHECK_THAT(instrumented, grading::NoBankConflicts());
    }
}

#ifndef __CPU_DEVICE__
// Both move every element once in and once out. Scattered, it takes several times as long.
TEST_CASE("takes less than twice the time of a copy of the matrix") {
    constexpr int n = 8192;
    warpwise::DeviceBuffer<float> d_a(std::size_t{n} * n);
    warpwise::DeviceBuffer<float> d_copy(d_a.size());
    d_a.fill_bytes(1);
    const auto [answer, copy] = grading::measure_beside_copy(
        [&] { make_symmetric(d_a.data(), n); }, d_copy.data(), d_a.data(), d_a.bytes());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(grading::time_beside(answer, copy, "a copy of the matrix"),
               grading::AtMost(2,
                               "Do the lanes of a warp read and write neighboring elements "
                               "in each of the two tiles?"));
}
#endif
