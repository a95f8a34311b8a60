// Solution: a grid that covers a matrix.
//
// The number of blocks is the quotient rounded up. Adding divisor - 1 before the division
// rounds up without a special case for matrices that the block divides. Blocks at the right
// and lower edges extend beyond the matrix; the guard in the kernel keeps their threads
// without an element away from memory.
//
// x belongs to the columns because threads with neighboring threadIdx.x run in one warp,
// and elements in neighboring columns lie side by side in memory. So a warp reads and
// writes contiguous memory.
#include "exercises/1_basics_and_pi/launch_shape_2d/launch_shape_2d.h"

__global__ void multiplication_table(int* table, unsigned rows, unsigned cols) {
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) table[row * cols + col] = (row + 1) * (col + 1);
}

dim3 grid_for(unsigned rows, unsigned cols, dim3 block) {
    return dim3((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
}

void fill_multiplication_table(int* d_table, unsigned rows, unsigned cols, dim3 block) {
    const dim3 grid = grid_for(rows, cols, block);
    multiplication_table<<<grid, block>>>(d_table, rows, cols);
}
