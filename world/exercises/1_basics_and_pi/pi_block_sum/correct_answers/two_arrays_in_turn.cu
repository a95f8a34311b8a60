// Correct answer: rounds read one array and write the other
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
    extern __shared__ float memory[];
    float* from = memory;
    float* to = memory + blockDim.x;
    const unsigned me = threadIdx.x;
    from[me] = sum_of_my_slices(slices);
    __syncthreads();
    for (unsigned left = blockDim.x; left > 1;) {
        const unsigned half = (left + 1) / 2;
        if (me < half) to[me] = me + half < left ? from[me] + from[me + half] : from[me];
        __syncthreads();
        float* const swap = from;
        from = to;
        to = swap;
        left = half;
    }
    if (me == 0) sums[blockIdx.x] = from[0];
}

void sum_slices_by_block(float* d_sums, int slices, int blocks, int threads_per_block) {
    const size_t bytes = 2 * threads_per_block * sizeof(float);
    sum_slices<<<blocks, threads_per_block, bytes>>>(d_sums, slices);
}
