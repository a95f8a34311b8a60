// Wrong answer: each thread goes through global memory
// Rejected by: multiplies matrices of whole tiles
// Message: no shared memory was used
#include "exercises/4_examples/tiled_product_any_size/tiled_product_any_size.h"

__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;
    float sum = 0;
    for (int p = 0; p < k; ++p)
        sum += a[static_cast<size_t>(row) * k + p] * b[static_cast<size_t>(p) * n + col];
    c[static_cast<size_t>(row) * n + col] = sum;
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    product<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(d_a, d_b, d_c, m, n, k);
}
