#pragma once

#include "chapters/4_examples/sparse_matrix_vector/csr.cuh"

namespace examples {
namespace {

// Step 2, one thread per row, as many threads as rows.
// Slow because neighboring lanes read elements that are a row apart, so that a load touches
// up to 32 sectors for 4 bytes each. And a warp takes as long as its longest row: while one
// lane adds up a long row, the other 31 have nothing to do.
__global__ void thread_per_row(Csr a, const float* x, float* y) {
    const int row = blockIdx.x * kThreads + threadIdx.x;
    if (row >= a.rows) return;
    const int begin = a.first[row], end = a.first[row + 1];
    float sum = 0;
    for (int k = begin; k < end; ++k) sum += product(a, x, k);
    y[row] = sum;
}

}  // namespace
}  // namespace examples
