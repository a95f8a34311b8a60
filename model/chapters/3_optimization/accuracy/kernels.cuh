// The kernels of accuracy. How a term is added is up to `Sum`, one of the methods of
// sums.cuh.
#pragma once

#include <cstddef>

#include "chapters/3_optimization/accuracy/sums.cuh"

namespace optimization {
namespace {

constexpr unsigned kThreads = 256;  // per block

// The textbook's loop: one thread adds one term after the other.
template <class Sum>
__global__ void add_in_a_row(const float* values, std::size_t count, double* total) {
    Sum mine{};
    for (std::size_t i = 0; i < count; ++i) mine.add(values[i]);
    *total = mine.value();
}

// Puts the sums of a block's threads together, with all that they carry. The sum is
// complete in thread 0. In each round the upper half hands over its sums and is done.
template <class Sum>
__device__ Sum sum_of_block(Sum mine) {
    __shared__ Sum handed_over[kThreads];
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x >= half && threadIdx.x < 2 * half) handed_over[threadIdx.x] = mine;
        __syncthreads();
        if (threadIdx.x < half) {
            const Sum other = handed_over[threadIdx.x + half];
            mine.add(other);
        }
    }
    return mine;
}

// The same kernel for all methods but the pairwise one: a grid that fills the device, and
// 32 bytes in flight per thread.
template <class Sum>
__global__ void sum_blocks(const float* values, std::size_t count, Sum* block_sums) {
    const std::size_t threads = std::size_t{gridDim.x} * kThreads;
    const std::size_t thread = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    const std::size_t vectors = count / 4;
    const float4* vector = reinterpret_cast<const float4*>(values);
    Sum mine{};
    std::size_t i = thread;
    for (; i + threads < vectors; i += 2 * threads) {
        const float4 a = vector[i], b = vector[i + threads];
        mine.add(a.x), mine.add(a.y), mine.add(a.z), mine.add(a.w);
        mine.add(b.x), mine.add(b.y), mine.add(b.z), mine.add(b.w);
    }
    if (i < vectors) {
        const float4 a = vector[i];
        mine.add(a.x), mine.add(a.y), mine.add(a.z), mine.add(a.w);
    }
    if (4 * vectors + thread < count) mine.add(values[4 * vectors + thread]);
    mine = sum_of_block(mine);
    if (threadIdx.x == 0) block_sums[blockIdx.x] = mine;
}

// The sum of the block sums, by one block.
template <class Sum>
__global__ void add_blocks(const Sum* block_sums, unsigned blocks, double* total) {
    Sum mine{};
    for (unsigned i = threadIdx.x; i < blocks; i += kThreads) {
        const Sum other = block_sums[i];
        mine.add(other);
    }
    mine = sum_of_block(mine);
    if (threadIdx.x == 0) *total = mine.value();
}

constexpr std::size_t kChunk = 16 * kThreads;  // floats that a block makes one of

// The sum of four neighbors; of fewer at the end of the values.
__device__ float sum_of_four(const float* values, std::size_t count, std::size_t vector) {
    if (4 * vector + 4 <= count) {
        const float4 four = reinterpret_cast<const float4*>(values)[vector];
        return (four.x + four.y) + (four.z + four.w);
    }
    float sum = 0;  // the last one to three, or none
    for (std::size_t i = 4 * vector; i < count; ++i) sum += values[i];
    return sum;
}

// Method 3, pairwise: a thread adds 16 floats as a tree, a block adds 256 such sums, and
// the next launch adds the block sums. No term goes through more than log2(n) additions,
// rounded up to a multiple of 12.
template <class Result>
__global__ void sum_chunks(const float* values, std::size_t count, Result* sums) {
    const std::size_t first = blockIdx.x * (kChunk / 4) + threadIdx.x;
    const float a = sum_of_four(values, count, first),
                b = sum_of_four(values, count, first + kThreads);
    const float c = sum_of_four(values, count, first + 2 * kThreads),
                d = sum_of_four(values, count, first + 3 * kThreads);
    const Plain<float> sum = sum_of_block(Plain<float>{(a + b) + (c + d)});
    if (threadIdx.x == 0) sums[blockIdx.x] = sum.value();
}

// The price of a method with the memory out of the way: all terms are in registers.
constexpr unsigned kTermsInRegisters = 8;

template <class Sum>
__global__ void add_from_registers(const float* values, unsigned rounds, double* totals) {
    float terms[kTermsInRegisters];
    for (unsigned k = 0; k < kTermsInRegisters; ++k) terms[k] = values[k];
    Sum mine{};
    for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
        for (unsigned k = 0; k < kTermsInRegisters; ++k) mine.add(terms[k]);
    }
    totals[std::size_t{blockIdx.x} * kThreads + threadIdx.x] = mine.value();
}

#ifndef __CPU_DEVICE__
// The library leaves its sum as a float, and the lesson compares sums as doubles.
__global__ void to_double(const float* value, double* result) { *result = *value; }
#endif

}  // namespace
}  // namespace optimization
