// Correct answer: loops over rows and columns that turn once with this grid
#include <cuda_runtime.h>

#include "exercises/1_basics_and_pi/matrix_add_index/matrix_add_index.h"

__global__ void add_elements(const float* a, const float* b, float* sum, int rows,
                             int cols) {
    const int step_x = gridDim.x * blockDim.x;
    const int step_y = gridDim.y * blockDim.y;
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < rows; row += step_y) {
        for (int col = blockIdx.x * blockDim.x + threadIdx.x; col < cols; col += step_x) {
            sum[row * cols + col] = a[row * cols + col] + b[row * cols + col];
        }
    }
}

void add_matrices(const float* d_a, const float* d_b, float* d_sum, int rows, int cols) {
    const dim3 block(16, 16);
    const dim3 grid((cols + 15) / 16, (rows + 15) / 16);
    add_elements<<<grid, block>>>(d_a, d_b, d_sum, rows, cols);
}
