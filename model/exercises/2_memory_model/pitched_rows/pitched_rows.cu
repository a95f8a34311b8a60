// Exercise: rows that are a pitch apart.
// The task: ./warpwise task pitched_rows
#include "exercises/2_memory_model/pitched_rows/pitched_rows.h"

#include <algorithm>

// TODO 1: let cudaMallocPitch choose the pitch. It takes the width of a row in bytes, and
// the number of rows.
cudaError_t allocate(PitchedMatrix& matrix) {
    matrix.pitch = matrix.cols * sizeof(float);
    return cudaMalloc(&matrix.first, matrix.rows * matrix.pitch);
}

// TODO 2: step over the padding: cudaMemcpy2D takes a pointer and a pitch for either side,
// the width in bytes, and the number of rows.
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
    if (col >= matrix.cols) return;
    const int first_row = blockIdx.y * blockDim.y + threadIdx.y;
    const int rows_of_grid = gridDim.y * blockDim.y;
    for (int row = first_row; row < matrix.rows; row += rows_of_grid) {
        float* const begin = matrix.first + row * matrix.cols;
        begin[col] += row;
    }
}

void add_row_numbers(PitchedMatrix matrix) {
    const dim3 block(32, 8);
    // A grid has at most 65,535 blocks in y. The kernel's loop takes the rows that are
    // left.
    const dim3 grid((matrix.cols + 31) / 32, std::min((matrix.rows + 7) / 8, 65535));
    add_row_number<<<grid, block>>>(matrix);
}
