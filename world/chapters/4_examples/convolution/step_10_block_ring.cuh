#pragma once

#include "chapters/4_examples/convolution/step_09_window_async.cuh"

namespace examples {
namespace {

// Step 10, the ring belongs to the block: its warps stand side by side, so what is beside
// one warp is what another one has copied. Only the first and the last thread of the block
// still copy pixels beside it. A warp now reads what others copied, so a barrier of the
// block takes the place of __syncwarp.
// Faster because each row has a quarter of the requests for four pixels beside a warp. Such
// a request brings 16 bytes and costs as much as one that brings 512.
template <int Rows>
__global__ void __launch_bounds__(kThreads)
    window_block_ring(const float* in, Extents image, int band, float* out) {
    __shared__ float4 ring[Rows][kThreads + 2];
    const Place tile = tile_of_block(image, band, kThreads * kPixels);
    const unsigned thread = threadIdx.x;
    const int col = tile.col + thread * kPixels;
    const int end = min(tile.row + band, image.rows), last = end + kRadius;
    int ahead = tile.row - kRadius;  // the next row to copy
    int to = 0;                      // the place of that row in the ring
    const auto copy_next = [&] {
        if (ahead < last) {
            const float* const from = in + clamped(ahead, image.rows) * image.pitch;
            copy_four(ring[to][thread + 1], from, col, image.cols);
            if (thread == 0) copy_four(ring[to][0], from, col - kPixels, image.cols);
            if (thread == kThreads - 1)
                copy_four(ring[to][kThreads + 1], from, col + kPixels, image.cols);
        }
        commit_row();
        ++ahead;
        to = to + 1 == Rows ? 0 : to + 1;
    };
    int at = 0;  // the place of the row that is needed next
    const auto next_sums = [&] {
        wait_for_row<Rows - 2>();
        __syncthreads();  // the row is there, and all threads have read the one before
        copy_next();
        const float4 sums =
            sums_along_row(ring[at][thread], ring[at][thread + 1], ring[at][thread + 2]);
        at = at + 1 == Rows ? 0 : at + 1;
        return sums;
    };
    for (int k = 0; k < Rows - 1; ++k) copy_next();
    float4 window[kTaps];
#pragma unroll
    for (int k = 0; k < kTaps - 1; ++k) window[k] = next_sums();
    for (int row = tile.row; row < end; row += kTaps) {
#pragma unroll
        for (int k = 0; k < kTaps; ++k) {
            if (row + k >= end) break;
            window[(k + kTaps - 1) % kTaps] = next_sums();
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
