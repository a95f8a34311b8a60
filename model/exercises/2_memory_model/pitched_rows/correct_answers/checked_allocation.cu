// Correct answer: status checked step by step, template for the row; 96 threads per block
#include "exercises/2_memory_model/pitched_rows/pitched_rows.h"

cudaError_t allocate(PitchedMatrix& matrix) {
    float* rows = nullptr;
    std::size_t pitch = 0;
    const cudaError_t status =
        cudaMallocPitch(&rows, &pitch, sizeof(float) * matrix.cols, matrix.rows);
    if (status != cudaSuccess) return status;
    matrix.first = rows;
    matrix.pitch = pitch;
    return cudaSuccess;
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

template <class T>
__device__ T* step(T* pointer, size_t bytes) {
    return reinterpret_cast<T*>(reinterpret_cast<char*>(pointer) + bytes);
}

__global__ void add_row_number(PitchedMatrix matrix) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < matrix.rows && col < matrix.cols)
        step(matrix.first, row * matrix.pitch)[col] += row;
}

void add_row_numbers(PitchedMatrix matrix) {
    const dim3 block(96, 2);
    const dim3 grid((matrix.cols + 95) / 96, (matrix.rows + 1) / 2);
    add_row_number<<<grid, block>>>(matrix);
}
