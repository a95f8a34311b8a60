// Wrong answer: gives every thread n / threads elements and forgets the remainder of the division
// Rejected by: handles sizes that the grid does not divide
// Message: were never done
#include "exercises/1_basics_and_pi/grid_stride/grid_stride.h"

__global__ void scale_and_add_grid_stride(float a, const float* x, float* y, int n) {
    const int threads = gridDim.x * blockDim.x;
    const int share = n / threads;
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * share;
    for (int i = first; i < first + share; ++i) y[i] = a * x[i] + y[i];
}

void scale_and_add(float a, const float* d_x, float* d_y, int n, int blocks, int threads_per_block) {
    scale_and_add_grid_stride<<<blocks, threads_per_block>>>(a, d_x, d_y, n);
}
