// Correct answer: a one-dimensional grid, so that very high matrices work, too
#include "exercises/3_optimization/transpose_any_shape/transpose_any_shape.h"

constexpr int side = 32;       // of a tile
constexpr int block_rows = 8;  // rows of a block of threads

__global__ void transpose_tiles(const float* in, float* out, unsigned rows, unsigned cols) {
    __shared__ float tile[side][side + 1];
    const unsigned tiles_across = (cols + side - 1) / side;
    const unsigned tile_row = blockIdx.x / tiles_across * side;
    const unsigned tile_col = blockIdx.x % tiles_across * side;

    for (unsigned y = threadIdx.y; y < side; y += block_rows) {
        const unsigned row = tile_row + y, col = tile_col + threadIdx.x;
        if (row < rows && col < cols) tile[y][threadIdx.x] = in[size_t(row) * cols + col];
    }
    __syncthreads();
    for (unsigned y = threadIdx.y; y < side; y += block_rows) {
        const unsigned row = tile_col + y, col = tile_row + threadIdx.x;
        if (row < cols && col < rows) out[size_t(row) * rows + col] = tile[threadIdx.x][y];
    }
}

/// One block for each tile, counted row after row: a grid's y ends at 65535.
unsigned number_of_tiles(int rows, int cols) {
    const unsigned down = (static_cast<unsigned>(rows) + 31) / 32;
    const unsigned across = (static_cast<unsigned>(cols) + 31) / 32;
    return down * across;
}

void transpose(const float* d_in, float* d_out, int rows, int cols) {
    const unsigned tiles = number_of_tiles(rows, cols);
    if (tiles == 0) return;
    transpose_tiles<<<tiles, dim3(side, block_rows)>>>(d_in, d_out, rows, cols);
}
