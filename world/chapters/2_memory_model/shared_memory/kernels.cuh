// The kernels of the lesson shared_memory, in the order of the steps.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace memory_model {
namespace {

constexpr int kThreads = 256;  // per block

// What all kernels have in common: the window. `weight` is a small whole number, exact as a
// float, and `scale` makes the weights' sum 1. Both are known when the kernel is compiled,
// because the radius is.
template <int Radius>
__host__ __device__ constexpr float weight(int k) {
    return static_cast<float>(Radius + 1 - (k < 0 ? -k : k));
}
template <int Radius>
__host__ __device__ constexpr float scale() {
    return 1.0f / static_cast<float>((Radius + 1) * (Radius + 1));
}

// Step 2, one output per thread, and the window straight from global memory: 2 r + 1 loads.
// Threads whose window reaches beyond the array leave out what is not there. An index
// before the first element wraps around to a huge one, so one comparison covers both ends.
// Slow? The loads of a warp lie side by side, but most begin in the middle of a sector: 5
// sectors instead of 4, 2 r + 1 times. They ask for each input 2 r + 1 times. How often it
// comes from memory depends on the cache.
template <int Radius>
__global__ void smooth_from_global(const float* in, float* out, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sum = 0;
    if (i >= Radius && count - i > Radius) {
#pragma unroll
        for (int k = -Radius; k <= Radius; ++k)
            sum += weight<Radius>(k) * in[i + static_cast<std::size_t>(k)];
    } else {
        for (int k = -Radius; k <= Radius; ++k) {
            const std::size_t neighbor = i + static_cast<std::size_t>(k);
            if (neighbor < count) sum += weight<Radius>(k) * in[neighbor];
        }
    }
    out[i] = scale<Radius>() * sum;
}

// Step 3, the inputs of the block in shared memory: its own 256, and a halo of r more on
// both sides. All threads load in turns until the tile is full, so no thread has a special
// task, and the halo may be wider than the block. Every place of the tile is written, with
// 0 where the array has ended. Then comes a barrier, because each thread reads what others
// have loaded; threads without an output reach it as well.
// Faster because each input is loaded from global memory little more than once. It could
// still be slow because the window is read with 2 r + 1 requests, from shared memory now,
// and no thread may begin before the slowest load of the block has come back.
template <int Radius>
__global__ void smooth_from_tile(const float* in, float* out, std::size_t count) {
    constexpr int tile_size = kThreads + 2 * Radius;
    __shared__ float tile[tile_size];
    const std::size_t begin = std::size_t{blockIdx.x} * kThreads;
    for (int place = static_cast<int>(threadIdx.x); place < tile_size; place += kThreads) {
        const std::size_t i = begin - Radius + static_cast<std::size_t>(place);
        tile[place] = i < count ? in[i] : 0.0f;
    }
    __syncthreads();

    const std::size_t i = begin + threadIdx.x;
    if (i >= count) return;
    float sum = 0;
#pragma unroll
    for (int k = -Radius; k <= Radius; ++k) {
        sum += weight<Radius>(k) * tile[static_cast<int>(threadIdx.x) + Radius + k];
    }
    out[i] = scale<Radius>() * sum;
}

// Steps 4 and 5 have four neighboring outputs per thread. Of the 4 (2 r + 1) inputs that
// they want only 2 r + 4 differ, so that each is loaded once and used up to four times from
// a register. All loads and stores are float4s, which begin at multiples of four: the halo
// is rounded up to that.
constexpr int kOutputs = 4;

template <int Radius>
__host__ __device__ constexpr int halo_of_fours() {
    return (Radius + kOutputs - 1) / kOutputs * kOutputs;
}

// The elements first to first + 3, with 0 for those outside of the array. `first` is a
// multiple of four, also when it lies before the array and has wrapped around.
__device__ float4 load_four(const float* in, std::size_t first, std::size_t count) {
    if (first < count && count - first >= 4)
        return *reinterpret_cast<const float4*>(in + first);
    float values[4];
    for (std::size_t k = 0; k < 4; ++k)
        values[k] = first + k < count ? in[first + k] : 0.0f;
    return make_float4(values[0], values[1], values[2], values[3]);
}

__device__ void store_four(const float (&values)[kOutputs], float* out, std::size_t first,
                           std::size_t count) {
    if (first < count && count - first >= 4) {
        *reinterpret_cast<float4*>(out + first) =
            make_float4(values[0], values[1], values[2], values[3]);
        return;
    }
    for (std::size_t k = 0; k < 4; ++k) {
        if (first + k < count) out[first + k] = values[k];
    }
}

// Adds what four inputs contribute to four outputs; the first input lies `distance` after
// the first output.
template <int Radius>
__device__ void add_four(float4 inputs, int distance, float (&sums)[kOutputs]) {
    const float values[4] = {inputs.x, inputs.y, inputs.z, inputs.w};
#pragma unroll
    for (int input = 0; input < 4; ++input) {
#pragma unroll
        for (int output = 0; output < kOutputs; ++output) {
            const int k = distance + input - output;
            if (k >= -Radius && k <= Radius)
                sums[output] += weight<Radius>(k) * values[input];
        }
    }
}

// Step 4, four outputs per thread from a tile four times as long.
// Faster because four outputs take (2 r + 4) / 4 reads of shared memory, not 4 (2 r +
// 1), and the halo is small beside the tile. It could still be slow because the
// barrier is still there, and every input still goes from the cache to the tile and
// back.
template <int Radius>
__global__ void smooth_fours_from_tile(const float* in, float* out, std::size_t count) {
    constexpr int halo = halo_of_fours<Radius>();
    constexpr int tile_size = kThreads + 2 * halo / kOutputs;
    __shared__ float4 tile[tile_size];
    const std::size_t begin = std::size_t{blockIdx.x} * kThreads * kOutputs;
    for (int place = static_cast<int>(threadIdx.x); place < tile_size; place += kThreads) {
        const float4 four =
            load_four(in, begin - halo + kOutputs * static_cast<std::size_t>(place), count);
        tile[place] = four;
    }
    __syncthreads();

    float sums[kOutputs] = {};
#pragma unroll
    for (int distance = -halo; distance <= halo; distance += kOutputs) {
        const float4 inputs =
            tile[static_cast<int>(threadIdx.x) + (halo + distance) / kOutputs];
        add_four<Radius>(inputs, distance, sums);
    }
    for (float& sum : sums) sum *= scale<Radius>();
    store_four(sums, out, begin + std::size_t{kOutputs} * threadIdx.x, count);
}

// Step 5, the same without a tile: the same loads, straight from global memory.
// Faster because there is no barrier and no shared memory. The cache keeps what the
// neighbors want next. As long as the window is narrow, what is left is the speed of the
// memory; a wide window has requests and additions that take longer.
template <int Radius>
__global__ void smooth_fours_from_global(const float* in, float* out, std::size_t count) {
    constexpr int halo = halo_of_fours<Radius>();
    const std::size_t first = kOutputs * (std::size_t{blockIdx.x} * kThreads + threadIdx.x);
    if (first >= count) return;
    float sums[kOutputs] = {};
#pragma unroll
    for (int distance = -halo; distance <= halo; distance += kOutputs) {
        add_four<Radius>(load_four(in, first + static_cast<std::size_t>(distance), count),
                         distance, sums);
    }
    for (float& sum : sums) sum *= scale<Radius>();
    store_four(sums, out, first, count);
}

}  // namespace
}  // namespace memory_model
