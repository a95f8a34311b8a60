// Wrong answer: each turn adds to C, which nobody has set to zero
// Rejected by: multiplies matrices of whole tiles
// Message: is nan, should be
#include "exercises/4_examples/double_buffer/double_buffer.h"

constexpr int T = 16;

__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float left[2][T][T], right[2][T][T];
    const int x = threadIdx.x, y = threadIdx.y, across = (n + T - 1) / T;
    const int row = blockIdx.x / across * T + y, col = blockIdx.x % across * T + x;
    left[0][y][x] = row < m && x < k ? a[size_t(row) * k + x] : 0;
    right[0][y][x] = y < k && col < n ? b[size_t(y) * n + col] : 0;
    __syncthreads();
    for (int first = 0, now = 0; first < k; first += T, now = 1 - now) {
        const int p = first + T + x, q = first + T + y;
        const float next_a = row < m && p < k ? a[size_t(row) * k + p] : 0;
        const float next_b = q < k && col < n ? b[size_t(q) * n + col] : 0;
        float sum = 0;
        for (int i = 0; i < T; ++i) sum += left[now][y][i] * right[now][i][x];
        if (row < m && col < n) c[size_t(row) * n + col] += sum;
        left[1 - now][y][x] = next_a;
        right[1 - now][y][x] = next_b;
        __syncthreads();
    }
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    product<<<(m + T - 1) / T*((n + T - 1) / T), dim3(T, T)>>>(d_a, d_b, d_c, m, n, k);
}
