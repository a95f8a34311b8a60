// Wrong answer: one launch, but the intermediate values still go through global memory
// Rejected by: moves each element in once and out once in one launch
// Message: of global memory moved, at most
#include "exercises/2_memory_model/fuse_the_kernels/fuse_the_kernels.h"

__global__ void fused_layer(const float* x, const float* skip, float* y, float* s, float* a,
                            int n, float scale, float bias, float weight) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    s[i] = scale * x[i] + bias;
    a[i] = s[i] / (1 + expf(-s[i]));
    y[i] = skip[i] + weight * a[i];
}

void run_layer(const float* d_x, const float* d_skip, float* d_y, int n, float scale,
               float bias, float weight) {
    if (n == 0) return;
    const int threads = 256;
    const int blocks = (n + threads - 1) / threads;
    float* d_s;
    cudaMalloc(&d_s, 2 * n * sizeof(float));
    fused_layer<<<blocks, threads>>>(d_x, d_skip, d_y, d_s, d_s + n, n, scale, bias,
                                     weight);
    cudaFree(d_s);
}
