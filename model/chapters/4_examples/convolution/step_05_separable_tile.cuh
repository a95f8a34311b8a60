#pragma once

#include "chapters/4_examples/convolution/image.cuh"
#include "chapters/4_examples/convolution/step_03_shared_halo.cuh"

namespace examples {
namespace {

// Step 5, both directions in one launch: a block filters the rows of its tile, the halo
// above and below included, and then the columns of what that gave.
// Faster because the image between the two is only a tile in shared memory: 8 bytes per
// pixel and the halo are left. Still slow because a float takes several ways through shared
// memory: it is stored, loaded 9 times, stored again, and loaded 9 times. And the whole
// block waits between the phases, with few loads in flight.
__global__ void separable_tile(const float* in, Extents image, float* out) {
    __shared__ float pixels[kHalo][kHalo];
    __shared__ float filtered[kHalo][kTile];  // along the rows
    const Place tile = tile_of_block(image, kTile, kTile);
    load_halo(in, image, tile, pixels);
    __syncthreads();
    for (int k = threadIdx.y; k < kHalo; k += kBlockRows) {
        float sum = 0;
#pragma unroll
        for (int j = 0; j < kTaps; ++j) sum += line_weights[j] * pixels[k][threadIdx.x + j];
        filtered[k][threadIdx.x] = sum;
    }
    __syncthreads();
    const int col = tile.col + threadIdx.x;
    if (col >= image.cols) return;
    for (int k = threadIdx.y; k < kTile && tile.row + k < image.rows; k += kBlockRows) {
        float sum = 0;
#pragma unroll
        for (int i = 0; i < kTaps; ++i)
            sum += line_weights[i] * filtered[k + i][threadIdx.x];
        out[(tile.row + k) * image.pitch + col] = sum;
    }
}

}  // namespace
}  // namespace examples
