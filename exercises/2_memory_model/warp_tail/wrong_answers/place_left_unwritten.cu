// Wrong answer: threads without an element stay, but leave their place unwritten
// Rejected by: sums a last tile that is short by whole warps
// Message: read of uninitialized memory
#include <cuda_runtime.h>

#include "exercises/2_memory_model/warp_tail/warp_tail.h"

constexpr unsigned tile_size = 256;  // floats in a tile, and threads in a block

__global__ void sum_one_tile(const float* values, int count, float* sums) {
    __shared__ float part[tile_size];
    const unsigned thread = threadIdx.x;
    const int i = blockIdx.x * tile_size + thread;
    if (i < count) part[thread] = values[i];

    for (unsigned half = tile_size / 2; half >= 32; half /= 2) {
        __syncthreads();
        if (thread < half) part[thread] += part[thread + half];
    }

    if (thread < 32) {
        for (unsigned half = 16; half > 0; half /= 2) {
            __syncwarp();
            if (thread < half) part[thread] += part[thread + half];
        }
    }
    if (thread == 0) sums[blockIdx.x] = part[0];
}

void sum_tiles(const float* d_values, int count, float* d_sums) {
    if (count == 0) return;
    const unsigned tiles = (count + tile_size - 1) / tile_size;
    sum_one_tile<<<tiles, tile_size>>>(d_values, count, d_sums);
}
