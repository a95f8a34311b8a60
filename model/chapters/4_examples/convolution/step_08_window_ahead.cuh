#pragma once

#include "chapters/4_examples/convolution/step_07_window_float4.cuh"

namespace examples {
namespace {

// Step 8, a thread loads `Ahead` rows ahead: while it computes with a row, the next ones
// are on their way to registers of their own. Nine is a multiple of `Ahead`, so these
// registers have constant indices in the unrolled loop, as the window has.
// Faster because 16 * Ahead bytes per thread are in flight. Still slow because rows that
// wait take registers, eight each, and fewer warps are resident with more registers.
template <int Ahead>
__global__ void __launch_bounds__(kThreads)
    window_ahead(const float* in, Extents image, int band, float* out) {
    static_assert(kTaps % Ahead == 0);
    const Place tile = tile_of_block(image, band, kThreads * kPixels);
    const int col = tile.col + threadIdx.x * kPixels;
    const int end = min(tile.row + band, image.rows);
    Loaded next[Ahead];
    float4 window[kTaps];
#pragma unroll
    for (int k = 0; k < Ahead; ++k)
        next[k] = load_lane(in, image, tile.row + k - kRadius, col);
#pragma unroll
    for (int k = 0; k < kTaps - 1; ++k) {
        const Loaded loaded = next[k % Ahead];
        next[k % Ahead] = load_lane(in, image, tile.row + k + Ahead - kRadius, col);
        window[k] = sums_of_lane(loaded);
    }
    for (int row = tile.row; row < end; row += kTaps) {
#pragma unroll
        for (int k = 0; k < kTaps; ++k) {
            if (row + k >= end) break;
            const Loaded loaded = next[(k + kTaps - 1) % Ahead];
            if (row + k + Ahead < end)
                next[(k + kTaps - 1) % Ahead] =
                    load_lane(in, image, row + k + Ahead + kRadius, col);
            window[(k + kTaps - 1) % kTaps] = sums_of_lane(loaded);
            float4 sum = {0, 0, 0, 0};
#pragma unroll
            for (int i = 0; i < kTaps; ++i)
                add_scaled(sum, line_weights[i], window[(k + i) % kTaps]);
            store_four(out + (row + k) * image.pitch, col, image.cols, sum);
        }
    }
}

}  // namespace
}  // namespace examples
