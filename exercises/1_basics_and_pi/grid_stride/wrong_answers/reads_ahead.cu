// Wrong answer: loads the next element before it knows that there is one
// Rejected by: stays inside the arrays
// Message: a thread reads
#include "exercises/1_basics_and_pi/grid_stride/grid_stride.h"

__global__ void scale_and_add_grid_stride(float a, const float* x, float* y, int n) {
    const int stride = gridDim.x * blockDim.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float next = x[i];
    while (i < n) {
        const float now = next;
        next = x[i + stride];
        y[i] = a * now + y[i];
        i += stride;
    }
}

void scale_and_add(float a, const float* d_x, float* d_y, int n, int blocks, int threads_per_block) {
    scale_and_add_grid_stride<<<blocks, threads_per_block>>>(a, d_x, d_y, n);
}
