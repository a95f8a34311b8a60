// What all kernels of the lesson attention share: where queries, keys, and values are, and
// the constants of the softmax.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cfloat>
#include <cmath>
#include <cstddef>

namespace examples {
namespace {

using Bf16 = __nv_bfloat16;

constexpr unsigned kLanes = 32;
constexpr unsigned kDim = 128;  // elements of a query, a key, a value, or a result

// Of all heads, one after the other: `tokens` rows of kDim elements each. A head is an
// attention of its own: its queries see its own keys and values only.
struct Heads {
    const Bf16 *queries, *keys, *values;
    float* out;
    unsigned heads, tokens;
};

// Where a maximum begins: no score is smaller, and unlike -infinity it can be subtracted
// from itself (lesson softmax).
constexpr float kLowest = -FLT_MAX;

// 1 / sqrt(kDim), which keeps scores from growing with kDim. From step 2 on, log2(e) is in
// the same factor: exp(x) is exp2(x log2(e)), and exp2 is the one that the hardware has.
constexpr float kScale = 0.08838834764831843f;
constexpr float kScaleLog2e = 0.12751743082459868f;

// Two bf16 as they lie in memory, as floats: a bf16 is the upper half of a float.
__device__ float low_of(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ float high_of(unsigned pair) { return __uint_as_float(pair & 0xFFFF0000); }

// Eight neighbors with one load of 16 bytes.
__device__ void load_eight(float (&to)[8], const Bf16* from) {
    const uint4 four = *reinterpret_cast<const uint4*>(from);
    const unsigned pairs[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
        to[2 * i] = low_of(pairs[i]);
        to[2 * i + 1] = high_of(pairs[i]);
    }
}

__device__ float2 scaled(float x, float y, float factor) {
    return {x * factor, y * factor};
}
__device__ float4 scaled(float4 x, float factor) {
    return {x.x * factor, x.y * factor, x.z * factor, x.w * factor};
}

// Over `Lanes` neighboring lanes. All of them get the result.
template <unsigned Lanes>
__device__ float largest_over_lanes(float own) {
#pragma unroll
    for (unsigned distance = Lanes / 2; distance > 0; distance /= 2)
        own = fmaxf(own, __shfl_xor_sync(~0u, own, distance));
    return own;
}

template <unsigned Lanes>
__device__ float sum_over_lanes(float own) {
#pragma unroll
    for (unsigned distance = Lanes / 2; distance > 0; distance /= 2)
        own += __shfl_xor_sync(~0u, own, distance);
    return own;
}

}  // namespace
}  // namespace examples
