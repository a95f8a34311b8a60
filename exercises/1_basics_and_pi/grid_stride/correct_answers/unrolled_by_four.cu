// Correct answer: four grid-wide steps in each turn, then the remainder one by one
#include "exercises/1_basics_and_pi/grid_stride/grid_stride.h"

__global__ void scale_and_add_grid_stride(float a, const float* x, float* y, int n) {
    const long long count = n;
    const long long s = (long long)gridDim.x * blockDim.x;
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + 3 * s < count; i += 4 * s) {
        const float x0 = x[i], x1 = x[i + s], x2 = x[i + 2 * s], x3 = x[i + 3 * s];
        y[i] += a * x0;
        y[i + s] += a * x1;
        y[i + 2 * s] += a * x2;
        y[i + 3 * s] += a * x3;
    }
    for (; i < count; i += s) y[i] += a * x[i];
}

void scale_and_add(float a, const float* d_x, float* d_y, int n, int blocks, int threads_per_block) {
    scale_and_add_grid_stride<<<blocks, threads_per_block>>>(a, d_x, d_y, n);
}
