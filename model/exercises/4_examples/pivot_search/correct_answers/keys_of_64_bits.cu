// Correct answer: magnitude and row in one number, the largest of which is looked for
#include "exercises/4_examples/pivot_search/pivot_search.h"

#include <cuda_runtime.h>

constexpr int threads = 256;

// NaN above all, then by magnitude; of equal ones the lower row has the larger key.
__device__ unsigned long long key_of(float value, int row) {
    const unsigned bits = isnan(value) ? 0xffffffffu : __float_as_uint(fabsf(value));
    return static_cast<unsigned long long>(bits) << 32 | (0xffffffffu - row);
}

__global__ void search_column(const float* matrix, size_t pitch, int rows, int column,
                              int* pivot_row) {
    __shared__ unsigned long long keys[threads];
    unsigned long long mine = 0;  // less than the key of any row
    for (int row = column + threadIdx.x; row < rows; row += threads) {
        const unsigned long long key = key_of(matrix[row * pitch + column], row);
        if (key > mine) mine = key;
    }
    keys[threadIdx.x] = mine;
    for (unsigned half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half && keys[threadIdx.x + half] > keys[threadIdx.x])
            keys[threadIdx.x] = keys[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        *pivot_row = static_cast<int>(0xffffffffu - (keys[0] & 0xffffffffu));
}

void find_pivot(const float* d_matrix, size_t pitch, int rows, int column,
                int* d_pivot_row) {
    search_column<<<1, threads>>>(d_matrix, pitch, rows, column, d_pivot_row);
}
