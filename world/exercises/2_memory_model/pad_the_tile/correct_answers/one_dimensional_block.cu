// Correct answer: a template, and blocks of 256 threads in one dimension
#include "exercises/2_memory_model/pad_the_tile/pad_the_tile.h"

template <int Side, int Threads>
__global__ void rotate_tiles(const float* image, float* rotated, int rows, int cols) {
    const int tiles_across = (cols + 31) / 32;  // tiles are numbered in one dimension
    const int tile_y = blockIdx.x / tiles_across, tile_x = blockIdx.x % tiles_across;
    __shared__ float tile[Side][Side + 1];
    const int lane = threadIdx.x % Side;
    const int first = threadIdx.x / Side;
    const int row0 = tile_y * Side;
    const int col0 = tile_x * Side;
#pragma unroll
    for (int k = first; k < Side; k += Threads / Side) {
        const int row = row0 + k, col = col0 + lane;
        if (row < rows && col < cols) tile[k][lane] = image[(size_t)row * cols + col];
    }
    __syncthreads();
#pragma unroll
    for (int k = first; k < Side; k += Threads / Side) {
        const int row = row0 + lane, col = col0 + k;
        if (row < rows && col < cols)
            rotated[(size_t)col * rows + (rows - row - 1)] = tile[lane][k];
    }
}

void rotate_image(const float* d_image, float* d_rotated, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    const unsigned grid =
        static_cast<unsigned>((cols - 1) / 32 + 1) * ((rows - 1) / 32 + 1);
    rotate_tiles<32, 256><<<grid, 256>>>(d_image, d_rotated, rows, cols);
}
