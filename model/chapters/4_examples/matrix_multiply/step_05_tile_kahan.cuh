#pragma once

#include "chapters/4_examples/matrix_multiply/step_04_tile.cuh"

namespace examples {
namespace {

// Step 5, a side branch: step 4 with Kahan's compensated sum. `lost` is what the last
// addition rounded away, and the next term makes up for it. The product itself is exact
// inside the fused multiply-add.
// More digits because the error no longer grows with k. Slow because four operations that
// wait for each other replace one. But in this kernel the multiply-add units are idle most
// of the time, so the question is how much of that shows.
__global__ void product_tile_kahan(const float* a, const float* b, float* c, Extents x) {
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];
    const unsigned tile_row = threadIdx.x / TILE, tile_col = threadIdx.x % TILE;
    const Corner corner = corner_of_block(x, TILE, TILE);
    const std::size_t row = corner.row + tile_row, col = corner.col + tile_col;

    float sum = 0, lost = 0;
    for (std::size_t first = 0; first < x.k; first += TILE) {
        a_tile[tile_row][tile_col] =
            row < x.m && first + tile_col < x.k ? a[row * x.k + first + tile_col] : 0;
        b_tile[tile_row][tile_col] =
            first + tile_row < x.k && col < x.n ? b[(first + tile_row) * x.n + col] : 0;
        __syncthreads();
        for (unsigned p = 0; p < TILE; ++p) {
            const float term = fmaf(a_tile[tile_row][p], b_tile[p][tile_col], -lost);
            const float next = sum + term;
            lost = (next - sum) - term;
            sum = next;
        }
        __syncthreads();
    }
    if (row < x.m && col < x.n) c[row * x.n + col] = sum;
}

}  // namespace
}  // namespace examples
