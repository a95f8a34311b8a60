// Problem: for each of n points in space, which other point is the closest?
//
// The plain way compares all pairs, n * n of them, and each is a handful of additions and multiplications on points
// that are few: 2^17 points are 1.5 MB. So this is a lesson of the other kind: not bytes are the limit but
// instructions. The steps first take the points to where they cost little to read, and then take one instruction after
// the other out of the innermost loop.
//
// The answer is an index, and indices are right or wrong. Three rules make it unique. Of several points at the same
// distance the one with the lowest index counts. Distances are squared, and computed in float in one fixed order, with
// the fused multiply-adds written out (fmaf): left alone, nvcc fuses where it likes and the host's compiler does not,
// and two points that are nearly equally far could change places. A point that is alone has no neighbor: its index
// is kNone. Coordinates have to be finite, and so small that their squares do not overflow.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

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

constexpr unsigned kThreads = 128;  // a block
constexpr unsigned kPoints = 8;     // a thread, in steps 5 and 6
constexpr unsigned kWaves = 16;     // times that the blocks fill the device, about, from step 6 on

// Of steps 7 and 8, the best of what was tried on an H200. Registers limit kOwn. A larger kTile makes the search of a
// tile longer.
constexpr unsigned kTeam = 64;   // threads of a block
constexpr unsigned kOwn = 12;    // points of a thread
constexpr unsigned kTile = 256;  // points in shared memory

constexpr unsigned kNone = 0xFFFFFFFF;

// What a GPU measured, shown where there is none: milliseconds for 2^17 points.
struct Recorded {
    const char* step;
    double milliseconds;
};
constexpr std::initializer_list<Recorded> recorded_h200 = {
    {"nearest_global", 12.87}, {"nearest_shared", 8.48},  {"nearest_float4", 9.07},   {"nearest_several", 12.55},
    {"nearest_split", 7.46},   {"nearest_minimum", 4.13}, {"nearest_expanded", 2.43}, {"serial", 89380}};
constexpr const char* recorded_on = "recorded on one NVIDIA H200 (examples --device cuda, 2026-11-22)";

struct Point {
    float x, y, z;
};

template <class P, class Q>
__host__ __device__ float squared_distance(const P& a, const Q& b) {
    const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return fmaf(z, z, fmaf(y, y, x * x));
}

// The reference goes another way. It sorts the points by x and looks from each one to the right and to the left, as far
// as x alone is not farther away than the best point so far. That is exact in float, too: fmaf adds squares to x * x,
// and no rounding makes the sum smaller than x * x.
std::vector<unsigned> reference(const std::vector<Point>& points) {
    std::vector<unsigned> order(points.size()), nearest(points.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](unsigned i, unsigned j) { return points[i].x < points[j].x; });
    warpwise::parallel_for(points.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t place = begin; place < end; ++place) {
            const Point own = points[order[place]];
            float best = INFINITY;
            unsigned best_index = kNone;
            const auto look_at = [&](unsigned index) {
                const float x = own.x - points[index].x;
                if (x * x > best) return false;
                const float distance = squared_distance(own, points[index]);
                if (distance < best || (distance == best && index < best_index)) best = distance, best_index = index;
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
    const std::vector<float> values = warpwise::uniform<float>(3 * count, 41, offset - 1, offset + 1);
    std::vector<Point> points;
    for (std::size_t i = 0; i < count; ++i) points.push_back({values[3 * i], values[3 * i + 1], values[3 * i + 2]});
    return points;
}

// A squared distance, which is never negative, and an index or the number of a tile. The bits of such floats are
// ordered like the floats, so the smaller of two keys has the smaller distance, or of equal ones the lower index.
using Key = unsigned long long;

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
        if (!expanded) return warpwise::compare(nearest, {expected.begin(), expected.end()});
        // A neighbor has to be as close as the expected one, up to the rounding of |a|^2 - 2ab + |b|^2.
        double largest = 0;
        for (const Point& point : points) largest = std::max(largest, true_distance(point, Point{0, 0, 0}));
        std::vector<double> got, least;
        for (unsigned i = 0; i < count; ++i) {
            const bool none = expected[i] == kNone;
            least.push_back(none ? 0 : true_distance(points[i], points[expected[i]]));
            got.push_back(none && nearest[i] == kNone             ? 0
                          : nearest[i] < count && nearest[i] != i ? true_distance(points[i], points[nearest[i]])
                                                                  : NAN);
        }
        return warpwise::compare(got, least, {.absolute = 16 * std::numeric_limits<float>::epsilon() * largest});
    }

    unsigned wrong() const {
        const std::vector<unsigned> nearest = d_nearest.download();
        unsigned wrong = 0;
        for (unsigned i = 0; i < count; ++i) wrong += nearest[i] != expected[i];
        return wrong;
    }

    double pairs() const { return static_cast<double>(count) * count; }
    warpwise::Work work() const { return {.bytes = 16.0 * count, .operations = 8 * pairs()}; }
    std::vector<warpwise::Figure> figures() { return {{"other point", static_cast<double>(wrong())}}; }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return size[0] * (sizeof(Point) + sizeof(float4) + sizeof(Key) + sizeof(unsigned));
    }

