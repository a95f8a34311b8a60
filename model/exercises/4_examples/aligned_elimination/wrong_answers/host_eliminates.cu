// Wrong answer: the matrix goes to the host and back
// Rejected by: eliminates behind the column
// Message: was not written by a kernel
#include "exercises/4_examples/aligned_elimination/aligned_elimination.h"

#include <cuda_runtime.h>

#include <vector>

size_t floats_from_row_to_row(int cols) { return (cols + 7) / 8 * 8; }

__global__ void eliminate_behind() {}

void eliminate(float* d_a, size_t pitch, int rows, int cols, int column) {
    std::vector<float> a(rows * pitch);
    cudaMemcpy(a.data(), d_a, a.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (int row = 0; row < rows; ++row) {
        if (row == column) continue;
        const float factor = a[row * pitch + column] / a[column * pitch + column];
        for (int col = column + 1; col < cols; ++col)
            a[row * pitch + col] -= factor * a[column * pitch + col];
    }
    cudaMemcpy(d_a, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice);
    eliminate_behind<<<1, 1>>>();
}
