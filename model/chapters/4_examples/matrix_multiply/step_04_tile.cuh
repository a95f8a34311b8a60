#pragma once

#include "chapters/4_examples/matrix_multiply/tiles.cuh"

namespace examples {
namespace {

// Step 4, square tiles. A block computes a tile of 32 x 32 elements of C, one element per
// thread. It takes 32 terms of the sums at a time: its threads copy a 32 x 32 tile of A and
// one of B to shared memory, one element of each per thread, and then every element is used
// 32 times. Elements outside of the matrices are replaced by 0. A zero adds nothing to a
// sum, so every thread can go through all terms.
// This could be faster because a multiply-add takes 1/16 float from global memory, not 1.
// Still slow because each multiply-add needs two floats from shared memory, one wavefront
// each. An SM serves one wavefront per cycle, and could start four multiply-adds of a warp.
// (nvcc loads four neighboring elements of A with one instruction, which leaves 1.25 loads
// and 1.5 wavefronts.) An H200 serves a wavefront in 81 % of the cycles of this step, which
// is slower than step 3, because step 3 needs fewer of them.
constexpr unsigned TILE = 32;

__global__ void product_tile(const float* a, const float* b, float* c, Extents x) {
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];
    const unsigned tile_row = threadIdx.x / TILE, tile_col = threadIdx.x % TILE;
    const Corner corner = corner_of_block(x, TILE, TILE);
    const std::size_t row = corner.row + tile_row, col = corner.col + tile_col;

    float sum = 0;
    for (std::size_t first = 0; first < x.k; first += TILE) {
        a_tile[tile_row][tile_col] =
            row < x.m && first + tile_col < x.k ? a[row * x.k + first + tile_col] : 0;
        b_tile[tile_row][tile_col] =
            first + tile_row < x.k && col < x.n ? b[(first + tile_row) * x.n + col] : 0;
        __syncthreads();
        for (unsigned p = 0; p < TILE; ++p)
            sum += a_tile[tile_row][p] * b_tile[p][tile_col];
        __syncthreads();
    }
    if (row < x.m && col < x.n) c[row * x.n + col] = sum;
}

}  // namespace
}  // namespace examples
