#pragma once

#include "chapters/4_examples/attention/step_01_scores_in_memory.cuh"

namespace examples {
namespace {

constexpr unsigned kWarps = kThreads / kLanes;

// Step 2, one kernel: a warp computes one row of the result, and takes 32 keys at a time.
// Each lane computes the score of one key. When a larger score comes, the sum of the
// weights *and* the sum of the values are multiplied by exp2(old - new), as if they had
// been taken with the new maximum from the beginning (lesson softmax, step 4). So a score
// is used where it was computed, and none is ever stored.
// Faster because nothing of the size tokens x tokens moves, and because loads have 16 and 8
// bytes. Still slow because each row reads all keys and all values by itself: 768 bytes of
// sectors for each score.
__global__ void __launch_bounds__(kThreads) row_per_warp(Heads x) {
    __shared__ float queries[kWarps][kDim];
    const unsigned warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    const std::size_t row = std::size_t{blockIdx.x} * kWarps + warp;
    if (row >= std::size_t{x.heads} * x.tokens) return;  // a whole warp
    const std::size_t first_key = row / x.tokens * x.tokens;
    const Bf16* const keys = x.keys + first_key * kDim;
    const Bf16* const values = x.values + first_key * kDim;

    const auto load_four = [&](const Bf16* from) -> float4 {
        const uint2 two = reinterpret_cast<const uint2*>(from)[lane];
        return {low_of(two.x), high_of(two.x), low_of(two.y), high_of(two.y)};
    };
    const float4 own = load_four(x.queries + row * kDim);
    reinterpret_cast<float4*>(queries[warp])[lane] = scaled(own, kScaleLog2e);
    __syncwarp();

    float largest = kLowest, sum = 0;
    float4 out = {0, 0, 0, 0};
    for (unsigned first = 0; first < x.tokens; first += kLanes) {
        float score = -INFINITY;  // of no key: its weight is 0
        if (first + lane < x.tokens) {
            score = 0;
            const Bf16* const key = keys + std::size_t{first + lane} * kDim;
            for (unsigned d = 0; d < kDim; d += 8) {
                float k[8];
                load_eight(k, key + d);
#pragma unroll
                for (unsigned i = 0; i < 8; ++i) score += queries[warp][d + i] * k[i];
            }
        }
        const float larger = fmaxf(largest, largest_over_lanes<kLanes>(score));
        const float correction = exp2f(largest - larger);
        const float weight = exp2f(score - larger);
        largest = larger;
        sum = sum * correction + weight;  // of this lane's keys
        out = scaled(out, correction);
        for (unsigned i = 0; i < min(kLanes, x.tokens - first); ++i) {
            const float w = __shfl_sync(~0u, weight, static_cast<int>(i));
            const float4 v = load_four(values + std::size_t{first + i} * kDim);
            out = {out.x + w * v.x, out.y + w * v.y, out.z + w * v.z, out.w + w * v.w};
        }
    }
    const float factor = 1 / sum_over_lanes<kLanes>(sum);
    reinterpret_cast<float4*>(x.out + row * kDim)[lane] = scaled(out, factor);
}

}  // namespace
}  // namespace examples
