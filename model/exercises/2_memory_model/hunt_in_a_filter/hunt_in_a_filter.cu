// Exercise: a filter in which three things are wrong.
// The task: ./warpwise task hunt_in_a_filter
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
        const int before = first - radius + t;
        const int after = first + segment + t;
        tile[t] = before >= 0 ? in[before] : 0.0f;
        tile[radius + segment + t] = after < n - 1 ? in[after] : 0.0f;
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
    }
}

void sharpen_signal(const float* d_in, float* d_out, int n, float amount) {
    if (n == 0) return;
    const int segments = n < segment ? 1 : n / segment;
    const int blocks = segments < most_blocks ? segments : most_blocks;
    sharpen_segments<<<blocks, segment>>>(d_in, d_out, n, segments, amount);
}
