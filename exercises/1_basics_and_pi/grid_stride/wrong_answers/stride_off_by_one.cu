// Wrong answer: the step is one thread too short
// Rejected by: covers the array when the grid is large enough
// Message: data race: threads of two blocks use the same memory
#include "exercises/1_basics_and_pi/grid_stride/grid_stride.h"

__global__ void scale_and_add_grid_stride(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    // all threads of the grid
    const int total = blockDim.x * gridDim.x - 1 > 0 ? blockDim.x * gridDim.x - 1 : 1;
    while (i < n) {
        y[i] = a * x[i] + y[i];
        i += total;
    }
}

void scale_and_add(float a, const float* d_x, float* d_y, int n, int blocks, int threads_per_block) {
    scale_and_add_grid_stride<<<blocks, threads_per_block>>>(a, d_x, d_y, n);
}
