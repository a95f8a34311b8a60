// Wrong answer: the host computes the stride once and keeps it for later grids
// Rejected by: covers the array when the grid is large enough
// Message: data race: threads of two blocks use the same memory
#include "exercises/1_basics_and_pi/grid_stride/grid_stride.h"

__global__ void scale_and_add_grid_stride(float a, const float* x, float* y, int n,
                                          int stride) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        y[i] = a * x[i] + y[i];
    }
}

void scale_and_add(float a, const float* d_x, float* d_y, int n, int blocks,
                   int threads_per_block) {
    static const int stride = blocks * threads_per_block;
    scale_and_add_grid_stride<<<blocks, threads_per_block>>>(a, d_x, d_y, n, stride);
}
