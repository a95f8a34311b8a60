// Correct answer: first folds what is beyond the largest power of two
#include "exercises/1_basics_and_pi/pi_block_sum/pi_block_sum.h"

/// The part of the sum that belongs to the calling thread.
__device__ float sum_of_my_slices(int slices) {
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    const int stride = gridDim.x * blockDim.x;
    float sum = 0;
    for (int i = first; i < slices; i += stride) {
        const float x = (i + 0.5f) / slices;
        sum += 4.0f / (1.0f + x * x);
    }
    return sum;
}

__global__ void sum_slices(float* sums, int slices) {
    extern __shared__ float part[];
    const int tid = threadIdx.x;
    part[tid] = sum_of_my_slices(slices);
    __syncthreads();

    int power = 1;
    while (2 * power <= blockDim.x) power *= 2;
    const int excess = blockDim.x - power;
    if (tid < excess) part[tid] += part[power + tid];
    __syncthreads();

    for (int half = power >> 1; half >= 1; half >>= 1) {
        if (tid < half) {
            part[tid] += part[tid + half];
        }
        __syncthreads();
    }
    if (tid == 0) sums[blockIdx.x] = part[0];
}

void sum_slices_by_block(float* d_sums, int slices, int blocks, int threads_per_block) {
    const size_t shared_bytes = threads_per_block * sizeof(float);
    sum_slices<<<blocks, threads_per_block, shared_bytes>>>(d_sums, slices);
}
