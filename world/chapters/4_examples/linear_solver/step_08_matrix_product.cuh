#pragma once

#include "chapters/4_examples/linear_solver/step_06_panel_in_one_block.cuh"

namespace examples {
namespace {

// Step 8, the update as a matrix product: rest -= L * U, where L is the panel below its
// triangle, and U the 64 rows to the right of it. A block has a tile of BM x BN = 128 x 128
// elements of the rest, and a thread has 8 x 8 of them in registers, as four groups of 4 x
// 4, so that neighboring threads read neighboring float4s. Of L and U, BK = 8 columns and
// rows at a time are in shared memory, and while the block works on them the next 8 are in
// flight. The lesson matrix_multiply builds such a product step by step (steps 7 to 12
// there).
// Faster because a multiply-add takes 1/64 float from global memory instead of two. Nothing
// in this kernel is slow enough to matter here. What remains is the panel, because the
// other SMs wait for one block.
constexpr unsigned BM = tuning.tile, BN = tuning.tile, BK = tuning.slice;
constexpr unsigned kSide = tuning.tile_side;  // threads across the tile, and down
constexpr unsigned kTileThreads = kSide * kSide;
constexpr unsigned TM = BM / kSide, TN = BN / kSide;
static_assert(kPanel % BK == 0);
static_assert(TM % 4 == 0 && TM * kSide == BM, "a thread has whole groups of four");
static_assert(BM * BK == 4 * kTileThreads,
              "for a slice, a thread loads four neighbors of each factor");

struct Slice {
    float l[BK]
           [BM + 4];  // transposed; with 4 more, stores of a column spread over the banks
    float u[BK][BN];
};

__global__ void __launch_bounds__(kTileThreads, 2)
    update_rest(float* a, std::size_t pitch, unsigned n, unsigned first) {
    __shared__ __align__(16) Slice slices[2];
    const unsigned row_begin = first + kPanel + blockIdx.y * BM;
    const unsigned col_begin = first + kPanel + blockIdx.x * BN;
    const unsigned thread_row = 4 * (threadIdx.x / kSide),
                   thread_col = 4 * (threadIdx.x % kSide);
    const float4 zeros = make_float4(0, 0, 0, 0);

    // What this thread loads: four neighbors of a row of L, and of a row of U.
    const unsigned l_row = threadIdx.x / (BK / 4), l_inner = threadIdx.x % (BK / 4) * 4;
    const unsigned u_inner = threadIdx.x / (BN / 4), u_col = threadIdx.x % (BN / 4) * 4;
    const bool has_l = row_begin + l_row < n, has_u = col_begin + u_col <= n;
    const float* l_from = a + (row_begin + l_row) * pitch + first + l_inner;
    const float* u_from = a + (first + u_inner) * pitch + col_begin + u_col;
    const auto keep = [&](Slice& slice, float4 l, float4 u) {
        slice.l[l_inner][l_row] = l.x;
        slice.l[l_inner + 1][l_row] = l.y;
        slice.l[l_inner + 2][l_row] = l.z;
        slice.l[l_inner + 3][l_row] = l.w;
        store4(&slice.u[u_inner][u_col], u);
    };
    // The row and column of a thread's element (i, j) in the tile.
    const auto tile_row = [&](unsigned i) {
        return i / 4 * 4 * kSide + thread_row + i % 4;
    };
    const auto tile_col = [&](unsigned j) {
        return j / 4 * 4 * kSide + thread_col + j % 4;
    };

    float4 l_ahead = has_l ? load4(l_from) : zeros, u_ahead = has_u ? load4(u_from) : zeros;
    float product[TM][TN] = {};
    keep(slices[0], l_ahead, u_ahead);
    __syncthreads();
#pragma unroll 1
    for (unsigned slice = 0; slice < kPanel; slice += BK) {
        const Slice& now = slices[slice / BK % 2];
        const bool more = slice + BK < kPanel;
        if (more) {
            l_from += BK;
            u_from += BK * pitch;
            l_ahead = has_l ? load4(l_from) : zeros;
            u_ahead = has_u ? load4(u_from) : zeros;
        }
#pragma unroll
        for (unsigned inner = 0; inner < BK; ++inner) {
            float l[TM], u[TN];
#pragma unroll
            for (unsigned i = 0; i < TM; i += 4) {
                const float4 four = load4(&now.l[inner][tile_row(i)]);
                l[i] = four.x, l[i + 1] = four.y, l[i + 2] = four.z, l[i + 3] = four.w;
            }
#pragma unroll
            for (unsigned j = 0; j < TN; j += 4) {
                const float4 four = load4(&now.u[inner][tile_col(j)]);
                u[j] = four.x, u[j + 1] = four.y, u[j + 2] = four.z, u[j + 3] = four.w;
            }
#pragma unroll
            for (unsigned i = 0; i < TM; ++i) {
#pragma unroll
                for (unsigned j = 0; j < TN; ++j) product[i][j] += l[i] * u[j];
            }
        }
        if (more) keep(slices[(slice / BK + 1) % 2], l_ahead, u_ahead);
        __syncthreads();
    }
    // Four rows at a time, first their loads, then their stores: a store in between would
    // hold up the loads after it.
#pragma unroll
    for (unsigned begin = 0; begin < TM; begin += 4) {
#pragma unroll
        for (unsigned i = begin; i < begin + 4; ++i) {
#pragma unroll
            for (unsigned j = 0; j < TN; j += 4) {
                const unsigned row = row_begin + tile_row(i), col = col_begin + tile_col(j);
                const float4 rest =
                    row < n && col <= n ? load4(a + row * pitch + col) : zeros;
                product[i][j] = rest.x - product[i][j];
                product[i][j + 1] = rest.y - product[i][j + 1];
                product[i][j + 2] = rest.z - product[i][j + 2];
                product[i][j + 3] = rest.w - product[i][j + 3];
            }
        }
#pragma unroll
        for (unsigned i = begin; i < begin + 4; ++i) {
#pragma unroll
            for (unsigned j = 0; j < TN; j += 4) {
                const unsigned row = row_begin + tile_row(i), col = col_begin + tile_col(j);
                if (row >= n || col > n)
                    continue;  // after column n there are zeros, and they stay
                const float(&four)[TN] = product[i];
                store4(a + row * pitch + col,
                       make_float4(four[j], four[j + 1], four[j + 2], four[j + 3]));
            }
        }
    }
}

}  // namespace
}  // namespace examples
