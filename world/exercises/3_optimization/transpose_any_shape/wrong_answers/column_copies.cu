// Wrong answer: no kernel: cudaMemcpy2D copies each column to a row
// Rejected by: transposes square matrices of whole tiles
// Message: copied from host memory; kernels have to write the result
#include "exercises/3_optimization/transpose_any_shape/transpose_any_shape.h"

#include <cuda_runtime.h>

void transpose(const float* d_in, float* d_out, int rows, int cols) {
    const size_t f = sizeof(float);
    for (int col = 0; col < cols; ++col) {
        float* row_of_output = d_out + size_t(col) * rows;
        cudaMemcpy2D(row_of_output, f, d_in + col, cols * f, f, rows,
                     cudaMemcpyDeviceToDevice);
    }
}
