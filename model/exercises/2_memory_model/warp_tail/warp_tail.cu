// Exercise: a sum of tiles that does not wait, and whose threads leave too early.
// The task: ./warpwise task warp_tail
#include <cuda_runtime.h>

#include "exercises/2_memory_model/warp_tail/warp_tail.h"

constexpr unsigned tile_size = 256;  // floats in a tile, and threads in a block

__global__ void sum_one_tile(const float* values, int count, float* sums) {
    __shared__ float part[tile_size];
    const unsigned thread = threadIdx.x;
    const int i = blockIdx.x * tile_size + thread;
    if (i >= count) return;  // nothing to add
    part[thread] = values[i];

    for (unsigned half = tile_size / 2; half >= 32; half /= 2) {
        __syncthreads();
        if (thread < half) part[thread] += part[thread + half];
    }

    // One warp is left, and a warp goes in lockstep: no barriers from here on.
    if (thread < 32) {
        for (unsigned half = 16; half > 0; half /= 2) {
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
