// Wrong answer: rounds up to blocks of 32, whatever the block is
// Rejected by: covers a matrix that is wider than high
// Message: 4 x 1 are needed
#include "exercises/1_basics_and_pi/launch_shape_2d/launch_shape_2d.h"

__global__ void multiplication_table(int* table, unsigned rows, unsigned cols) {
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) table[row * cols + col] = (row + 1) * (col + 1);
}

dim3 grid_for(unsigned rows, unsigned cols, dim3 block) {
    dim3 grid;
    grid.x = (cols + 31) / 32;
    grid.y = (rows + 31) / 32;
    return grid;
}

void fill_multiplication_table(int* d_table, unsigned rows, unsigned cols, dim3 block) {
    const dim3 grid = grid_for(rows, cols, block);
    multiplication_table<<<grid, block>>>(d_table, rows, cols);
}
