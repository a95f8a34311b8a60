#pragma once

#include "chapters/4_examples/sparse_matrix_vector/csr.cuh"

namespace examples {
namespace {

// Step 3, `Lanes` lanes per row, which is a warp per row with 32 of them. The lanes take
// neighboring elements and add up their sums by shuffles. Lanes without a row stay for the
// shuffles.
// Faster because a load of values or columns touches whole sectors. Still slow for rows
// with fewer elements than lanes, because most lanes are idle there and a warp has few
// loads in flight. And one row that is far longer than the others is still the work of one
// warp, for which the device waits.
template <int Lanes>
__global__ void lanes_per_row(Csr a, const float* x, float* y) {
    const int row = (blockIdx.x * kThreads + threadIdx.x) / Lanes;
    const int lane = threadIdx.x % Lanes;
    float sum = 0;
    if (row < a.rows) {
        const int begin = a.first[row], end = a.first[row + 1];
        for (int k = begin + lane; k < end; k += Lanes) sum += product(a, x, k);
    }
    sum = sum_over_lanes<Lanes>(sum);
    if (row < a.rows && lane == 0) y[row] = sum;
}

}  // namespace
}  // namespace examples
