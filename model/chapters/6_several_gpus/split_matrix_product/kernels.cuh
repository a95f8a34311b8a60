// C = A B or C += A B for matrices whose rows need not be next to each other.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace several_gpus {
namespace {

constexpr unsigned kTile = 128;     // rows and columns of C per block
constexpr unsigned kDepth = 16;     // columns of A, and rows of B, per turn
constexpr unsigned kPerThread = 8;  // rows and columns of C per thread
constexpr unsigned kProductThreads = (kTile / kPerThread) * (kTile / kPerThread);
static_assert(kProductThreads == 256);

// A has m x k elements, B has k x n, and C has m x n. lda, ldb, and ldc: from a row to the
// next one.
struct Product {
    const float* a;
    const float* b;
    float* c;
    std::size_t m, n, k, lda, ldb, ldc;
    bool adds;  // to what C has
};

// Register tiles as in chapter 4: 128 x 128 elements of C per block, 8 x 8 per thread. The
// next tiles are loaded into registers while the present ones are multiplied.
__global__ void __launch_bounds__(kProductThreads, 2) multiply(Product x) {
    __shared__ __align__(16) float a_tile[kDepth][kTile + 4];
    __shared__ __align__(16) float b_tile[kDepth][kTile];
    constexpr unsigned loads = kTile * kDepth / kProductThreads;
    const std::size_t tiles_across = (x.n + kTile - 1) / kTile;
    const std::size_t first_row = blockIdx.x / tiles_across * kTile;
    const std::size_t first_col = blockIdx.x % tiles_across * kTile;
    const unsigned a_col = threadIdx.x % kDepth, a_row = threadIdx.x / kDepth;
    const unsigned b_col = threadIdx.x % kTile, b_row = threadIdx.x / kTile;
    const unsigned row = threadIdx.x / (kTile / kPerThread) * 4;
    const unsigned col = threadIdx.x % (kTile / kPerThread) * 4;

    float from_a[loads], from_b[loads];
    const auto load = [&](std::size_t depth) {
#pragma unroll
        for (unsigned i = 0; i < loads; ++i) {
            const std::size_t r = first_row + a_row + i * (kProductThreads / kDepth);
            const std::size_t p = depth + a_col;
            from_a[i] = r < x.m && p < x.k ? x.a[r * x.lda + p] : 0;
            const std::size_t q = depth + b_row + i * (kProductThreads / kTile);
            const std::size_t c = first_col + b_col;
            from_b[i] = q < x.k && c < x.n ? x.b[q * x.ldb + c] : 0;
        }
    };
    float sums[kPerThread][kPerThread] = {};
    load(0);
    for (std::size_t depth = 0; depth < x.k; depth += kDepth) {
#pragma unroll
        for (unsigned i = 0; i < loads; ++i) {
            a_tile[a_col][a_row + i * (kProductThreads / kDepth)] = from_a[i];
            b_tile[b_row + i * (kProductThreads / kTile)][b_col] = from_b[i];
        }
        __syncthreads();
        if (depth + kDepth < x.k) load(depth + kDepth);
#pragma unroll
        for (unsigned p = 0; p < kDepth; ++p) {
            float left[kPerThread], right[kPerThread];
#pragma unroll
            for (unsigned half = 0; half < 2; ++half) {
                const float4 of_a =
                    *reinterpret_cast<const float4*>(&a_tile[p][row + half * kTile / 2]);
                const float4 of_b =
                    *reinterpret_cast<const float4*>(&b_tile[p][col + half * kTile / 2]);
                left[half * 4] = of_a.x, left[half * 4 + 1] = of_a.y;
                left[half * 4 + 2] = of_a.z, left[half * 4 + 3] = of_a.w;
                right[half * 4] = of_b.x, right[half * 4 + 1] = of_b.y;
                right[half * 4 + 2] = of_b.z, right[half * 4 + 3] = of_b.w;
            }
#pragma unroll
            for (unsigned i = 0; i < kPerThread; ++i)
#pragma unroll
                for (unsigned j = 0; j < kPerThread; ++j) sums[i][j] += left[i] * right[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned i = 0; i < kPerThread; ++i) {
        const std::size_t r = first_row + row + i % 4 + i / 4 * (kTile / 2);
#pragma unroll
        for (unsigned j = 0; j < kPerThread; ++j) {
            const std::size_t c = first_col + col + j % 4 + j / 4 * (kTile / 2);
            if (r >= x.m || c >= x.n) continue;
            float* const place = x.c + r * x.ldc + c;
            *place = x.adds ? *place + sums[i][j] : sums[i][j];
        }
    }
}

}  // namespace
}  // namespace several_gpus
