// Wrong answer: each block takes a run of elements, in which its threads stride
// Rejected by: shares the elements between several blocks
// Message: elements 768 and 1024 belong to two threads
#include "exercises/1_basics_and_pi/grid_stride/grid_stride.h"

__global__ void scale_and_add_grid_stride(float a, const float* x, float* y, int n) {
    const int chunk = (n + gridDim.x - 1) / gridDim.x;
    const int begin = blockIdx.x * chunk;
    const int end = min(begin + chunk, n);
    for (int i = begin + threadIdx.x; i < end; i += blockDim.x) y[i] = a * x[i] + y[i];
}

void scale_and_add(float a, const float* d_x, float* d_y, int n, int blocks, int threads_per_block) {
    scale_and_add_grid_stride<<<blocks, threads_per_block>>>(a, d_x, d_y, n);
}
