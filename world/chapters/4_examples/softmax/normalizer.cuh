// What steps 4 to 9 share: the maximum of some elements of a row together with the sum of
// their exponentials.
#pragma once

#include <cuda_runtime.h>

#include <cfloat>

#include "chapters/4_examples/softmax/pieces.cuh"

namespace examples {
namespace {

// Where a maximum begins. It is not -infinity, because -infinity minus -infinity is NaN:
// a thread that has found nothing yet, or nothing but -infinity, would spoil the whole row.
constexpr float kLowest = -FLT_MAX;

// Of some elements x: the largest one, and the sum of exp(x - largest). {kLowest, 0} where
// there are none.
struct Normalizer {
    float largest, sum;
};

// Of the elements of both. The sum of each was taken with another maximum than the common
// one, and exp(x - a) * exp(a - b) is exp(x - b). (M. Milakov and N. Gimelshein, Online
// normalizer calculation for softmax, arXiv:1805.02867, 2018.)
__device__ Normalizer combined(Normalizer a, Normalizer b) {
    const float largest = fmaxf(a.largest, b.largest);
    return {largest, a.sum * expf(a.largest - largest) + b.sum * expf(b.largest - largest)};
}

// The same for all of `Lanes` neighboring lanes. All of them get the result. First the
// maximum alone, then one factor per lane, then the sum: one exponential per lane, where
// `combined` in each round would take two.
template <unsigned Lanes>
__device__ Normalizer combined_over_lanes(Normalizer own) {
    float largest = own.largest;
    for (unsigned distance = Lanes / 2; distance > 0; distance /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, distance));
    float sum = own.sum * expf(own.largest - largest);
    for (unsigned distance = Lanes / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(~0u, sum, distance);
    return {largest, sum};
}

__device__ float largest_of(float a) { return a; }
__device__ float largest_of(float4 a) { return fmaxf(fmaxf(a.x, a.y), fmaxf(a.z, a.w)); }

__device__ float exp_of(float a, float shift) { return expf(a - shift); }
__device__ float4 exp_of(float4 a, float shift) {
    return {expf(a.x - shift), expf(a.y - shift), expf(a.z - shift), expf(a.w - shift)};
}

__device__ float scaled(float a, float factor) { return a * factor; }
__device__ float4 scaled(float4 a, float factor) {
    return {a.x * factor, a.y * factor, a.z * factor, a.w * factor};
}

}  // namespace
}  // namespace examples
