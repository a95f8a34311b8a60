// Wrong answer: threads are numbered through all rows, warps go across their ends
// Rejected by: does it all together and touches few sectors
// Message: of the 32-byte sectors that were touched are needed
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

__global__ void add_row_number(PitchedMatrix matrix) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= static_cast<size_t>(matrix.rows) * matrix.cols) return;
    const size_t row = i / matrix.cols, col = i % matrix.cols;
    char* const begin = reinterpret_cast<char*>(matrix.first) + row * matrix.pitch;
    reinterpret_cast<float*>(begin)[col] += row;
}

void add_row_numbers(PitchedMatrix matrix) {
    const size_t elements = static_cast<size_t>(matrix.rows) * matrix.cols;
    add_row_number<<<(elements + 255) / 256, 256>>>(matrix);
}
