// The kernels of the lesson nearest_neighbour, in the order in which they are read.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

namespace examples {
namespace {

struct Point {
    float x, y, z;
};

template <class P, class Q>
__host__ __device__ float squared_distance(const P& a, const Q& b) {
    const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return fmaf(z, z, fmaf(y, y, x * x));
}

constexpr unsigned kThreads = 128;      // per block
constexpr unsigned kNone = 0xFFFFFFFF;  // the neighbor of a point that is alone

// Step 2, one thread per point: the outer loop of step 1 is gone. `<` keeps the first of
// several points at the same distance.
// Slow because all lanes of a warp read the same point at the same time. That is only one
// sector, and the cache has it, but it is three requests for each pair, and each goes
// through the load unit.
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

// Step 3, tiles in shared memory. A block loads 128 points at a time into shared memory,
// one per thread, and all of its threads compare their points with them. The last tile may
// be short. Then only its first places are used, because the others hold points of the tile
// before, or nothing. A thread without a point of its own has to stay, because it loads for
// the others.
// Faster because there is 1/128 of the loads from global memory. Still slow because a pair
// takes three loads, from shared memory. (nvcc 13.0 unrolls the loop to 16 pairs, and joins
// their 48 loads into 12 of 16 bytes.)
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

// Step 4, float4. A point takes 16 bytes, a quarter of them unused, and is one load instead
// of three, whatever the compiler makes of the loop.
// This could be faster because a pair takes one load, also from global memory. Still slow
// because that is as many loads as there are pairs.
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

constexpr unsigned kPoints = 8;  // per thread, in steps 5 and 6

// A squared distance, which is never negative, and an index or the number of a tile. The
// bits of such floats are ordered like the floats, so the smaller of two keys has the
// smaller distance, or of equal ones the lower index.
using Key = unsigned long long;
__device__ Key key_of(float distance, unsigned number) {
    return Key{__float_as_uint(distance)} << 32 | number;
}

// Step 5, eight points per thread: what was loaded once is compared eight times, from
// registers. The answer is left as a key, and a small kernel takes the index out of it.
// Step 6 tells why.
// This could be faster because a pair takes an eighth of a load. Still slow because
// there are an eighth of the threads. 2^17 points are 128 blocks of 128 threads, fewer
// blocks than an H200 has SMs, and each has a single warp for each of the four
// schedulers.
//
// Step 6, the same kernel on a larger grid. The other points are shared out as well: a
// block takes `tiles_per_block` tiles of them, and its row in the grid says which. A point
// now gets a best neighbor from several blocks, and atomicMin of keys picks the best of
// those: the least distance, and of equal ones the lowest index, in whatever order the
// blocks come.
// Faster because there are as many blocks as it takes to fill the device. Still slow
// because in each pair, two instructions compare (the distance with the best, the index
// with the thread's own), and two more remember both.
__global__ void nearest_several(const float4* points, unsigned count,
                                unsigned tiles_per_block, Key* keys) {
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
    const unsigned begin = blockIdx.y * tiles_per_block * kThreads;
    const unsigned end = min(begin + tiles_per_block * kThreads, count);
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
                if (distance < best[p] && !is_itself)
                    best[p] = distance, best_index[p] = first + k;
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned p = 0; p < kPoints; ++p) {
        const unsigned i = first_own + p * kThreads;
        if (i < count && best_index[p] != kNone)
            atomicMin(&keys[i], key_of(best[p], best_index[p]));
    }
}

__global__ void index_of_key(const Key* keys, unsigned count, unsigned* nearest) {
    const unsigned i = blockIdx.x * kThreads + threadIdx.x;
    if (i < count)
        nearest[i] = static_cast<unsigned>(keys[i]);  // kNone, if nobody has written a key
}

// Sizes of steps 7 and 8, the best of what was tried on an H200. Registers limit kOwn. A
// larger kTile makes the search of a tile longer.
constexpr unsigned kBlockThreads = 64;  // threads per block
constexpr unsigned kOwn = 12;           // points per thread
constexpr unsigned kTile = 256;         // points in shared memory

// A point in the tile of steps 7 and 8. Registers seem to lie in two banks, even and odd
// numbers (not documented; see the page), and two of one bank are not read at once. 16
// bytes are loaded into four registers side by side. With both points' coordinates at the
// same places, own.x and other.x would always share a bank, so these are one place further.
struct alignas(16) Candidate {
    float square, x, y, z;  // the square is for step 8
};

__device__ Point point_of(float4 point) { return {point.x, point.y, point.z}; }

// Step 7, first how far, then who. The loop keeps the least distance alone, which is a
// single instruction, and for each tile of 256 points notes whether it was better than
// those before. A key has the number of a tile. A second kernel searches that one tile for
// the point: 256 pairs per point instead of n. Two things went out of the loop with it.
// Short tiles are filled up with points that are infinitely far away, so that the loop has
// a fixed length. And only in tiles that contain points of the block does the loop ask
// whether a point meets itself. Twelve points per thread and eight blocks of 64 threads per
// SM leave a thread up to 128 registers. With 64, nvcc has so few to spare that it takes
// the points one after the other, and most instructions wait for the one before.
// Faster because a pair takes seven instructions, six for the distance and one for
// the minimum, and a twelfth of a load. Still slow because of the six
// instructions.
//
// Step 8 is this kernel with another `Form` of the distance.
struct Direct {
    static __device__ Candidate candidate(Point point) {
        return {0, point.x, point.y, point.z};
    }
    static __device__ Candidate nobody() { return {0, INFINITY, INFINITY, INFINITY}; }
    // Something that grows with the distance, and the distance made of it.
    static __device__ float measure(Point own, Candidate candidate) {
        return squared_distance(own, candidate);
    }
    static __device__ float distance(Point, float measure) { return measure; }
};

template <class Form>
__global__ void __launch_bounds__(kBlockThreads, 8)
    nearest_minimum(const float4* points, unsigned count, unsigned tiles_per_block,
                    Key* keys) {
    __shared__ Candidate tile[kTile];
    const unsigned first_of_block = blockIdx.x * kBlockThreads * kOwn;
    const unsigned first_own = first_of_block + threadIdx.x;
    Point own[kOwn];
    float best[kOwn];
    unsigned best_tile[kOwn];
#pragma unroll
    for (unsigned p = 0; p < kOwn; ++p) {
        own[p] = point_of(points[min(first_own + p * kBlockThreads, count - 1)]);
        best[p] = INFINITY;
        best_tile[p] = kNone;
    }
    const unsigned begin = blockIdx.y * tiles_per_block;
    const unsigned end = min(begin + tiles_per_block, (count + kTile - 1) / kTile);
    for (unsigned t = begin; t < end; ++t) {
        const unsigned first = t * kTile;
        for (unsigned k = threadIdx.x; k < kTile; k += kBlockThreads) {
            tile[k] = first + k < count ? Form::candidate(point_of(points[first + k]))
                                        : Form::nobody();
        }
        __syncthreads();
        float least[kOwn];
#pragma unroll
        for (unsigned p = 0; p < kOwn; ++p) least[p] = INFINITY;
        if (first + kTile <= first_of_block ||
            first >= first_of_block + kBlockThreads * kOwn) {
#pragma unroll 16
            for (unsigned k = 0; k < kTile; ++k) {
                const Candidate other = tile[k];
#pragma unroll
                for (unsigned p = 0; p < kOwn; ++p)
                    least[p] = fminf(least[p], Form::measure(own[p], other));
            }
        } else {
#pragma unroll 1
            for (unsigned k = 0; k < kTile; ++k) {
                const Candidate other = tile[k];
#pragma unroll
                for (unsigned p = 0; p < kOwn; ++p) {
                    const bool is_itself = first + k == first_own + p * kBlockThreads;
                    if (!is_itself)
                        least[p] = fminf(least[p], Form::measure(own[p], other));
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
        const unsigned i = first_own + p * kBlockThreads;
        if (i >= count || best_tile[p] == kNone) continue;
        atomicMin(&keys[i], key_of(Form::distance(own[p], best[p]), best_tile[p]));
    }
}

// One warp per point: 32 lanes look at 32 points of the tile, in ascending order, until one
// is as close as the key says.
template <class Form>
__global__ void find_in_tile(const float4* points, unsigned count, const Key* keys,
                             unsigned* nearest) {
    const unsigned i = blockIdx.x * (kThreads / 32) + threadIdx.x / 32,
                   lane = threadIdx.x % 32;
    if (i >= count) return;  // all lanes, or none
    const Key key = keys[i];
    const unsigned tile = static_cast<unsigned>(key);
    unsigned index = kNone;
    if (tile != kNone) {
        const Point own = point_of(points[i]);
        for (unsigned first = tile * kTile; index == kNone && first < (tile + 1) * kTile;
             first += 32) {
            const unsigned j = first + lane;
            const Candidate other = Form::candidate(point_of(points[min(j, count - 1)]));
            const float distance = Form::distance(own, Form::measure(own, other));
            const bool is_found =
                __float_as_uint(distance) == key >> 32 && j != i && j < count;
            const unsigned found = __ballot_sync(~0u, is_found);
            if (found != 0) index = first + __ffs(static_cast<int>(found)) - 1;
        }
    }
    if (lane == 0) nearest[i] = index;
}

// Step 8, the expanded form: |a - b|^2 = |a|^2 - 2ab + |b|^2. For the least of all b the
// first term does not matter, and -2b and |b|^2 are worked out once, when a point is
// brought into the tile. Three multiply-adds are left.
// Faster because a pair takes four instructions instead of seven. No part of it is slow.
// But it is not the same number: where |a|^2 and |b|^2 are much larger than their distance,
// the digits that matter cancel.
struct Expanded {
    static __device__ float square(Point point) {
        return fmaf(point.z, point.z, fmaf(point.y, point.y, point.x * point.x));
    }
    static __device__ Candidate candidate(Point point) {
        return {square(point), -2 * point.x, -2 * point.y, -2 * point.z};
    }
    static __device__ Candidate nobody() { return {INFINITY, 0, 0, 0}; }
    // In this order nvcc 13.0 finds registers of which few share a bank. With x, y, z from
    // the outside in, step 8 took a sixth longer (one NVIDIA H200, not recorded).
    static __device__ float measure(Point own, Candidate candidate) {
        return fmaf(own.x, candidate.x,
                    fmaf(own.z, candidate.z, fmaf(own.y, candidate.y, candidate.square)));
    }
    static __device__ float distance(Point own, float measure) {
        return fmaxf(square(own) + measure, 0.0f);
    }
};

}  // namespace
}  // namespace examples
