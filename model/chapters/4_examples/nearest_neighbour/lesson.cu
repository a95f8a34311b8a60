// Problem: for each of n points in space, which other point is the closest?
//
// The plain way compares all pairs, n * n of them, and each is a handful of additions and
// multiplications on points that are few: 2^17 points are 1.5 MB. So this is a lesson of
// the other kind: not bytes are the limit but instructions. The steps first take the points
// to where they cost little to read, and then take one instruction after the other out of
// the innermost loop.
//
// The answer is an index, and indices are right or wrong. Three rules make it unique. Of
// several points at the same distance the one with the lowest index counts. Distances are
// squared, and computed in float in one fixed order, with the fused multiply-adds written
// out (fmaf): left alone, nvcc fuses where it likes and the host's compiler does not, and
// two points that are nearly equally far could change places. A point that is alone has no
// neighbor: its index is kNone. Coordinates have to be finite, and so small that their
// squares do not overflow.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "chapters/4_examples/nearest_neighbour/kernels.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace examples {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

// Times that the blocks fill the device, about, from step 6 on.
constexpr unsigned kWaves = 16;

// The reference goes another way. It sorts the points by x and looks from each one to the
// right and to the left, as far as x alone is not farther away than the best point so far.
// That is exact in float, too: fmaf adds squares to x * x, and no rounding makes the sum
// smaller than x * x.
std::vector<unsigned> reference(const std::vector<Point>& points) {
    std::vector<unsigned> order(points.size()), nearest(points.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [&](unsigned i, unsigned j) { return points[i].x < points[j].x; });
    warpwise::parallel_for(points.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t place = begin; place < end; ++place) {
            const Point own = points[order[place]];
            float best = INFINITY;
            unsigned best_index = kNone;
            const auto look_at = [&](unsigned index) {
                const float x = own.x - points[index].x;
                if (x * x > best) return false;
                const float distance = squared_distance(own, points[index]);
                if (distance < best || (distance == best && index < best_index))
                    best = distance, best_index = index;
                return true;
            };
            for (std::size_t k = place + 1; k < order.size() && look_at(order[k]); ++k) {
            }
            for (std::size_t k = place; k > 0 && look_at(order[k - 1]); --k) {
            }
            nearest[order[place]] = best_index;
        }
    });
    return nearest;
}

std::vector<Point> random_points(std::size_t count, float offset = 0) {
    const std::vector<float> values =
        warpwise::uniform<float>(3 * count, 41, offset - 1, offset + 1);
    std::vector<Point> points;
    for (std::size_t i = 0; i < count; ++i)
        points.push_back({values[3 * i], values[3 * i + 1], values[3 * i + 2]});
    return points;
}

// The points in both layouts, 12 and 16 bytes each, and the answer.
struct Cloud {
    unsigned count;
    std::vector<Point> points;
    std::vector<unsigned> expected;
    DeviceBuffer<Point> d_points;
    DeviceBuffer<float4> d_points4;
    DeviceBuffer<Key> d_keys;
    DeviceBuffer<unsigned> d_nearest;
    bool expanded = false;  // set by step 8: distances are rounded otherwise

    explicit Cloud(const warpwise::Size& size) : Cloud(random_points(checked(size[0]))) {}
    explicit Cloud(std::vector<Point> of_points)
        : count(static_cast<unsigned>(of_points.size())),
          points(std::move(of_points)),
          expected(reference(points)),
          d_points(points),
          d_points4(count),
          d_keys(count),
          d_nearest(count) {
        std::vector<float4> wide;
        for (const Point& point : points) wide.push_back({point.x, point.y, point.z, 0});
        d_points4.upload(wide);
    }

    void poison() {
        d_nearest.fill_bytes(0xEE);  // 0xFF would be kNone
        d_keys.fill_bytes(0xEE);
        expanded = false;
    }

    warpwise::Comparison compare() {
        const std::vector<unsigned> nearest = d_nearest.download();
        if (!expanded)
            return warpwise::compare(nearest, {expected.begin(), expected.end()});
        // A neighbor has to be as close as the expected one, up to the rounding of |a|^2 -
        // 2ab + |b|^2.
        double largest = 0;
        for (const Point& point : points)
            largest = std::max(largest, true_distance(point, Point{0, 0, 0}));
        std::vector<double> got, least;
        for (unsigned i = 0; i < count; ++i) {
            const bool none = expected[i] == kNone;
            least.push_back(none ? 0 : true_distance(points[i], points[expected[i]]));
            got.push_back(none && nearest[i] == kNone ? 0
                          : nearest[i] < count && nearest[i] != i
                              ? true_distance(points[i], points[nearest[i]])
                              : NAN);
        }
        return warpwise::compare(
            got, least, {.absolute = 16 * std::numeric_limits<float>::epsilon() * largest});
    }

