// Wrong answer: a tile is declared and touched, the pixels do not go through it
// Rejected by: still reads and writes whole sectors
// Message: of the 32-byte sectors that were touched are needed
#include "exercises/2_memory_model/pad_the_tile/pad_the_tile.h"

__global__ void rotate_pixels(const float* image, float* rotated, int rows, int cols) {
    __shared__ float tile[32][33];
    tile[threadIdx.y][threadIdx.x] = 0;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || col >= cols) return;
    const size_t to = static_cast<size_t>(col) * rows + rows - 1 - row;
    rotated[to] =
        image[static_cast<size_t>(row) * cols + col] + tile[threadIdx.y][threadIdx.x];
}

void rotate_image(const float* d_image, float* d_rotated, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    const dim3 grid((cols + 31) / 32, (rows + 7) / 8);
    rotate_pixels<<<grid, dim3(32, 8)>>>(d_image, d_rotated, rows, cols);
}
