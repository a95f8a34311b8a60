// Wrong answer: the host fills the table and copies it
// Rejected by: covers a matrix of one block
// Message: copied from host memory
#include "exercises/1_basics_and_pi/launch_shape_2d/launch_shape_2d.h"

#include <vector>

__global__ void multiplication_table() {}

dim3 grid_for(unsigned rows, unsigned cols, dim3 block) {
    return dim3((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
}

void fill_multiplication_table(int* d_table, unsigned rows, unsigned cols, dim3 block) {
    std::vector<int> table;
    table.reserve(size_t(rows) * cols);
    for (unsigned row = 1; row <= rows; ++row) {
        for (unsigned col = 1; col <= cols; ++col) table.push_back(row * col);
    }
    cudaMemcpy(d_table, table.data(), table.size() * sizeof(int), cudaMemcpyHostToDevice);
    multiplication_table<<<grid_for(rows, cols, block), block>>>();
}
