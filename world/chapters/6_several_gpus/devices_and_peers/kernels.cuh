// Kernels that copy floats from the memory of one GPU to that of another. To each of them,
// one of its two pointers is a pointer to another GPU's memory.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace several_gpus {
namespace {

constexpr unsigned kThreads = 512;

// Step 4, read_peer, runs on the device that receives: each load goes to the peer, and
// each store to its own memory. Different from a copy engine because a kernel can do
// something with the numbers on their way. Still slow because a load has to travel to the
// peer and back before its float is there, and a warp's request has only 128 bytes.
// Step 5, write_peer, is the same kernel on the device that sends. Faster because a thread
// does not wait for its store: many of them are in flight. Still slow because each request
// carries 128 bytes.
__global__ void copy_floats(const float* from, std::size_t count, float* to) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride)
        to[i] = from[i];
}

// Steps 6 and 7, read_peer_float4 and write_peer_float4: 16 bytes per thread, as two reads
// that are in flight at the same time. Faster because a warp's request has 512 bytes.
__global__ void copy_float4(const float* from, std::size_t count, float* to) {
    const std::size_t fours = count / 4;
    const float4* const from4 = reinterpret_cast<const float4*>(from);
    float4* const to4 = reinterpret_cast<float4*>(to);
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    std::size_t i = first;
    for (; i + stride < fours; i += 2 * stride) {
        const float4 one = from4[i], other = from4[i + stride];
        to4[i] = one;
        to4[i + stride] = other;
    }
    if (i < fours) to4[i] = from4[i];
    const std::size_t tail = fours * 4 + first;
    if (tail < count) to[tail] = from[tail];
}

// A chain of loads, each from the place that the load before has told: the time of one is
// the latency of the memory that `chain` stands in.
__global__ void follow(const unsigned* chain, unsigned steps, unsigned* end) {
    unsigned place = 0;
    for (unsigned step = 0; step < steps; ++step) place = chain[place];
    *end = place;
}

}  // namespace
}  // namespace several_gpus
