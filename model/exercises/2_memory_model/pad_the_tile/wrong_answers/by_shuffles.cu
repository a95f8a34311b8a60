// Wrong answer: one warp per tile turns it with shuffles; the tile in shared memory is
//     written and never read
// Rejected by: takes all pixels through shared memory
// Message: loaded from it; the image has
#include "exercises/2_memory_model/pad_the_tile/pad_the_tile.h"

__global__ void rotate_tiles(const float* image, float* rotated, int rows, int cols) {
    __shared__ float tile[32];
    const int tiles_across = (cols - 1) / 32 + 1;
    const int top = blockIdx.x / tiles_across * 32, left = blockIdx.x % tiles_across * 32;
    const int lane = threadIdx.x;
    tile[lane] = 0;
    float own[32], turned[32] = {};
    for (int y = 0; y < 32; ++y) {
        const bool inside = top + y < rows && left + lane < cols;
        own[y] =
            inside ? image[static_cast<size_t>(top + y) * cols + left + lane] : tile[lane];
    }
    for (int step = 0; step < 32; ++step) {
        const float got =
            __shfl_sync(0xFFFFFFFF, own[(lane - step + 32) % 32], (lane + step) % 32);
        turned[(lane + step) % 32] = got;
    }
    for (int y = 0; y < 32; ++y) {
        if (top + lane < rows && left + y < cols) {
            rotated[static_cast<size_t>(left + y) * rows + (rows - 1 - (top + lane))] =
                turned[y];
        }
    }
}

void rotate_image(const float* d_image, float* d_rotated, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    const int tiles = ((rows - 1) / 32 + 1) * ((cols - 1) / 32 + 1);
    rotate_tiles<<<tiles, 32>>>(d_image, d_rotated, rows, cols);
}
