// Correct answer: tiles[2] with loops over both; on the diagonal only the first
#include "exercises/3_optimization/transpose_both_ways/transpose_both_ways.h"

constexpr int side = 32;       // of a tile
constexpr int block_rows = 8;  // rows of a block of threads

__global__ void average_with_mirror_image(float* a, int n) {
    const int bx = blockIdx.x, by = blockIdx.y;
    if (bx < by) return;
    __shared__ float tiles[2][side][side + 1];
    const int corner_row[2] = {by * side, bx * side};
    const int corner_col[2] = {bx * side, by * side};
    const int number = bx == by ? 1 : 2;

    for (int k = 0; k < number; ++k) {
        const int col = corner_col[k] + threadIdx.x;
        for (int y = threadIdx.y; y < side; y += block_rows) {
            const int row = corner_row[k] + y;
            if (row < n && col < n) tiles[k][y][threadIdx.x] = a[size_t(row) * n + col];
        }
    }
    __syncthreads();
    for (int k = 0; k < number; ++k) {
        const int other = number - 1 - k;
        const int col = corner_col[k] + threadIdx.x;
        for (int y = threadIdx.y; y < side; y += block_rows) {
            const int row = corner_row[k] + y;
            if (row < n && col < n) {
                a[size_t(row) * n + col] =
                    0.5f * (tiles[k][y][threadIdx.x] + tiles[other][threadIdx.x][y]);
            }
        }
    }
}

void make_symmetric(float* d_a, int n) {
    if (n == 0) return;
    const int tiles = (n + side - 1) / side;
    average_with_mirror_image<<<dim3(tiles, tiles), dim3(side, block_rows)>>>(d_a, n);
}
