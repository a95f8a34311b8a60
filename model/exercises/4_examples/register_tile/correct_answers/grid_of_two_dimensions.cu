// Correct answer: a grid of two dimensions, 2 x 8 elements per thread
#include "exercises/4_examples/register_tile/register_tile.h"

constexpr int kRows = 32, kCols = 128, kTerms = 8;  // of a block of 16 x 16 threads

__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float at[kRows][kTerms + 1];
    __shared__ float bt[kTerms][kCols];
    const int t = threadIdx.y * 16 + threadIdx.x;
    const int row0 = blockIdx.y * kRows, col0 = blockIdx.x * kCols;
    float s0[8] = {0}, s1[8] = {0};
    for (int first = 0; first < k; first += kTerms) {
        if (first > 0) __syncthreads();
        {
            const int r = t / kTerms, p = t % kTerms;
            at[r][p] =
                row0 + r < m && first + p < k ? a[size_t(row0 + r) * k + first + p] : 0.f;
        }
        for (int e = t; e < kTerms * kCols; e += 256) {
            const int p = e / kCols, col = e % kCols;
            bt[p][col] = first + p < k && col0 + col < n
                             ? b[size_t(first + p) * n + col0 + col]
                             : 0.f;
        }
        __syncthreads();
        for (int p = 0; p < kTerms; ++p) {
            const float u = at[threadIdx.y][p], v = at[threadIdx.y + 16][p];
            for (int j = 0; j < 8; ++j) {
                const float w = bt[p][threadIdx.x + 16 * j];
                s0[j] += u * w;
                s1[j] += v * w;
            }
        }
    }
    for (int j = 0; j < 8; ++j) {
        const int col = col0 + threadIdx.x + 16 * j, row = row0 + threadIdx.y;
        if (col >= n) continue;
        if (row < m) c[size_t(row) * n + col] = s0[j];
        if (row + 16 < m) c[size_t(row + 16) * n + col] = s1[j];
    }
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    const dim3 grid((n + kCols - 1) / kCols, (m + kRows - 1) / kRows);
    product<<<grid, dim3(16, 16)>>>(d_a, d_b, d_c, m, n, k);
}
