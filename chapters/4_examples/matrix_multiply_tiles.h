// What the kernels of the lesson matrix_multiply have in common: the problem, where a block's tile lies, and how four
// neighboring floats are moved. The steps themselves: matrix_multiply.cu (1 to 5), matrix_multiply_registers.h (6 to
// 10), matrix_multiply_pipeline.h (11 and 12), matrix_multiply_tensor_cores.cu (on tensor cores).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "chapters/4_examples/matrix_multiply.h"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/launch_shape.h"

namespace examples {
namespace {

using warpwise::DeviceBuffer;

constexpr unsigned kLanes = 32;

struct Extents {
    std::size_t m, n, k;
};

// The product, and a second copy of B whose rows all begin at a multiple of 128 bytes. What lies between the end of a
// row and the beginning of the next is 0.
struct Multiplication : FloatProduct {
    std::size_t pitch;  // floats from row to row of d_b_pitched
    DeviceBuffer<float> d_b_pitched;

    explicit Multiplication(const warpwise::Size& size)
        : FloatProduct(size), pitch(pitch_of(n)), d_b_pitched(k * pitch) {
        d_b_pitched.fill_bytes(0);
        if (k * n == 0) return;
        warpwise::check(cudaMemcpy2D(d_b_pitched.data(), pitch * sizeof(float), d_b.data(), n * sizeof(float),
                                     n * sizeof(float), k, cudaMemcpyDeviceToDevice));
    }

    Extents extents() const { return {m, n, k}; }

    static std::size_t pitch_of(std::size_t n) { return warpwise::ceil_div(n, kLanes) * kLanes; }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return FloatProduct::device_bytes(size) + sizeof(float) * size[2] * pitch_of(size[1]);
    }
};

// Tiles are numbered along the rows, in one dimension, which has room for 2^31 - 1 of them.
struct Corner {
    std::size_t row, col;
};

__device__ Corner corner_of_block(const Extents& x, unsigned tile_rows, unsigned tile_cols) {
    const std::size_t tiles_across = (x.n + tile_cols - 1) / tile_cols;
    return {blockIdx.x / tiles_across * tile_rows, blockIdx.x % tiles_across * tile_cols};
}

using TileKernel = void (*)(const float*, const float*, float*, Extents);

void launch_tiles(TileKernel kernel, Multiplication& problem, unsigned tile_rows, unsigned tile_cols,
                  unsigned threads) {
    const std::size_t tiles = warpwise::ceil_div(problem.m, tile_rows) * warpwise::ceil_div(problem.n, tile_cols);
    if (tiles == 0) return;
    kernel<<<warpwise::blocks_for(tiles, 1), threads>>>(problem.d_a.data(), problem.d_b.data(), problem.d_c.data(),
                                                        problem.extents());
    warpwise::check_launch();
}
// Four neighbors of a row of `cols` elements, 0 for those behind its end, or all 0 if there is no such row. Rows
// begin at multiples of 16 bytes if `cols` is a multiple of 4: then it is one load, else up to four.
__device__ float4 load_four(const float* row, std::size_t col, std::size_t cols, bool row_exists) {
    float4 four = make_float4(0, 0, 0, 0);
    if (!row_exists || col >= cols) return four;
    if (cols % 4 == 0) return *reinterpret_cast<const float4*>(row + col);
    four.x = row[col];
    if (col + 1 < cols) four.y = row[col + 1];
    if (col + 2 < cols) four.z = row[col + 2];
    if (col + 3 < cols) four.w = row[col + 3];
    return four;
}

__device__ void store_four(float* row, std::size_t col, std::size_t cols, const float* four) {
    if (col >= cols) return;
    if (cols % 4 == 0) {
        reinterpret_cast<float4*>(row)[col / 4] = make_float4(four[0], four[1], four[2], four[3]);
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
