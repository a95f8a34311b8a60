// Correct answer: a tile of 32 threads shuffles by its own function
#include <cuda_runtime.h>

#include "exercises/3_optimization/shuffle_reduction/shuffle_reduction.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ float sum_of_warp(const cg::thread_block_tile<32>& warp, float value) {
    for (unsigned d = warp.size() / 2; d > 0; d /= 2) value += warp.shfl_down(value, d);
    return value;
}

__global__ void sum_one_tile(const float* values, int count, float* sums) {
    __shared__ float warp_sums[32];
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = sum_of_warp(warp, i < count ? values[i] : 0.0f);
    if (warp.thread_rank() == 0) warp_sums[threadIdx.x / 32] = value;
    block.sync();
    if (threadIdx.x < 32) {
        value = warp.thread_rank() < blockDim.x / 32 ? warp_sums[warp.thread_rank()] : 0.0f;
        value = sum_of_warp(warp, value);
        if (warp.thread_rank() == 0) sums[blockIdx.x] = value;
    }
}

void sum_tiles(const float* d_values, int count, float* d_sums, int threads_per_block) {
    if (count == 0) return;
    const int tiles = (count + threads_per_block - 1) / threads_per_block;
    sum_one_tile<<<tiles, threads_per_block>>>(d_values, count, d_sums);
}
