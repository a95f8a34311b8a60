// Wrong answer: only block 0 works, with a stride of one block
// Rejected by: shares the elements between several blocks
// Message: asks for at least 256 threads
#include "exercises/1_basics_and_pi/grid_stride/grid_stride.h"

__global__ void scale_and_add_grid_stride(float a, const float* x, float* y, int n) {
    if (blockIdx.x > 0) return;
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = a * x[i] + y[i];
}

void scale_and_add(float a, const float* d_x, float* d_y, int n, int blocks, int threads_per_block) {
    scale_and_add_grid_stride<<<blocks, threads_per_block>>>(a, d_x, d_y, n);
}
