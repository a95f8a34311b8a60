// Wrong answer: each thread takes at most two elements
// Rejected by: lets one block do a long array
// Message: These elements still hold the old y. Which thread should take them, and in which turn?
#include "exercises/1_basics_and_pi/grid_stride/grid_stride.h"

__global__ void scale_and_add_grid_stride(float a, const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = i + gridDim.x * blockDim.x;
    if (i < n) y[i] = a * x[i] + y[i];
    if (j < n) y[j] = a * x[j] + y[j];
}

void scale_and_add(float a, const float* d_x, float* d_y, int n, int blocks, int threads_per_block) {
    scale_and_add_grid_stride<<<blocks, threads_per_block>>>(a, d_x, d_y, n);
}
