// Correct answer: four elements per thread as float4, and the tail one by one
#include "exercises/2_memory_model/fuse_the_kernels/fuse_the_kernels.h"

__device__ float layer(float x, float skip, float scale, float bias, float weight) {
    const float s = fmaf(scale, x, bias);
    return fmaf(weight, s / (1.0f + expf(-s)), skip);
}

__global__ void fused(const float* x, const float* skip, float* y, int n, float scale,
                      float bias, float weight) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 4 <= n) {
        const float4 in = reinterpret_cast<const float4*>(x)[i];
        const float4 add = reinterpret_cast<const float4*>(skip)[i];
        reinterpret_cast<float4*>(y)[i] =
            make_float4(layer(in.x, add.x, scale, bias, weight),
                        layer(in.y, add.y, scale, bias, weight),
                        layer(in.z, add.z, scale, bias, weight),
                        layer(in.w, add.w, scale, bias, weight));
    } else {
        for (int k = 4 * i; k < n; ++k) y[k] = layer(x[k], skip[k], scale, bias, weight);
    }
}

void run_layer(const float* d_x, const float* d_skip, float* d_y, int n, float scale,
               float bias, float weight) {
    if (n > 0) fused<<<(n + 511) / 512, 128>>>(d_x, d_skip, d_y, n, scale, bias, weight);
}
