// The kernels of host_memory_and_streams. The lesson is about the way to them and back, so
// they are simple.
#pragma once

#include <cstddef>

namespace memory_model {
namespace {

constexpr unsigned kThreads = 256;  // per block

// Moves an array to or from mapped or managed memory: the loads or the stores of this
// kernel cross the bus.
__global__ void copy_floats(const float* from, float* to, std::size_t count) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride)
        to[i] = from[i];
}

// Heron's rule: the mean of a guess and x / guess is a better guess. A few rounds are
// enough; more of them change nothing, and make the kernel as long as the lesson wants it.
__global__ void square_roots(const float* in, float* out, std::size_t count, int rounds) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float x = in[i];
    float root = 0.5f * (x + 1);
    for (int round = 0; round < rounds; ++round) root = 0.5f * (root + x / root);
    out[i] = root;
}

}  // namespace
}  // namespace memory_model