    unsigned wrong() const {
        const std::vector<unsigned> nearest = d_nearest.download();
        unsigned wrong = 0;
        for (unsigned i = 0; i < count; ++i) wrong += nearest[i] != expected[i];
        return wrong;
    }

    double pairs() const { return static_cast<double>(count) * count; }
    warpwise::Work work() const {
        return {.bytes = 16.0 * count, .operations = 8 * pairs()};
    }
    std::vector<warpwise::Figure> figures() {
        return {{"other point", static_cast<double>(wrong())}};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return size[0] * (sizeof(Point) + sizeof(float4) + sizeof(Key) + sizeof(unsigned));
    }

private:
    static std::size_t checked(std::size_t count) {
        if (count > std::size_t{1} << 30)
            throw warpwise::Refusal("nearest_neighbour takes at most 2^30 points");
        return count;
    }
    static double true_distance(const Point& a, const Point& b) {
        return std::pow(double{a.x} - b.x, 2) + std::pow(double{a.y} - b.y, 2) +
               std::pow(double{a.z} - b.z, 2);
    }
};

// ---- step 1 -----------------------------------------------------------------------------

// Step 1, two loops on one core. On a GPU it is not among the steps, because its 2^17
// points would take minutes; there the table begins with step 2, and the last table of the
// lesson has the time of this one, scaled up from fewer points.
void serial(Cloud& problem) {
    std::vector<unsigned> nearest(problem.count);
    for (unsigned i = 0; i < problem.count; ++i) {
        float best = INFINITY;
        unsigned best_index = kNone;
        for (unsigned j = 0; j < problem.count; ++j) {
            const float distance = squared_distance(problem.points[i], problem.points[j]);
            if (distance < best && j != i) best = distance, best_index = j;
        }
        nearest[i] = best_index;
    }
    problem.d_nearest.upload(nearest);
}

// ---- launches ---------------------------------------------------------------------------

template <auto Kernel>
void thread_per_point(Cloud& problem) {
    if (problem.count == 0) return;
    const auto* points = [&] {
        if constexpr (std::is_same_v<decltype(Kernel),
                                     void (*)(const Point*, unsigned, unsigned*)>) {
            return problem.d_points.data();
        } else {
            return problem.d_points4.data();
        }
    }();
    Kernel<<<warpwise::blocks_for(problem.count, kThreads), kThreads>>>(
        points, problem.count, problem.d_nearest.data());
    warpwise::check_launch();
}

// The grid of steps 6 to 8: x goes over the points, y over the tiles of those that they are
// compared with.
struct Split {
    dim3 grid;
    unsigned tiles_per_block;
};
template <class Kernel>
Split split(Kernel kernel, unsigned count, unsigned threads, unsigned points,
            unsigned tile) {
    const unsigned blocks = warpwise::blocks_for(count, threads * points);
    const unsigned tiles = warpwise::blocks_for(count, tile);
    const unsigned wanted =
        std::max(1u, kWaves * warpwise::blocks_that_fill(kernel, threads) / blocks);
    const unsigned tiles_per_block = warpwise::blocks_for(tiles, std::min(wanted, 65535u));
    return {dim3(blocks, warpwise::blocks_for(tiles, tiles_per_block)), tiles_per_block};
}

void several(Cloud& problem, const Split& shape) {
    problem.d_keys.fill_bytes(0xFF);
    nearest_several<<<shape.grid, kThreads>>>(problem.d_points4.data(), problem.count,
                                              shape.tiles_per_block, problem.d_keys.data());
    warpwise::check_launch();
    index_of_key<<<warpwise::blocks_for(problem.count, kThreads), kThreads>>>(
        problem.d_keys.data(), problem.count, problem.d_nearest.data());
    warpwise::check_launch();
}

void all_in_a_block(Cloud& problem) {
    if (problem.count == 0) return;
    several(problem, {dim3(warpwise::blocks_for(problem.count, kThreads * kPoints)),
                      warpwise::blocks_for(problem.count, kThreads)});
}

void split_others(Cloud& problem) {
    if (problem.count == 0) return;
    several(problem, split(nearest_several, problem.count, kThreads, kPoints, kThreads));
}

