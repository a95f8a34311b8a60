// Wrong answer: one thread per row
// Rejected by: multiplies rows of whole rounds
// Message: the task asks for
#include "exercises/4_examples/remainder_of_a_row/remainder_of_a_row.h"

#include <cuda_runtime.h>

__global__ void thread_per_row(const int* first, const int* cols, const float* values,
                               int rows, const float* x, float* y) {
    const int row = blockIdx.x * 32 + threadIdx.x;
    if (threadIdx.x >= 32 || row >= rows) return;
    float sum = 0;
    for (int k = first[row]; k < first[row + 1]; ++k) sum += values[k] * x[cols[k]];
    y[row] = sum;
}

void multiply(const int* d_first, const int* d_cols, const float* d_values, int rows,
              const float* d_x, float* d_y) {
    if (rows == 0) return;
    thread_per_row<<<(rows + 31) / 32, 256>>>(d_first, d_cols, d_values, rows, d_x, d_y);
}
