// Correct answer: both tiles in dynamic shared memory, blocks in one dimension
#include "exercises/4_examples/tiled_product_any_size/tiled_product_any_size.h"

template <int Side>
__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
    extern __shared__ float tiles[];
    float* const a_tile = tiles;
    float* const b_tile = tiles + Side * Side;
    const int x = threadIdx.x % Side, y = threadIdx.x / Side;
    const int tiles_across = (n - 1) / Side + 1;
    const int row = blockIdx.x / tiles_across * Side + y;
    const int col = blockIdx.x % tiles_across * Side + x;
    float sum = 0;
    int left = k;  // terms that are still to come
    while (left > 0) {
        a_tile[threadIdx.x] =
            row < m && x < left ? a[size_t(row) * k + (k - left) + x] : 0.0f;
        b_tile[threadIdx.x] =
            col < n && y < left ? b[size_t(k - left + y) * n + col] : 0.0f;
        __syncthreads();
        for (int p = 0; p < Side; ++p) sum += a_tile[y * Side + p] * b_tile[p * Side + x];
        __syncthreads();
        left -= Side;
    }
    if (row < m && col < n) c[size_t(row) * n + col] = sum;
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    constexpr int side = 16;
    const int grid = ((m - 1) / side + 1) * ((n - 1) / side + 1);
    const size_t bytes = 2 * side * side * sizeof(float);
    product<side><<<grid, side * side, bytes>>>(d_a, d_b, d_c, m, n, k);
}
