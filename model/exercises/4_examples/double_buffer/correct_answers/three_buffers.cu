// Correct answer: three pairs of tiles, and tiles of 32 x 32
#include "exercises/4_examples/double_buffer/double_buffer.h"

constexpr int S = 32;

__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float at[3][S][S];
    __shared__ float bt[3][S][S];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * S + y, col = blockIdx.x * S + x;
    const auto from_a = [&](int p) {
        return row < m && p < k ? a[size_t(row) * k + p] : 0.0f;
    };
    const auto from_b = [&](int p) {
        return p < k && col < n ? b[size_t(p) * n + col] : 0.0f;
    };
    at[0][y][x] = from_a(x);
    bt[0][y][x] = from_b(y);
    float u = from_a(S + x), v = from_b(S + y), sum = 0;
    const int tiles = (k + S - 1) / S;
    for (int tile = 0; tile < tiles; ++tile) {
        const int next = (tile + 1) % 3;
        at[next][y][x] = u;
        bt[next][y][x] = v;
        __syncthreads();
        u = from_a((tile + 2) * S + x);
        v = from_b((tile + 2) * S + y);
        for (int p = 0; p < S; ++p) sum = fmaf(at[tile % 3][y][p], bt[tile % 3][p][x], sum);
    }
    if (row < m && col < n) c[size_t(row) * n + col] = sum;
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m > 0 && n > 0) {
        product<<<dim3((n + S - 1) / S, (m + S - 1) / S), dim3(S, S)>>>(d_a, d_b, d_c, m, n,
                                                                        k);
    }
}
