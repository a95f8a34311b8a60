// Solution: find the mistake.
//
// The distance from an element to the one below it is the length of a row, and a row has as
// many elements as the matrix has columns: row * cols + col. With row * rows + col the rows
// overlap when there are more columns than rows, and leave gaps and run past the end when
// there are fewer. Only for square matrices is it the same.
#include <cuda_runtime.h>

#include <algorithm>

#include "exercises/1_basics_and_pi/matrix_add_index/matrix_add_index.h"

__global__ void add_elements(const float* a, const float* b, float* sum, int rows,
                             int cols) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    const int first_row = blockIdx.y * blockDim.y + threadIdx.y;
    const int rows_of_grid = gridDim.y * blockDim.y;
    for (int row = first_row; row < rows; row += rows_of_grid) {
        const int i = row * cols + col;
        sum[i] = a[i] + b[i];
    }
}

void add_matrices(const float* d_a, const float* d_b, float* d_sum, int rows, int cols) {
    const dim3 block(16, 16);
    // A grid has at most 65,535 blocks in y. The kernel's loop takes the rows that are
    // left.
    const dim3 grid((cols + 15) / 16, std::min((rows + 15) / 16, 65535));
    add_elements<<<grid, block>>>(d_a, d_b, d_sum, rows, cols);
}
