// Wrong answer: the first block adds up all values alone, the others do nothing
// Rejected by: adds up in the first call
// Message: not written by any kernel
#include <cuda_runtime.h>

#include "exercises/2_memory_model/last_block_ticket/last_block_ticket.h"

constexpr int threads_per_block = 128;

/// Sum of `value` over the threads of the block, for every thread of it.
__device__ float sum_of_block(float value) {
    __shared__ float part[threads_per_block];
    part[threadIdx.x] = value;
    for (unsigned half = threads_per_block / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    __syncthreads();
    return part[0];
}

__global__ void sum_in_first_block(const float* values, int count, float* sum) {
    if (blockIdx.x != 0) return;
    float my_sum = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) my_sum += values[i];
    my_sum = sum_of_block(my_sum);
    if (threadIdx.x == 0) *sum = my_sum;
}

void add_up(const float* d_values, int count, float* d_block_sums, unsigned* d_drawn,
            float* d_sum, int blocks) {
    (void)d_block_sums;
    (void)d_drawn;
    sum_in_first_block<<<blocks, threads_per_block>>>(d_values, count, d_sum);
}
