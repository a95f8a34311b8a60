// Wrong answer: loads the mirror image through a tile, and stores it straight from the registers, across
// Rejected by: reads and writes whole sectors both ways
// Message: global stores: 14.6 sectors/request
#include "exercises/3_optimization/transpose_both_ways/transpose_both_ways.h"

constexpr int side = 32;       // of a tile
constexpr int block_rows = 8;  // rows of a block of threads; each thread takes side / block_rows elements

__global__ void average_with_mirror_image(float* a, int n) {
    if (blockIdx.x < blockIdx.y) return;
    __shared__ float lower[side][side + 1];
    const int tile_row = blockIdx.y * side;
    const int tile_col = blockIdx.x * side;
    const int x = threadIdx.x;

    for (int y = threadIdx.y; y < side; y += block_rows) {
        if (tile_col + y < n && tile_row + x < n) {
            lower[y][x] = a[static_cast<size_t>(tile_col + y) * n + tile_row + x];
        }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < side; y += block_rows) {
        const int row = tile_row + y;
        const int col = tile_col + x;
        if (row < n && col < n && row <= col) {
            const float average = (a[static_cast<size_t>(row) * n + col] + lower[x][y]) / 2;
            a[static_cast<size_t>(row) * n + col] = average;
            a[static_cast<size_t>(col) * n + row] = average;
        }
    }
}

void make_symmetric(float* d_a, int n) {
    if (n == 0) return;
    const int tiles = (n + side - 1) / side;
    average_with_mirror_image<<<dim3(tiles, tiles), dim3(side, block_rows)>>>(d_a, n);
}
