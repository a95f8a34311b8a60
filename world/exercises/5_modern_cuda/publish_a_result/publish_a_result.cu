// Exercise: a result that goes from one block to another.
// The task: ./warpwise task publish_a_result
#include <cuda_runtime.h>

#include <cuda/atomic>

#include "exercises/5_modern_cuda/publish_a_result/publish_a_result.h"

constexpr unsigned threads_per_block = 128;  // and floats per tile

// TODO 3: which scope includes the threads of two blocks of one launch?
// using Flag = cuda::atomic_ref<unsigned, cuda::thread_scope_...>;

/// Leaves `mean` in *result for other blocks, and tells them by *ready that it is there.
__device__ void publish(float* result, unsigned* ready, float mean) {
    // TODO 1: store the mean, and tell the other blocks by the flag, which is 0 so far.
    (void)ready;
    *result = mean;
}

/// Waits until *ready tells that *result is there, and returns it.
__device__ float wait_for(const float* result, unsigned* ready) {
    // TODO 2: wait for the flag, and return the mean.
    (void)ready;
    return *result;
}

/// The mean of the values of all threads of the block, in thread 0.
__device__ float mean_of_block(float value) {
    __shared__ float warp_sums[threads_per_block / 32];
    for (unsigned distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffff, value, distance);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = 0;
    for (unsigned warp = 0; warp < threads_per_block / 32; ++warp) sum += warp_sums[warp];
    return sum / threads_per_block;
}

__global__ void subtract_kernel(const float* in, float* out, float* means,
                                unsigned* ready) {
    __shared__ float surroundings;
    const unsigned tile = blockIdx.x, tiles = gridDim.x;
    const unsigned left = (tile + tiles - 1) % tiles, right = (tile + 1) % tiles;
    const float value = in[tile * threads_per_block + threadIdx.x];
    const float mean = mean_of_block(value);
    if (threadIdx.x == 0) {
        publish(means + tile, ready + tile, mean);
        surroundings = (wait_for(means + left, ready + left) + mean +
                        wait_for(means + right, ready + right)) /
                       3;
    }
    __syncthreads();
    out[tile * threads_per_block + threadIdx.x] = value - surroundings;
}

// Each block waits for its neighbors, so all blocks have to be resident. A cooperative
// launch makes sure of that, or returns an error.
void subtract_surroundings(const float* d_in, int tiles, float* d_out, float* d_means,
                           unsigned* d_ready) {
    if (tiles == 0) return;
    void* arguments[] = {&d_in, &d_out, &d_means, &d_ready};
    cudaLaunchCooperativeKernel(subtract_kernel, dim3(static_cast<unsigned>(tiles)),
                                dim3(threads_per_block), arguments, 0, nullptr);
}
