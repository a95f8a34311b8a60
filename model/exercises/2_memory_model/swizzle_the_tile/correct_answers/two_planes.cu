// Correct answer: two arrays of floats, in a grid of two dimensions
#include "exercises/2_memory_model/swizzle_the_tile/swizzle_the_tile.h"

__global__ void adjoint_tiles(const float2* matrix, float2* adjoint, int rows, int cols) {
    __shared__ float real[32][32], imaginary[32][32];
    const int x = threadIdx.x, row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
    for (int y = threadIdx.y; y < 32; y += blockDim.y) {
        if (row0 + y >= rows || col0 + x >= cols) continue;
        const float2 number = matrix[static_cast<size_t>(row0 + y) * cols + col0 + x];
        real[y][x ^ y] = number.x;
        imaginary[y][(x + y) % 32] = -number.y;
    }
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += blockDim.y) {
        if (row0 + x >= rows || col0 + y >= cols) continue;
        adjoint[static_cast<size_t>(col0 + y) * rows + row0 + x] =
            make_float2(real[x][y ^ x], imaginary[x][(x + y) % 32]);
    }
}

void make_adjoint(const float2* d_matrix, float2* d_adjoint, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    const dim3 grid((cols + 31) / 32, (rows + 31) / 32);
    adjoint_tiles<<<grid, dim3(32, 16)>>>(d_matrix, d_adjoint, rows, cols);
}
