// Solution: a tile whose columns lie in one bank.
//
// Element (row, col) of a tile with rows of 32 floats is word 32 * row + col. A column, col
// fixed, lies in one bank, and the 32 lanes that read it need 32 wavefronts. With one more
// float per row it is word 33 * row + col, in bank (row + col) % 32: 32 different ones for
// a row and for a column alike. The extra column is never read.
//
// The same without the 128 bytes: tile[y][x ^ y] for the store and tile[x][y ^ x] for the
// load, in rows of 32.
#include "exercises/2_memory_model/pad_the_tile/pad_the_tile.h"

constexpr int side = 32;  // of a tile, in pixels
constexpr int block_rows =
    8;  // rows of a block of threads; each thread takes side / block_rows pixels

__global__ void rotate_tiles(const float* image, float* rotated, int rows, int cols) {
    __shared__ float tile[side][side + 1];

    // Read: a warp takes a row of the tile, 32 pixels side by side.
    const int tiles_across = (cols - 1) / side + 1;
    const int tile_row = blockIdx.x / tiles_across * side;
    const int tile_col = blockIdx.x % tiles_across * side;
    const int x = threadIdx.x;
    for (int y = threadIdx.y; y < side; y += block_rows) {
        if (tile_row + y < rows && tile_col + x < cols) {
            tile[y][x] = image[static_cast<size_t>(tile_row + y) * cols + tile_col + x];
        }
    }
    __syncthreads();

    // Write: column y of the tile becomes a row of the turned image, so a warp takes a
    // column of the tile.
    for (int y = threadIdx.y; y < side; y += block_rows) {
        if (tile_row + x < rows && tile_col + y < cols) {
            rotated[static_cast<size_t>(tile_col + y) * rows +
                    (rows - 1 - (tile_row + x))] = tile[x][y];
        }
    }
}

void rotate_image(const float* d_image, float* d_rotated, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    // One block per tile. The tiles are numbered in one dimension, because a grid can have
    // 2,147,483,647 blocks in x, but only 65,535 in y.
    const int tiles = ((rows - 1) / side + 1) * ((cols - 1) / side + 1);
    rotate_tiles<<<tiles, dim3(side, block_rows)>>>(d_image, d_rotated, rows, cols);
}
