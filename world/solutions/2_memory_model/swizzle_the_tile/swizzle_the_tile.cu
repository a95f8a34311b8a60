// Solution: a tile without bank conflicts and without padding.
//
// Number (row, col) of a tile with rows of 32 numbers is number 32 row + col, and lies in
// the banks 2 col % 32 and the next one. A request for 8 bytes per lane is served for half
// a warp at a time: 16 numbers in all 32 banks. A row has its numbers side by side and
// takes these two wavefronts. A column has all of them in the same two banks and takes 32.
//
// The place of a number within its row is free, as long as store and load agree about it.
// So the number of column `col` goes to place col ^ row. Within a row, col ^ row visits
// each place once, so no two numbers meet. In a row, and in a column, the places of 16
// neighboring numbers differ in their last four bits: 16 different pairs of banks.
//
// The tile has 8192 bytes as before. Padding takes one number more per row, 256 bytes.
#include "exercises/2_memory_model/swizzle_the_tile/swizzle_the_tile.h"

constexpr int block_rows = 8;  // each thread takes side / block_rows numbers

__global__ void adjoint_tiles(const float2* matrix, float2* adjoint, int rows, int cols) {
    __shared__ float2 tile[side][side];

    const int tiles_across = (cols - 1) / side + 1;
    const int tile_row = blockIdx.x / tiles_across * side;
    const int tile_col = blockIdx.x % tiles_across * side;
    const int x = threadIdx.x;
    for (int y = threadIdx.y; y < side; y += block_rows) {
        if (tile_row + y < rows && tile_col + x < cols) {
            tile[y][x ^ y] =
                matrix[static_cast<size_t>(tile_row + y) * cols + tile_col + x];
        }
    }
    __syncthreads();

    for (int y = threadIdx.y; y < side; y += block_rows) {
        if (tile_row + x < rows && tile_col + y < cols) {
            const float2 number = tile[x][y ^ x];
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
