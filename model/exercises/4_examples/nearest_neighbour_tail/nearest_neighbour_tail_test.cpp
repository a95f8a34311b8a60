#include "exercises/4_examples/nearest_neighbour_tail/nearest_neighbour_tail.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/instrument.h"

const grading::Exercise grading::exercise{"4_examples", "nearest_neighbour_tail"};

namespace {

constexpr std::size_t tile = 128;

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
        CHECK_THAT(d_nearest, grading::WrittenByThreads(points.size()));
        CHECK_THAT(d_nearest, grading::WrittenByBlocks((points.size() + 127) / 128));
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

TEST_CASE("finds the neighbors in full tiles") {
    for (const std::size_t tiles : {1, 2, 4}) check_neighbors(make_points(tiles * tile));
}

TEST_CASE("handles a single tile that is short") {
    for (const std::size_t count : {100, 127, 65, 33, 31, 3, 2})
        check_neighbors(make_points(count));
}

TEST_CASE("handles a last tile that is short") {
    for (const std::size_t count :
         grading::sizes({129, 130, 200, 255, 257, 300, 500, 1009}, 3, 1500)) {
        check_neighbors(make_points(count));
    }
}

TEST_CASE("takes the lowest number of several that are equally close") {
    for (const std::size_t count : {128, 130, 300, 400})
        check_neighbors(make_points(count, 0.5f, 4));
    check_neighbors(std::vector<Point>(200, Point{1.5f, 2.5f, 3.5f}));
    check_neighbors(std::vector<Point>(300, Point{0, 0, 0}));
}

TEST_CASE("handles points that are far apart or close together") {
    // Squares of distances reach 1e37, or begin at 1e-36: no number is large enough for a
    // place without a point.
    for (const float unit : {0x1p50f, 0x1p-60f}) {
        for (const std::size_t count : {2, 100, 300})
            check_neighbors(make_points(count, unit));
    }
    for (const std::size_t count : {100, 200}) {
        std::vector<Point> points = make_points(count);
        for (Point& point : points)
            point = {point.x + 1000, point.y + 1000,
                     point.z + 1000};  // the origin is far away
        check_neighbors(points);
    }
}

TEST_CASE("finds no neighbor for a single point") {
    check_neighbors({{1.5f, 2.5f, 3.5f}});
    check_neighbors({{0x1p60f, 0, 0}});
    check_neighbors({});
}

TEST_CASE("handles thousands of points") {
    check_many_neighbors(grading::random_size(4200, 5200));
}

// Each of the 8 blocks loads all points once, and each thread its own; in pieces of 12
// bytes, that is three loads which touch the same sectors. Without the tile it is nine
// times as much.
TEST_CASE("keeps the tile") {
    const grading::Instrumented instrumented = check_neighbors(make_points(1009));
    CHECK_THAT(instrumented, grading::BytesMovedAtMost(700e3));
}
