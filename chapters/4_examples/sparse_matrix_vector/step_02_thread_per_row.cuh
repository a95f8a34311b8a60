#pragma once

#include "chapters/4_examples/sparse_matrix_vector/csr.cuh"

namespace examples {
namespace {

// Step 2, one thread per row.
// Slow because neighboring lanes read elements that are a row apart: each load touches up
// to 32 sectors for 4 bytes each. And a warp takes as long as its longest row.
__global__ void thread_per_row(Csr a, const float* x, float* y) {
    const int row = blockIdx.x * kThreads + threadIdx.x;
    if (row >= a.rows) return;
    float sum = 0;
    for (int k = a.first[row]; k < a.first[row + 1]; ++k) sum += product(a, x, k);
    y[row] = sum;
}

}  // namespace
}  // namespace examples
