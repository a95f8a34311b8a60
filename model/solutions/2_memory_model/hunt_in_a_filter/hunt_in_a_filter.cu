// Solution: a filter in which three things were wrong.
//
// The number of segments: n / segment drops the last segment when it is not full. It has to
// be rounded up.
//
// The halo: `after < n - 1` took the last element of the signal for one past its end. It
// shows only where the last element lies in the halo of a block, so for one to three
// elements more than whole segments, and there in three outputs at most. element() has the
// right guard, and both sides of the halo use it now.
//
// The tile is used again for the next segment. Without a barrier in between, a fast thread
// loads the next segment's elements where a slow thread still reads its window. So the
// block has to wait twice per segment: after the tile was written, and after it was read.
// It shows only where a block has a second segment, and then not always: a race depends on
// which thread is faster. The second barrier stands after the `if (i < n)`, where every
// thread of the block comes by. Inside the `if`, threads without an output would skip it;
// that works only where these threads have ended, and CUDA does not allow it.
#include "exercises/2_memory_model/hunt_in_a_filter/hunt_in_a_filter.h"

constexpr int segment = 256;  // outputs that a block computes at a time, one per thread
constexpr int most_blocks = 8;

constexpr int radius = 3;
constexpr int taps = 2 * radius + 1;
__constant__ float weights[taps] = {1 / 64.0f,  6 / 64.0f, 15 / 64.0f, 20 / 64.0f,
                                    15 / 64.0f, 6 / 64.0f, 1 / 64.0f};

/// Element i of the signal; 0 outside of it.
__device__ float element(const float* in, int i, int n) {
    return i >= 0 && i < n ? in[i] : 0.0f;
}

/// Fills the tile with the elements of a segment and with `radius` elements on both sides.
__device__ void load_tile(float* tile, const float* in, int first, int n) {
    const int t = threadIdx.x;
    tile[radius + t] = element(in, first + t, n);
    if (t < radius) {
        tile[t] = element(in, first - radius + t, n);
        tile[radius + segment + t] = element(in, first + segment + t, n);
    }
}

/// The weighted mean of the window that begins at this place of the tile.
__device__ float weighted_mean(const float* window) {
    float mean = 0;
    for (int k = 0; k < taps; ++k) mean += weights[k] * window[k];
    return mean;
}

/// The blocks take the segments in turns.
__global__ void sharpen_segments(const float* in, float* out, int n, int segments,
                                 float amount) {
    __shared__ float tile[segment + 2 * radius];
    for (int s = blockIdx.x; s < segments; s += gridDim.x) {
        const int first = s * segment;
        load_tile(tile, in, first, n);
        __syncthreads();

        const int i = first + threadIdx.x;
        if (i < n) {
            const float value = tile[radius + threadIdx.x];
            const float mean = weighted_mean(tile + threadIdx.x);
            out[i] = value + amount * (value - mean);
        }
        __syncthreads();  // all have read the tile before anybody loads the next segment
    }
}

void sharpen_signal(const float* d_in, float* d_out, int n, float amount) {
    if (n == 0) return;
    const int segments = (n + segment - 1) / segment;
    const int blocks = segments < most_blocks ? segments : most_blocks;
    sharpen_segments<<<blocks, segment>>>(d_in, d_out, n, segments, amount);
}
