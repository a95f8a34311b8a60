// The kernels of the lesson occupancy, in the order in which they are read.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace optimization {
namespace {

// Steps 2 and 3, one load in flight per thread: its value is needed at once, by the store
// before the next load. (nvcc must not unroll the loop: it would issue several loads
// first.) Step 2 runs with as many blocks as an SM holds. Step 3 is the same kernel with a
// single block per SM.
// Slow because an eighth of the bytes is in flight where there were 8 blocks.
__global__ void scale_one(const float* __restrict__ in, float* __restrict__ out,
                          std::size_t count) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
#pragma unroll 1
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        out[i] = 2 * in[i] + 1;
    }
}

// Steps 4 and 5, kElements independent loads before the first value is used, still with a
// single block per SM. A thread's elements lie a block's width apart, so that neighboring
// threads have neighboring elements.
// Faster because kElements times as many bytes are in flight. Still slow because there are
// as many instructions as before, each for 4 bytes.
template <unsigned kElements>
__global__ void scale_many(const float* __restrict__ in, float* __restrict__ out,
                           std::size_t count) {
    const std::size_t chunk = std::size_t{blockDim.x} * kElements;
#pragma unroll 1
    for (std::size_t first = blockIdx.x * chunk; first < count;
         first += gridDim.x * chunk) {
        const std::size_t i = first + threadIdx.x;
        if (first + chunk <= count) {
            float values[kElements];
#pragma unroll
            for (unsigned k = 0; k < kElements; ++k) values[k] = in[i + k * blockDim.x];
#pragma unroll
            for (unsigned k = 0; k < kElements; ++k)
                out[i + k * blockDim.x] = 2 * values[k] + 1;
        } else {
            for (std::size_t k = i; k < count; k += blockDim.x) out[k] = 2 * in[k] + 1;
        }
    }
}

// Step 6, independent loads of 16 bytes: sixteen floats per thread in flight with four
// instructions, and still a single block per SM. The arrays begin at multiples of 16 bytes,
// as allocations do; the last one to three elements are done one by one.
template <unsigned kVectors>
__global__ void scale_vectors(const float* __restrict__ in, float* __restrict__ out,
                              std::size_t count) {
    const auto* from = reinterpret_cast<const float4*>(in);
    auto* to = reinterpret_cast<float4*>(out);
    const auto scaled = [](float4 v) {
        return make_float4(2 * v.x + 1, 2 * v.y + 1, 2 * v.z + 1, 2 * v.w + 1);
    };
    const std::size_t vectors = count / 4;
    const std::size_t chunk = std::size_t{blockDim.x} * kVectors;
#pragma unroll 1
    for (std::size_t first = blockIdx.x * chunk; first < vectors;
         first += gridDim.x * chunk) {
        const std::size_t i = first + threadIdx.x;
        if (first + chunk <= vectors) {
            float4 values[kVectors];
#pragma unroll
            for (unsigned k = 0; k < kVectors; ++k) values[k] = from[i + k * blockDim.x];
#pragma unroll
            for (unsigned k = 0; k < kVectors; ++k)
                to[i + k * blockDim.x] = scaled(values[k]);
        } else {
            for (std::size_t k = i; k < vectors; k += blockDim.x) to[k] = scaled(from[k]);
        }
    }
    const std::size_t rest = 4 * vectors + threadIdx.x;
    if (blockIdx.x == 0 && rest < count) out[rest] = 2 * in[rest] + 1;
}

// ---- kernels that the tables ask about --------------------------------------------------

// A kernel that needs many registers: a thread keeps kHeld values while it adds them up, to
// divide them by the sum.
template <unsigned kHeld>
__global__ void divide_by_sum(float* values) {
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x * kHeld + threadIdx.x;
    float held[kHeld];
    float sum = 0;
#pragma unroll
    for (unsigned k = 0; k < kHeld; ++k) sum += held[k] = values[first + k * blockDim.x];
    const float factor = 1 / sum;
#pragma unroll
    for (unsigned k = 0; k < kHeld; ++k) values[first + k * blockDim.x] = held[k] * factor;
}

// The same long work for every block: each operation of a thread needs the result of the
// one before.
__global__ void work_a_while(float* results, int rounds) {
    float value = static_cast<float>(threadIdx.x);
    for (int round = 0; round < rounds; ++round) value = fmaf(value, 0.999f, 0.5f);
    results[std::size_t{blockIdx.x} * blockDim.x + threadIdx.x] = value;
}

}  // namespace
}  // namespace optimization
