// Wrong answer: one block takes all tiles in turns
// Rejected by: shares the pixels among many threads
// Message: the task asks for at least 2048 threads
#include "exercises/2_memory_model/pad_the_tile/pad_the_tile.h"

__global__ void rotate_tiles(const float* image, float* rotated, int rows, int cols) {
    __shared__ float tile[32][33];
    const int across = (cols - 1) / 32 + 1, down = (rows - 1) / 32 + 1;
    const int x = threadIdx.x, y = threadIdx.y;
    for (int t = 0; t < across * down; ++t) {
        const int top = t / across * 32, left = t % across * 32;
        if (top + y < rows && left + x < cols)
            tile[y][x] = image[static_cast<size_t>(top + y) * cols + left + x];
        __syncthreads();
        if (top + x < rows && left + y < cols) {
            rotated[static_cast<size_t>(left + y) * rows + (rows - 1 - (top + x))] =
                tile[x][y];
        }
        __syncthreads();
    }
}

void rotate_image(const float* d_image, float* d_rotated, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    rotate_tiles<<<1, dim3(32, 32)>>>(d_image, d_rotated, rows, cols);
}
