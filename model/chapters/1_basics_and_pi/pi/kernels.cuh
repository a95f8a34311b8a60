// The kernels of pi, in the order of its steps. Steps 1 and 2 are loops on the host.
//
//     pi ~ h * sum over i = 0 .. n-1 of 4 / (1 + x_i^2),    x_i = (i + 1/2) * h
//
// n is the number of slices, and h = 1 / n is the width of a slice.
#pragma once

#include <cstdint>

namespace basics_and_pi {
namespace {

using std::uint64_t;

constexpr unsigned kThreads = 256;  // per block, a power of two: the trees halve it

// Step 3, one sum per thread: thread t of T takes the slices t, t + T, t + 2T, and so on,
// and leaves its sum in memory. The host copies all sums and adds them. The sums are
// floats, because a GPU has at least twice as many units for floats as for doubles.
// x is computed as (i + 1/2) h. Adding h again and again would add an error with each
// addition.
// Faster because thousands of threads compute at the same time.
// Still slow because a quarter of a million sums cross the bus, and one core adds them.
__global__ void sum_per_thread(uint64_t slices, float width, float* thread_sums) {
    const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
    const uint64_t thread = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    float sum = 0;
    for (uint64_t i = thread; i < slices; i += threads) {
        const float x = (static_cast<float>(i) + 0.5f) * width;
        sum += 4 / (1 + x * x);
    }
    thread_sums[thread] = sum;
}

// Step 4, a tree in each block: the threads put their sums into shared memory. Then half of
// them add the other half's sums, then a quarter, until one sum is left after log2(256) = 8
// rounds. All threads meet at the barrier before each round.
// Blocks cannot wait for each other inside a kernel. The end of the kernel is their
// barrier, so a second kernel of a single block adds the sums of the blocks in the same
// way.
// Faster because the host adds nothing, and only 8 bytes leave the device.
// Still slow because there are two launches, and because in every round of the tree half of
// the working threads drop out.
__global__ void sum_by_tree(uint64_t slices, float width, float* block_sums) {
    __shared__ float partial[kThreads];
    const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
    float sum = 0;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < slices;
         i += threads) {
        const float x = (static_cast<float>(i) + 0.5f) * width;
        sum += 4 / (1 + x * x);
    }
    partial[threadIdx.x] = sum;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    if (threadIdx.x == 0) block_sums[blockIdx.x] = partial[0];
}

__global__ void add_block_sums(const float* block_sums, unsigned blocks, double width,
                               double* pi) {
    __shared__ float partial[kThreads];
    float sum = 0;
    for (unsigned i = threadIdx.x; i < blocks; i += kThreads) sum += block_sums[i];
    partial[threadIdx.x] = sum;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    if (threadIdx.x == 0) *pi = width * partial[0];
}

// Step 5, one launch: each block adds its sum to the result by an atomic operation. The
// result has to be 0 before the launch, so a memset takes the place of the second kernel.
// Blocks finish in any order, and rounding depends on the order of the additions, so the
// last digits may differ from run to run. The result is a double, which keeps that
// difference small.
// Faster because there is no second kernel.
// Still slow because of the work on each slice, which all steps have in common: a division,
// and the conversion of a 64-bit index to a float.
__global__ void sum_with_atomics(uint64_t slices, double width, double* pi) {
    __shared__ float partial[kThreads];
    const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
    const float float_width = static_cast<float>(width);
    float sum = 0;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < slices;
         i += threads) {
        const float x = (static_cast<float>(i) + 0.5f) * float_width;
        sum += 4 / (1 + x * x);
    }
    partial[threadIdx.x] = sum;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    if (threadIdx.x == 0) atomicAdd(pi, width * partial[0]);
}

}  // namespace
}  // namespace basics_and_pi
