// Solution: one distance for floats, doubles and ints.
//
// float and double are added up in their own type. For int that fails three times: INT_MAX
// - INT_MIN is no int, the square of 46341 is none, and a sum of squares soon is none. A
// double holds every int, and every difference of two ints, which need 33 bits of its 53,
// without rounding; so both elements are converted before they are subtracted. The squares,
// up to 2^64, and their sums are rounded to 16 digits, and nothing overflows, however many
// there are.
//
// 64 bits without a sign would hold every square exactly, but not the sum of two of the
// largest.
//
// The rest is the same for all types: a grid-stride loop, shuffles in the warp, shared
// memory between the warps.
#include "exercises/4_examples/distance_any_type/distance_any_type.h"

#include <cuda_runtime.h>

#include <algorithm>

constexpr unsigned threads_per_block = 256;

template <class T>
struct Accumulator {
    using type = T;
};
template <>
struct Accumulator<int> {
    using type = double;
};
template <class T>
using Sum = typename Accumulator<T>::type;

// Adds the values of all threads of the block, for thread 0. `double` and `float` have
// shuffles.
template <class S>
__device__ S sum_of_block(S value) {
    __shared__ S warp_sums[threads_per_block / 32];
    for (unsigned distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffff, value, distance);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = threadIdx.x < threads_per_block / 32 ? warp_sums[threadIdx.x] : S{0};
        for (unsigned distance = 16; distance > 0; distance /= 2) {
            value += __shfl_down_sync(0xffffffff, value, distance);
        }
    }
    return value;
}

template <class T>
__global__ void sum_squares(const T* a, const T* b, std::size_t count, Sum<T>* block_sums) {
    Sum<T> sum = 0;
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        const Sum<T> difference = static_cast<Sum<T>>(a[i]) - static_cast<Sum<T>>(b[i]);
        sum += difference * difference;
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) block_sums[blockIdx.x] = sum;
}

template <class S>
__global__ void finish(const S* block_sums, unsigned blocks, double* distance) {
    S sum = threadIdx.x < blocks ? block_sums[threadIdx.x] : S{0};
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) *distance = sqrt(static_cast<double>(sum));
}

template <class T>
void launch(const T* d_a, const T* d_b, std::size_t count, void* d_block_sums,
            double* d_distance) {
    const std::size_t tiles = (count + threads_per_block - 1) / threads_per_block;
    const auto blocks =
        static_cast<unsigned>(std::clamp<std::size_t>(tiles, 1, most_blocks));
    auto* block_sums = static_cast<Sum<T>*>(d_block_sums);
    sum_squares<<<blocks, threads_per_block>>>(d_a, d_b, count, block_sums);
    finish<<<1, threads_per_block>>>(block_sums, blocks, d_distance);
}

void euclidean_distance(const float* d_a, const float* d_b, std::size_t count,
                        void* d_block_sums, double* d_distance) {
    launch(d_a, d_b, count, d_block_sums, d_distance);
}

void euclidean_distance(const double* d_a, const double* d_b, std::size_t count,
                        void* d_block_sums, double* d_distance) {
    launch(d_a, d_b, count, d_block_sums, d_distance);
}

void euclidean_distance(const int* d_a, const int* d_b, std::size_t count,
                        void* d_block_sums, double* d_distance) {
    launch(d_a, d_b, count, d_block_sums, d_distance);
}
