// Wrong answer: the tree of the lesson, all values in shared memory
// Rejected by: uses shared memory for the sums of the warps only
// Message: loads and stores of threads in shared memory, at most
#include <cuda_runtime.h>

#include "exercises/3_optimization/shuffle_reduction/shuffle_reduction.h"

__device__ float sum_of_block(float value) {
    __shared__ float part[1024];
    part[threadIdx.x] = value;
    const unsigned t = threadIdx.x;
    for (unsigned count = blockDim.x; count > 1; count = (count + 1) / 2) {
        __syncthreads();
        if (t < count / 2) part[t] += part[t + (count + 1) / 2];
    }
    return t == 0 ? part[0] : 0.0f;
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
