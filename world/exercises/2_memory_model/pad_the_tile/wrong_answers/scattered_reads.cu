// Wrong answer: keeps the tile free of conflicts, but reads the image by columns
// Rejected by: still reads and writes whole sectors
// Message: of the 32-byte sectors that were touched are needed
#include "exercises/2_memory_model/pad_the_tile/pad_the_tile.h"

constexpr int side = 32;       // of a tile, in pixels
constexpr int block_rows = 8;  // rows of a block of threads

__global__ void rotate_tiles(const float* image, float* rotated, int rows, int cols) {
    __shared__ float tile[side][side + 1];

    const int tile_row = blockIdx.y * side;
    const int tile_col = blockIdx.x * side;
    const int x = threadIdx.x;
    for (int y = threadIdx.y; y < side; y += block_rows) {
        if (tile_row + x < rows && tile_col + y < cols) {
            tile[y][x] = image[static_cast<size_t>(tile_row + x) * cols + tile_col + y];
        }
    }
    __syncthreads();

    for (int y = threadIdx.y; y < side; y += block_rows) {
        if (tile_row + x < rows && tile_col + y < cols) {
            const size_t row = tile_col + y;
            rotated[row * rows + (rows - 1 - (tile_row + x))] = tile[y][x];
        }
    }
}

void rotate_image(const float* d_image, float* d_rotated, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    const dim3 grid((cols + side - 1) / side, (rows + side - 1) / side);
    rotate_tiles<<<grid, dim3(side, block_rows)>>>(d_image, d_rotated, rows, cols);
}
