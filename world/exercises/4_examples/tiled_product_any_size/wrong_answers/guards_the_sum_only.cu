// Wrong answer: stops each sum after k terms, and still loads what is not there
// Rejected by: adds up the right terms when k cuts the tiles short
// Message: out of bounds: a thread reads
#include "exercises/4_examples/tiled_product_any_size/tiled_product_any_size.h"

constexpr int side = 16;  // of a tile

__global__ void product_tiles(const float* a, const float* b, float* c, int m, int n,
                              int k) {
    __shared__ float a_tile[side][side];
    __shared__ float b_tile[side][side];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * side + y,
              col = blockIdx.x * side + x;  // of the thread's element of C

    float sum = 0;
    for (int first = 0; first < k; first += side) {
        a_tile[y][x] = a[static_cast<size_t>(row) * k + first + x];
        b_tile[y][x] = b[static_cast<size_t>(first + y) * n + col];
        __syncthreads();
        for (int p = 0; p < side && first + p < k; ++p) sum += a_tile[y][p] * b_tile[p][x];
        __syncthreads();
    }
    if (row < m && col < n) c[static_cast<size_t>(row) * n + col] = sum;
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    const dim3 grid((n + side - 1) / side, (m + side - 1) / side);
    product_tiles<<<grid, dim3(side, side)>>>(d_a, d_b, d_c, m, n, k);
}
