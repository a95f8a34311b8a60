// Wrong answer: one block scans everything
// Rejected by: computes the prefix sums of several tiles
// Message: the launch has another shape
#include <cuda_runtime.h>

#include <cuda/atomic>

#include "exercises/4_examples/look_back_order/look_back_order.h"

constexpr unsigned threads_per_block = 128;  // and floats per tile

constexpr unsigned nothing = 0, sum_is_known = 1, prefix_is_known = 2;
using State = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

__device__ float scan_of_block(float value) {
    __shared__ float warp_sums[threads_per_block / 32];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const float before = __shfl_up_sync(0xffffffff, value, distance);
        if (lane >= distance) value += before;
    }
    if (lane == 31) warp_sums[warp] = value;
    __syncthreads();
    for (unsigned w = 0; w < warp; ++w) value += warp_sums[w];
    return value;
}

__global__ void scan_alone(const float* values, int count, float* results) {
    __shared__ float sum_of_tile;
    float before = 0;
    for (int first = 0; first < count; first += threads_per_block) {
        const int i = first + threadIdx.x;
        const float value = scan_of_block(i < count ? values[i] : 0.0f);
        if (i < count) results[i] = before + value;
        if (threadIdx.x == threads_per_block - 1) sum_of_tile = value;
        __syncthreads();
        before += sum_of_tile;
        __syncthreads();
    }
}

void prefix_sums(const float* d_values, int count, float* d_results, float*, float*,
                 unsigned*, unsigned*) {
    if (count == 0) return;
    scan_alone<<<1, threads_per_block>>>(d_values, count, d_results);
}
