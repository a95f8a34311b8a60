// Solution: a transpose that was tested with 1024 x 1024 and nothing else.
//
// There were three mistakes, and a square matrix of whole tiles hides all of them.
//
// The output has `cols` rows of `rows` elements, so from one of its rows to the next it is
// `rows` elements, not `cols`.
//
// The store asked whether the element that the thread had loaded was inside of the matrix.
// It stores another one: the element in row x and column y of the tile. Load and store each
// need a guard of their own.
//
// And a thread that has nothing to load may have something to store. It has to stay: in a
// tile that is cut short on the right, x runs over the rows when the tile is stored, and
// all 32 threads of a row are needed. The barrier itself does not need them, because it
// waits only for threads that have not exited; what an early return loses is the elements
// that these threads should have stored.
#include "exercises/3_optimization/transpose_any_shape/transpose_any_shape.h"

constexpr int side = 32;  // of a tile
constexpr int block_rows =
    8;  // rows of a block of threads; each thread takes side / block_rows elements

__global__ void transpose_tiles(const float* in, float* out, int rows, int cols) {
    __shared__ float tile[side][side + 1];
    const int tiles_across = (cols - 1) / side + 1;
    const int tile_row = blockIdx.x / tiles_across * side;
    const int tile_col = blockIdx.x % tiles_across * side;
    const int x = threadIdx.x;

    for (int y = threadIdx.y; y < side; y += block_rows) {
        if (tile_row + y < rows && tile_col + x < cols) {
            tile[y][x] = in[static_cast<size_t>(tile_row + y) * cols + tile_col + x];
        }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < side; y += block_rows) {
        if (tile_col + y < cols && tile_row + x < rows) {
            out[static_cast<size_t>(tile_col + y) * rows + tile_row + x] = tile[x][y];
        }
    }
}

void transpose(const float* d_in, float* d_out, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    // One block per tile. The tiles are numbered in one dimension, because a grid can have
    // 2,147,483,647 blocks in x, but only 65,535 in y.
    const int tiles = ((rows - 1) / side + 1) * ((cols - 1) / side + 1);
    transpose_tiles<<<tiles, dim3(side, block_rows)>>>(d_in, d_out, rows, cols);
}
