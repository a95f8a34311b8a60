#pragma once

#include "chapters/4_examples/sparse_matrix_vector/csr.cuh"

namespace examples {
namespace {

constexpr int kStreamSteps = 8;
constexpr int kStream = kThreads * kStreamSteps;  // elements that a block puts together

// Step 4, rows in groups (J. L. Greathouse and M. Daga, CSR-Adaptive, 2014). The host puts
// neighboring rows together as long as they have at most kStream elements, and a row with
// more elements is a group of its own. `groups` has the first row of each group, and after
// the last one the number of rows. A block computes all products of its group, neighbors by
// neighbors, whatever row they belong to, and leaves them in shared memory. Then each
// thread adds up a row. A single long row is added up by the whole block.
// Faster because all lanes load, however short the rows are. Still slow because a group
// waits for the thread with its longest row, because rows of 16 elements make these threads
// read the same bank, and because the longest row of all is the work of one block.
__global__ void __launch_bounds__(kThreads)
    adaptive(Csr a, const int* groups, const float* x, float* y) {
    __shared__ float products[kStream];
    __shared__ float sums[kWarps];
    const int first_row = groups[blockIdx.x], end_row = groups[blockIdx.x + 1];
    const int begin = a.first[first_row], end = a.first[end_row];
    if (end - begin <= kStream) {
        store_products<kStreamSteps, true>(a, x, begin, end - begin, products);
        __syncthreads();
        for (int row = first_row + threadIdx.x; row < end_row; row += kThreads) {
            const int row_end = a.first[row + 1] - begin;
            float sum = 0;
            for (int k = a.first[row] - begin; k < row_end; ++k) sum += products[k];
            y[row] = sum;
        }
        return;
    }
    float sum = 0;
    for (int k = begin + threadIdx.x; k < end; k += kThreads) sum += product(a, x, k);
    sum = sum_over_block(sum, sums);
    if (threadIdx.x == 0) y[first_row] = sum;
}

}  // namespace
}  // namespace examples
