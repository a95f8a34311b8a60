// Exercise: a tiled matrix product that guards what it stores, not what it loads.
// The task: ./warpwise task tiled_product_any_size
#include "exercises/4_examples/tiled_product_any_size/tiled_product_any_size.h"

constexpr int side = 16;  // of a tile

__global__ void product_tiles(const float* a, const float* b, float* c, int m, int n,
                              int k) {
    __shared__ float a_tile[side][side];
    __shared__ float b_tile[side][side];
    const int x = threadIdx.x, y = threadIdx.y;
    const int tiles_across = (n - 1) / side + 1;           // tiles of C side by side
    const int row = blockIdx.x / tiles_across * side + y;  // of the thread's element of C
    const int col = blockIdx.x % tiles_across * side + x;

    float sum = 0;
    for (int first = 0; first < k; first += side) {
        // TODO 1: which threads have an element of A to load here, and what do the others
        // put into the tile?
        a_tile[y][x] = a[static_cast<size_t>(row) * k + first + x];
        // TODO 2: answer the same question for B.
        b_tile[y][x] = b[static_cast<size_t>(first + y) * n + col];
        __syncthreads();
        for (int p = 0; p < side; ++p) sum += a_tile[y][p] * b_tile[p][x];
        __syncthreads();
    }
    if (row < m && col < n) c[static_cast<size_t>(row) * n + col] = sum;
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    // One block per tile of C. The tiles are numbered in one dimension, because a grid can
    // have 2,147,483,647 blocks in x, but only 65,535 in y.
    const int tiles = ((m - 1) / side + 1) * ((n - 1) / side + 1);
    product_tiles<<<tiles, dim3(side, side)>>>(d_a, d_b, d_c, m, n, k);
}
