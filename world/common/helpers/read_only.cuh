// Read bandwidth, for lessons that read much and write next to nothing: two arrays are read, and nothing else is done.
//
//     read_only<8>(d_a.data(), d_b.data(), d_a.bytes(), d_drawn.data());    // 8 loads of 16 bytes per thread
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>

#include "common/helpers/check.h"
#include "common/helpers/launch_shape.h"

namespace warpwise {

inline constexpr unsigned kReadThreads = 256;  // of a block

/// Even blocks read one array, odd blocks the other.
template <unsigned Loads>
__global__ void __launch_bounds__(kReadThreads, 2)
    read_two_arrays(const uint4* a, const uint4* b, std::size_t fours, unsigned* out) {
    const uint4* const from = blockIdx.x % 2 == 0 ? a : b;
    constexpr unsigned tile = Loads * kReadThreads;
    unsigned bits = 0;
    for (std::size_t t = blockIdx.x / 2; t < fours / tile; t += gridDim.x / 2) {
        uint4 four[Loads];
#pragma unroll
        for (unsigned k = 0; k < Loads; ++k) four[k] = from[t * tile + k * kReadThreads + threadIdx.x];
#pragma unroll
        for (unsigned k = 0; k < Loads; ++k) bits |= four[k].x | four[k].y | four[k].z | four[k].w;
    }
    if (bits == 1) *out = bits;  // hardly ever; keeps the compiler from dropping the loads
}

/// Reads `bytes` of each array, as far as whole tiles of Loads * 4 KiB go. Both begin at multiples of 16 bytes.
template <unsigned Loads>
void read_only(const void* a, const void* b, std::size_t bytes, unsigned* out) {
    const unsigned blocks = std::max(2u, blocks_that_fill(read_two_arrays<Loads>, kReadThreads) / 2 * 2);
    read_two_arrays<Loads><<<blocks, kReadThreads>>>(static_cast<const uint4*>(a), static_cast<const uint4*>(b),
                                                     bytes / sizeof(uint4), out);
    check_launch();
}

}  // namespace warpwise
