// Wrong answer: adds up the block by a tree in shared memory, without a shuffle between threads
// Rejected by: waits for the block at most twice
// Message: barriers, at most 2
#include <cuda_runtime.h>

#include "exercises/3_optimization/shuffle_reduction/shuffle_reduction.h"

/// Adds the values of all threads of the block. Thread 0 gets the sum. The block has blockDim.x / 32 warps, 32 at
/// most.
__device__ float sum_of_block(float value) {
    __shared__ float part[1024];
    part[threadIdx.x] = value;
    for (unsigned left = blockDim.x; left > 1;) {
        __syncthreads();
        const unsigned half = (left + 1) / 2;
        if (threadIdx.x < left / 2) part[threadIdx.x] += part[threadIdx.x + half];
        left = half;
    }
    return part[threadIdx.x];
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
