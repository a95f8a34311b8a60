// Correct answer: the image between the launches is transposed by a tile
#include <cuda_runtime.h>

#include "exercises/4_examples/separable_filter/separable_filter.h"

constexpr int block_cols = 32, block_rows = 32;

__constant__ float down_weights[taps], across_weights[taps];

/// The index from 0 to count - 1 that is nearest to `index`.
__device__ int clamped(int index, int count) { return min(max(index, 0), count - 1); }

/// Filters along the rows of `in`, and writes the result transposed.
template <bool IsFirst>
__global__ void filter_and_transpose(const float* in, float* out, int rows, int cols) {
    __shared__ float tile[block_rows][block_cols + 1];
    const int first_row = blockIdx.x * block_rows, first_col = blockIdx.y * block_cols;
    const int row = first_row + threadIdx.y, col = first_col + threadIdx.x;
    if (row < rows && col < cols) {
        float sum = 0;
        for (int j = 0; j < taps; ++j)
            sum += (IsFirst ? across_weights[j] : down_weights[j]) *
                   in[row * cols + clamped(col + j - radius, cols)];
        tile[threadIdx.y][threadIdx.x] = sum;
    }
    __syncthreads();
    const int to_row = first_col + threadIdx.y, to_col = first_row + threadIdx.x;
    if (to_row < cols && to_col < rows)
        out[to_row * rows + to_col] = tile[threadIdx.x][threadIdx.y];
}

void filter_separable(const float* d_in, float* d_out, int rows, int cols,
                      const float* down, const float* across) {
    if (rows == 0 || cols == 0) return;
    cudaMemcpyToSymbol(down_weights, down, taps * sizeof(float));
    cudaMemcpyToSymbol(across_weights, across, taps * sizeof(float));
    const dim3 block(block_cols, block_rows);
    const int across_tiles = (cols + block_cols - 1) / block_cols;
    const int down_tiles = (rows + block_rows - 1) / block_rows;
    float* d_between = nullptr;
    cudaMalloc(&d_between, static_cast<size_t>(rows) * cols * sizeof(float));
    filter_and_transpose<true>
        <<<dim3(down_tiles, across_tiles), block>>>(d_in, d_between, rows, cols);
    filter_and_transpose<false>
        <<<dim3(across_tiles, down_tiles), block>>>(d_between, d_out, cols, rows);
    cudaFree(d_between);
}
