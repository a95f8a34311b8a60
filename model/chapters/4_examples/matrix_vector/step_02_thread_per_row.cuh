#pragma once

#include "chapters/4_examples/matrix_vector/product.h"

namespace examples {
namespace {

// Step 2, one thread per row: the loop of step 1, for 32 rows at a time in each warp.
// Slow because the lanes are a whole row apart, so each of them needs a sector of its own,
// uses 4 of its 32 bytes, and comes back for the next 4. And a matrix with fewer rows than
// the chip has threads leaves the other threads without work.
__global__ void thread_per_row(const float* a, std::size_t pitch, std::size_t rows,
                               std::size_t cols, const float* x, float* y) {
    const std::size_t row = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (std::size_t col = 0; col < cols; ++col) sum += a[row * pitch + col] * x[col];
    y[row] = sum;
}

}  // namespace
}  // namespace examples
