#pragma once

#include "chapters/4_examples/softmax/moments.cuh"  // Moments, combined
#include "chapters/4_examples/transformer_block/shapes.cuh"

namespace examples {
namespace {

// Step 2, a layer norm with one warp per row and Welford's sum: mean and variance in one
// pass, combined over the lanes by shuffles.
// Faster because neighboring lanes read neighboring floats, so that whole sectors are used,
// and because a matrix of 1024 rows has work for 32 times as many threads. Still slow
// because the row is read twice, and because each element takes a division.
__global__ void norm_by_warp(const float* in, std::size_t rows, std::size_t cols,
                             const float* gamma, const float* beta, float* out) {
    const std::size_t row = std::size_t{blockIdx.x} * kWarps + threadIdx.x / kLanes;
    if (row >= rows) return;  // the whole warp
    const unsigned lane = threadIdx.x % kLanes;
    const float* const from = in + row * cols;
    float* const to = out + row * cols;
    Moments own = {0, 0, 0};
    for (std::size_t col = lane; col < cols; col += kLanes) {
        const float x = from[col], difference = x - own.mean;
        own.count += 1;
        own.mean += difference / own.count;
        own.m2 += difference * (x - own.mean);
    }
    for (unsigned distance = kLanes / 2; distance > 0; distance /= 2) {
        const Moments other = {__shfl_xor_sync(~0u, own.count, distance),
                               __shfl_xor_sync(~0u, own.mean, distance),
                               __shfl_xor_sync(~0u, own.m2, distance)};
        own = combined(own, other);
    }
    const float factor = rsqrtf(own.m2 / own.count + kEpsilon);
    for (std::size_t col = lane; col < cols; col += kLanes)
        to[col] = (from[col] - own.mean) * factor * gamma[col] + beta[col];
}

}  // namespace
}  // namespace examples
