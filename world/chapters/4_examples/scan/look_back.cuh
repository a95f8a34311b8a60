// The kernels of the lesson scan that read each float once: steps 8 to 10, in their order.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cuda/atomic>

#include "chapters/4_examples/scan/kernels.cuh"

namespace examples {
namespace {

// What a tile tells the tiles after it: nothing yet, the sum of its own floats, or the sum
// of all floats up to its end (its prefix). State and number share one word of 64 bits,
// which an atomic access writes or reads as one. So a thread that finds the state has the
// right number beside it, relaxed order is enough, and no fence is needed. (With the number
// in other memory than the state, the store of the state would have to be a release, and
// its load an acquire: operators.cuh does that.)
using Word = unsigned long long;
using SharedWord = cuda::atomic_ref<Word, cuda::thread_scope_device>;

constexpr unsigned kNothing = 0, kSum = 1, kPrefix = 2;  // words are zeroed before a launch

__device__ void tell(Word* word, unsigned state, float number) {
    SharedWord(*word).store(Word{state} << 32 | __float_as_uint(number),
                            cuda::memory_order_relaxed);
}

__device__ Word look_at(Word* word) {
    return SharedWord(*word).load(cuda::memory_order_relaxed);
}

__device__ unsigned state_of(Word word) { return static_cast<unsigned>(word >> 32); }
__device__ float number_of(Word word) {
    return __uint_as_float(static_cast<unsigned>(word));
}

__device__ Word wait_for(Word* word) {
    Word found = look_at(word);
    while (state_of(found) == kNothing) found = look_at(word);
    return found;
}

// Step 8, a single pass with decoupled look-back (Merrill and Garland, Single-pass parallel
// prefix scan with decoupled look-back, NVIDIA, 2016). A block scans its tile and tells the
// others the tile's sum. Then it looks back, tile by tile: it adds sums until it comes to a
// tile that knows its prefix. Now it knows its own prefix, and tells that.
// A block may wait for another one only if that block is sure to run. Nothing promises that
// blocks start in the order of blockIdx. So each block draws the number of its tile from a
// counter when it starts. The tiles before have been drawn by blocks that run already, and
// the one with the lowest number waits for nobody.
// Two words per float move instead of three, in a single launch, which should help. Slower
// than step 7 on an H200 all the same: one thread looks at one tile after the other, and
// each look is a trip to the L2 cache.
// `drawn` and the words of all tiles have to be zero before the launch.
__global__ void scan_look_back(const float* in, float* out, std::size_t count, Word* words,
                               Word* drawn) {
    __shared__ float warp_sums[kWarps];
    __shared__ unsigned drawn_tile;
    __shared__ float before_tile;
    const unsigned warp = threadIdx.x / 32;
    if (threadIdx.x == 0) drawn_tile = static_cast<unsigned>(atomicAdd(drawn, Word{1}));
    __syncthreads();
    const unsigned tile = drawn_tile;
    const std::size_t begin = std::size_t{tile} * kTile + warp * (kRows * kRow);
    float4 rows[kRows];
    load_rows(in, begin, count, rows);
    const float warp_sum = scan_rows_of_warp(rows);
    if (threadIdx.x % 32 == 31) warp_sums[warp] = warp_sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0.0f, before = 0.0f;
        for (unsigned w = 0; w < kWarps; ++w) sum += warp_sums[w];
        if (tile > 0) {
            tell(words + tile, kSum, sum);
            unsigned other = tile;
            Word found;
            do {  // ends at tile 0, which never tells its sum alone
                --other;
                found = wait_for(words + other);
                before += number_of(found);
            } while (state_of(found) != kPrefix);
        }
        tell(words + tile, kPrefix, before + sum);
        before_tile = before;
    }
    __syncthreads();
    float before = before_tile;
    for (unsigned w = 0; w < warp; ++w) before += warp_sums[w];
    store_rows(out, begin, count, rows, before);
}

// Step 9, a whole warp looks back. Lane k looks at the tile that is k + 1 places before, so
// one request of the warp reads 32 words. __ballot_sync tells which lanes found a prefix.
// The nearest one counts, with the sums of the lanes before it, and shuffles add them up.
// If there is none, the warp goes on with the 32 tiles before.
// Faster because a trip to the L2 cache brings news of 32 tiles. Still slow, probably as a
// block first draws, then loads, and then looks back. Other blocks have to keep the memory
// busy meanwhile, so the size of the tile and the number of resident blocks matter.
__device__ float look_back(Word* words, unsigned tile) {  // by all lanes of one warp
    const unsigned lane = threadIdx.x % 32;
    float before = 0.0f;
    for (unsigned end = tile;; end -= 32) {
        Word found = Word{kPrefix} << 32;  // before the first tile: a prefix of 0
        if (lane < end) found = wait_for(words + end - 1 - lane);
        const unsigned prefixes = __ballot_sync(~0u, state_of(found) == kPrefix);
        const unsigned nearest = prefixes == 0 ? 31 : __ffs(static_cast<int>(prefixes)) - 1;
        float sum = lane <= nearest ? number_of(found) : 0.0f;
        for (unsigned distance = 16; distance > 0; distance /= 2)
            sum += __shfl_xor_sync(~0u, sum, distance);
        before += sum;
        if (prefixes != 0) return before;
    }
}

__global__ void scan_look_back_warp(const float* in, float* out, std::size_t count,
                                    Word* words, Word* drawn) {
    __shared__ float warp_sums[kWarps];
    __shared__ unsigned drawn_tile;
    __shared__ float before_tile;
    const unsigned warp = threadIdx.x / 32;
    if (threadIdx.x == 0) drawn_tile = static_cast<unsigned>(atomicAdd(drawn, Word{1}));
    __syncthreads();
    const unsigned tile = drawn_tile;
    const std::size_t begin = std::size_t{tile} * kTile + warp * (kRows * kRow);
    float4 rows[kRows];
    load_rows(in, begin, count, rows);
    const float warp_sum = scan_rows_of_warp(rows);
    if (threadIdx.x % 32 == 31) warp_sums[warp] = warp_sum;
    __syncthreads();
    if (warp == 0) {
        float sum = 0.0f;
        for (unsigned w = 0; w < kWarps; ++w) sum += warp_sums[w];
        if (threadIdx.x == 0 && tile > 0) tell(words + tile, kSum, sum);
        const float before = look_back(words, tile);
        if (threadIdx.x == 0) {
            tell(words + tile, kPrefix, before + sum);
            before_tile = before;
        }
    }
    __syncthreads();
    float before = before_tile;
    for (unsigned w = 0; w < warp; ++w) before += warp_sums[w];
    store_rows(out, begin, count, rows, before);
}

// Step 10, tuning: step 9 with other numbers, and an exclusive variant. Eight loads per
// thread make tiles of 8192 floats, so there are half as many tiles to look at, and twice
// as many bytes in flight per thread. __launch_bounds__ asks for four resident blocks per
// SM, so that some load while others look back. That leaves each thread 64 registers, 32 of
// them for its floats. A look that finds nothing yet is repeated only after a pause, so
// that waiting warps leave the L2 cache to the others.
// Faster where the memory had to wait: every SM has up to 128 KiB of floats in registers.
// What time is left is mostly that of moving two words per float, which cannot be avoided.
template <unsigned Threads, unsigned Rows, unsigned Pause>
struct Tuning {
    static constexpr unsigned threads = Threads, warps = Threads / 32;  // per block
    static constexpr unsigned rows = Rows;                              // loads per thread
    static constexpr unsigned tile = warps * Rows * kRow;               // floats
    static constexpr unsigned pause = Pause;                            // nanoseconds
    // As many as leave each thread 4 registers per float4 and 32 more.
    static constexpr unsigned blocks_per_sm = 65536 / (4 * Rows + 32) / Threads;
};
using Tuned = Tuning<256, 8, 100>;

template <unsigned Pause>
__device__ float look_back_with_pause(Word* words, unsigned tile) {
    const unsigned lane = threadIdx.x % 32;
    float before = 0.0f;
    for (unsigned end = tile;; end -= 32) {
        Word found = Word{kPrefix} << 32;
        if (lane < end) {
            found = look_at(words + end - 1 - lane);
            while (state_of(found) == kNothing) {
                if (Pause > 0) __nanosleep(Pause);
                found = look_at(words + end - 1 - lane);
            }
        }
        const unsigned prefixes = __ballot_sync(~0u, state_of(found) == kPrefix);
        const unsigned nearest = prefixes == 0 ? 31 : __ffs(static_cast<int>(prefixes)) - 1;
        float sum = lane <= nearest ? number_of(found) : 0.0f;
        for (unsigned distance = 16; distance > 0; distance /= 2)
            sum += __shfl_xor_sync(~0u, sum, distance);
        before += sum;
        if (prefixes != 0) return before;
    }
}

// An exclusive scan leaves out the element itself: a lane's four results are one place
// further, and begin with 0.
template <bool Inclusive, unsigned Rows>
__device__ float scan_rows(float4 (&rows)[Rows]) {
    float before_row = 0.0f;
#pragma unroll
    for (unsigned k = 0; k < Rows; ++k) {
        float4& four = rows[k];
        four.y += four.x;
        four.z += four.y;
        four.w += four.z;
        const float up_to_lane = scan_of_warp(four.w);
        float before = __shfl_up_sync(~0u, up_to_lane, 1);
        before = before_row + (threadIdx.x % 32 == 0 ? 0.0f : before);
        if (!Inclusive) four = make_float4(0.0f, four.x, four.y, four.z);
        four.x += before;
        four.y += before;
        four.z += before;
        four.w += before;
        before_row += __shfl_sync(~0u, up_to_lane, 31);
    }
    return before_row;
}

template <class Numbers, bool Inclusive>
__global__ void __launch_bounds__(Numbers::threads, Numbers::blocks_per_sm)
    scan_tuned(const float* in, float* out, std::size_t count, Word* words, Word* drawn) {
    __shared__ float warp_sums[Numbers::warps];
    __shared__ unsigned drawn_tile;
    __shared__ float before_tile;
    const unsigned warp = threadIdx.x / 32;
    if (threadIdx.x == 0) drawn_tile = static_cast<unsigned>(atomicAdd(drawn, Word{1}));
    __syncthreads();
    const unsigned tile = drawn_tile;
    const std::size_t begin =
        std::size_t{tile} * Numbers::tile + warp * (Numbers::rows * kRow);
    float4 rows[Numbers::rows];
    load_rows(in, begin, count, rows);
    const float warp_sum = scan_rows<Inclusive>(rows);
    if (threadIdx.x % 32 == 31) warp_sums[warp] = warp_sum;
    __syncthreads();
    if (warp == 0) {
        float sum = 0.0f;
#pragma unroll
        for (unsigned w = 0; w < Numbers::warps; ++w) sum += warp_sums[w];
        if (threadIdx.x == 0 && tile > 0) tell(words + tile, kSum, sum);
        const float before = look_back_with_pause<Numbers::pause>(words, tile);
        if (threadIdx.x == 0) {
            tell(words + tile, kPrefix, before + sum);
            before_tile = before;
        }
    }
    __syncthreads();
    float before = before_tile;
    for (unsigned w = 0; w < warp; ++w) before += warp_sums[w];
    store_rows(out, begin, count, rows, before);
}

}  // namespace
}  // namespace examples
