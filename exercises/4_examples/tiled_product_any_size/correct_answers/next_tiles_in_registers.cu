// Correct answer: the elements of the next tiles are loaded while these are used
#include "exercises/4_examples/tiled_product_any_size/tiled_product_any_size.h"

constexpr int side = 16;  // of a tile

__global__ void product_tiles(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[side][side];
    __shared__ float b_tile[side][side];
    const int x = threadIdx.x, y = threadIdx.y;
    const int tiles_across = (n - 1) / side + 1;
    const int row = blockIdx.x / tiles_across * side + y;
    const int col = blockIdx.x % tiles_across * side + x;

    const auto a_at = [=](int term) { return row < m && term < k ? a[static_cast<size_t>(row) * k + term] : 0.0f; };
    const auto b_at = [=](int term) { return term < k && col < n ? b[static_cast<size_t>(term) * n + col] : 0.0f; };
    float sum = 0;
    float next_a = a_at(x), next_b = b_at(y);
    for (int first = 0; first < k; first += side) {
        a_tile[y][x] = next_a;
        b_tile[y][x] = next_b;
        __syncthreads();
        next_a = a_at(first + side + x);
        next_b = b_at(first + side + y);
        for (int p = 0; p < side; ++p) sum += a_tile[y][p] * b_tile[p][x];
        __syncthreads();
    }
    if (row < m && col < n) c[static_cast<size_t>(row) * n + col] = sum;
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    const int grid = ((m - 1) / side + 1) * ((n - 1) / side + 1);
    product_tiles<<<grid, dim3(side, side)>>>(d_a, d_b, d_c, m, n, k);
}
