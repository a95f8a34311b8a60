// What steps 6 to 8 share: pieces of a row, which are what one load brings.
#pragma once

#include "chapters/4_examples/matrix_vector/product.h"

namespace examples {
namespace {

// A piece is a float4 where rows begin at multiples of 16 bytes, and a float where they do
// not.
__device__ float product_of(float4 a, float4 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
__device__ float product_of(float a, float b) { return a * b; }

template <class Piece>
__device__ Piece piece_at(const float* row, std::size_t piece) {
    return reinterpret_cast<const Piece*>(row)[piece];
}

template <class Piece>
constexpr unsigned kFloats = sizeof(Piece) / sizeof(float);

}  // namespace
}  // namespace examples