private:
    static std::size_t checked(std::size_t count) {
        if (count > std::size_t{1} << 30) throw warpwise::Refusal("nearest_neighbour takes at most 2^30 points");
        return count;
    }
    static double true_distance(const Point& a, const Point& b) {
        return std::pow(double{a.x} - b.x, 2) + std::pow(double{a.y} - b.y, 2) + std::pow(double{a.z} - b.z, 2);
    }
};

// ---- steps --------------------------------------------------------------------------------------------------------

// Step 1, two loops on one core. On a GPU it is not among the steps, because its 2^17 points would take minutes; there
// the table begins with step 2, and the last table of the lesson has the time of this one, scaled up from fewer points.
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

// Step 2, a thread a point: the outer loop is gone. `<` keeps the first of several points at the same distance.
// Slow: all lanes of a warp read the same point at the same time. That is only a sector, and the cache has it, but it
// is three requests for each pair, and each takes its way through the load unit.
__global__ void nearest_global(const Point* points, unsigned count, unsigned* nearest) {
    const unsigned i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= count) return;
    const Point own = points[i];
    float best = INFINITY;
    unsigned best_index = kNone;
    for (unsigned j = 0; j < count; ++j) {
        const float distance = squared_distance(own, points[j]);
        if (distance < best && j != i) best = distance, best_index = j;
    }
    nearest[i] = best_index;
}

// Step 3, shared-memory blocks. A block brings 128 points at a time into shared memory, one a thread, and all of its
// threads compare theirs with them. The last tile may be short: only so many of its places are looked at, for the
// others hold the tile before, or nothing. A thread without a point of its own has to stay, it loads for the others.
// Better: 1/128 of the loads from global memory. Slow: three loads a pair remain, from shared memory. (nvcc 13.0 goes
// through 16 pairs at once, and joins their 48 loads to 12 of 16 bytes.)
__global__ void nearest_shared(const Point* points, unsigned count, unsigned* nearest) {
    __shared__ Point tile[kThreads];
    const unsigned i = blockIdx.x * kThreads + threadIdx.x;
    const Point own = points[min(i, count - 1)];
    float best = INFINITY;
    unsigned best_index = kNone;
    for (unsigned first = 0; first < count; first += kThreads) {
        const unsigned here = min(kThreads, count - first);
        if (threadIdx.x < here) tile[threadIdx.x] = points[first + threadIdx.x];
        __syncthreads();
        for (unsigned k = 0; k < here; ++k) {
            const float distance = squared_distance(own, tile[k]);
            if (distance < best && first + k != i) best = distance, best_index = first + k;
        }
        __syncthreads();
    }
    if (i < count) nearest[i] = best_index;
}

// Step 4, float4. A point takes 16 bytes, a quarter of them for nothing, and is one load instead of three, whatever the
// compiler makes of the loop.
// Better: a load a pair, also in global memory. Slow: still a load for each pair.
__global__ void nearest_float4(const float4* points, unsigned count, unsigned* nearest) {
    __shared__ float4 tile[kThreads];
    const unsigned i = blockIdx.x * kThreads + threadIdx.x;
    const float4 own = points[min(i, count - 1)];
    float best = INFINITY;
    unsigned best_index = kNone;
    for (unsigned first = 0; first < count; first += kThreads) {
        const unsigned here = min(kThreads, count - first);
        if (threadIdx.x < here) tile[threadIdx.x] = points[first + threadIdx.x];
        __syncthreads();
        for (unsigned k = 0; k < here; ++k) {
            const float4 other = tile[k];
            const float distance = squared_distance(own, other);
            if (distance < best && first + k != i) best = distance, best_index = first + k;
        }
        __syncthreads();
    }
    if (i < count) nearest[i] = best_index;
}

