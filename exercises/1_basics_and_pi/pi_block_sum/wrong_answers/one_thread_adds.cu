// Wrong answer: thread 0 adds all parts, one after another
// Rejected by: works with blocks of any size
// Message: of 32 lanes take part in a load from shared memory
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
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < blockDim.x; ++i) sum += part[i];
        sums[blockIdx.x] = sum;
    }
}

void sum_slices_by_block(float* d_sums, int slices, int blocks, int threads_per_block) {
    const size_t shared_bytes = threads_per_block * sizeof(float);
    sum_slices<<<blocks, threads_per_block, shared_bytes>>>(d_sums, slices);
}
