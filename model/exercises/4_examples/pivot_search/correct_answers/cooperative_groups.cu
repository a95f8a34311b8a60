// Correct answer: a thread block and tiles of cooperative groups, xor shuffles
#include "exercises/4_examples/pivot_search/pivot_search.h"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__device__ bool is_better(float a, int row_a, float b, int row_b) {
    const bool nan_a = a != a, nan_b = b != b;
    if (nan_a || nan_b) return nan_a && (!nan_b || row_a < row_b);
    return a > b || (a == b && row_a < row_b);
}

__global__ void search(const float* matrix, size_t pitch, int rows, int column,
                       int* pivot_row) {
    __shared__ float values[8];
    __shared__ int numbers[8];
    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    float value = -1.0f;
    int number = rows;
    const float* const first = matrix + column;
    for (int row = column + block.thread_rank(); row < rows; row += block.size()) {
        const float candidate = fabsf(first[row * pitch]);
        if (is_better(candidate, row, value, number)) {
            value = candidate;
            number = row;
        }
    }
    for (unsigned mask = 1; mask < 32; mask *= 2) {
        const float other = warp.shfl_xor(value, mask);
        const int its_number = warp.shfl_xor(number, mask);
        if (is_better(other, its_number, value, number)) {
            value = other;
            number = its_number;
        }
    }
    if (warp.thread_rank() == 0) {
        values[warp.meta_group_rank()] = value;
        numbers[warp.meta_group_rank()] = number;
    }
    block.sync();
    if (block.thread_rank() == 0) {
        for (int w = 1; w < 8; ++w) {
            if (is_better(values[w], numbers[w], value, number)) {
                value = values[w];
                number = numbers[w];
            }
        }
        pivot_row[0] = number;
    }
}

void find_pivot(const float* d_matrix, size_t pitch, int rows, int column,
                int* d_pivot_row) {
    search<<<1, 256>>>(d_matrix, pitch, rows, column, d_pivot_row);
}