// Step 5, eight points a thread: what was loaded once is compared eight times, from registers. The answer is left as a
// key, and a small kernel takes the index out of it; step 6 tells why.
// Better: an eighth of a load a pair. Slow: there are an eighth of the threads. 2^17 points are 128 blocks of 128
// threads, fewer blocks than an H200 has multiprocessors, and each has a single warp for each of its four schedulers.
//
// Step 6, the same kernel on a larger grid. The other points are shared out as well: a block takes `tiles_a_block`
// tiles of them, and its row in the grid says which. A point now gets a best neighbor from several blocks, and
// atomicMin of keys picks the best of those: the least distance, and of equal ones the lowest index, in whatever
// order blocks come. Better: as many blocks as it takes to fill the device. Slow: a pair takes two instructions to
// compare the distance and the index with itself, and two more to remember both.
__device__ Key key_of(float distance, unsigned number) { return Key{__float_as_uint(distance)} << 32 | number; }

__global__ void nearest_several(const float4* points, unsigned count, unsigned tiles_a_block, Key* keys) {
    __shared__ float4 tile[kThreads];
    const unsigned first_own = blockIdx.x * kThreads * kPoints + threadIdx.x;
    float4 own[kPoints];
    float best[kPoints];
    unsigned best_index[kPoints];
#pragma unroll
    for (unsigned p = 0; p < kPoints; ++p) {
        own[p] = points[min(first_own + p * kThreads, count - 1)];
        best[p] = INFINITY;
        best_index[p] = kNone;
    }
    const unsigned begin = blockIdx.y * tiles_a_block * kThreads;
    const unsigned end = min(begin + tiles_a_block * kThreads, count);
    for (unsigned first = begin; first < end; first += kThreads) {
        const unsigned here = min(kThreads, count - first);
        if (threadIdx.x < here) tile[threadIdx.x] = points[first + threadIdx.x];
        __syncthreads();
        for (unsigned k = 0; k < here; ++k) {
            const float4 other = tile[k];
#pragma unroll
            for (unsigned p = 0; p < kPoints; ++p) {
                const float distance = squared_distance(own[p], other);
                const bool is_itself = first + k == first_own + p * kThreads;
                if (distance < best[p] && !is_itself) best[p] = distance, best_index[p] = first + k;
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned p = 0; p < kPoints; ++p) {
        const unsigned i = first_own + p * kThreads;
        if (i < count && best_index[p] != kNone) atomicMin(&keys[i], key_of(best[p], best_index[p]));
    }
}

__global__ void index_of_key(const Key* keys, unsigned count, unsigned* nearest) {
    const unsigned i = blockIdx.x * kThreads + threadIdx.x;
    if (i < count) nearest[i] = static_cast<unsigned>(keys[i]);  // kNone, if nobody has written a key
}

// A point in the tile of steps 7 and 8. Registers seem to lie in two banks, even and odd numbers (not documented; see
// the page), and two of one bank are not read at once. 16 bytes are loaded into four registers side by side. With both
// points' coordinates at the same places, own.x and other.x would always share a bank, so these are one place further.
struct alignas(16) Candidate {
    float square, x, y, z;  // the square is for step 8
};

__device__ Point point_of(float4 point) { return {point.x, point.y, point.z}; }

// Step 7, first how far, then who. The loop keeps the least distance alone, which is a single instruction, and for each
// tile of 256 points notes whether it was better than those before. A key has the number of a tile. A second kernel
// searches that one tile for the point: 256 pairs a point instead of n. Two things went out of the loop with it. Short
// tiles are filled up with nobody, infinitely far away, so that the loop has a fixed length. And only tiles in which
// the block's own points lie are compared with care for points that meet themselves. Twelve points a thread, and eight
// blocks of 64 threads on a multiprocessor, leave a thread up to 128 registers: with 64, nvcc has so few to spare that
// it takes the points one after the other, and most instructions wait for the one before.
// Better: seven instructions a pair, six for the distance and one for the minimum, and a twelfth of a load. Slow: the
// six.
//
// Step 8 is this kernel with another `Form` of the distance.
struct Direct {
    static __device__ Candidate candidate(Point point) { return {0, point.x, point.y, point.z}; }
    static __device__ Candidate nobody() { return {0, INFINITY, INFINITY, INFINITY}; }
    // Something that grows with the distance, and the distance made of it.
    static __device__ float measure(Point own, Candidate candidate) { return squared_distance(own, candidate); }
    static __device__ float distance(Point, float measure) { return measure; }
};

template <class Form>
__global__ void __launch_bounds__(kTeam, 8)
    nearest_minimum(const float4* points, unsigned count, unsigned tiles_a_block, Key* keys) {
    __shared__ Candidate tile[kTile];
    const unsigned first_of_block = blockIdx.x * kTeam * kOwn;
    const unsigned first_own = first_of_block + threadIdx.x;
    Point own[kOwn];
    float best[kOwn];
    unsigned best_tile[kOwn];
#pragma unroll
    for (unsigned p = 0; p < kOwn; ++p) {
        own[p] = point_of(points[min(first_own + p * kTeam, count - 1)]);
        best[p] = INFINITY;
        best_tile[p] = kNone;
    }
    const unsigned begin = blockIdx.y * tiles_a_block;
    const unsigned end = min(begin + tiles_a_block, (count + kTile - 1) / kTile);
    for (unsigned t = begin; t < end; ++t) {
        const unsigned first = t * kTile;
        for (unsigned k = threadIdx.x; k < kTile; k += kTeam) {
            tile[k] = first + k < count ? Form::candidate(point_of(points[first + k])) : Form::nobody();
        }
        __syncthreads();
        float least[kOwn];
#pragma unroll
        for (unsigned p = 0; p < kOwn; ++p) least[p] = INFINITY;
        if (first + kTile <= first_of_block || first >= first_of_block + kTeam * kOwn) {
#pragma unroll 16
            for (unsigned k = 0; k < kTile; ++k) {
                const Candidate other = tile[k];
#pragma unroll
                for (unsigned p = 0; p < kOwn; ++p) least[p] = fminf(least[p], Form::measure(own[p], other));
            }
        } else {
#pragma unroll 1
            for (unsigned k = 0; k < kTile; ++k) {
                const Candidate other = tile[k];
#pragma unroll
                for (unsigned p = 0; p < kOwn; ++p) {
                    const bool is_itself = first + k == first_own + p * kTeam;
                    if (!is_itself) least[p] = fminf(least[p], Form::measure(own[p], other));
                }
            }
        }
#pragma unroll
        for (unsigned p = 0; p < kOwn; ++p) {
            if (least[p] < best[p]) best[p] = least[p], best_tile[p] = t;
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned p = 0; p < kOwn; ++p) {
        const unsigned i = first_own + p * kTeam;
        if (i >= count || best_tile[p] == kNone) continue;
        atomicMin(&keys[i], key_of(Form::distance(own[p], best[p]), best_tile[p]));
    }
}

// A warp a point: 32 lanes look at 32 points of the tile, in ascending order, until one is as close as the key says.
template <class Form>
__global__ void find_in_tile(const float4* points, unsigned count, const Key* keys, unsigned* nearest) {
    const unsigned i = blockIdx.x * (kThreads / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (i >= count) return;  // all lanes, or none
    const Key key = keys[i];
    const unsigned tile = static_cast<unsigned>(key);
    unsigned index = kNone;
    if (tile != kNone) {
        const Point own = point_of(points[i]);
        for (unsigned first = tile * kTile; index == kNone && first < (tile + 1) * kTile; first += 32) {
            const unsigned j = first + lane;
            const Candidate other = Form::candidate(point_of(points[min(j, count - 1)]));
            const float distance = Form::distance(own, Form::measure(own, other));
            const bool is_found = __float_as_uint(distance) == key >> 32 && j != i && j < count;
            const unsigned found = __ballot_sync(~0u, is_found);
            if (found != 0) index = first + __ffs(static_cast<int>(found)) - 1;
        }
    }
    if (lane == 0) nearest[i] = index;
}

// Step 8, the expanded form: |a - b|^2 = |a|^2 - 2ab + |b|^2. For the least of all b the first term does not matter,
// and -2b and |b|^2 are worked out once, when a point is brought into the tile. Three multiply-adds are left.
// Better: four instructions a pair instead of seven. Slow: nothing; but it is not the same number. Where |a|^2 and
// |b|^2 are much larger than their distance, the digits that matter cancel.
struct Expanded {
    static __device__ float square(Point point) {
        return fmaf(point.z, point.z, fmaf(point.y, point.y, point.x * point.x));
    }
    static __device__ Candidate candidate(Point point) {
        return {square(point), -2 * point.x, -2 * point.y, -2 * point.z};
    }
    static __device__ Candidate nobody() { return {INFINITY, 0, 0, 0}; }
    // In this order nvcc 13.0 finds registers of which few share a bank. With x, y, z from the outside in, step 8 took
    // a sixth longer.
    static __device__ float measure(Point own, Candidate candidate) {
        return fmaf(own.x, candidate.x, fmaf(own.z, candidate.z, fmaf(own.y, candidate.y, candidate.square)));
    }
    static __device__ float distance(Point own, float measure) { return fmaxf(square(own) + measure, 0.0f); }
};

// ---- launches -----------------------------------------------------------------------------------------------------

template <auto Kernel>
void thread_a_point(Cloud& problem) {
    if (problem.count == 0) return;
    const auto* points = [&] {
        if constexpr (std::is_same_v<decltype(Kernel), void (*)(const Point*, unsigned, unsigned*)>) {
            return problem.d_points.data();
        } else {
            return problem.d_points4.data();
        }
    }();
    Kernel<<<warpwise::blocks_for(problem.count, kThreads), kThreads>>>(points, problem.count,
                                                                        problem.d_nearest.data());
    warpwise::check_launch();
}

// The grid of steps 6 to 8: x goes over the points, y over the tiles of those that they are compared with.
struct Split {
    dim3 grid;
    unsigned tiles_a_block;
};
template <class Kernel>
Split split(Kernel kernel, unsigned count, unsigned threads, unsigned points, unsigned tile) {
    const unsigned blocks = warpwise::blocks_for(count, threads * points);
    const unsigned tiles = warpwise::blocks_for(count, tile);
    const unsigned wanted = std::max(1u, kWaves * warpwise::blocks_that_fill(kernel, threads) / blocks);
    const unsigned tiles_a_block = warpwise::blocks_for(tiles, std::min(wanted, 65535u));
    return {dim3(blocks, warpwise::blocks_for(tiles, tiles_a_block)), tiles_a_block};
}

void several(Cloud& problem, const Split& shape) {
    problem.d_keys.fill_bytes(0xFF);
    nearest_several<<<shape.grid, kThreads>>>(problem.d_points4.data(), problem.count, shape.tiles_a_block,
                                              problem.d_keys.data());
    warpwise::check_launch();
    index_of_key<<<warpwise::blocks_for(problem.count, kThreads), kThreads>>>(problem.d_keys.data(), problem.count,
                                                                              problem.d_nearest.data());
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
    const auto [grid, tiles_a_block] = split(nearest_minimum<Form>, problem.count, kTeam, kOwn, kTile);
    problem.d_keys.fill_bytes(0xFF);
    nearest_minimum<Form>
        <<<grid, kTeam>>>(problem.d_points4.data(), problem.count, tiles_a_block, problem.d_keys.data());
    warpwise::check_launch();
    find_in_tile<Form><<<warpwise::blocks_for(problem.count, kThreads / 32), kThreads>>>(
        problem.d_points4.data(), problem.count, problem.d_keys.data(), problem.d_nearest.data());
    warpwise::check_launch();
}

void expanded(Cloud& problem) {
    minimum<Expanded>(problem);
    problem.expanded = true;
}

// ---- what each step asks for --------------------------------------------------------------------------------------

// Instructions of the innermost loop for a pair, all that is in it counted: read from the machine code that nvcc 13.0
// makes for compute capability 9.0 (cuobjdump -sass); instructions of the loop, divided by the pairs of a pass.
// Loads: of the 32 points of a warp, for 1024 others; 0 where they depend on the device.
struct Method {
    const char* name;
    const char* change;
    void (*run)(Cloud&);
    double instructions;
    unsigned global_loads, shared_loads;
};
const std::vector<Method> methods = {
    {"nearest_global", "a thread a point, global memory", thread_a_point<nearest_global>, 56 / 4.0, 3075, 0},
    {"nearest_shared", "128 points at a time in shared memory", thread_a_point<nearest_shared>, 185 / 16.0, 27, 3072},
    {"nearest_float4", "a point is one load of 16 bytes", thread_a_point<nearest_float4>, 48 / 4.0, 9, 1024},
    {"nearest_several", "eight points a thread", all_in_a_block, 87 / 8.0, 3, 128},
    {"nearest_split", "blocks share the other points", split_others, 87 / 8.0, 0, 128},
    {"nearest_minimum", "first how far, then who", minimum<Direct>, 1367 / 192.0, 0, 128},
    {"nearest_expanded", "|a|^2 - 2ab + |b|^2", expanded, 791 / 192.0, 0, 128},
};

// Points that are hard: alone, in the same place, equally far from each other, in clusters, on a line, in any number.
void expect_hard_points(warpwise::Lesson& lesson) {
    std::vector<std::pair<std::string, std::vector<Point>>> clouds = {
        {"one point", {{1, 2, 3}}},
        {"two points", {{1, 2, 3}, {-1, 0, 5}}},
        {"two points in one place", {{1, 2, 3}, {1, 2, 3}}},
        {"300 points in one place", std::vector<Point>(300, {0.25f, 0.5f, 0.75f})}};
    std::vector<Point> lattice, pairs, clusters, line;
    for (unsigned i = 0; i < 343; ++i) {
        const float x = static_cast<float>(i % 7), y = static_cast<float>(i / 7 % 7), z = static_cast<float>(i / 49);
        lattice.push_back({x, y, z});
        line.push_back({static_cast<float>(i), 0, 0});
    }
    const std::vector<Point> random = random_points(500);
    for (unsigned i = 0; i < random.size(); ++i) {
        pairs.push_back(random[i % 250]);  // i and i + 250 are in one place
        const Point& center = random[i % 5];
        clusters.push_back({center.x + random[i].x * 1e-3f, center.y + random[i].y * 1e-3f, center.z});
    }
    clouds.insert(clouds.end(), {{"a lattice", lattice}, {"a line", line}, {"pairs", pairs}, {"clusters", clusters}});
    for (const auto& [name, points] : clouds) {
        Cloud problem(points);
        for (const Method& method : methods) {
            problem.poison();
            method.run(problem);
            lesson.expect(problem.compare().passed, std::string(method.name) + ", " + name + ": right neighbors");
        }
    }
}

void show_loads(warpwise::Lesson& lesson) {
    Cloud problem(warpwise::Size{1024});
    std::vector<std::vector<std::string>> rows;
    for (const Method& method : methods) {
        const bool predicted = method.global_loads != 0;
        rows.push_back(
            {method.name, predicted ? std::to_string(method.global_loads) : "-", std::to_string(method.shared_loads)});
        problem.poison();
        const auto counts = lesson.count([&] { method.run(problem); });
        if (!counts) continue;
        const std::string name = std::string(method.name) + ": ";
        lesson.expect(problem.compare().passed, name + "right neighbors");
        lesson.expect(!predicted || counts->global_load.requests == 32 * method.global_loads, name + "global loads");
        lesson.expect(counts->shared_load.requests == 32 * method.shared_loads, name + "shared loads");
        lesson.expect(counts->shared().conflicts() == 0, name + "no bank conflicts");
    }
    lesson.table("Loads for 32 points, each against 1024", {"step", "from global memory", "from shared memory"}, rows);
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
            lesson.expect(problem.compare().passed,
                          rows.back()[0] + " from the origin: neighbors as close as expected");
            wrong.push_back(problem.wrong());
            rows.back().push_back(std::to_string(wrong.back()));
        }
        lesson.expect(wrong[wrong.size() - 2] == 0, "nearest_minimum is exact everywhere");
    }
    lesson.expect(wrong[1] < kCount / 100, "nearest_expanded is nearly exact around the origin");
    lesson.expect(wrong.back() > kCount / 2, "nearest_expanded is useless far from the origin");
    lesson.table("Of " + std::to_string(kCount) + " points, how many get another neighbor than the closest?",
                 {"coordinates around", "nearest_minimum", "nearest_expanded"}, rows);
}

// ---- the limit ----------------------------------------------------------------------------------------------------

constexpr std::size_t kMeasured = std::size_t{1} << 17;
constexpr std::size_t kSerial = std::size_t{1} << 13;  // two loops over 2^17 points would take minutes

std::vector<Recorded> measure(warpwise::Lesson& lesson) {
    Cloud problem(warpwise::Size{kMeasured}), small(warpwise::Size{kSerial});
    std::vector<warpwise::Candidate> candidates = {{[&] { serial(small); }, true}};
    for (const Method& method : methods) candidates.push_back({[&] { method.run(problem); }});
    const auto timings = warpwise::measure_in_turn(candidates);
    std::vector<Recorded> results = {{"serial", timings[0].median * 1e3 * problem.pairs() / small.pairs()}};
    for (std::size_t k = 0; k < methods.size(); ++k) {
        results.push_back({methods[k].name, timings[k + 1].median * 1e3});
        problem.poison();
        methods[k].run(problem);
        lesson.expect(problem.compare().passed, std::string(methods[k].name) + ": right after timing");
    }
    return results;
}

// A multiprocessor issues an instruction for each of 4 warps of 32 lanes a clock, whatever it is.
void show_limit(warpwise::Lesson& lesson) {
    unsigned processors = 132;  // of an H200
    int kilohertz = 1980000;    // of the same
    std::vector<Recorded> measured = recorded_h200;
    if (lesson.measures()) {
        int device = 0;
        warpwise::check(cudaGetDevice(&device));
        processors = warpwise::multiprocessors();
        warpwise::check(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device));
        measured = measure(lesson);
    }
    const double lanes_a_second = processors * 4.0 * 32.0 * kilohertz * 1e3;
    const double pairs = static_cast<double>(kMeasured) * kMeasured;
    std::vector<std::vector<std::string>> rows;
    for (const Method& method : methods) {
        const double limit = pairs * method.instructions / lanes_a_second * 1e3;
        rows.push_back({method.name, warpwise::ratio_text(method.instructions), text_of("%.2f", limit), "-", "-"});
        for (const Recorded& each : measured) {
            if (std::string(each.step) != method.name) continue;
            rows.back()[3] = text_of("%.2f", each.milliseconds);
            rows.back()[4] = text_of("%.2f", limit / each.milliseconds);
        }
    }
    for (const Recorded& each : measured) {
        if (std::string(each.step) == "serial") {
            rows.push_back({"serial, scaled up from 2^13", "-", "-", text_of("%.0f", each.milliseconds), "-"});
        }
    }
    lesson.table("2^17 points against each other: the limit by instructions of compute capability 9.0, " +
                     std::to_string(processors) + " multiprocessors at " + text_of("%.0f", kilohertz * 1e-3) + " MHz" +
                     (lesson.measures() ? "" : std::string(", ") + recorded_on),
                 {"step", "instructions a pair", "limit, ms", "measured, ms", "share"}, rows);
}

}  // namespace

