// Solution: any number of elements with any number of threads.
//
// The grid covers a range of the array that is as long as the grid has threads, and then
// moves on by that length until the array is covered. In every turn neighboring threads
// take neighboring elements, so a warp reads and writes one contiguous range of memory. If
// each thread took a run of consecutive elements instead, the 32 lanes of a warp would
// touch 32 places far apart from each other at a time.
//
// The loop condition is the guard: a thread whose first index is past the end does nothing.
#include "exercises/1_basics_and_pi/grid_stride/grid_stride.h"

__global__ void scale_and_add_grid_stride(float a, const float* x, float* y, int n) {
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    const int stride = gridDim.x * blockDim.x;  // threads in the whole grid
    for (int i = first; i < n; i += stride) y[i] = a * x[i] + y[i];
}

void scale_and_add(float a, const float* d_x, float* d_y, int n, int blocks,
                   int threads_per_block) {
    scale_and_add_grid_stride<<<blocks, threads_per_block>>>(a, d_x, d_y, n);
}
