// Wrong answer: host computes, and the kernel copies the result from a buffer
// Rejected by: covers the array when the grid is large enough
// Message: not read by any kernel
#include <vector>
#include "exercises/1_basics_and_pi/grid_stride/grid_stride.h"
__global__ void take(const float* x, const float* from, float* y, int n) {
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) y[i] = from[i];
}
void scale_and_add(float a, const float* d_x, float* d_y, int n, int blocks,
                   int threads_per_block) {
    if (n == 0) return;
    std::vector<float> x(n), y(n);
    cudaMemcpy(x.data(), d_x, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
    float* d;
    cudaMalloc(&d, n * sizeof(float));
    cudaMemcpy(d, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    take<<<blocks, threads_per_block>>>(d_x, d, d_y, n);
    cudaDeviceSynchronize();
    cudaFree(d);
}
