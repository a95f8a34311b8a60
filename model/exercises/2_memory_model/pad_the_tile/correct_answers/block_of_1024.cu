// Correct answer: blocks of 32 x 32 threads, a pixel each, no loops
#include "exercises/2_memory_model/pad_the_tile/pad_the_tile.h"

__global__ void rotate_kernel(const float* image, float* rotated, int rows, int cols) {
    const int tiles_across = (cols + 31) / 32;  // tiles are numbered in one dimension
    const int tile_y = blockIdx.x / tiles_across, tile_x = blockIdx.x % tiles_across;
    __shared__ float tile[32][33];
    const int row = tile_y * 32 + threadIdx.y;
    const int col = tile_x * 32 + threadIdx.x;
    if (row < rows && col < cols)
        tile[threadIdx.y][threadIdx.x] = image[static_cast<size_t>(row) * cols + col];
    __syncthreads();
    const int from_row = tile_y * 32 + threadIdx.x;
    const int from_col = tile_x * 32 + threadIdx.y;
    if (from_row >= rows || from_col >= cols) return;
    const size_t to = static_cast<size_t>(from_col) * rows + (rows - 1 - from_row);
    rotated[to] = tile[threadIdx.x][threadIdx.y];
}

void rotate_image(const float* d_image, float* d_rotated, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    dim3 block(32, 32);
    const unsigned grid = static_cast<unsigned>((cols + 31) / 32) * ((rows + 31) / 32);
    rotate_kernel<<<grid, block>>>(d_image, d_rotated, rows, cols);
}
