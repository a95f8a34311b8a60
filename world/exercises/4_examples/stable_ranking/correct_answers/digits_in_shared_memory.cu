// Correct answer: each thread compares its digit with all others, in shared memory
#include <cuda_runtime.h>

#include "exercises/4_examples/stable_ranking/stable_ranking.h"

constexpr unsigned threads_per_block = 256;

__global__ void rank_one_tile(const unsigned* keys, int count, int shift,
                              unsigned* places) {
    __shared__ unsigned digits[threads_per_block];
    const int i = blockIdx.x * threads_per_block + threadIdx.x;
    const unsigned digit = i < count ? keys[i] >> shift & 15 : 16;
    digits[threadIdx.x] = digit;
    __syncthreads();
    unsigned place = 0;
    for (unsigned t = 0; t < threads_per_block; ++t)
        place += digits[t] < digit || (digits[t] == digit && t < threadIdx.x);
    if (i < count) places[i] = place;
}

void rank_tiles(const unsigned* d_keys, int count, int shift, unsigned* d_places) {
    if (count == 0) return;
    const int tiles = (count + threads_per_block - 1) / threads_per_block;
    rank_one_tile<<<tiles, threads_per_block>>>(d_keys, count, shift, d_places);
}
