// Correct answer: the whole row is covered, blocks left of the column leave at once
#include "exercises/4_examples/aligned_elimination/aligned_elimination.h"

size_t floats_from_row_to_row(int cols) {
    const int rest = cols % 8;
    return rest == 0 ? cols : cols + (8 - rest);
}

__global__ void step(float* a, size_t pitch, int rows, int cols, int column) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col > column && col < cols) {
        const float* pivot_row = a + column * pitch;
        const float pivot = pivot_row[column];
        const float above = pivot_row[col];
        for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < rows;
             row += gridDim.y * blockDim.y) {
            if (row == column) continue;
            float* const r = a + row * pitch;
            r[col] -= r[column] / pivot * above;
        }
    }
}

void eliminate(float* d_a, size_t pitch, int rows, int cols, int column) {
    const dim3 block(32, 8);
    const dim3 grid((cols + 31) / 32, (rows + 31) / 32);
    step<<<grid, block>>>(d_a, pitch, rows, cols, column);
}
