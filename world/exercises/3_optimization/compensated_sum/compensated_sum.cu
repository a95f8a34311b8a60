// Exercise: a compensated sum that loses its compensation, twice.
// The task: ./warpwise task compensated_sum
#include <cuda_runtime.h>

#include "exercises/3_optimization/compensated_sum/compensated_sum.h"

constexpr unsigned threads_per_block = 128;

/// A total in two parts: the exact total is close to sum + lost, and `lost` holds digits
/// that are too small for `sum`.
struct Total {
    float sum;
    float lost;
};

/// Adds one value (Neumaier's sum): what the addition loses goes into `lost`.
__device__ void add(Total& total, float value) {
    const float next = total.sum + value;
    if (fabsf(total.sum) < fabsf(value)) {
        total.lost += (total.sum - next) + value;  // the last digits of the value
    } else {
        total.lost += (value - next) + total.sum;  // the last digits of the sum
    }
    total.sum = next;
}

/// Adds up the totals of all threads of the block. Every thread gets the result.
__device__ Total total_of_block(Total mine) {
    __shared__ float part[threads_per_block];
    part[threadIdx.x] = mine.sum + mine.lost;
    for (unsigned half = threads_per_block / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    __syncthreads();
    return {part[0], 0};
}

__global__ void sum_blocks(const float* values, int count, float* block_sums,
                           float* block_lost) {
    Total mine = {0, 0};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x)
        add(mine, values[i]);
    const Total total = total_of_block(mine);
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = total.sum;
        block_lost[blockIdx.x] = total.lost;
    }
}

__global__ void add_blocks(const float* block_sums, const float* block_lost, int blocks,
                           float* sum) {
    Total mine = {0, 0};
    for (int i = threadIdx.x; i < blocks; i += blockDim.x) {
        add(mine, block_sums[i]);
        mine.lost += block_lost[i];
    }
    const Total total = total_of_block(mine);
    if (threadIdx.x == 0) *sum = total.sum + total.lost;
}

void add_up(const float* d_values, int count, float* d_block_sums, float* d_block_lost,
            float* d_sum, int blocks) {
    sum_blocks<<<blocks, threads_per_block>>>(d_values, count, d_block_sums, d_block_lost);
    add_blocks<<<1, threads_per_block>>>(d_block_sums, d_block_lost, blocks, d_sum);
}
