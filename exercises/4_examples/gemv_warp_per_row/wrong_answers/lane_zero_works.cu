// Wrong answer: lane 0 does it all, the other 31 add nothing
// Rejected by: multiplies rows of one float for each lane
// Message: was read by 1 thread of 1 warp
#include "exercises/4_examples/gemv_warp_per_row/gemv_warp_per_row.h"

#include <cuda_runtime.h>

constexpr int lanes = 32;
constexpr int warps = 8;  // of a block, and so rows of a block

__global__ void a_warp_for_each_row(const float* matrix, size_t pitch, int rows, int cols, const float* x, float* y) {
    const int lane = threadIdx.x % lanes;
    const int row = blockIdx.x * warps + threadIdx.x / lanes;
    if (row >= rows) return;

    float sum = 0;
    for (int col = 0; col < cols && lane == 0; ++col) sum += matrix[row * pitch + col] * x[col];

    for (int distance = lanes / 2; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffff, sum, distance);

    if (lane == 0) y[row] = sum;
}

void multiply(const float* d_matrix, size_t pitch, int rows, int cols, const float* d_x, float* d_y) {
    if (rows == 0) return;
    const int blocks = (rows + warps - 1) / warps;
    a_warp_for_each_row<<<blocks, warps * lanes>>>(d_matrix, pitch, rows, cols, d_x, d_y);
}
