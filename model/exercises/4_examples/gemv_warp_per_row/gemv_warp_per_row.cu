// Exercise: a matrix times a vector, with one warp per row.
// The task: ./warpwise task gemv_warp_per_row
#include "exercises/4_examples/gemv_warp_per_row/gemv_warp_per_row.h"

#include <cuda_runtime.h>

constexpr int lanes = 32;
constexpr int warps = 8;  // per block, and therefore rows per block

__global__ void a_warp_for_each_row(const float* matrix, size_t pitch, int rows, int cols,
                                    const float* x, float* y) {
    const int lane = threadIdx.x % lanes;
    // TODO 1: which row belongs to this warp? (At present all warps of a block take the
    // same row.) A warp without a row may leave, because all of its lanes leave together.
    const int row = blockIdx.x;
    if (row >= rows) return;

    // TODO 2: let the lanes share the columns, so that neighboring lanes read neighboring
    // columns in each round. (At present lane 0 does everything.)
    float sum = 0;
    for (int col = 0; col < cols; ++col) {
        if (lane == 0) sum += matrix[row * pitch + col] * x[col];
    }

    // TODO 3: add up the sums of the 32 lanes, by shuffles.

    // TODO 4: let one lane write the sum of the row.
    if (lane == 0 && threadIdx.x / lanes == 0) y[row] = sum;
}

void multiply(const float* d_matrix, size_t pitch, int rows, int cols, const float* d_x,
              float* d_y) {
    if (rows == 0) return;
    // TODO 5: with one row per warp, how many blocks are needed? (At present some rows
    // never get a warp.)
    const int blocks = rows / warps;
    if (blocks == 0) return;
    a_warp_for_each_row<<<blocks, warps * lanes>>>(d_matrix, pitch, rows, cols, d_x, d_y);
}
