// Solution: the largest of a column, with the waits and the rule that it needs.
//
// In each round a thread reads what a thread of another warp wrote in the round before, so
// the whole block has to wait, and all of its threads have to come: the barrier stands in
// front of the `if`. (It is true that from 64 parts on one warp would be enough. Then
// __syncwarp() would do, but some wait it has to be.)
//
// Which of two equal elements is found must not depend on who looks at it. Thread 0 has
// rows 0, 256, 512 .., thread 1 rows 1, 257 ..: a part with a higher place may hold a lower
// row. So the rule asks for the row. And comparisons with NaN are false, all of them, so
// NaN has to be asked for by name.
#include "exercises/4_examples/pivot_search/pivot_search.h"

#include <cuda_runtime.h>

constexpr int threads = 256;

// Whether an element is a better pivot than another one.
__device__ bool beats(float magnitude, int row, float other_magnitude, int other_row) {
    if (isnan(magnitude) != isnan(other_magnitude)) return isnan(magnitude);
    if (magnitude > other_magnitude) return true;
    if (magnitude < other_magnitude) return false;
    return row < other_row;  // equal, or both NaN
}

__global__ void search_column(const float* matrix, size_t pitch, int rows, int column,
                              int* pivot_row) {
    __shared__ float magnitudes[threads];
    __shared__ int rows_of[threads];
    const int thread = threadIdx.x;

    // The best of this thread's rows. -1: it has none.
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
        __syncthreads();
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
