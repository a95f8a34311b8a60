// Correct answer: compares a rank first, which is 1 for NaN, then magnitudes, then rows
#include "exercises/4_examples/pivot_search/pivot_search.h"

#include <cuda_runtime.h>

constexpr int threads = 256;

struct Candidate {
    int rank = -1;  // -1: none, 0: a number, 1: NaN
    float magnitude = 0;
    int row = 0;
};

__device__ Candidate make(float value, int row) {
    Candidate c;
    c.rank = isnan(value) ? 1 : 0;
    c.magnitude = c.rank == 1 ? 0.0f : fabsf(value);
    c.row = row;
    return c;
}

__device__ Candidate better(const Candidate& a, const Candidate& b) {
    if (a.rank != b.rank) return a.rank > b.rank ? a : b;
    if (a.magnitude != b.magnitude) return a.magnitude > b.magnitude ? a : b;
    return a.row <= b.row ? a : b;
}

__global__ void search_column(const float* matrix, size_t pitch, int rows, int column,
                              int* pivot_row) {
    __shared__ int rank_of[threads];
    __shared__ float magnitude_of[threads];
    __shared__ int row_of[threads];
    const int t = threadIdx.x;
    Candidate mine;
    for (int row = column + t; row < rows; row += threads)
        mine = better(mine, make(matrix[row * pitch + column], row));
    rank_of[t] = mine.rank;
    magnitude_of[t] = mine.magnitude;
    row_of[t] = mine.row;
    for (int half = threads >> 1; half; half >>= 1) {
        __syncthreads();
        if (t < half) {
            Candidate other;
            other.rank = rank_of[t + half];
            other.magnitude = magnitude_of[t + half];
            other.row = row_of[t + half];
            mine = better(mine, other);
            rank_of[t] = mine.rank;
            magnitude_of[t] = mine.magnitude;
            row_of[t] = mine.row;
        }
    }
    if (t == 0) *pivot_row = mine.row;
}

void find_pivot(const float* d_matrix, size_t pitch, int rows, int column,
                int* d_pivot_row) {
    search_column<<<1, threads>>>(d_matrix, pitch, rows, column, d_pivot_row);
}
