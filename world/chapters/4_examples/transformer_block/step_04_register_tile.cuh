#pragma once

#include "chapters/4_examples/transformer_block/shapes.cuh"

namespace examples {
namespace {

// The tile of C of a block, the terms that are in shared memory at a time, and the tile of
// C of a thread.
constexpr unsigned BM = 64, BN = 64, BK = 16, TM = 4, TN = 4;
static_assert((BM / TM) * (BN / TN) == kThreads, "one thread per thread tile");

// Step 4, a thread tile of TM x TN elements of C, whose sums stay in registers. The tile of
// A is transposed in shared memory, so that a thread fetches four elements of A and four of
// B with one load of 16 bytes each. When the tile of A is filled, a warp takes 8 terms of 4
// rows: these are whole sectors, and 32 different banks.
// Faster because 16 multiply-adds take two loads from shared memory instead of 32, and
// because each element that comes from global memory serves 64 multiply-adds. Still slow
// because a block computes nothing while it loads its tiles. Larger tiles would need fewer
// loads, but a product of 1024 x 768 elements has only 48 tiles of 128 x
// 128, which is less than one per SM of a large GPU.
__global__ void __launch_bounds__(kThreads)
    product_register_tile(const float* a, const float* b, float* c, Extents x) {
    __shared__ __align__(16) float a_tile[BK][BM + 4];
    __shared__ __align__(16) float b_tile[BK][BN];
    const std::size_t tiles_across = (x.n + BN - 1) / BN;
    const std::size_t top = blockIdx.x / tiles_across * BM;
    const std::size_t left = blockIdx.x % tiles_across * BN;
    const unsigned first_row = threadIdx.x / (BN / TN) * TM;
    const unsigned first_col = threadIdx.x % (BN / TN) * TN;
    float sums[TM][TN] = {};
    for (std::size_t first = 0; first < x.k; first += BK) {
#pragma unroll
        for (unsigned i = 0; i < BM * BK / kThreads; ++i) {
            const unsigned row = threadIdx.x / 8 + i / 2 * 32;
            const unsigned p = threadIdx.x % 8 + i % 2 * 8;
            const bool is_there = top + row < x.m && first + p < x.k;
            a_tile[p][row] = is_there ? a[(top + row) * x.k + first + p] : 0;
        }
#pragma unroll
        for (unsigned i = 0; i < BK * BN / kThreads; ++i) {
            const unsigned p = threadIdx.x / BN + i * (kThreads / BN);
            const unsigned col = threadIdx.x % BN;
            const bool is_there = first + p < x.k && left + col < x.n;
            b_tile[p][col] = is_there ? b[(first + p) * x.n + left + col] : 0;
        }
        __syncthreads();
#pragma unroll
        for (unsigned p = 0; p < BK; ++p) {
            float of_a[TM], of_b[TN];
            fetch_four(of_a, &a_tile[p][first_row]);
            fetch_four(of_b, &b_tile[p][first_col]);
#pragma unroll
            for (unsigned i = 0; i < TM; ++i) {
#pragma unroll
                for (unsigned j = 0; j < TN; ++j) sums[i][j] += of_a[i] * of_b[j];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned i = 0; i < TM; ++i) {
        const std::size_t row = top + first_row + i;
        if (row < x.m) store_four(c + row * x.n, left + first_col, x.n, sums[i]);
    }
}

}  // namespace
}  // namespace examples
