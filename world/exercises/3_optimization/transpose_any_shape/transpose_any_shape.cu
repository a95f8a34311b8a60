// Exercise: a transpose that was tested with 1024 x 1024 and nothing else.
// The task: ./warpwise task transpose_any_shape
#include "exercises/3_optimization/transpose_any_shape/transpose_any_shape.h"

constexpr int side = 32;  // of a tile
constexpr int block_rows =
    8;  // rows of threads per block; each thread handles side / block_rows elements

__global__ void transpose_tiles(const float* in, float* out, int rows, int cols) {
    __shared__ float tile[side][side + 1];
    const int tiles_across = (cols - 1) / side + 1;
    const int tile_row = blockIdx.x / tiles_across * side;
    const int tile_col = blockIdx.x % tiles_across * side;
    const int x = threadIdx.x;
    if (tile_col + x >= cols) return;

    for (int y = threadIdx.y; y < side; y += block_rows) {
        if (tile_row + y < rows)
            tile[y][x] = in[static_cast<size_t>(tile_row + y) * cols + tile_col + x];
    }
    __syncthreads();
    for (int y = threadIdx.y; y < side; y += block_rows) {
        if (tile_row + y < rows)
            out[static_cast<size_t>(tile_col + y) * cols + tile_row + x] = tile[x][y];
    }
}

void transpose(const float* d_in, float* d_out, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    // One block per tile. The tiles are numbered in one dimension, because a grid can have
    // 2,147,483,647 blocks in x, but only 65,535 in y.
    const int tiles = ((rows - 1) / side + 1) * ((cols - 1) / side + 1);
    transpose_tiles<<<tiles, dim3(side, block_rows)>>>(d_in, d_out, rows, cols);
}
