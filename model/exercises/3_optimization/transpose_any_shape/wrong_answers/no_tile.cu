// Wrong answer: stores straight to the output, scattered
// Rejected by: still reads and writes whole sectors without bank conflicts
// Message: no shared memory was used
#include "exercises/3_optimization/transpose_any_shape/transpose_any_shape.h"

constexpr int side = 32;       // of a tile
constexpr int block_rows = 8;  // rows of a block of threads

__global__ void transpose_tiles(const float* in, float* out, int rows, int cols) {
    const int col = blockIdx.x * side + threadIdx.x;
    for (int y = threadIdx.y; y < side; y += block_rows) {
        const int row = blockIdx.y * side + y;
        if (row < rows && col < cols) {
            out[size_t(col) * rows + row] = in[size_t(row) * cols + col];
        }
    }
}

void transpose(const float* d_in, float* d_out, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    const dim3 grid((cols + side - 1) / side, (rows + side - 1) / side);
    transpose_tiles<<<grid, dim3(side, block_rows)>>>(d_in, d_out, rows, cols);
}
