// Correct answer: the side of a block is a template argument; restrict, fused names
#include <cuda_runtime.h>

#include "exercises/1_basics_and_pi/matrix_add_index/matrix_add_index.h"

template <int block_side>
__global__ void add_elements(const float* __restrict__ a, const float* __restrict__ b,
                             float* __restrict__ sum, int2 shape) {
    const int2 at = make_int2(blockIdx.x * block_side + threadIdx.x,
                              blockIdx.y * block_side + threadIdx.y);
    if (at.x >= shape.x || at.y >= shape.y) return;
    const int row_length = shape.x;
    const int i = at.y * row_length + at.x;
    sum[i] = __ldg(&a[i]) + __ldg(&b[i]);
}

void add_matrices(const float* d_a, const float* d_b, float* d_sum, int rows, int cols) {
    constexpr int s = 16;
    const dim3 block(s, s), grid((cols + s - 1) / s, (rows + s - 1) / s);
    add_elements<s><<<grid, block>>>(d_a, d_b, d_sum, make_int2(cols, rows));
}
