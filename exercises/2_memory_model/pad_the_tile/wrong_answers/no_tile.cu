// Wrong answer: does without the tile: no bank conflicts, but every store touches 32 sectors
// Rejected by: still reads and writes whole sectors
// Message: global stores: 32 sectors/request
#include "exercises/2_memory_model/pad_the_tile/pad_the_tile.h"

__global__ void rotate_pixels(const float* image, float* rotated, int rows, int cols) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && col < cols) {
        rotated[static_cast<size_t>(col) * rows + (rows - 1 - row)] = image[static_cast<size_t>(row) * cols + col];
    }
}

void rotate_image(const float* d_image, float* d_rotated, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    const dim3 block(32, 8);
    const dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
    rotate_pixels<<<grid, block>>>(d_image, d_rotated, rows, cols);
}
