// Solution: add up the parts of all threads of a block.
//
// Every round halves the number of parts: the upper half is added to the lower one, so 1024
// parts take ten rounds. With an odd number the part in the middle has no partner and waits
// for the next round.
//
// There is a barrier before every round: threads of other warps may be behind, and a part
// must be complete before it is read. All threads of the block pass this barrier, also
// those that have nothing left to add. Inside the `if`, only some of the threads would
// reach it.
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
