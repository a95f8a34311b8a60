#include "exercises/4_examples/nearest_neighbour_blocked/nearest_neighbour_blocked.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/watched.h"
#include "common/helpers/inputs.h"

#ifndef __CPU_DEVICE__
#include <cuda_runtime.h>

#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#endif

const grading::Exercise grading::exercise{"4_examples", "nearest_neighbour_blocked"};

namespace {

// Whole numbers: squares of distances are exact, in whatever order they are computed.
std::vector<Point> make_points(std::size_t count, int largest = 1000) {
    const std::vector<int> values = warpwise::uniform_integers(3 * count, count, -largest, largest);
    std::vector<Point> points(count);
    for (std::size_t i = 0; i < count; ++i) {
        points[i] = {static_cast<float>(values[3 * i]), static_cast<float>(values[3 * i + 1]),
                     static_cast<float>(values[3 * i + 2])};
    }
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

void check_neighbors(const std::vector<Point>& points, const std::string& hint) {
    INFO(points.size() << " points");
    const grading::Guarded<Point> d_points(points);
    grading::Guarded<int> d_nearest(points.size());
    find_nearest(d_points.data(), static_cast<int>(points.size()), d_nearest.data());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_nearest, grading::WrittenEverywhere("Does every point have a thread?"));
    CHECK_THAT(d_nearest, grading::EqualTo(expected_neighbors(points), hint));
    CHECK_THAT(d_nearest, grading::StaysInside("There is one neighbor a point."));
}

}  // namespace

TEST_CASE("finds the neighbors of full blocks") {
    for (const std::size_t count : {128, 256, 1024}) {
        check_neighbors(make_points(count), "Which number has the point at place k of a tile?");
    }
}

TEST_CASE("handles any number of points") {
    for (const std::size_t count : {0, 1, 2, 31, 33, 127, 129, 300, 1009}) {
        check_neighbors(make_points(count), "How many points does the last tile have?");
    }
}

TEST_CASE("takes the lowest number of several that are equally close") {
    for (const std::size_t count : {128, 300, 500}) {
        check_neighbors(make_points(count, 2), "Of equally close points the lowest number counts.");
    }
    check_neighbors(std::vector<Point>(200, Point{1, 2, 3}), "Of equally close points the lowest number counts.");
}

// Each warp for itself moves 3.1 MB. With blocks of 128 it is 0.34 MB, of 64 0.63 MB, and less with wider loads.
TEST_CASE("moves few bytes from and to global memory") {
    const std::string hint = "How many threads share what a block has read? And does it read each point once?";
    const std::vector<Point> points = make_points(1024);
    const grading::Guarded<Point> d_points(points);
    grading::Guarded<int> d_nearest(points.size());
    const grading::Watched watched =
        grading::watch([&] { find_nearest(d_points.data(), static_cast<int>(points.size()), d_nearest.data()); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(watched, grading::BytesMovedAtMost(700e3, hint));
    CHECK_THAT(d_nearest, grading::EqualTo(expected_neighbors(points)));
}

#ifndef __CPU_DEVICE__
namespace {

// A thread a point, all points from global memory, as the exercise begins.
__global__ void find_plainly(const Point* points, int count, int* nearest) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Point own = points[i];
    float best = INFINITY;
    int best_index = -1;
    for (int j = 0; j < count; ++j) {
        const float x = own.x - points[j].x, y = own.y - points[j].y, z = own.z - points[j].z;
        const float distance = x * x + y * y + z * z;
        if (distance < best && j != i) {
            best = distance;
            best_index = j;
        }
    }
    nearest[i] = best_index;
}

}  // namespace

TEST_CASE("takes less time than a kernel without shared memory") {
    constexpr int count = 1 << 17;
    const warpwise::DeviceBuffer<Point> d_points(make_points(count));
    warpwise::DeviceBuffer<int> d_nearest(count);
    const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
        {{[&] { find_nearest(d_points.data(), count, d_nearest.data()); }, false},
         {[&] { find_plainly<<<(count + 127) / 128, 128>>>(d_points.data(), count, d_nearest.data()); }, false}});
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    INFO("your kernel: " << timings[0].median * 1e3 << " ms; plain: " << timings[1].median * 1e3 << " ms");
    INFO("Three loads for each pair, if only from a cache, take as long as the arithmetic.");
    CHECK(timings[0].median <= 0.95 * timings[1].median);
}
#endif
