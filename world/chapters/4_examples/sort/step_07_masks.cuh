// Step 7 of the lesson sort: lanes find those with the same digit through shared memory.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "chapters/4_examples/sort/step_06_single_pass.cuh"

namespace examples {
namespace {

// Step 7, masks in place of __match_any_sync. Each warp has a word for each digit in shared
// memory. Every lane sets its bit in the word of its digit, and then reads the word: it
// tells which lanes have this digit, as the match did. The lowest of them clears it for the
// next row. Faster if the match was slow: it is one instruction, but a GPU may take longer
// for it than for an atomic on shared memory, which all lanes make at the same time. Still
// slow because a thread looks at one tile after the other, because the counters and masks
// of a warp and the sorted keys share a block's memory so that few blocks are resident, and
// because the numbers of keys and threads are those of the first steps.
__global__ void sort_by_masks(const unsigned* in, unsigned* out, std::size_t count,
                              unsigned shift, const unsigned* starts, unsigned* words,
                              unsigned* drawn) {
    __shared__ unsigned warp_counts[kWarps][kDigits];
    __shared__ unsigned warp_masks[kWarps][kDigits];
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
    unsigned* const masks = warp_masks[warp];
    for (unsigned d = lane; d < kDigits; d += 32) counters[d] = masks[d] = 0;
    __syncwarp();
#pragma unroll
    for (unsigned k = 0; k < kKeys; ++k) {
        const unsigned digit = digit_of<kBits>(keys[k], shift);
        atomicOr(&masks[digit], 1u << lane);
        __syncwarp();
        const unsigned same = masks[digit];
        const unsigned before = counters[digit];
        ranks[k] = before + __popc(same & lanes_below);
        __syncwarp();
        if ((same & lanes_below) == 0) {
            counters[digit] = before + __popc(same);
            masks[digit] = 0;
        }
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
