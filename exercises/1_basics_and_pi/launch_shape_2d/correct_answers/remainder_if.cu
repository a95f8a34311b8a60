// Correct answer: quotient, and one more where something is left over
#include "exercises/1_basics_and_pi/launch_shape_2d/launch_shape_2d.h"

__global__ void multiplication_table(int* table, unsigned rows, unsigned cols) {
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) table[row * cols + col] = (row + 1) * (col + 1);
}

dim3 grid_for(unsigned rows, unsigned cols, dim3 block) {
    dim3 grid(cols / block.x, rows / block.y);
    if (grid.x * block.x < cols) grid.x++;
    if (grid.y * block.y < rows) grid.y++;
    return grid;
}

void fill_multiplication_table(int* d_table, unsigned rows, unsigned cols, dim3 block) {
    const dim3 grid = grid_for(rows, cols, block);
    multiplication_table<<<grid, block>>>(d_table, rows, cols);
}
