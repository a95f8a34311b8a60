// Correct answer: blocks in one dimension, numbered along the rows
#include "exercises/4_examples/aligned_elimination/aligned_elimination.h"

constexpr int tile = 32;

size_t floats_from_row_to_row(int cols) { return cols + (8 - cols % 8) % 8; }

__global__ void eliminate_tile(float* a, size_t pitch, int rows, int cols, int column,
                               int tiles_across) {
    const int tile_x = blockIdx.x % tiles_across, tile_y = blockIdx.x / tiles_across;
    const int lane = threadIdx.x % tile, warp = threadIdx.x / tile;
    const int col = (column + 1) / tile * tile + tile_x * tile + lane;
    const bool busy = column < col && col < cols;
    const float pivot = a[column * pitch + column];
    const float above = busy ? a[column * pitch + col] : 0.0f;
    for (int y = warp; y < tile; y += blockDim.x / tile) {
        const int row = tile_y * tile + y;
        if (!busy || row >= rows || row == column) continue;
        const float factor = a[row * pitch + column] / pivot;
        a[row * pitch + col] = a[row * pitch + col] - factor * above;
    }
}

void eliminate(float* d_a, size_t pitch, int rows, int cols, int column) {
    const int left = (column + 1) / tile * tile;
    if (left >= cols) return;
    const int tiles_across = (cols - left + tile - 1) / tile;
    const int tiles_down = (rows + tile - 1) / tile;
    eliminate_tile<<<tiles_across * tiles_down, 256>>>(d_a, pitch, rows, cols, column,
                                                       tiles_across);
}
