// Correct answer: four neighboring elements at a time, and the tail one by one
#include "exercises/1_basics_and_pi/grid_stride/grid_stride.h"

__global__ void scale_and_add_grid_stride(float a, const float* x, float* y, int n) {
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    const int stride = gridDim.x * blockDim.x;
    const auto* x4 = reinterpret_cast<const float4*>(x);
    auto* y4 = reinterpret_cast<float4*>(y);
    for (int i = first; i < n / 4; i += stride) {
        const float4 in = x4[i];
        float4 out = y4[i];
        out.x += a * in.x;
        out.y += a * in.y;
        out.z += a * in.z;
        out.w += a * in.w;
        y4[i] = out;
    }
    for (int i = n / 4 * 4 + first; i < n; i += stride) y[i] = a * x[i] + y[i];
}

void scale_and_add(float a, const float* d_x, float* d_y, int n, int blocks, int threads_per_block) {
    scale_and_add_grid_stride<<<blocks, threads_per_block>>>(a, d_x, d_y, n);
}
