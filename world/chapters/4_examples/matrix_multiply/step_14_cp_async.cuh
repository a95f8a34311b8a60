#pragma once

#include "chapters/4_examples/matrix_multiply/pipeline.cuh"

namespace examples {
namespace {

// The sizes of steps 11 to 13.
struct WarpTileSizes {
    static constexpr unsigned BM = 128, BN = 128, BK = 8, WM = 64, WN = 32, TM = 8, TN = 8;
    static constexpr unsigned blocks_per_sm = 2;  // limits the registers of a thread
};

// Step 14, asynchronous copies. The instruction cp.async copies from global to shared
// memory while the thread goes on, so the next tiles need no registers on the way, and no
// instruction that stores them. A copy moves 4, 8, or 16 contiguous bytes. A is transposed
// on the way, so its elements are copied one by one. B is copied in groups of `width` = 4
// elements, or 1 by 1 if its rows begin anywhere.
// This could be faster because no store instructions and fewer registers are needed. Still
// slow because A takes four copies of 4 bytes per thread, not one load of 16 bytes, and
// each copy has an address and guards. On an H200 this step is slower than step 13.
template <class Sizes, unsigned width>
__global__ void __launch_bounds__(Tiling<Sizes>::threads, Sizes::blocks_per_sm)
    product_cp_async(const float* a, const float* b, float* c, Extents x) {
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
    const auto copy_tiles = [&](unsigned pair, std::size_t first) {
#pragma unroll
        for (unsigned i = 0; i < a_copies; ++i) {
            const std::size_t row = corner.row + a_row + i * a_step;
#pragma unroll
            for (unsigned p = 0; p < T::BK; p += 8) {
                float* const to = &a_tiles[pair][a_p + p][a_row + i * a_step];
                if (row < x.m && first + a_p + p < x.k)
                    copy_async<4>(to, a + row * x.k + first + a_p + p);
                else
                    *to = 0;
            }
        }
#pragma unroll
        for (unsigned p = 0; p < T::BK; p += b_step) {
            const std::size_t term = first + b_p + p, col = corner.col + b_col;
            float* const to = &b_tiles[pair][b_p + p][b_col];
            if (term < x.k && col < x.n)
                copy_async<4 * width>(to, b + term * x.n + col);
            else
                for (unsigned j = 0; j < width; ++j) to[j] = 0;
        }
    };

    // What it computes: as in step 13.
    const unsigned warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    const unsigned lane_row = (lane >> 1 & 1) + lane / (2 * T::lanes_across) * 2;
    const unsigned lane_col = (lane & 1) + lane / 4 % (T::lanes_across / 2) * 2;
    const unsigned first_row = warp / T::warps_across * T::WM + lane_row * 4;
    const unsigned first_col = warp % T::warps_across * T::WN + lane_col * 4;

    copy_tiles(0, 0);
    commit_copies();
    float sums[T::TM][T::TN] = {};
    unsigned now = 0;
    for (std::size_t first = 0; first < x.k; first += T::BK, now ^= 1) {
        wait_for_copies<0>();
        __syncthreads();  // this pair has arrived, and none reads the other pair
        if (first + T::BK < x.k) copy_tiles(now ^ 1, first + T::BK);
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
