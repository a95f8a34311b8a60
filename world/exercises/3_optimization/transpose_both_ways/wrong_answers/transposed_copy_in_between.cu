// Wrong answer: a transposed copy in global memory, two kernels
// Rejected by: averages matrices of one tile and of several
// Message: cudaMalloc was called
#include "exercises/3_optimization/transpose_both_ways/transpose_both_ways.h"

#include <cuda_runtime.h>

constexpr int side = 32;       // of a tile
constexpr int block_rows = 8;  // rows of a block of threads

__global__ void transpose(const float* in, float* out, int n) {
    __shared__ float tile[side][side + 1];
    const int r = blockIdx.y * side, c = blockIdx.x * side, x = threadIdx.x;
    for (int y = threadIdx.y; y < side; y += block_rows) {
        if (r + y < n && c + x < n) tile[y][x] = in[static_cast<size_t>(r + y) * n + c + x];
    }
    __syncthreads();
    for (int y = threadIdx.y; y < side; y += block_rows) {
        if (c + y < n && r + x < n) out[size_t(c + y) * n + r + x] = tile[x][y];
    }
}

__global__ void average(float* a, const float* transposed, size_t count) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) a[i] = (a[i] + transposed[i]) / 2;
}

void make_symmetric(float* d_a, int n) {
    if (n == 0) return;
    const size_t count = static_cast<size_t>(n) * n;
    const int tiles = (n + side - 1) / side;
    float* transposed = nullptr;
    cudaMalloc(&transposed, count * sizeof(float));
    transpose<<<dim3(tiles, tiles), dim3(side, block_rows)>>>(d_a, transposed, n);
    average<<<static_cast<unsigned>((count + 255) / 256), 256>>>(d_a, transposed, count);
    cudaFree(transposed);
}
