// The kernels of warp_synchronous_code, in the order of its steps: four right ways to end a
// tree. Each block adds the kThreads floats of its tile. The wrong ways are in
// wrong_tails.cuh.
#pragma once

#include <cstddef>

namespace memory_model {
namespace {

constexpr unsigned kThreads = 256;  // per block, and floats per tile
constexpr unsigned kWarps = kThreads / 32;

// Step 1, the tree for a whole block: a barrier before each of the eight rounds.
// Slow because in the last six rounds seven of the eight warps pass the barrier although
// they have nothing to add.
__global__ void tree_with_barriers(const float* values, float* sums, std::size_t count) {
    __shared__ float part[kThreads];
    const unsigned thread = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + thread;
    part[thread] = i < count ? values[i] : 0.0f;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) part[thread] += part[thread + half];
    }
    if (thread == 0) sums[blockIdx.x] = part[0];
}

// Step 2, the last warp alone. From 64 parts on one warp is left, and it waits only for its
// own lanes: __syncwarp(). That does two things: no lane passes before all have arrived,
// and what each lane wrote to memory before it is visible to the other lanes after it. In a
// round the lanes below `half` write parts below `half` and read parts from `half` on. No
// lane reads what another one writes at the same time, so one __syncwarp() per round is
// enough. It stands where all 32 lanes pass.
// Faster because there are three barriers instead of eight, and the other seven warps end
// early. Still slow because each round stores to shared memory, loads, and waits for both.
__global__ void tail_with_syncwarp(const float* values, float* sums, std::size_t count) {
    __shared__ float part[kThreads];
    const unsigned thread = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + thread;
    part[thread] = i < count ? values[i] : 0.0f;
    for (unsigned half = kThreads / 2; half >= 64; half /= 2) {
        __syncthreads();
        if (thread < half) part[thread] += part[thread + half];
    }
    __syncthreads();
    if (thread < 32) {
        part[thread] += part[thread + 32];
        for (unsigned half = 16; half > 0; half /= 2) {
            __syncwarp();
            if (thread < half) part[thread] += part[thread + half];
        }
    }
    if (thread == 0) sums[blockIdx.x] = part[0];
}

// Step 3, the tail by shuffles: the lanes read each other's registers. The exchange and the
// waiting for each other are one operation. After the two loads of the tail's first round
// no memory access has to be ordered. The mask names the lanes that take part: all 32.
// Faster because the rounds of the tail do not go through shared memory. Still slow because
// the two rounds before the tail do.
__global__ void tail_with_shuffles(const float* values, float* sums, std::size_t count) {
    __shared__ float part[kThreads];
    const unsigned thread = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + thread;
    part[thread] = i < count ? values[i] : 0.0f;
    for (unsigned half = kThreads / 2; half >= 64; half /= 2) {
        __syncthreads();
        if (thread < half) part[thread] += part[thread + half];
    }
    __syncthreads();
    if (thread < 32) {
        float sum = part[thread] + part[thread + 32];
        for (unsigned distance = 16; distance > 0; distance /= 2)
            sum += __shfl_down_sync(~0u, sum, distance);
        if (thread == 0) sums[blockIdx.x] = sum;
    }
}

// Step 4, shuffles from the beginning: each warp adds its 32 values and stores one number;
// the first warp adds those numbers.
// Faster because there is one barrier per block, and nine accesses to shared memory. This
// is the form to remember.
__global__ void warps_first(const float* values, float* sums, std::size_t count) {
    __shared__ float warp_sums[kWarps];
    const unsigned thread = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + thread;
    float sum = i < count ? values[i] : 0.0f;
    for (unsigned distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(~0u, sum, distance);
    if (thread % 32 == 0) warp_sums[thread / 32] = sum;
    __syncthreads();
    if (thread < 32) {
        sum = thread < kWarps ? warp_sums[thread] : 0.0f;
        for (unsigned distance = kWarps / 2; distance > 0; distance /= 2)
            sum += __shfl_down_sync(~0u, sum, distance);
        if (thread == 0) sums[blockIdx.x] = sum;
    }
}

}  // namespace
}  // namespace memory_model
