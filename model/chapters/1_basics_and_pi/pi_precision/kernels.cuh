// The kernels of pi_precision. The first ones are the steps, in order. The last two belong
// to the tables before and after the steps.
//
//     pi ~ h * sum over i = 0 .. n-1 of 4 / (1 + x_i^2),    x_i = (i + 1/2) * h
//
// n is the number of slices, and h = 1 / n is the width of a slice.
#pragma once

#include <cstdint>

namespace basics_and_pi {
namespace {

using std::uint64_t;

constexpr unsigned kThreads = 256;  // per block, a power of two: the tree halves it

// The tree of the lesson pi, for any type: thread 0 gets the sum of the block.
template <class T>
__device__ T sum_of_block(T value) {
    __shared__ T partial[kThreads];
    partial[threadIdx.x] = value;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    return partial[threadIdx.x];
}

// Step 1, the last step of the lesson pi: the terms and the sum of a thread are floats. A
// float has 24 bits, so from i = 2^23 on, float(i) + 0.5f is rounded. Relative to x, this
// error is no larger than that of any other float operation, and it is as often positive as
// negative. Rounding in the sum is another matter: see the table before the steps.
// Slow because of the division and the 64-bit index. A division is an approximate
// reciprocal by the special-function units, of which an SM has 16 for its 128 FP32 units,
// and then a dozen instructions that refine and check it.
__global__ void sum_in_float(uint64_t slices, double width, double* pi) {
    const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
    const float float_width = static_cast<float>(width);
    float sum = 0;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < slices;
         i += threads) {
        const float x = (static_cast<float>(i) + 0.5f) * float_width;
        sum += 4 / (1 + x * x);
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) atomicAdd(pi, width * sum);
}

// Step 2, double precision throughout.
// More digits because a double has 53 bits: the error is near 1e-14 instead of 1e-8.
// Slow because a double division is a long sequence of instructions for the double units. A
// GPU for computing centers has half as many of these as FP32 units, other GPUs have 1/32
// or 1/64.
__global__ void sum_in_double(uint64_t slices, double width, double* pi) {
    const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
    double sum = 0;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < slices;
         i += threads) {
        const double x = (static_cast<double>(i) + 0.5) * width;
        sum += 4 / (1 + x * x);
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) atomicAdd(pi, width * sum);
}

// Step 3, a compensated sum (Kahan), for GPUs with few double units: `lost` is what the
// last addition rounded away, and the next addition puts it back.
// More digits because the sum of a thread is right to its last bit, however many slices
// there are. This repairs the additions and not the terms: each term is still a rounded
// float.
// Slower because there are four dependent additions instead of one.
// In algebra, `lost` is 0. A compiler may not use algebra on floating-point numbers unless
// it is told to (-ffast-math on hosts; nvcc's --use_fast_math does not reorder additions).
// So do not tell it to.
__global__ void sum_compensated(uint64_t slices, double width, double* pi) {
    const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
    const float float_width = static_cast<float>(width);
    float sum = 0, lost = 0;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < slices;
         i += threads) {
        const float x = (static_cast<float>(i) + 0.5f) * float_width;
        const float term = 4 / (1 + x * x) - lost;
        const float new_sum = sum + term;
        lost = (new_sum - sum) - term;
        sum = new_sum;
    }
    // A few doubles per thread cost nothing.
    const double block_total = sum_of_block(static_cast<double>(sum) - lost);
    if (threadIdx.x == 0) atomicAdd(pi, width * block_total);
}

// Steps 4 (float) and 5 (double), fewer operations: with a, b, c, d for 1 + x^2 of four
// slices of a thread,
//
//     1/a + 1/b + 1/c + 1/d = ((a + b) c d + (c + d) a b) / (a b c d)
//
// so one division serves four slices. The index is never converted: x is
// k * stride + x_of_slice_0 with a counter k in floating point (exact up to 2^24 rounds of
// a thread), which is one multiply-add per x.
// Faster because there are fewer instructions: in double 25 for four slices, 8 of them for
// the division. Step 2 needs 12 and more for each slice.
// Still slow because the double units are busy most of the time. Only fewer operations
// would help: see the last table.
template <class T>
__global__ void sum_fours(uint64_t slices, double width, double* pi) {
    const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
    const uint64_t thread = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const uint64_t rounds =
        slices / (4 * threads);  // in which every thread has four slices
    const T stride = static_cast<T>(static_cast<double>(threads) * width);
    const T x0 = static_cast<T>((static_cast<double>(thread) + 0.5) * width);
    const T x1 = x0 + stride, x2 = x0 + 2 * stride, x3 = x0 + 3 * stride;
    T sum = 0, k = 0;
    for (uint64_t round = 0; round < rounds; ++round, k += 4) {
        const T xa = k * stride + x0, xb = k * stride + x1, xc = k * stride + x2,
                xd = k * stride + x3;
        const T a = 1 + xa * xa, b = 1 + xb * xb, c = 1 + xc * xc, d = 1 + xd * xd;
        const T ab = a * b, cd = c * d;
        sum += ((a + b) * cd + (c + d) * ab) / (ab * cd);
    }
    for (uint64_t i = 4 * threads * rounds + thread; i < slices;
         i += threads) {  // up to four
        const T x = static_cast<T>((static_cast<double>(i) + 0.5) * width);
        sum += 1 / (1 + x * x);
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) atomicAdd(pi, 4 * width * sum);
}

// For the table of errors: block b adds 32 * 2^(8 + 2b) slices. Each of its 32 threads adds
// a range of its own, in three ways at once. The terms are computed in double for all
// three, so that nothing but the addition differs.
__global__ void sum_three_ways(double* plain, double* compensated, double* in_double) {
    const uint64_t slices = uint64_t{1} << (8 + 2 * blockIdx.x);
    const double width = 1 / (32 * static_cast<double>(slices));
    float plain_sum = 0, sum = 0, lost = 0;
    double double_sum = 0;
    for (uint64_t i = threadIdx.x * slices; i < (threadIdx.x + 1) * slices; ++i) {
        const double x = (static_cast<double>(i) + 0.5) * width;
        const double term = 4 / (1 + x * x);
        const float rounded = static_cast<float>(term);
        plain_sum += rounded;
        const float corrected = rounded - lost;
        const float new_sum = sum + corrected;
        lost = (new_sum - sum) - corrected;
        sum = new_sum;
        double_sum += term;
    }
    const unsigned thread = blockIdx.x * 32 + threadIdx.x;
    plain[thread] = width * plain_sum;
    compensated[thread] = width * (static_cast<double>(sum) - lost);
    in_double[thread] = width * double_sum;
}

// For the limit of the double units: nothing but double multiply-adds. Each thread has
// eight independent chains, so that no multiply-add waits for the one before.
__global__ void multiply_add_only(uint64_t rounds, double factor, double* out) {
    double chain[8];
    for (int k = 0; k < 8; ++k) chain[k] = threadIdx.x + k;
    for (uint64_t round = 0; round < rounds; ++round) {
#pragma unroll
        for (int k = 0; k < 8; ++k) chain[k] = chain[k] * factor + factor;
    }
    double sum = 0;
    for (int k = 0; k < 8; ++k) sum += chain[k];
    if (sum == -1) *out = sum;  // never true; keeps the compiler from dropping the chains
}

}  // namespace
}  // namespace basics_and_pi
