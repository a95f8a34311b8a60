// Wrong answer: padded tiles of 16 x 16, four of them one after the other
// Rejected by: makes adjoints of any shape
// Message: barriers
#include "exercises/2_memory_model/swizzle_the_tile/swizzle_the_tile.h"

__global__ void adjoint_tiles(const float2* matrix, float2* adjoint, int rows, int cols) {
    __shared__ float2 tile[16][17];
    const int tiles_across = (cols - 1) / side + 1;
    for (int part = 0; part < 4; ++part) {
        const int top = blockIdx.x / tiles_across * side + part / 2 * 16;
        const int left = blockIdx.x % tiles_across * side + part % 2 * 16;
        const int x = threadIdx.x, y = threadIdx.y;
        if (top + y < rows && left + x < cols)
            tile[y][x] = matrix[static_cast<size_t>(top + y) * cols + left + x];
        __syncthreads();
        if (top + x < rows && left + y < cols) {
            const float2 number = tile[x][y];
            adjoint[static_cast<size_t>(left + y) * rows + top + x] =
                make_float2(number.x, -number.y);
        }
        __syncthreads();
    }
}

void make_adjoint(const float2* d_matrix, float2* d_adjoint, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    const int tiles = ((rows - 1) / side + 1) * ((cols - 1) / side + 1);
    adjoint_tiles<<<tiles, dim3(16, 16)>>>(d_matrix, d_adjoint, rows, cols);
}
