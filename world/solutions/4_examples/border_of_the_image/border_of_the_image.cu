// Solution: a filter that was tested with images of 512 x 512 pixels.
//
// The halo past the last row of a tile was loaded by the threads with threadIdx.y == 15.
// Where the image ends within the tile, these threads are outside of it and load nothing,
// so nobody loaded the row below the last pixels. The thread that has to load it is the one
// with the last pixel of the tile: that of row 15, or that of the last row of the image.
// The same holds for columns, and for the corners, which are asked for by the same
// conditions.
#include <cuda_runtime.h>

#include "exercises/4_examples/border_of_the_image/border_of_the_image.h"

constexpr int side = 16;  // of a tile, and of a block

__constant__ float filter_weights[9];

/// The pixel of this row and column, or the nearest one at the border of the image.
__device__ float pixel(const float* in, int rows, int cols, int row, int col) {
    row = min(max(row, 0), rows - 1);
    col = min(max(col, 0), cols - 1);
    return in[row * cols + col];
}

__global__ void filter_tile(const float* in, float* out, int rows, int cols) {
    __shared__ float tile[side + 2][side + 2];
    const int row = blockIdx.y * side + threadIdx.y, col = blockIdx.x * side + threadIdx.x;
    const int y = threadIdx.y + 1, x = threadIdx.x + 1;
    if (row < rows && col < cols) {
        tile[y][x] = pixel(in, rows, cols, row, col);
        const bool top = threadIdx.y == 0, left = threadIdx.x == 0;
        const bool bottom = threadIdx.y == side - 1 || row == rows - 1;
        const bool right = threadIdx.x == side - 1 || col == cols - 1;
        if (top) tile[y - 1][x] = pixel(in, rows, cols, row - 1, col);
        if (bottom) tile[y + 1][x] = pixel(in, rows, cols, row + 1, col);
        if (left) tile[y][x - 1] = pixel(in, rows, cols, row, col - 1);
        if (right) tile[y][x + 1] = pixel(in, rows, cols, row, col + 1);
        if (top && left) tile[y - 1][x - 1] = pixel(in, rows, cols, row - 1, col - 1);
        if (top && right) tile[y - 1][x + 1] = pixel(in, rows, cols, row - 1, col + 1);
        if (bottom && left) tile[y + 1][x - 1] = pixel(in, rows, cols, row + 1, col - 1);
        if (bottom && right) tile[y + 1][x + 1] = pixel(in, rows, cols, row + 1, col + 1);
    }
    __syncthreads();
    if (row >= rows || col >= cols) return;
    float sum = 0;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j)
            sum += filter_weights[3 * i + j] * tile[y + i - 1][x + j - 1];
    }
    out[row * cols + col] = sum;
}

void filter_3x3(const float* d_in, float* d_out, int rows, int cols, const float* weights) {
    if (rows == 0 || cols == 0) return;
    cudaMemcpyToSymbol(filter_weights, weights, 9 * sizeof(float));
    const dim3 block(side, side);
    const dim3 grid((cols + side - 1) / side, (rows + side - 1) / side);
    filter_tile<<<grid, block>>>(d_in, d_out, rows, cols);
}
