// The kernels of texture_laplace, in the order of its steps: the Laplace operator on a
// ring, by five paths to memory and then with four elements per thread. The last kernel,
// sample_image, reads 2-D textures.
#pragma once

#include <cstddef>

namespace memory_model {
namespace {

constexpr unsigned kThreads = 256;  // per block

// The neighbors on a ring of `count` elements. A remainder, (i + count - 1) % count, would
// do as well, but a 64-bit division takes far longer than the other work of the kernel.
__host__ __device__ std::size_t left_of(std::size_t i, std::size_t count) {
    return (i == 0 ? count : i) - 1;
}
__host__ __device__ std::size_t right_of(std::size_t i, std::size_t count) {
    return i + 1 == count ? 0 : i + 1;
}

// Step 2, one thread per element, and three loads from global memory. Two of them begin one
// float away from the beginning of a sector: the three loads of a warp touch 4, 5, and 5
// sectors. These are 14, where 4 would hold all the data. In 2008 each of these loads went
// to memory. Today the first load brings the sectors into the L1 cache of the SM, and the
// other two find them there.
// Slow today because only one of the three loads misses the cache, so that a thread has 4
// bytes in flight. Steps 3 to 6 do not change that.
__global__ void laplace_naive(const float* x, float* y, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) y[i] = x[left_of(i, count)] - 2 * x[i] + x[right_of(i, count)];
}

// Step 3, a tile in shared memory with one additional element at both ends. The first
// thread of the block loads the left end, and the last thread *that has an element* the
// right one. In the last block that is not the thread with the largest number.
// Faster in 2008 because memory was read once. Today the cache does that. Slow because the
// tile only adds a store, a barrier, and three loads from shared memory.
__global__ void laplace_tile(const float* x, float* y, std::size_t count) {
    __shared__ float tile[kThreads + 2];
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i < count) {
        tile[threadIdx.x + 1] = x[i];
        if (threadIdx.x == 0) tile[0] = x[left_of(i, count)];
        if (threadIdx.x == kThreads - 1 || i == count - 1)
            tile[threadIdx.x + 2] = x[right_of(i, count)];
    }
    __syncthreads();
    if (i < count)
        y[i] = tile[threadIdx.x] - 2 * tile[threadIdx.x + 1] + tile[threadIdx.x + 2];
}

// Step 4, the three reads through a texture object. The kernel gets the object instead of a
// pointer, and fetches by index. A fetch outside of the texture returns 0 and does not wrap
// around, so the kernel has to handle the ends of the ring here, too.
// Faster in 2008 because the texture unit had a cache, the only one for reads, and where a
// warp began to read did not matter. Today the unit uses the L1 cache of all other loads.
__global__ void laplace_texture(cudaTextureObject_t x, float* y, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float left = tex1Dfetch<float>(x, static_cast<int>(left_of(i, count)));
    const float center = tex1Dfetch<float>(x, static_cast<int>(i));
    const float right = tex1Dfetch<float>(x, static_cast<int>(right_of(i, count)));
    y[i] = left - 2 * center + right;
}

// Step 5, the read-only path: __ldg promises that nothing writes this memory while the
// kernel runs. With `const float* __restrict__` for all pointers of a kernel, the compiler
// can find that out by itself. From 2012 to 2014 (compute capability 3.5) this was the way
// into the texture cache without a texture. Since then the cache is the same for all loads,
// and what the promise gives the compiler is the freedom to move loads before stores.
__global__ void laplace_read_only(const float* x, float* y, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count)
        y[i] =
            __ldg(&x[left_of(i, count)]) - 2 * __ldg(&x[i]) + __ldg(&x[right_of(i, count)]);
}

// Step 6, step 4 with an unnecessary barrier between the fetches and the sum. It shows what
// step 3 pays besides its loads: the whole block waits until its slowest fetch has arrived,
// and only then begins to write.
__global__ void laplace_texture_barrier(cudaTextureObject_t x, float* y,
                                        std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    float left = 0, center = 0, right = 0;
    if (i < count) {
        left = tex1Dfetch<float>(x, static_cast<int>(left_of(i, count)));
        center = tex1Dfetch<float>(x, static_cast<int>(i));
        right = tex1Dfetch<float>(x, static_cast<int>(right_of(i, count)));
    }
    __syncthreads();
    if (i < count) y[i] = left - 2 * center + right;
}

// Step 7, what helps today: more bytes in flight, in fewer requests. A thread loads four
// elements at once, 16 bytes. The neighbors of these four are in the registers of the
// neighboring lanes, and shuffles fetch them there. Only the ends of a warp, and the last
// whole four, load one more float. All lanes take part in a shuffle, so threads without
// elements stay until then. The elements after the last whole four come one by one.
__global__ void laplace_float4(const float* x, float* y, std::size_t count) {
    constexpr unsigned all_lanes = 0xFFFFFFFF;
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t fours = count / 4;
    const unsigned lane = threadIdx.x % 32;
    float4 center = make_float4(0, 0, 0, 0);
    if (thread < fours) center = reinterpret_cast<const float4*>(x)[thread];
    float left = __shfl_up_sync(all_lanes, center.w, 1);
    float right = __shfl_down_sync(all_lanes, center.x, 1);
    if (thread < fours) {
        if (lane == 0) left = x[left_of(4 * thread, count)];
        if (lane == 31 || thread + 1 == fours) right = x[right_of(4 * thread + 3, count)];
        reinterpret_cast<float4*>(y)[thread] = make_float4(
            left - 2 * center.x + center.y, center.x - 2 * center.y + center.z,
            center.y - 2 * center.z + center.w, center.z - 2 * center.w + right);
        return;
    }
    const std::size_t i = 4 * fours + (thread - fours);
    if (i < count) y[i] = x[left_of(i, count)] - 2 * x[i] + x[right_of(i, count)];
}

// Reads an image at places that may lie between its texels, or outside of it.
__global__ void sample_image(cudaTextureObject_t image, const float2* places,
                             float* samples, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) samples[i] = tex2D<float>(image, places[i].x, places[i].y);
}

}  // namespace
}  // namespace memory_model
