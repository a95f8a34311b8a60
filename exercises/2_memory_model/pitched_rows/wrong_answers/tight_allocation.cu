// Wrong answer: finds and copies rows by the pitch, and allocates tight ones all the same
// Rejected by: allocates rows that begin where a request likes to begin
// Message: A row that begins at no multiple of 32 bytes costs one sector more in each request.
#include "exercises/2_memory_model/pitched_rows/pitched_rows.h"

cudaError_t allocate(PitchedMatrix& matrix) {
    matrix.pitch = matrix.cols * sizeof(float);
    return cudaMalloc(&matrix.first, matrix.rows * matrix.pitch);
}

cudaError_t copy_in(PitchedMatrix matrix, const float* tight) {
    const size_t width = matrix.cols * sizeof(float);
    return cudaMemcpy2D(matrix.first, matrix.pitch, tight, width, width, matrix.rows, cudaMemcpyHostToDevice);
}

cudaError_t copy_out(float* tight, PitchedMatrix matrix) {
    const size_t width = matrix.cols * sizeof(float);
    return cudaMemcpy2D(tight, width, matrix.first, matrix.pitch, width, matrix.rows, cudaMemcpyDeviceToHost);
}

__global__ void add_row_number(PitchedMatrix matrix) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= matrix.rows || col >= matrix.cols) return;
    float* const begin = reinterpret_cast<float*>(reinterpret_cast<char*>(matrix.first) + row * matrix.pitch);
    begin[col] += row;
}

void add_row_numbers(PitchedMatrix matrix) {
    const dim3 block(32, 8);
    const dim3 grid((matrix.cols + 31) / 32, (matrix.rows + 7) / 8);
    add_row_number<<<grid, block>>>(matrix);
}
