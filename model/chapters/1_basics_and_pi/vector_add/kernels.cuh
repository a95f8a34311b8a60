// The kernels of vector_add, in the order of its steps. Step 1 is a loop on the host.
// Steps 2 and 3 launch the same kernel: with the copies between host and device, and
// without them.
#pragma once

#include <cstddef>

namespace basics_and_pi {
namespace {

// Threads per block: a multiple of 32, and eight such blocks fill an SM.
constexpr unsigned kThreads = 256;

// Steps 2 and 3: the loop is gone, and thread i computes element i. The grid is a whole
// number of blocks, so the last block has threads beyond the end of the vectors. The
// guard keeps them from touching the memory there.
__global__ void add_one_per_thread(const float* a, const float* b, float* sum,
                                   std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) sum[i] = a[i] + b[i];
}

// Step 4, a grid of fixed size: as many blocks as fit on the device at once. Each thread
// strides on by the size of the grid until the vectors end, so neighboring threads still
// touch neighboring elements in every round. Any count works with any grid.
// Faster because each thread computes more than one element. Probably still slow because
// the loads of the next round come after the store of this round, so no more bytes are
// in flight than before.
__global__ void add_grid_stride(const float* a, const float* b, float* sum,
                                std::size_t count) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        sum[i] = a[i] + b[i];
    }
}

// Step 5, 16 bytes per access: one instruction loads a float4, which is four floats, if
// its address is a multiple of 16 (that of a buffer is). Each thread loads kVectors from
// both vectors before it adds the first. They are kThreads apart, so every access of a
// warp is one stretch of 512 bytes. A block owns a tile of kTile float4s. Whole tiles
// need no guards. The block whose tile reaches beyond the end of the vectors adds float
// by float.
// Faster because a quarter of the instructions move the same bytes, and because each
// thread has 32 * kVectors bytes in flight instead of 8. (How much each of the two
// contributes was not measured here.)
constexpr unsigned kVectors = 2;  // float4s of each input in flight per thread
constexpr unsigned kTile = kThreads * kVectors;  // float4s per block

__global__ void add_float4(const float* a, const float* b, float* sum, std::size_t count) {
    const auto* a4 = reinterpret_cast<const float4*>(a);
    const auto* b4 = reinterpret_cast<const float4*>(b);
    auto* sum4 = reinterpret_cast<float4*>(sum);
    const std::size_t vectors = count / 4;
    const std::size_t tile_begin = std::size_t{blockIdx.x} * kTile;

    if (tile_begin + kTile <= vectors) {
        float4 left[kVectors], right[kVectors];
#pragma unroll
        for (unsigned k = 0; k < kVectors; ++k) {
            left[k] = a4[tile_begin + k * kThreads + threadIdx.x];
            right[k] = b4[tile_begin + k * kThreads + threadIdx.x];
        }
#pragma unroll
        for (unsigned k = 0; k < kVectors; ++k) {
            sum4[tile_begin + k * kThreads + threadIdx.x] =
                make_float4(left[k].x + right[k].x, left[k].y + right[k].y,
                            left[k].z + right[k].z, left[k].w + right[k].w);
        }
        return;
    }
    for (std::size_t i = 4 * tile_begin + threadIdx.x; i < count; i += kThreads)
        sum[i] = a[i] + b[i];
}

}  // namespace
}  // namespace basics_and_pi
