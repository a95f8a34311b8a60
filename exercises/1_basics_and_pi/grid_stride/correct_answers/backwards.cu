// Correct answer: every thread begins at the end of the array
#include "exercises/1_basics_and_pi/grid_stride/grid_stride.h"

__global__ void scale_and_add_grid_stride(float a, const float* x, float* y, int n) {
    const int stride = gridDim.x * blockDim.x;
    for (int i = n - 1 - (blockIdx.x * blockDim.x + threadIdx.x); i >= 0; i -= stride) {
        y[i] = a * x[i] + y[i];
    }
}

void scale_and_add(float a, const float* d_x, float* d_y, int n, int blocks, int threads_per_block) {
    scale_and_add_grid_stride<<<blocks, threads_per_block>>>(a, d_x, d_y, n);
}
