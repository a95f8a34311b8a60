// Correct answer: no padding: the column is XORed with the row
#include "exercises/2_memory_model/pad_the_tile/pad_the_tile.h"

constexpr int side = 32;       // of a tile, in pixels
constexpr int block_rows = 8;  // rows of a block of threads

__global__ void rotate_tiles(const float* image, float* rotated, int rows, int cols) {
    const int tiles_across = (cols + 31) / 32;  // tiles are numbered in one dimension
    const int tile_y = blockIdx.x / tiles_across, tile_x = blockIdx.x % tiles_across;
    __shared__ float tile[side][side];

    const int tile_row = tile_y * side;
    const int tile_col = tile_x * side;
    const int x = threadIdx.x;
    for (int y = threadIdx.y; y < side; y += block_rows) {
        if (tile_row + y < rows && tile_col + x < cols) {
            tile[y][x ^ y] = image[static_cast<size_t>(tile_row + y) * cols + tile_col + x];
        }
    }
    __syncthreads();

    for (int y = threadIdx.y; y < side; y += block_rows) {
        if (tile_row + x < rows && tile_col + y < cols) {
            const size_t row = tile_col + y;
            rotated[row * rows + (rows - 1 - (tile_row + x))] = tile[x][y ^ x];
        }
    }
}

void rotate_image(const float* d_image, float* d_rotated, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    const unsigned grid =
        static_cast<unsigned>((cols + side - 1) / side) * ((rows + side - 1) / side);
    rotate_tiles<<<grid, dim3(side, block_rows)>>>(d_image, d_rotated, rows, cols);
}
