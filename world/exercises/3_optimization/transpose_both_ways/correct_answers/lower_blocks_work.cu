// Correct answer: blocks below the diagonal do the pairs; helpers load and store a tile
#include "exercises/3_optimization/transpose_both_ways/transpose_both_ways.h"

constexpr int side = 32;       // of a tile
constexpr int block_rows = 8;  // rows of a block of threads

using Tile = float[side][side + 1];

__device__ void load(Tile& tile, const float* a, int n, int row, int col) {
    for (int y = threadIdx.y; y < side; y += block_rows) {
        if (row + y < n && col + threadIdx.x < n) {
            tile[y][threadIdx.x] = a[static_cast<size_t>(row + y) * n + col + threadIdx.x];
        }
    }
}

__device__ void store_average(const Tile& tile, const Tile& mirror, float* a, int n,
                              int row, int col) {
    for (int y = threadIdx.y; y < side; y += block_rows) {
        if (row + y < n && col + threadIdx.x < n) {
            const float sum = tile[y][threadIdx.x] + mirror[threadIdx.x][y];
            a[static_cast<size_t>(row + y) * n + col + threadIdx.x] = sum / 2;
        }
    }
}

__global__ void average_with_mirror_image(float* a, int n) {
    if (blockIdx.x > blockIdx.y) return;
    __shared__ Tile here, there;
    const int row = blockIdx.y * side, col = blockIdx.x * side;
    load(here, a, n, row, col);
    if (row != col) load(there, a, n, col, row);
    __syncthreads();
    if (row == col) {
        store_average(here, here, a, n, row, col);
    } else {
        store_average(here, there, a, n, row, col);
        store_average(there, here, a, n, col, row);
    }
}

void make_symmetric(float* d_a, int n) {
    if (n == 0) return;
    const int tiles = (n + side - 1) / side;
    average_with_mirror_image<<<dim3(tiles, tiles), dim3(side, block_rows)>>>(d_a, n);
}
