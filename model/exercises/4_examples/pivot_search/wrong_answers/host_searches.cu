// Wrong answer: the host searches, the kernel only stores what it has found
// Rejected by: finds the largest magnitude
// Message: the launch has another shape
#include "exercises/4_examples/pivot_search/pivot_search.h"

#include <cuda_runtime.h>

#include <cmath>

__global__ void store(int* pivot_row, int row) { *pivot_row = row; }

void find_pivot(const float* d_matrix, size_t pitch, int rows, int column,
                int* d_pivot_row) {
    int best = column;
    float largest = -1;
    for (int row = column; row < rows; ++row) {
        float value = 0;
        cudaMemcpy(&value, d_matrix + row * pitch + column, sizeof value,
                   cudaMemcpyDeviceToHost);
        if (std::isnan(value)) {
            best = row;
            break;
        }
        if (std::fabs(value) > largest) {
            largest = std::fabs(value);
            best = row;
        }
    }
    store<<<1, 1>>>(d_pivot_row, best);
}
