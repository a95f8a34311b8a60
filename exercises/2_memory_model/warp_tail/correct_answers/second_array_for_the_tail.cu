// Correct answer: the tail goes to and fro between two halves of an array
#include <cuda_runtime.h>

#include "exercises/2_memory_model/warp_tail/warp_tail.h"

constexpr unsigned tile_size = 256;  // floats in a tile, and threads in a block

__global__ void sum_one_tile(const float* values, int count, float* sums) {
    __shared__ float part[tile_size];
    const unsigned thread = threadIdx.x;
    const int i = blockIdx.x * tile_size + thread;
    if (i < count) {
        part[thread] = values[i];
    } else {
        part[thread] = 0;
    }
    for (unsigned half = 128; half >= 32; half >>= 1) {
        __syncthreads();
        if (thread < half) part[thread] += part[thread + half];
    }
    if (thread >= 32) return;  // no barrier of the block from here on

    float* from = part;
    float* to = part + 128;  // read for the last time two barriers ago
    for (unsigned half = 16; half > 0; half >>= 1) {
        __syncwarp();
        if (thread < half) to[thread] = from[thread] + from[thread + half];
        float* const old = from;
        from = to;
        to = old;
    }
    if (thread == 0) sums[blockIdx.x] = from[0];
}

void sum_tiles(const float* d_values, int count, float* d_sums) {
    if (count == 0) return;
    const unsigned tiles = (count + tile_size - 1) / tile_size;
    sum_one_tile<<<tiles, tile_size>>>(d_values, count, d_sums);
}
