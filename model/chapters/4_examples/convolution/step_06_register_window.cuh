#pragma once

#include "chapters/4_examples/convolution/image.cuh"

namespace examples {
namespace {

constexpr int kThreads = 128;  // per block, from here on

// A pixel, filtered along its row.
__device__ float sum_along_row(const float* in, Extents image, int row, int col) {
    const float* const from = in + clamped(row, image.rows) * image.pitch;
    float sum = 0;
#pragma unroll
    for (int j = 0; j < kTaps; ++j)
        sum += line_weights[j] * from[clamped(col + j - kRadius, image.cols)];
    return sum;
}

// Step 6, a thread goes down a column. It keeps the nine rows that the filter covers in
// registers, filtered along the rows already. One more row comes with each pixel, and the
// oldest one goes. The inner loop is unrolled nine times, so that each place of the window
// has a constant index and can be a register: nothing is moved when the window advances.
// Faster because no barrier and no shared memory are left, and because only a band of
// `band` rows has a halo above and below. Still slow because each pixel takes nine loads
// along its row, from the L1 cache.
__global__ void __launch_bounds__(kThreads)
    register_window(const float* in, Extents image, int band, float* out) {
    const Place tile = tile_of_block(image, band, kThreads);
    const int col = tile.col + threadIdx.x, end = min(tile.row + band, image.rows);
    if (col >= image.cols) return;
    float window[kTaps];
#pragma unroll
    for (int k = 0; k < kTaps - 1; ++k)
        window[k] = sum_along_row(in, image, tile.row + k - kRadius, col);
    for (int row = tile.row; row < end; row += kTaps) {
#pragma unroll
        for (int k = 0; k < kTaps; ++k) {
            if (row + k >= end) break;
            window[(k + kTaps - 1) % kTaps] =
                sum_along_row(in, image, row + k + kRadius, col);
            float sum = 0;
#pragma unroll
            for (int i = 0; i < kTaps; ++i)
                sum += line_weights[i] * window[(k + i) % kTaps];
            out[(row + k) * image.pitch + col] = sum;
        }
    }
}

}  // namespace
}  // namespace examples
