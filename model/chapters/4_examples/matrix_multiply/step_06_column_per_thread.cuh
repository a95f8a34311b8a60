#pragma once

#include "chapters/4_examples/matrix_multiply/tiles.cuh"

namespace examples {
namespace {

// Step 6, a thread tile in one dimension: each thread computes TM elements of one column of
// C and keeps their sums in registers. An element of B is loaded from shared memory once
// and used TM times. The names are the usual ones: the block's tile of C has BM x BN
// elements, and BK terms of the sums are in shared memory at a time. Here BM = BN = 64, BK
// = 8, and TM = 8, so that each thread loads one element of A and one of B per tile.
// Faster because, with TM = 8, eight multiply-adds take nine loads from shared memory
// instead of sixteen. Still slow because that is more than one load per multiply-add, which
// shared memory serves.
template <unsigned BM, unsigned BN, unsigned BK, unsigned TM>
__global__ void __launch_bounds__((BM / TM) * BN)
    product_column_per_thread(const float* a, const float* b, float* c, Extents x) {
    static_assert(BM * BK == BM * BN / TM && BK * BN == BM * BN / TM,
                  "one element of A and of B per thread");
    __shared__ float a_tile[BM][BK];
    __shared__ float b_tile[BK][BN];
    const Corner corner = corner_of_block(x, BM, BN);
    const unsigned a_row = threadIdx.x / BK,
                   a_p = threadIdx.x % BK;  // what the thread loads
    const unsigned b_p = threadIdx.x / BN, b_col = threadIdx.x % BN;
    const unsigned first_row = threadIdx.x / BN * TM, own_col = b_col;  // what it computes

    float sums[TM] = {};
    for (std::size_t first = 0; first < x.k; first += BK) {
        const bool in_a = corner.row + a_row < x.m && first + a_p < x.k;
        const bool in_b = first + b_p < x.k && corner.col + b_col < x.n;
        a_tile[a_row][a_p] = in_a ? a[(corner.row + a_row) * x.k + first + a_p] : 0;
        b_tile[b_p][b_col] = in_b ? b[(first + b_p) * x.n + corner.col + b_col] : 0;
        __syncthreads();
#pragma unroll
        for (unsigned p = 0; p < BK; ++p) {
            const float right = b_tile[p][own_col];
#pragma unroll
            for (unsigned i = 0; i < TM; ++i) sums[i] += a_tile[first_row + i][p] * right;
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned i = 0; i < TM; ++i) {
        const std::size_t row = corner.row + first_row + i, col = corner.col + own_col;
        if (row < x.m && col < x.n) c[row * x.n + col] = sums[i];
    }
}

}  // namespace
}  // namespace examples
