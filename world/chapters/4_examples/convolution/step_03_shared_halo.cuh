#pragma once

#include "chapters/4_examples/convolution/image.cuh"
#include "chapters/4_examples/convolution/step_01_naive.cuh"

namespace examples {
namespace {

constexpr int kTile = 32;                   // a block's pixels: kTile x kTile
constexpr int kHalo = kTile + 2 * kRadius;  // and with the halo: kHalo x kHalo

// Loads the tile and its halo, clamped at the borders of the image, into shared memory.
__device__ void load_halo(const float* in, Extents image, Place tile,
                          float (*pixels)[kHalo]) {
    for (int i = threadIdx.y; i < kHalo; i += kBlockRows) {
        const float* const from =
            in + clamped(tile.row + i - kRadius, image.rows) * image.pitch;
        for (int j = threadIdx.x; j < kHalo; j += kBlockCols)
            pixels[i][j] = from[clamped(tile.col + j - kRadius, image.cols)];
    }
}

// Step 3, a tile in shared memory: a block loads each pixel of its tile and of the halo
// once, and clamps it once. The tile is larger than the block, four pixels per thread,
// because the halo of a small tile would be larger than the tile.
// Faster because loads from global memory and clamping are rare now: less than two per
// pixel. Still slow because 81 loads per pixel remain. They come from shared memory, which
// is not faster than the L1 cache.
__global__ void shared_halo(const float* in, Extents image, float* out) {
    __shared__ float pixels[kHalo][kHalo];
    const Place tile = tile_of_block(image, kTile, kTile);
    load_halo(in, image, tile, pixels);
    __syncthreads();
    const int col = tile.col + threadIdx.x;
    if (col >= image.cols) return;
    for (int k = threadIdx.y; k < kTile && tile.row + k < image.rows; k += kBlockRows) {
        float sum = 0;
#pragma unroll
        for (int i = 0; i < kTaps; ++i) {
#pragma unroll
            for (int j = 0; j < kTaps; ++j)
                sum += filter_weights[i * kTaps + j] * pixels[k + i][threadIdx.x + j];
        }
        out[(tile.row + k) * image.pitch + col] = sum;
    }
}

}  // namespace
}  // namespace examples
