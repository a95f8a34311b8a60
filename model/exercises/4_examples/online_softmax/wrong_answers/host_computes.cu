// Wrong answer: the host computes everything
// Rejected by: handles rows of one element per thread
// Message: copied from host memory
#include "exercises/4_examples/online_softmax/online_softmax.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <vector>

void softmax(const float* d_in, size_t rows, size_t cols, float* d_out) {
    if (rows == 0 || cols == 0) return;
    std::vector<float> x(rows * cols);
    cudaMemcpy(x.data(), d_in, x.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (size_t row = 0; row < rows; ++row) {
        float* const of_row = x.data() + row * cols;
        const float largest = *std::max_element(of_row, of_row + cols);
        double sum = 0;
        for (size_t col = 0; col < cols; ++col)
            sum += of_row[col] = std::exp(of_row[col] - largest);
        for (size_t col = 0; col < cols; ++col) of_row[col] /= static_cast<float>(sum);
    }
    cudaMemcpy(d_out, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
}
