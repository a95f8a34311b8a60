// Wrong answer: the next pair of elements waits in registers, and there is no tile at all
// Rejected by: loads all elements through tiles
// Message: no shared memory was used
#include "exercises/4_examples/double_buffer/double_buffer.h"

__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
    const int across = (n + 15) / 16;
    const int row = blockIdx.x / across * 16 + threadIdx.y;
    const int col = blockIdx.x % across * 16 + threadIdx.x;
    if (row >= m || col >= n) return;
    float sum = 0;
    float next_a = k > 0 ? a[size_t(row) * k] : 0, next_b = k > 0 ? b[col] : 0;
    for (int p = 0; p < k; ++p) {
        const float now_a = next_a, now_b = next_b;
        if (p + 1 < k)
            next_a = a[size_t(row) * k + p + 1], next_b = b[size_t(p + 1) * n + col];
        sum += now_a * now_b;
    }
    c[size_t(row) * n + col] = sum;
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    product<<<(m + 15) / 16 * ((n + 15) / 16), dim3(16, 16)>>>(d_a, d_b, d_c, m, n, k);
}
