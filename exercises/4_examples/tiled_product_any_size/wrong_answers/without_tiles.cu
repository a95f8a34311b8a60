// Wrong answer: gives up the tiles; each thread reads its row of A and its column of B from global memory
// Rejected by: still loads each element once for a whole tile
// Message: Do the threads of a block still share what they load?
#include "exercises/4_examples/tiled_product_any_size/tiled_product_any_size.h"

constexpr int side = 16;  // of a tile

__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
    const int row = blockIdx.y * side + threadIdx.y, col = blockIdx.x * side + threadIdx.x;
    if (row >= m || col >= n) return;
    float sum = 0;
    for (int p = 0; p < k; ++p) sum += a[static_cast<size_t>(row) * k + p] * b[static_cast<size_t>(p) * n + col];
    c[static_cast<size_t>(row) * n + col] = sum;
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    const dim3 grid((n + side - 1) / side, (m + side - 1) / side);
    product<<<grid, dim3(side, side)>>>(d_a, d_b, d_c, m, n, k);
}
