// Exercise: a tiled matrix product whose warps wait for each tile, twice.
// The task: ./warpwise task double_buffer
#include "exercises/4_examples/double_buffer/double_buffer.h"

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
        // TODO 1: the next pair of tiles needs a place of its own. What has to be loaded
        // before the first turn of this loop?
        a_tile[y][x] =
            row < m && first + x < k ? a[static_cast<size_t>(row) * k + first + x] : 0;
        b_tile[y][x] =
            first + y < k && col < n ? b[static_cast<size_t>(first + y) * n + col] : 0;
        // TODO 2: issue the loads of the next tiles here, into local variables.
        __syncthreads();
        for (int p = 0; p < side; ++p) sum += a_tile[y][p] * b_tile[p][x];
        // TODO 3: store what was loaded to the other pair. Which of the two barriers is
        // still needed, and which accesses does it separate?
        __syncthreads();
    }
    if (row < m && col < n) c[static_cast<size_t>(row) * n + col] = sum;
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    // One block per tile of C, numbered in one dimension.
    const int tiles = ((m - 1) / side + 1) * ((n - 1) / side + 1);
    product_tiles<<<tiles, dim3(side, side)>>>(d_a, d_b, d_c, m, n, k);
}
