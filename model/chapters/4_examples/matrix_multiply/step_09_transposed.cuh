#pragma once

#include "chapters/4_examples/matrix_multiply/tiles.cuh"

namespace examples {
namespace {

// Step 9, the tile of A transposed: the elements of a column of A, which one outer product
// needs, are neighbors in shared memory. A row of the tile has BM + 4 floats. That keeps
// its rows aligned to 16 bytes, and the lanes that store the elements of one row of A store
// to different banks.
// This step prepares the next one and is measured alone. It should be slower than step 8:
// a tile takes four stores for A instead of one. And the elements that nvcc could load
// together in step 8, four terms of one row, are not neighbors any more: 64 loads of A
// for 512 multiply-adds instead of 16. On an H200 it is faster, and the reason is not
// known.
template <unsigned BM, unsigned BN, unsigned BK, unsigned TM, unsigned TN>
__global__ void __launch_bounds__((BM / TM) * (BN / TN), 2)
    product_transposed(const float* a, const float* b, float* c, Extents x) {
    constexpr unsigned across = BN / TN, down = BM / TM;  // threads
    __shared__ __align__(16) float a_tile[BK][BM + 4];
    __shared__ __align__(16) float b_tile[BK][BN];
    const Corner corner = corner_of_block(x, BM, BN);
    const unsigned a_row = threadIdx.x / (BK / 4), a_p = threadIdx.x % (BK / 4) * 4;
    const unsigned b_p = threadIdx.x / (BN / 4), b_col = threadIdx.x % (BN / 4) * 4;
    const unsigned thread_row = threadIdx.x / across, thread_col = threadIdx.x % across;

    float sums[TM][TN] = {};
    for (std::size_t first = 0; first < x.k; first += BK) {
        const std::size_t row = corner.row + a_row, term = first + b_p;
        const float4 from_a = load_four(a + row * x.k, first + a_p, x.k, row < x.m);
        const float4 from_b =
            load_four(b + term * x.n, corner.col + b_col, x.n, term < x.k);
        a_tile[a_p][a_row] = from_a.x;
        a_tile[a_p + 1][a_row] = from_a.y;
        a_tile[a_p + 2][a_row] = from_a.z;
        a_tile[a_p + 3][a_row] = from_a.w;
        *reinterpret_cast<float4*>(&b_tile[b_p][b_col]) = from_b;
        __syncthreads();
#pragma unroll
        for (unsigned p = 0; p < BK; ++p) {
            float left[TM], right[TN];
#pragma unroll
            for (unsigned i = 0; i < TM; ++i) left[i] = a_tile[p][thread_row + i * down];
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
