// The kernels of the lesson profiling. Three problems, and for each a first kernel that
// waits for something else: for device memory, for shared memory, for one thread of its
// block. The steps after it change what the profiler says the warps wait for.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace modern_cuda {
namespace {

// ---- the mean of many frames
// ------------------------------------------------------------- A camera has taken `count`
// frames of `pixels` floats each. The mean of each pixel over all frames is wanted. A
// thread has one pixel, so neighboring threads load neighboring floats.

constexpr unsigned kThreads = 256;

// Step 1, a loop over the frames. A frame is small, so there are few threads: 65,536 pixels
// are a quarter of the threads that an H200 can hold. nvcc unrolls the loop four times, so
// that each thread has four loads in flight, and then it waits for all of them.
// Slow because four loads of so few threads are not enough bytes in flight.
__global__ void mean_in_turn(const float* frames, unsigned count, std::size_t pixels,
                             float* mean) {
    const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
    if (i >= pixels) return;
    float sum = 0;
    for (unsigned k = 0; k < count; ++k) sum += frames[k * pixels + i];
    mean[i] = sum / static_cast<float>(count);
}

// Step 2, sixteen loads before the first addition. There are no more threads than before,
// but each has sixteen loads in flight. The pragma keeps it at sixteen.
// Faster because four times as many bytes are in flight. The warps still wait for device
// memory, so look at how busy it is now.
__global__ void mean_of_sixteen(const float* frames, unsigned count, std::size_t pixels,
                                float* mean) {
    const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
    if (i >= pixels) return;
    float sum = 0;
    unsigned k = 0;
#pragma unroll 1
    for (; k + 16 <= count; k += 16) {
        const float* at = frames + k * pixels + i;
        const float a = at[0], b = at[pixels], c = at[2 * pixels], d = at[3 * pixels];
        at += 4 * pixels;
        const float e = at[0], f = at[pixels], g = at[2 * pixels], h = at[3 * pixels];
        at += 4 * pixels;
        const float p = at[0], q = at[pixels], r = at[2 * pixels], s = at[3 * pixels];
        at += 4 * pixels;
        const float t = at[0], u = at[pixels], v = at[2 * pixels], w = at[3 * pixels];
        sum += ((a + b) + (c + d)) + ((e + f) + (g + h));
        sum += ((p + q) + (r + s)) + ((t + u) + (v + w));
    }
    for (; k < count; ++k) sum += frames[k * pixels + i];
    mean[i] = sum / static_cast<float>(count);
}

// ---- a pulse in a signal
// ----------------------------------------------------------------- A receiver looks for a
// pulse of 128 samples in a signal. For each place, the samples from there on are
// multiplied by those of the pulse, and added up. (This is a correlation, or matched
// filter.) Beyond the end, the signal is 0.

constexpr unsigned kPulse = 128;

// Copies the part of the signal that a block needs, and the pulse.
template <unsigned Samples>
__device__ void load_tile(const float* signal, std::size_t count, const float* pulse,
                          std::size_t begin, float* tile, float* shared_pulse) {
    for (unsigned k = threadIdx.x; k < Samples; k += kThreads)
        tile[k] = begin + k < count ? signal[begin + k] : 0.0f;
    for (unsigned k = threadIdx.x; k < kPulse; k += kThreads) shared_pulse[k] = pulse[k];
    __syncthreads();
}

// Step 1, one place per thread. The samples and the pulse are in shared memory, because
// each is used 128 times.
// Slow because each multiplication loads its sample from shared memory. An SM can multiply
// 128 times per cycle, but shared memory delivers 32 words.
__global__ void match_one(const float* signal, std::size_t count, const float* pulse,
                          float* out) {
    __shared__ alignas(16) float tile[kThreads + kPulse];
    __shared__ alignas(16) float shared_pulse[kPulse];
    const std::size_t begin = blockIdx.x * std::size_t{kThreads};
    load_tile<kThreads + kPulse>(signal, count, pulse, begin, tile, shared_pulse);
    float sum = 0;
#pragma unroll 16
    for (unsigned k = 0; k < kPulse; ++k) sum += shared_pulse[k] * tile[threadIdx.x + k];
    if (begin + threadIdx.x < count) out[begin + threadIdx.x] = sum;
}

// Step 2, four neighboring places per thread, and loads of 16 bytes. Four places need the
// same samples but for three, so a thread keeps a window of eight samples in registers.
// Faster because two loads are enough for sixteen multiplications of each thread: four
// samples, and four numbers of the pulse. match_one needs 32.
// What limits it now is the number of instructions: the issue slots are the busiest.
__global__ void match_four(const float* signal, std::size_t count, const float* pulse,
                           float* out) {
    constexpr unsigned places = 4 * kThreads;
    __shared__ alignas(16) float tile[places + kPulse + 4];
    __shared__ alignas(16) float shared_pulse[kPulse];
    const std::size_t begin = blockIdx.x * std::size_t{places};
    load_tile<places + kPulse + 4>(signal, count, pulse, begin, tile, shared_pulse);
    const float4* const samples = reinterpret_cast<const float4*>(tile) + threadIdx.x;
    const float4* const pulses = reinterpret_cast<const float4*>(shared_pulse);
    float4 sum = {0, 0, 0, 0};
    float4 a = samples[0];
#pragma unroll 4
    for (unsigned k = 0; k < kPulse / 4; ++k) {
        const float4 b = samples[k + 1];
        const float4 p = pulses[k];
        sum.x += p.x * a.x + p.y * a.y + p.z * a.z + p.w * a.w;
        sum.y += p.x * a.y + p.y * a.z + p.z * a.w + p.w * b.x;
        sum.z += p.x * a.z + p.y * a.w + p.z * b.x + p.w * b.y;
        sum.w += p.x * a.w + p.y * b.x + p.z * b.y + p.w * b.z;
        a = b;
    }
    const std::size_t i = begin + 4 * threadIdx.x;
    if (i + 4 <= count) {
        *reinterpret_cast<float4*>(out + i) = sum;
    } else {
        if (i < count) out[i] = sum.x;
        if (i + 1 < count) out[i + 1] = sum.y;
        if (i + 2 < count) out[i + 2] = sum.z;
    }
}

// ---- rows that add up to one
// -------------------------------------------------------------- Each row of a matrix is
// divided by its sum, as for turning counts into shares. A block of 1024 threads has one
// row.

constexpr unsigned kRowThreads = 1024;

__device__ float part_of_row(const float* row, std::size_t cols) {
    float sum = 0;
    for (std::size_t col = threadIdx.x; col < cols; col += kRowThreads) sum += row[col];
    return sum;
}
__device__ void scale_row(const float* row, std::size_t cols, float factor, float* out) {
    for (std::size_t col = threadIdx.x; col < cols; col += kRowThreads)
        out[col] = factor * row[col];
}

// Step 1, thread 0 adds up what the threads of the block have. There are two barriers.
// Slow because 31 warps wait at the second barrier until one thread has made 1024
// additions, each of which needs the result of the one before.
__global__ void one_thread_adds(const float* in, std::size_t cols, float* out) {
    __shared__ float sums[kRowThreads];
    __shared__ float total;
    const float* const row = in + blockIdx.x * cols;
    sums[threadIdx.x] = part_of_row(row, cols);
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (unsigned t = 0; t < kRowThreads; ++t) sum += sums[t];
        total = sum;
    }
    __syncthreads();
    scale_row(row, cols, 1 / total, out + blockIdx.x * cols);
}

