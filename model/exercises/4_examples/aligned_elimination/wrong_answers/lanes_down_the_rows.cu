// Wrong answer: the lanes of a warp take a column of 32 rows
// Rejected by: stores whole sectors
// Message: bytes for each byte that they store
#include "exercises/4_examples/aligned_elimination/aligned_elimination.h"

size_t floats_from_row_to_row(int cols) { return (cols + 7) / 8 * 8; }

__global__ void eliminate_behind(float* a, size_t pitch, int rows, int cols, int column) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || row == column) return;
    const float factor = a[row * pitch + column] / a[column * pitch + column];
    for (int col = column + 1 + blockIdx.y; col < cols; col += gridDim.y)
        a[row * pitch + col] -= factor * a[column * pitch + col];
}

void eliminate(float* d_a, size_t pitch, int rows, int cols, int column) {
    eliminate_behind<<<dim3((rows + 127) / 128, 16), 128>>>(d_a, pitch, rows, cols, column);
}
