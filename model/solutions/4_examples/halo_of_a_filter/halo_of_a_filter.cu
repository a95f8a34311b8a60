// Solution: load a tile of an image, with the halo that a filter needs.
//
// The tile with its halo has more pixels than the block has threads, and its sides are no
// multiples of the block's. So two loops go through its rows and columns, in steps of the
// block. Neighboring threads take neighboring columns, and whichever thread a pixel falls
// to loads it, be it the tile's own, one of the four sides, or a corner.
//
// Each pixel is clamped when it is loaded. After that, the sum need not know where the
// image ends. Threads outside of the image have no pixel to compute, but they load their
// share of the tile and pass the barrier before they leave.
#include <cuda_runtime.h>

#include "exercises/4_examples/halo_of_a_filter/halo_of_a_filter.h"

constexpr int largest_side = 2 * largest_radius + 1;
constexpr int block_cols = 32, block_rows = 8;

__constant__ float filter_weights[largest_side * largest_side];

/// The index from 0 to count - 1 that is nearest to `index`.
__device__ int clamped(int index, int count) { return min(max(index, 0), count - 1); }

__global__ void filter_tile(const float* in, float* out, int rows, int cols, int radius) {
    extern __shared__ float tile[];  // halo_rows x halo_cols pixels, row after row
    const int halo_cols = block_cols + 2 * radius, halo_rows = block_rows + 2 * radius;
    const int first_row = blockIdx.y * block_rows, first_col = blockIdx.x * block_cols;
    for (int i = threadIdx.y; i < halo_rows; i += block_rows) {
        const int from_row = clamped(first_row - radius + i, rows);
        for (int j = threadIdx.x; j < halo_cols; j += block_cols) {
            const int from_col = clamped(first_col - radius + j, cols);
            tile[i * halo_cols + j] = in[from_row * cols + from_col];
        }
    }
    __syncthreads();
    const int row = first_row + threadIdx.y, col = first_col + threadIdx.x;
    if (row >= rows || col >= cols) return;
    const int side = 2 * radius + 1;
    float sum = 0;
    for (int i = 0; i < side; ++i) {
        for (int j = 0; j < side; ++j) {
            const float pixel = tile[(threadIdx.y + i) * halo_cols + threadIdx.x + j];
            sum += filter_weights[i * side + j] * pixel;
        }
    }
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
