// Wrong answer: one thread per row, as if all rows were short
// Rejected by: multiplies rows of equal lengths
// Message: the task asks for at most 8 steps
#include "exercises/4_examples/rows_of_all_lengths/rows_of_all_lengths.h"

#include <cuda_runtime.h>

__global__ void thread_per_row(const int* first, const int* cols, const float* values,
                               int rows, const float* x, float* y) {
    const int row = blockIdx.x * 256 + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int k = first[row]; k < first[row + 1]; ++k) sum += values[k] * x[cols[k]];
    y[row] = sum;
}

void multiply(const int* d_first, const int* d_cols, const float* d_values, int rows, int,
              const float* d_x, float* d_y) {
    if (rows == 0) return;
    thread_per_row<<<(rows + 255) / 256, 256>>>(d_first, d_cols, d_values, rows, d_x, d_y);
}
