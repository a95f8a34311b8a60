// Solution: add up a block from register to register.
//
// Within a warp, a lane takes the value of the lane 16 places above, then 8, 4, 2 and 1. A
// shuffle exchanges values and waits for the lanes in its mask, but it orders no memory.
// Between warps there are shared memory and a barrier: lane 0 of each warp stores the
// warp's sum, and after the barrier warp 0 adds these sums up by the same five shuffles. It
// always has 32 lanes; those that stand for no warp bring 0 along.
//
// Threads past the end of the array bring 0 along, too. They stay, because the other lanes
// of their warp take their values.
#include <cuda_runtime.h>

#include "exercises/3_optimization/shuffle_reduction/shuffle_reduction.h"

/// Adds the values of the 32 lanes of a warp. Lane 0 gets the sum.
__device__ float sum_of_warp(float value) {
    for (unsigned distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffff, value, distance);
    return value;
}

/// Adds the values of all threads of the block. Thread 0 gets the sum. The block has
/// blockDim.x / 32 warps, 32 at most.
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
    const int tiles = (count + threads_per_block - 1) / threads_per_block;
    sum_one_tile<<<tiles, threads_per_block>>>(d_values, count, d_sums);
}
