// Wrong answer: 16 lanes for each row, two rows per warp
// Rejected by: multiplies rows of one float for each lane
// Message: was read by a warp that read another row as well
#include "exercises/4_examples/gemv_warp_per_row/gemv_warp_per_row.h"

#include <cuda_runtime.h>

__global__ void half_warps(const float* matrix, size_t pitch, int rows, int cols,
                           const float* x, float* y) {
    const int lane = threadIdx.x % 16;
    const int row = blockIdx.x * 16 + threadIdx.x / 16;
    float sum = 0;
    if (row < rows) {
        for (int col = lane; col < cols; col += 16)
            sum += matrix[row * pitch + col] * x[col];
    }
    for (int distance = 8; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, distance, 16);
    if (row < rows && lane == 0) y[row] = sum;
}

void multiply(const float* d_matrix, size_t pitch, int rows, int cols, const float* d_x,
              float* d_y) {
    if (rows == 0) return;
    half_warps<<<(rows + 15) / 16, 256>>>(d_matrix, pitch, rows, cols, d_x, d_y);
}
