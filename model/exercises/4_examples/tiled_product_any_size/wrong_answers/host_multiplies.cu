// Wrong answer: the host multiplies, and the kernel is empty
// Rejected by: multiplies matrices of whole tiles
// Message: copied from host memory
#include "exercises/4_examples/tiled_product_any_size/tiled_product_any_size.h"

#include <vector>

__global__ void product_tiles() {}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    const size_t rows = m, cols = n, terms = k;
    std::vector<float> a(rows * terms), b(terms * cols), c(rows * cols);
    cudaMemcpy(a.data(), d_a, a.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(b.data(), d_b, b.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (size_t row = 0; row < rows; ++row) {
        for (size_t col = 0; col < cols; ++col) {
            for (size_t p = 0; p < terms; ++p)
                c[row * cols + col] += a[row * terms + p] * b[p * cols + col];
        }
    }
    cudaMemcpy(d_c, c.data(), c.size() * sizeof(float), cudaMemcpyHostToDevice);
    product_tiles<<<1, 1>>>();
}
