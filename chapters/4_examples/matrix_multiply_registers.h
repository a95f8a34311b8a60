// Steps 6 to 10 of the lesson matrix_multiply: a tile of C for each thread, in registers.
//
// In shared memory an element serves the whole block; in a register it serves one thread, but costs nothing. Of a
// tile of r x c elements of C, each element of A that a thread has loaded takes part in c multiply-adds, and each of
// B in r.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "chapters/4_examples/matrix_multiply_tiles.h"

namespace examples {
namespace {

// Step 6, 1-D register tiles: a thread computes eight elements of a column of C, whose sums stay in registers. An
// element of B is loaded from shared memory once and used eight times. The tile is 64 x 64; one element of A and one
// of B a thread fill 8 terms of it. Better: nine loads of shared memory for eight multiply-adds instead of sixteen.
// Slow: still more than one each.
constexpr unsigned kSide1 = 64, kDepth1 = 8, kRows1 = 8;
constexpr unsigned kThreads1 = kSide1 * kSide1 / kRows1;

__global__ void __launch_bounds__(kThreads1)
    product_column_a_thread(const float* a, const float* b, float* c, Extents x) {
    __shared__ float a_tile[kSide1][kDepth1];
    __shared__ float b_tile[kDepth1][kSide1];
    const Corner corner = corner_of_block(x, kSide1, kSide1);
    const unsigned a_row = threadIdx.x / kDepth1, a_p = threadIdx.x % kDepth1;  // what the thread loads
    const unsigned b_p = threadIdx.x / kSide1, b_col = threadIdx.x % kSide1;
    const unsigned first_row = threadIdx.x / kSide1 * kRows1, own_col = b_col;  // what it computes

    float sums[kRows1] = {};
    for (std::size_t first = 0; first < x.k; first += kDepth1) {
        const bool in_a = corner.row + a_row < x.m && first + a_p < x.k;
        const bool in_b = first + b_p < x.k && corner.col + b_col < x.n;
        a_tile[a_row][a_p] = in_a ? a[(corner.row + a_row) * x.k + first + a_p] : 0;
        b_tile[b_p][b_col] = in_b ? b[(first + b_p) * x.n + corner.col + b_col] : 0;
        __syncthreads();
#pragma unroll
        for (unsigned p = 0; p < kDepth1; ++p) {
            const float right = b_tile[p][own_col];
#pragma unroll
            for (unsigned i = 0; i < kRows1; ++i) sums[i] += a_tile[first_row + i][p] * right;
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned i = 0; i < kRows1; ++i) {
        const std::size_t row = corner.row + first_row + i, col = corner.col + own_col;
        if (row < x.m && col < x.n) c[row * x.n + col] = sums[i];
    }
}

void column_a_thread(Multiplication& problem) {
    launch_tiles(product_column_a_thread, problem, kSide1, kSide1, kThreads1);
}

// Step 7, 2-D register tiles: 8 x 8 elements of C a thread. Eight elements of A and eight of B are loaded for 64
// multiply-adds: an outer product. The tile of the block is 128 x 128, so that global memory is asked for a 64th of a
// float for each multiply-add. A thread's rows and columns lie 16 apart: then lanes are side by side in B and in C.
// Better: a quarter of a load for each multiply-add. Slow: that is just what shared memory keeps up with, if nothing
// else goes on; and nothing is computed while the next tiles are on their way.
constexpr unsigned kSide2 = 128, kDepth2 = 8, kOwn = 8;  // own: rows and columns of a thread
constexpr unsigned kAcross = kSide2 / kOwn;              // threads across the tile, and down
constexpr unsigned kThreads2 = kAcross * kAcross;
constexpr unsigned kBlocksAnSm2 = 2;                        // leaves 128 registers a thread
constexpr unsigned kLoads2 = kSide2 * kDepth2 / kThreads2;  // elements of A, and of B, that a thread loads

__global__ void __launch_bounds__(kThreads2, kBlocksAnSm2)
    product_square_a_thread(const float* a, const float* b, float* c, Extents x) {
    __shared__ float a_tile[kSide2][kDepth2];
    __shared__ float b_tile[kDepth2][kSide2];
    const Corner corner = corner_of_block(x, kSide2, kSide2);
    const unsigned thread_row = threadIdx.x / kAcross, thread_col = threadIdx.x % kAcross;

    float sums[kOwn][kOwn] = {};
    for (std::size_t first = 0; first < x.k; first += kDepth2) {
#pragma unroll
        for (unsigned i = 0; i < kLoads2; ++i) {
            const unsigned number = threadIdx.x + i * kThreads2;
            const unsigned a_row = number / kDepth2, a_p = number % kDepth2;
            const unsigned b_p = number / kSide2, b_col = number % kSide2;
            const bool in_a = corner.row + a_row < x.m && first + a_p < x.k;
            const bool in_b = first + b_p < x.k && corner.col + b_col < x.n;
            a_tile[a_row][a_p] = in_a ? a[(corner.row + a_row) * x.k + first + a_p] : 0;
            b_tile[b_p][b_col] = in_b ? b[(first + b_p) * x.n + corner.col + b_col] : 0;
        }
        __syncthreads();
#pragma unroll
        for (unsigned p = 0; p < kDepth2; ++p) {
            float left[kOwn], right[kOwn];
#pragma unroll
            for (unsigned i = 0; i < kOwn; ++i) left[i] = a_tile[thread_row + i * kAcross][p];
#pragma unroll
            for (unsigned j = 0; j < kOwn; ++j) right[j] = b_tile[p][thread_col + j * kAcross];
#pragma unroll
            for (unsigned i = 0; i < kOwn; ++i) {
#pragma unroll
                for (unsigned j = 0; j < kOwn; ++j) sums[i][j] += left[i] * right[j];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned i = 0; i < kOwn; ++i) {
#pragma unroll
        for (unsigned j = 0; j < kOwn; ++j) {
            const std::size_t row = corner.row + thread_row + i * kAcross;
            const std::size_t col = corner.col + thread_col + j * kAcross;
            if (row < x.m && col < x.n) c[row * x.n + col] = sums[i][j];
        }
    }
}

void square_a_thread(Multiplication& problem) {
    launch_tiles(product_square_a_thread, problem, kSide2, kSide2, kThreads2);
}
// Step 8, 16 bytes a load. From global memory a thread takes four neighbors of A and four of B. From shared memory it
// takes its eight rows and eight columns in two loads each, so they have to be neighbors there: the tile of A is
// stored transposed. (132 floats a row of it: 16 bytes for every load to begin at, and no two lanes that store the
// same row of A in one bank.) Better: a quarter of the loads. Slow: loads of 16 bytes are served 8 lanes at a time,
// and these lie 32 bytes apart in B: two of them in each bank. For shared memory it is no better than step 7.
constexpr unsigned kPadded = kSide2 + 4;

__global__ void __launch_bounds__(kThreads2, kBlocksAnSm2)
    product_float4(const float* a, const float* b, float* c, Extents x) {
    __shared__ __align__(16) float a_tile[kDepth2][kPadded];
    __shared__ __align__(16) float b_tile[kDepth2][kSide2];
    const Corner corner = corner_of_block(x, kSide2, kSide2);
    const unsigned a_row = threadIdx.x / 2, a_p = threadIdx.x % 2 * 4;
    const unsigned b_p = threadIdx.x / kLanes, b_col = threadIdx.x % kLanes * 4;
    const unsigned first_row = threadIdx.x / kAcross * kOwn, first_col = threadIdx.x % kAcross * kOwn;

    float sums[kOwn][kOwn] = {};
    for (std::size_t first = 0; first < x.k; first += kDepth2) {
        const std::size_t row = corner.row + a_row, term = first + b_p;
        const float4 from_a = load_four(a + row * x.k, first + a_p, x.k, row < x.m);
        const float4 from_b = load_four(b + term * x.n, corner.col + b_col, x.n, term < x.k);
        a_tile[a_p][a_row] = from_a.x;
        a_tile[a_p + 1][a_row] = from_a.y;
        a_tile[a_p + 2][a_row] = from_a.z;
        a_tile[a_p + 3][a_row] = from_a.w;
        *reinterpret_cast<float4*>(&b_tile[b_p][b_col]) = from_b;
        __syncthreads();
#pragma unroll
        for (unsigned p = 0; p < kDepth2; ++p) {
            float left[kOwn], right[kOwn];
#pragma unroll
            for (unsigned i = 0; i < kOwn; i += 4) fetch_four(&left[i], &a_tile[p][first_row + i]);
#pragma unroll
            for (unsigned j = 0; j < kOwn; j += 4) fetch_four(&right[j], &b_tile[p][first_col + j]);
#pragma unroll
            for (unsigned i = 0; i < kOwn; ++i) {
#pragma unroll
                for (unsigned j = 0; j < kOwn; ++j) sums[i][j] += left[i] * right[j];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned i = 0; i < kOwn; ++i) {
        const std::size_t row = corner.row + first_row + i;
#pragma unroll
        for (unsigned j = 0; j < kOwn; j += 4) {
            if (row < x.m) store_four(c + row * x.n, corner.col + first_col + j, x.n, &sums[i][j]);
        }
    }
}

void float4_loads(Multiplication& problem) { launch_tiles(product_float4, problem, kSide2, kSide2, kThreads2); }

// Step 9, double buffering: two tiles of each matrix in shared memory. While the block computes with one pair, the
// next is on its way to registers, and then goes to the other pair. Better: the loads have 512 multiply-adds of each
// thread to arrive in, and there is one barrier a tile instead of two. Slow: the bank conflicts of step 8.
__global__ void __launch_bounds__(kThreads2, kBlocksAnSm2)
    product_double_buffer(const float* a, const float* b, float* c, Extents x) {
    __shared__ __align__(16) float a_tiles[2][kDepth2][kPadded];
    __shared__ __align__(16) float b_tiles[2][kDepth2][kSide2];
    const Corner corner = corner_of_block(x, kSide2, kSide2);
    const unsigned a_row = threadIdx.x / 2, a_p = threadIdx.x % 2 * 4;
    const unsigned b_p = threadIdx.x / kLanes, b_col = threadIdx.x % kLanes * 4;
    const unsigned first_row = threadIdx.x / kAcross * kOwn, first_col = threadIdx.x % kAcross * kOwn;
    const std::size_t row_of_a = corner.row + a_row;

    float4 from_a = load_four(a + row_of_a * x.k, a_p, x.k, row_of_a < x.m);
    float4 from_b = load_four(b + b_p * x.n, corner.col + b_col, x.n, b_p < x.k);
    float sums[kOwn][kOwn] = {};
    unsigned now = 0;
    for (std::size_t first = 0; first < x.k; first += kDepth2, now ^= 1) {
        a_tiles[now][a_p][a_row] = from_a.x;
        a_tiles[now][a_p + 1][a_row] = from_a.y;
        a_tiles[now][a_p + 2][a_row] = from_a.z;
        a_tiles[now][a_p + 3][a_row] = from_a.w;
        *reinterpret_cast<float4*>(&b_tiles[now][b_p][b_col]) = from_b;
        __syncthreads();  // the pair is complete, and nobody reads the other one any more
        const std::size_t next = first + kDepth2, term = next + b_p;
        from_a = load_four(a + row_of_a * x.k, next + a_p, x.k, row_of_a < x.m);
        from_b = load_four(b + term * x.n, corner.col + b_col, x.n, term < x.k);
#pragma unroll
        for (unsigned p = 0; p < kDepth2; ++p) {
            float left[kOwn], right[kOwn];
#pragma unroll
            for (unsigned i = 0; i < kOwn; i += 4) fetch_four(&left[i], &a_tiles[now][p][first_row + i]);
#pragma unroll
            for (unsigned j = 0; j < kOwn; j += 4) fetch_four(&right[j], &b_tiles[now][p][first_col + j]);
#pragma unroll
            for (unsigned i = 0; i < kOwn; ++i) {
#pragma unroll
                for (unsigned j = 0; j < kOwn; ++j) sums[i][j] += left[i] * right[j];
            }
        }
    }
#pragma unroll
    for (unsigned i = 0; i < kOwn; ++i) {
        const std::size_t row = corner.row + first_row + i;
#pragma unroll
        for (unsigned j = 0; j < kOwn; j += 4) {
            if (row < x.m) store_four(c + row * x.n, corner.col + first_col + j, x.n, &sums[i][j]);
        }
    }
}

void double_buffered(Multiplication& problem) {
    launch_tiles(product_double_buffer, problem, kSide2, kSide2, kThreads2);
}

// Step 10, warp tiles: each of the eight warps takes 64 x 32 of the 128 x 128 elements, with its lanes 8 x 4. A
// lane's rows and columns come in pieces of four, and the pieces of neighboring lanes are neighbors: eight lanes
// want 128 bytes in a row, or the same 16. And lanes are numbered so that lane and lane ^ 1 have the same rows, lane
// and lane ^ 2 the same columns: if one of them holds for a load of 16 bytes, the SM serves 16 lanes at a time.
// Better: a load of 16 bytes a lane takes two passes instead of up to eight. Slow: before each outer product its
// loads have to arrive, and the way from global to shared memory leads through registers and costs instructions.
constexpr unsigned kWarpRows2 = 64, kWarpCols2 = 32;

__global__ void __launch_bounds__(kThreads2, kBlocksAnSm2)
    product_warp_tiles(const float* a, const float* b, float* c, Extents x) {
    __shared__ __align__(16) float a_tiles[2][kDepth2][kPadded];
    __shared__ __align__(16) float b_tiles[2][kDepth2][kSide2];
    const Corner corner = corner_of_block(x, kSide2, kSide2);
    const unsigned a_row = threadIdx.x / 2, a_p = threadIdx.x % 2 * 4;
    const unsigned b_p = threadIdx.x / kLanes, b_col = threadIdx.x % kLanes * 4;
    const std::size_t row_of_a = corner.row + a_row;

    const unsigned warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    const unsigned lane_row = (lane >> 1 & 1) + (lane >> 3) * 2;  // bits 1, 3 and 4
    const unsigned lane_col = (lane & 1) + (lane >> 2 & 1) * 2;   // bits 0 and 2
    constexpr unsigned warps_across = kSide2 / kWarpCols2;
    constexpr unsigned piece_rows = kWarpRows2 / 2, piece_cols = kWarpCols2 / 2;  // two pieces each way
    const unsigned first_row = warp / warps_across * kWarpRows2 + lane_row * 4;
    const unsigned first_col = warp % warps_across * kWarpCols2 + lane_col * 4;

    float4 from_a = load_four(a + row_of_a * x.k, a_p, x.k, row_of_a < x.m);
    float4 from_b = load_four(b + b_p * x.n, corner.col + b_col, x.n, b_p < x.k);
    float sums[kOwn][kOwn] = {};
    unsigned now = 0;
    for (std::size_t first = 0; first < x.k; first += kDepth2, now ^= 1) {
        a_tiles[now][a_p][a_row] = from_a.x;
        a_tiles[now][a_p + 1][a_row] = from_a.y;
        a_tiles[now][a_p + 2][a_row] = from_a.z;
        a_tiles[now][a_p + 3][a_row] = from_a.w;
        *reinterpret_cast<float4*>(&b_tiles[now][b_p][b_col]) = from_b;
        __syncthreads();
        const std::size_t next = first + kDepth2, term = next + b_p;
        from_a = load_four(a + row_of_a * x.k, next + a_p, x.k, row_of_a < x.m);
        from_b = load_four(b + term * x.n, corner.col + b_col, x.n, term < x.k);
#pragma unroll
        for (unsigned p = 0; p < kDepth2; ++p) {
            float left[kOwn], right[kOwn];
#pragma unroll
            for (unsigned i = 0; i < kOwn; i += 4)
                fetch_four(&left[i], &a_tiles[now][p][first_row + i / 4 * piece_rows]);
#pragma unroll
            for (unsigned j = 0; j < kOwn; j += 4)
                fetch_four(&right[j], &b_tiles[now][p][first_col + j / 4 * piece_cols]);
#pragma unroll
            for (unsigned i = 0; i < kOwn; ++i) {
#pragma unroll
                for (unsigned j = 0; j < kOwn; ++j) sums[i][j] += left[i] * right[j];
            }
        }
    }
#pragma unroll
    for (unsigned i = 0; i < kOwn; ++i) {
        const std::size_t row = corner.row + first_row + i / 4 * piece_rows + i % 4;
#pragma unroll
        for (unsigned j = 0; j < kOwn; j += 4) {
            const std::size_t col = corner.col + first_col + j / 4 * piece_cols;
            if (row < x.m) store_four(c + row * x.n, col, x.n, &sums[i][j]);
        }
    }
}

void warp_tiles(Multiplication& problem) { launch_tiles(product_warp_tiles, problem, kSide2, kSide2, kThreads2); }

}  // namespace
}  // namespace examples
