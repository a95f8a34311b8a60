// Wrong answer: warps still draw from common counters
// Rejected by: keeps the order whichever warp is the first
// Message: wrong
#include <cuda_runtime.h>

#include "exercises/4_examples/stable_ranking/stable_ranking.h"

constexpr unsigned threads_per_block = 256;  // and keys per tile
constexpr unsigned digits = 16;

__global__ void rank_one_tile(const unsigned* keys, int count, int shift,
                              unsigned* places) {
    __shared__ unsigned counters[digits];  // keys with each digit
    __shared__ unsigned first[digits];     // the place where each digit begins
    const unsigned lane = threadIdx.x % 32;
    const int i = blockIdx.x * threads_per_block + threadIdx.x;
    if (threadIdx.x < digits) counters[threadIdx.x] = 0;
    __syncthreads();

    const unsigned digit = i < count ? keys[i] >> shift & (digits - 1) : digits;
    const unsigned same = __match_any_sync(0xffffffff, digit);  // one bit per lane
    const unsigned leader = __ffs(same) - 1;                    // the lowest of these lanes
    unsigned before = 0;
    if (lane == leader && digit < digits)
        before = atomicAdd(&counters[digit], __popc(same));
    before = __shfl_sync(0xffffffff, before, leader);
    const unsigned rank = before + __popc(same & ((1u << lane) - 1));
    __syncthreads();

    if (threadIdx.x == 0) {
        unsigned place = 0;
        for (unsigned d = 0; d < digits; ++d) {
            first[d] = place;
            place += counters[d];
        }
    }
    __syncthreads();
    if (i < count) places[i] = first[digit] + rank;
}

void rank_tiles(const unsigned* d_keys, int count, int shift, unsigned* d_places) {
    if (count == 0) return;
    const int tiles = (count + threads_per_block - 1) / threads_per_block;
    rank_one_tile<<<tiles, threads_per_block>>>(d_keys, count, shift, d_places);
}
