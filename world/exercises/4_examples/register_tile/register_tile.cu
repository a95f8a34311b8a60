// Exercise: a tiled matrix product that loads two floats per multiply-add.
// The task: ./warpwise task register_tile
#include "exercises/4_examples/register_tile/register_tile.h"

constexpr int side = 16;  // of a tile

__global__ void product_tiles(const float* a, const float* b, float* c, int m, int n,
                              int k) {
    __shared__ float a_tile[side][side];
    __shared__ float b_tile[side][side];
    const int x = threadIdx.x, y = threadIdx.y;
    const int tiles_across = (n - 1) / side + 1;           // tiles of C side by side
    const int row = blockIdx.x / tiles_across * side + y;  // of the thread's element of C
    const int col = blockIdx.x % tiles_across * side + x;

    // TODO 1: let a thread compute 4 x 4 elements of C. Which rows and columns are they?
    // How large are the tiles of C, A, and B then?
    float sum = 0;
    for (int first = 0; first < k; first += side) {
        // TODO 2: now the tiles have more places than the block has threads. Which thread
        // loads which elements?
        a_tile[y][x] =
            row < m && first + x < k ? a[static_cast<size_t>(row) * k + first + x] : 0;
        b_tile[y][x] =
            first + y < k && col < n ? b[static_cast<size_t>(first + y) * n + col] : 0;
        __syncthreads();
        // TODO 3: for each p, load 4 floats of A and 4 of B into local variables. How many
        // multiply-adds can you do with them?
        for (int p = 0; p < side; ++p) sum += a_tile[y][p] * b_tile[p][x];
        __syncthreads();
    }
    // TODO 4: store all elements that exist.
    if (row < m && col < n) c[static_cast<size_t>(row) * n + col] = sum;
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    // One block per tile of C, numbered in one dimension.
    const int tiles = ((m - 1) / side + 1) * ((n - 1) / side + 1);
    product_tiles<<<tiles, dim3(side, side)>>>(d_a, d_b, d_c, m, n, k);
}
