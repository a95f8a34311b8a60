// Exercise: a sparse product with equal work for each thread, whatever the rows are.
// The task: ./warpwise task rows_of_all_lengths
#include "exercises/4_examples/rows_of_all_lengths/rows_of_all_lengths.h"

#include <cuda_runtime.h>

constexpr int threads_per_block = 256;
constexpr int steps_per_thread = 8;

struct Place {
    int row;      // how many rows have ended
    int element;  // how many elements are added
};

// Where the path is after `steps` steps: row + element is `steps`. Row r ends in step
// r + first[r + 1], if steps count from 0.
__device__ Place place_after(int steps, const int* first, int rows, int elements) {
    // TODO 1: find by a binary search how many rows end before step `steps`. (At present
    // this takes all rows for empty ones.)
    const int row = min(steps, rows);
    return {row, steps - row};
}

__global__ void equal_steps(const int* first, const int* cols, const float* values,
                            int rows, int elements, const float* x, float* y) {
    const int thread = blockIdx.x * threads_per_block + threadIdx.x;
    const int begin = min(thread * steps_per_thread, rows + elements);
    const int end = min(begin + steps_per_thread, rows + elements);
    Place at = place_after(begin, first, rows, elements);
    float sum = 0;
    for (int step = begin; step < end; ++step) {
        // TODO 2: take a step. If the row has an element left, add its product to `sum`.
        // Otherwise the row ends: add `sum` to y[at.row] by atomicAdd, because other
        // threads may have added elements of the same row, and go on with the next row. (At
        // present all steps are ends of rows, and no sum has an element.)
        if (at.row < rows) atomicAdd(&y[at.row++], sum);
    }
    // TODO 3: which row does `sum` belong to now? Is there always one?
}

void multiply(const int* d_first, const int* d_cols, const float* d_values, int rows,
              int elements, const float* d_x, float* d_y) {
    if (rows == 0) return;
    cudaMemset(d_y, 0, rows * sizeof(float));
    // TODO 4: how many threads take all steps? (At present there is a thread for each row.)
    const int threads = rows;
    const int blocks = (threads + threads_per_block - 1) / threads_per_block;
    equal_steps<<<blocks, threads_per_block>>>(d_first, d_cols, d_values, rows, elements,
                                               d_x, d_y);
}
