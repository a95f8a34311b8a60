// Wrong answer: floats cannot hold sides above 2^24 exactly
// Rejected by: counts the blocks of very long matrices
// Message: 28407861 x 1 are needed
#include "exercises/1_basics_and_pi/launch_shape_2d/launch_shape_2d.h"

#include <cmath>

__global__ void multiplication_table(int* table, unsigned rows, unsigned cols) {
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) table[row * cols + col] = (row + 1) * (col + 1);
}

dim3 grid_for(unsigned rows, unsigned cols, dim3 block) {
    const float x = ceilf(float(cols) / float(block.x));
    const float y = ceilf(float(rows) / float(block.y));
    return dim3((unsigned)x, (unsigned)y);
}

void fill_multiplication_table(int* d_table, unsigned rows, unsigned cols, dim3 block) {
    const dim3 grid = grid_for(rows, cols, block);
    multiplication_table<<<grid, block>>>(d_table, rows, cols);
}
