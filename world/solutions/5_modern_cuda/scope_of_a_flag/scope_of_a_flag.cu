// Solution: a sum whose blocks speak to each other, at the right scope.
//
// Both counters had the scope of a block. For the warps of a block that is right, because
// the last warp reads what other warps of the same block have written. The counter of the
// blocks is another matter: the last block reads what other blocks have written, and they
// may run on other SMs. Its additions were not even atomic for them, and its release spoke
// to threads of the same block only. Now it has the scope of the device.
//
// The counter of the warps keeps the narrow scope. A wider one would be right, too, and
// would cost time for nothing.
#include <cuda_runtime.h>

#include <cuda/atomic>

#include "exercises/5_modern_cuda/scope_of_a_flag/scope_of_a_flag.h"

constexpr unsigned threads_per_block = 128;
constexpr unsigned warps_per_block = threads_per_block / 32;

using WarpCounter = cuda::atomic_ref<unsigned, cuda::thread_scope_block>;
using BlockCounter = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

/// The sum of the values of all lanes of the warp, in lane 0.
__device__ float sum_of_warp(float value) {
    for (unsigned distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffff, value, distance);
    return value;
}

/// No warp waits for another one: the last warp of a block adds the sums of the warps, and
/// the last block adds the sums of the blocks.
__global__ void add_up_kernel(const float* values, int count, float* block_sums,
                              unsigned* done, float* sum) {
    __shared__ float warp_sums[warps_per_block];
    __shared__ unsigned warps_done;
    if (threadIdx.x == 0) warps_done = 0;
    __syncthreads();

    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int stride = gridDim.x * threads_per_block;
    float value = 0;
    for (int i = blockIdx.x * threads_per_block + threadIdx.x; i < count; i += stride)
        value += values[i];
    value = sum_of_warp(value);

    unsigned before = 0;  // warps of this block that were done before
    if (lane == 0) {
        warp_sums[warp] = value;
        before = WarpCounter(warps_done).fetch_add(1, cuda::memory_order_acq_rel);
    }
    __syncwarp();
    if (__shfl_sync(0xffffffff, before, 0) != warps_per_block - 1) return;

    value = sum_of_warp(lane < warps_per_block ? warp_sums[lane] : 0.0f);
    if (lane == 0) {
        block_sums[blockIdx.x] = value;
        before = BlockCounter(*done).fetch_add(1, cuda::memory_order_acq_rel);
    }
    __syncwarp();
    if (__shfl_sync(0xffffffff, before, 0) != gridDim.x - 1) return;

    value = 0;
    for (unsigned block = lane; block < gridDim.x; block += 32) value += block_sums[block];
    value = sum_of_warp(value);
    if (lane == 0) {
        *sum = value;
        *done = 0;  // for the next call
    }
}

void add_up_in_one_launch(const float* d_values, int count, float* d_block_sums,
                          unsigned* d_done, float* d_sum, int blocks) {
    add_up_kernel<<<blocks, threads_per_block>>>(d_values, count, d_block_sums, d_done,
                                                 d_sum);
}
