// Kernels of the lesson fences_and_last_block that are wrong, and one that counts how many
// blocks take themselves for the last.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "chapters/2_memory_model/fences_and_last_block/kernels.cuh"

namespace memory_model {
namespace {

// WRONG, as it was published, here a little shortened: every block counts up, and looks at
// the counter to see whether it was the last. It drew a ticket and did not use it.
__global__ void looks_at_the_counter(const float* values, std::size_t count,
                                     float* block_sums, unsigned* drawn, float* total) {
    __shared__ bool is_last;
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    float sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
         i += stride)
        sum += values[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = sum;
        __threadfence();
        atomicInc(drawn, gridDim.x);
        is_last = *drawn == gridDim.x;
    }
    __syncthreads();
    if (!is_last) return;

    float rest = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += kThreads) rest += block_sums[i];
    rest = sum_of_block(rest);
    if (threadIdx.x == 0) *total = rest;
}

// WRONG: takes the block with the highest number for the one that comes last.
__global__ void takes_the_highest_number(const float* values, std::size_t count,
                                         float* block_sums, unsigned*, float* total) {
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    float sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
         i += stride)
        sum += values[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = sum;
        __threadfence();
    }
    __syncthreads();
    if (blockIdx.x != gridDim.x - 1) return;

    float rest = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += kThreads) rest += block_sums[i];
    rest = sum_of_block(rest);
    if (threadIdx.x == 0) *total = rest;
}

// WRONG: step 3 without its fences. Right on the CPU device, and most of the time on a GPU.
__global__ void has_no_fence(const float* values, std::size_t count, float* block_sums,
                             unsigned* drawn, float* total) {
    __shared__ bool is_last;
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    float sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
         i += stride)
        sum += values[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = sum;
        is_last = atomicInc(drawn, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;

    float rest = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += kThreads) rest += block_sums[i];
    rest = sum_of_block(rest);
    if (threadIdx.x == 0) *total = rest;
}

// Counts blocks that take themselves for the last, by their ticket and by a look at the
// counter. With `all_draw_first` no block looks before all have drawn. (Blocks that wait
// for each other: allowed for these few, all resident.)
__global__ void count_last_blocks(unsigned* drawn, unsigned* by_ticket,
                                  unsigned* by_counter, bool all_draw_first) {
    if (threadIdx.x != 0) return;
    const unsigned ticket = atomicInc(drawn, gridDim.x);
    while (all_draw_first && atomicAdd(drawn, 0u) < gridDim.x) {
    }
    if (ticket == gridDim.x - 1) atomicAdd(by_ticket, 1u);
    if (atomicAdd(drawn, 0u) == gridDim.x) atomicAdd(by_counter, 1u);
}

}  // namespace
}  // namespace memory_model
