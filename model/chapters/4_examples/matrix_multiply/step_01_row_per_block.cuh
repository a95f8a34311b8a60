#pragma once

#include "chapters/4_examples/matrix_multiply/tiles.cuh"

namespace examples {
namespace {

constexpr unsigned kRowThreads = 256;

// Step 1, one block per row of C, and one thread per element of this row. The lanes of a
// warp read the same element of A and neighboring elements of B, so all loads are
// coalesced.
// Slow because each multiply-add needs two loads from global memory, and all blocks read B.
// What one thread has loaded no other thread can use, unless a cache still holds it.
__global__ void product_row_per_block(const float* a, const float* b, float* c, Extents x) {
    const std::size_t row = blockIdx.x;
    for (std::size_t col = threadIdx.x; col < x.n; col += kRowThreads) {
        float sum = 0;
        for (std::size_t p = 0; p < x.k; ++p) sum += a[row * x.k + p] * b[p * x.n + col];
        c[row * x.n + col] = sum;
    }
}

}  // namespace
}  // namespace examples
