#pragma once

#include "chapters/4_examples/matrix_multiply/tiles.cuh"

namespace examples {
namespace {

// Step 7, a thread tile in two dimensions: TM x TN = 8 x 8 elements of C per thread. For
// each term a thread loads eight elements of A and eight of B and makes 64 multiply-adds of
// them: an outer product. The block's tile is BM x BN = 128 x 128. The rows and columns of
// a thread lie 16 apart, so that neighboring lanes read and write neighboring columns. The
// launch bound says that two blocks have to fit on an SM, which leaves 128 registers per
// thread.
// Faster because a multiply-add takes a quarter of a load from shared memory, and 1/64
// float from global memory. Still slow because the loads take instructions: 16 for 64
// multiply-adds. A quarter of a load is also all that shared memory can deliver beside four
// multiply-adds per cycle. And while a tile is loaded, the block computes nothing, unless
// another block on the SM does.
template <unsigned BM, unsigned BN, unsigned BK, unsigned TM, unsigned TN>
__global__ void __launch_bounds__((BM / TM) * (BN / TN), 2)
    product_square_per_thread(const float* a, const float* b, float* c, Extents x) {
    constexpr unsigned threads = BM * BN / (TM * TN);
    constexpr unsigned across = BN / TN, down = BM / TM;  // threads
    constexpr unsigned loads = BM * BK / threads;  // elements of A, and of B, per thread
    static_assert(BM == BN, "as many loads for B as for A");
    __shared__ float a_tile[BM][BK];
    __shared__ float b_tile[BK][BN];
    const Corner corner = corner_of_block(x, BM, BN);
    const unsigned thread_row = threadIdx.x / across, thread_col = threadIdx.x % across;

    float sums[TM][TN] = {};
    for (std::size_t first = 0; first < x.k; first += BK) {
#pragma unroll
        for (unsigned i = 0; i < loads; ++i) {
            const unsigned number = threadIdx.x + i * threads;
            const unsigned a_row = number / BK, a_p = number % BK;
            const unsigned b_p = number / BN, b_col = number % BN;
            const bool in_a = corner.row + a_row < x.m && first + a_p < x.k;
            const bool in_b = first + b_p < x.k && corner.col + b_col < x.n;
            a_tile[a_row][a_p] = in_a ? a[(corner.row + a_row) * x.k + first + a_p] : 0;
            b_tile[b_p][b_col] = in_b ? b[(first + b_p) * x.n + corner.col + b_col] : 0;
        }
        __syncthreads();
#pragma unroll
        for (unsigned p = 0; p < BK; ++p) {
            float left[TM], right[TN];
#pragma unroll
            for (unsigned i = 0; i < TM; ++i) left[i] = a_tile[thread_row + i * down][p];
#pragma unroll
            for (unsigned j = 0; j < TN; ++j) right[j] = b_tile[p][thread_col + j * across];
#pragma unroll
            for (unsigned i = 0; i < TM; ++i) {
#pragma unroll
                for (unsigned j = 0; j < TN; ++j) sums[i][j] += left[i] * right[j];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned i = 0; i < TM; ++i) {
#pragma unroll
        for (unsigned j = 0; j < TN; ++j) {
            const std::size_t row = corner.row + thread_row + i * down;
            const std::size_t col = corner.col + thread_col + j * across;
            if (row < x.m && col < x.n) c[row * x.n + col] = sums[i][j];
        }
    }
}

}  // namespace
}  // namespace examples
