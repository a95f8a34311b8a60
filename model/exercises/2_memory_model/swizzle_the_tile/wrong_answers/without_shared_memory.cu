// Wrong answer: stores columns directly
// Rejected by: takes all numbers through shared memory
// Message: were stored to shared memory
#include "exercises/2_memory_model/swizzle_the_tile/swizzle_the_tile.h"

__global__ void adjoint_tiles(const float2* matrix, float2* adjoint, int rows, int cols) {
    const int tiles_across = (cols - 1) / side + 1;
    const int top = blockIdx.x / tiles_across * side,
              left = blockIdx.x % tiles_across * side;
    for (int y = threadIdx.y; y < side; y += blockDim.y) {
        const int row = top + y, col = left + threadIdx.x;
        if (row >= rows || col >= cols) continue;
        const float2 number = matrix[static_cast<size_t>(row) * cols + col];
        adjoint[static_cast<size_t>(col) * rows + row] = make_float2(number.x, -number.y);
    }
}

void make_adjoint(const float2* d_matrix, float2* d_adjoint, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    adjoint_tiles<<<((rows - 1) / side + 1) * ((cols - 1) / side + 1), dim3(32, 8)>>>(
        d_matrix, d_adjoint, rows, cols);
}
