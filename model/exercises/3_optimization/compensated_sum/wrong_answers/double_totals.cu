// Wrong answer: totals in double
// Rejected by: keeps the last digits of the sum
// Message: element 0 is 0, should be
#include <cuda_runtime.h>

#include "exercises/3_optimization/compensated_sum/compensated_sum.h"

constexpr unsigned threads_per_block = 128;

__device__ double total_of_block(double mine) {
    __shared__ double part[threads_per_block];
    part[threadIdx.x] = mine;
    for (unsigned half = threads_per_block / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    return part[0];
}

__global__ void sum_blocks(const float* values, int count, float* block_sums,
                           float* block_lost) {
    double mine = 0;
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        mine += values[i];
    }
    const double total = total_of_block(mine);
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = static_cast<float>(total);
        block_lost[blockIdx.x] = static_cast<float>(total - block_sums[blockIdx.x]);
    }
}

__global__ void add_blocks(const float* block_sums, const float* block_lost, int blocks,
                           float* sum) {
    double mine = 0;
    for (int i = threadIdx.x; i < blocks; i += blockDim.x) {
        mine += static_cast<double>(block_sums[i]) + block_lost[i];
    }
    const double total = total_of_block(mine);
    if (threadIdx.x == 0) *sum = static_cast<float>(total);
}

void add_up(const float* d_values, int count, float* d_block_sums, float* d_block_lost,
            float* d_sum, int blocks) {
    sum_blocks<<<blocks, threads_per_block>>>(d_values, count, d_block_sums, d_block_lost);
    add_blocks<<<1, threads_per_block>>>(d_block_sums, d_block_lost, blocks, d_sum);
}
