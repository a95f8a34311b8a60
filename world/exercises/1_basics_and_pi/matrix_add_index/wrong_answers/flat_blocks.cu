// Wrong answer: a one-dimensional grid with blocks of 256 threads
// Rejected by: adds square matrices
// Message: has another shape
#include <cuda_runtime.h>

#include "exercises/1_basics_and_pi/matrix_add_index/matrix_add_index.h"

__global__ void add_elements(const float* a, const float* b, float* sum, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) sum[i] = a[i] + b[i];
}

void add_matrices(const float* d_a, const float* d_b, float* d_sum, int rows, int cols) {
    const int count = rows * cols;
    add_elements<<<(count + 255) / 256, 256>>>(d_a, d_b, d_sum, count);
}
