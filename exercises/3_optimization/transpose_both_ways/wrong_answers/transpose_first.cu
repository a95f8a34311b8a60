// Wrong answer: transposes into a second matrix and averages in a second kernel: whole sectors, but more of them
// Rejected by: moves every element in once and out once
// Message: A block that has loaded two tiles has what it needs to store two
#include <cuda_runtime.h>

#include "exercises/3_optimization/transpose_both_ways/transpose_both_ways.h"

constexpr int side = 32;       // of a tile
constexpr int block_rows = 8;  // rows of a block of threads; each thread takes side / block_rows elements

__global__ void transpose(const float* a, float* transposed, int n) {
    __shared__ float tile[side][side + 1];
    const int tile_row = blockIdx.y * side;
    const int tile_col = blockIdx.x * side;
    const int x = threadIdx.x;
    for (int y = threadIdx.y; y < side; y += block_rows) {
        if (tile_row + y < n && tile_col + x < n) {
            tile[y][x] = a[static_cast<size_t>(tile_row + y) * n + tile_col + x];
        }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < side; y += block_rows) {
        if (tile_col + y < n && tile_row + x < n) {
            transposed[static_cast<size_t>(tile_col + y) * n + tile_row + x] = tile[x][y];
        }
    }
}

__global__ void average(float* a, const float* transposed, size_t count) {
    const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) a[i] = (a[i] + transposed[i]) / 2;
}

void make_symmetric(float* d_a, int n) {
    if (n == 0) return;
    const size_t count = size_t(n) * n;
    void* transposed = nullptr;
    cudaMalloc(&transposed, count * sizeof(float));
    const int tiles = (n + side - 1) / side;
    transpose<<<dim3(tiles, tiles), dim3(side, block_rows)>>>(d_a, static_cast<float*>(transposed), n);
    average<<<static_cast<unsigned>((count + 255) / 256), 256>>>(d_a, static_cast<float*>(transposed), count);
    cudaFree(transposed);
}
