// Wrong answer: the host multiplies, and the kernel is empty
// Rejected by: multiplies rows of one float for each lane
// Message: copied from host memory
#include "exercises/4_examples/gemv_warp_per_row/gemv_warp_per_row.h"

#include <cuda_runtime.h>

#include <vector>

__global__ void a_warp_for_each_row() {}

void multiply(const float* d_matrix, size_t pitch, int rows, int cols, const float* d_x,
              float* d_y) {
    if (rows == 0) return;
    std::vector<float> row(cols), x(cols), y(rows);
    cudaMemcpy(x.data(), d_x, cols * sizeof(float), cudaMemcpyDeviceToHost);
    for (int r = 0; r < rows; ++r) {
        cudaMemcpy(row.data(), d_matrix + r * pitch, cols * sizeof(float),
                   cudaMemcpyDeviceToHost);
        for (int c = 0; c < cols; ++c) y[r] += row[c] * x[c];
    }
    cudaMemcpy(d_y, y.data(), rows * sizeof(float), cudaMemcpyHostToDevice);
    a_warp_for_each_row<<<(rows + 7) / 8, 256>>>();
}
