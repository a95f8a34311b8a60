// Correct answer: a tree whose strides grow from 1 to 128
#include "exercises/4_examples/pivot_search/pivot_search.h"

#include <cuda_runtime.h>

constexpr int threads = 256;

__device__ bool beats(float magnitude, int row, float other_magnitude, int other_row) {
    if (isnan(magnitude) != isnan(other_magnitude)) return isnan(magnitude);
    if (magnitude > other_magnitude) return true;
    if (magnitude < other_magnitude) return false;
    return row < other_row;
}

__global__ void search_column(const float* matrix, size_t pitch, int rows, int column, int* pivot_row) {
    __shared__ float magnitudes[threads];
    __shared__ int rows_of[threads];
    const int thread = threadIdx.x;

    float largest = -1;
    int best = rows;
    for (int row = column + thread; row < rows; row += threads) {
        const float magnitude = fabsf(matrix[row * pitch + column]);
        if (beats(magnitude, row, largest, best)) {
            largest = magnitude;
            best = row;
        }
    }
    magnitudes[thread] = largest;
    rows_of[thread] = best;

    for (int stride = 1; stride < threads; stride *= 2) {
        __syncthreads();
        const int other = thread + stride;
        if (thread % (2 * stride) == 0 &&
            beats(magnitudes[other], rows_of[other], magnitudes[thread], rows_of[thread])) {
            magnitudes[thread] = magnitudes[other];
            rows_of[thread] = rows_of[other];
        }
    }
    if (thread == 0) *pivot_row = rows_of[0];
}

void find_pivot(const float* d_matrix, size_t pitch, int rows, int column, int* d_pivot_row) {
    search_column<<<1, threads>>>(d_matrix, pitch, rows, column, d_pivot_row);
}
