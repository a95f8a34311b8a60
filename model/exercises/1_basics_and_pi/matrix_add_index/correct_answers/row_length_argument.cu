// Correct answer: the length of a row is passed as an argument of its own
#include <cuda_runtime.h>

#include "exercises/1_basics_and_pi/matrix_add_index/matrix_add_index.h"

__global__ void add_elements(const float* a, const float* b, float* sum, int rows, int cols,
                             int pitch) {
    const unsigned col = blockIdx.x * 16u + threadIdx.x;
    const unsigned row = blockIdx.y * 16u + threadIdx.y;
    if (col < unsigned(cols) && row < unsigned(rows)) {
        const unsigned i = row * pitch + col;
        const float left = a[i];
        const float right = b[i];
        sum[i] = left + right;
    }
}

void add_matrices(const float* d_a, const float* d_b, float* d_sum, int rows, int cols) {
    if (rows <= 0 || cols <= 0) return;
    const dim3 grid((cols - 1) / 16 + 1, (rows - 1) / 16 + 1);
    add_elements<<<grid, dim3(16, 16)>>>(d_a, d_b, d_sum, rows, cols, cols);
}