void nearest_neighbour(warpwise::Lesson& lesson) {
    lesson.text(
        R"(Which other point is the closest? With n points that is n * n distances, and 2^17 points, which take 1.5 MB,
are 17 thousand million pairs. All steps of this lesson compute every one of them. What changes is what a pair costs
besides: loads at first, and then the instructions around the distance.

A distance is three subtractions, a multiplication and two fused multiply-adds, six instructions. Predict: how many
does a plain loop need for a pair, with loads, comparison, remembering and the loop itself? 8, 14 or 30? And what is
the least that you can think of?)");
    std::vector<warpwise::Step<Cloud>> steps;
    if (!warpwise::Lesson::on_gpu()) {
        steps.push_back({"serial", "two loops, one core", serial, warpwise::StepKind::host});
    }
    for (const Method& method : methods) steps.push_back({method.name, method.change, method.run});
    lesson.steps<Cloud>({.gpu = {kMeasured},
                         .cpu = {1024},
                         .awkward = {{0}, {1}, {2}, {3}, {31}, {32}, {33}, {127}, {129}, {509}, {1025}}},
                        steps);
    expect_hard_points(lesson);
    lesson.text(
        R"(`exact` means the same index as the reference for every point. That takes rules: the lowest index wins a
tie, a point alone has no neighbor, and host and device compute the same expression in the same order, with fmaf
written out. The lesson checks it also for points in one place, on a lattice, on a line and in clusters, where ties are
the rule. `other point` counts where nearest_expanded chose another one; why it may, comes below.

Sharing the other points through shared memory was the great step on the chips of its time: with blocks of 128, three
times as fast as the plain kernel, and 14 times as fast as the CPU. Predict what it saves: how many loads does a warp
make for its 32 points, when each of them meets 1024?)");
    show_loads(lesson);
    lesson.text(
        R"(Three floats for each of 1024 points, and three of its own, are 3075. A tile of 128 points is brought by four
warps, 8 tiles by each: 24 loads and 3. As float4 they are a third. The loads from shared memory go down by another
factor of eight where a thread compares eight points with what it has loaded; all lanes want the same word, so there
is never a conflict. (A thread of the last two steps has twelve points, a block 768: 1024 points take two blocks, of
which the second is mostly empty.) The CPU device counts these figures, and the lesson fails where they differ. It
counts what the source says: of the loads of nearest_shared nvcc joins four to one.

So loads are gone with nearest_several. What is left is arithmetic and what surrounds it, and its limit is simple: four
instructions a clock and multiprocessor, each for 32 lanes.)");
    show_limit(lesson);
    lesson.text(
        R"(The first loop needs 14 instructions, 8 of them around the distance. Eight points a thread save loads, and
the table shows how little that is in instructions: 12 to 10.88. Comparing and remembering is what costs: a comparison
of floats, one of indices, two selections. nearest_minimum asks `how far` for all, with one instruction, and `who`
afterwards, for 256 of them. Then only the distance is left to be made cheaper.

The limit counts issue slots, and nothing else. Comparisons, selections and minima are carried out at half the rate of
additions, and a loop that remembers an index has many of them. And an instruction has to get its operands: registers
seem to lie in two banks, each of which gives one a clock (measured on chips of 2020 by Huerta and others, Analyzing
Modern NVIDIA GPU cores, 2025; NVIDIA does not document it). That is enough for a subtraction. A fused multiply-add
has three, and the loop of nearest_expanded consists of little else. nvcc lets a thread's points in turn use what has
been read once, and chooses registers such that few reads meet. How well it does depends on what looks like a matter
of taste: with the three multiply-adds in the order z, y, x, a trial version of nearest_expanded took 2.88 ms instead
of 2.43 (one NVIDIA H200, 2026-11-22; that run is not recorded).)");
    lesson.text(
        warpwise::Lesson::on_gpu()
            ? R"(`share` is the limit over the time, with the highest clock that the device reports; on a chip of
another compute capability the instructions are others, and the share means little. nearest_several has as few
instructions as nearest_split and should be the slower one: look at how many blocks it has.)"
            : R"(`share` is the limit over the time. nearest_several has as few instructions as nearest_split and is the
slower one: 2^17 points are 128 of its blocks, a warp for each scheduler. Probably this one warp often waits for a
result of its own, and no other warp fills the gap.)");
    lesson.text(
        R"(Now the price of nearest_expanded. |a - b|^2 = |a|^2 - 2ab + |b|^2 is true of numbers, not of floats. A
float has 24 bits; |a|^2 takes them for its own leading digits, and the difference of two large numbers keeps what
they have left. Predict: the points lie in a cube of side 2, and the closest one is about 0.1 away. The cube moves
1000 to the right, up and to the front. How many points still find their neighbor?)");
    show_cancellation(lesson);
    lesson.text(
        R"(At 1000, |a|^2 is about 3 million, and floats of that size are 0.25 apart: a squared distance of 0.01 has no
digit left, and the neighbor is drawn by lot. The direct form subtracts first, while the numbers are small, and is right
everywhere. The expanded form is popular because -2ab is a matrix product, which libraries and tensor cores are good
at. Move the points so that their center is the origin before you use it; and know that a small cluster far from the
center keeps its trouble.

Mistakes to avoid: comparing a point with itself; places of a short last tile that nobody wrote, or that hold the tile
before; threads without a point that return before the barrier; 64 bits for the index in the innermost loop; taking a
fused multiply-add on one side and none on the other, and wondering about ties.

Try next: the loads line by line, a number of points that is a multiple of nothing, and the exercises
nearest_neighbour_tail and nearest_neighbour_blocked.

    examples nearest_neighbour --lines --step nearest_shared
    examples nearest_neighbour --size 1511 --check)");
}

}  // namespace examples
