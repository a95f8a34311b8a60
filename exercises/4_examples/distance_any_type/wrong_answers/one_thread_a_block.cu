// Wrong answer: lets thread 0 of each block add up the elements of all its threads, one after the other
// Rejected by: reads each element once
// Message: the task asks for at least 4096 threads
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

// Adds the values of all threads of the block, for thread 0. `double` and `float` have shuffles.
template <class S>
__device__ S sum_of_block(S value) {
    __shared__ S warp_sums[threads_per_block / 32];
    for (unsigned distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffff, value, distance);
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
    if (threadIdx.x > 0) return;
    Sum<T> sum = 0;
    const std::size_t share = (count + gridDim.x - 1) / gridDim.x;
    for (std::size_t i = blockIdx.x * share; i < min(count, (blockIdx.x + 1) * share); ++i) {
        const Sum<T> difference = static_cast<Sum<T>>(a[i]) - static_cast<Sum<T>>(b[i]);
        sum += difference * difference;
    }
    block_sums[blockIdx.x] = sum;
}

template <class S>
__global__ void finish(const S* block_sums, unsigned blocks, double* distance) {
    S sum = threadIdx.x < blocks ? block_sums[threadIdx.x] : S{0};
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) *distance = sqrt(static_cast<double>(sum));
}

template <class T>
void launch(const T* d_a, const T* d_b, std::size_t count, void* d_block_sums, double* d_distance) {
    const std::size_t tiles = (count + threads_per_block - 1) / threads_per_block;
    const auto blocks = static_cast<unsigned>(std::clamp<std::size_t>(tiles, 1, most_blocks));
    auto* block_sums = static_cast<Sum<T>*>(d_block_sums);
    sum_squares<<<blocks, threads_per_block>>>(d_a, d_b, count, block_sums);
    finish<<<1, threads_per_block>>>(block_sums, blocks, d_distance);
}

void euclidean_distance(const float* d_a, const float* d_b, std::size_t count, void* d_block_sums, double* d_distance) {
    launch(d_a, d_b, count, d_block_sums, d_distance);
}

void euclidean_distance(const double* d_a, const double* d_b, std::size_t count, void* d_block_sums,
                        double* d_distance) {
    launch(d_a, d_b, count, d_block_sums, d_distance);
}

void euclidean_distance(const int* d_a, const int* d_b, std::size_t count, void* d_block_sums, double* d_distance) {
    launch(d_a, d_b, count, d_block_sums, d_distance);
}
