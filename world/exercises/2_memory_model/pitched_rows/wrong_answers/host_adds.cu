// Wrong answer: the host adds, between a copy out and a copy in
// Rejected by: adds the number of its row to every element
// Message: was not written by a kernel
#include "exercises/2_memory_model/pitched_rows/pitched_rows.h"

cudaError_t allocate(PitchedMatrix& matrix) {
    void* memory = nullptr;
    const size_t width = matrix.cols * sizeof(float);
    const cudaError_t status = cudaMallocPitch(&memory, &matrix.pitch, width, matrix.rows);
    matrix.first = static_cast<float*>(memory);
    return status;
}

cudaError_t copy_in(PitchedMatrix matrix, const float* tight) {
    const size_t width = matrix.cols * sizeof(float);
    return cudaMemcpy2D(matrix.first, matrix.pitch, tight, width, width, matrix.rows,
                        cudaMemcpyHostToDevice);
}

cudaError_t copy_out(float* tight, PitchedMatrix matrix) {
    const size_t width = matrix.cols * sizeof(float);
    return cudaMemcpy2D(tight, width, matrix.first, matrix.pitch, width, matrix.rows,
                        cudaMemcpyDeviceToHost);
}

#include <vector>

__global__ void add_row_number(PitchedMatrix) {}

void add_row_numbers(PitchedMatrix matrix) {
    std::vector<float> tight(static_cast<size_t>(matrix.rows) * matrix.cols);
    copy_out(tight.data(), matrix);
    for (int row = 0; row < matrix.rows; ++row) {
        for (int col = 0; col < matrix.cols; ++col)
            tight[static_cast<size_t>(row) * matrix.cols + col] += row;
    }
    copy_in(matrix, tight.data());
    add_row_number<<<1, 1>>>(matrix);
}
