// Wrong answer: a single thread goes through the column
// Rejected by: finds the largest magnitude
// Message: 1 thread read the column
#include "exercises/4_examples/pivot_search/pivot_search.h"

#include <cuda_runtime.h>

constexpr int threads = 256;

__device__ bool beats(float magnitude, int row, float other_magnitude, int other_row) {
    if (isnan(magnitude) != isnan(other_magnitude)) return isnan(magnitude);
    if (magnitude > other_magnitude) return true;
    if (magnitude < other_magnitude) return false;
    return row < other_row;
}

__global__ void search_column(const float* matrix, size_t pitch, int rows, int column,
                              int* pivot_row) {
    if (threadIdx.x != 0) return;
    int best = column;
    float largest = fabsf(matrix[column * pitch + column]);
    for (int row = column + 1; row < rows; ++row) {
        const float magnitude = fabsf(matrix[row * pitch + column]);
        if (beats(magnitude, row, largest, best)) {
            largest = magnitude;
            best = row;
        }
    }
    *pivot_row = best;
}

void find_pivot(const float* d_matrix, size_t pitch, int rows, int column,
                int* d_pivot_row) {
    search_column<<<1, threads>>>(d_matrix, pitch, rows, column, d_pivot_row);
}
