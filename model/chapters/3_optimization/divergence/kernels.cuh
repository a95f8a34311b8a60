// The kernels of the lesson divergence, in the order in which they are read.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace optimization {
namespace {

constexpr unsigned kLanes = 32;
constexpr unsigned kThreads = 256;  // per block

// ---- inverse roots ----------------------------------------------------------------------

// Newton's method for y = a^(-1/2) and a^(-1/3), from below: while y is far too small, it
// grows by half or by a third in each round. 32 rounds take it from 1/1000 to the last bit.
constexpr unsigned kRounds = 32;
constexpr float kFirstGuess = 0.001f;

__host__ __device__ float inverse_square_root(float a) {
    float y = kFirstGuess;
    for (unsigned round = 0; round < kRounds; ++round) y *= 1.5f - 0.5f * a * (y * y);
    return y;
}

__host__ __device__ float inverse_cube_root(float a) {
    constexpr float third = 1 / 3.0f;
    float y = kFirstGuess;
    for (unsigned round = 0; round < kRounds; ++round)
        y *= 4 * third - third * a * (y * y * y);
    return y;
}

// Step 2, one number per thread, and a branch. With random degrees, nearly every warp has
// lanes of both kinds: it executes one loop and then the other one, each with half of its
// lanes.
// Slow because on average 16 of 32 lanes have nothing to do.
__global__ void branch_by_lane(const float* numbers, const unsigned char* degrees,
                               float* roots, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    if (degrees[i] == 2) {
        roots[i] = inverse_square_root(numbers[i]);
    } else {
        roots[i] = inverse_cube_root(numbers[i]);
    }
}

// Step 3, no branch: every lane computes both roots and keeps one. All lanes are active all
// the time.
// No better: the warp executes both loops as before. Its lanes compute what is then thrown
// away.
__global__ void both_and_choose(const float* numbers, const unsigned char* degrees,
                                float* roots, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    const float of_square = inverse_square_root(numbers[i]);
    const float of_cube = inverse_cube_root(numbers[i]);
    roots[i] = degrees[i] == 2 ? of_square : of_cube;
}

// Step 4, one formula: y * y in one kind and y * y * y in the other are y * y * (p + q *
// y), where p and q are 1 and 0, or 0 and 1. The other constants differ as well. Each lane
// has its own constants in registers, which takes no branch: all lanes execute one loop
// together.
// Faster because one loop replaces two, for one more instruction per round. It is not
// always possible: the two kinds of work have to be alike.
__global__ void one_formula(const float* numbers, const unsigned char* degrees,
                            float* roots, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    const bool square = degrees[i] == 2;
    const float p = square ? 1 : 0, q = square ? 0 : 1;
    const float share = square ? 0.5f : 1 / 3.0f;
    const float a = share * numbers[i];
    float y = kFirstGuess;
    for (unsigned round = 0; round < kRounds; ++round)
        y *= 1 + share - a * (y * y * (p + q * y));
    roots[i] = y;
}

// Step 5, sort first. One kernel makes a list of the elements: those of degree 2 from its
// front, those of degree 3 from its back. A block counts both kinds among 4096 elements,
// reserves as many places at either end of the list, and goes through its elements again. A
// warp learns by a ballot which of its lanes want which kind; lane 0 reserves places for
// all of them, and each lane finds its own by counting the lanes before it. (Reserving one
// place at a time from the two counters in global memory would be millions of serialized
// atomics.)
constexpr unsigned kTile = 16 * kThreads;  // elements of a block

__global__ void list_by_degree(const unsigned char* degrees, unsigned* order,
                               unsigned* taken, std::size_t count) {
    __shared__ unsigned wanted[2], next[2];  // places at the front, and at the back
    const std::size_t first = std::size_t{blockIdx.x} * kTile + threadIdx.x;
    if (threadIdx.x < 2) wanted[threadIdx.x] = 0;
    __syncthreads();
    unsigned mine[2] = {0, 0};
    for (std::size_t i = first; i < first + kTile; i += kThreads) {
        if (i < count) (degrees[i] == 2 ? mine[0] : mine[1]) += 1;
    }
    atomicAdd(&wanted[0], mine[0]);
    atomicAdd(&wanted[1], mine[1]);
    __syncthreads();
    if (threadIdx.x < 2)
        next[threadIdx.x] = atomicAdd(&taken[threadIdx.x], wanted[threadIdx.x]);
    __syncthreads();
    const unsigned lane = threadIdx.x % kLanes;
    const unsigned lanes_before = (1u << lane) - 1;
    for (std::size_t i = first; i < first + kTile; i += kThreads) {
        const bool square = i < count && degrees[i] == 2;
        const bool cube = i < count && !square;
        const unsigned squares = __ballot_sync(~0u, square);  // a bit for each lane
        const unsigned cubes = __ballot_sync(~0u, cube);
        unsigned front = lane == 0 ? atomicAdd(&next[0], __popc(squares)) : 0;
        unsigned back = lane == 0 ? atomicAdd(&next[1], __popc(cubes)) : 0;
        front = __shfl_sync(~0u, front, 0) + __popc(squares & lanes_before);
        back = __shfl_sync(~0u, back, 0) + __popc(cubes & lanes_before);
        if (square) order[front] = static_cast<unsigned>(i);
        if (cube) order[count - 1 - back] = static_cast<unsigned>(i);
    }
}

// Step 5, the second kernel: step 2 again, with elements in the order of the list. All
// warps but one have only one kind of work.
// This could be faster because it takes half of the rounds, whatever the two kinds of work
// are. Still slow because another launch writes a list, 8 bytes per element, this one reads
// it, and neighbors in a warp are no longer neighbors in memory.
__global__ void branch_sorted(const float* numbers, const unsigned char* degrees,
                              const unsigned* order, float* roots, std::size_t count) {
    const std::size_t place = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (place >= count) return;
    const unsigned i = order[place];
    if (degrees[i] == 2) {
        roots[i] = inverse_square_root(numbers[i]);
    } else {
        roots[i] = inverse_cube_root(numbers[i]);
    }
}

// ---- hailstone numbers ------------------------------------------------------------------

// Step 2, one number per thread. The loop contains a branch, but its sides are so short
// that nvcc emits no branch for it: all lanes execute both sides, and each keeps the result
// it wants (predication).
// Slow because a warp stays in the loop until its slowest lane is done.
__global__ void halve_or_triple(const unsigned* starts, unsigned* steps,
                                std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    unsigned taken = 0;
    for (unsigned n = starts[i]; n != 1; ++taken) {
        if (n % 2 == 0) {
            n /= 2;
        } else {
            n = 3 * n + 1;
        }
    }
    steps[i] = taken;
}

// The number of zero bits at the end of n > 0: n & -n is its lowest one bit. (__ffs(n) - 1
// is the same, but takes two instructions on units with only 16 lanes; this takes one.)
__device__ unsigned zeros_behind(unsigned n) {
    return 31 - __clz(static_cast<int>(n & -n));
}

// Step 3, think again: an odd n is tripled, and what follows is even, and is halved as
// often as it ends in a zero bit. So a round can be one tripling and all halvings after it.
// Faster because it takes about a third of the rounds, although each of them does more.
// Still slow because a warp waits for its slowest lane.
__global__ void triple_and_halve(const unsigned* starts, unsigned* steps,
                                 std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    unsigned n = starts[i];
    unsigned taken = zeros_behind(n);
    n >>= taken;
#pragma unroll 1
    while (n != 1) {
        n = 3 * n + 1;
        const unsigned halvings = zeros_behind(n);
        n >>= halvings;
        taken += 1 + halvings;
    }
    steps[i] = taken;
}

// Step 4, lanes that are done take the next number. Each lane has a list of numbers,
// `stride` apart; every 16 rounds the lanes that have come to 1 write their result and go
// on. All lanes stay in the loop until the last one has nothing left, which __any_sync
// finds out.
// This could be faster because a lane idles for less than 16 rounds per number, and at the
// very end. The price is this vote, and loads and stores that are scattered.
constexpr unsigned kRoundsAtATime = 16;

__global__ void refill_lanes(const unsigned* starts, unsigned* steps, std::size_t count) {
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    unsigned n = i < count ? starts[i] : 1;
    unsigned taken = zeros_behind(n);
    n >>= taken;
    while (__any_sync(~0u, i < count)) {
#pragma unroll 1
        for (unsigned round = 0; round < kRoundsAtATime && n != 1; ++round) {
            n = 3 * n + 1;
            const unsigned halvings = zeros_behind(n);
            n >>= halvings;
            taken += 1 + halvings;
        }
        if (n == 1 && i < count) {
            steps[i] = taken;
            i += stride;
            n = i < count ? starts[i] : 1;
            taken = zeros_behind(n);
            n >>= taken;
        }
    }
}

}  // namespace
}  // namespace optimization
