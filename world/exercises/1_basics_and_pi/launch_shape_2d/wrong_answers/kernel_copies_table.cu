// Wrong answer: the host fills a table, and the kernel copies it
// Rejected by: covers a matrix of one block
// Message: copied 1 time with cudaMemcpyHostToDevice
#include <vector>

#include "exercises/1_basics_and_pi/launch_shape_2d/launch_shape_2d.h"

__global__ void multiplication_table(int* table, const int* from, unsigned rows,
                                     unsigned cols) {
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) table[row * cols + col] = from[row * cols + col];
}

dim3 grid_for(unsigned rows, unsigned cols, dim3 block) {
    return dim3((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
}

void fill_multiplication_table(int* d_table, unsigned rows, unsigned cols, dim3 block) {
    std::vector<int> table;
    for (unsigned row = 1; row <= rows; ++row) {
        for (unsigned col = 1; col <= cols; ++col) table.push_back(row * col);
    }
    int* d_from;
    cudaMalloc(&d_from, table.size() * sizeof(int));
    cudaMemcpy(d_from, table.data(), table.size() * sizeof(int), cudaMemcpyHostToDevice);
    multiplication_table<<<grid_for(rows, cols, block), block>>>(d_table, d_from, rows,
                                                                 cols);
    cudaFree(d_from);
}
