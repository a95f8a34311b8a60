// Wrong answer: the store asks for its row only
// Rejected by: transposes square matrices that cut tiles short
// Message: out of bounds: a thread writes
#include "exercises/3_optimization/transpose_any_shape/transpose_any_shape.h"

constexpr int side = 32;       // of a tile
constexpr int block_rows = 8;  // rows of a block of threads

__global__ void transpose_tiles(const float* in, float* out, int rows, int cols) {
    __shared__ float tile[side][side + 1];
    const int tile_row = blockIdx.y * side;
    const int tile_col = blockIdx.x * side;
    const int x = threadIdx.x;

    for (int y = threadIdx.y; y < side; y += block_rows) {
        const int row = tile_row + y, col = tile_col + x;
        if (row < rows && col < cols) tile[y][x] = in[size_t(row) * cols + col];
    }
    __syncthreads();
    for (int y = threadIdx.y; y < side; y += block_rows) {
        const int row = tile_col + y, col = tile_row + x;  // in the output
        if (row < cols) out[size_t(row) * rows + col] = tile[x][y];
    }
}

void transpose(const float* d_in, float* d_out, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    const dim3 grid((cols + side - 1) / side, (rows + side - 1) / side);
    transpose_tiles<<<grid, dim3(side, block_rows)>>>(d_in, d_out, rows, cols);
}
