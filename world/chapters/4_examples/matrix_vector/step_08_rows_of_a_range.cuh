#pragma once

#include "chapters/4_examples/matrix_vector/pieces.cuh"

namespace examples {
namespace {

constexpr unsigned kLongest = 512;  // floats of a row that is short
constexpr unsigned kRange = 4096;  // floats of the matrix that a block has in shared memory

// Step 8, short rows that begin anywhere. A row cannot be loaded as float4 there, but rows
// that follow each other are one range of memory. A block takes a multiple of four rows,
// which begins at a multiple of 16 bytes whatever their length, loads all of it as float4
// into shared memory, and a few lanes add up each row there.
// Faster because a load has 16 bytes, and no padding is loaded. Still slow because each
// float is stored and loaded once more, and rows a power of two apart may meet in few
// banks. So padded rows are left to step 7.
__global__ void __launch_bounds__(kThreads)
    rows_of_a_range(const float* a, std::size_t pitch, std::size_t rows, unsigned cols,
                    const float* x, float* y, unsigned rows_per_block, unsigned lanes) {
    constexpr unsigned loads = kRange / kFloats<float4> / kThreads;
    __shared__ __align__(16) float range[kRange];
    __shared__ float of_x[kLongest];
    for (unsigned col = threadIdx.x; col < cols; col += kThreads) of_x[col] = x[col];
    const std::size_t first_row = std::size_t{blockIdx.x} * rows_per_block;
    const unsigned own_rows =
        static_cast<unsigned>(min(rows - first_row, std::size_t{rows_per_block}));
    const unsigned stride = static_cast<unsigned>(pitch);
    const unsigned floats = own_rows * stride, pieces = floats / kFloats<float4>;
    const float* const from = a + first_row * pitch;
    float4 of_a[loads];
#pragma unroll
    for (unsigned i = 0; i < loads; ++i) {
        const unsigned piece = i * kThreads + threadIdx.x;
        of_a[i] = piece < pieces ? piece_at<float4>(from, piece) : float4{};
    }
#pragma unroll
    for (unsigned i = 0; i < loads; ++i) {
        const unsigned piece = i * kThreads + threadIdx.x;
        if (piece < pieces) reinterpret_cast<float4*>(range)[piece] = of_a[i];
    }
    const unsigned rest = pieces * kFloats<float4> +
                          threadIdx.x;  // at most 3 floats, of the last rows of all
    if (rest < floats) range[rest] = from[rest];
    __syncthreads();

    const unsigned lane = threadIdx.x % lanes, rows_at_a_time = kThreads / lanes;
    for (unsigned begin = 0; begin < own_rows; begin += rows_at_a_time) {
        const unsigned row = begin + threadIdx.x / lanes;
        float sum = 0;
        if (row < own_rows) {
            for (unsigned col = lane; col < cols; col += lanes)
                sum += range[row * stride + col] * of_x[col];
        }
        for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(~0u, sum, distance);
        }
        if (lane == 0 && row < own_rows) y[first_row + row] = sum;
    }
}

}  // namespace
}  // namespace examples
