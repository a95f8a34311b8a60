// Exercise: a grid that covers a matrix.
// The task: ./warpwise task launch_shape_2d
#include "exercises/1_basics_and_pi/launch_shape_2d/launch_shape_2d.h"

__global__ void multiplication_table(int* table, unsigned rows, unsigned cols) {
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) table[row * cols + col] = (row + 1) * (col + 1);
}

dim3 grid_for(unsigned rows, unsigned cols, dim3 block) {
    // One block is enough for a matrix that is no larger than a block.
    dim3 grid(1, 1);

    // TODO 1: replace 1 by the number of blocks that stand side by side.
    if (cols > block.x) grid.x = 1;

    // TODO 2: replace 1 by the number of blocks that stand one below the other.
    if (rows > block.y) grid.y = 1;

    return grid;
}

void fill_multiplication_table(int* d_table, unsigned rows, unsigned cols, dim3 block) {
    const dim3 grid = grid_for(rows, cols, block);
    multiplication_table<<<grid, block>>>(d_table, rows, cols);
}
