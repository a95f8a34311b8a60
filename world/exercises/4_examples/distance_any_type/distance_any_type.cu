// Exercise: one distance for floats, doubles, and ints.
// The task: ./warpwise task distance_any_type
#include "exercises/4_examples/distance_any_type/distance_any_type.h"

#include <cuda_runtime.h>

#include <algorithm>

constexpr unsigned threads_per_block = 256;

// TODO 1: in which type should the squares of differences of T be added up? At present,
// each type is added up in itself. For which of float, double, and int is that right? A
// specialization chooses another type:
//     template <>
//     struct Accumulator<...> {
//         using type = ...;
//     };
template <class T>
struct Accumulator {
    using type = T;
};
template <class T>
using Sum = typename Accumulator<T>::type;

template <class T>
__global__ void sum_squares(const T* a, const T* b, std::size_t count, Sum<T>* block_sums) {
    Sum<T> sum = 0;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;

    // TODO 2: add up (a[i] - b[i])^2 of all elements of this thread. There may be more
    // elements than threads in the grid. In which type is the subtraction done?
    if (i < count) sum += static_cast<Sum<T>>(a[i] - b[i]);

    // TODO 3: add up the sums of the block's 256 threads, so that thread 0 has the result.

    if (threadIdx.x == 0) block_sums[blockIdx.x] = sum;
}

// Launched with a single block of 256 threads.
template <class S>
__global__ void finish(const S* block_sums, unsigned blocks, double* distance) {
    // TODO 4: add up the sums of all blocks, and take the square root.
    if (threadIdx.x == 0) *distance = static_cast<double>(block_sums[blocks - 1]);
}

// From here on, there is nothing to do.
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
