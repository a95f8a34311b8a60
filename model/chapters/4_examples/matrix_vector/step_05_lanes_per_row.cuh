#pragma once

#include "chapters/4_examples/matrix_vector/product.h"

namespace examples {
namespace {

// Step 5, as many lanes per row as it has columns, rounded up to a power of two: 2 to 16
// for narrow matrices, else 32. So a warp takes up to 16 rows at a time, and a shuffle with
// a smaller distance stays among the lanes of a row.
// Faster because no lane is without work. Still slow because a load brings 4 bytes, and in
// a narrow matrix a thread has just one of them.
template <unsigned Lanes>
__global__ void lanes_per_row(const float* a, std::size_t pitch, std::size_t rows,
                              std::size_t cols, const float* x, float* y) {
    const std::size_t row = (std::size_t{blockIdx.x} * kThreads + threadIdx.x) / Lanes;
    const unsigned lane = threadIdx.x % Lanes;
    float sum = 0;
    if (row < rows) {
        for (std::size_t col = lane; col < cols; col += Lanes)
            sum += a[row * pitch + col] * x[col];
    }
    for (unsigned distance = Lanes / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(~0u, sum, distance);
    if (lane == 0 && row < rows) y[row] = sum;
}

}  // namespace
}  // namespace examples
