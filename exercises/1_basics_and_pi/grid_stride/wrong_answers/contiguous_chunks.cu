// Wrong answer: each thread takes a run of elements of its own
// Rejected by: shares the elements between several blocks
// Message: elements 0 and 256 belong to two threads
#include "exercises/1_basics_and_pi/grid_stride/grid_stride.h"

__global__ void scale_and_add_grid_stride(float a, const float* x, float* y, int n) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int threads = gridDim.x * blockDim.x;
    const int chunk = (n + threads - 1) / threads;
    const int begin = min(thread * chunk, n);
    const int end = min(begin + chunk, n);
    for (int i = begin; i < end; ++i) y[i] = a * x[i] + y[i];
}

void scale_and_add(float a, const float* d_x, float* d_y, int n, int blocks, int threads_per_block) {
    scale_and_add_grid_stride<<<blocks, threads_per_block>>>(a, d_x, d_y, n);
}
