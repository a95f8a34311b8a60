// Correct answer: a helper rounds up by quotient and remainder, without overflow
#include "exercises/1_basics_and_pi/launch_shape_2d/launch_shape_2d.h"

__global__ void multiplication_table(int* table, unsigned rows, unsigned cols) {
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) table[row * cols + col] = (row + 1) * (col + 1);
}

namespace {
unsigned div_up(unsigned a, unsigned b) { return a / b + (a % b != 0 ? 1 : 0); }
}  // namespace

dim3 grid_for(unsigned rows, unsigned cols, dim3 block) { return {div_up(cols, block.x), div_up(rows, block.y), 1}; }

void fill_multiplication_table(int* d_table, unsigned rows, unsigned cols, dim3 block) {
    const dim3 grid = grid_for(rows, cols, block);
    multiplication_table<<<grid, block>>>(d_table, rows, cols);
}
