// Correct answer: a block of one warp needs no second stage; template for any type
#include <cuda_runtime.h>

#include "exercises/3_optimization/shuffle_reduction/shuffle_reduction.h"

template <typename T>
__device__ T warp_reduce(T value) {
    for (int delta = 16; delta; delta >>= 1) {
        value += __shfl_down_sync(~0u, value, delta, 32);
    }
    return value;
}

template <typename T>
__device__ T block_reduce(T value) {
    __shared__ T sums[32];
    value = warp_reduce(value);
    if (blockDim.x == 32) return value;  // the same for all threads
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) sums[warp] = value;
    __syncthreads();
    if (warp == 0) value = warp_reduce(lane < blockDim.x / 32 ? sums[lane] : T(0));
    return value;
}

template <typename T>
__global__ void sum_tile(const T* values, int count, T* sums) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const T sum = block_reduce(i < count ? values[i] : T{});
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

void sum_tiles(const float* d_values, int count, float* d_sums, int threads_per_block) {
    if (count == 0) return;
    const int tiles = (count + threads_per_block - 1) / threads_per_block;
    sum_tile<float><<<tiles, threads_per_block>>>(d_values, count, d_sums);
}
