// Exercise: a sparse product that was tested with rows of 8, 16, and 24 elements.
// The task: ./warpwise task remainder_of_a_row
#include "exercises/4_examples/remainder_of_a_row/remainder_of_a_row.h"

#include <cuda_runtime.h>

constexpr int threads_per_block = 256;
constexpr int lanes = 8;  // per row, so that a warp has 4 rows

__global__ void eight_lanes_per_row(const int* first, const int* cols, const float* values,
                                    int rows, const float* x, float* y) {
    const int row = (blockIdx.x * threads_per_block + threadIdx.x) / lanes;
    const int lane = threadIdx.x % lanes;
    if (row >= rows) return;

    const int begin = first[row], length = first[row + 1] - begin;
    if (lane >= length) return;  // nothing to add

    // In each round, the 8 lanes of a row take 8 neighboring elements.
    const int rounds = length / lanes;
    float sum = 0;
    for (int round = 0; round < rounds; ++round) {
        const int k = begin + round * lanes + lane;
        sum += values[k] * x[cols[k]];
    }

    for (int distance = lanes / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, distance, lanes);

    if (lane == 0) y[row] = sum;
}

void multiply(const int* d_first, const int* d_cols, const float* d_values, int rows,
              const float* d_x, float* d_y) {
    if (rows == 0) return;
    constexpr int rows_per_block = threads_per_block / lanes;
    const int blocks = (rows + rows_per_block - 1) / rows_per_block;
    eight_lanes_per_row<<<blocks, threads_per_block>>>(d_first, d_cols, d_values, rows, d_x,
                                                       d_y);
}
