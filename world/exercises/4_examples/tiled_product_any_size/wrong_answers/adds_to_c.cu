// Wrong answer: adds to what C held before
// Rejected by: multiplies matrices of whole tiles
// Message: 256 wrong
#include "exercises/4_examples/tiled_product_any_size/tiled_product_any_size.h"

constexpr int side = 16;  // of a tile

__global__ void product_tiles(const float* a, const float* b, float* c, int m, int n,
                              int k) {
    __shared__ float a_tile[side][side];
    __shared__ float b_tile[side][side];
    const int x = threadIdx.x, y = threadIdx.y;
    const int tiles_across = (n - 1) / side + 1;
    const int row = blockIdx.x / tiles_across * side + y;
    const int col = blockIdx.x % tiles_across * side + x;

    float sum = 0;
    for (int first = 0; first < k; first += side) {
        const bool has_a = row < m && first + x < k;
        const bool has_b = first + y < k && col < n;
        a_tile[y][x] = has_a ? a[static_cast<size_t>(row) * k + first + x] : 0;
        b_tile[y][x] = has_b ? b[static_cast<size_t>(first + y) * n + col] : 0;
        __syncthreads();
        for (int p = 0; p < side; ++p) sum += a_tile[y][p] * b_tile[p][x];
        __syncthreads();
    }
    if (row < m && col < n) c[static_cast<size_t>(row) * n + col] += sum;
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    const int grid = ((m - 1) / side + 1) * ((n - 1) / side + 1);
    product_tiles<<<grid, dim3(side, side)>>>(d_a, d_b, d_c, m, n, k);
}
