// Solution: an elimination whose requests are whole sectors.
//
// Two things decide where a request begins: the row, and the column of lane 0. A row begins
// at a multiple of 32 bytes if the distance from row to row is a multiple of 8 floats. (32
// floats, as cudaMallocPitch would have it, or more, are just as good, for long rows.) And
// lane 0 gets the last multiple of 32 columns that is not behind the first column to work
// on. The lanes left of that one have nothing to do, 31 of them at most, in one warp of
// each row. For that all the others touch four sectors instead of five.
//
// If the first warp begins further to the left, there may be a block more; without it the
// last columns would be missing.
#include "exercises/4_examples/aligned_elimination/aligned_elimination.h"

constexpr int lanes = 32;
constexpr int warps = 8;  // of a block; each has a row at a time
constexpr int rows_of_a_block = 64;

size_t floats_from_row_to_row(int cols) { return (cols + 7) / 8 * 8; }

__global__ void eliminate_behind(float* a, size_t pitch, int rows, int cols, int column) {
    const int col = (column + 1) / lanes * lanes + blockIdx.x * lanes + threadIdx.x;
    if (col <= column || col >= cols) return;

    const float pivot = a[column * pitch + column];
    const float above = a[column * pitch + col];
    const int first_row = blockIdx.y * rows_of_a_block;
    for (int row = first_row + threadIdx.y; row < rows && row < first_row + rows_of_a_block;
         row += warps) {
        if (row != column) a[row * pitch + col] -= a[row * pitch + column] / pivot * above;
    }
}

void eliminate(float* d_a, size_t pitch, int rows, int cols, int column) {
    const int first_col = (column + 1) / lanes * lanes;
    const int blocks_x = (cols - first_col + lanes - 1) / lanes;
    const int blocks_y = (rows + rows_of_a_block - 1) / rows_of_a_block;
    if (blocks_x == 0) return;
    eliminate_behind<<<dim3(blocks_x, blocks_y), dim3(lanes, warps)>>>(d_a, pitch, rows,
                                                                       cols, column);
}
