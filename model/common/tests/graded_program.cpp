// A grader whose answer is wrong, for tests of what graders print. Of its five tests three fail.
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"

const grading::Exercise grading::exercise{"1_basics", "a_grader"};

namespace {

void check(std::size_t n, std::size_t right) {
    INFO(n << " elements");
    std::vector<double> expected(n, 1);
    std::vector<int> d_out(n, 2);
    for (std::size_t i = 0; i < right; ++i) d_out[i] = 1;
    CHECK_THAT(d_out, grading::EqualTo(expected).when(grading::only_tail_wrong(), "Who writes the last four?"));
}

}  // namespace

TEST_CASE("writes nothing for an empty array") { check(0, 0); }
TEST_CASE("writes the tail") { check(16, 12); }
TEST_CASE("says \"quoted\", and more") { check(8, 0); }
TEST_CASE("writes the rest, all of it") { check(8, 8); }
TEST_CASE("writes all") { check(8, 0); }
