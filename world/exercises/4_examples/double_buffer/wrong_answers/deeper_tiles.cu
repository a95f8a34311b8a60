// Wrong answer: one pair of tiles that are twice as deep, with two barriers for each
// Rejected by: passes one barrier per tile
// Message: barriers of a warp: 32, at most 17 allowed
#include "exercises/4_examples/double_buffer/double_buffer.h"

__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[16][32], b_tile[32][16];
    const int x = threadIdx.x, y = threadIdx.y, across = (n - 1) / 16 + 1;
    const int row = blockIdx.x / across * 16 + y, col = blockIdx.x % across * 16 + x;
    float sum = 0;
    for (int first = 0; first < k; first += 32) {
        for (int h = 0; h < 32; h += 16) {
            const int p = first + h;
            a_tile[y][x + h] = row < m && p + x < k ? a[size_t(row) * k + p + x] : 0;
            b_tile[y + h][x] = p + y < k && col < n ? b[size_t(p + y) * n + col] : 0;
        }
        __syncthreads();
        for (int p = 0; p < 32; ++p) sum += a_tile[y][p] * b_tile[p][x];
        __syncthreads();
    }
    if (row < m && col < n) c[size_t(row) * n + col] = sum;
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    product<<<((m - 1) / 16 + 1) * ((n - 1) / 16 + 1), dim3(16, 16)>>>(d_a, d_b, d_c, m, n,
                                                                       k);
}
