#pragma once

#include "chapters/4_examples/matrix_multiply/step_14_cp_async.cuh"

namespace examples {
namespace {

// Step 15, no guards in the loop. Rows and columns outside of the matrices are replaced by
// the last ones inside. Whatever is computed from them is not stored. Terms outside cannot
// be replaced, because they would be added. So the *first* tile takes what remains when k
// is divided by BK, filled up with zeros, and all other tiles are whole. Pointers move from
// tile to tile, so no address is computed anew.
// Faster because a copy takes fewer instructions: an addition instead of comparisons,
// multiplications, and branches. Still slow because before each outer product, its operands
// have to arrive from shared memory. Other warps can multiply meanwhile, if they are not
// waiting as well.
template <class Sizes, unsigned width>
__global__ void __launch_bounds__(Tiling<Sizes>::threads, Sizes::blocks_per_sm)
    product_no_guards(const float* a, const float* b, float* c, Extents x) {
    using T = Tiling<Sizes>;
    __shared__ __align__(16) float a_tiles[2][T::BK][T::BM + 4];
    __shared__ __align__(16) float b_tiles[2][T::BK][T::BN];
    const Corner corner = corner_of_block(x, T::BM, T::BN);

    // What the thread copies: of A, 8 lanes take 8 neighbors of a row; of B, lanes take
    // whole rows.
    constexpr unsigned a_step = T::threads / 8, a_copies = T::BM / a_step;
    constexpr unsigned b_lanes = T::BN / width, b_step = T::threads / b_lanes;
    const unsigned a_row = threadIdx.x / 8, a_p = threadIdx.x % 8;
    const unsigned b_p = threadIdx.x / b_lanes, b_col = threadIdx.x % b_lanes * width;
    const float* a_from[a_copies];
#pragma unroll
    for (unsigned i = 0; i < a_copies; ++i) {
        a_from[i] = a + min(corner.row + a_row + i * a_step, x.m - 1) * x.k + a_p;
    }
    const float* b_from = b + b_p * x.n + min(corner.col + b_col, x.n - width);

    // Copies `depth` terms and moves on by as many. If `depth` is BK, the compiler omits
    // the guards.
    const auto copy_tiles = [&](unsigned pair, unsigned depth) {
#pragma unroll
        for (unsigned i = 0; i < a_copies; ++i) {
#pragma unroll
            for (unsigned p = 0; p < T::BK; p += 8) {
                float* const to = &a_tiles[pair][a_p + p][a_row + i * a_step];
                if (depth == T::BK || a_p + p < depth)
                    copy_async<4>(to, a_from[i] + p);
                else
                    *to = 0;
            }
            a_from[i] += depth;
        }
#pragma unroll
        for (unsigned p = 0; p < T::BK; p += b_step) {
            float* const to = &b_tiles[pair][b_p + p][b_col];
            if (depth == T::BK || b_p + p < depth)
                copy_async<4 * width>(to, b_from + p * x.n);
            else
                for (unsigned j = 0; j < width; ++j) to[j] = 0;
        }
        b_from += depth * x.n;
    };

    // What it computes: as in step 13.
    const unsigned warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    const unsigned lane_row = (lane >> 1 & 1) + lane / (2 * T::lanes_across) * 2;
    const unsigned lane_col = (lane & 1) + lane / 4 % (T::lanes_across / 2) * 2;
    const unsigned first_row = warp / T::warps_across * T::WM + lane_row * 4;
    const unsigned first_col = warp % T::warps_across * T::WN + lane_col * 4;

    // 2^32 tiles would be more than 2^35 terms: more than any memory holds.
    const unsigned tiles = static_cast<unsigned>((x.k + T::BK - 1) / T::BK);
    copy_tiles(
        0, tiles == 0 ? 0 : static_cast<unsigned>(x.k - (tiles - std::size_t{1}) * T::BK));
    commit_copies();
    float sums[T::TM][T::TN] = {};
    unsigned now = 0;
    for (unsigned tile = 0; tile < tiles; ++tile, now ^= 1) {
        wait_for_copies<0>();
        __syncthreads();  // this pair has arrived, and none reads the other pair
        if (tile + 1 < tiles) copy_tiles(now ^ 1, T::BK);
        commit_copies();
#pragma unroll
        for (unsigned p = 0; p < T::BK; ++p) {
            float left[T::TM], right[T::TN];
#pragma unroll
            for (unsigned i = 0; i < T::TM; i += 4)
                fetch_four(&left[i], &a_tiles[now][p][first_row + i / 4 * T::next_rows]);
#pragma unroll
            for (unsigned j = 0; j < T::TN; j += 4)
                fetch_four(&right[j], &b_tiles[now][p][first_col + j / 4 * T::next_cols]);
#pragma unroll
            for (unsigned i = 0; i < T::TM; ++i) {
#pragma unroll
                for (unsigned j = 0; j < T::TN; ++j) sums[i][j] += left[i] * right[j];
            }
        }
    }
#pragma unroll
    for (unsigned i = 0; i < T::TM; ++i) {
        const std::size_t row = corner.row + first_row + i / 4 * T::next_rows + i % 4;
#pragma unroll
        for (unsigned j = 0; j < T::TN; j += 4) {
            const std::size_t col = corner.col + first_col + j / 4 * T::next_cols;
            if (row < x.m) store_four(c + row * x.n, col, x.n, &sums[i][j]);
        }
    }
}

}  // namespace
}  // namespace examples
