// Correct answer: two pairs of tiles, with one barrier per turn
#include "exercises/4_examples/register_tile/register_tile.h"

constexpr int T = 16, P = 4, side = T * P;

__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float left[2][T][side + 1], right[2][T][side];
    const int x = threadIdx.x % T, y = threadIdx.x / T;
    const int top = blockIdx.y * side, start = blockIdx.x * side;
    float sums[P][P] = {}, from_a[P], from_b[P];
    const auto fetch = [&](int first) {
        for (int i = 0; i < P; ++i) {
            const int row = top + y + i * T, p = first + x;
            from_a[i] = row < m && p < k ? __ldg(a + size_t(row) * k + p) : 0;
            const int q = first + y, col = start + x + i * T;
            from_b[i] = q < k && col < n ? __ldg(b + size_t(q) * n + col) : 0;
        }
    };
    const auto put = [&](int pair) {
        for (int i = 0; i < P; ++i) {
            left[pair][x][y + i * T] = from_a[i];
            right[pair][y][x + i * T] = from_b[i];
        }
    };
    fetch(0);
    put(0);
    __syncthreads();
    for (int first = 0, pair = 0; first < k; first += T, pair = 1 - pair) {
        fetch(first + T);
        for (int p = 0; p < T; ++p) {
            float l[P], r[P];
            for (int i = 0; i < P; ++i) l[i] = left[pair][p][y + i * T];
            for (int j = 0; j < P; ++j) r[j] = right[pair][p][x + j * T];
            for (int ij = 0; ij < P * P; ++ij)
                sums[ij / P][ij % P] += l[ij / P] * r[ij % P];
        }
        put(1 - pair);
        __syncthreads();
    }
    for (int ij = 0; ij < P * P; ++ij) {
        const int row = top + y + ij / P * T, col = start + x + ij % P * T;
        if (row < m && col < n) c[size_t(row) * n + col] = sums[ij / P][ij % P];
    }
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    const dim3 grid((n + side - 1) / side, (m + side - 1) / side);
    product<<<grid, T * T>>>(d_a, d_b, d_c, m, n, k);
}
