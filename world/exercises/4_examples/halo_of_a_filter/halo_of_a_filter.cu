// Exercise: load a tile of an image, with the halo that a filter needs.
// The task: ./warpwise task halo_of_a_filter
#include <cuda_runtime.h>

#include "exercises/4_examples/halo_of_a_filter/halo_of_a_filter.h"

constexpr int largest_side = 2 * largest_radius + 1;
constexpr int block_cols = 32, block_rows = 8;

__constant__ float filter_weights[largest_side * largest_side];

/// The index from 0 to count - 1 that is nearest to `index`.
__device__ int clamped(int index, int count) { return min(max(index, 0), count - 1); }

__global__ void filter_tile(const float* in, float* out, int rows, int cols, int radius) {
    extern __shared__ float tile[];  // halo_rows x halo_cols pixels, row after row
    [[maybe_unused]] const int halo_cols = block_cols + 2 * radius;
    [[maybe_unused]] const int halo_rows = block_rows + 2 * radius;
    const int first_row = blockIdx.y * block_rows, first_col = blockIdx.x * block_cols;

    // TODO 1: fill the tile. tile[i * halo_cols + j] is the pixel of row first_row - radius
    // + i and column first_col - radius + j, clamped at the border of the image.

    // TODO 2: no thread may read the tile before all of it has been written.

    const int row = first_row + threadIdx.y, col = first_col + threadIdx.x;
    if (row >= rows || col >= cols) return;
    float sum = 0;
    // TODO 3: add up the pixels around (row, col), from the tile, each times its weight.
    out[row * cols + col] = sum;
}

void filter_image(const float* d_in, float* d_out, int rows, int cols, const float* weights,
                  int radius) {
    if (rows == 0 || cols == 0) return;
    const int side = 2 * radius + 1;
    cudaMemcpyToSymbol(filter_weights, weights, side * side * sizeof(float));
    const dim3 block(block_cols, block_rows);
    const dim3 grid((cols + block_cols - 1) / block_cols,
                    (rows + block_rows - 1) / block_rows);
    const int shared_bytes =
        (block_cols + 2 * radius) * (block_rows + 2 * radius) * sizeof(float);
    filter_tile<<<grid, block, shared_bytes>>>(d_in, d_out, rows, cols, radius);
}
