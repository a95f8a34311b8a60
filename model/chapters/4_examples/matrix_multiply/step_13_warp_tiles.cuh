#pragma once

#include "chapters/4_examples/matrix_multiply/tiles.cuh"

namespace examples {
namespace {

// Step 13, warp tiles. Each of the eight warps computes 64 x 32 of the 128 x 128 elements,
// with its lanes arranged 8 x 4, so that it needs 8 different groups of A and 4 of B per
// load: about as many of one as of the other. The lanes are numbered so that `lane` and
// `lane ^ 1` have the same rows, and `lane` and `lane ^ 2` the same columns. If one of
// these holds for a load of 16 bytes, the SM serves 16 lanes at a time instead of 8.
// Faster because each load of 16 bytes per lane takes two wavefronts, 8 and not 12 for 64
// multiply-adds, so that warps wait less for shared memory. Still slow because the way from
// global to shared memory leads through registers and costs instructions.
template <unsigned BM, unsigned BN, unsigned BK, unsigned TM, unsigned TN>
__global__ void __launch_bounds__((BM / TM) * (BN / TN), 2)
    product_warp_tiles(const float* a, const float* b, float* c, Extents x) {
    constexpr unsigned WM = 64, WN = 32;  // the warp's tile
    static_assert(TM == 8 && TN == 8 && BM % WM == 0 && BN % WN == 0);
    __shared__ __align__(16) float a_tiles[2][BK][BM + 4];
    __shared__ __align__(16) float b_tiles[2][BK][BN];
    const Corner corner = corner_of_block(x, BM, BN);
    const unsigned a_row = threadIdx.x / (BK / 4), a_p = threadIdx.x % (BK / 4) * 4;
    const unsigned b_p = threadIdx.x / (BN / 4), b_col = threadIdx.x % (BN / 4) * 4;
    const std::size_t row_of_a = corner.row + a_row;

    const unsigned warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    const unsigned lane_row = (lane >> 1 & 1) + (lane >> 3) * 2;  // bits 1, 3 and 4
    const unsigned lane_col = (lane & 1) + (lane >> 2 & 1) * 2;   // bits 0 and 2
    constexpr unsigned warps_across = BN / WN;
    constexpr unsigned next_rows = WM / 2,
                       next_cols = WN / 2;  // from a group to the thread's next one
    const unsigned first_row = warp / warps_across * WM + lane_row * 4;
    const unsigned first_col = warp % warps_across * WN + lane_col * 4;

    float4 from_a = load_four(a + row_of_a * x.k, a_p, x.k, row_of_a < x.m);
    float4 from_b = load_four(b + b_p * x.n, corner.col + b_col, x.n, b_p < x.k);
    float sums[TM][TN] = {};
    unsigned now = 0;
    for (std::size_t first = 0; first < x.k; first += BK, now ^= 1) {
        a_tiles[now][a_p][a_row] = from_a.x;
        a_tiles[now][a_p + 1][a_row] = from_a.y;
        a_tiles[now][a_p + 2][a_row] = from_a.z;
        a_tiles[now][a_p + 3][a_row] = from_a.w;
        *reinterpret_cast<float4*>(&b_tiles[now][b_p][b_col]) = from_b;
        __syncthreads();  // this pair is complete, and no thread reads the other pair any
                          // more
        const std::size_t next = first + BK, term = next + b_p;
        from_a = load_four(a + row_of_a * x.k, next + a_p, x.k, row_of_a < x.m);
        from_b = load_four(b + term * x.n, corner.col + b_col, x.n, term < x.k);
#pragma unroll
        for (unsigned p = 0; p < BK; ++p) {
            float left[TM], right[TN];
#pragma unroll
            for (unsigned i = 0; i < TM; i += 4)
                fetch_four(&left[i], &a_tiles[now][p][first_row + i / 4 * next_rows]);
#pragma unroll
            for (unsigned j = 0; j < TN; j += 4)
                fetch_four(&right[j], &b_tiles[now][p][first_col + j / 4 * next_cols]);
#pragma unroll
            for (unsigned i = 0; i < TM; ++i) {
#pragma unroll
                for (unsigned j = 0; j < TN; ++j) sums[i][j] += left[i] * right[j];
            }
        }
    }
#pragma unroll
    for (unsigned i = 0; i < TM; ++i) {
        const std::size_t row = corner.row + first_row + i / 4 * next_rows + i % 4;
#pragma unroll
        for (unsigned j = 0; j < TN; j += 4) {
            const std::size_t col = corner.col + first_col + j / 4 * next_cols;
            if (row < x.m) store_four(c + row * x.n, col, x.n, &sums[i][j]);
        }
    }
}

}  // namespace
}  // namespace examples
