#include "exercises/4_examples/nearest_neighbour_tail/nearest_neighbour_tail.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/helpers/inputs.h"

const grading::Exercise grading::exercise{"4_examples", "nearest_neighbour_tail"};

namespace {

constexpr std::size_t tile = 128;

// Whole numbers: squares of distances are exact, in whatever order they are computed. Point 0 is near the origin.
std::vector<Point> make_points(std::size_t count, int largest = 1000) {
    const std::vector<int> values = warpwise::uniform_integers(3 * count, count, 200, 200 + largest);
    std::vector<Point> points(count);
    for (std::size_t i = 0; i < count; ++i) {
        points[i] = {static_cast<float>(values[3 * i]), static_cast<float>(values[3 * i + 1]),
                     static_cast<float>(values[3 * i + 2])};
    }
    if (count > 0) points[0] = {10, 10, 10};
    return points;
}

std::vector<double> expected_neighbors(const std::vector<Point>& points) {
    std::vector<double> nearest(points.size(), -1);
    for (std::size_t i = 0; i < points.size(); ++i) {
        double best = 1e30;
        for (std::size_t j = 0; j < points.size(); ++j) {
            const double x = points[i].x - points[j].x, y = points[i].y - points[j].y, z = points[i].z - points[j].z;
            const double distance = x * x + y * y + z * z;
            if (j == i || distance >= best) continue;
            best = distance;
            nearest[i] = static_cast<double>(j);
        }
    }
    return nearest;
}

// What the numbers of the neighbors tell about the mistake.
std::string likely_mistake(const grading::Guarded<int>& d_nearest) {
    const std::vector<int> nearest = d_nearest.download();
    const auto count = static_cast<int>(nearest.size());
    for (int i = 0; i < count; ++i) {
        const int index = nearest[static_cast<std::size_t>(i)];
        if (index >= count && index < count + static_cast<int>(tile)) {
            return "Point " + std::to_string(i) + " has neighbor " + std::to_string(index) +
                   ", a number that no point has: the last is " + std::to_string(count - 1) +
                   ".\nWhat does the last tile hold behind its last point?";
        }
    }
    return "Is every point looked at, and by every other one? Of equally close ones the lowest number counts.";
}

void check_neighbors(const std::vector<Point>& points) {
    INFO(points.size() << " points");
    const grading::Guarded<Point> d_points(points);
    grading::Guarded<int> d_nearest(points.size());
    find_nearest(d_points.data(), static_cast<int>(points.size()), d_nearest.data());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_nearest, grading::WrittenEverywhere("Does every point have a thread?"));
    CHECK_THAT(d_nearest, grading::EqualTo(expected_neighbors(points), likely_mistake(d_nearest)));
    CHECK_THAT(d_nearest, grading::StaysInside("There is one neighbor a point."));
}

}  // namespace

TEST_CASE("finds the neighbors in full tiles") {
    for (const std::size_t tiles : {1, 2, 4}) check_neighbors(make_points(tiles * tile));
}

TEST_CASE("handles a single tile that is short") {
    for (const std::size_t count : {100, 127, 65, 33, 31, 3, 2}) check_neighbors(make_points(count));
}

TEST_CASE("handles a last tile that is short") {
    for (const std::size_t count : {129, 130, 200, 255, 257, 300, 500, 1009}) check_neighbors(make_points(count));
}

TEST_CASE("takes the lowest number of several that are equally close") {
    for (const std::size_t count : {128, 130, 300, 400}) check_neighbors(make_points(count, 4));
    check_neighbors(std::vector<Point>(200, Point{1, 2, 3}));
}

TEST_CASE("finds no neighbor for a single point") {
    check_neighbors({{1, 2, 3}});
    check_neighbors({});
}
