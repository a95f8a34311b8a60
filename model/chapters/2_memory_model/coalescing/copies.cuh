// The kernels of the lesson coalescing that copy floats, with gaps, a shifted start, or
// more bytes per lane.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace memory_model {
namespace {

// The input of the sweeps: element i holds i, in 24 bits so that a float is exact.
constexpr std::size_t kValues = std::size_t{1} << 24;

__global__ void number_elements(float* values, std::size_t count) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        values[i] = static_cast<float>(i % kValues);
    }
}

// Thread i reads element i * stride + offset and writes element i. Stores are always side
// by side: only the load changes from row to row of a table.
__global__ void copy_with_gaps(const float* in, float* out, std::size_t count,
                               std::size_t stride, std::size_t offset) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) out[i] = in[i * stride + offset];
}

// Thread i reads and writes the i-th T: the same bytes as with stride 1, in fewer and
// larger accesses.
template <class T>
__global__ void copy_side_by_side(const float* in, float* out, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) reinterpret_cast<T*>(out)[i] = reinterpret_cast<const T*>(in)[i];
}

}  // namespace
}  // namespace memory_model
