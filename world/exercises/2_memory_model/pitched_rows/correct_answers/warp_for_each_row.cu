// Correct answer: a warp goes along each row; a helper finds the row
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

__device__ float* row_of(const PitchedMatrix& matrix, int row) {
    return (float*)((char*)matrix.first + (size_t)row * matrix.pitch);
}

__global__ void add_by_warps(PitchedMatrix matrix) {
    const int lane = threadIdx.x % 32;
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= matrix.rows) return;
    float* const elements = row_of(matrix, row);
    for (int col = lane; col < matrix.cols; col += 32) elements[col] += row;
}

void add_row_numbers(PitchedMatrix matrix) {
    const int warps = 4;
    add_by_warps<<<(matrix.rows + warps - 1) / warps, 32 * warps>>>(matrix);
}