template <class Form>
void minimum(Cloud& problem) {
    if (problem.count == 0) return;
    const auto [grid, tiles_per_block] =
        split(nearest_minimum<Form>, problem.count, kBlockThreads, kOwn, kTile);
    problem.d_keys.fill_bytes(0xFF);
    nearest_minimum<Form><<<grid, kBlockThreads>>>(problem.d_points4.data(), problem.count,
                                                   tiles_per_block, problem.d_keys.data());
    warpwise::check_launch();
    find_in_tile<Form><<<warpwise::blocks_for(problem.count, kThreads / 32), kThreads>>>(
        problem.d_points4.data(), problem.count, problem.d_keys.data(),
        problem.d_nearest.data());
    warpwise::check_launch();
}

void expanded(Cloud& problem) {
    minimum<Expanded>(problem);
    problem.expanded = true;
}

// ---- what each step asks for ------------------------------------------------------------

// Instructions of the innermost loop for a pair, all that is in it counted: read from the
// machine code that nvcc 13.0 makes for compute capability 9.0 (cuobjdump -sass);
// instructions of the loop, divided by the pairs of a pass. Loads: of the 32 points of a
// warp, for 1024 others; 0 where they depend on the device.
struct Method {
    const char* name;
    const char* change;
    void (*run)(Cloud&);
    double instructions;
    unsigned global_loads, shared_loads;
};
const std::vector<Method> methods = {
    {"nearest_global", "one thread per point, global memory",
     thread_per_point<nearest_global>, 56 / 4.0, 3075, 0},
    {"nearest_shared", "128 points at a time in shared memory",
     thread_per_point<nearest_shared>, 185 / 16.0, 27, 3072},
    {"nearest_float4", "a point is one load of 16 bytes", thread_per_point<nearest_float4>,
     48 / 4.0, 9, 1024},
    {"nearest_several", "eight points per thread", all_in_a_block, 87 / 8.0, 3, 128},
    {"nearest_split", "blocks share the other points", split_others, 87 / 8.0, 0, 128},
    {"nearest_minimum", "first the distance, then the index", minimum<Direct>, 1367 / 192.0,
     0, 128},
    {"nearest_expanded", "|a|^2 - 2ab + |b|^2", expanded, 791 / 192.0, 0, 128},
};

// Points that are hard: alone, in the same place, equally far from each other, in clusters,
// on a line, in any number.
void expect_hard_points(warpwise::Lesson& lesson) {
    std::vector<std::pair<std::string, std::vector<Point>>> clouds = {
        {"one point", {{1, 2, 3}}},
        {"two points", {{1, 2, 3}, {-1, 0, 5}}},
        {"two points in one place", {{1, 2, 3}, {1, 2, 3}}},
        {"300 points in one place", std::vector<Point>(300, {0.25f, 0.5f, 0.75f})}};
    std::vector<Point> lattice, pairs, clusters, line;
    for (unsigned i = 0; i < 343; ++i) {
        const float x = static_cast<float>(i % 7), y = static_cast<float>(i / 7 % 7),
                    z = static_cast<float>(i / 49);
        lattice.push_back({x, y, z});
        line.push_back({static_cast<float>(i), 0, 0});
    }
    const std::vector<Point> random = random_points(500);
    for (unsigned i = 0; i < random.size(); ++i) {
        pairs.push_back(random[i % 250]);  // i and i + 250 are in one place
        const Point& center = random[i % 5];
        clusters.push_back(
            {center.x + random[i].x * 1e-3f, center.y + random[i].y * 1e-3f, center.z});
    }
    clouds.insert(clouds.end(), {{"a lattice", lattice},
                                 {"a line", line},
                                 {"pairs", pairs},
                                 {"clusters", clusters}});
    for (const auto& [name, points] : clouds) {
        Cloud problem(points);
        for (const Method& method : methods) {
            problem.poison();
            method.run(problem);
            lesson.expect(problem.compare().passed,
                          std::string(method.name) + ", " + name + ": right neighbors");
        }
    }
}

void show_loads(warpwise::Lesson& lesson) {
    Cloud problem(warpwise::Size{1024});
    std::vector<std::vector<std::string>> rows;
    for (const Method& method : methods) {
        const bool predicted = method.global_loads != 0;
        rows.push_back({method.name, predicted ? std::to_string(method.global_loads) : "-",
                        std::to_string(method.shared_loads)});
        problem.poison();
        const auto counts = lesson.count([&] { method.run(problem); });
        if (!counts) continue;
        const std::string name = std::string(method.name) + ": ";
        lesson.expect(problem.compare().passed, name + "right neighbors");
        lesson.expect(
            !predicted || counts->global_load.requests == 32 * method.global_loads,
            name + "global loads");
        lesson.expect(counts->shared_load.requests == 32 * method.shared_loads,
                      name + "shared loads");
        lesson.expect(counts->shared().conflicts() == 0, name + "no bank conflicts");
    }
    lesson.table({"loads", "Loads for 32 points, each against 1024"},
                 {"step", "from global memory", "from shared memory"}, rows);
}

