#include "exercises/4_examples/nearest_neighbour_blocked/nearest_neighbour_blocked.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/figure.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/instrument.h"

#ifndef __CPU_DEVICE__
#include <cuda_runtime.h>

#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#endif

const grading::Exercise grading::exercise{"4_examples", "nearest_neighbour_blocked"};

namespace {

constexpr std::size_t tile = 128;  // in the model answer

/// Coordinates that are multiples of `unit`, and mostly no whole numbers. Squares of
/// distances have at most 24 bits, so that they are exact in float, in whatever order they
/// are computed: only the rule for ties decides.
std::vector<Point> make_points(std::size_t count, float unit = 1.0f / 64,
                               int largest = 1000) {
    const std::vector<int> values =
        grading::random_ints(3 * count, -largest, largest, count);
    std::vector<Point> points(count);
    for (std::size_t i = 0; i < count; ++i) {
        points[i] = {unit * static_cast<float>(values[3 * i]),
                     unit * static_cast<float>(values[3 * i + 1]),
                     unit * static_cast<float>(values[3 * i + 2])};
    }
    return points;
}

double squared_distance(const Point& a, const Point& b) {
    const double x = double{a.x} - b.x, y = double{a.y} - b.y, z = double{a.z} - b.z;
    return x * x + y * y + z * z;
}

/// For each point the closest one of those for which `sees(i, j)` holds; of equally close
/// ones the lowest number, or the highest.
enum class Ties { lowest, highest };
template <class Sees>
std::vector<double> neighbors(const std::vector<Point>& points, Sees sees,
                              Ties ties = Ties::lowest) {
    std::vector<double> nearest(points.size(), -1);
    for (std::size_t i = 0; i < points.size(); ++i) {
        double best = std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < points.size(); ++j) {
            const double distance = squared_distance(points[i], points[j]);
            if (j == i || distance > best || (distance == best && ties == Ties::lowest) ||
                !sees(i, j))
                continue;
            best = distance;
            nearest[i] = static_cast<double>(j);
        }
    }
    return nearest;
}
bool all(std::size_t /*i*/, std::size_t /*j*/) { return true; }

/// Some wrong element is a number that no point has.
bool names_no_point(const grading::MismatchedArray& mismatch) {
    const auto count = static_cast<double>(mismatch.got.size());
    return std::any_of(mismatch.wrong.begin(), mismatch.wrong.end(), [&](std::size_t i) {
        return mismatch.got[i] >= count && !grading::is_poison(mismatch.got[i]);
    });
}

void check_values(const std::vector<Point>& points,
                  const grading::Guarded<int>& d_nearest) {
    const std::size_t count = points.size(), in_full_tiles = count / tile * tile;
    const auto in_own_block = [](std::size_t i, std::size_t j) {
        return i / tile == j / tile;
    };
    const auto in_a_full_tile = [in_full_tiles](std::size_t, std::size_t j) {
        return j < in_full_tiles;
    };
    auto result = grading::EqualTo(neighbors(points, all))
                      .when(names_no_point,
                            "Some of these numbers belong to no point: the last one is " +
                                std::to_string(count - 1) +
                                ". What does the last tile hold after its last point?");
    if (count > 2000) {
        CHECK_THAT(d_nearest, result);
        return;
    }
    CHECK_THAT(
        d_nearest,
        std::move(result)
            .when(grading::equals(neighbors(points, all, Ties::highest)),
                  "These points are equally close. Which number does the task ask for?")
            .when(grading::equals(neighbors(points, in_own_block)),
                  "These are the closest ones of the same 128 points. Who looks at the "
                  "other tiles?")
            .when(grading::equals(neighbors(points, in_a_full_tile)),
                  "The points after the last full tile are nobody's neighbors."));
}

/// Point 0 in the middle of `count` - 1 others, whose squared distances from it are two
/// neighboring floats with the same root. Those with the larger one have lower numbers.
std::vector<Point> points_on_a_sphere(std::size_t count, std::uint64_t stream) {
    auto least = static_cast<int>(grading::random_size(14'000'000, 16'000'000, stream));
    // Numbers like 8 k + 1 and 8 k + 2 are sums of three squares.
    while (least % 8 != 1 ||
           std::sqrt(static_cast<float>(least)) != std::sqrt(static_cast<float>(least + 1)))
        ++least;
    std::vector<std::pair<int, Point>> found;
    std::size_t close = 0;
    for (std::uint64_t attempt = 0; found.size() + 1 < count || close == 0; ++attempt) {
        const std::vector<int> xy =
            grading::random_ints(2, -2000, 2000, 1'000'000 * stream + attempt);
        const int flat = xy[0] * xy[0] + xy[1] * xy[1];
        const int z =
            static_cast<int>(std::ceil(std::sqrt(static_cast<double>(least - flat))));
        const int squared = flat + z * z;
        if (squared > least + 1) continue;
        if (squared == least) ++close;
        found.push_back({squared, Point{static_cast<float>(xy[0]),
                                        static_cast<float>(xy[1]), static_cast<float>(z)}});
    }
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<Point> points = {{0, 0, 0}};
    for (const auto& [squared, point] : found)
        points.push_back({point.x / 64, point.y / 64, point.z / 64});
    return points;
}

