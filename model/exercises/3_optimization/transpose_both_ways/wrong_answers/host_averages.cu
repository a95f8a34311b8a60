// Wrong answer: the host averages, the kernel is empty
// Rejected by: averages matrices of one tile and of several
// Message: copied from host memory; kernels have to write the result
#include "exercises/3_optimization/transpose_both_ways/transpose_both_ways.h"

#include <cuda_runtime.h>

#include <vector>

__global__ void average_with_mirror_image() {}

void make_symmetric(float* d_a, int n) {
    if (n == 0) return;
    std::vector<float> a(size_t(n) * n);
    cudaMemcpy(a.data(), d_a, a.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (int row = 0; row < n; ++row) {
        for (int col = row; col < n; ++col) {
            float& upper = a[size_t(row) * n + col];
            float& lower = a[size_t(col) * n + row];
            upper = lower = (upper + lower) / 2;
        }
    }
    cudaMemcpy(d_a, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice);
    average_with_mirror_image<<<1, 1>>>();
}
