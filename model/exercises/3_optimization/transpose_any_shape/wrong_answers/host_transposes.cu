// Wrong answer: the host transposes, the kernel is empty
// Rejected by: transposes square matrices of whole tiles
// Message: copied from host memory; kernels have to write the result
#include "exercises/3_optimization/transpose_any_shape/transpose_any_shape.h"

#include <cuda_runtime.h>

#include <vector>

__global__ void transpose_tiles() {}

void transpose(const float* d_in, float* d_out, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    const size_t count = size_t(rows) * cols;
    std::vector<float> in(count), out(count);
    cudaMemcpy(in.data(), d_in, count * sizeof(float), cudaMemcpyDeviceToHost);
    for (int row = 0; row < rows; ++row) {
        for (int col = 0; col < cols; ++col) {
            out[size_t(col) * rows + row] = in[size_t(row) * cols + col];
        }
    }
    cudaMemcpy(d_out, out.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    transpose_tiles<<<1, 32>>>();
}