/// Checks the neighbors and who found them, and returns what the kernels did.
grading::Instrumented check_neighbors(const std::vector<Point>& points) {
    INFO(grading::counted(points.size(), "point"));
    const grading::Guarded<Point> d_points(points);
    grading::Guarded<int> d_nearest(points.size());
    const grading::Instrumented instrumented = grading::instrument([&] {
        find_nearest(d_points.data(), static_cast<int>(points.size()), d_nearest.data());
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_values(points, d_nearest);
    CHECK_THAT(d_nearest, grading::StaysInside());
    if (points.size() > 1) {
        CHECK_THAT(d_nearest, grading::WrittenByThreads(points.size() / 4));
        CHECK_THAT(instrumented, grading::UsesSharedMemory());
    }
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CallsNot({"cudaMallocManaged", "cudaHostAlloc",
                                                "cudaHostRegister"}));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    return instrumented;
}

/// Checks the neighbors only, without instrumenting, which is cheap for many points.
void check_many_neighbors(std::size_t count) {
    INFO(grading::counted(count, "point"));
    const warpwise::Instrumentation not_instrumented({});
    const std::vector<Point> points = make_points(count);
    const grading::Guarded<Point> d_points(points);
    grading::Guarded<int> d_nearest(points.size());
    find_nearest(d_points.data(), static_cast<int>(points.size()), d_nearest.data());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_values(points, d_nearest);
}

}  // namespace

TEST_CASE("finds the neighbors of full blocks") {
    for (const std::size_t count : {128, 256, 1024}) check_neighbors(make_points(count));
}

TEST_CASE("handles any number of points") {
    for (const std::size_t count :
         grading::sizes({0, 1, 2, 31, 33, 127, 129, 300, 1009}, 3, 1500)) {
        check_neighbors(make_points(count));
    }
}

TEST_CASE("handles more points than shared memory holds") {
    check_many_neighbors(grading::random_size(4200, 5200));
}

TEST_CASE("takes the lowest number of several that are equally close") {
    for (const std::size_t count : {128, 300, 500})
        check_neighbors(make_points(count, 0.5f, 2));
    check_neighbors(std::vector<Point>(200, Point{1.5f, 2.5f, 3.5f}));
}

TEST_CASE("tells apart distances that are nearly equal") {
    for (std::uint64_t stream = 1; stream <= 3; ++stream)
        check_neighbors(points_on_a_sphere(10, stream));
}

TEST_CASE("handles points that are far apart or close together") {
    // Squares of distances reach 1e37, or begin at 1e-36.
    for (const float unit : {0x1p50f, 0x1p-60f}) {
        for (const std::size_t count : {2, 100, 300})
            check_neighbors(make_points(count, unit));
    }
}

// Each warp for itself moves 3.1 MB. With blocks of 128 it is 0.34 MB, of 64 0.63 MB, and
// less with wider loads.
TEST_CASE("moves few bytes from and to global memory") {
    const grading::Instrumented instrumented = check_neighbors(make_points(1024));
    CHECK_THAT(instrumented, grading::BytesMovedAtMost(700e3));
}

#ifndef __CPU_DEVICE__
namespace {

// One thread per point, all points from global memory, as the exercise begins.
__global__ void find_plainly(const Point* points, int count, int* nearest) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Point own = points[i];
    float best = INFINITY;
    int best_index = -1;
    for (int j = 0; j < count; ++j) {
        const float x = own.x - points[j].x, y = own.y - points[j].y,
                    z = own.z - points[j].z;
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
         {[&] {
              find_plainly<<<(count + 127) / 128, 128>>>(d_points.data(), count,
                                                         d_nearest.data());
          },
          false}});
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    INFO(
        "Three loads for each pair, if only from a cache, take as long as the arithmetic.");
    CHECK_THAT(grading::time_beside(timings[0], timings[1], "a kernel without tiles"),
               grading::AtMost(0.95,
                               "How many threads use a point that a block has loaded "
                               "once?"));
}
#endif
