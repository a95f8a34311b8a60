// Wrong answer: all blocks in a row, and the kernel finds its row by division
// Rejected by: covers a matrix that is wider than high
// Message: has another shape
#include "exercises/1_basics_and_pi/launch_shape_2d/launch_shape_2d.h"

__global__ void multiplication_table(int* table, unsigned rows, unsigned cols) {
    const unsigned across = (cols + blockDim.x - 1) / blockDim.x;
    const unsigned col = blockIdx.x % across * blockDim.x + threadIdx.x;
    const unsigned row = blockIdx.x / across * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) table[row * cols + col] = (row + 1) * (col + 1);
}

dim3 grid_for(unsigned rows, unsigned cols, dim3 block) {
    return dim3((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
}

void fill_multiplication_table(int* d_table, unsigned rows, unsigned cols, dim3 block) {
    const dim3 grid = grid_for(rows, cols, block);
    multiplication_table<<<grid.x * grid.y, block>>>(d_table, rows, cols);
}
