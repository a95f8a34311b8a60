// Exercise: a matrix plus its transpose, in place, with half of all accesses scattered.
// The task: ./warpwise task transpose_both_ways
#include "exercises/3_optimization/transpose_both_ways/transpose_both_ways.h"

constexpr int side = 32;  // of a tile
constexpr int block_rows =
    8;  // rows of threads per block; each thread handles side / block_rows elements

// Block (bx, by) with bx >= by handles the tile at (by, bx) and its mirror image, the tile
// at (bx, by). Blocks below the diagonal have nothing to do.
__global__ void average_with_mirror_image(float* a, int n) {
    if (blockIdx.x < blockIdx.y) return;
    const int tile_row = blockIdx.y * side;
    const int tile_col = blockIdx.x * side;
    const int x = threadIdx.x;

    // TODO 1: how many sectors do these two loads and these two stores of a warp touch?
    // TODO 2: load both tiles row by row into shared memory, and store both row by row.
    // What has to be between the loads and the stores?
    // TODO 3: make sure that accesses to the tiles have no bank conflicts.
    for (int y = threadIdx.y; y < side; y += block_rows) {
        const int row = tile_row + y;
        const int col = tile_col + x;
        if (row < n && col < n && row <= col) {
            const size_t here = static_cast<size_t>(row) * n + col;
            const size_t mirrored = static_cast<size_t>(col) * n + row;
            const float average = (a[here] + a[mirrored]) / 2;
            a[here] = average;
            a[mirrored] = average;
        }
    }
}

void make_symmetric(float* d_a, int n) {
    if (n == 0) return;
    const int tiles = (n + side - 1) / side;
    average_with_mirror_image<<<dim3(tiles, tiles), dim3(side, block_rows)>>>(d_a, n);
}
