// Three wrong ways to end the tree of kernels.cuh. They are here to be looked at.
#pragma once

#include <cstddef>

#include "chapters/2_memory_model/warp_synchronous_code/kernels.cuh"

namespace memory_model {
namespace {

// WRONG: nothing orders the lanes. Neither the hardware nor the compiler guarantees what
// this code needs: a lane may run ahead, and the compiler may keep part[thread] in a
// register from round to round.
__global__ void tail_with_nothing(const float* values, float* sums, std::size_t count) {
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
            if (thread < half) part[thread] += part[thread + half];
        }
    }
    if (thread == 0) sums[blockIdx.x] = part[0];
}

// WRONG since Volta, and the way it was taught before: `volatile` makes the compiler load
// and store each time the source does. That was all that was missing as long as lanes ran
// in lockstep. It orders nothing between two lanes.
__global__ void tail_with_volatile(const float* values, float* sums, std::size_t count) {
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
        volatile float* const mine = part + thread;
        mine[0] = mine[0] + mine[32];
        mine[0] = mine[0] + mine[16];
        mine[0] = mine[0] + mine[8];
        mine[0] = mine[0] + mine[4];
        mine[0] = mine[0] + mine[2];
        mine[0] = mine[0] + mine[1];
    }
    if (thread == 0) sums[blockIdx.x] = part[0];
}

// WRONG, and hard to see: a __syncwarp() in every round, as in step 2, but all 32 lanes
// add. In the first round lane 0 reads part 16 while lane 16 writes it: the old value is
// wanted, and either may arrive. A barrier between the rounds does not help within a round.
__global__ void tail_where_all_add(const float* values, float* sums, std::size_t count) {
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
            part[thread] += part[thread + half];
        }
    }
    if (thread == 0) sums[blockIdx.x] = part[0];
}

}  // namespace
}  // namespace memory_model
