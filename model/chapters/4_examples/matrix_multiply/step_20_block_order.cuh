#pragma once

#include "chapters/4_examples/matrix_multiply/step_18_smaller_blocks.cuh"

namespace examples {
namespace {

struct BlockOrderSizes : SmallerBlockSizes {
    static constexpr unsigned group = 32;  // rows of tiles
};

// Step 20, the order of the blocks. Blocks start in the order of their numbers, a few
// hundred at a time. If they go through C row by row, a wide matrix makes them read all of
// B for every few rows of tiles. Here `group` = 32 rows of tiles are gone through column by
// column, so that the blocks that run at the same time lie in a square, and their rows of A
// and columns of B stay in the L2 cache.
// This could be faster because more of the copies are served by the L2 cache. On an H200
// nothing changes for square matrices, even with 8192 rows. Still slow because there are as
// many instructions beside the multiply-adds as before.
template <class T>
__device__ Corner corner_in_groups(const Extents& x) {
    const std::size_t rows = (x.m + T::BM - 1) / T::BM;
    const std::size_t cols = (x.n + T::BN - 1) / T::BN;
    const std::size_t first_row = blockIdx.x / (T::group * cols) * T::group;
    // The last group may be lower.
    const std::size_t height = min(std::size_t{T::group}, rows - first_row);
    const std::size_t number = blockIdx.x - first_row * cols;
    return {(first_row + number % height) * T::BM, number / height * T::BN};
}

template <class Sizes, unsigned width>
__global__ void __launch_bounds__(Tiling<Sizes>::threads, Sizes::blocks_per_sm)
    product_block_order(const float* a, const float* b, float* c, Extents x) {
    using T = Tiling<Sizes>;
    __shared__ __align__(16) float a_tiles[2][T::BK][T::BM + 4];
    __shared__ __align__(16) float b_tiles[2][T::BK][T::BN];
    const Corner corner = corner_in_groups<T>(x);

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
    float left[2][T::TM], right[2][T::TN];  // of this term and of the next
    const auto fetch = [&](unsigned pair, unsigned p) {
#pragma unroll
        for (unsigned i = 0; i < T::TM; i += 4)
            fetch_four(&left[p % 2][i],
                       &a_tiles[pair][p][first_row + i / 4 * T::next_rows]);
#pragma unroll
        for (unsigned j = 0; j < T::TN; j += 4)
            fetch_four(&right[p % 2][j],
                       &b_tiles[pair][p][first_col + j / 4 * T::next_cols]);
    };

    const unsigned tiles = static_cast<unsigned>((x.k + T::BK - 1) / T::BK);
    copy_tiles(
        0, tiles == 0 ? 0 : static_cast<unsigned>(x.k - (tiles - std::size_t{1}) * T::BK));
    commit_copies();
    wait_for_copies<0>();
    __syncthreads();
    fetch(0, 0);

    float sums[T::TM][T::TN] = {};
    unsigned now = 0;
    for (unsigned tile = 0; tile < tiles; ++tile) {
        // After the last tile there is no next one: what is fetched then is not used.
        const unsigned next = tile + 1 == tiles ? now : now ^ 1;
#pragma unroll
        for (unsigned p = 0; p < T::BK; ++p) {
            if (p + 1 < T::BK) {
                fetch(now, p + 1);
            } else {
                wait_for_copies<0>();
                __syncthreads();  // the next tile is here, and all are done with this one
                fetch(next, 0);
            }
            if (p == 0) {  // since the last barrier no thread reads the other pair
                if (tile + 1 < tiles) copy_tiles(now ^ 1, T::BK);
                commit_copies();
            }
#pragma unroll
            for (unsigned i = 0; i < T::TM; ++i) {
#pragma unroll
                for (unsigned j = 0; j < T::TN; ++j)
                    sums[i][j] += left[p % 2][i] * right[p % 2][j];
            }
        }
        now = next;
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
