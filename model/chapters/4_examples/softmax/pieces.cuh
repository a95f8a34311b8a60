// What all kernels of the lesson softmax share: the shape of a block, and floats in pieces
// of one load.
#pragma once

#include <cuda_runtime.h>

namespace examples {
namespace {

constexpr unsigned kLanes = 32;
constexpr unsigned kThreads = 256;  // of a block
constexpr unsigned kWarps = kThreads / kLanes;

// A piece is what one load brings: a float4 where all rows begin at multiples of 16 bytes,
// and a float where they do not.
template <class Piece>
constexpr unsigned kFloats = sizeof(Piece) / sizeof(float);

template <class Piece>
__device__ Piece piece_of(float value) {
    if constexpr (kFloats<Piece> == 4) {
        return {value, value, value, value};
    } else {
        return value;
    }
}

__device__ float sum_of(float a) { return a; }
__device__ float sum_of(float4 a) { return (a.x + a.y) + (a.z + a.w); }

}  // namespace
}  // namespace examples
