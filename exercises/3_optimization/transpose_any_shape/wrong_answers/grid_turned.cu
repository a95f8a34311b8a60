// Wrong answer: counts the blocks in x along the rows and those in y along the columns
// Rejected by: transposes wide and high matrices of whole tiles
// Message: were never written
#include "exercises/3_optimization/transpose_any_shape/transpose_any_shape.h"

constexpr int side = 32;       // of a tile
constexpr int block_rows = 8;  // rows of a block of threads; each thread takes side / block_rows elements

__global__ void transpose_tiles(const float* in, float* out, int rows, int cols) {
    __shared__ float tile[side][side + 1];
    const int tile_row = blockIdx.y * side;
    const int tile_col = blockIdx.x * side;
    const int x = threadIdx.x;

    for (int y = threadIdx.y; y < side; y += block_rows) {
        if (tile_row + y < rows && tile_col + x < cols) {
            tile[y][x] = in[static_cast<size_t>(tile_row + y) * cols + tile_col + x];
        }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < side; y += block_rows) {
        if (tile_col + y < cols && tile_row + x < rows) {
            out[static_cast<size_t>(tile_col + y) * rows + tile_row + x] = tile[x][y];
        }
    }
}

void transpose(const float* d_in, float* d_out, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    const dim3 grid((rows + side - 1) / side, (cols + side - 1) / side);
    transpose_tiles<<<grid, dim3(side, block_rows)>>>(d_in, d_out, rows, cols);
}
