// Wrong answer: one block does all
// Rejected by: shares the elements among many threads
// Message: thread
#include "exercises/2_memory_model/fuse_the_kernels/fuse_the_kernels.h"

__global__ void fused_layer(const float* x, const float* skip, float* y, int n, float scale,
                            float bias, float weight) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = i; k < n; k += blockDim.x) {
        const float s = scale * x[k] + bias;
        const float a = s / (1 + expf(-s));
        y[k] = skip[k] + weight * a;
    }
}

void run_layer(const float* d_x, const float* d_skip, float* d_y, int n, float scale,
               float bias, float weight) {
    if (n == 0) return;
    const int threads = 256;
    fused_layer<<<1, threads>>>(d_x, d_skip, d_y, n, scale, bias, weight);
}
