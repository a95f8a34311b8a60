// Correct answer: 256 threads in a line; row and column in the tile by division
#include "exercises/3_optimization/transpose_any_shape/transpose_any_shape.h"

constexpr unsigned side = 32;
constexpr unsigned block_size = 256;

__global__ void transpose_tiles(const float* in, float* out, unsigned rows, unsigned cols) {
    __shared__ float tile[side * (side + 1)];
    const unsigned across = (cols + side - 1) / side;
    const unsigned r0 = side * (blockIdx.x / across);
    const unsigned c0 = side * (blockIdx.x % across);
    for (unsigned k = threadIdx.x; k < side * side; k += block_size) {
        const unsigned r = k / side, c = k % side;
        if (r0 + r >= rows || c0 + c >= cols) continue;
        tile[r * (side + 1) + c] = in[size_t{cols} * (r0 + r) + c0 + c];
    }
    __syncthreads();
    for (unsigned k = threadIdx.x; k < side * side; k += block_size) {
        const unsigned c = k / side, r = k % side;
        if (r0 + r >= rows || c0 + c >= cols) continue;
        out[size_t{rows} * (c0 + c) + r0 + r] = tile[r * (side + 1) + c];
    }
}

/// One block for each tile, counted row after row: a grid's y ends at 65535.
unsigned number_of_tiles(int rows, int cols) {
    const unsigned down = (static_cast<unsigned>(rows) + 31) / 32;
    const unsigned across = (static_cast<unsigned>(cols) + 31) / 32;
    return down * across;
}

void transpose(const float* d_in, float* d_out, int rows, int cols) {
    const unsigned tiles = number_of_tiles(rows, cols);
    if (tiles > 0) transpose_tiles<<<tiles, block_size>>>(d_in, d_out, rows, cols);
}
