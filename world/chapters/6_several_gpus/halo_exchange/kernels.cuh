// Jacobi iteration: each point becomes the mean of its four neighbors. The points past the
// edges of the array are 0.
//
// A device has some rows of the array, its strip, and two rows more: the halo, a copy of
// the rows above and below that belong to its neighbors. Row 0 is the upper one of them.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace several_gpus {
namespace {

constexpr unsigned kColumns = 256;      // per block, one per thread
constexpr unsigned kRowsPerThread = 8;  // one below the other

// The new value of a point, from its column and the values above, at, and below it.
__device__ float relaxed(const float* row, std::size_t col, std::size_t cols, float above,
                         float below) {
    const float left = col > 0 ? row[col - 1] : 0;
    const float right = col + 1 < cols ? row[col + 1] : 0;
    return 0.25f * (above + below + left + right);
}

// Rows `first` to `first + rows` of a strip. A thread computes eight points, one below the
// other, and loads each of the ten values in its column once.
__global__ void __launch_bounds__(kColumns)
    relax(const float* from, float* to, std::size_t cols, std::size_t first,
          std::size_t rows) {
    const std::size_t col = std::size_t{blockIdx.x} * kColumns + threadIdx.x;
    if (col >= cols) return;
    const std::size_t groups = (rows + kRowsPerThread - 1) / kRowsPerThread;
    for (std::size_t group = blockIdx.y; group < groups; group += gridDim.y) {
        const std::size_t begin = first + group * kRowsPerThread;
        const std::size_t last = first + rows;  // the row after the last one
        float column[kRowsPerThread + 2];
#pragma unroll
        for (unsigned k = 0; k < kRowsPerThread + 2; ++k)
            column[k] = begin + k <= last + 1 ? from[(begin + k - 1) * cols + col] : 0;
#pragma unroll
        for (unsigned k = 0; k < kRowsPerThread; ++k) {
            if (begin + k < last)
                to[(begin + k) * cols + col] =
                    relaxed(from + (begin + k) * cols, col, cols, column[k], column[k + 2]);
        }
    }
}

// The first row of a strip, and the last one, which may be the same. What they become goes
// to `to`, and also to `above` and `below`, the halos of the neighbors, where there are
// such: these rows are in the memory of other devices.
__global__ void __launch_bounds__(kColumns)
    relax_edges(const float* from, float* to, std::size_t cols, std::size_t rows,
                float* above, float* below) {
    const std::size_t col = std::size_t{blockIdx.x} * kColumns + threadIdx.x;
    if (col >= cols) return;
    const std::size_t row = blockIdx.y == 0 ? 1 : rows;
    const float value = relaxed(from + row * cols, col, cols, from[(row - 1) * cols + col],
                                from[(row + 1) * cols + col]);
    to[row * cols + col] = value;
    if (row == 1 && above != nullptr) above[col] = value;
    if (row == rows && below != nullptr) below[col] = value;
}

// The start: a wave in each direction, so that every point shrinks by the same factor in
// each iteration, and the host knows the result without iterating. Row `row` of the strip
// is row `first + row - 1` of the array. `other`, the array that the first iteration
// writes, is NaN but for the rows past the edges.
__global__ void start(const double* row_wave, const double* col_wave, std::size_t all_rows,
                      std::size_t cols, std::size_t first, std::size_t rows, float* from,
                      float* other) {
    const std::size_t points = (rows + 2) * cols;
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < points;
         i += stride) {
        const std::size_t row = first + i / cols;  // counted from the row past the edge
        const bool outside = row == 0 || row == all_rows + 1;
        from[i] = outside ? 0 : static_cast<float>(row_wave[row - 1] * col_wave[i % cols]);
        other[i] = outside ? 0 : __int_as_float(0x7FFFFFFF);
    }
}

}  // namespace
}  // namespace several_gpus
