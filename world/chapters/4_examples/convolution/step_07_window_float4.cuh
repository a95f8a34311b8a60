#pragma once

#include "chapters/4_examples/convolution/four_pixels.cuh"
#include "chapters/4_examples/convolution/step_06_register_window.cuh"

namespace examples {
namespace {

// What a lane loads of a row: four pixels. The first and the last lane of a warp also load
// the four beside the warp.
struct Loaded {
    float4 own, beside;
};

__device__ Loaded load_lane(const float* in, Extents image, int row, int col) {
    const float* const from = in + clamped(row, image.rows) * image.pitch;
    const unsigned lane = threadIdx.x % kLanes;
    Loaded loaded = {load_four(from, col, image.cols), {0, 0, 0, 0}};
    if (lane == 0 || lane == kLanes - 1)
        loaded.beside =
            load_four(from, lane == 0 ? col - kPixels : col + kPixels, image.cols);
    return loaded;
}

// The other neighbors' pixels come from the registers of the neighboring lanes.
__device__ float4 sums_of_lane(Loaded loaded) {
    constexpr unsigned all_lanes = 0xFFFFFFFF;
    const unsigned lane = threadIdx.x % kLanes;
    const float4 own = loaded.own;
    float4 left = {__shfl_up_sync(all_lanes, own.x, 1), __shfl_up_sync(all_lanes, own.y, 1),
                   __shfl_up_sync(all_lanes, own.z, 1),
                   __shfl_up_sync(all_lanes, own.w, 1)};
    float4 right = {
        __shfl_down_sync(all_lanes, own.x, 1), __shfl_down_sync(all_lanes, own.y, 1),
        __shfl_down_sync(all_lanes, own.z, 1), __shfl_down_sync(all_lanes, own.w, 1)};
    if (lane == 0) left = loaded.beside;
    if (lane == kLanes - 1) right = loaded.beside;
    return sums_along_row(left, own, right);
}

// Step 7, four columns per thread: 16 bytes per load, and shuffles bring the neighbors'
// pixels. Lanes to the right of the image stay, because others shuffle with them.
// Faster because a load serves four pixels, and two loads per row replace nine per pixel.
// Still slow because a thread waits for each row before it asks for the next one: it has 16
// bytes in flight.
__global__ void __launch_bounds__(kThreads)
    window_float4(const float* in, Extents image, int band, float* out) {
    const Place tile = tile_of_block(image, band, kThreads * kPixels);
    const int col = tile.col + threadIdx.x * kPixels;
    const int end = min(tile.row + band, image.rows);
    float4 window[kTaps];
#pragma unroll
    for (int k = 0; k < kTaps - 1; ++k)
        window[k] = sums_of_lane(load_lane(in, image, tile.row + k - kRadius, col));
    for (int row = tile.row; row < end; row += kTaps) {
#pragma unroll
        for (int k = 0; k < kTaps; ++k) {
            if (row + k >= end) break;
            window[(k + kTaps - 1) % kTaps] =
                sums_of_lane(load_lane(in, image, row + k + kRadius, col));
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
