// Solution: rows that are a pitch apart.
//
// Everything that cudaMallocPitch and cudaMemcpy2D take or give is in bytes: the width of a
// row and the pitches of both sides. On the host the rows are tight, and their pitch is
// their width. In the kernel the step from row to row is taken on a pointer to char,
// because adding to a pointer to float would count in floats.
#include "exercises/2_memory_model/pitched_rows/pitched_rows.h"

#include <algorithm>

cudaError_t allocate(PitchedMatrix& matrix) {
    void* memory = nullptr;
    const cudaError_t status =
        cudaMallocPitch(&memory, &matrix.pitch, matrix.cols * sizeof(float), matrix.rows);
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
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= matrix.cols) return;
    const int first_row = blockIdx.y * blockDim.y + threadIdx.y;
    const int rows_of_grid = gridDim.y * blockDim.y;
    for (int row = first_row; row < matrix.rows; row += rows_of_grid) {
        char* const begin_in_bytes =
            reinterpret_cast<char*>(matrix.first) + row * matrix.pitch;
        float* const begin = reinterpret_cast<float*>(begin_in_bytes);
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
