// Solution: ranks that keep the order of equal digits.
//
// There were two mistakes. Within a warp, `__popc(same >> lane) - 1` counts the lanes above
// this one, so the last key came first. The keys before this one are in the lanes below,
// whose bits the mask (1 << lane) - 1 keeps.
//
// And all warps drew from one counter per digit by atomicAdd. Which warp draws first
// depends on which warp happens to be ready, so the keys of a later warp could come before
// those of an earlier one. An atomic addition makes sure that no place is given away twice;
// it knows nothing of an order. So each warp has counters of its own now, and a scan over
// them, digit by digit and within a digit warp by warp, tells where the keys of each warp
// begin.
#include <cuda_runtime.h>

#include "exercises/4_examples/stable_ranking/stable_ranking.h"

constexpr unsigned threads_per_block = 256;  // and keys per tile
constexpr unsigned warps = threads_per_block / 32;
constexpr unsigned digits = 16;

__global__ void rank_one_tile(const unsigned* keys, int count, int shift,
                              unsigned* places) {
    // The keys of each warp with each digit, and later the place where they begin.
    __shared__ unsigned counters[warps][digits];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int i = blockIdx.x * threads_per_block + threadIdx.x;
    if (lane < digits) counters[warp][lane] = 0;
    __syncwarp();

    // Threads past the end have a digit of their own, which no key has.
    const unsigned digit = i < count ? keys[i] >> shift & (digits - 1) : digits;
    const unsigned same = __match_any_sync(0xffffffff, digit);  // one bit per lane
    const unsigned rank = __popc(same & ((1u << lane) - 1));
    if (rank == 0 && digit < digits) counters[warp][digit] = __popc(same);
    __syncthreads();

    if (threadIdx.x == 0) {
        unsigned place = 0;
        for (unsigned d = 0; d < digits; ++d) {
            for (unsigned w = 0; w < warps; ++w) {
                const unsigned of_warp = counters[w][d];
                counters[w][d] = place;
                place += of_warp;
            }
        }
    }
    __syncthreads();
    if (i < count) places[i] = counters[warp][digit] + rank;
}

void rank_tiles(const unsigned* d_keys, int count, int shift, unsigned* d_places) {
    if (count == 0) return;
    const int tiles = (count + threads_per_block - 1) / threads_per_block;
    rank_one_tile<<<tiles, threads_per_block>>>(d_keys, count, shift, d_places);
}
