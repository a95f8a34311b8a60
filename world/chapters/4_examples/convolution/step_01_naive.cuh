#pragma once

#include "chapters/4_examples/convolution/image.cuh"

namespace examples {
namespace {

constexpr int kBlockCols = 32, kBlockRows = 8;  // threads of a block; one per pixel

// Step 1, one thread per pixel, 81 pixels and 81 weights from global memory.
// Slow because the kernel does nearly nothing but load: 162 loads for 81 multiplications.
// Most of them find their data in the L1 cache. But each load takes its turn there, even
// that of a weight, which is the same for all lanes.
__global__ void naive(const float* in, const float* weights, Extents image, float* out) {
    const Place tile = tile_of_block(image, kBlockRows, kBlockCols);
    const int row = tile.row + threadIdx.y, col = tile.col + threadIdx.x;
    if (row >= image.rows || col >= image.cols) return;
    float sum = 0;
    for (int i = 0; i < kTaps; ++i) {
        const float* const from = in + clamped(row + i - kRadius, image.rows) * image.pitch;
        for (int j = 0; j < kTaps; ++j)
            sum += weights[i * kTaps + j] * from[clamped(col + j - kRadius, image.cols)];
    }
    out[row * image.pitch + col] = sum;
}

}  // namespace
}  // namespace examples
