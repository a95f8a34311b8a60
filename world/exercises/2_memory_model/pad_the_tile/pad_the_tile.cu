// Exercise: a tile whose columns lie in one bank.
// The task: ./warpwise task pad_the_tile
#include "exercises/2_memory_model/pad_the_tile/pad_the_tile.h"

constexpr int side = 32;  // of a tile, in pixels
// Rows of a block of threads; each thread takes side / block_rows pixels.
constexpr int block_rows = 8;

__global__ void rotate_tiles(const float* image, float* rotated, int rows, int cols) {
    // TODO 1: in which banks do the 32 pixels lie that a warp writes to this tile, and in
    // which those that it reads?
    // TODO 2: lay the tile out so that both are 32 different ones.
    __shared__ float tile[side][side];

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
