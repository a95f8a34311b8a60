// Wrong answer: a column of four elements per thread: 1.25 floats per multiply-add
// Rejected by: loads at most two thirds of a float per multiply-add
// Message: floats loaded from shared memory per multiply-add: 1.25, at most 0.67 allowed
#include "exercises/4_examples/register_tile/register_tile.h"

__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[64][16], b_tile[16][16];
    const int x = threadIdx.x, y = threadIdx.y, across = (n - 1) / 16 + 1;
    const int top = blockIdx.x / across * 64, col = blockIdx.x % across * 16 + x;
    float sums[4] = {};
    for (int first = 0; first < k; first += 16) {
        for (int i = 0; i < 4; ++i) {
            const int row = top + y + 16 * i;
            a_tile[y + 16 * i][x] =
                row < m && first + x < k ? a[size_t(row) * k + first + x] : 0;
        }
        b_tile[y][x] = first + y < k && col < n ? b[size_t(first + y) * n + col] : 0;
        __syncthreads();
        for (int p = 0; p < 16; ++p) {
            const float right = b_tile[p][x];
            for (int i = 0; i < 4; ++i) sums[i] += a_tile[y + 16 * i][p] * right;
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        const int row = top + y + 16 * i;
        if (row < m && col < n) c[size_t(row) * n + col] = sums[i];
    }
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    product<<<((m - 1) / 64 + 1) * ((n - 1) / 16 + 1), dim3(16, 16)>>>(d_a, d_b, d_c, m, n,
                                                                       k);
}
