// Wrong answer: thread 0 adds up all 256 parts
// Rejected by: adds by a tree
// Message: of 32 lanes active on average, at least 16 wanted
#include <cuda_runtime.h>

#include "exercises/2_memory_model/warp_tail/warp_tail.h"

constexpr unsigned tile_size = 256;  // floats in a tile, and threads in a block

__global__ void sum_one_tile(const float* values, int count, float* sums) {
    __shared__ float part[tile_size];
    const unsigned thread = threadIdx.x;
    const int i = blockIdx.x * tile_size + thread;
    part[thread] = i < count ? values[i] : 0.0f;

    __syncthreads();
    if (thread == 0) {
        float sum = 0;
        for (unsigned t = 0; t < tile_size; ++t) sum += part[t];
        sums[blockIdx.x] = sum;
    }
}

void sum_tiles(const float* d_values, int count, float* d_sums) {
    if (count == 0) return;
    const unsigned tiles = (count + tile_size - 1) / tile_size;
    sum_one_tile<<<tiles, tile_size>>>(d_values, count, d_sums);
}