// A cloud of the same shape, farther and farther from the origin.
void show_cancellation(warpwise::Lesson& lesson) {
    constexpr unsigned kCount = 1024;
    std::vector<std::vector<std::string>> rows;
    std::vector<unsigned> wrong;
    for (const float offset : {0.0f, 1.0f, 10.0f, 100.0f, 1000.0f}) {
        Cloud problem(random_points(kCount, offset));
        rows.push_back({text_of("%g", offset)});
        for (void (*const run)(Cloud&) : {minimum<Direct>, expanded}) {
            problem.poison();
            run(problem);
            lesson.expect(
                problem.compare().passed,
                rows.back()[0] + " from the origin: neighbors as close as expected");
            wrong.push_back(problem.wrong());
            rows.back().push_back(std::to_string(wrong.back()));
        }
        lesson.expect(wrong[wrong.size() - 2] == 0, "nearest_minimum is exact everywhere");
    }
    lesson.expect(wrong[1] < kCount / 100,
                  "nearest_expanded is nearly exact around the origin");
    lesson.expect(wrong.back() > kCount / 2,
                  "nearest_expanded is useless far from the origin");
    lesson.table(
        {"neighbors", "Of " + std::to_string(kCount) +
                          " points, how many get another neighbor than the closest?"},
        {"coordinates around", "nearest_minimum", "nearest_expanded"}, rows);
}

// ---- the limit --------------------------------------------------------------------------

constexpr std::size_t kMeasured = std::size_t{1} << 17;
constexpr std::size_t kSerial = std::size_t{1}
                                << 13;  // two loops over 2^17 points would take minutes

// Milliseconds of all methods, and of two loops on one core, scaled up to as many points.
std::vector<double> measure(warpwise::Lesson& lesson) {
    Cloud problem(warpwise::Size{kMeasured}), small(warpwise::Size{kSerial});
    std::vector<warpwise::Candidate> candidates;
    for (const Method& method : methods)
        candidates.push_back({[&] { method.run(problem); }});
    candidates.push_back({[&] { serial(small); }, true});
    std::vector<double> milliseconds;
    for (const warpwise::Timing& timing : warpwise::measure_in_turn(candidates))
        milliseconds.push_back(timing.median * 1e3);
    milliseconds.back() *= problem.pairs() / small.pairs();
    for (const Method& method : methods) {
        problem.poison();
        method.run(problem);
        lesson.expect(problem.compare().passed,
                      std::string(method.name) + ": right after timing");
    }
    return milliseconds;
}

// An SM starts an instruction for each of 4 warps of 32 lanes per cycle, whatever
// instruction it is.
void show_limit(warpwise::Lesson& lesson) {
    if (!lesson.measures()) {
        lesson.show_recorded("limit");
        return;
    }
    int device = 0, kilohertz = 0;
    warpwise::check(cudaGetDevice(&device));
    warpwise::check(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device));
    const unsigned processors = warpwise::multiprocessors();
    const double lanes_per_second = processors * 4.0 * 32.0 * kilohertz * 1e3;
    const double pairs = static_cast<double>(kMeasured) * kMeasured;
    const std::vector<double> milliseconds = measure(lesson);
    std::vector<std::vector<std::string>> rows;
    for (std::size_t k = 0; k < methods.size(); ++k) {
        const double limit = pairs * methods[k].instructions / lanes_per_second * 1e3;
        rows.push_back({methods[k].name, warpwise::ratio_text(methods[k].instructions),
                        text_of("%.2f", limit), text_of("%.2f", milliseconds[k]),
                        text_of("%.2f", limit / milliseconds[k])});
    }
    rows.push_back({"serial, scaled up from 2^13", "-", "-",
                    text_of("%.0f", milliseconds.back()), "-"});
    lesson.table(
        {"limit",
         "2^17 points against each other: the limit by instructions of compute capability "
         "9.0, " +
             std::to_string(processors) + " multiprocessors at " +
             text_of("%.0f", kilohertz * 1e-3) + " MHz"},
        {"step", "instructions per pair", "limit, ms", "measured, ms", "share"}, rows);
}

}  // namespace

