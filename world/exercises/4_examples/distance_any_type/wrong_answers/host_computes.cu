// Wrong answer: the vectors go to the host, and the kernel is empty
// Rejected by: adds up a block
// Message: was copied from host memory
#include "exercises/4_examples/distance_any_type/distance_any_type.h"

#include <cuda_runtime.h>

#include <cmath>
#include <vector>

template <class T>
__global__ void nothing() {}

template <class T>
void launch(const T* d_a, const T* d_b, std::size_t count, void* d_block_sums,
            double* d_distance) {
    (void)d_block_sums;
    std::vector<T> a(count), b(count);
    cudaMemcpy(a.data(), d_a, count * sizeof(T), cudaMemcpyDeviceToHost);
    cudaMemcpy(b.data(), d_b, count * sizeof(T), cudaMemcpyDeviceToHost);
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
        sum += difference * difference;
    }
    const double distance = std::sqrt(sum);
    cudaMemcpy(d_distance, &distance, sizeof distance, cudaMemcpyHostToDevice);
    nothing<T><<<1, 1>>>();
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
