// The kernels of matrix_add, in the order of its steps. Element (row, col) of a matrix is
// at row * cols + col.
#pragma once

#include <cstddef>

namespace basics_and_pi {
namespace {

// Step 1, one thread per block: the launch of many a first program, in which the number of
// the block is the number of the element. It is right.
// Slow because a block of one thread occupies a whole warp, in which 31 of 32 lanes do
// nothing, and because an SM keeps at most 32 blocks resident (on most chips). These are 32
// threads here, each in a warp of its own. The SM has room for 2048, in 64 warps.
__global__ void add_one_thread_per_block(const float* a, const float* b, float* sum,
                                         std::size_t count) {
    const std::size_t i = blockIdx.x;
    if (i < count) sum[i] = a[i] + b[i];
}

// Step 2, full warps: blocks of 256 threads stride over the matrix as if it were one long
// vector.
// Faster because all lanes work, and because there are as many threads as the device can
// hold. Probably still slow because each thread has only 8 bytes in flight.
// This kernel does not know its row and its column. Where the work depends on them, i /
// cols and i % cols would cost two divisions per element. Therefore the next two steps
// number the threads in two dimensions.
__global__ void add_grid_stride_flat(const float* a, const float* b, float* sum,
                                     std::size_t count) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        sum[i] = a[i] + b[i];
    }
}

// Step 3, two dimensions in the order of mathematics: the first index, x, is the row, and
// the second index, y, is the column. A grid has at most 65535 blocks in y, so the kernel
// goes on in y by the height of the grid until the matrix ends. It is right.
// Slow because the threads of a warp have neighboring x. So they are in neighboring rows,
// and their elements are `cols` floats apart. Memory is moved in sectors of 32 bytes, and
// one load or store of a warp touches 32 sectors and uses 4 bytes of each. For the loads,
// the caches keep the other bytes until the warps of the neighboring columns need them.
__global__ void add_x_down_rows(const float* a, const float* b, float* sum,
                                std::size_t rows, std::size_t cols) {
    const std::size_t row = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t stride = std::size_t{gridDim.y} * blockDim.y;
    if (row >= rows) return;
    for (std::size_t col = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y; col < cols;
         col += stride) {
        const std::size_t i = row * cols + col;
        sum[i] = a[i] + b[i];
    }
}

// Step 4, x and y exchanged: x runs along the row.
// Faster because the 32 lanes of a warp now touch 128 contiguous bytes. These are 4
// sectors, and every byte of them is used. Such an access is called coalesced. The number
// of operations is the same.
// Still slow because each thread computes a single element. And if the number of columns is
// not a multiple of 32, some lanes have nothing to do at the right edge (all lanes but one
// if there is a single column).
__global__ void add_x_along_rows(const float* a, const float* b, float* sum,
                                 std::size_t rows, std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t stride = std::size_t{gridDim.y} * blockDim.y;
    if (col >= cols) return;
    for (std::size_t row = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y; row < rows;
         row += stride) {
        const std::size_t i = row * cols + col;
        sum[i] = a[i] + b[i];
    }
}

// Step 5, 16 bytes per access. A row starts at a multiple of 16 bytes only if `cols` is a
// multiple of 4, so float4s row by row would be misaligned in three of four matrices. But
// nothing here depends on row or column. So this step takes the matrix as the long vector
// that it is in memory, and only its end needs care. Each thread loads kVectors float4s of
// both matrices before it adds the first. The block whose tile reaches beyond the end of
// the matrix adds float by float.
// Faster because a quarter of the instructions move the same bytes, and because each thread
// has 32 * kVectors bytes in flight. (The two were not measured apart.)
constexpr unsigned kTileThreads = 256;
constexpr unsigned kVectors = 2;  // float4s of each input in flight per thread
constexpr unsigned kTile = kTileThreads * kVectors;  // float4s per block

__global__ void add_float4_flat(const float* a, const float* b, float* sum,
                                std::size_t count) {
    const auto* a4 = reinterpret_cast<const float4*>(a);
    const auto* b4 = reinterpret_cast<const float4*>(b);
    auto* sum4 = reinterpret_cast<float4*>(sum);
    const std::size_t vectors = count / 4;
    const std::size_t tile_begin = std::size_t{blockIdx.x} * kTile;

    if (tile_begin + kTile <= vectors) {
        float4 left[kVectors], right[kVectors];
#pragma unroll
        for (unsigned k = 0; k < kVectors; ++k) {
            left[k] = a4[tile_begin + k * kTileThreads + threadIdx.x];
            right[k] = b4[tile_begin + k * kTileThreads + threadIdx.x];
        }
#pragma unroll
        for (unsigned k = 0; k < kVectors; ++k) {
            sum4[tile_begin + k * kTileThreads + threadIdx.x] =
                make_float4(left[k].x + right[k].x, left[k].y + right[k].y,
                            left[k].z + right[k].z, left[k].w + right[k].w);
        }
        return;
    }
    for (std::size_t i = 4 * tile_begin + threadIdx.x; i < count; i += kTileThreads)
        sum[i] = a[i] + b[i];
}

}  // namespace
}  // namespace basics_and_pi
