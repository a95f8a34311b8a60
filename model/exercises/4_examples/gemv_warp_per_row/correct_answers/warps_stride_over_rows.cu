// Correct answer: a grid that strides over the rows if there are very many
#include "exercises/4_examples/gemv_warp_per_row/gemv_warp_per_row.h"

#include <cuda_runtime.h>

#include <algorithm>

constexpr unsigned all_lanes = 0xffffffff;

__global__ void warps_stride_over_rows(const float* matrix, size_t pitch, int rows,
                                       int cols, const float* x, float* y) {
    const int lane = threadIdx.x % 32;
    const int step = gridDim.x * 8;
    for (int row = blockIdx.x * 8 + threadIdx.x / 32; row < rows; row += step) {
        float sum = 0;
        for (int col = lane; col < cols; col += 32)
            sum += matrix[row * pitch + col] * x[col];
        sum += __shfl_down_sync(all_lanes, sum, 16);
        sum += __shfl_down_sync(all_lanes, sum, 8);
        sum += __shfl_down_sync(all_lanes, sum, 4);
        sum += __shfl_down_sync(all_lanes, sum, 2);
        sum += __shfl_down_sync(all_lanes, sum, 1);
        if (lane == 0) y[row] = sum;
    }
}

void multiply(const float* d_matrix, size_t pitch, int rows, int cols, const float* d_x,
              float* d_y) {
    if (rows == 0) return;
    const int blocks = std::min((rows + 7) / 8, 1 << 20);
    warps_stride_over_rows<<<blocks, 256>>>(d_matrix, pitch, rows, cols, d_x, d_y);
}
