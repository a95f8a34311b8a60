// Exercise: add up the parts of all threads of a block.
// The task: ./warpwise task pi_block_sum
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
    extern __shared__ float part[];  // one element per thread of the block
    part[threadIdx.x] = sum_of_my_slices(slices);

    // TODO 1: no thread may read the part of another thread before it has been written.

    // TODO 2: add up the parts so that the sum of all of them is in part[0]. In every round
    // half of the parts are added to the other half, at the same time. Mind block sizes
    // that are not powers of two.

    // TODO 3: one thread writes the sum of the block.
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

void sum_slices_by_block(float* d_sums, int slices, int blocks, int threads_per_block) {
    const size_t shared_bytes = threads_per_block * sizeof(float);
    sum_slices<<<blocks, threads_per_block, shared_bytes>>>(d_sums, slices);
}
