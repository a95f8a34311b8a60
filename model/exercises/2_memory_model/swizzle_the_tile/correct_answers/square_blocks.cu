// Correct answer: blocks of 16 x 16 threads, whose half warps take different rows
#include "exercises/2_memory_model/swizzle_the_tile/swizzle_the_tile.h"

__global__ void adjoint_tiles(const float2* matrix, float2* adjoint, int rows, int cols) {
    __shared__ float2 tile[32 * 32];
    const int across = (cols + 31) / 32;
    const int row0 = blockIdx.x / across * 32, col0 = blockIdx.x % across * 32;
    const int x = threadIdx.x, y = threadIdx.y;
    for (int part = 0; part < 4; ++part) {
        const int r = y + part / 2 * 16, c = x + part % 2 * 16;
        if (row0 + r < rows && col0 + c < cols)
            tile[32 * r + (c ^ r)] =
                matrix[static_cast<size_t>(row0 + r) * cols + col0 + c];
    }
    __syncthreads();
    for (int part = 0; part < 4; ++part) {
        const int r = x + part / 2 * 16, c = y + part % 2 * 16;
        if (row0 + r >= rows || col0 + c >= cols) continue;
        const float2 number = tile[32 * r + (c ^ r)];
        adjoint[static_cast<size_t>(col0 + c) * rows + row0 + r] =
            make_float2(number.x, -number.y);
    }
}

void make_adjoint(const float2* d_matrix, float2* d_adjoint, int rows, int cols) {
    const int tiles = (rows + 31) / 32 * ((cols + 31) / 32);
    if (tiles > 0) adjoint_tiles<<<tiles, dim3(16, 16)>>>(d_matrix, d_adjoint, rows, cols);
}
