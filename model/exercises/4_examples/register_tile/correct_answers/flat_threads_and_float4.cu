// Correct answer: 4 x 8 elements per thread, loaded from shared memory as float4
#include "exercises/4_examples/register_tile/register_tile.h"

constexpr int rows = 64, cols = 64, terms = 8, threads = 128;

__global__ void __launch_bounds__(threads)
    product(const float* a, const float* b, float* c, int m, int n, int k, int across) {
    __shared__ __align__(16) float left[terms][rows];
    __shared__ __align__(16) float right[terms][cols];
    const int t = threadIdx.x, top = blockIdx.x / across * rows;
    const int start = blockIdx.x % across * cols;
    const int r = t / 8 * 4, s = t % 8 * 4;  // 16 x 8 threads; columns s and s + 32
    float sum[4][8] = {};
    for (int first = 0; first < k; first += terms) {
        for (int place = t; place < rows * terms; place += threads) {
            const int row = top + place / terms, p = first + place % terms;
            left[place % terms][place / terms] =
                row < m && p < k ? a[size_t(row) * k + p] : 0;
        }
        for (int place = t; place < cols * terms; place += threads) {
            const int p = first + place / cols, col = start + place % cols;
            right[place / cols][place % cols] =
                p < k && col < n ? b[size_t(p) * n + col] : 0;
        }
        __syncthreads();
        for (int p = 0; p < terms; ++p) {
            const float4 l = *reinterpret_cast<const float4*>(&left[p][r]);
            const float4 u = *reinterpret_cast<const float4*>(&right[p][s]);
            const float4 v = *reinterpret_cast<const float4*>(&right[p][s + 32]);
            const float ls[] = {l.x, l.y, l.z, l.w};
            const float rs[] = {u.x, u.y, u.z, u.w, v.x, v.y, v.z, v.w};
#pragma unroll
            for (int i = 0; i < 4; ++i) {
#pragma unroll
                for (int j = 0; j < 8; ++j) sum[i][j] += ls[i] * rs[j];
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        const int row = top + r + i;
        if (row >= m) break;
        for (int j = 0; j < 8; j += 4) {
            const int col = start + s + j * 8;
            float* const to = c + size_t(row) * n + col;
            const float* const from = &sum[i][j];
            if (n % 4 == 0 && col < n) {
                *reinterpret_cast<float4*>(to) =
                    make_float4(from[0], from[1], from[2], from[3]);
            } else {
                for (int l = 0; l < 4 && col + l < n; ++l) to[l] = from[l];
            }
        }
    }
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    const int across = (n + cols - 1) / cols, down = (m + rows - 1) / rows;
    if (across * down > 0)
        product<<<across * down, threads>>>(d_a, d_b, d_c, m, n, k, across);
}
