// Correct answer: returns early, and counts elements in size_t
#include <cuda_runtime.h>

#include "exercises/1_basics_and_pi/matrix_add_index/matrix_add_index.h"

__global__ void add_elements(const float* a, const float* b, float* sum, int rows,
                             int cols) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= cols || y >= rows) return;
    const size_t index = static_cast<size_t>(y) * cols + x;
    sum[index] = a[index] + b[index];
}

void add_matrices(const float* d_a, const float* d_b, float* d_sum, int rows, int cols) {
    const dim3 block(16, 16);
    const dim3 grid((cols + 15) / 16, (rows + 15) / 16);
    add_elements<<<grid, block>>>(d_a, d_b, d_sum, rows, cols);
}
