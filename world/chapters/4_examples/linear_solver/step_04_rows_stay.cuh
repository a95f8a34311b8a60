#pragma once

#include "chapters/4_examples/linear_solver/pivots.cuh"

namespace examples {
namespace {

// Step 4, no row ever moves. Gauss-Jordan elimination does not depend on where the pivot
// row stands. It is enough to remember which rows have been pivot rows (column_of_row), so
// that they are not chosen again.
// This could be faster because there is one launch per column, and no bytes for
// swaps. (Of equal pivots, another row may be chosen now than in steps 1 to 3,
// since the lowest row is the lowest of the original order.) Still slow because a
// thread loads one float at a time and waits for it, so each thread has 4 bytes in
// flight.
__global__ void eliminate_and_remember(float* a, std::size_t pitch, unsigned n,
                                       unsigned column, PivotKey* keys,
                                       unsigned* column_of_row) {
    __shared__ PivotKey warp_keys[kWarps];
    const unsigned col = (column + 1) / kLanes * kLanes + blockIdx.x * kLanes + threadIdx.x;
    const unsigned pivot_row = row_of(keys[column]);
    PivotKey next = 0;
    if (col > column && col <= n) {
        const float pivot = a[pivot_row * pitch + column];
        const float above = a[pivot_row * pitch + col];
        for (std::size_t row = blockIdx.y * kWarps + threadIdx.y; row < n;
             row += std::size_t{gridDim.y} * kWarps) {
            if (row == pivot_row) continue;
            const float value =
                a[row * pitch + col] - a[row * pitch + column] / pivot * above;
            a[row * pitch + col] = value;
            if (col == column + 1 && column_of_row[row] == kNone)
                next = max(next, pivot_key(value, static_cast<unsigned>(row)));
        }
    }
    if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0 && threadIdx.y == 0)
        column_of_row[pivot_row] = column;
    if (blockIdx.x != 0 || column + 1 == n) return;  // the next column is in these blocks
    if (col == column + 1) warp_keys[threadIdx.y] = next;
    __syncthreads();
    if (threadIdx.x != 0 || threadIdx.y != 0) return;
    PivotKey largest = 0;
    for (unsigned warp = 0; warp < kWarps; ++warp) largest = max(largest, warp_keys[warp]);
    atomicMax(&keys[column + 1], largest);
}

// The unknown of a column stands in the column's pivot row.
__global__ void divide_in_place(const float* a, std::size_t pitch, unsigned n,
                                const PivotKey* keys, float* x, float* pivots) {
    const unsigned column = blockIdx.x * kThreads + threadIdx.x;
    if (column >= n) return;
    const unsigned row = row_of(keys[column]);
    const float pivot = a[row * pitch + column];
    pivots[column] = pivot;
    x[column] = a[row * pitch + n] / pivot;
}

}  // namespace
}  // namespace examples
