// Wrong answer: the host computes everything
// Rejected by: normalizes rows around 0
// Message: copied from host memory
#include "exercises/4_examples/layer_norm_welford/layer_norm_welford.h"

#include <cuda_runtime.h>

#include <cmath>
#include <vector>

void normalize(const float* d_in, size_t rows, size_t cols, float* d_out) {
    if (rows == 0 || cols == 0) return;
    std::vector<float> all(rows * cols);
    cudaMemcpy(all.data(), d_in, all.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (size_t row = 0; row < rows; ++row) {
        float* const x = all.data() + row * cols;
        double sum = 0, square = 0;
        for (size_t col = 0; col < cols; ++col) sum += x[col];
        const double mean = sum / static_cast<double>(cols);
        for (size_t col = 0; col < cols; ++col) square += (x[col] - mean) * (x[col] - mean);
        const double root = std::sqrt(square / static_cast<double>(cols) + 1e-5);
        for (size_t col = 0; col < cols; ++col)
            x[col] = static_cast<float>((x[col] - mean) / root);
    }
    cudaMemcpy(d_out, all.data(), all.size() * sizeof(float), cudaMemcpyHostToDevice);
}
