// Wrong answer: the index multiplies the row by the number of rows
// Rejected by: covers a matrix that is wider than high
// Message: data race
#include "exercises/1_basics_and_pi/launch_shape_2d/launch_shape_2d.h"

__global__ void multiplication_table(int* table, unsigned rows, unsigned cols) {
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) table[row * rows + col] = (row + 1) * (col + 1);
}

dim3 grid_for(unsigned rows, unsigned cols, dim3 block) {
    return dim3((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
}

void fill_multiplication_table(int* d_table, unsigned rows, unsigned cols, dim3 block) {
    multiplication_table<<<grid_for(rows, cols, block), block>>>(d_table, rows, cols);
}
