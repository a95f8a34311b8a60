// Mistakes of those who remove a stall, for the CPU device to find. On a GPU these kernels
// may give the right result, so they do not run there. Each has one block of 64 threads.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace modern_cuda {
namespace {

// WRONG: loads sixteen frames at a time, also where fewer are left.
__global__ void no_remainder(const float* frames, unsigned count, float* mean) {
    float sum = 0;
    for (unsigned k = 0; k < count; k += 16) {
        float loaded[16];
#pragma unroll
        for (unsigned j = 0; j < 16; ++j)
            loaded[j] = frames[(k + j) * blockDim.x + threadIdx.x];
#pragma unroll
        for (unsigned j = 0; j < 16; ++j) sum += k + j < count ? loaded[j] : 0.0f;
    }
    mean[threadIdx.x] = sum / static_cast<float>(count);
}

// WRONG: the last threads need samples beyond those that the block has copied.
__global__ void tile_too_short(const float* signal, float* out) {
    __shared__ float tile[64 + 4];
    tile[threadIdx.x] = signal[threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (unsigned k = 0; k < 4; ++k) sum += tile[threadIdx.x + k];
    out[threadIdx.x] = sum;
}

// WRONG: a barrier was in the way, and it was taken out.
__global__ void barrier_removed(const float* in, float* out) {
    __shared__ float sums[2];
    float sum = in[threadIdx.x];
#pragma unroll
    for (unsigned distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, distance);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    out[threadIdx.x] = in[threadIdx.x] / (sums[0] + sums[1]);
}

// WRONG: warps without work leave out the barrier, to wait less.
__global__ void only_busy_warps_wait(const float* in, float* out) {
    __shared__ float sums[64];
    sums[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (unsigned half = 32; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
            __syncthreads();
        }
    }
    __syncthreads();
    out[threadIdx.x] = in[threadIdx.x] / sums[0];
}

}  // namespace
}  // namespace modern_cuda
