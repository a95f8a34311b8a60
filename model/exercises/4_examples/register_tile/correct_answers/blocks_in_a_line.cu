// Correct answer: blocks of 64 threads, tiles of 32 x 32, in dynamic shared memory
#include "exercises/4_examples/register_tile/register_tile.h"

// A is stored by columns in its tile, so that a thread's four floats of A are neighbors.
__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
    extern __shared__ float tiles[];
    float* a_tile = tiles;           // 8 x 33
    float* b_tile = tiles + 8 * 33;  // 8 x 32
    const unsigned across = (n + 31) / 32, t = threadIdx.x;
    const int row0 = blockIdx.x / across * 32, col0 = blockIdx.x % across * 32;
    const int my_row = t / 8 * 4, my_col = t % 8;
    float sum[16];
    for (float& s : sum) s = 0;
    for (int first = 0; first < k; first += 8) {
        for (int e = t; e < 32 * 8; e += 64) {
            const int row = row0 + e / 8, p = first + e % 8;
            float value = 0;
            if (row < m && p < k) value = a[(size_t)row * k + p];
            a_tile[e % 8 * 33 + e / 8] = value;
        }
        for (int e = t; e < 32 * 8; e += 64) {
            const int p = first + e / 32, col = col0 + e % 32;
            float value = 0;
            if (p < k && col < n) value = b[(size_t)p * n + col];
            b_tile[e] = value;
        }
        __syncthreads();
        for (int p = 0; p < 8; ++p) {
            float u[4], v[4];
            for (int i = 0; i < 4; ++i) u[i] = a_tile[p * 33 + my_row + i];
            for (int i = 0; i < 4; ++i) v[i] = b_tile[p * 32 + my_col + 8 * i];
            for (int i = 0; i < 16; ++i) sum[i] = fmaf(u[i / 4], v[i % 4], sum[i]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 16; ++i) {
        const int row = row0 + my_row + i / 4, col = col0 + my_col + i % 4 * 8;
        if (row < m && col < n) c[(size_t)row * n + col] = sum[i];
    }
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    const unsigned blocks = (unsigned)((m + 31) / 32) * ((n + 31) / 32);
    if (blocks > 0)
        product<<<blocks, 64, (8 * 33 + 8 * 32) * sizeof(float)>>>(d_a, d_b, d_c, m, n, k);
}
