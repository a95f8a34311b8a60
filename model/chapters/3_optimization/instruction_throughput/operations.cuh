// The kernel that measures operations, and the operations.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>

namespace optimization {
namespace {

constexpr unsigned kLanes = 32;
constexpr unsigned kThreads = 1024;  // per block, one on each SM: 8 warps per scheduler
constexpr unsigned kChains = 8;      // per thread, so that no operation has to wait

// Every thread advances eight chains, and thread 0 reports how many clocks its SM took for
// all of them. `next` is one of the functions below. The loop is unrolled so far that
// counting its rounds costs less than 2 %. Each lane has numbers of its own: if all lanes
// had the same, nvcc might move the work to the unit that computes one value for the whole
// warp.
template <class V, V (*next)(V, V, V, V), unsigned unroll>
__global__ void __launch_bounds__(kThreads)
    repeat(const V* in, V* out, unsigned rounds, long long* clocks) {
    const unsigned lane = threadIdx.x % kLanes;
    V v[kChains];
#pragma unroll
    for (unsigned k = 0; k < kChains; ++k) v[k] = in[k * kLanes + lane];
    const V a = in[kChains * kLanes + lane], b = in[(kChains + 1) * kLanes + lane];
    __syncthreads();
    const long long begin = clock64();
#pragma unroll 1
    for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
        for (unsigned i = 0; i < unroll; ++i) {
#pragma unroll
            for (unsigned k = 0; k < kChains; ++k)
                v[k] = next(v[k], v[(k + 1) % kChains], a, b);
        }
    }
    __syncthreads();
    const long long end = clock64();
    if (threadIdx.x == 0) clocks[blockIdx.x] = end - begin;
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
#pragma unroll
    for (unsigned k = 0; k < kChains; ++k) out[thread * kChains + k] = v[k];
}

// ---- the operations ---------------------------------------------------------------------

using Word = unsigned;
using Long = unsigned long long;

__host__ __device__ unsigned bits_of(float value) {
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

__host__ __device__ float float_of(unsigned bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Each function computes the next value of a chain from the last value `v`, from that of
// the neighboring chain, `n`, and from two numbers from memory. No compiler knows those,
// and none may reorder additions of floats, so each addition has to be done. Additions of
// integers may be reordered: v + a + a + a would become v + 3 * a. With the neighbor's
// value, nothing can be gathered.
// Where a chain would come to rest, an addition or a subtraction keeps it alive; the table
// counts it. Doubles get two different numbers and not three: an instruction with three
// doubles takes six registers, more than are read in its two clocks.
__host__ __device__ float add_float(float v, float, float a, float) { return v + a; }
__host__ __device__ float multiply_float(float v, float, float, float b) { return v * b; }
__host__ __device__ float fma_float(float v, float, float a, float b) {
    return fmaf(v, a, b);
}
__host__ __device__ double fma_double(double v, double, double a, double) {
    return fma(v, a, a);
}

__host__ __device__ Word add_int(Word v, Word n, Word, Word) { return v + n; }
__host__ __device__ Word add_three(Word v, Word n, Word a, Word) { return v + n + a; }
__host__ __device__ Word multiply_int(Word v, Word n, Word, Word) { return v * n; }
__host__ __device__ Word multiply_high(Word v, Word, Word, Word b) {
    const Word large = b | 0xFFFFFF00;  // so that v shrinks slowly
#ifdef __CUDA_ARCH__
    return __umulhi(v, large);
#else
    return static_cast<Word>(Long{v} * large >> 32);
#endif
}
__host__ __device__ Word shift(Word v, Word, Word, Word b) { return b >> (v & 31); }
__host__ __device__ Long add_64(Long v, Long n, Long, Long) { return v + n; }
__host__ __device__ Long multiply_64(Long v, Long n, Long, Long) { return v * n; }

__host__ __device__ Word divide(Word v, Word n, Word, Word b) { return b - v / (n | 1); }
__host__ __device__ Word modulo(Word v, Word n, Word, Word b) { return b - v % (n | 1); }
__host__ __device__ Word divide_10(Word v, Word n, Word, Word) { return n - v / 10; }
__host__ __device__ Word modulo_10(Word v, Word n, Word, Word) { return n - v % 10; }
__host__ __device__ Word divide_8(Word v, Word n, Word, Word) { return n - v / 8; }
__host__ __device__ Word modulo_8(Word v, Word n, Word, Word) { return n - v % 8; }
__host__ __device__ int divide_int_8(int v, int n, int, int) { return n ^ (v / 8); }
__host__ __device__ Long divide_64(Long v, Long n, Long, Long b) { return b - v / (n | 1); }

__host__ __device__ float divide_float(float v, float, float a, float b) {
    return a / (v + b);
}
__device__ float fast_divide(float v, float, float a, float b) {
    return __fdividef(a, v + b);
}
__host__ __device__ float square_root(float v, float, float, float) { return sqrtf(v); }
__device__ float reciprocal_root(float v, float, float, float) { return rsqrtf(v); }
__device__ float sine(float v, float, float a, float) { return sinf(v) + a; }
__device__ float fast_sine(float v, float, float a, float) { return __sinf(v) + a; }
__device__ float exponential(float v, float, float, float) { return expf(-v); }
__device__ float fast_exponential(float v, float, float, float) { return __expf(-v); }
__device__ float logarithm(float v, float, float, float) { return logf(v) + 2; }
__device__ float fast_logarithm(float v, float, float, float) { return __logf(v) + 2; }

__host__ __device__ Word int_to_float(Word v, Word, Word, Word) {
    return bits_of(static_cast<float>(v));
}
__host__ __device__ float float_to_int(float v, float, float, float b) {
    return float_of(static_cast<Word>(v) ^ bits_of(b));
}
__host__ __device__ double double_to_int_and_back(double v, double, double, double) {
    return static_cast<double>(static_cast<int>(v));
}

}  // namespace
}  // namespace optimization
