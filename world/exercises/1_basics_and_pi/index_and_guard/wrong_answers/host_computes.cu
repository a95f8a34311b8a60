// Wrong answer: the host does the work and launches an empty kernel
// Rejected by: converts every element of one full block
// Message: copied from host memory
#include "exercises/1_basics_and_pi/index_and_guard/index_and_guard.h"

#include <cuda_runtime.h>

#include <vector>

__global__ void to_fahrenheit(const float*, float*, int) {}

void convert_to_fahrenheit(const float* d_celsius, float* d_fahrenheit, int n,
                           int threads_per_block) {
    if (n == 0) return;
    std::vector<float> t(n);
    cudaMemcpy(t.data(), d_celsius, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (float& degrees : t) degrees = 1.8f * degrees + 32.0f;
    cudaMemcpy(d_fahrenheit, t.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    const int blocks = (n + threads_per_block - 1) / threads_per_block;
    to_fahrenheit<<<blocks, threads_per_block>>>(d_celsius, d_fahrenheit, n);
}
