// Exercise: add up a block from register to register.
// The task: ./warpwise task shuffle_reduction
#include <cuda_runtime.h>

#include "exercises/3_optimization/shuffle_reduction/shuffle_reduction.h"

/// Adds the values of the 32 lanes of a warp. Lane 0 gets the sum.
__device__ float sum_of_warp(float value) {
    // TODO 1: add up the warp by five shuffles. All 32 lanes take part in each of them.
    return value;
}

/// Adds the values of all threads of the block. Thread 0 gets the sum. The block has
/// blockDim.x / 32 warps, 32 at most.
__device__ float sum_of_block(float value) {
    // TODO 2: add up each warp, and store the sums of the warps where other warps can read
    // them.
    // TODO 3: let the first warp add up these sums. There may be 1 to 32 of them.
    return value;
}

__global__ void sum_one_tile(const float* values, int count, float* sums) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO 4: the last tile may be short, and threads without a value leave here. Let them
    // stay, because the lanes of a warp take part in a shuffle together.
    if (i >= count) return;
    const float value = values[i];

    const float sum = sum_of_block(value);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

void sum_tiles(const float* d_values, int count, float* d_sums, int threads_per_block) {
    if (count == 0) return;
    const int tiles = (count + threads_per_block - 1) / threads_per_block;
    sum_one_tile<<<tiles, threads_per_block>>>(d_values, count, d_sums);
}
