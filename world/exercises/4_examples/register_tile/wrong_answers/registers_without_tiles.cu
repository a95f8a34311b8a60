// Wrong answer: 4 x 4 elements per thread, straight from global memory
// Rejected by: multiplies matrices of whole tiles
// Message: shared memory
#include "exercises/4_examples/register_tile/register_tile.h"

__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
    const int across = (n - 1) / 64 + 1;
    const int top = blockIdx.x / across * 64 + threadIdx.y;
    const int left = blockIdx.x % across * 64 + threadIdx.x;
    float sums[4][4] = {};
    for (int p = 0; p < k; ++p) {
        float u[4], v[4];
        for (int i = 0; i < 4; ++i)
            u[i] = top + 16 * i < m ? a[size_t(top + 16 * i) * k + p] : 0;
        for (int j = 0; j < 4; ++j)
            v[j] = left + 16 * j < n ? b[size_t(p) * n + left + 16 * j] : 0;
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j) sums[i][j] += u[i] * v[j];
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            if (top + 16 * i < m && left + 16 * j < n)
                c[size_t(top + 16 * i) * n + left + 16 * j] = sums[i][j];
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    product<<<((m - 1) / 64 + 1) * ((n - 1) / 64 + 1), dim3(16, 16)>>>(d_a, d_b, d_c, m, n,
                                                                       k);
}
