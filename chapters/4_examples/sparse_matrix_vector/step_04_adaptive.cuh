#pragma once

#include "chapters/4_examples/sparse_matrix_vector/csr.cuh"

namespace examples {
namespace {

constexpr int kStream = 2048;  // elements that a block of step 4 puts into shared memory

// Step 4, rows in groups: the host puts neighboring rows together as long as they have at
// most kStream elements, and a row with more is a group of its own. `groups` has the first
// row of each group, and after the last one the number of rows. A block computes the
// products of its group, whatever row they belong to, neighbors by neighbors, and leaves
// them in shared memory. Then each thread adds up a row. A single long row is added up by
// the whole block.
// Faster because all lanes load, however short the rows are. Still slow because the sums of
// a group's rows take as long as its longest row, and because the longest row of all is the
// work of one block.
__global__ void __launch_bounds__(kThreads)
    adaptive(Csr a, const int* groups, const float* x, float* y) {
    __shared__ float products[kStream];
    __shared__ float sums[kWarps];
    const int first_row = groups[blockIdx.x], end_row = groups[blockIdx.x + 1];
    const int begin = a.first[first_row], end = a.first[end_row];
    if (end - begin <= kStream) {
        for (int k = begin + threadIdx.x; k < end; k += kThreads)
            products[k - begin] = product(a, x, k);
        __syncthreads();
        for (int row = first_row + threadIdx.x; row < end_row; row += kThreads) {
            float sum = 0;
            for (int k = a.first[row]; k < a.first[row + 1]; ++k) sum += products[k - begin];
            y[row] = sum;
        }
        return;
    }
    float sum = 0;
    for (int k = begin + threadIdx.x; k < end; k += kThreads) sum += product(a, x, k);
    sum = sum_over_lanes<kLanes>(sum);
    if (threadIdx.x % kLanes == 0) sums[threadIdx.x / kLanes] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < kWarps; ++warp) sum += sums[warp];
        y[first_row] = sum;
    }
}

}  // namespace
}  // namespace examples
