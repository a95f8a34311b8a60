// The kernels of the lesson vector_distance, in the order in which they are read.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "chapters/4_examples/vector_distance/types.cuh"

namespace examples {
namespace {

constexpr unsigned kThreads = 256;          // per block
constexpr unsigned kWarps = kThreads / 32;  // per block

// Step 2, two kernels. The threads stride over the vectors and add up squares in a
// register; each block adds up its 256 sums by a tree in shared memory and leaves one. Then
// a single block adds up those, and takes the root.
// Slow because the tree waits at a barrier in each of its eight rounds, the second launch
// waits for the first, and a thread has only a few bytes in flight.
template <class T>
__global__ void sum_by_tree(const T* a, const T* b, std::size_t count, Sum<T>* block_sums) {
    __shared__ Sum<T> part[kThreads];
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    Sum<T> sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
         i += stride) {
        sum += squared_difference(a[i], b[i]);
    }
    part[threadIdx.x] = sum;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) block_sums[blockIdx.x] = part[0];
}

template <class S>
__global__ void finish_by_tree(const S* block_sums, unsigned blocks, S* distance) {
    __shared__ S part[kThreads];
    S sum = 0;
    for (unsigned block = threadIdx.x; block < blocks; block += kThreads)
        sum += block_sums[block];
    part[threadIdx.x] = sum;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) *distance = sqrt(part[0]);
}

// Step 3, shuffles. Warps add from register to register, and the first warp adds up the
// eight sums of the warps.
// Faster because there is one barrier instead of eight. (A double is shuffled as two words:
// two instructions, but one line.) Still slow because there are two launches, and few bytes
// in flight.
template <class S>
__device__ S sum_of_block(S value) {  // for thread 0
    __shared__ S warp_sums[kWarps];
    for (unsigned distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(~0u, value, distance);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x >= 32) return value;
    value = threadIdx.x < kWarps ? warp_sums[threadIdx.x] : S{0};
    for (unsigned distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(~0u, value, distance);
    return value;
}

template <class T>
__global__ void sum_by_shuffles(const T* a, const T* b, std::size_t count,
                                Sum<T>* block_sums) {
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    Sum<T> sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
         i += stride) {
        sum += squared_difference(a[i], b[i]);
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) block_sums[blockIdx.x] = sum;
}

template <class S>
__global__ void finish_by_shuffles(const S* block_sums, unsigned blocks, S* distance) {
    S sum = 0;
    for (unsigned block = threadIdx.x; block < blocks; block += kThreads)
        sum += block_sums[block];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) *distance = sqrt(sum);
}

// Step 4, one kernel: the block with the last ticket adds up the block sums (lesson
// fences_and_last_block).
// This could be faster because there is one launch. Still slow because few bytes are in
// flight.
template <class T>
__global__ void distance_last_block(const T* a, const T* b, std::size_t count,
                                    Sum<T>* block_sums, unsigned* drawn, Sum<T>* distance) {
    __shared__ bool is_last;
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    Sum<T> sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
         i += stride) {
        sum += squared_difference(a[i], b[i]);
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = sum;
        __threadfence();
        const unsigned ticket = atomicInc(drawn, gridDim.x - 1);
        __threadfence();
        is_last = ticket == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;  // all threads of the block, or none

    Sum<T> rest = 0;
    for (unsigned block = threadIdx.x; block < gridDim.x; block += kThreads)
        rest += block_sums[block];
    rest = sum_of_block(rest);
    if (threadIdx.x == 0) *distance = sqrt(rest);
}

// Step 5, 16 bytes per load, and `Loads` of them from each vector in flight before the
// first is needed. Each load has a sum of its own, so that additions need not wait for each
// other. The elements after the last whole tile are taken one by one. Both vectors have to
// start at multiples of 16 bytes, as memory from cudaMalloc does. __launch_bounds__ lets
// the compiler spend registers: since two blocks per SM are enough, it issues all loads
// first. The lesson's last table tells the width of the loads from their number: it has
// rows with 1, 2 and 8 loads.
// Faster because enough bytes are in flight for the memory to be busy all the time. What
// time is left cannot be avoided, because the bytes have to come.
template <class T, unsigned Loads>
__global__ void __launch_bounds__(kThreads, 2)
    distance_packs(const T* a, const T* b, std::size_t count, Sum<T>* block_sums,
                   unsigned* drawn, Sum<T>* distance) {
    __shared__ bool is_last;
    constexpr unsigned tile = Loads * kThreads;  // packs of each vector
    const auto* packs_a = reinterpret_cast<const Pack<T>*>(a);
    const auto* packs_b = reinterpret_cast<const Pack<T>*>(b);
    const std::size_t tiles = count / (tile * Pack<T>::size);
    Sum<T> sums[Loads] = {};
    for (std::size_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const std::size_t first = t * tile + threadIdx.x;
        Pack<T> of_a[Loads], of_b[Loads];
#pragma unroll
        for (unsigned k = 0; k < Loads; ++k) {
            of_a[k] = packs_a[first + k * kThreads];
            of_b[k] = packs_b[first + k * kThreads];
        }
#pragma unroll
        for (unsigned k = 0; k < Loads; ++k) {
#pragma unroll
            for (unsigned e = 0; e < Pack<T>::size; ++e) {
                sums[k] += squared_difference(of_a[k].element[e], of_b[k].element[e]);
            }
        }
    }
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    const std::size_t thread = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    for (std::size_t i = tiles * tile * Pack<T>::size + thread; i < count; i += stride) {
        sums[0] += squared_difference(a[i], b[i]);
    }
    Sum<T> sum = 0;
    for (unsigned k = 0; k < Loads; ++k) sum += sums[k];

    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = sum;
        __threadfence();
        const unsigned ticket = atomicInc(drawn, gridDim.x - 1);
        __threadfence();
        is_last = ticket == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;

    Sum<T> rest = 0;
    for (unsigned block = threadIdx.x; block < gridDim.x; block += kThreads)
        rest += block_sums[block];
    rest = sum_of_block(rest);
    if (threadIdx.x == 0) *distance = sqrt(rest);
}

// The same ints in three ways. In 32 bits as an int would do it: differences, squares and
// sum all wrap around (in unsigned numbers, where that is defined). In 64 bits: differences
// and squares fit, their sum may not. In double.
struct ThreeSums {
    unsigned in_32_bits;
    unsigned long long in_64_bits;
    double in_double;
};
__global__ void sum_three_ways(const int* a, const int* b, unsigned count,
                               ThreeSums* sums) {
    ThreeSums sum = {0, 0, 0};
    for (unsigned i = 0; i < count; ++i) {
        const unsigned narrow = static_cast<unsigned>(a[i]) - static_cast<unsigned>(b[i]);
        const long long wide = static_cast<long long>(a[i]) - b[i];
        const unsigned long long magnitude = wide < 0 ? -wide : wide;
        sum.in_32_bits += narrow * narrow;
        sum.in_64_bits += magnitude * magnitude;
        sum.in_double += squared_difference(a[i], b[i]);
    }
    *sums = sum;
}

}  // namespace
}  // namespace examples
