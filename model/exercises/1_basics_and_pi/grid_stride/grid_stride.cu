// Exercise: any number of elements with any number of threads.
// The task: ./warpwise task grid_stride
#include "exercises/1_basics_and_pi/grid_stride/grid_stride.h"

__global__ void scale_and_add_grid_stride(float a, const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    // TODO 1: how many threads has the whole grid?
    // TODO 2: turn the `if` into a loop, in which the thread goes on to the elements that
    // nobody else takes.
    if (i < n) y[i] = a * x[i] + y[i];
}

void scale_and_add(float a, const float* d_x, float* d_y, int n, int blocks,
                   int threads_per_block) {
    scale_and_add_grid_stride<<<blocks, threads_per_block>>>(a, d_x, d_y, n);
}
