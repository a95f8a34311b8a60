// What all kernels of the lesson convolution share: the filter, the extents of an image,
// and what stands for the pixels outside of it.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace examples {
namespace {

constexpr int kRadius = 4;              // a filter reaches so far to each side
constexpr int kTaps = 2 * kRadius + 1;  // weights in a row or a column of a filter

// Filled by the host before a launch: the weights of a filter, row after row; and for a
// filter that is the product of a column and a row, the weights of both, which are equal.
__constant__ float filter_weights[kTaps * kTaps];
__constant__ float line_weights[kTaps];

// Row `row` of an image begins `row * pitch` floats after the first one. The pitch is a
// multiple of 32 floats, so each row begins at a multiple of 128 bytes (lesson
// pitched_memory).
struct Extents {
    int rows, cols;
    std::size_t pitch;
};

// The nearest of the indices 0 to count - 1: outside of the image, the pixel at its border
// counts.
__device__ int clamped(int index, int count) { return min(max(index, 0), count - 1); }

struct Place {
    int row, col;
};

// The first pixel of this block's tile. Tiles are numbered along the rows, in one dimension
// of the grid, because the other two have at most 65,535 blocks.
__device__ Place tile_of_block(Extents image, int tile_rows, int tile_cols) {
    const unsigned across = (image.cols + tile_cols - 1) / tile_cols;
    return {static_cast<int>(blockIdx.x / across) * tile_rows,
            static_cast<int>(blockIdx.x % across) * tile_cols};
}

}  // namespace
}  // namespace examples
