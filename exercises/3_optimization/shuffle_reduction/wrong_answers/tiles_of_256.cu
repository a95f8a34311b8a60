// Wrong answer: tiles and blocks of 256, whatever is asked for
// Rejected by: adds up blocks of one warp
// Message: the launch has another shape
#include <cuda_runtime.h>

#include "exercises/3_optimization/shuffle_reduction/shuffle_reduction.h"

/// Adds the values of the 32 lanes of a warp. Lane 0 gets the sum.
__device__ float sum_of_warp(float value) {
    for (unsigned distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    return value;
}

/// Adds the values of all threads of the block. Thread 0 gets the sum.
__device__ float sum_of_block(float value) {
    __shared__ float warp_sums[32];
    value = sum_of_warp(value);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = threadIdx.x < blockDim.x / 32 ? warp_sums[threadIdx.x] : 0.0f;
        value = sum_of_warp(value);
    }
    return value;
}

__global__ void sum_one_tile(const float* values, int count, float* sums) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float value = i < count ? values[i] : 0.0f;

    const float sum = sum_of_block(value);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

void sum_tiles(const float* d_values, int count, float* d_sums, int threads_per_block) {
    if (count == 0) return;
    threads_per_block = 256;
    const int tiles = (count + threads_per_block - 1) / threads_per_block;
    sum_one_tile<<<tiles, threads_per_block>>>(d_values, count, d_sums);
}