// Step 2, a tree: half of the threads add, then half of these, and so on. There are eleven
// barriers instead of two.
// Faster because no thread makes more than ten additions after the first barrier. What
// costs is the time that warps wait, and not the number of barriers.
__global__ void tree_adds(const float* in, std::size_t cols, float* out) {
    __shared__ float sums[kRowThreads];
    const float* const row = in + blockIdx.x * cols;
    sums[threadIdx.x] = part_of_row(row, cols);
    for (unsigned half = kRowThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    __syncthreads();
    scale_row(row, cols, 1 / sums[0], out + blockIdx.x * cols);
}

// Step 3, shuffles. Each warp adds up its 32 sums in registers, and after the only barrier
// every warp adds up the 32 sums of the warps, so that all threads have the total.
// Faster because warps wait for each other once, and no sum of a warp goes through shared
// memory step by step.
__global__ void warps_add(const float* in, std::size_t cols, float* out) {
    __shared__ float sums[kRowThreads / 32];
    const float* const row = in + blockIdx.x * cols;
    float sum = part_of_row(row, cols);
#pragma unroll
    for (unsigned distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, distance);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = sums[threadIdx.x % 32];
#pragma unroll
    for (unsigned distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, distance);
    scale_row(row, cols, 1 / sum, out + blockIdx.x * cols);
}

}  // namespace
}  // namespace modern_cuda
