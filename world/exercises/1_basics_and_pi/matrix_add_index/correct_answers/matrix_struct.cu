// Correct answer: a small struct with an operator for row and column
#include <cuda_runtime.h>

#include "exercises/1_basics_and_pi/matrix_add_index/matrix_add_index.h"

template <class T>
struct Matrix {
    T* data;
    int rows, cols;
    __device__ T& operator()(int row, int col) const { return data[row * cols + col]; }
    __device__ bool has(int row, int col) const { return row < rows && col < cols; }
};

__global__ void add_elements(Matrix<const float> a, Matrix<const float> b,
                             Matrix<float> sum) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (sum.has(row, col)) sum(row, col) = a(row, col) + b(row, col);
}

void add_matrices(const float* d_a, const float* d_b, float* d_sum, int rows, int cols) {
    const Matrix<const float> a{d_a, rows, cols}, b{d_b, rows, cols};
    const Matrix<float> sum{d_sum, rows, cols};
    const dim3 block(16, 16);
    const dim3 grid((cols + 15) / 16, (rows + 15) / 16);
    add_elements<<<grid, block>>>(a, b, sum);
}
