// Wrong answer: the activation is fused with the first step only
// Rejected by: moves each element in once and out once in one launch
// Message: launches
#include "exercises/2_memory_model/fuse_the_kernels/fuse_the_kernels.h"

__global__ void fused_layer(const float* x, float* a, int n, float scale, float bias) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float s = scale * x[i] + bias;
    a[i] = s / (1 + expf(-s));
}

__global__ void add_weighted(const float* skip, const float* a, float* y, int n,
                             float weight) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = skip[i] + weight * a[i];
}

void run_layer(const float* d_x, const float* d_skip, float* d_y, int n, float scale,
               float bias, float weight) {
    if (n == 0) return;
    const int threads = 256;
    const int blocks = (n + threads - 1) / threads;
    float* d_a;
    cudaMalloc(&d_a, n * sizeof(float));
    fused_layer<<<blocks, threads>>>(d_x, d_a, n, scale, bias);
    add_weighted<<<blocks, threads>>>(d_skip, d_a, d_y, n, weight);
    cudaFree(d_a);
}
