#pragma once

#include "chapters/4_examples/matrix_vector/pieces.cuh"

namespace examples {
namespace {

// Step 6, wide loads for long rows. A block has up to 8 rows, and each thread loads 8
// float4 of them before it needs the first: one of each row, or 8 of a single row. One
// piece of x serves all of the rows. The columns after the last whole piece are loaded
// float by float. Where there are few rows, several blocks (gridDim.y) share them: block y
// takes every gridDim.y-th tile of columns. Each leaves its sums in `parts`, and the block
// that draws the last ticket adds them up (lesson fences_and_last_block).
// Faster because a thread has 128 bytes in flight and hardly reads x, and because all SMs
// have work, even with a single row. Still slow for short rows, for the reasons of step 3:
// most threads then have nothing to multiply.
template <class Piece, unsigned Rows>
__global__ void __launch_bounds__(kThreads, 2)
    rows_per_block(const float* a, std::size_t pitch, std::size_t rows, std::size_t cols,
                   const float* x, float* y, float* parts, unsigned* drawn) {
    constexpr unsigned pieces = kTuning.loads / Rows;
    __shared__ float warp_sums[Rows]
                              [kWarps + 1];  // with 1 more, rows lie in different banks
    __shared__ bool is_last;
    const unsigned lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
    const std::size_t first_row = std::size_t{blockIdx.x} * Rows;
    const std::size_t whole = cols / kFloats<Piece>;
    float sums[Rows] = {};
    for (std::size_t tile = blockIdx.y; tile * pieces * kThreads < whole;
         tile += gridDim.y) {
        Piece of_x[pieces], of_a[Rows][pieces];
#pragma unroll
        for (unsigned i = 0; i < pieces; ++i) {
            const std::size_t piece = (tile * pieces + i) * kThreads + threadIdx.x;
            of_x[i] = piece < whole ? piece_at<Piece>(x, piece) : Piece{};
#pragma unroll
            for (unsigned r = 0; r < Rows; ++r) {
                const bool there = piece < whole && first_row + r < rows;
                of_a[r][i] =
                    there ? piece_at<Piece>(a + (first_row + r) * pitch, piece) : Piece{};
            }
        }
#pragma unroll
        for (unsigned r = 0; r < Rows; ++r) {
#pragma unroll
            for (unsigned i = 0; i < pieces; ++i)
                sums[r] += product_of(of_a[r][i], of_x[i]);
        }
    }
    const std::size_t rest = whole * kFloats<Piece> + threadIdx.x;  // at most 3 columns
    if (blockIdx.y == 0 && rest < cols) {
        for (unsigned r = 0; r < Rows && first_row + r < rows; ++r) {
            sums[r] += a[(first_row + r) * pitch + rest] * x[rest];
        }
    }
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) {
        for (unsigned distance = 16; distance > 0; distance /= 2) {
            sums[r] += __shfl_down_sync(~0u, sums[r], distance);
        }
        if (lane == 0) warp_sums[r][warp] = sums[r];
    }
    __syncthreads();
    // Of the first threads, which have one each.
    const std::size_t row = first_row + threadIdx.x;
    if (threadIdx.x < Rows && row < rows) {
        float sum = 0;
        for (unsigned w = 0; w < kWarps; ++w) sum += warp_sums[threadIdx.x][w];
        if (gridDim.y == 1) {
            y[row] = sum;
        } else {
            parts[row * gridDim.y + blockIdx.y] = sum;
        }
    }
    if (gridDim.y == 1) return;

    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();  // releases the sums of all threads, which the barrier ordered
                          // before it
        const unsigned ticket = atomicInc(&drawn[blockIdx.x], gridDim.y - 1);
        __threadfence();
        is_last = ticket == gridDim.y - 1;
    }
    __syncthreads();
    if (!is_last) return;  // all threads of the block, or none
    for (std::size_t r = first_row + warp; r < first_row + Rows && r < rows; r += kWarps) {
        float sum = 0;
        for (unsigned part = lane; part < gridDim.y; part += kLanes)
            sum += parts[r * gridDim.y + part];
        for (unsigned distance = 16; distance > 0; distance /= 2)
            sum += __shfl_down_sync(~0u, sum, distance);
        if (lane == 0) y[r] = sum;
    }
}

}  // namespace
}  // namespace examples
