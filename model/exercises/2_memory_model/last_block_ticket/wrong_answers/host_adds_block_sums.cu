// Wrong answer: the host reads the block sums and adds them up after the launch
// Rejected by: adds up in the first call
// Message: cudaMemcpy was called: only the kernel works
#include <cuda_runtime.h>

#include "exercises/2_memory_model/last_block_ticket/last_block_ticket.h"

#include <vector>

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

__global__ void sum_blocks(const float* values, int count, float* block_sums) {
    float my_sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x)
        my_sum += values[i];
    my_sum = sum_of_block(my_sum);
    if (threadIdx.x == 0) block_sums[blockIdx.x] = my_sum;
}

void add_up(const float* d_values, int count, float* d_block_sums, unsigned* d_drawn,
            float* d_sum, int blocks) {
    (void)d_drawn;
    sum_blocks<<<blocks, threads_per_block>>>(d_values, count, d_block_sums);
    std::vector<float> sums(blocks);
    cudaMemcpy(sums.data(), d_block_sums, blocks * sizeof(float), cudaMemcpyDeviceToHost);
    float sum = 0;
    for (const float s : sums) sum += s;
    cudaMemcpy(d_sum, &sum, sizeof sum, cudaMemcpyHostToDevice);
}
