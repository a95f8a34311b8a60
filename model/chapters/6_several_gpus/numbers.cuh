// Numbers that every device makes by itself: number i of a stream is the same wherever it
// is made, so the host can tell what a result has to be without a copy of the inputs.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "chapters/6_several_gpus/devices.h"
#include "common/helpers/check.h"

namespace several_gpus {
namespace {

// Evenly distributed over [-1, 1), with 24 bits. The mixing is that of SplitMix64.
__host__ __device__ inline float number_at(std::uint64_t stream, std::uint64_t i) {
    std::uint64_t bits = (stream << 40) + (i + 1) * 0x9E3779B97F4A7C15u;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    bits ^= bits >> 31;
    return static_cast<float>(static_cast<int>(bits >> 40) - (1 << 23)) / (1 << 23);
}

// Numbers `first` ... of a stream, one per thread.
__global__ void make_numbers(std::uint64_t stream, std::size_t first, std::size_t count,
                             float* out) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride)
        out[i] = number_at(stream, first + i);
}

// The same in the memory of `device`, to whose end the host waits.
inline void fill_with_numbers(int device, std::uint64_t stream, std::size_t first,
                              std::size_t count, float* out) {
    if (count == 0) return;
    const OnDevice current(device);
    const std::size_t blocks = (count + 255) / 256;
    make_numbers<<<static_cast<unsigned>(blocks < 4096 ? blocks : 4096), 256>>>(
        stream, first, count, out);
    warpwise::check_launch();
    warpwise::check_finished();
}

}  // namespace
}  // namespace several_gpus
