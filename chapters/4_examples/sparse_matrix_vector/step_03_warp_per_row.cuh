#pragma once

#include "chapters/4_examples/sparse_matrix_vector/csr.cuh"

namespace examples {
namespace {

// Step 3, `Lanes` lanes per row; with 32, a warp per row. The lanes take neighboring
// elements and add up their sums by shuffles. Lanes without a row stay for the shuffles.
// Faster because the loads of values and columns touch whole sectors. Still slow for rows
// shorter than the lanes, of which most are idle then, and for one row that is far longer
// than the others: everybody waits for its warp.
template <int Lanes>
__global__ void lanes_per_row(Csr a, const float* x, float* y) {
    const int row = (blockIdx.x * kThreads + threadIdx.x) / Lanes;
    const int lane = threadIdx.x % Lanes;
    float sum = 0;
    if (row < a.rows) {
        const int end = a.first[row + 1];
        for (int k = a.first[row] + lane; k < end; k += Lanes) sum += product(a, x, k);
    }
    sum = sum_over_lanes<Lanes>(sum);
    if (row < a.rows && lane == 0) y[row] = sum;
}

}  // namespace
}  // namespace examples
