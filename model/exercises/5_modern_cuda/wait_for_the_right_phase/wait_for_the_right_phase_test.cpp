#include "exercises/5_modern_cuda/wait_for_the_right_phase/wait_for_the_right_phase.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

const grading::Exercise grading::exercise{"5_modern_cuda", "wait_for_the_right_phase"};

namespace {

constexpr std::size_t n = readings_per_turn;

/// `around`: how many readings of a sum come before its own, and as many after. `circle`:
/// the readings of a turn are on a circle; otherwise those outside of the turn count 0.
std::vector<double> sums_of(const std::vector<int>& readings, bool circle) {
    std::vector<double> sums(readings.size());
    for (std::size_t i = 0; i < readings.size(); ++i) {
        const std::size_t turn = i / n * n, k = i % n;
        for (std::size_t j = k + n - 2; j <= k + n + 2; ++j)
            if (circle || (j >= n && j < 2 * n)) sums[i] += readings[turn + j % n];
    }
    return sums;
}

void check_turns(std::size_t turns, unsigned blocks) {
    const std::vector<int> readings =
        grading::random_ints(turns * n, 1, 10000, turns * 100 + blocks);
    INFO(grading::counted(turns, "turn")
         << ", at most " << grading::counted(blocks, "block"));
    const grading::Guarded<int> d_readings(readings);
    grading::Guarded<int> d_sums(turns * n);
    const grading::Instrumented instrumented = grading::instrument([&] {
        smooth_turns(d_readings.data(), static_cast<unsigned>(turns), d_sums.data(),
                     blocks);
    });
    REQUIRE_THAT(grading::finish(),
                 grading::Succeeds()
                     .when({"data race", "asynchronous copy"},
                           "Which phase of which barrier tells that this copy has landed? "
                           "How many phases of it have completed before?")
                     .when({"missing arrival"},
                           "How many threads arrive at this barrier in each phase, and "
                           "how many phases has it by then?"));
    CHECK_THAT(d_sums, grading::EqualTo(sums_of(readings, true))
                           .when(grading::equals(sums_of(readings, false)),
                                 "Which readings come before number 0, and after the "
                                 "last one?"));
    CHECK_THAT(d_readings, grading::Unchanged());
    if (turns == 0) return;
    CHECK_THAT(d_sums, grading::WrittenOnce());
    CHECK_THAT(d_sums,
               grading::WrittenByThreads(std::min<std::size_t>(blocks, turns) * 32));
    CHECK_THAT(d_readings, grading::ReadByBlocks(std::min<std::size_t>(blocks, turns)));
    CHECK_THAT(instrumented, grading::LaunchesExactly(1));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyHostToDevice"));
    CHECK_THAT(instrumented, grading::BytesMovedAtMost(1.01 * 2 * sizeof(int) *
                                                       static_cast<double>(turns * n)));
}

}  // namespace

TEST_CASE("smooths a single turn") { check_turns(1, 1); }

TEST_CASE("smooths two turns in one block") { check_turns(2, 1); }

TEST_CASE("smooths many turns in one block") {
    for (const std::size_t turns : {3, 4, 5, 6, 9, 32}) check_turns(turns, 1);
}

TEST_CASE("handles no turn at all") { check_turns(0, 4); }

TEST_CASE("smooths turns in several blocks") {
    for (const std::size_t turns : grading::sizes({7, 8, 31, 50}, 2, 100))
        for (const unsigned blocks : {3u, 8u}) check_turns(turns, blocks);
}
