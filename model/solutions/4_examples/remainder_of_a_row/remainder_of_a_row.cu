// Solution: a sparse product with eight lanes per row, for rows of any length.
//
// There were two mistakes. The number of rounds was rounded down, so the last elements of a
// row were never added, and a row of fewer than 8 elements became 0. Each lane now goes on
// by 8 elements until the row ends, and the condition is asked for the lane's own element:
// in the last round some lanes have one and others have none.
//
// And lanes without an element left the kernel before the shuffles, in which lane 0 asks
// for their sums: what it gets from them is undefined. In an empty row, lane 0 left as
// well, and nobody wrote y. Now these lanes stay, with a sum of 0. Lanes whose row is past
// the end may still leave: all eight of them leave together, and nobody asks for their
// sums.
#include "exercises/4_examples/remainder_of_a_row/remainder_of_a_row.h"

#include <cuda_runtime.h>

constexpr int threads_per_block = 256;
constexpr int lanes = 8;  // per row, so that a warp has 4 rows

__global__ void eight_lanes_per_row(const int* first, const int* cols, const float* values,
                                    int rows, const float* x, float* y) {
    const int row = (blockIdx.x * threads_per_block + threadIdx.x) / lanes;
    const int lane = threadIdx.x % lanes;

    if (row >= rows) return;

    const int end = first[row + 1];
    float sum = 0;
    for (int k = first[row] + lane; k < end; k += lanes) sum += values[k] * x[cols[k]];

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
