// Step 2 of the lesson sort: a sorting network, whose comparisons do not depend on the
// keys.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace examples {
namespace {

constexpr unsigned kPairThreads = 512;            // per block, one pair of keys for each
constexpr unsigned kPairTile = 2 * kPairThreads;  // keys

// Which two places a thread compares in a round. Mirrored: a group of 2 * distance places
// is folded in the middle, and its first place is compared with its last one. Otherwise the
// partners are `distance` places apart. The smaller key always goes to the lower place.
struct Pair {
    std::size_t low, high;
};

__device__ Pair pair_of(std::size_t thread, std::size_t distance, bool mirrored) {
    const std::size_t within = thread & (distance - 1);
    const std::size_t low = 2 * thread - within;
    return {low, mirrored ? low + 2 * (distance - within) - 1 : low + distance};
}

__device__ void compare_in_tile(unsigned* keys, unsigned distance, bool mirrored) {
    const Pair pair = pair_of(threadIdx.x, distance, mirrored);
    const unsigned a = keys[pair.low], b = keys[pair.high];
    keys[pair.low] = min(a, b);
    keys[pair.high] = max(a, b);
}

// Step 2, a bitonic sorting network (Batcher, Sorting networks and their applications,
// 1968). Two sorted runs of the same length become one: the first round compares mirrored,
// after which no key of the lower half is larger than one of the upper half, and rounds
// with half the distance each sort the halves. Runs of 2, 4, 8, ... 1024 keys are made in
// shared memory, in 1 + 2 + 3 + ... + 10 = 55 rounds. Places past the end hold the largest
// key, which never moves down. Faster than one core because 512 threads compare at the same
// time, without any branch. Slow because longer runs need rounds in global memory
// (compare_far): the number of rounds grows like the square of the logarithm, and each of
// them moves all keys.
__global__ void sort_tiles(const unsigned* in, unsigned* out, std::size_t count) {
    __shared__ unsigned keys[kPairTile];
    const std::size_t i = std::size_t{blockIdx.x} * kPairTile + threadIdx.x;
    const std::size_t j = i + kPairThreads;
    keys[threadIdx.x] = i < count ? in[i] : ~0u;
    keys[threadIdx.x + kPairThreads] = j < count ? in[j] : ~0u;
    for (unsigned run = 2; run <= kPairTile; run *= 2) {
        for (unsigned distance = run / 2; distance > 0; distance /= 2) {
            __syncthreads();
            compare_in_tile(keys, distance, distance == run / 2);
        }
    }
    __syncthreads();
    if (i < count) out[i] = keys[threadIdx.x];
    if (j < count) out[j] = keys[threadIdx.x + kPairThreads];
}

// A round whose partners are in different tiles.
__global__ void compare_far(unsigned* keys, std::size_t count, std::size_t distance,
                            bool mirrored) {
    const Pair pair =
        pair_of(std::size_t{blockIdx.x} * kPairThreads + threadIdx.x, distance, mirrored);
    if (pair.high >= count) return;  // the partner is past the end, and so the largest key
    const unsigned a = keys[pair.low], b = keys[pair.high];
    if (a <= b) return;
    keys[pair.low] = b;
    keys[pair.high] = a;
}

// The rounds with distances 512, 256, ... 1, in shared memory again.
__global__ void merge_tiles(unsigned* keys, std::size_t count) {
    __shared__ unsigned tile[kPairTile];
    const std::size_t i = std::size_t{blockIdx.x} * kPairTile + threadIdx.x;
    const std::size_t j = i + kPairThreads;
    tile[threadIdx.x] = i < count ? keys[i] : ~0u;
    tile[threadIdx.x + kPairThreads] = j < count ? keys[j] : ~0u;
    for (unsigned distance = kPairThreads; distance > 0; distance /= 2) {
        __syncthreads();
        compare_in_tile(tile, distance, false);
    }
    __syncthreads();
    if (i < count) keys[i] = tile[threadIdx.x];
    if (j < count) keys[j] = tile[threadIdx.x + kPairThreads];
}

}  // namespace
}  // namespace examples
