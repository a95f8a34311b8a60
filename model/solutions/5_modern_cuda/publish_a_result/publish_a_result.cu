// Solution: a result that goes from one block to another.
//
// The mean is stored first, and the flag after it with a release. A release makes visible
// what the thread has stored before it, for everybody who reads the flag with an acquire.
// So the reader acquires in its loop, and loads the mean after the loop.
//
// Scope: both blocks belong to one launch, so the scope of the device includes them. The
// scope of a block does not: it speaks to the threads of the same block only.
#include <cuda_runtime.h>

#include <cuda/atomic>

#include "exercises/5_modern_cuda/publish_a_result/publish_a_result.h"

constexpr unsigned threads_per_block = 128;  // and floats per tile

using Flag = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

/// Leaves `mean` in *result for other blocks, and tells them by *ready that it is there.
__device__ void publish(float* result, unsigned* ready, float mean) {
    *result = mean;
    Flag(*ready).store(1, cuda::memory_order_release);
}

/// Waits until *ready tells that *result is there, and returns it.
__device__ float wait_for(const float* result, unsigned* ready) {
    while (Flag(*ready).load(cuda::memory_order_acquire) == 0) {
    }
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
