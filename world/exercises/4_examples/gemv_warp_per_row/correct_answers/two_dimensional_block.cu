// Correct answer: blocks of 32 x 8 threads and a butterfly of shuffles
#include "exercises/4_examples/gemv_warp_per_row/gemv_warp_per_row.h"

#include <cuda_runtime.h>

__global__ void gemv(const float* __restrict__ a, size_t pitch, int rows, int cols,
                     const float* __restrict__ x, float* __restrict__ y) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    const float* const a_row = a + row * pitch;
    float dot = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 32) dot = fmaf(a_row[c], x[c], dot);
#pragma unroll
    for (int mask = 16; mask >= 1; mask >>= 1)
        dot += __shfl_xor_sync(0xffffffffu, dot, mask);
    if (threadIdx.x == 0) y[row] = dot;
}

void multiply(const float* d_matrix, size_t pitch, int rows, int cols, const float* d_x,
              float* d_y) {
    if (rows <= 0) return;
    const dim3 block(32, 8);
    gemv<<<(rows + block.y - 1) / block.y, block>>>(d_matrix, pitch, rows, cols, d_x, d_y);
}
