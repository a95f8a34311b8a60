// The kernels of the lesson memory_and_streams. They are simple on purpose: this lesson is
// about the calls around them, which decide where memory is from, in which order streams
// work, what stays in the L2 cache, and where the pages of managed memory are.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace modern_cuda {
namespace {

constexpr unsigned kThreads = 256;  // per block

// ---- rounds that need scratch memory ----------------------------------------------------

// Each element becomes a weighted mean of itself and its neighbors. The result cannot go
// into the same array, because other threads still need the old elements: so it goes into
// scratch memory, of which only this round has a use.
__global__ void smooth(const float* in, std::size_t count, float* scratch) {
    const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
    if (i >= count) return;
    const float left = in[i == 0 ? 0 : i - 1];
    const float right = in[i + 1 == count ? i : i + 1];
    scratch[i] = 0.25f * (left + 2 * in[i] + right);
}

// The largest change of any element. The bits of floats that are not negative compare like
// integers, so an integer maximum does.
__global__ void largest_change(const float* before, const float* scratch, std::size_t count,
                               unsigned* largest) {
    const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
    float change = i < count ? fabsf(scratch[i] - before[i]) : 0.0f;
    for (int distance = 16; distance > 0; distance /= 2)
        change = fmaxf(change, __shfl_xor_sync(0xFFFFFFFF, change, distance));
    if (threadIdx.x % 32 == 0) atomicMax(largest, __float_as_uint(change));
}

// The scratch memory's contents replace the array's.
__global__ void take_over(const float* scratch, std::size_t count, float* out) {
    const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
    if (i < count) out[i] = scratch[i];
}

// ---- a long kernel, and one that is urgent ----------------------------------------------

// Halfway to `goal`, again and again: each block keeps its place on the GPU for as long as
// `turns` says.
__global__ void long_work(const float* goal, std::size_t count, int turns, float* out) {
    const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
    if (i >= count) return;
    const float half = 0.5f * goal[i];
    float x = 0;
    for (int turn = 0; turn < turns; ++turn) x = 0.5f * x + half;
    out[i] = x;
}

// Little work, for which somebody waits.
__global__ void urgent_work(const float* in, std::size_t count, float* out) {
    const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
    if (i < count) out[i] = 2 * in[i];
}

// ---- a table that is used again and again, while a long array passes through ------------

constexpr unsigned kPerLookup = 16;  // floats of the array that a thread adds per lookup
constexpr unsigned kPart = 32 * kPerLookup;  // floats of the array that a warp adds

__host__ __device__ constexpr std::size_t parts_of(std::size_t count) {
    return (count + kPart - 1) / kPart;
}

// Which entry of the table is added to sum j: any of them, in no visible order.
__host__ __device__ inline std::uint32_t entry_of(std::uint32_t j, std::uint32_t entries) {
    std::uint32_t bits = j * 2654435761u;
    bits = (bits ^ (bits >> 15)) * 2246822519u;
    bits ^= bits >> 13;
    return static_cast<std::uint32_t>((std::uint64_t{bits} * entries) >> 32);
}

// Lane l of a warp adds up floats l, l + 32, l + 64 ... of a part of the array, and one
// entry of the table.
// Slow: each sector of the array is read once and then stays in the L2 cache for a while.
// There it takes the place of sectors of the table, which will be needed again.
__global__ void add_entries(const float* values, std::size_t count, const float* table,
                            std::uint32_t entries, float* sums) {
    const std::size_t thread = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
    const std::size_t part = thread / 32;
    if (part >= parts_of(count)) return;
    const std::size_t first = part * kPart + threadIdx.x % 32;
    float sum = table[entry_of(static_cast<std::uint32_t>(thread), entries)];
#pragma unroll
    for (unsigned k = 0; k < kPerLookup; ++k) {
        const std::size_t i = first + k * 32;
        if (i < count) sum += values[i];
    }
    sums[thread] = sum;
}

// The same with loads that say: nobody needs this again (cache streaming). The L2 cache
// then gives up these sectors first. The table's sectors stay for longer.
__global__ void add_entries_streaming(const float* values, std::size_t count,
                                      const float* table, std::uint32_t entries,
                                      float* sums) {
    const std::size_t thread = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
    const std::size_t part = thread / 32;
    if (part >= parts_of(count)) return;
    const std::size_t first = part * kPart + threadIdx.x % 32;
    float sum = table[entry_of(static_cast<std::uint32_t>(thread), entries)];
#pragma unroll
    for (unsigned k = 0; k < kPerLookup; ++k) {
        const std::size_t i = first + k * 32;
        if (i < count) sum += __ldcs(values + i);
    }
    __stcs(sums + thread, sum);
}

// ---- managed memory ---------------------------------------------------------------------

// y = a * x + y
__global__ void add_scaled(float a, const float* x, float* y, std::size_t count) {
    const std::size_t step = std::size_t{kThreads} * gridDim.x;
    for (std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x; i < count;
         i += step)
        y[i] = a * x[i] + y[i];
}

}  // namespace
}  // namespace modern_cuda
