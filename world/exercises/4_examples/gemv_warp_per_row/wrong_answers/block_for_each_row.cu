// Wrong answer: a block for each row, with a tree in shared memory
// Rejected by: multiplies rows of one float for each lane
// Message: barriers, at most 0 allowed
#include "exercises/4_examples/gemv_warp_per_row/gemv_warp_per_row.h"

#include <cuda_runtime.h>

__global__ void a_block_for_each_row(const float* matrix, size_t pitch, int cols,
                                     const float* x, float* y) {
    __shared__ float part[256];
    const float* const row = matrix + blockIdx.x * pitch;
    float sum = 0;
    for (int col = threadIdx.x; col < cols; col += 256) sum += row[col] * x[col];
    part[threadIdx.x] = sum;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (static_cast<int>(threadIdx.x) < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}

void multiply(const float* d_matrix, size_t pitch, int rows, int cols, const float* d_x,
              float* d_y) {
    if (rows == 0) return;
    a_block_for_each_row<<<rows, 256>>>(d_matrix, pitch, cols, d_x, d_y);
}
