// Correct answer: blocks of 16 x 8 threads, two elements of C per thread
#include "exercises/4_examples/tiled_product_any_size/tiled_product_any_size.h"

constexpr int side = 16;
constexpr int half = side / 2;

__global__ void product_tiles(const float* a, const float* b, float* c, int m, int n,
                              int k) {
    __shared__ float a_tile[side][side];
    __shared__ float b_tile[side][side];
    const int x = threadIdx.x;
    const int tiles_across = (n - 1) / side + 1;
    const int col = blockIdx.x % tiles_across * side + x;
    float sums[2] = {0, 0};
    for (int first = 0; first < k; first += side) {
        for (int y = threadIdx.y; y < side; y += half) {
            const int row = blockIdx.x / tiles_across * side + y;
            const size_t in_a = static_cast<size_t>(row) * k + first + x;
            const size_t in_b = static_cast<size_t>(first + y) * n + col;
            a_tile[y][x] = row < m && first + x < k ? a[in_a] : 0.0f;
            b_tile[y][x] = col < n && first + y < k ? b[in_b] : 0.0f;
        }
        __syncthreads();
        for (int p = 0; p < side; ++p) {
            const float factor = b_tile[p][x];
            sums[0] += a_tile[threadIdx.y][p] * factor;
            sums[1] += a_tile[threadIdx.y + half][p] * factor;
        }
        __syncthreads();
    }
    for (int part = 0; part < 2; ++part) {
        const int row = blockIdx.x / tiles_across * side + threadIdx.y + part * half;
        if (row < m && col < n) c[static_cast<size_t>(row) * n + col] = sums[part];
    }
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    const int grid = ((m - 1) / side + 1) * ((n - 1) / side + 1);
    product_tiles<<<grid, dim3(side, half)>>>(d_a, d_b, d_c, m, n, k);
}
