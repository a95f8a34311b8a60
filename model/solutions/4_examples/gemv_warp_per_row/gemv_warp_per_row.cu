// Solution: a matrix times a vector, a warp for each row.
//
// Lane l takes columns l, l + 32, l + 64 ..., so that the 32 lanes read 32 neighboring
// floats in each round, of the matrix and of x. A row that is no multiple of 32 long leaves
// some lanes without a column in the last round; they have a sum all the same, and bring it
// to the shuffles, which need all 32. A warp without a row leaves as a whole, which is no
// harm: nobody waits for it, since there is no barrier of the block.
#include "exercises/4_examples/gemv_warp_per_row/gemv_warp_per_row.h"

#include <cuda_runtime.h>

constexpr int lanes = 32;
constexpr int warps = 8;  // of a block, and so rows of a block

__global__ void a_warp_for_each_row(const float* matrix, size_t pitch, int rows, int cols,
                                    const float* x, float* y) {
    const int lane = threadIdx.x % lanes;
    const int row = blockIdx.x * warps + threadIdx.x / lanes;
    if (row >= rows) return;

    float sum = 0;
    for (int col = lane; col < cols; col += lanes)
        sum += matrix[row * pitch + col] * x[col];

    for (int distance = lanes / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, distance);

    if (lane == 0) y[row] = sum;
}

void multiply(const float* d_matrix, size_t pitch, int rows, int cols, const float* d_x,
              float* d_y) {
    if (rows == 0) return;
    const int blocks = (rows + warps - 1) / warps;
    a_warp_for_each_row<<<blocks, warps * lanes>>>(d_matrix, pitch, rows, cols, d_x, d_y);
}
