// Solution: a tiled matrix product that guards what it stores, not what it loads.
//
// A tile that the edge of a matrix cuts short has places for which there is no element. The
// load has to ask for its own row and column: those of A are `row` and `first + x`, those
// of B `first + y` and `col`. The guard of the store knows nothing of `first`, the place in
// the sum, and that is where the wrong results came from: past the end of a row of A
// begins the next row, and below the last row of B lies whatever memory holds.
//
// Places without an element get a 0, which adds nothing to any sum. So all threads can go
// through all of the tile, and meet at both barriers, whether they have something to load,
// something to store, or neither.
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
        a_tile[y][x] =
            row < m && first + x < k ? a[static_cast<size_t>(row) * k + first + x] : 0;
        b_tile[y][x] =
            first + y < k && col < n ? b[static_cast<size_t>(first + y) * n + col] : 0;
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
