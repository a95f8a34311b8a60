// Step 5 of the lesson sort: a tile is sorted in shared memory, and stored run by run.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "chapters/4_examples/sort/step_04_match_any.cuh"

namespace examples {
namespace {

// Step 5, an exchange in shared memory. The block first puts its keys in the order of their
// digits there. The keys of one digit then are a run, and a run goes to neighboring places.
// So neighboring threads store neighboring keys, except where a run ends. `shift_of_run` is
// what a run's place in the tile needs to become its place in the output; it may wrap
// around below 0, and the addition wraps it back. Faster because a store of a warp touches
// the sectors of two to four runs (a run of a tile has 16 keys on average), not of 32
// single keys. Still slow because each pass reads the keys twice, first to count and then
// to scatter, and has three launches.
__global__ void scatter_in_runs(const unsigned* in, unsigned* out, std::size_t count,
                                unsigned shift, const unsigned* counts,
                                const unsigned* totals) {
    __shared__ unsigned warp_counts[kWarps][kDigits];
    __shared__ unsigned sorted[kTile];
    __shared__ unsigned shift_of_run[kDigits];
    __shared__ unsigned warp_sums[2][kWarps];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned lanes_below = (1u << lane) - 1;
    const std::size_t tile_begin = std::size_t{blockIdx.x} * kTile;
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
    const unsigned digit_of_thread = threadIdx.x;
    const Sums of_totals = scan_of_block(totals[digit_of_thread], warp_sums[0]);
    unsigned of_warps[kWarps], of_tile = 0;  // keys with this digit before each warp
#pragma unroll
    for (unsigned w = 0; w < kWarps; ++w) {
        of_warps[w] = of_tile;
        of_tile += warp_counts[w][digit_of_thread];
    }
    const unsigned run = scan_of_block(of_tile, warp_sums[1]).before;
#pragma unroll
    for (unsigned w = 0; w < kWarps; ++w)
        warp_counts[w][digit_of_thread] = run + of_warps[w];
    shift_of_run[digit_of_thread] =
        of_totals.before + counts[std::size_t{digit_of_thread} * gridDim.x + blockIdx.x] -
        run;
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kKeys; ++k)
        sorted[counters[digit_of<kBits>(keys[k], shift)] + ranks[k]] = keys[k];
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kKeys; ++k) {
        const unsigned place = threadIdx.x + k * kThreads;
        const unsigned key = sorted[place];
        if (tile_begin + place < count)
            out[shift_of_run[digit_of<kBits>(key, shift)] + place] = key;
    }
}

}  // namespace
}  // namespace examples
