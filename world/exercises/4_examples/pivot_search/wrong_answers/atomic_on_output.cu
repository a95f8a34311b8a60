// Wrong answer: looks for the largest by atomics and writes without any order
// Rejected by: finds the largest magnitude
// Message: element 0 is -5
#include "exercises/4_examples/pivot_search/pivot_search.h"

#include <cuda_runtime.h>

constexpr int threads = 256;

__global__ void search_column(const float* matrix, size_t pitch, int rows, int column,
                              int* pivot_row) {
    __shared__ int largest;
    if (threadIdx.x == 0) largest = 0;
    __syncthreads();
    for (int row = column + threadIdx.x; row < rows; row += threads)
        atomicMax(&largest, __float_as_int(fabsf(matrix[row * pitch + column])));
    __syncthreads();
    for (int row = column + threadIdx.x; row < rows; row += threads) {
        if (__float_as_int(fabsf(matrix[row * pitch + column])) == largest)
            atomicMin(pivot_row, row);
    }
}

void find_pivot(const float* d_matrix, size_t pitch, int rows, int column,
                int* d_pivot_row) {
    search_column<<<1, threads>>>(d_matrix, pitch, rows, column, d_pivot_row);
}
