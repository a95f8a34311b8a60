// Wrong answer: multiplies x itself before it is added
// Rejected by: covers the array when the grid is large enough
// Message: are only to be read
#include "exercises/1_basics_and_pi/grid_stride/grid_stride.h"

#include <cuda_runtime.h>

__global__ void scale_and_add_grid_stride(float a, float* x, float* y, int n) {
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        x[i] *= a;
        y[i] += x[i];
    }
}

void scale_and_add(float a, const float* d_x, float* d_y, int n, int blocks,
                   int threads_per_block) {
    float* x = const_cast<float*>(d_x);
    scale_and_add_grid_stride<<<blocks, threads_per_block>>>(a, x, d_y, n);
}
