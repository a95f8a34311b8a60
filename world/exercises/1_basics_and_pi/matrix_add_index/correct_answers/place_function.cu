// Correct answer: a function knows the place of an element; width and height as names
#include <cuda_runtime.h>

#include "exercises/1_basics_and_pi/matrix_add_index/matrix_add_index.h"

namespace {
constexpr int edge = 16;

__device__ int place(int row, int col, int width) { return col + width * row; }

int blocks_for(int elements) { return (elements + edge - 1) / edge; }
}  // namespace

__global__ void add(const float* __restrict__ a, const float* __restrict__ b,
                    float* __restrict__ c, int height, int width) {
    const int col = edge * blockIdx.x + threadIdx.x;
    const int row = edge * blockIdx.y + threadIdx.y;
    const bool inside = row < height && col < width;
    const int i = place(row, col, width);
    if (inside) c[i] = a[i] + b[i];
}

void add_matrices(const float* d_a, const float* d_b, float* d_sum, int rows, int cols) {
    const dim3 grid(blocks_for(cols), blocks_for(rows));
    add<<<grid, dim3(edge, edge)>>>(d_a, d_b, d_sum, rows, cols);
}
