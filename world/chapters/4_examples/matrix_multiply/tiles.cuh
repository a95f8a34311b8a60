// What the kernels of this lesson share: the extents of the product, the place of a block's
// tile, and moving four neighboring floats at a time. The kernels are in step_01 ...
// step_23, one step per file; lesson.cu launches them.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace examples {
namespace {

constexpr unsigned kLanes = 32;

// C has m x n elements, and each of them is a sum of k products.
struct Extents {
    std::size_t m, n, k;
};

// The first row and the first column of a block's tile of C. Tiles are numbered row by row,
// in one dimension, because gridDim.x may be 2^31 - 1 while gridDim.y may be 65,535 only.
struct Corner {
    std::size_t row, col;
};

__device__ Corner corner_of_block(const Extents& x, unsigned tile_rows,
                                  unsigned tile_cols) {
    const std::size_t tiles_across = (x.n + tile_cols - 1) / tile_cols;
    return {blockIdx.x / tiles_across * tile_rows, blockIdx.x % tiles_across * tile_cols};
}

// Four neighbors of a row of `cols` elements. Elements past the end of the row are 0, and
// so are all four if there is no such row. If `cols` is a multiple of 4, rows begin at
// multiples of 16 bytes, and this is one load. Otherwise it is up to four.
__device__ float4 load_four(const float* row, std::size_t col, std::size_t cols,
                            bool row_exists) {
    float4 four = make_float4(0, 0, 0, 0);
    if (!row_exists || col >= cols) return four;
    if (cols % 4 == 0) return *reinterpret_cast<const float4*>(row + col);
    four.x = row[col];
    if (col + 1 < cols) four.y = row[col + 1];
    if (col + 2 < cols) four.z = row[col + 2];
    if (col + 3 < cols) four.w = row[col + 3];
    return four;
}

__device__ void store_four(float* row, std::size_t col, std::size_t cols,
                           const float* four) {
    if (col >= cols) return;
    if (cols % 4 == 0) {
        reinterpret_cast<float4*>(row)[col / 4] =
            make_float4(four[0], four[1], four[2], four[3]);
        return;
    }
    for (unsigned j = 0; j < 4; ++j) {
        if (col + j < cols) row[col + j] = four[j];
    }
}

__device__ void fetch_four(float* registers, const float* shared) {
    const float4 four = *reinterpret_cast<const float4*>(shared);
    registers[0] = four.x;
    registers[1] = four.y;
    registers[2] = four.z;
    registers[3] = four.w;
}

}  // namespace
}  // namespace examples
