// Wrong answer: blocks add to the first sum by atomics, and nobody sets it to 0
// Rejected by: adds up a block
// Message: element 0 is nan
#include "exercises/4_examples/distance_any_type/distance_any_type.h"

#include <cuda_runtime.h>

template <class T>
__global__ void sum_squares(const T* a, const T* b, std::size_t count, double* total) {
    double sum = 0;
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
        sum += difference * difference;
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}

__global__ void finish(const double* total, double* distance) { *distance = sqrt(*total); }

template <class T>
void launch(const T* d_a, const T* d_b, std::size_t count, void* d_block_sums,
            double* d_distance) {
    double* const total = static_cast<double*>(d_block_sums);
    sum_squares<<<64, 256>>>(d_a, d_b, count, total);
    finish<<<1, 1>>>(total, d_distance);
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
