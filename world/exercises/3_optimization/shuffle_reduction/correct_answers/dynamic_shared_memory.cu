// Correct answer: as many shared floats as the block has warps
#include <cuda_runtime.h>

#include "exercises/3_optimization/shuffle_reduction/shuffle_reduction.h"

/// Adds the values of the 32 lanes of a warp. Lane 0 gets the sum.
__device__ float sum_of_warp(float value) {
    for (unsigned distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    return value;
}

__global__ void sum_one_tile(const float* values, int count, float* sums) {
    extern __shared__ float warp_sums[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float own = i < count ? values[i] : 0.0f;
    const float of_warp = sum_of_warp(own);
    const int warps = blockDim.x / warpSize;
    if (threadIdx.x % warpSize == 0) warp_sums[threadIdx.x / warpSize] = of_warp;
    __syncthreads();
    if (threadIdx.x < warpSize) {
        float total = 0;
        if (threadIdx.x < warps) total = warp_sums[threadIdx.x];
        total = sum_of_warp(total);
        if (threadIdx.x == 0) sums[blockIdx.x] = total;
    }
}

void sum_tiles(const float* d_values, int count, float* d_sums, int threads_per_block) {
    if (count <= 0) return;
    const int tiles = 1 + (count - 1) / threads_per_block;
    const size_t bytes = threads_per_block / 32 * sizeof(float);
    sum_one_tile<<<tiles, threads_per_block, bytes>>>(d_values, count, d_sums);
}
