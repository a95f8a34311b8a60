// The kernels of pitched_memory, in the order of its steps. Blocks have 32 x 8 threads, and
// a warp goes along a row.
#pragma once

#include <cstddef>

namespace memory_model {
namespace {

// Step 1, tight rows: element (row, col) is at row * cols + col, so each row begins right
// after the one before it. A warp reads 128 consecutive bytes, but they begin at row * cols
// * 4 bytes. That is a multiple of 32 in every row if cols is a multiple of 8, and in one
// row of eight if cols is odd. In all other rows each request of a full warp touches 5
// sectors, loads and stores alike. And float4 is out of the question: a row that begins at
// no multiple of 16 bytes cannot be read by it.
__global__ void flip_tight(const float* in, float* flipped, std::size_t rows,
                           std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t stride = std::size_t{gridDim.y} * blockDim.y;
    if (col >= cols) return;
    for (std::size_t row = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y; row < rows;
         row += stride) {
        flipped[(rows - 1 - row) * cols + col] = in[row * cols + col];
    }
}

// The row of a matrix whose rows are `pitch` bytes apart. The pitch counts bytes, so the
// step from row to row is taken on a pointer to bytes. Only after that is it a pointer to
// floats again.
__device__ float* row_of(float* first, std::size_t pitch, std::size_t row) {
    return reinterpret_cast<float*>(reinterpret_cast<char*>(first) + row * pitch);
}

__device__ const float* row_of(const float* first, std::size_t pitch, std::size_t row) {
    return reinterpret_cast<const float*>(reinterpret_cast<const char*>(first) +
                                          row * pitch);
}

// Step 2, pitched rows. The only change is how a row is found. The pitch is an argument,
// because input and output may have different pitches.
// Faster because every row begins at a multiple of the pitch, so that every request of a
// full warp touches 4 sectors. Still slow because a thread has only 4 bytes in flight. Step
// 3 changes that.
__global__ void flip_pitched(const float* in, std::size_t in_pitch, float* flipped,
                             std::size_t flipped_pitch, std::size_t rows,
                             std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t stride = std::size_t{gridDim.y} * blockDim.y;
    if (col >= cols) return;
    for (std::size_t row = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y; row < rows;
         row += stride) {
        row_of(flipped, flipped_pitch, rows - 1 - row)[col] =
            row_of(in, in_pitch, row)[col];
    }
}

// Step 3, 16 bytes per access. Pitched rows allow that for any number of columns, because
// each row begins at a multiple of 16 bytes. The last one to three columns of a row are
// copied one by one. A float4 that reaches past the end of a row would stay within the
// padding and harm nothing, but it would read bytes that were never written.
// Faster because there is a quarter of the requests, and 16 bytes in flight per thread.
__global__ void flip_pitched_float4(const float* in, std::size_t in_pitch, float* flipped,
                                    std::size_t flipped_pitch, std::size_t rows,
                                    std::size_t cols) {
    const std::size_t col = 4 * (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
    const std::size_t stride = std::size_t{gridDim.y} * blockDim.y;
    if (col >= cols) return;
    for (std::size_t row = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y; row < rows;
         row += stride) {
        const float* from = row_of(in, in_pitch, row);
        float* to = row_of(flipped, flipped_pitch, rows - 1 - row);
        if (col + 4 <= cols) {
            *reinterpret_cast<float4*>(to + col) =
                *reinterpret_cast<const float4*>(from + col);
        } else {
            for (std::size_t rest = col; rest < cols; ++rest) to[rest] = from[rest];
        }
    }
}

}  // namespace
}  // namespace memory_model
