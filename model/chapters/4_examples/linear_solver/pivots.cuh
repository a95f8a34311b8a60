// What the kernels of this lesson share: pivot keys and their maxima in a warp and in a
// block, and loads of 16 bytes.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "chapters/4_examples/linear_solver/system.h"

namespace examples {
namespace {

constexpr unsigned kLanes = 32;
constexpr unsigned kThreads = 256;  // of a block
constexpr unsigned kWarps = kThreads / kLanes;
constexpr unsigned kNone = 0xFFFFFFFF;

// A float without its sign, read as an integer, grows with its magnitude. ~row is larger
// for lower rows.
__device__ PivotKey pivot_key(float value, unsigned row) {
    return PivotKey{__float_as_uint(fabsf(value))} << 32 | ~row;
}
__device__ unsigned row_of(PivotKey key) { return ~static_cast<unsigned>(key); }

// The largest value of the warp, in all lanes. Chips from compute capability 8.0 on have an
// instruction for it.
__device__ unsigned warp_max(unsigned value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    for (unsigned distance = 16; distance > 0; distance /= 2) {
        value = max(value, __shfl_xor_sync(0xFFFFFFFF, value, distance));
    }
    return value;
#else
    return __reduce_max_sync(0xFFFFFFFF, value);
#endif
}

// The same for keys: first the magnitudes, then the rows of those that have the largest
// one.
__device__ PivotKey warp_max(PivotKey key) {
    const unsigned magnitude = static_cast<unsigned>(key >> 32);
    const unsigned largest = warp_max(magnitude);
    const unsigned row = warp_max(magnitude == largest ? static_cast<unsigned>(key) : 0u);
    return PivotKey{largest} << 32 | row;
}

// The largest key of the block, in all threads. `warp_maxima` has room for one key per
// warp, in shared memory. There has to be a barrier between two calls with the same room.
__device__ PivotKey block_max(PivotKey key, PivotKey* warp_maxima) {
    const unsigned lane = threadIdx.x % 32;
    const PivotKey of_warp = warp_max(key);
    if (lane == 0) warp_maxima[threadIdx.x / 32] = of_warp;
    __syncthreads();
    return warp_max(lane < blockDim.x / 32 ? warp_maxima[lane] : PivotKey{0});
}

__device__ float4 load4(const float* from) {
    return *reinterpret_cast<const float4*>(from);
}

}  // namespace
}  // namespace examples
