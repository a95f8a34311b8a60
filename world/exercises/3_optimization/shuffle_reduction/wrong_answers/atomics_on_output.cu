// Wrong answer: each warp adds to the sum of the tile, which nobody set to 0
// Rejected by: adds up blocks of one warp
// Message: element: none was ever written
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
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float sum = sum_of_warp(i < count ? values[i] : 0.0f);
    if (threadIdx.x % 32 == 0) atomicAdd(&sums[blockIdx.x], sum);
}

void sum_tiles(const float* d_values, int count, float* d_sums, int threads_per_block) {
    if (count == 0) return;
    const int tiles = (count + threads_per_block - 1) / threads_per_block;
    sum_one_tile<<<tiles, threads_per_block>>>(d_values, count, d_sums);
}
