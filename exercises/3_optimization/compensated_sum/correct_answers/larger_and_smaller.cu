// Correct answer: sorts the two numbers by magnitude first; two arrays in shared memory
#include <cuda_runtime.h>

#include "exercises/3_optimization/compensated_sum/compensated_sum.h"

constexpr unsigned threads_per_block = 128;

/// A sum in two parts: the true one is near sum + lost.
struct Total {
    float sum;
    float lost;
};

__device__ void add(Total& total, float value) {
    float larger = total.sum, smaller = value;
    if (fabsf(larger) < fabsf(smaller)) {
        larger = value;
        smaller = total.sum;
    }
    const float next = larger + smaller;
    total.lost += smaller - (next - larger);
    total.sum = next;
}

__device__ Total total_of_block(Total mine) {
    __shared__ float sums[threads_per_block], lost[threads_per_block];
    const unsigned t = threadIdx.x;
    sums[t] = mine.sum;
    lost[t] = mine.lost;
    __syncthreads();
    for (unsigned d = threads_per_block / 2; d != 0; d >>= 1) {
        if (t < d) {
            Total total = {sums[t], lost[t] + lost[t + d]};
            add(total, sums[t + d]);
            sums[t] = total.sum;
            lost[t] = total.lost;
        }
        __syncthreads();
    }
    return {sums[0], lost[0]};
}

__global__ void sum_blocks(const float* values, int count, float* block_sums, float* block_lost) {
    Total mine = {0, 0};
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        add(mine, values[i]);
    }
    const Total total = total_of_block(mine);
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = total.sum;
        block_lost[blockIdx.x] = total.lost;
    }
}

__global__ void add_blocks(const float* block_sums, const float* block_lost, int blocks, float* sum) {
    Total mine = {0, 0};
    for (int i = threadIdx.x; i < blocks; i += blockDim.x) {
        add(mine, block_sums[i]);
        mine.lost += block_lost[i];
    }
    const Total total = total_of_block(mine);
    if (threadIdx.x == 0) *sum = total.sum + total.lost;
}

void add_up(const float* d_values, int count, float* d_block_sums, float* d_block_lost, float* d_sum, int blocks) {
    sum_blocks<<<blocks, threads_per_block>>>(d_values, count, d_block_sums, d_block_lost);
    add_blocks<<<1, threads_per_block>>>(d_block_sums, d_block_lost, blocks, d_sum);
}
