// Solution: a tiled matrix product in which each thread computes 4 x 4 elements of C.
//
// With one element per thread, each multiply-add needs one float of A and one of B, and
// both come from shared memory: two loads per multiply-add. The loads cannot keep up with
// the arithmetic units. With 4 x 4 elements, the 4 floats of A and 4 of B that a thread
// loads for one p give 16 multiply-adds, half a load for each. The 16 sums stay in
// registers.
//
// The rows and columns of a thread are 16 apart. So the lanes of a warp load neighboring
// floats of b_tile, which have no bank conflicts, and store neighboring elements of C.
#include "exercises/4_examples/register_tile/register_tile.h"

constexpr int BM = 64, BN = 64;   // rows and columns of the tile of C
constexpr int BK = 16;            // terms of a pair of tiles
constexpr int TM = 4, TN = 4;     // rows and columns of a thread
constexpr int threads = BM / TM;  // of a block in each direction

__global__ void product_register_tiles(const float* a, const float* b, float* c, int m,
                                       int n, int k) {
    __shared__ float a_tile[BM][BK];
    __shared__ float b_tile[BK][BN];
    const int x = threadIdx.x, y = threadIdx.y;
    const int tiles_across = (n - 1) / BN + 1;  // tiles of C side by side
    const int first_row = blockIdx.x / tiles_across * BM;
    const int first_col = blockIdx.x % tiles_across * BN;

    float sums[TM][TN] = {};
    for (int first = 0; first < k; first += BK) {
        // The block has 16 x 16 threads, the tiles have 64 x 16 and 16 x 64 places: each
        // thread fills four of each.
        for (int i = 0; i < TM; ++i) {
            const int row = first_row + y + i * threads, p = first + x;
            a_tile[y + i * threads][x] =
                row < m && p < k ? a[static_cast<size_t>(row) * k + p] : 0;
        }
        for (int j = 0; j < TN; ++j) {
            const int col = first_col + x + j * threads, p = first + y;
            b_tile[y][x + j * threads] =
                p < k && col < n ? b[static_cast<size_t>(p) * n + col] : 0;
        }
        __syncthreads();
        for (int p = 0; p < BK; ++p) {
            float left[TM], right[TN];
#pragma unroll
            for (int i = 0; i < TM; ++i) left[i] = a_tile[y + i * threads][p];
#pragma unroll
            for (int j = 0; j < TN; ++j) right[j] = b_tile[p][x + j * threads];
#pragma unroll
            for (int i = 0; i < TM; ++i) {
#pragma unroll
                for (int j = 0; j < TN; ++j) sums[i][j] += left[i] * right[j];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; ++i) {
        const int row = first_row + y + i * threads;
#pragma unroll
        for (int j = 0; j < TN; ++j) {
            const int col = first_col + x + j * threads;
            if (row < m && col < n) c[static_cast<size_t>(row) * n + col] = sums[i][j];
        }
    }
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    // One block per tile of C, numbered in one dimension.
    const int tiles = ((m - 1) / BM + 1) * ((n - 1) / BN + 1);
    product_register_tiles<<<tiles, dim3(threads, threads)>>>(d_a, d_b, d_c, m, n, k);
}
