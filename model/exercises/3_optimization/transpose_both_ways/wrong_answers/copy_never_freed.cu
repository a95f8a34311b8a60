// Wrong answer: averages into a copy that is copied back and never freed
// Rejected by: averages matrices of one tile and of several
// Message: with cudaMemcpyDeviceToDevice
#include "exercises/3_optimization/transpose_both_ways/transpose_both_ways.h"

#include <cuda_runtime.h>

constexpr int side = 32;       // of a tile
constexpr int block_rows = 8;  // rows of a block of threads

__global__ void average(const float* a, float* out, int n) {
    const int row = blockIdx.y * side + threadIdx.y;
    const int col = blockIdx.x * side + threadIdx.x;
    if (row >= n || col >= n) return;
    const size_t here = static_cast<size_t>(row) * n + col;
    out[here] = (a[here] + a[static_cast<size_t>(col) * n + row]) / 2;
}

void make_symmetric(float* d_a, int n) {
    if (n == 0) return;
    const int tiles = (n + side - 1) / side;
    const size_t bytes = static_cast<size_t>(n) * n * sizeof(float);
    float* copy = nullptr;
    cudaMalloc(&copy, bytes);
    average<<<dim3(tiles, tiles), dim3(side, side)>>>(d_a, copy, n);
    cudaMemcpy(d_a, copy, bytes, cudaMemcpyDeviceToDevice);
}
