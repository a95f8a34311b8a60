#pragma once

#include "chapters/4_examples/matrix_multiply/tiles.cuh"

namespace examples {
namespace {

// Step 8, loads of 16 bytes from global memory. A thread loads four neighboring elements of
// A and four of B with one instruction each, and stores them to shared memory the same way.
// The rest is step 7.
// Faster because there is a quarter of the loads from global memory, and of the stores to
// shared memory, with their addresses and guards. Because the tiles are aligned to 16 bytes
// now, nvcc also loads four elements of a row of A, for four terms, with one instruction.
// Still slow because the elements of B come one by one: 64 loads for 512 multiply-adds,
// beside 16 of A.
template <unsigned BM, unsigned BN, unsigned BK, unsigned TM, unsigned TN>
__global__ void __launch_bounds__((BM / TM) * (BN / TN), 2)
    product_float4_global(const float* a, const float* b, float* c, Extents x) {
    constexpr unsigned across = BN / TN, down = BM / TM;  // threads
    __shared__ __align__(16) float a_tile[BM][BK];
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
        *reinterpret_cast<float4*>(&a_tile[a_row][a_p]) = from_a;
        *reinterpret_cast<float4*>(&b_tile[b_p][b_col]) = from_b;
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
