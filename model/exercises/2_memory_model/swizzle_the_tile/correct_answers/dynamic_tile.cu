// Correct answer: dynamic shared memory, a one-dimensional block of 512 threads
#include "exercises/2_memory_model/swizzle_the_tile/swizzle_the_tile.h"

extern __shared__ float2 numbers[];

__device__ int place_of(int row, int col) { return row * side + (col ^ row); }

__global__ void adjoint_tiles(const float2* matrix, float2* adjoint, int rows, int cols) {
    const int across = (cols + 31) / 32;
    const int row0 = blockIdx.x / across * 32, col0 = blockIdx.x % across * 32;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int r = warp; r < 32; r += blockDim.x / 32)
        if (row0 + r < rows && col0 + lane < cols)
            numbers[place_of(r, lane)] = matrix[(size_t)(row0 + r) * cols + col0 + lane];
    __syncthreads();
    for (int c = warp; c < 32; c += blockDim.x / 32)
        if (row0 + lane < rows && col0 + c < cols) {
            float2 z = numbers[place_of(lane, c)];
            z.y = -z.y;
            adjoint[(size_t)(col0 + c) * rows + row0 + lane] = z;
        }
}

void make_adjoint(const float2* d_matrix, float2* d_adjoint, int rows, int cols) {
    const int tiles = (rows + 31) / 32 * ((cols + 31) / 32);
    if (tiles > 0) adjoint_tiles<<<tiles, 512, 8192>>>(d_matrix, d_adjoint, rows, cols);
}
