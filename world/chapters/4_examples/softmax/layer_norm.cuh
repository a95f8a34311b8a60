// The kernels of the second part of the lesson softmax: layer norm, (x - mean) /
// sqrt(variance + kEpsilon) * gamma[col] + beta[col] for each row. One block per row.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "chapters/4_examples/softmax/moments.cuh"
#include "chapters/4_examples/softmax/pieces.cuh"

namespace examples {
namespace {

constexpr float kEpsilon = 1e-5f;  // keeps a row of equal elements from dividing by 0

// The sum of all of `Lanes` neighboring lanes, for each of them.
template <unsigned Lanes>
__device__ float sum_over_lanes(float sum) {
    for (unsigned distance = Lanes / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(~0u, sum, distance);
    return sum;
}

// Step 1, two sums in one pass: of x and of x * x. The variance is the mean of the squares
// minus the square of the mean.
// Fast, because both sums come from one pass, but inexact: where the mean is large beside
// the deviation, two large numbers are subtracted, and little more than their rounding
// errors is left. Then the variance may even be negative, and its root NaN.
__global__ void norm_two_sums(const float* in, std::size_t cols, const float* gamma,
                              const float* beta, float* out) {
    __shared__ float sums[kWarps], squares[kWarps];
    const float* const from = in + std::size_t{blockIdx.x} * cols;
    float* const to = out + std::size_t{blockIdx.x} * cols;
    float sum = 0, square = 0;
    for (std::size_t col = threadIdx.x; col < cols; col += kThreads) {
        const float x = from[col];
        sum += x;
        square += x * x;
    }
    sum = sum_over_lanes<kLanes>(sum);
    square = sum_over_lanes<kLanes>(square);
    if (threadIdx.x % kLanes == 0) {
        sums[threadIdx.x / kLanes] = sum;
        squares[threadIdx.x / kLanes] = square;
    }
    __syncthreads();
    const float count = static_cast<float>(cols);
    const float mean = sum_over_lanes<kWarps>(sums[threadIdx.x % kWarps]) / count;
    const float of_squares = sum_over_lanes<kWarps>(squares[threadIdx.x % kWarps]) / count;
    const float factor = rsqrtf(of_squares - mean * mean + kEpsilon);
    for (std::size_t col = threadIdx.x; col < cols; col += kThreads)
        to[col] = (from[col] - mean) * factor * gamma[col] + beta[col];
}

template <unsigned Lanes>
__device__ Moments combined_over_lanes(Moments own) {
    for (unsigned distance = Lanes / 2; distance > 0; distance /= 2) {
        const Moments other = {__shfl_xor_sync(~0u, own.count, distance),
                               __shfl_xor_sync(~0u, own.mean, distance),
                               __shfl_xor_sync(~0u, own.m2, distance)};
        own = combined(own, other);
    }
    return own;
}

// Step 2, Welford's sum: a thread keeps the mean of what it has read so far, and the sum of
// the squares of the deviations from it, and corrects both for each element (B. P. Welford,
// Technometrics, 1962). Lanes, and then warps, combine what they have, as in the online
// softmax.
// Exact wherever the mean is, because x - mean is small before it is squared. Slow because
// each element takes a division, because each element waits for the one before it, and
// because the row is read twice.
__global__ void norm_welford(const float* in, std::size_t cols, const float* gamma,
                             const float* beta, float* out) {
    __shared__ Moments of_warps[kWarps];
    const float* const from = in + std::size_t{blockIdx.x} * cols;
    float* const to = out + std::size_t{blockIdx.x} * cols;
    Moments own = {0, 0, 0};
    for (std::size_t col = threadIdx.x; col < cols; col += kThreads) {
        const float x = from[col], difference = x - own.mean;
        own.count += 1;
        own.mean += difference / own.count;
        own.m2 += difference * (x - own.mean);
    }
    own = combined_over_lanes<kLanes>(own);
    if (threadIdx.x % kLanes == 0) of_warps[threadIdx.x / kLanes] = own;
    __syncthreads();
    own = combined_over_lanes<kWarps>(of_warps[threadIdx.x % kWarps]);
    const float factor = rsqrtf(own.m2 / own.count + kEpsilon);
    for (std::size_t col = threadIdx.x; col < cols; col += kThreads)
        to[col] = (from[col] - own.mean) * factor * gamma[col] + beta[col];
}

// The deviations of a piece from the mean, and their squares.
__device__ float less(float a, float mean) { return a - mean; }
__device__ float4 less(float4 a, float mean) {
    return {a.x - mean, a.y - mean, a.z - mean, a.w - mean};
}
__device__ float square_of(float a) { return a * a; }
__device__ float square_of(float4 a) {
    return (a.x * a.x + a.y * a.y) + (a.z * a.z + a.w * a.w);
}
__device__ float multiply_add(float a, float factor, float gamma, float beta) {
    return a * factor * gamma + beta;
}
__device__ float4 multiply_add(float4 a, float factor, float4 gamma, float4 beta) {
    return {a.x * factor * gamma.x + beta.x, a.y * factor * gamma.y + beta.y,
            a.z * factor * gamma.z + beta.z, a.w * factor * gamma.w + beta.w};
}

// Step 3, the row in registers, as in step 6 of the softmax. What is there can be read
// twice without memory: first the sum, for the mean, and then the squares of the deviations
// from this mean. Neither needs a division per element.
// Faster because the row is read once. Longer rows are left to step 2.
template <class Piece, unsigned Threads, unsigned Floats>
__global__ void __launch_bounds__(Threads)
    norm_in_registers(const float* in, std::size_t cols, const float* gamma,
                      const float* beta, float* out) {
    constexpr unsigned pieces = Floats / kFloats<Piece>, warps = Threads / kLanes;
    __shared__ float sums[warps], squares[warps];
    const std::size_t first = std::size_t{blockIdx.x} * cols;
    const Piece* const from = reinterpret_cast<const Piece*>(in + first);
    Piece* const to = reinterpret_cast<Piece*>(out + first);
    const Piece* const gammas = reinterpret_cast<const Piece*>(gamma);
    const Piece* const betas = reinterpret_cast<const Piece*>(beta);
    const unsigned there = static_cast<unsigned>(cols) / kFloats<Piece>;
    Piece x[pieces];
    float sum = 0;
#pragma unroll
    for (unsigned k = 0; k < pieces; ++k) {
        const unsigned i = k * Threads + threadIdx.x;
        x[k] = i < there ? from[i] : piece_of<Piece>(0);
    }
#pragma unroll
    for (unsigned k = 0; k < pieces; ++k) sum += sum_of(x[k]);
    sum = sum_over_lanes<kLanes>(sum);
    if (threadIdx.x % kLanes == 0) sums[threadIdx.x / kLanes] = sum;
    __syncthreads();
    const float count = static_cast<float>(cols);
    const float mean = sum_over_lanes<warps>(sums[threadIdx.x % warps]) / count;
    float square = 0;
#pragma unroll
    for (unsigned k = 0; k < pieces; ++k) {
        x[k] = less(x[k], mean);
        if (k * Threads + threadIdx.x < there) square += square_of(x[k]);
    }
    square = sum_over_lanes<kLanes>(square);
    if (threadIdx.x % kLanes == 0) squares[threadIdx.x / kLanes] = square;
    __syncthreads();
    const float variance = sum_over_lanes<warps>(squares[threadIdx.x % warps]) / count;
    const float factor = rsqrtf(variance + kEpsilon);
#pragma unroll
    for (unsigned k = 0; k < pieces; ++k) {
        const unsigned i = k * Threads + threadIdx.x;
        if (i < there) to[i] = multiply_add(x[k], factor, gammas[i], betas[i]);
    }
}

}  // namespace
}  // namespace examples
