// Correct answer: 4 x 4 elements per thread, tiles in dynamic shared memory
#include "exercises/4_examples/double_buffer/double_buffer.h"

__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
    extern __shared__ float pairs[];  // two of 8 x 64 and 8 x 64
    const int t = threadIdx.x, across = (n - 1) / 64 + 1;
    const int row0 = blockIdx.x / across * 64, col0 = blockIdx.x % across * 64;
    float ua[2], ub[2], sums[4][4] = {};
    const auto load = [&](int first) {
        for (int h = 0; h < 2; ++h) {
            const int e = t + 256 * h;
            const int row = row0 + e / 8, p = first + e % 8, q = first + e / 64,
                      col = col0 + e % 64;
            ua[h] = row < m && p < k ? a[size_t(row) * k + p] : 0;
            ub[h] = q < k && col < n ? b[size_t(q) * n + col] : 0;
        }
    };
    const auto store = [&](float* pair) {
        for (int h = 0; h < 2; ++h) {
            const int e = t + 256 * h;
            pair[e % 8 * 64 + e / 8] = ua[h];
            pair[512 + e] = ub[h];
        }
    };
    load(0);
    store(pairs);
    __syncthreads();
    float* now = pairs;
    float* other = pairs + 1024;
    for (int first = 0; first < k; first += 8) {
        const bool more = first + 8 < k;
        if (more) load(first + 8);
        for (int p = 0; p < 8; ++p) {
            for (int i = 0; i < 4; ++i) {
                const float left = now[p * 64 + t / 16 + 16 * i];
                for (int j = 0; j < 4; ++j)
                    sums[i][j] += left * now[512 + p * 64 + t % 16 + 16 * j];
            }
        }
        if (!more) break;
        store(other);
        __syncthreads();
        float* const swap = now;
        now = other;
        other = swap;
    }
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            const int row = row0 + t / 16 + 16 * i, col = col0 + t % 16 + 16 * j;
            if (row < m && col < n) c[size_t(row) * n + col] = sums[i][j];
        }
    }
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    product<<<((m - 1) / 64 + 1) * ((n - 1) / 64 + 1), 256, 8192>>>(d_a, d_b, d_c, m, n, k);
}
