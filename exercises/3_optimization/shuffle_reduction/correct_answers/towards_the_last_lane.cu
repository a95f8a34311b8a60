// Correct answer: __shfl_up_sync: lane 31 gets the sum and hands it to all
#include <cuda_runtime.h>

#include "exercises/3_optimization/shuffle_reduction/shuffle_reduction.h"

__device__ float sum_of_warp(float value) {
    const unsigned lane = threadIdx.x % 32;
    for (unsigned d = 1; d < 32; d *= 2) {
        const float below = __shfl_up_sync(0xffffffffu, value, d);
        if (lane >= d) value += below;
    }
    return __shfl_sync(0xffffffffu, value, 31);
}

__device__ float sum_of_block(float value) {
    __shared__ float warp_sums[32];
    value = sum_of_warp(value);
    if (threadIdx.x % 32 == 31) warp_sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x / 32 == 0) {
        const bool has_warp = threadIdx.x < blockDim.x / 32;
        value = sum_of_warp(has_warp ? warp_sums[threadIdx.x] : 0.0f);
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
    const int tiles = (count + threads_per_block - 1) / threads_per_block;
    sum_one_tile<<<tiles, threads_per_block>>>(d_values, count, d_sums);
}
