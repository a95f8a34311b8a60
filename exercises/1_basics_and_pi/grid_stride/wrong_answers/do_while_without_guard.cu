// Wrong answer: the first turn comes before the first comparison
// Rejected by: covers the array when the grid is large enough
// Message: out of bounds: a thread reads
#include "exercises/1_basics_and_pi/grid_stride/grid_stride.h"

__global__ void scale_and_add_grid_stride(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    do {
        y[i] = a * x[i] + y[i];
        i += gridDim.x * blockDim.x;
    } while (i < n);
}

void scale_and_add(float a, const float* d_x, float* d_y, int n, int blocks, int threads_per_block) {
    scale_and_add_grid_stride<<<blocks, threads_per_block>>>(a, d_x, d_y, n);
}
