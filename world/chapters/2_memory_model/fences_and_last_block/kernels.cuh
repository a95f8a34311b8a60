// The kernels of the lesson fences_and_last_block, in the order of the steps.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace memory_model {
namespace {

constexpr unsigned kThreads = 256;          // per block
constexpr unsigned kWarps = kThreads / 32;  // per block

// What the steps share: a sum over the threads of a block by shuffles (lesson
// warp_synchronous_code), complete in thread 0. A kernel that calls it twice needs a
// barrier in between, because `warp_sums` is used again.
__device__ float sum_of_block(float value) {
    __shared__ float warp_sums[kWarps];
    for (unsigned distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(~0u, value, distance);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x >= 32) return value;
    value = threadIdx.x < kWarps ? warp_sums[threadIdx.x] : 0.0f;
    for (unsigned distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(~0u, value, distance);
    return value;
}

// Step 2, two launches: the blocks leave their sums, and a second kernel of one block adds
// them. It starts when the first one has ended, and then everything that the first one
// wrote is there.
// Slow for few elements because the second launch waits for the last block of the first,
// then has to be started itself, and reads a few kilobytes with one block while all other
// SMs have nothing to do.
__global__ void sum_blocks(const float* values, std::size_t count, float* block_sums) {
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    float sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
         i += stride)
        sum += values[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) block_sums[blockIdx.x] = sum;
}

__global__ void add_block_sums(const float* block_sums, unsigned blocks, float* total) {
    float sum = 0;
    for (unsigned i = threadIdx.x; i < blocks; i += kThreads) sum += block_sums[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) *total = sum;
}

// Step 3, one launch: thread 0 writes the sum of the block and draws a ticket. The block
// that draws the last one, gridDim.x - 1, knows that the other sums have been written, and
// adds them all. The fences make that true. Without the first one a GPU may show the ticket
// to others before the sum: both are writes to memory, to different places. The second one
// belongs to the reader: what is read below it is not older than the ticket. The barrier
// then tells the whole block what thread 0 knows. atomicInc(drawn, last) adds 1, and goes
// back to 0 after `last`: the last draw resets the counter for the next launch.
// Faster because there is only one launch. Still slow because each block has one barrier
// and one atomic more, and because the last block works alone at the end, as in step 2.
// With few elements, that end may be much of the time.
__global__ void sum_by_last_block(const float* values, std::size_t count, float* block_sums,
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
        __threadfence();
        const unsigned ticket = atomicInc(drawn, gridDim.x - 1);
        __threadfence();
        is_last = ticket == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;  // all threads of the block, or none

    float rest = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += kThreads) rest += block_sums[i];
    rest = sum_of_block(rest);
    if (threadIdx.x == 0) *total = rest;
}

// Step 4, for comparison: each block adds its sum to the total by an atomic operation.
// There is no ticket and no fence, because no block reads what another block wrote.
// Better because the code is the shortest, and it is no slower than step 3: there are no
// more blocks than fit on the device, so few additions to the one address are serialized.
// The price is that the total must be cleared first, which is an operation of its own
// before the launch. Blocks come in any order, so the last digits may differ from run to
// run. Those of step 3 never do: its last block adds in the order of the array, whichever
// block it is. And there is not an atomic operation for everything, for example none for
// the place of the largest element together with the element.
__global__ void sum_by_atomics(const float* values, std::size_t count, float* total) {
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    float sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
         i += stride)
        sum += values[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) atomicAdd(total, sum);
}

// Step 5, step 3 with 16 bytes per access and four sums per thread, so that four loads are
// in flight at a time.
// Better for large arrays, which are memory-bound. For small ones it changes nothing: there
// the launch takes most of the time.
__global__ void sum_by_last_block_float4(const float* values, std::size_t count,
                                         float* block_sums, unsigned* drawn, float* total) {
    __shared__ bool is_last;
    const auto* fours = reinterpret_cast<const float4*>(values);
    const std::size_t vectors = count / 4;
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    const std::size_t thread = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    float sums[4] = {0, 0, 0, 0};
    std::size_t i = thread;
    for (; i + 3 * stride < vectors; i += 4 * stride) {
        float4 four[4];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) four[k] = fours[i + k * stride];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k)
            sums[k] += (four[k].x + four[k].y) + (four[k].z + four[k].w);
    }
    for (; i < vectors; i += stride) {
        const float4 four = fours[i];
        sums[0] += (four.x + four.y) + (four.z + four.w);
    }
    if (thread < count % 4) sums[1] += values[4 * vectors + thread];

    const float sum = sum_of_block((sums[0] + sums[1]) + (sums[2] + sums[3]));
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = sum;
        __threadfence();
        const unsigned ticket = atomicInc(drawn, gridDim.x - 1);
        __threadfence();
        is_last = ticket == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;

    float rest = 0;
    for (unsigned k = threadIdx.x; k < gridDim.x; k += kThreads) rest += block_sums[k];
    rest = sum_of_block(rest);
    if (threadIdx.x == 0) *total = rest;
}

}  // namespace
}  // namespace memory_model
