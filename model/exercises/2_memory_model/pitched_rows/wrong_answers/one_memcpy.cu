// Wrong answer: copy_in copies all rows as one piece
// Rejected by: copies rows in and leaves the padding alone
// Message: The copy wrote to the padding.
#include "exercises/2_memory_model/pitched_rows/pitched_rows.h"

cudaError_t allocate(PitchedMatrix& matrix) {
    void* memory = nullptr;
    const size_t width = matrix.cols * sizeof(float);
    const cudaError_t status = cudaMallocPitch(&memory, &matrix.pitch, width, matrix.rows);
    matrix.first = static_cast<float*>(memory);
    return status;
}

cudaError_t copy_in(PitchedMatrix matrix, const float* tight) {
    const size_t bytes = sizeof(float) * matrix.rows * matrix.cols;
    return cudaMemcpy(matrix.first, tight, bytes, cudaMemcpyHostToDevice);
}

cudaError_t copy_out(float* tight, PitchedMatrix matrix) {
    const size_t width = matrix.cols * sizeof(float);
    return cudaMemcpy2D(tight, width, matrix.first, matrix.pitch, width, matrix.rows,
                        cudaMemcpyDeviceToHost);
}

__global__ void add_row_number(PitchedMatrix matrix) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= matrix.rows || col >= matrix.cols) return;
    char* const bytes = reinterpret_cast<char*>(matrix.first);
    float* const begin = reinterpret_cast<float*>(bytes + row * matrix.pitch);
    begin[col] += row;
}

void add_row_numbers(PitchedMatrix matrix) {
    const dim3 block(32, 8);
    const dim3 grid((matrix.cols + 31) / 32, (matrix.rows + 7) / 8);
    add_row_number<<<grid, block>>>(matrix);
}
