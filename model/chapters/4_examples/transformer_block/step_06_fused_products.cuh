#pragma once

#include "chapters/4_examples/transformer_block/shapes.cuh"
#include "chapters/4_examples/transformer_block/step_04_register_tile.cuh"

namespace examples {
namespace {

// What is done to four neighboring sums before they are stored: a bias is added, and then
// GELU is taken, or the residual added, whose rows are as long as those of C.
struct Bias {
    const float* bias;
    __device__ void operator()(float* sums, std::size_t, std::size_t col,
                               std::size_t cols) const {
        float of_bias[4];
        load_four(of_bias, bias, col, cols);
        for (unsigned j = 0; j < 4; ++j) sums[j] += of_bias[j];
    }
};
struct BiasAndGelu {
    const float* bias;
    __device__ void operator()(float* sums, std::size_t, std::size_t col,
                               std::size_t cols) const {
        float of_bias[4];
        load_four(of_bias, bias, col, cols);
        for (unsigned j = 0; j < 4; ++j) sums[j] = gelu_of(sums[j] + of_bias[j]);
    }
};
struct BiasAndResidual {
    const float *bias, *residual;
    __device__ void operator()(float* sums, std::size_t row, std::size_t col,
                               std::size_t cols) const {
        float of_bias[4], of_residual[4];
        load_four(of_bias, bias, col, cols);
        load_four(of_residual, residual + row * cols, col, cols);
        for (unsigned j = 0; j < 4; ++j) sums[j] += of_bias[j] + of_residual[j];
    }
};

// Step 6, what stood between the products happens while a sum is still in a register. The
// rest is step 4.
// Faster because seven kernels that did nothing but read and write matrices are gone, and
// with them seven launches. On an H200 about half of that is lost again, because the
// products take longer than in step 4. Still slow because they are the same products.
template <class Epilogue>
__global__ void __launch_bounds__(kThreads)
    product_fused(const float* a, const float* b, float* c, Extents x, Epilogue finished) {
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
        const std::size_t row = top + first_row + i, col = left + first_col;
        if (row >= x.m) continue;
        finished(sums[i], row, col, x.n);
        store_four(c + row * x.n, col, x.n, sums[i]);
    }
}

}  // namespace
}  // namespace examples
