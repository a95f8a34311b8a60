// Step 6 of the lesson sort: each pass reads the keys once, and blocks look back.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cuda/atomic>

#include "chapters/4_examples/sort/step_05_runs.cuh"

namespace examples {
namespace {

constexpr unsigned kPasses = 32 / kBits;  // and digits of a key

// How often each digit occurs in all keys does not depend on their order. So one launch
// reads the keys once and counts for all four passes. `counts` has 256 numbers for each
// pass, and is zero before the launch.
__global__ void count_all_digits(const unsigned* keys, std::size_t count,
                                 unsigned* counts) {
    __shared__ unsigned counters[kPasses][kDigits];
    for (unsigned pass = 0; pass < kPasses; ++pass) counters[pass][threadIdx.x] = 0;
    __syncthreads();
    const std::size_t first = std::size_t{blockIdx.x} * kTile + threadIdx.x;
#pragma unroll
    for (unsigned k = 0; k < kKeys; ++k) {
        const std::size_t i = first + k * kThreads;
        if (i >= count) break;
        const unsigned key = keys[i];
        for (unsigned pass = 0; pass < kPasses; ++pass)
            atomicAdd(&counters[pass][digit_of<kBits>(key, pass * kBits)], 1u);
    }
    __syncthreads();
    for (unsigned pass = 0; pass < kPasses; ++pass)
        atomicAdd(&counts[pass * kDigits + threadIdx.x], counters[pass][threadIdx.x]);
}

// One block per pass: where in the sorted keys does each digit begin?
__global__ void scan_digits(unsigned* counts) {
    __shared__ unsigned warp_sums[kWarps];
    unsigned* const own = counts + blockIdx.x * kDigits + threadIdx.x;
    *own = scan_of_block(*own, warp_sums).before;
}

// What a tile tells the tiles after it, for each digit: nothing yet, how many of its own
// keys have this digit (a sum), or how many keys have it or a smaller one, or have it and
// stand in the tiles up to its end (a prefix). A prefix is the place behind the tile's run.
// State and number share a word, as in the lesson scan, so relaxed order is enough. A
// number has 30 bits: there may be fewer than 2^30 keys.
using SharedWord = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

constexpr unsigned kSum = 1u << 30, kPrefix = 2u << 30;  // words are zeroed before a launch
constexpr unsigned kNumber = kSum - 1;                   // the bits of the number

__device__ void tell(unsigned* word, unsigned state, unsigned number) {
    SharedWord(*word).store(state | number, cuda::memory_order_relaxed);
}

__device__ unsigned look_at(unsigned* word) {
    return SharedWord(*word).load(cuda::memory_order_relaxed);
}

// Thread d looks back for digit d: it adds what the tiles before tell until it comes to a
// prefix. Returns the place where the tile's run of this digit begins.
__device__ unsigned look_back(unsigned* words, unsigned tile, unsigned digit) {
    unsigned place = 0;
    for (unsigned other = tile - 1;; --other) {  // ends at tile 0, which tells a prefix
        unsigned* const word = words + std::size_t{other} * kDigits + digit;
        unsigned found = look_at(word);
        while (found == 0) found = look_at(word);
        place += found & kNumber;
        if (found >= kPrefix) return place;
    }
}

// Step 6, one launch per pass (Adinets and Merrill, Onesweep: a faster least significant
// digit radix sort for GPUs, 2022). The scan per digit is not made by a launch of its own:
// as in the lesson scan, a block draws its tile, tells its counts, and looks back at the
// tiles before it. There are 256 scans at once, one per digit and thread, and neighboring
// threads look at neighboring words. A block sorts its tile in shared memory before it
// looks back: meanwhile the tiles before may have got ready. Faster because a pass moves
// two words per key in place of three. Still slow because of the match for each key, which
// takes long where the lanes of a warp have many different digits. `words` and `drawn` have
// to be zero before the launch. `starts`: see scan_digits.
__global__ void sort_by_digit(const unsigned* in, unsigned* out, std::size_t count,
                              unsigned shift, const unsigned* starts, unsigned* words,
                              unsigned* drawn) {
    __shared__ unsigned warp_counts[kWarps][kDigits];
    __shared__ unsigned sorted[kTile];
    __shared__ unsigned shift_of_run[kDigits];
    __shared__ unsigned warp_sums[kWarps];
    __shared__ unsigned drawn_tile;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned lanes_below = (1u << lane) - 1;
    if (threadIdx.x == 0) drawn_tile = atomicAdd(drawn, 1u);
    __syncthreads();
    const unsigned tile = drawn_tile;
    const std::size_t tile_begin = std::size_t{tile} * kTile;
    unsigned keys[kKeys], ranks[kKeys];
    load_keys(in, tile_begin + warp * kWarpKeys + lane, count, keys);

    unsigned* const counters = warp_counts[warp];
    for (unsigned d = lane; d < kDigits; d += 32) counters[d] = 0;
    __syncwarp();
#pragma unroll
    for (unsigned k = 0; k < kKeys; ++k) {
        const unsigned digit = digit_of<kBits>(keys[k], shift);
        const unsigned same = __match_any_sync(~0u, digit);
        const unsigned before = counters[digit];
        ranks[k] = before + __popc(same & lanes_below);
        __syncwarp();
        if ((same & lanes_below) == 0) counters[digit] = before + __popc(same);
        __syncwarp();
    }
    __syncthreads();
    const unsigned digit_of_thread = threadIdx.x;
    unsigned* const own_word = words + std::size_t{tile} * kDigits + digit_of_thread;
    unsigned of_warps[kWarps], of_tile = 0;
#pragma unroll
    for (unsigned w = 0; w < kWarps; ++w) {
        of_warps[w] = of_tile;
        of_tile += warp_counts[w][digit_of_thread];
    }
    if (tile > 0) tell(own_word, kSum, of_tile);
    const unsigned run = scan_of_block(of_tile, warp_sums).before;
#pragma unroll
    for (unsigned w = 0; w < kWarps; ++w)
        warp_counts[w][digit_of_thread] = run + of_warps[w];
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kKeys; ++k)
        sorted[counters[digit_of<kBits>(keys[k], shift)] + ranks[k]] = keys[k];

    const unsigned place =
        tile == 0 ? starts[digit_of_thread] : look_back(words, tile, digit_of_thread);
    tell(own_word, kPrefix, place + of_tile);
    shift_of_run[digit_of_thread] = place - run;
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kKeys; ++k) {
        const unsigned i = threadIdx.x + k * kThreads;
        const unsigned key = sorted[i];
        if (tile_begin + i < count)
            out[shift_of_run[digit_of<kBits>(key, shift)] + i] = key;
    }
}

}  // namespace
}  // namespace examples
