// Exercise: a tile without bank conflicts and without padding.
// The task: ./warpwise task swizzle_the_tile
#include "exercises/2_memory_model/swizzle_the_tile/swizzle_the_tile.h"

constexpr int block_rows = 8;  // each thread takes side / block_rows numbers

__global__ void adjoint_tiles(const float2* matrix, float2* adjoint, int rows, int cols) {
    // TODO 1: a number has 8 bytes, so it lies in two neighboring banks. In which banks do
    // the numbers lie that half a warp stores, and those that it loads?
    __shared__ float2 tile[side][side];

    const int tiles_across = (cols - 1) / side + 1;
    const int tile_row = blockIdx.x / tiles_across * side;
    const int tile_col = blockIdx.x % tiles_across * side;
    const int x = threadIdx.x;
    for (int y = threadIdx.y; y < side; y += block_rows) {
        // TODO 2: choose another place in the row for the number of column x.
        if (tile_row + y < rows && tile_col + x < cols) {
            tile[y][x] = matrix[static_cast<size_t>(tile_row + y) * cols + tile_col + x];
        }
    }
    __syncthreads();

    for (int y = threadIdx.y; y < side; y += block_rows) {
        // TODO 3: find the number of row x and column y again.
        if (tile_row + x < rows && tile_col + y < cols) {
            const float2 number = tile[x][y];
            adjoint[static_cast<size_t>(tile_col + y) * rows + tile_row + x] =
                make_float2(number.x, -number.y);
        }
    }
}

void make_adjoint(const float2* d_matrix, float2* d_adjoint, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    const int tiles = ((rows - 1) / side + 1) * ((cols - 1) / side + 1);
    adjoint_tiles<<<tiles, dim3(side, block_rows)>>>(d_matrix, d_adjoint, rows, cols);
}
