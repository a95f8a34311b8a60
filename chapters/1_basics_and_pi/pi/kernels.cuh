// The kernels of pi, in the order of its steps. Steps 1 and 2 are loops on the host. Two
// more kernels, for the tables after the steps, are at the end.
//
//     pi ~ h * sum over i = 0 .. n-1 of 4 / (1 + x_i^2),    x_i = (i + 1/2) * h
//
// n is the number of slices, and h = 1 / n is the width of a slice.
#pragma once

#include <cstdint>

namespace basics_and_pi {
namespace {

using std::uint64_t;

constexpr unsigned kThreads = 256;  // per block; the sums inside a block rely on it

// Step 3, fork without join: thread t of T takes the slices t, t + T, t + 2T, and so on,
// and leaves its sum in memory. The host copies all sums and adds them. The sums are
// floats, because a GPU has at least twice as many lanes for floats as for doubles. x is
// computed as (i + 1/2) h, because adding h again and again would add an error with each
// addition. A float has 24 bits, so from i = 2^24 on, float(i) + 0.5f is rounded. Relative
// to x, this error is no larger than that of any other float operation, and it is as often
// positive as negative. Rounding in the sum is another matter: see the table after the
// steps. Slow: a quarter of a million sums cross the bus, and one core adds them.
// Converting a 64-bit index to a float is slow, too.
__global__ void sum_per_thread(uint64_t slices, float width, float* thread_sums) {
    const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
    const uint64_t thread = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    float sum = 0;
    for (uint64_t i = thread; i < slices; i += threads) {
        const float x = (static_cast<float>(i) + 0.5f) * width;
        sum += 4 / (1 + x * x);
    }
    thread_sums[thread] = sum;
}

// Step 4, a tree in each block: the threads put their sums into shared memory. Then half of
// them add the other half's sums, then a quarter, until one sum is left after log2(256) = 8
// rounds. All threads meet at the barrier before each round.
// Blocks cannot wait for each other inside a kernel. The end of the kernel is their
// barrier, so a second kernel of a single block adds the block sums in the same way.
// Better: the host adds nothing, and 8 bytes leave the device.
// Still slow: eight barriers per block, and in every round of the tree half of the working
// threads drop out. There are two launches.
__global__ void sum_by_tree(uint64_t slices, float width, float* block_sums) {
    __shared__ float partial[kThreads];
    const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
    float sum = 0;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < slices;
         i += threads) {
        const float x = (static_cast<float>(i) + 0.5f) * width;
        sum += 4 / (1 + x * x);
    }
    partial[threadIdx.x] = sum;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    if (threadIdx.x == 0) block_sums[blockIdx.x] = partial[0];
}

__global__ void add_block_sums(const float* block_sums, unsigned blocks, double width,
                               double* pi) {
    __shared__ float partial[kThreads];
    float sum = 0;
    for (unsigned i = threadIdx.x; i < blocks; i += kThreads) sum += block_sums[i];
    partial[threadIdx.x] = sum;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    if (threadIdx.x == 0) *pi = width * partial[0];
}

// Step 5, warp shuffles: the lanes of a warp read each other's registers. Five shuffles add
// the sums of a warp without any barrier. After one barrier, the first warp adds the eight
// warp sums. The second kernel stays.
// Better: one barrier per block instead of eight.
// Still slow: two launches. And the slices cost so much more than the sums that the gain is
// hard to see. It shows when there are few slices per thread (--size 64Ki).
template <class T>
__device__ T sum_of_block(T value) {  // the whole sum is in thread 0
    __shared__ T warp_sums[kThreads / 32];
    for (unsigned distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(~0u, value, distance);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x >= 32) return value;
    value = threadIdx.x < kThreads / 32 ? warp_sums[threadIdx.x] : T(0);
    for (unsigned distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(~0u, value, distance);
    return value;
}

__global__ void sum_by_shuffles(uint64_t slices, float width, float* block_sums) {
    const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
    float sum = 0;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < slices;
         i += threads) {
        const float x = (static_cast<float>(i) + 0.5f) * width;
        sum += 4 / (1 + x * x);
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) block_sums[blockIdx.x] = sum;
}

// Step 6, one pass: each block adds its sum to the result by an atomic operation. The
// result has to be 0 before, so a memset takes the place of the second kernel. Blocks
// finish in any order, and rounding depends on the order, so the last digits may differ
// from run to run. The result is a double, which makes the difference small. Better: no
// second kernel. Still slow: the division and the 64-bit index. A division is an
// approximate reciprocal by the special-function units, of which an SM has 16 for its 128
// float lanes, and then a dozen instructions that refine and check it.
__global__ void sum_with_atomics(uint64_t slices, double width, double* pi) {
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

// Step 7, double precision throughout.
// Better: an error near 1e-14 instead of 1e-8.
// Slow: a double division is a long sequence of instructions for the double units. A GPU
// for computing centers has half as many of these as float lanes, other GPUs have 1/32 or
// 1/64.
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

// Step 8, compensated (Kahan) summation, for GPUs with few double units: `lost` is what the
// last addition rounded away, and the next addition puts it back.
// Better: four dependent additions instead of one, but the sum of a thread is right to its
// last bit, however many slices there are. This repairs the additions and not the terms:
// each term is still a rounded float.
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

// Steps 9 (float) and 10 (double), fewer operations: with a, b, c, d for 1 + x^2 of four
// slices of a thread,
//
//     1/a + 1/b + 1/c + 1/d = ((a + b) c d + (c + d) a b) / (a b c d)
//
// so one division serves four slices. The index is never converted: x is
// k * stride + x_of_slice_0 with a counter k in floating point (exact up to 2^24 rounds of
// a thread), which is one multiply-add per x.
// Better: 25 double instructions for four slices, 8 of them for the division. Step 7 takes
// 12 and more for each slice. Still slow: nothing waits any more, and the double units are
// busy. Only fewer operations would help: see the last table.
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
