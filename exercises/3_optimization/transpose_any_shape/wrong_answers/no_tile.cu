// Wrong answer: drops the tile together with its guards: right for all shapes, and every store is scattered
// Rejected by: still reads and writes whole sectors without bank conflicts
// Message: global stores: 32 sectors/request
#include "exercises/3_optimization/transpose_any_shape/transpose_any_shape.h"

__global__ void transpose_elements(const float* in, float* out, int rows, int cols) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && col < cols)
        out[static_cast<size_t>(col) * rows + row] = in[static_cast<size_t>(row) * cols + col];
}

void transpose(const float* d_in, float* d_out, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    const dim3 block(32, 8);
    const dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
    transpose_elements<<<grid, block>>>(d_in, d_out, rows, cols);
}
