// Solution: a sparse product with equal work for each thread, whatever the rows are.
// are.
//
// Elements and ends of rows stand in one line: the elements of row 0, its end, the elements
// of row 1, its end, and so on. The end of row r has all elements before first[r + 1] and r
// other ends before it, so it is step r + first[r + 1]. These numbers ascend with r, which
// is what the binary search needs.
//
// A thread may begin and end within a row, and the row may go through many threads. Each of
// them adds what it has, so y has to be 0 before. The end of the last row is the last step,
// so the threads after it have no row left: they must not touch y[rows].
#include "exercises/4_examples/rows_of_all_lengths/rows_of_all_lengths.h"

#include <cuda_runtime.h>

constexpr int threads_per_block = 256;
constexpr int steps_per_thread = 8;

struct Place {
    int row;      // how many rows have ended
    int element;  // how many elements are added
};

__device__ Place place_after(int steps, const int* first, int rows, int elements) {
    int low = max(steps - elements, 0), high = min(steps, rows);
    while (low < high) {
        const int middle = (low + high) / 2;
        if (middle + first[middle + 1] < steps)
            low = middle + 1;
        else
            high = middle;
    }
    return {low, steps - low};
}

__global__ void equal_steps(const int* first, const int* cols, const float* values,
                            int rows, int elements, const float* x, float* y) {
    const int thread = blockIdx.x * threads_per_block + threadIdx.x;
    const int begin = min(thread * steps_per_thread, rows + elements);
    const int end = min(begin + steps_per_thread, rows + elements);
    Place at = place_after(begin, first, rows, elements);
    float sum = 0;
    for (int step = begin; step < end; ++step) {
        if (at.element < first[at.row + 1]) {
            sum += values[at.element] * x[cols[at.element]];
            ++at.element;
        } else {
            atomicAdd(&y[at.row], sum);
            sum = 0;
            ++at.row;
        }
    }
    if (at.row < rows && begin < end) atomicAdd(&y[at.row], sum);
}

void multiply(const int* d_first, const int* d_cols, const float* d_values, int rows,
              int elements, const float* d_x, float* d_y) {
    if (rows == 0) return;
    cudaMemset(d_y, 0, rows * sizeof(float));
    const int threads = (rows + elements + steps_per_thread - 1) / steps_per_thread;
    const int blocks = (threads + threads_per_block - 1) / threads_per_block;
    equal_steps<<<blocks, threads_per_block>>>(d_first, d_cols, d_values, rows, elements,
                                               d_x, d_y);
}
