// Wrong answer: each thread forms the nine sums along rows for itself
// Rejected by: makes few loads for a pixel
// Message: loads from global and shared memory
#include <cuda_runtime.h>

#include "exercises/4_examples/separable_filter/separable_filter.h"

constexpr int block_cols = 32, block_rows = 8;

__constant__ float down_weights[taps], across_weights[taps];

/// The index from 0 to count - 1 that is nearest to `index`.
__device__ int clamped(int index, int count) { return min(max(index, 0), count - 1); }

__global__ void filter_both_ways(const float* in, float* out, int rows, int cols) {
    const int row = blockIdx.x * block_rows + threadIdx.y;
    const int col = blockIdx.y * block_cols + threadIdx.x;
    if (row >= rows || col >= cols) return;
    float sum = 0;
    for (int i = 0; i < taps; ++i) {
        float of_row = 0;
        for (int j = 0; j < taps; ++j) {
            const int from_row = clamped(row + i - radius, rows);
            const int from_col = clamped(col + j - radius, cols);
            of_row += across_weights[j] * in[from_row * cols + from_col];
        }
        sum += down_weights[i] * of_row;
    }
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
    filter_both_ways<<<grid, block>>>(d_in, d_out, rows, cols);
}
