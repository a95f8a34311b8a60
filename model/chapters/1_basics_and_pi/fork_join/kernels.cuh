// The kernels of fork_join, in the order of its steps. Steps 1 and 2 are loops on the host.
// Step 7 launches the kernel of step 5 and computes some of the elements on the host
// meanwhile.
#pragma once

#include <cstddef>

namespace basics_and_pi {
namespace {

constexpr int kTerms = 64;  // of the sum 1 + x + x^2 + ... + x^63 that each element takes

// Step 3, the serial loop in a kernel, launched as one block of one thread. Only the place
// where the loop runs has changed.
// Slower than the host because only one lane of one warp works, and because no other warp
// works while this one waits. (The GPU's clock rate is lower, too. We did not measure how
// much each reason counts.) A GPU is not one fast processor, it is very many slow ones.
__global__ void one_thread(const float* in, float* out, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        float sum = 1;
        for (int term = 1; term < kTerms; ++term) sum = sum * in[i] + 1;
        out[i] = sum;
    }
}

// Step 4, one block of 256 threads: thread t takes the elements t, t + 256, t + 512, and so
// on.
// Faster because 256 threads work at the same time: 32 lanes in each warp, and while one
// warp waits, another one runs.
// Still slow because a block stays on its SM, so all other SMs have nothing to do.
__global__ void one_block(const float* in, float* out, std::size_t count) {
    for (std::size_t i = threadIdx.x; i < count; i += blockDim.x) {
        float sum = 1;
        for (int term = 1; term < kTerms; ++term) sum = sum * in[i] + 1;
        out[i] = sum;
    }
}

// Step 5, one thread per element: the loop over i is gone, because the launch is the loop.
// There are as many blocks as the elements need, and the device gives each block to an SM
// as soon as one has room. The guard is needed because the last block is seldom full.
// Faster because all SMs work, and each of them has more warps to choose from.
__global__ void one_element_per_thread(const float* in, float* out, std::size_t count) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sum = 1;
    for (int term = 1; term < kTerms; ++term) sum = sum * in[i] + 1;
    out[i] = sum;
}

// Step 6, a grid-stride loop: only as many blocks as the device can hold at once, and each
// thread takes every n-th element, where n is the number of threads in the grid. Any launch
// shape gives the right result, <<<1, 1>>> included.
// Hardly faster here. The loop pays where a thread has something to set up before its first
// element.
__global__ void grid_stride(const float* in, float* out, std::size_t count) {
    const std::size_t threads = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
         i < count; i += threads) {
        float sum = 1;
        for (int term = 1; term < kTerms; ++term) sum = sum * in[i] + 1;
        out[i] = sum;
    }
}

}  // namespace
}  // namespace basics_and_pi
