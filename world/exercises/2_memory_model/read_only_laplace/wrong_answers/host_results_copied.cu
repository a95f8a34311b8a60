// Wrong answer: the host computes, and a kernel copies its results with __ldg
// Rejected by: closes the ring
// Message: with cudaMemcpyDeviceToHost
#include <vector>

#include "exercises/2_memory_model/read_only_laplace/read_only_laplace.h"

__global__ void copy_results(const float* __restrict__ x, float* __restrict__ y,
                             int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] = __ldg(&x[i]);
}

void laplace(const float* d_x, float* d_y, int count) {
    if (count == 0) return;
    const size_t bytes = count * sizeof(float);
    std::vector<float> x(count), y(count);
    cudaMemcpy(x.data(), d_x, bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; ++i)
        y[i] = x[(i + count - 1) % count] - 2 * x[i] + x[(i + 1) % count];
    float* d_results = nullptr;
    cudaMalloc(&d_results, bytes);
    cudaMemcpy(d_results, y.data(), bytes, cudaMemcpyHostToDevice);
    copy_results<<<(count + 255) / 256, 256>>>(d_results, d_y, count);
    cudaFree(d_results);
}

void laplace_twice(const float* d_x, float* d_work, float* d_y, int count) {
    laplace(d_x, d_work, count);
    laplace(d_work, d_y, count);
}
