// Solution: a matrix and its transpose, added in place, with every access in whole sectors.
//
// Element (y, x) of the upper tile is averaged with element (x, y) of the lower one, so one
// of the two has to be read across. In global memory that costs 32 sectors per request. So
// both tiles come into shared memory row by row, 4 sectors each, and are read across there.
// Rows of 33 floats put the 32 lanes of a column into 32 banks.
//
// Each thread writes two averages: (y, x) of the upper tile, which takes (x, y) from the
// lower one, and (y, x) of the lower tile, which takes (x, y) from the upper one. It works
// out every average twice, and that is cheap: additions cost nothing next to sectors. No
// thread writes global memory before all have read: the barrier sees to that.
//
// On the diagonal the two tiles are the same. One is enough there.
#include "exercises/3_optimization/transpose_both_ways/transpose_both_ways.h"

constexpr int side = 32;  // of a tile
constexpr int block_rows =
    8;  // rows of a block of threads; each thread takes side / block_rows elements

__global__ void average_with_mirror_image(float* a, int n) {
    if (blockIdx.x < blockIdx.y) return;
    __shared__ float upper[side][side + 1];
    __shared__ float lower[side][side + 1];
    const int tile_row = blockIdx.y * side;
    const int tile_col = blockIdx.x * side;
    const bool on_diagonal = tile_row == tile_col;
    const int x = threadIdx.x;

    for (int y = threadIdx.y; y < side; y += block_rows) {
        if (tile_row + y < n && tile_col + x < n) {
            upper[y][x] = a[static_cast<size_t>(tile_row + y) * n + tile_col + x];
        }
        if (!on_diagonal && tile_col + y < n && tile_row + x < n) {
            lower[y][x] = a[static_cast<size_t>(tile_col + y) * n + tile_row + x];
        }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < side; y += block_rows) {
        if (tile_row + y < n && tile_col + x < n) {
            const float mirrored = on_diagonal ? upper[x][y] : lower[x][y];
            a[static_cast<size_t>(tile_row + y) * n + tile_col + x] =
                (upper[y][x] + mirrored) / 2;
        }
        if (!on_diagonal && tile_col + y < n && tile_row + x < n) {
            a[static_cast<size_t>(tile_col + y) * n + tile_row + x] =
                (lower[y][x] + upper[x][y]) / 2;
        }
    }
}

void make_symmetric(float* d_a, int n) {
    if (n == 0) return;
    const int tiles = (n + side - 1) / side;
    average_with_mirror_image<<<dim3(tiles, tiles), dim3(side, block_rows)>>>(d_a, n);
}
