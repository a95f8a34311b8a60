#include "exercises/3_optimization/transpose_both_ways/transpose_both_ways.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/watched.h"

#ifndef __CPU_DEVICE__
#include <cuda_runtime.h>

#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#endif

const grading::Exercise grading::exercise{"3_optimization", "transpose_both_ways"};

namespace {

// Whole numbers below 2^23, each another one, in no order that a transpose would leave as it is. Averages are exact.
std::vector<float> matrix_of(std::size_t n) {
    std::vector<float> a(n * n);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>((i * 7919 + 13) % 8388593);
    return a;
}

// Checks the symmetric part, and returns what the kernels did.
grading::Watched check_symmetric_part(int n) {
    INFO("a matrix of " << n << " x " << n);
    const std::size_t side = static_cast<std::size_t>(n);
    const std::vector<float> a = matrix_of(side);
    std::vector<double> expected(a.size());
    for (std::size_t row = 0; row < side; ++row) {
        for (std::size_t col = 0; col < side; ++col) {
            expected[row * side + col] = (static_cast<double>(a[row * side + col]) + a[col * side + row]) / 2;
        }
    }
    grading::Guarded<float> d_a(a);
    d_a.show_as_rows_of(side);
    grading::Watched watched = grading::watch([&] { make_symmetric(d_a.data(), n); });
    CHECK_THAT(watched, grading::NoRace("In place, nobody may write an element before all have read it who need it, "
                                        "and\neach pair of tiles belongs to one block."));
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_a,
               grading::EqualTo(expected, "Which element of the other tile belongs to row y, column x of this one?"));
    CHECK_THAT(d_a, grading::StaysInside("At the edge one tile is cut short on the right, its mirror image below."));
    return watched;
}

}  // namespace

TEST_CASE("averages matrices of one tile and of several") {
    check_symmetric_part(32);
    check_symmetric_part(64);
    check_symmetric_part(160);
}

TEST_CASE("averages matrices that cut tiles short") {
    for (const int n : {1, 2, 31, 33, 50, 97, 131}) check_symmetric_part(n);
}

TEST_CASE("handles a matrix without elements") { check_symmetric_part(0); }

// Sides that are multiples of 32: 4 sectors a request. Others are misaligned and have short rows: one or two more.
TEST_CASE("reads and writes whole sectors both ways") {
    const std::string hint = "Do the 32 lanes of each load and of each store use elements of one row?";
    CHECK_THAT(check_symmetric_part(128), grading::SectorsPerRequestAtMost(4, hint));
    CHECK_THAT(check_symmetric_part(131), grading::SectorsPerRequestAtMost(6, hint));
}

// The least is 8 bytes an element; there is room for tiles on the diagonal that are done twice.
TEST_CASE("moves every element in once and out once") {
    constexpr int n = 192;
    CHECK_THAT(
        check_symmetric_part(n),
        grading::BytesMovedAtMost(10.0 * n * n, "A block that has loaded two tiles has what it needs to store two."));
}

TEST_CASE("has no bank conflicts") {
    const std::string hint = "A tile that is read across has its 32 lanes in one column.";
    CHECK_THAT(check_symmetric_part(128), grading::NoBankConflicts(hint));
    CHECK_THAT(check_symmetric_part(77), grading::NoBankConflicts(hint));
}

#ifndef __CPU_DEVICE__
// Both move every element once in and once out. Scattered, it takes several times as long.
TEST_CASE("takes less than twice the time of a copy of the matrix") {
    constexpr int n = 8192;
    warpwise::DeviceBuffer<float> d_a(std::size_t{n} * n);
    warpwise::DeviceBuffer<float> d_copy(d_a.size());
    d_a.fill_bytes(1);
    const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
        {{[&] { make_symmetric(d_a.data(), n); }, false},
         {[&] { warpwise::check(cudaMemcpyAsync(d_copy.data(), d_a.data(), d_a.bytes(), cudaMemcpyDeviceToDevice)); },
          false}});
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    const double share = timings[0].median / timings[1].median;
    INFO("your kernel: " << timings[0].median * 1e6 << " us; a copy: " << timings[1].median * 1e6 << " us");
    INFO("Scattered accesses move eight times the bytes, and conflicts in shared memory take pass after pass.");
    CHECK(share <= 2.0);
}
#endif
