// Wrong answer: grid_for is right and not used: one block strides over the matrix
// Rejected by: covers a matrix that is wider than high
// Message: has another shape
#include "exercises/1_basics_and_pi/launch_shape_2d/launch_shape_2d.h"

__global__ void multiplication_table(int* table, unsigned rows, unsigned cols) {
    for (unsigned row = threadIdx.y; row < rows; row += blockDim.y) {
        for (unsigned col = threadIdx.x; col < cols; col += blockDim.x) {
            table[row * cols + col] = (row + 1) * (col + 1);
        }
    }
}

dim3 grid_for(unsigned rows, unsigned cols, dim3 block) {
    return dim3((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
}

void fill_multiplication_table(int* d_table, unsigned rows, unsigned cols, dim3 block) {
    multiplication_table<<<1, block>>>(d_table, rows, cols);
}
