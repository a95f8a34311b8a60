// Wrong answer: the host multiplies
// Rejected by: multiplies matrices of whole tiles
// Message: copied from host memory
#include "exercises/4_examples/register_tile/register_tile.h"

#include <vector>

__global__ void nothing() {}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    std::vector<float> a(size_t(m) * k), b(size_t(k) * n), c(size_t(m) * n);
    cudaMemcpy(a.data(), d_a, a.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(b.data(), d_b, b.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (int row = 0; row < m; ++row)
        for (int p = 0; p < k; ++p)
            for (int col = 0; col < n; ++col)
                c[size_t(row) * n + col] += a[size_t(row) * k + p] * b[size_t(p) * n + col];
    cudaMemcpy(d_c, c.data(), c.size() * sizeof(float), cudaMemcpyHostToDevice);
    nothing<<<1, 1>>>();
}
