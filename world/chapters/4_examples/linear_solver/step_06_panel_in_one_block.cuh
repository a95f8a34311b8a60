#pragma once

#include "chapters/4_examples/linear_solver/pivots.cuh"

namespace examples {
namespace {

__device__ void store4(float* to, float4 value) { *reinterpret_cast<float4*>(to) = value; }

constexpr unsigned kPanel = tuning.panel;
constexpr unsigned kOneBlock = tuning.one_block;
constexpr unsigned kColumnsPerBlock = 64;

// Step 6, panels. The steps so far read and write the whole matrix for each column. Here
// the elimination of 64 columns, a panel, is worked out on the panel alone. Then the rest
// of the matrix is updated for all 64 at once. And rows above the pivot are left alone, so
// that a triangle U remains, with U x = y, which is solved from below (LU factorization).
// Four kernels for a panel, first in their simplest form:
//   - factor_in_one_block: 64 pivots, in all rows of the panel's columns
//   - exchange_and_substitute: the 64 pivot rows, in all other columns
//   - update_each_element: the rest of the matrix, less a product of the first two
//   - substitute_back: when all panels are done
// The right-hand side is column n of the matrix and takes part like any other.
//
// The panel is factored by one block, because its threads can wait for each other at a
// barrier. A thread has every 1024th row. The multipliers stay where the zeros would be.
// This could be faster because the rest of the matrix moves n / 64 times, not n times.
// Still slow because one block uses one SM of the chip, and every column of the panel goes
// through memory.
__global__ void __launch_bounds__(kOneBlock)
    factor_in_one_block(float* a, std::size_t pitch, unsigned n, unsigned first,
                        unsigned width, unsigned* swaps, float* pivots) {
    __shared__ PivotKey warp_maxima[kOneBlock / kLanes];
    __shared__ float pivot_row[kPanel];
    for (unsigned j = 0; j < width; ++j) {
        PivotKey key = 0;
        for (unsigned row = first + j + threadIdx.x; row < n; row += kOneBlock) {
            key = max(key, pivot_key(a[row * pitch + first + j], row));
        }
        const unsigned chosen = row_of(block_max(key, warp_maxima));
        if (threadIdx.x == 0) {
            swaps[j] = chosen;
            pivots[first + j] = a[chosen * pitch + first + j];
        }
        __syncthreads();
        for (unsigned i = threadIdx.x; i < width; i += kOneBlock) {
            float* const here = a + (first + j) * pitch + first + i;
            float* const there = a + chosen * pitch + first + i;
            pivot_row[i] = *there;
            *there = *here;
            *here = pivot_row[i];
        }
        __syncthreads();
        for (unsigned row = first + j + 1 + threadIdx.x; row < n; row += kOneBlock) {
            float* const own = a + row * pitch + first;
            const float multiplier = own[j] / pivot_row[j];
            own[j] = multiplier;
#pragma unroll 4
            for (unsigned i = j + 1; i < width; ++i) own[i] -= multiplier * pivot_row[i];
        }
        __syncthreads();
    }
}

// Everything right of the panel, one thread per column: first the rows change places as
// they did in the panel, one exchange after the other. Then the 64 pivot rows are freed of
// each other (forward substitution).
// Slow because each exchange waits for the one before it, and each element of the 64 rows
// comes from memory again for every row below it.
__global__ void __launch_bounds__(kColumnsPerBlock)
    exchange_and_substitute(float* a, std::size_t pitch, unsigned n, unsigned first,
                            unsigned width, const unsigned* swaps) {
    const std::size_t col =
        std::size_t{first} + width + blockIdx.x * kColumnsPerBlock + threadIdx.x;
    if (col > n) return;
    for (unsigned j = 0; j < width; ++j) {
        const float kept = a[(first + j) * pitch + col];
        a[(first + j) * pitch + col] = a[swaps[j] * pitch + col];
        a[swaps[j] * pitch + col] = kept;
    }
    for (unsigned i = 1; i < width; ++i) {
        float value = a[(first + i) * pitch + col];
        for (unsigned j = 0; j < i; ++j) {
            value -= a[(first + i) * pitch + first + j] * a[(first + j) * pitch + col];
        }
        a[(first + i) * pitch + col] = value;
    }
}

// The rest of the matrix, one thread per element: less the product of a row of the panel
// and a column of the 64 rows.
// Slow because a multiply-add takes two loads, as in step 1 of lesson matrix_multiply.
__global__ void update_each_element(float* a, std::size_t pitch, unsigned n,
                                    unsigned first) {
    const unsigned row = first + kPanel + blockIdx.y * kWarps + threadIdx.y;
    const unsigned col = first + kPanel + blockIdx.x * kLanes + threadIdx.x;
    if (row >= n || col > n) return;
    float sum = 0;
    for (unsigned j = 0; j < kPanel; ++j)
        sum += a[row * pitch + first + j] * a[(first + j) * pitch + col];
    a[row * pitch + col] -= sum;
}

// U x = y for the unknowns of one panel, when all later unknowns are known. Every block
// solves the same triangle, which saves a launch. Then each block subtracts what these
// unknowns contribute to some of the rows above.
constexpr unsigned kBackThreads = 256;
constexpr unsigned kBackRows = 16;  // from which a block subtracts
static_assert(kBackThreads >= kPanel);

__global__ void substitute_back(float* a, std::size_t pitch, unsigned n, unsigned first,
                                unsigned width, float* x) {
    __shared__ float upper[kPanel][kPanel + 1];
    __shared__ float solved[kPanel];
    for (unsigned k = threadIdx.x; k < kPanel * kPanel; k += kBackThreads) {
        const unsigned row = k / kPanel, col = k % kPanel;
        if (row <= col && col < width)
            upper[row][col] = a[(first + row) * pitch + first + col];
    }
    float y = threadIdx.x < width ? a[(first + threadIdx.x) * pitch + n] : 0;
    __syncthreads();
    for (unsigned j = width; j-- > 0;) {
        if (threadIdx.x == j) solved[j] = y / upper[j][j];
        __syncthreads();
        if (threadIdx.x < j) y -= upper[threadIdx.x][j] * solved[j];
    }
    if (blockIdx.x == 0 && threadIdx.x < width)
        x[first + threadIdx.x] = solved[threadIdx.x];

    const unsigned lane = threadIdx.x % kLanes;
    for (unsigned i = threadIdx.x / kLanes; i < kBackRows; i += kBackThreads / kLanes) {
        const unsigned row = blockIdx.x * kBackRows + i;
        if (row >= first) break;
        float sum = 0;
        for (unsigned j = lane; j < width; j += kLanes)
            sum += a[row * pitch + first + j] * solved[j];
        for (unsigned distance = kLanes / 2; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(0xFFFFFFFF, sum, distance);
        }
        if (lane == 0) a[row * pitch + n] -= sum;
    }
}

}  // namespace
}  // namespace examples
