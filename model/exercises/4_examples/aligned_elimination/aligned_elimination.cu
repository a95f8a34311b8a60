// Exercise: an elimination whose rows and warps begin at unaligned addresses.
// The task: ./warpwise task aligned_elimination
#include "exercises/4_examples/aligned_elimination/aligned_elimination.h"

constexpr int lanes = 32;
constexpr int warps = 8;  // per block; each warp handles one row at a time
constexpr int rows_of_a_block = 64;

// TODO 1: let every row begin at a multiple of 32 bytes.
size_t floats_from_row_to_row(int cols) { return cols; }

__global__ void eliminate_behind(float* a, size_t pitch, int rows, int cols, int column) {
    // TODO 2: let every warp begin at a multiple of 32 columns. Which lanes then have a
    // column that must not change?
    const int col = column + 1 + blockIdx.x * lanes + threadIdx.x;
    if (col >= cols) return;

    const float pivot = a[column * pitch + column];
    const float above = a[column * pitch + col];
    const int first_row = blockIdx.y * rows_of_a_block;
    for (int row = first_row + threadIdx.y; row < rows && row < first_row + rows_of_a_block;
         row += warps) {
        if (row != column) a[row * pitch + col] -= a[row * pitch + column] / pivot * above;
    }
}

void eliminate(float* d_a, size_t pitch, int rows, int cols, int column) {
    // TODO 3: which columns do the blocks have to cover now?
    const int blocks_x = (cols - (column + 1) + lanes - 1) / lanes;
    const int blocks_y = (rows + rows_of_a_block - 1) / rows_of_a_block;
    if (blocks_x == 0) return;
    eliminate_behind<<<dim3(blocks_x, blocks_y), dim3(lanes, warps)>>>(d_a, pitch, rows,
                                                                       cols, column);
}
