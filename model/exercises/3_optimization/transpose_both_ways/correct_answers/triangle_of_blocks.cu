// Correct answer: a line of blocks, one for each pair; none without work
#include "exercises/3_optimization/transpose_both_ways/transpose_both_ways.h"

#include <cuda_runtime.h>

constexpr int tile_side = 32;

__global__ void symmetrize(float* a, int n, int tiles) {
    __shared__ float above[tile_side][tile_side + 1], below[tile_side][tile_side + 1];
    // Counted from the last block on, row i of tiles from below has i + 1 pairs.
    const int k = gridDim.x - 1 - blockIdx.x;
    int i = static_cast<int>((sqrt(8.0 * k + 1.0) - 1.0) / 2);
    while (i * (i + 1) / 2 > k) --i;
    while ((i + 1) * (i + 2) / 2 <= k) ++i;
    const int by = tiles - 1 - i;
    const int bx = tiles - 1 - (k - i * (i + 1) / 2);
    const int r = by * tile_side, c = bx * tile_side;
    const int x = threadIdx.x, y = threadIdx.y;
    const bool in_above = r + y < n && c + x < n;
    const bool in_below = c + y < n && r + x < n && bx != by;
    float* const p = a + static_cast<size_t>(r + y) * n + (c + x);
    float* const q = a + static_cast<size_t>(c + y) * n + (r + x);
    if (in_above) above[y][x] = *p;
    if (in_below) below[y][x] = *q;
    __syncthreads();
    if (in_above) *p = (above[y][x] + (bx == by ? above : below)[x][y]) / 2;
    if (in_below) *q = (below[y][x] + above[x][y]) / 2;
}

void make_symmetric(float* d_a, int n) {
    if (n == 0) return;
    const int tiles = (n - 1) / tile_side + 1;
    const int pairs = tiles * (tiles + 1) / 2;
    symmetrize<<<pairs, dim3(tile_side, tile_side)>>>(d_a, n, tiles);
}
