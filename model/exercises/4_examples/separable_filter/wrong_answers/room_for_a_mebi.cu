// Wrong answer: room for 2^20 pixels between the launches
// Rejected by: handles a tall image
// Message: out of bounds
#include <cuda_runtime.h>

#include "exercises/4_examples/separable_filter/separable_filter.h"

constexpr int block_cols = 32, block_rows = 8;

__constant__ float down_weights[taps], across_weights[taps];

/// The index from 0 to count - 1 that is nearest to `index`.
__device__ int clamped(int index, int count) { return min(max(index, 0), count - 1); }

__global__ void filter_across(const float* in, float* out, int rows, int cols) {
    const int row = blockIdx.x * block_rows + threadIdx.y;
    const int col = blockIdx.y * block_cols + threadIdx.x;
    if (row >= rows || col >= cols) return;
    float sum = 0;
    for (int j = 0; j < taps; ++j)
        sum += across_weights[j] * in[row * cols + clamped(col + j - radius, cols)];
    out[row * cols + col] = sum;
}

__global__ void filter_down(const float* in, float* out, int rows, int cols) {
    const int row = blockIdx.x * block_rows + threadIdx.y;
    const int col = blockIdx.y * block_cols + threadIdx.x;
    if (row >= rows || col >= cols) return;
    float sum = 0;
    for (int i = 0; i < taps; ++i)
        sum += down_weights[i] * in[clamped(row + i - radius, rows) * cols + col];
    out[row * cols + col] = sum;
}

void filter_separable(const float* d_in, float* d_out, int rows, int cols,
                      const float* down, const float* across) {
    if (rows == 0 || cols == 0) return;
    cudaMemcpyToSymbol(down_weights, down, taps * sizeof(float));
    cudaMemcpyToSymbol(across_weights, across, taps * sizeof(float));
    const dim3 block(block_cols, block_rows);
    const dim3 grid((rows + block_rows - 1) / block_rows,
                    (cols + block_cols - 1) / block_cols);
    float* d_between = nullptr;
    cudaMalloc(&d_between, (1 << 20) * sizeof(float));
    filter_across<<<grid, block>>>(d_in, d_between, rows, cols);
    filter_down<<<grid, block>>>(d_between, d_out, rows, cols);
    cudaFree(d_between);
}
