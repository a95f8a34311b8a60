// Wrong answer: a cudaMemcpy for each row
// Rejected by: copies rows out and leaves the padding behind
// Message: one call is enough for a whole matrix
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
    const char* from = reinterpret_cast<const char*>(matrix.first);
    for (int row = 0; row < matrix.rows; ++row) {
        const cudaError_t status =
            cudaMemcpy(tight, from + row * matrix.pitch, width, cudaMemcpyDeviceToHost);
        if (status != cudaSuccess) return status;
        tight += matrix.cols;
    }
    return cudaSuccess;
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
