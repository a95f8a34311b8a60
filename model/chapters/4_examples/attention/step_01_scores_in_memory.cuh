#pragma once

#include "chapters/4_examples/attention/heads.cuh"

namespace examples {
namespace {

constexpr unsigned kThreads = 256;  // of a block, in steps 1 to 3

// Step 1, the formula as it is written, in three kernels. The first one computes the
// scores: one thread per query and key. They go to memory, tokens x tokens floats per head.
__global__ void __launch_bounds__(kThreads) scores(Heads x, float* scores) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    const std::size_t row = i / x.tokens, key = i % x.tokens;
    if (row >= std::size_t{x.heads} * x.tokens) return;
    const std::size_t first_key = row / x.tokens * x.tokens;
    const Bf16* const q = x.queries + row * kDim;
    const Bf16* const k = x.keys + (first_key + key) * kDim;
    float sum = 0;
    for (unsigned d = 0; d < kDim; ++d)
        sum += __bfloat162float(q[d]) * __bfloat162float(k[d]);
    scores[i] = sum * kScale;
}

// The second one replaces each row of scores by its softmax: one warp per row, three
// passes.
__global__ void __launch_bounds__(kThreads) softmax_of_scores(Heads x, float* scores) {
    const std::size_t row = (std::size_t{blockIdx.x} * kThreads + threadIdx.x) / kLanes;
    if (row >= std::size_t{x.heads} * x.tokens) return;
    float* const of_row = scores + row * x.tokens;
    const unsigned lane = threadIdx.x % kLanes;
    float largest = kLowest;
    for (unsigned key = lane; key < x.tokens; key += kLanes)
        largest = fmaxf(largest, of_row[key]);
    largest = largest_over_lanes<kLanes>(largest);
    float sum = 0;
    for (unsigned key = lane; key < x.tokens; key += kLanes)
        sum += expf(of_row[key] - largest);
    const float factor = 1 / sum_over_lanes<kLanes>(sum);
    for (unsigned key = lane; key < x.tokens; key += kLanes)
        of_row[key] = expf(of_row[key] - largest) * factor;
}

// The third one adds the values with these weights: one thread per element of the result.
// Slow because a score is written twice and read four times or more, all by way of memory,
// and because each multiply-add loads both of its operands, from caches at best. The lanes
// of a warp read keys that are 256 bytes apart, and a sector of 32 bytes brings each of
// them 2 bytes. And where many tokens are, the scores do not fit into memory at all.
__global__ void __launch_bounds__(kThreads) weighted_values(Heads x, const float* weights) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    const std::size_t row = i / kDim, d = i % kDim;
    if (row >= std::size_t{x.heads} * x.tokens) return;
    const std::size_t first_key = row / x.tokens * x.tokens;
    float sum = 0;
    for (unsigned key = 0; key < x.tokens; ++key)
        sum += weights[row * x.tokens + key] *
               __bfloat162float(x.values[(first_key + key) * kDim + d]);
    x.out[i] = sum;
}

}  // namespace
}  // namespace examples
