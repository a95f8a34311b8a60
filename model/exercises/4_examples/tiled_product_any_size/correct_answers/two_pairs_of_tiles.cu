// Correct answer: two pairs of tiles in turns, so that one barrier per round is enough
#include "exercises/4_examples/tiled_product_any_size/tiled_product_any_size.h"

constexpr int side = 16;

__device__ float element_or_zero(const float* matrix, int row, int col, int rows,
                                 int cols) {
    if (row >= rows || col >= cols) return 0.0f;
    return matrix[static_cast<size_t>(row) * cols + col];
}

__global__ void product_tiles(const float* a, const float* b, float* c, int m, int n,
                              int k) {
    __shared__ float a_tile[2][side][side];
    __shared__ float b_tile[2][side][side];
    const int x = threadIdx.x, y = threadIdx.y;
    const int tiles_across = (n - 1) / blockDim.x + 1;
    const int row = blockIdx.x / tiles_across * blockDim.y + y;
    const int col = blockIdx.x % tiles_across * blockDim.x + x;
    float sum = 0;
    int pair = 0;
    for (int first = 0; first < k; first += side) {
        a_tile[pair][y][x] = element_or_zero(a, row, first + x, m, k);
        b_tile[pair][y][x] = element_or_zero(b, first + y, col, k, n);
        __syncthreads();  // also: nobody still reads the other pair
        for (int p = 0; p < side; ++p) sum += a_tile[pair][y][p] * b_tile[pair][p][x];
        pair = 1 - pair;
    }
    if (row >= m || col >= n) return;
    c[static_cast<size_t>(row) * n + col] = sum;
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    const dim3 block(side, side);
    const int grid = ((n - 1) / block.x + 1) * ((m - 1) / block.y + 1);
    product_tiles<<<grid, block>>>(d_a, d_b, d_c, m, n, k);
}
