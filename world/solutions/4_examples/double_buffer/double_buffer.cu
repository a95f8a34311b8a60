// Solution: a tiled matrix product with two pairs of tiles.
//
// With one pair, a warp that has finished its terms may not fill the tile before all others
// have finished theirs (second barrier), and nobody may begin before all have filled it
// (first barrier). And nothing is computed while the elements come from global memory.
//
// With two pairs, the block computes with one pair while the elements of the next one are
// on their way to registers. A load does not stop a warp; the store to the other pair does,
// and by then all the terms of this pair have been added. The barrier at the end of a turn
// separates both: the other pair is complete, and nobody reads this one any more.
#include "exercises/4_examples/double_buffer/double_buffer.h"

constexpr int side = 16;  // of a tile

__device__ float element_or_0(const float* matrix, int rows, int cols, int row, int col) {
    return row < rows && col < cols ? matrix[static_cast<size_t>(row) * cols + col] : 0;
}

__global__ void product_tiles(const float* a, const float* b, float* c, int m, int n,
                              int k) {
    __shared__ float a_tiles[2][side][side];
    __shared__ float b_tiles[2][side][side];
    const int x = threadIdx.x, y = threadIdx.y;
    const int tiles_across = (n - 1) / side + 1;           // tiles of C side by side
    const int row = blockIdx.x / tiles_across * side + y;  // of the thread's element of C
    const int col = blockIdx.x % tiles_across * side + x;

    a_tiles[0][y][x] = element_or_0(a, m, k, row, x);
    b_tiles[0][y][x] = element_or_0(b, k, n, y, col);
    __syncthreads();
    float sum = 0;
    int now = 0;  // the pair that is computed with
    for (int next = side; next < k + side; next += side) {
        const float from_a = element_or_0(a, m, k, row, next + x);
        const float from_b = element_or_0(b, k, n, next + y, col);
        for (int p = 0; p < side; ++p) sum += a_tiles[now][y][p] * b_tiles[now][p][x];
        now = 1 - now;
        a_tiles[now][y][x] = from_a;
        b_tiles[now][y][x] = from_b;
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
