// Exercise: a search for the pivot, without barriers and without a rule for ties.
// The task: ./warpwise task pivot_search
#include "exercises/4_examples/pivot_search/pivot_search.h"

#include <cuda_runtime.h>

constexpr int threads = 256;

// Tells whether an element is a better pivot than another one.
__device__ bool beats(float magnitude, int row, float other_magnitude, int other_row) {
    (void)row;
    (void)other_row;
    return magnitude > other_magnitude;
}

__global__ void search_column(const float* matrix, size_t pitch, int rows, int column,
                              int* pivot_row) {
    __shared__ float magnitudes[threads];
    __shared__ int rows_of[threads];
    const int thread = threadIdx.x;

    // The best of this thread's rows. A magnitude of -1 means that it has none.
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

    for (int half = threads / 2; half > 0; half /= 2) {
        // __syncthreads();  It takes time, and the results are the same without it. In the
        // end one warp is enough anyway.
        if (thread < half && beats(magnitudes[thread + half], rows_of[thread + half],
                                   magnitudes[thread], rows_of[thread])) {
            magnitudes[thread] = magnitudes[thread + half];
            rows_of[thread] = rows_of[thread + half];
        }
    }
    if (thread == 0) *pivot_row = rows_of[0];
}

void find_pivot(const float* d_matrix, size_t pitch, int rows, int column,
                int* d_pivot_row) {
    search_column<<<1, threads>>>(d_matrix, pitch, rows, column, d_pivot_row);
}
