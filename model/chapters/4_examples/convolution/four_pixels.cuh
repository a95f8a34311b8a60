// What steps 7 to 10 share: four pixels of a row per thread, 16 bytes per load and store.
// The radius is four as well, so a thread needs its own four pixels and those of the
// threads to its left and right.
#pragma once

#include <cuda_runtime.h>

#include "chapters/4_examples/convolution/image.cuh"

namespace examples {
namespace {

constexpr int kLanes = 32;
constexpr int kPixels = 4;  // per thread; a thread's column is a multiple of it
static_assert(kRadius == kPixels, "the neighbors of a thread hold all that it needs");

// Where a row ends within four pixels, they are loaded one by one, clamped.
__device__ bool are_inside(int col, int cols) { return 0 <= col && col + kPixels <= cols; }

__device__ float4 load_four(const float* row, int col, int cols) {
    if (are_inside(col, cols)) return *reinterpret_cast<const float4*>(row + col);
    return {row[clamped(col, cols)], row[clamped(col + 1, cols)],
            row[clamped(col + 2, cols)], row[clamped(col + 3, cols)]};
}

// Those of the four pixels that the image has.
__device__ void store_four(float* row, int col, int cols, float4 pixels) {
    if (are_inside(col, cols)) {
        *reinterpret_cast<float4*>(row + col) = pixels;
        return;
    }
    if (col < cols) row[col] = pixels.x;
    if (col + 1 < cols) row[col + 1] = pixels.y;
    if (col + 2 < cols) row[col + 2] = pixels.z;
}

// Four pixels filtered along their row: `own`, with the four to each side of them.
__device__ float4 sums_along_row(float4 left, float4 own, float4 right) {
    const float x[3 * kPixels] = {left.x, left.y, left.z,  left.w,  own.x,   own.y,
                                  own.z,  own.w,  right.x, right.y, right.z, right.w};
    float4 sum = {0, 0, 0, 0};
#pragma unroll
    for (int j = 0; j < kTaps; ++j) {
        sum.x += line_weights[j] * x[j];
        sum.y += line_weights[j] * x[j + 1];
        sum.z += line_weights[j] * x[j + 2];
        sum.w += line_weights[j] * x[j + 3];
    }
    return sum;
}

__device__ void add_scaled(float4& sum, float weight, float4 pixels) {
    sum.x += weight * pixels.x;
    sum.y += weight * pixels.y;
    sum.z += weight * pixels.z;
    sum.w += weight * pixels.w;
}

}  // namespace
}  // namespace examples
