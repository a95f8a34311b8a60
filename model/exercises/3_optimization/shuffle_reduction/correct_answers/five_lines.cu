// Correct answer: five shuffles written out; lane and warp by bit operations
#include <cuda_runtime.h>

#include "exercises/3_optimization/shuffle_reduction/shuffle_reduction.h"

constexpr unsigned all_lanes = 0xffffffffu;

__device__ float sum_of_warp(float v) {
    v += __shfl_down_sync(all_lanes, v, 16);
    v += __shfl_down_sync(all_lanes, v, 8);
    v += __shfl_down_sync(all_lanes, v, 4);
    v += __shfl_down_sync(all_lanes, v, 2);
    v += __shfl_down_sync(all_lanes, v, 1);
    return v;
}

__global__ void sum_one_tile(const float* values, int count, float* sums) {
    __shared__ float shared[32];
    const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;

    float v = 0;
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) v = values[i];

    v = sum_of_warp(v);
    if (lane == 0) shared[warp] = v;
    __syncthreads();
    if (warp != 0) return;

    const unsigned warps = blockDim.x >> 5;
    v = 0;
    if (lane < warps) v = shared[lane];
    v = sum_of_warp(v);
    if (lane == 0) sums[blockIdx.x] = v;
}

void sum_tiles(const float* d_values, int count, float* d_sums, int threads_per_block) {
    if (count == 0) return;
    const int tiles = (count + threads_per_block - 1) / threads_per_block;
    sum_one_tile<<<tiles, threads_per_block>>>(d_values, count, d_sums);
}
