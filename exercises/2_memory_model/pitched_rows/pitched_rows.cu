// Exercise: rows that are a pitch apart. See README.md beside this file.
#include "exercises/2_memory_model/pitched_rows/pitched_rows.h"

// TODO 1: let cudaMallocPitch choose the pitch. It takes the width of a row in bytes, and the number of rows.
cudaError_t allocate(PitchedMatrix& matrix) {
    matrix.pitch = matrix.cols * sizeof(float);
    return cudaMalloc(&matrix.first, matrix.rows * matrix.pitch);
}

// TODO 2: step over the padding: cudaMemcpy2D takes a pointer and a pitch for either side, the width in bytes, and the
//         number of rows.
cudaError_t copy_in(PitchedMatrix matrix, const float* tight) {
    const size_t width = matrix.cols * sizeof(float);
    return cudaMemcpy(matrix.first, tight, matrix.rows * width, cudaMemcpyHostToDevice);
}

// TODO 3: the same, the other way.
cudaError_t copy_out(float* tight, PitchedMatrix matrix) {
    const size_t width = matrix.cols * sizeof(float);
    return cudaMemcpy(tight, matrix.first, matrix.rows * width, cudaMemcpyDeviceToHost);
}

// TODO 4: find the row by the pitch, which counts bytes.
__global__ void add_row_number(PitchedMatrix matrix) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= matrix.rows || col >= matrix.cols) return;
    float* const begin = matrix.first + row * matrix.cols;
    begin[col] += row;
}

void add_row_numbers(PitchedMatrix matrix) {
    const dim3 block(32, 8);
    const dim3 grid((matrix.cols + 31) / 32, (matrix.rows + 7) / 8);
    add_row_number<<<grid, block>>>(matrix);
}
