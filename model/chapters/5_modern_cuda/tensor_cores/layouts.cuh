// How the rows of a slice lie in shared memory decides how many wavefronts ldmatrix takes.
#pragma once

#include <cuda_runtime.h>

#include "chapters/5_modern_cuda/tensor_cores/tiles.cuh"
#include "common/helpers/tensor_core.cuh"

namespace modern_cuda {
namespace {

enum class Layout { rows, padded, swizzled };

constexpr unsigned kLayoutRows = 16;
constexpr unsigned kLayoutLoads = kSliceBytes / kStepBytes;

template <Layout layout>
__device__ unsigned place_in_slice(unsigned row, unsigned chunk) {
    if (layout == Layout::padded) return row * (kSliceBytes + kChunk) + chunk * kChunk;
    if (layout == Layout::swizzled) return swizzled(row, chunk);
    return row * kSliceBytes + chunk * kChunk;
}

// A warp copies 16 rows of 128 bytes to shared memory, and loads the fragments of all their
// 32-byte steps.
template <Layout layout>
__global__ void fragments_from_rows(const uint4* in, unsigned* out) {
    __shared__ __align__(128) unsigned char slice[kLayoutRows * (kSliceBytes + kChunk)];
    constexpr unsigned chunks = kSliceBytes / kChunk;
    const unsigned lane = threadIdx.x;
    for (unsigned i = lane; i < kLayoutRows * chunks; i += 32)
        *reinterpret_cast<uint4*>(slice + place_in_slice<layout>(i / chunks, i % chunks)) =
            in[i];
    __syncwarp();
    unsigned sum = 0;
    for (unsigned step = 0; step < kLayoutLoads; ++step) {
        unsigned fragment[4];
        warpwise::ldmatrix(fragment,
                           warpwise::shared_address(slice) +
                               place_in_slice<layout>(lane % 16, 2 * step + lane / 16));
        sum += fragment[0] + fragment[1] + fragment[2] + fragment[3];
    }
    out[lane] = sum;
}

}  // namespace
}  // namespace modern_cuda
