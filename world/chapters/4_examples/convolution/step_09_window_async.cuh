#pragma once

#ifndef __CPU_DEVICE__
#include <cuda_pipeline_primitives.h>
#endif

#include "chapters/4_examples/convolution/four_pixels.cuh"
#include "chapters/4_examples/convolution/step_06_register_window.cuh"

namespace examples {
namespace {

// Copies a T from global to shared memory while the thread goes on. Since compute
// capability 8.0 that is an instruction of its own, cp.async, which needs no registers on
// the way. An older GPU and the CPU device copy at once.
template <class T>
__device__ void copy_ahead(float* shared, const float* global) {
#ifdef __CPU_DEVICE__
    *reinterpret_cast<T*>(shared) = *reinterpret_cast<const T*>(global);
#else
    __pipeline_memcpy_async(shared, global, sizeof(T));
#endif
}

__device__ void commit_row() {
#ifndef __CPU_DEVICE__
    __pipeline_commit();
#endif
}

// Waits until all but the last `Pending` rows that this thread has committed are there.
template <int Pending>
__device__ void wait_for_row() {
#ifndef __CPU_DEVICE__
    __pipeline_wait_prior(Pending);
#endif
}

__device__ void copy_four(float4& to, const float* row, int col, int cols) {
    float* const four = &to.x;
    if (are_inside(col, cols)) return copy_ahead<float4>(four, row + col);
#pragma unroll
    for (int k = 0; k < kPixels; ++k)
        copy_ahead<float>(four + k, row + clamped(col + k, cols));
}

// Step 9, the rows that wait are in shared memory: each warp has a ring of `Rows` rows
// there, with the four pixels to its left and right. cp.async fills them without registers,
// so the thread's registers hold the window and nothing else. A lane then reads its own
// four pixels and those of its neighbors, so there are no shuffles. __syncwarp is enough,
// because no warp reads what another one has copied.
// Faster, if registers limited step 8: more warps are resident, and each has more rows in
// flight. In return each pixel is read from shared memory three times, 16 bytes at a time.
template <int Rows>
__global__ void __launch_bounds__(kThreads)
    window_async(const float* in, Extents image, int band, float* out) {
    __shared__ float4 rings[kThreads / kLanes][Rows][kLanes + 2];
    const Place tile = tile_of_block(image, band, kThreads * kPixels);
    const unsigned lane = threadIdx.x % kLanes;
    const int col = tile.col + threadIdx.x * kPixels;
    const int end = min(tile.row + band, image.rows), last = end + kRadius;
    float4(*const ring)[kLanes + 2] = rings[threadIdx.x / kLanes];
    int ahead = tile.row - kRadius;  // the next row to copy
    int to = 0;                      // the place of that row in the ring
    const auto copy_next = [&] {
        if (ahead < last) {
            const float* const from = in + clamped(ahead, image.rows) * image.pitch;
            copy_four(ring[to][lane + 1], from, col, image.cols);
            if (lane == 0) copy_four(ring[to][0], from, col - kPixels, image.cols);
            if (lane == kLanes - 1)
                copy_four(ring[to][kLanes + 1], from, col + kPixels, image.cols);
        }
        commit_row();
        ++ahead;
        to = to + 1 == Rows ? 0 : to + 1;
    };
    int at = 0;  // the place of the row that is needed next
    const auto next_sums = [&] {
        wait_for_row<Rows - 2>();
        __syncwarp();  // the row is there, and all lanes have read the one before
        copy_next();
        const float4 sums =
            sums_along_row(ring[at][lane], ring[at][lane + 1], ring[at][lane + 2]);
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
