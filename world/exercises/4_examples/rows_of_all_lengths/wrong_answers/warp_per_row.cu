// Wrong answer: one warp per row
// Rejected by: handles a row that many threads share
// Message: the task asks for at most 8 steps
#include "exercises/4_examples/rows_of_all_lengths/rows_of_all_lengths.h"

#include <cuda_runtime.h>

__global__ void warp_per_row(const int* first, const int* cols, const float* values,
                             int rows, const float* x, float* y) {
    const int row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= rows) return;
    float sum = 0;
    for (int k = first[row] + threadIdx.x % 32; k < first[row + 1]; k += 32)
        sum += values[k] * x[cols[k]];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (threadIdx.x % 32 == 0) y[row] = sum;
}

void multiply(const int* d_first, const int* d_cols, const float* d_values, int rows, int,
              const float* d_x, float* d_y) {
    if (rows == 0) return;
    warp_per_row<<<(rows + 7) / 8, 256>>>(d_first, d_cols, d_values, rows, d_x, d_y);
}
