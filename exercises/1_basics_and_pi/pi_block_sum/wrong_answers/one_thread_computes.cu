// Wrong answer: thread 0 computes all slices of the block, and the tree adds zeros
// Rejected by: all threads of a block work
// Message: of 32 lanes active on average
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
    part[threadIdx.x] = 0;
    if (threadIdx.x == 0) {
        float all = 0;
        for (int t = 0; t < blockDim.x; ++t) {
            float sum = 0;
            for (int i = blockIdx.x * blockDim.x + t; i < slices; i += gridDim.x * blockDim.x) {
                const float x = (i + 0.5f) / slices;
                sum += 4.0f / (1.0f + x * x);
            }
            all += sum;
        }
        part[0] = all;
    }
    for (unsigned count = blockDim.x; count > 1;) {
        __syncthreads();
        const unsigned half = (count + 1) / 2;
        if (threadIdx.x < count / 2) part[threadIdx.x] += part[threadIdx.x + half];
        count = half;
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

void sum_slices_by_block(float* d_sums, int slices, int blocks, int threads_per_block) {
    const size_t shared_bytes = threads_per_block * sizeof(float);
    sum_slices<<<blocks, threads_per_block, shared_bytes>>>(d_sums, slices);
}
