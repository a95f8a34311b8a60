// Correct answer: shuffles within the warps, and one barrier between them
#include "exercises/4_examples/pivot_search/pivot_search.h"

#include <cuda_runtime.h>

constexpr int threads = 256;

__device__ bool beats(float magnitude, int row, float other_magnitude, int other_row) {
    if (isnan(magnitude) != isnan(other_magnitude)) return isnan(magnitude);
    if (magnitude > other_magnitude) return true;
    if (magnitude < other_magnitude) return false;
    return row < other_row;
}

struct Pivot {
    float magnitude;
    int row;
};

__device__ Pivot best_of_warp(Pivot mine) {
    for (int distance = 16; distance > 0; distance /= 2) {
        const float magnitude = __shfl_down_sync(0xffffffff, mine.magnitude, distance);
        const int row = __shfl_down_sync(0xffffffff, mine.row, distance);
        if (beats(magnitude, row, mine.magnitude, mine.row)) mine = {magnitude, row};
    }
    return mine;
}

__global__ void search_column(const float* matrix, size_t pitch, int rows, int column,
                              int* pivot_row) {
    __shared__ Pivot of_warps[threads / 32];
    Pivot best = {-1.0f, rows};
    for (int row = column + threadIdx.x; row < rows; row += blockDim.x) {
        const float magnitude = fabsf(matrix[row * pitch + column]);
        if (beats(magnitude, row, best.magnitude, best.row)) best = {magnitude, row};
    }
    best = best_of_warp(best);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0) of_warps[warp] = best;
    __syncthreads();
    if (warp != 0) return;
    best = lane < threads / 32 ? of_warps[lane] : Pivot{-1.0f, rows};
    best = best_of_warp(best);
    if (lane == 0) *pivot_row = best.row;
}

void find_pivot(const float* d_matrix, size_t pitch, int rows, int column,
                int* d_pivot_row) {
    search_column<<<1, threads>>>(d_matrix, pitch, rows, column, d_pivot_row);
}
