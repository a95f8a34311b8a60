#pragma once

#include "chapters/4_examples/matrix_multiply/tiles.cuh"

namespace examples {
namespace {

// Step 11, double buffering: two tiles of each matrix in shared memory. While the block
// computes with one pair, each thread already loads its part of the next tiles into
// registers. In the next round it stores them to the other pair.
// Faster because a load from global memory has the 512 multiply-adds of its thread to
// arrive in, and there is one barrier per tile instead of two. Still slow because of step
// 10's bank conflicts. And the gain may be small, because with 16 warps on the SM other
// warps could already multiply while one waited for its loads.
template <unsigned BM, unsigned BN, unsigned BK, unsigned TM, unsigned TN>
__global__ void __launch_bounds__((BM / TM) * (BN / TN), 2)
    product_double_buffer(const float* a, const float* b, float* c, Extents x) {
    constexpr unsigned across = BN / TN;  // threads
    __shared__ __align__(16) float a_tiles[2][BK][BM + 4];
    __shared__ __align__(16) float b_tiles[2][BK][BN];
    const Corner corner = corner_of_block(x, BM, BN);
    const unsigned a_row = threadIdx.x / (BK / 4), a_p = threadIdx.x % (BK / 4) * 4;
    const unsigned b_p = threadIdx.x / (BN / 4), b_col = threadIdx.x % (BN / 4) * 4;
    const unsigned first_row = threadIdx.x / across * TM,
                   first_col = threadIdx.x % across * TN;
    const std::size_t row_of_a = corner.row + a_row;

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
                fetch_four(&left[i], &a_tiles[now][p][first_row + i]);
#pragma unroll
            for (unsigned j = 0; j < TN; j += 4)
                fetch_four(&right[j], &b_tiles[now][p][first_col + j]);
#pragma unroll
            for (unsigned i = 0; i < TM; ++i) {
#pragma unroll
                for (unsigned j = 0; j < TN; ++j) sums[i][j] += left[i] * right[j];
            }
        }
    }
#pragma unroll
    for (unsigned i = 0; i < TM; ++i) {
        const std::size_t row = corner.row + first_row + i;
#pragma unroll
        for (unsigned j = 0; j < TN; j += 4) {
            if (row < x.m)
                store_four(c + row * x.n, corner.col + first_col + j, x.n, &sums[i][j]);
        }
    }
}

}  // namespace
}  // namespace examples
