#pragma once

#include "chapters/4_examples/matrix_multiply/tiles.cuh"

namespace examples {
namespace {

// Step 10, loads of 16 bytes from shared memory. The eight rows of a thread are neighbors
// now, and so are its eight columns, so that two loads bring the eight elements of A, and
// two bring those of B.
// Faster because a quarter of the loads leaves fewer instructions beside multiply-adds. It
// could be slow because a load of 16 bytes per lane is served for 8 lanes at a time: 32
// banks hold 128 bytes. The elements of B that neighboring lanes want lie 32 bytes apart,
// so that the 8 lanes span 256 bytes and meet two by two in the same banks. Together with
// A that is 20 wavefronts for 64 multiply-adds, and step 7 has 16. The result is also
// stored with 32 bytes between the lanes, so each sector of C is written twice.
template <unsigned BM, unsigned BN, unsigned BK, unsigned TM, unsigned TN>
__global__ void __launch_bounds__((BM / TM) * (BN / TN), 2)
    product_float4_shared(const float* a, const float* b, float* c, Extents x) {
    constexpr unsigned across = BN / TN;  // threads
    __shared__ __align__(16) float a_tile[BK][BM + 4];
    __shared__ __align__(16) float b_tile[BK][BN];
    const Corner corner = corner_of_block(x, BM, BN);
    const unsigned a_row = threadIdx.x / (BK / 4), a_p = threadIdx.x % (BK / 4) * 4;
    const unsigned b_p = threadIdx.x / (BN / 4), b_col = threadIdx.x % (BN / 4) * 4;
    const unsigned first_row = threadIdx.x / across * TM,
                   first_col = threadIdx.x % across * TN;

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
            for (unsigned i = 0; i < TM; i += 4)
                fetch_four(&left[i], &a_tile[p][first_row + i]);
#pragma unroll
            for (unsigned j = 0; j < TN; j += 4)
                fetch_four(&right[j], &b_tile[p][first_col + j]);
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
