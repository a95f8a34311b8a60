// Wrong answer: takes the longer side for the length of a row
// Rejected by: adds matrices that are higher than wide
// Message: out of bounds: a thread reads
#include <cuda_runtime.h>

#include "exercises/1_basics_and_pi/matrix_add_index/matrix_add_index.h"

__global__ void add_elements(const float* a, const float* b, float* sum, int rows,
                             int cols) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) {
        const int i = row * max(rows, cols) + col;
        sum[i] = a[i] + b[i];
    }
}

void add_matrices(const float* d_a, const float* d_b, float* d_sum, int rows, int cols) {
    const dim3 block(16, 16);
    const dim3 grid((cols + 15) / 16, (rows + 15) / 16);
    add_elements<<<grid, block>>>(d_a, d_b, d_sum, rows, cols);
}
