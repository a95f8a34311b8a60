#include "exercises/1_basics_and_pi/grid_stride/grid_stride.h"

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"

const grading::Exercise grading::exercise{"1_basics_and_pi", "grid_stride"};

namespace {

// All values are small whole numbers, so that the results are exact and show how often an element was done.
constexpr float factor = 3;
float x_of(int i) { return static_cast<float>(1 + i % 100); }
float y_of(int i) { return static_cast<float>(i % 7); }

/// "That is: elements 0 to 31 were never done; elements 64 to 95 done 2 times", or nothing when all were done once.
std::string wrong_visits(const std::vector<float>& y) {
    std::map<int, std::vector<std::size_t>> elements_by_visits;
    for (std::size_t i = 0; i < y.size(); ++i) {
        const int at = static_cast<int>(i);
        const float visits = (y[i] - y_of(at)) / (factor * x_of(at));
        const bool whole = visits >= 0 && visits < 1e6f && visits == static_cast<float>(static_cast<int>(visits));
        if (whole && visits != 1) elements_by_visits[static_cast<int>(visits)].push_back(i);
    }
    std::string text;
    for (const auto& [visits, elements] : elements_by_visits) {
        text += text.empty() ? "That is: " : "; ";
        text += grading::name_elements(elements);
        if (visits == 0) {
            text += elements.size() == 1 ? " was never done" : " were never done";
        } else {
            text += " done " + std::to_string(visits) + " times";
        }
    }
    return text;
}

void check_sum(int n, int blocks, int threads_per_block) {
    INFO(n << " elements, launched with <<<" << blocks << ", " << threads_per_block << ">>>");
    std::vector<float> x;
    std::vector<float> y;
    std::vector<double> expected;
    for (int i = 0; i < n; ++i) {
        x.push_back(x_of(i));
        y.push_back(y_of(i));
        expected.push_back(factor * x_of(i) + y_of(i));
    }
    grading::Guarded<float> d_x(x);
    grading::Guarded<float> d_y(y);
    scale_and_add(factor, d_x.data(), d_y.data(), n, blocks, threads_per_block);
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    const std::string visits = wrong_visits(d_y.download());
    CHECK_THAT(d_y, grading::EqualTo(expected, visits));
    CHECK_THAT(d_y, grading::StaysInside("Does the loop end before the index n?"));
    CHECK_THAT(d_x, grading::Unchanged());
}

}  // namespace

TEST_CASE("does one element a thread when the grid is large enough") {
    check_sum(256, 4, 64);
    check_sum(1000, 4, 256);
}

TEST_CASE("lets one block do a long array") { check_sum(96, 1, 32); }

TEST_CASE("shares the elements between several blocks") {
    check_sum(64, 2, 32);
    check_sum(4096, 4, 64);
}

TEST_CASE("handles sizes that the grid does not divide") {
    check_sum(100, 3, 32);
    check_sum(1009, 5, 96);
}

TEST_CASE("lets a single thread do everything") { check_sum(1009, 1, 1); }

TEST_CASE("handles arrays about as short as a warp") {
    for (int n : {1, 31, 32, 33}) check_sum(n, 2, 32);
}

TEST_CASE("stays inside the arrays") {
    check_sum(1009, 2, 64);
    check_sum(5, 8, 128);
}

TEST_CASE("does nothing for empty arrays") { check_sum(0, 2, 32); }

TEST_CASE("covers a million elements with a small grid") { check_sum((1 << 20) + 17, 16, 128); }
