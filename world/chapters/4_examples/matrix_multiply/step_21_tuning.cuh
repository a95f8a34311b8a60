#pragma once

#include "chapters/4_examples/matrix_multiply/step_20_block_order.cuh"

namespace examples {
namespace {

struct TunedSizes : BlockOrderSizes {
    static constexpr unsigned stages = 2;  // tiles: one in use, the others being copied
    static constexpr unsigned WM = 32, WN = 64;
    static constexpr bool compensated = false;
};

// Step 21, tuning. These changes depend on the chip and on the compiler, and were found by
// trying:
//   - The multiply-adds go down one column of the outer product and up the next, so that
//     each has a factor in common with the one before it. This operand waits in the operand
//     cache (`.reuse` in the machine code), and two operands remain to be read. On chips of
//     2020, two banks of registers were measured, which deliver one operand per cycle each
//     (Huerta and others, Analyzing Modern NVIDIA GPU cores, 2025). We assume the same for
//     an H200: then these two operands should lie in different banks.
//   - The sums are copied before they are stored, for the same reason: see below.
//   - A warp's tile is 32 x 64 instead of 64 x 32. Tried, and slower on an H200:
//     thread tiles of 16 x 8, which step 23 shows.
// Still slow because 144 of the loop's 1168 instructions are not FFMA (nvcc 13.0, sm_90).
template <class Sizes, unsigned width>
__global__ void __launch_bounds__(Tiling<Sizes>::threads, Sizes::blocks_per_sm)
    product_pipeline(const float* a, const float* b, float* c, Extents x) {
    using T = Tiling<Sizes>;
    __shared__ __align__(16) float a_tiles[T::stages][T::BK][T::BM + 4];
    __shared__ __align__(16) float b_tiles[T::stages][T::BK][T::BN];
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
    const auto copy_tiles = [&](unsigned stage, unsigned depth) {
#pragma unroll
        for (unsigned i = 0; i < a_copies; ++i) {
#pragma unroll
            for (unsigned p = 0; p < T::BK; p += 8) {
                float* const to = &a_tiles[stage][a_p + p][a_row + i * a_step];
                if (depth == T::BK || a_p + p < depth)
                    copy_async<4>(to, a_from[i] + p);
                else
                    *to = 0;
            }
            a_from[i] += depth;
        }
#pragma unroll
        for (unsigned p = 0; p < T::BK; p += b_step) {
            float* const to = &b_tiles[stage][b_p + p][b_col];
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
    const auto fetch = [&](unsigned stage, unsigned p) {
#pragma unroll
        for (unsigned i = 0; i < T::TM; i += 4)
            fetch_four(&left[p % 2][i],
                       &a_tiles[stage][p][first_row + i / 4 * T::next_rows]);
#pragma unroll
        for (unsigned j = 0; j < T::TN; j += 4)
            fetch_four(&right[p % 2][j],
                       &b_tiles[stage][p][first_col + j / 4 * T::next_cols]);
    };

    // 2^32 tiles would be more than 2^35 terms: more than any memory holds.
    const unsigned tiles = static_cast<unsigned>((x.k + T::BK - 1) / T::BK);
    copy_tiles(
        0, tiles == 0 ? 0 : static_cast<unsigned>(x.k - (tiles - std::size_t{1}) * T::BK));
    commit_copies();
#pragma unroll
    for (unsigned stage = 1; stage + 1 < T::stages; ++stage) {
        if (stage < tiles) copy_tiles(stage, T::BK);
        commit_copies();
    }
    wait_for_copies<T::stages - 2>();
    __syncthreads();
    fetch(0, 0);

    float sums[T::TM][T::TN] = {};
    float lost[T::compensated ? T::TM : 1][T::compensated ? T::TN : 1] = {};
    unsigned stage = 0, free_stage = T::stages - 1;
    for (unsigned tile = 0; tile < tiles; ++tile) {
        unsigned next_stage = stage + 1 == T::stages ? 0 : stage + 1;
        if (tile + 1 == tiles)
            next_stage = stage;  // there is no next tile: what is fetched is not used
#pragma unroll
        for (unsigned p = 0; p < T::BK; ++p) {
            if (p + 1 < T::BK) {
                fetch(stage, p + 1);
            } else {
                wait_for_copies<T::stages - 2>();
                __syncthreads();  // the next tile is here, and all are done with this one
                fetch(next_stage, 0);
            }
            if (p == 0) {  // since that barrier, the stage of the tile before is free
                if (tile + T::stages - 1 < tiles) copy_tiles(free_stage, T::BK);
                commit_copies();
                free_stage = stage;
            }
#pragma unroll
            for (unsigned j = 0; j < T::TN; ++j) {
#pragma unroll
                for (unsigned turn = 0; turn < T::TM; ++turn) {
                    const unsigned i = j % 2 == 0 ? turn : T::TM - 1 - turn;
                    if constexpr (T::compensated)
                        add_product(sums[i][j], lost[i][j], left[p % 2][i],
                                    right[p % 2][j]);
                    else
                        sums[i][j] += left[p % 2][i] * right[p % 2][j];
                }
            }
        }
        stage = next_stage;
    }
#pragma unroll
    for (unsigned i = 0; i < T::TM; ++i) {
        const std::size_t row = corner.row + first_row + i / 4 * T::next_rows + i % 4;
#pragma unroll
        for (unsigned j = 0; j < T::TN; j += 4) {
            const std::size_t col = corner.col + first_col + j / 4 * T::next_cols;
            // A store of 16 bytes takes four neighboring registers. nvcc would keep the
            // sums in such groups all along, and if registers lie in two banks, half of the
            // multiply-adds would read two operands from one bank. nvcc cannot omit + 0,
            // which turns -0 into +0, so what is stored are copies.
            float four[4];
            for (unsigned e = 0; e < 4; ++e) four[e] = sums[i][j + e] + 0.0f;
            if (row < x.m) store_four(c + row * x.n, col, x.n, four);
        }
    }
}

}  // namespace
}  // namespace examples
