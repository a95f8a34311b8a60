// Wrong answer: the rows begin well, the warps begin next to the pivot as before
// Rejected by: stores whole sectors
// Message: bytes for each byte that they store
#include "exercises/4_examples/aligned_elimination/aligned_elimination.h"

constexpr int lanes = 32;
constexpr int warps = 8;  // of a block; each has a row at a time
constexpr int rows_of_a_block = 64;

size_t floats_from_row_to_row(int cols) { return (cols + 7) / 8 * 8; }

__global__ void eliminate_behind(float* a, size_t pitch, int rows, int cols, int column) {
    const int col = column + 1 + blockIdx.x * lanes + threadIdx.x;
    if (col <= column || col >= cols) return;

    const float pivot = a[column * pitch + column];
    const float above = a[column * pitch + col];
    const int first_row = blockIdx.y * rows_of_a_block;
    const int last_row = min(rows, first_row + rows_of_a_block);
    for (int row = first_row + threadIdx.y; row < last_row; row += warps) {
        if (row != column) a[row * pitch + col] -= a[row * pitch + column] / pivot * above;
    }
}

void eliminate(float* d_a, size_t pitch, int rows, int cols, int column) {
    const int first_col = column + 1;
    const int blocks_x = (cols - first_col + lanes - 1) / lanes;
    const int blocks_y = (rows + rows_of_a_block - 1) / rows_of_a_block;
    if (blocks_x == 0) return;
    const dim3 grid(blocks_x, blocks_y), block(lanes, warps);
    eliminate_behind<<<grid, block>>>(d_a, pitch, rows, cols, column);
}