void nearest_neighbour(warpwise::Lesson& lesson) {
    lesson.question(
        R"(Which other point is the closest? All steps compute the distances of all n * n
pairs, so instructions are the limit, not bytes. What does a pair cost in addition to its
distance, and how much of that can go?)");
    lesson.predict(
        {.question = R"(A distance takes six instructions: three subtractions, a
multiplication, and two fused multiply-adds. How many instructions per pair does a plain
loop take, with its loads, the comparison, and the loop itself?)",
         .answer = warpwise::Measured{.by = warpwise::TableCell{"limit",
                                                                {"nearest_global"},
                                                                "instructions per pair"},
                                      .unit = "instructions",
                                      .factor = 1.3},
         .because = R"(Three loads, a comparison, and keeping the smaller distance
and its index cost more than the distance itself.)"});
    std::vector<warpwise::Step<Cloud>> steps;
    if (!warpwise::Lesson::on_gpu()) {
        steps.push_back(
            {"serial", "two loops, one core", serial, warpwise::StepKind::host});
    }
    for (const Method& method : methods)
        steps.push_back({method.name, method.change, method.run});
    lesson.steps<Cloud>(
        {.gpu = {kMeasured},
         .cpu = {1024},
         .awkward = {{0}, {1}, {2}, {3}, {31}, {32}, {33}, {127}, {129}, {509}, {1025}}},
        steps);
    expect_hard_points(lesson);
    lesson.conclusion(
        R"(`exact` means the reference's index for every point, also on lattices and in
clusters, where ties are the rule. `other point` counts where nearest_expanded chose
another one; the last table shows why. The instructions per pair follow below.)");
    lesson.question(
        R"(Blocks share the other points through shared memory. Which loads does that
save?)");
    lesson.predict(
        {.question = R"(A warp has 32 points, and each of them meets 1024 others. A
point has three coordinates in three arrays. How many loads from global memory does the
warp make in the plain loop?)",
         .answer = warpwise::Number{.value = 3075,
                                    .unit = "loads",
                                    .factor = 1.01,
                                    .shown_by = warpwise::TableCell{"loads",
                                                                    {"nearest_global"},
                                                                    "from global memory"}},
         .because = R"(3 * 1024 for the others and 3 for its own. With a tile in
shared memory 27 are left.)"});
    show_loads(lesson);
    lesson.conclusion(
        R"(3075 loads from global memory become 27 with a shared tile, and 9 when a point
is one float4. Comparing eight points with what was loaded divides the loads from shared
memory by eight. All lanes read the same word, so there is never a bank conflict.)");
    lesson.question(
        R"(With the loads gone, arithmetic is left and the instructions around it. How
close do the kernels come to the limit of four instructions per clock and SM?)");
    lesson.predict(
        {.question = R"(What share of that limit does nearest_minimum reach on a GPU?)",
         .answer =
             warpwise::Measured{
                 .by = warpwise::TableCell{"limit", {"nearest_minimum"}, "share"},
                 .factor = 1.2},
         .because = R"(Nothing waits for memory any more, so the schedulers issue in most
cycles.)"});
    show_limit(lesson);
    lesson.conclusion(
        R"(In the machine code for compute capability 9.0, the plain loop needs 14
instructions per pair, 8 of them around the distance. Eight points per thread save little,
because comparing and remembering cost more than loads. nearest_minimum asks only how far,
with one instruction, and finds the index afterwards. nearest_expanded then makes the
distance itself cheaper.)");
    lesson.question(
        R"(What is the price of nearest_expanded? |a - b|^2 = |a|^2 - 2ab + |b|^2 holds
for numbers, but floats round each term.)");
    lesson.predict(
        {.question =
             R"(1024 points lie in a cube of side 2, and the closest one is about 0.1
away. The cube moves by 1000 in each direction. How many of the points now get a wrong
neighbor from nearest_expanded?)",
         .answer =
             warpwise::Choice{
                 {"none", "about one in ten", "about half", "nearly all of them"}, 3},
         .because = R"(|a|^2 is about 3 million, where neighboring floats are 0.25 apart. A
squared distance of 0.01 has no digit left.)"});
    show_cancellation(lesson);
    lesson.conclusion(
        R"(At 1000, |a|^2 is about 3 million, where neighboring floats are 0.25 apart. A
squared distance of 0.01 has no digit left, so only few points find their neighbor. The
direct form subtracts first, while the numbers are small. Center the points before you use
the expanded form.)");
}

}  // namespace examples
