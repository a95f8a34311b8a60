// Correct answer: each warp sums by shuffles, and the first warp sums the sums of the warps
#include <cuda_runtime.h>

#include "exercises/2_memory_model/warp_tail/warp_tail.h"

constexpr unsigned tile_size = 256;  // floats in a tile, and threads in a block

__device__ float sum_of_warp(float value) {
    for (unsigned mask = 16; mask > 0; mask >>= 1)
        value += __shfl_xor_sync(0xffffffffu, value, mask);
    return value;
}

__global__ void sum_one_tile(const float* values, int count, float* sums) {
    __shared__ float part[tile_size / 32];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int i = blockIdx.x * tile_size + threadIdx.x;
    const float of_warp = sum_of_warp(i < count ? values[i] : 0.0f);
    if (lane == 0) part[warp] = of_warp;
    __syncthreads();
    if (warp == 0) {
        const float sum = sum_of_warp(lane < tile_size / 32 ? part[lane] : 0.0f);
        if (lane == 0) sums[blockIdx.x] = sum;
    }
}

void sum_tiles(const float* d_values, int count, float* d_sums) {
    if (count == 0) return;
    const unsigned tiles = (count + tile_size - 1) / tile_size;
    sum_one_tile<<<tiles, tile_size>>>(d_values, count, d_sums);
}
