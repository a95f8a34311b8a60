// Steps 11 and 12 of the lesson matrix_multiply: a pipeline from global memory to registers.
#pragma once

#include <cuda_runtime.h>

#ifndef __CPU_DEVICE__
#include <cuda_pipeline_primitives.h>
#endif

#include <cstddef>
#include <type_traits>

#include "chapters/4_examples/matrix_multiply_tiles.h"

namespace examples {
namespace {

// Copies `bytes` (4 or 16) from global to shared memory while the thread goes on. Since compute capability 8.0 that
// is an instruction of its own, cp.async, which needs no registers on the way; an older GPU, and the CPU device,
// copy at once. Copies are committed in groups, and a thread waits until all but the last `pending` groups have
// arrived: its own copies. A barrier makes that all copies of the block.
template <unsigned bytes>
__device__ void copy_async(float* shared, const float* global) {
#ifdef __CPU_DEVICE__
    using Bytes = std::conditional_t<bytes == 16, float4, float>;
    *reinterpret_cast<Bytes*>(shared) = *reinterpret_cast<const Bytes*>(global);
#else
    __pipeline_memcpy_async(shared, global, bytes);
#endif
}

__device__ void commit_copies() {
#ifndef __CPU_DEVICE__
    __pipeline_commit();
#endif
}

template <unsigned pending>
__device__ void wait_for_copies() {
#ifndef __CPU_DEVICE__
    __pipeline_wait_prior(pending);
#endif
}

// All sizes of the last kernel, to be changed and measured.
struct PlainSizes {
    static constexpr unsigned block_rows = 64, block_cols = 128;  // of the block's tile of C
    static constexpr unsigned depth = 16;                        // terms of the sums that are in shared memory together
    static constexpr unsigned stages = 2;                        // tiles of A and of B: one in use, others on their way
    static constexpr unsigned warp_rows = 32, warp_cols = 64;    // of the warp's tile
    static constexpr unsigned thread_rows = 8, thread_cols = 8;  // of the thread's tile
    static constexpr unsigned blocks_an_sm = 4;                  // limits the registers of a thread
    static constexpr unsigned group = 32;                        // rows of tiles that blocks work on together
    static constexpr bool compensated = false;
};

// With Kahan's sums, a thread has two registers for each element.
struct CompensatedSizes : PlainSizes {
    static constexpr unsigned blocks_an_sm = 2;
    static constexpr bool compensated = true;
};

// What follows from them.
template <class Sizes>
struct Tiling : Sizes {
    static constexpr unsigned warps_across = Sizes::block_cols / Sizes::warp_cols;
    static constexpr unsigned threads = Sizes::block_rows / Sizes::warp_rows * warps_across * kLanes;
    static constexpr unsigned lanes_across = Sizes::warp_cols / Sizes::thread_cols;
    static constexpr unsigned piece_rows = 4 * (kLanes / lanes_across);  // from a lane's piece to its next one
    static constexpr unsigned piece_cols = 4 * lanes_across;

    static_assert(Sizes::block_rows % Sizes::warp_rows == 0 && Sizes::block_cols % Sizes::warp_cols == 0);
    static_assert(Sizes::thread_rows % 4 == 0 && Sizes::thread_cols % 4 == 0);
    static_assert(Sizes::thread_rows * Sizes::thread_cols * kLanes == Sizes::warp_rows * Sizes::warp_cols);
    static_assert(lanes_across == 4 || lanes_across == 8);
    static_assert(Sizes::depth % 8 == 0 && Sizes::stages >= 2);
    static_assert(Sizes::block_rows % (threads / 8) == 0, "8 lanes copy a row of A");
    static_assert(threads % Sizes::block_cols == 0, "the threads copy whole rows of B");
};

// Blocks start in the order of their numbers, a few hundred at a time. Row by row they would need all of B again and
// again; a group of some rows of tiles is worked off column by column, and what they share stays in the L2 cache.
template <class T>
__device__ Corner corner_in_groups(const Extents& x) {
    const std::size_t rows = (x.m + T::block_rows - 1) / T::block_rows;
    const std::size_t cols = (x.n + T::block_cols - 1) / T::block_cols;
    const std::size_t first_row = blockIdx.x / (T::group * cols) * T::group;
    const std::size_t height = min(std::size_t{T::group}, rows - first_row);  // the last group may be lower
    const std::size_t number = blockIdx.x - first_row * cols;
    return {(first_row + number % height) * T::block_rows, number / height * T::block_cols};
}

// Adds left * right to `sum`; `lost` is what rounding has taken from it so far, as in step 5.
__device__ void add_product(float& sum, float& lost, float left, float right) {
    const float term = fmaf(left, right, -lost);
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
}

// Step 11, a pipeline of three stations, all at work at the same time: copies from global to shared memory by
// cp.async, a tile ahead; loads from shared memory to registers, a term ahead; and multiply-adds. Where one of them has
// to wait, another warp goes on: 8 x 8 elements a thread leave room for 16 warps on an SM. (16 x 8 ask for fewer
// instructions, six loads for 128 multiply-adds, and leave room for 8 warps: a tenth slower on an H200.)
//
// The columns of the outer product are gone through down and up in turn, so that every multiply-add has a factor in
// common with the one before it. That one waits in the operand cache (`.reuse` in the machine code), and two operands
// are left to be read. The register file has two banks, and on chips of 2020 each was measured to deliver one operand
// a cycle (Huerta and others, Analyzing Modern NVIDIA GPU cores, 2025). So the two should be in different banks.
//
// No guards in the loop. Rows and columns outside of the matrices are replaced by the last ones inside; what comes of
// them is not stored. Terms outside cannot be replaced, they would be added. So the *first* tile takes what k leaves
// over when divided by the depth, with zeros behind, and all others are whole. `width` is how many floats of B a copy
// takes: 4, or 1 if rows of B begin anywhere.
template <class Sizes, unsigned width>
__global__ void __launch_bounds__(Tiling<Sizes>::threads, Sizes::blocks_an_sm)
    product_pipeline(const float* a, const float* b, float* c, Extents x) {
    using T = Tiling<Sizes>;
    __shared__ __align__(16) float a_tiles[T::stages][T::depth][T::block_rows + 4];
    __shared__ __align__(16) float b_tiles[T::stages][T::depth][T::block_cols];
    const Corner corner = corner_in_groups<T>(x);

    // What the thread copies: of A 8 neighbors of a row with 8 lanes, which it transposes; of B whole rows.
    constexpr unsigned a_step = T::threads / 8, a_copies = T::block_rows / a_step;
    constexpr unsigned b_lanes = T::block_cols / width, b_step = T::threads / b_lanes;
    const unsigned a_row = threadIdx.x / 8, a_p = threadIdx.x % 8;
    const unsigned b_p = threadIdx.x / b_lanes, b_col = threadIdx.x % b_lanes * width;
    const float* a_from[a_copies];
#pragma unroll
    for (unsigned i = 0; i < a_copies; ++i) {
        a_from[i] = a + min(corner.row + a_row + i * a_step, x.m - 1) * x.k + a_p;
    }
    const float* b_from = b + b_p * x.n + min(corner.col + b_col, x.n - width);

    // Copies `depth` terms, and goes on by as many. With a full depth the compiler leaves the guards out.
    const auto copy_tiles = [&](unsigned stage, unsigned depth) {
#pragma unroll
        for (unsigned i = 0; i < a_copies; ++i) {
#pragma unroll
            for (unsigned p = 0; p < T::depth; p += 8) {
                float* const to = &a_tiles[stage][a_p + p][a_row + i * a_step];
                if (depth == T::depth || a_p + p < depth)
                    copy_async<4>(to, a_from[i] + p);
                else
                    *to = 0;
            }
            a_from[i] += depth;
        }
#pragma unroll
        for (unsigned p = 0; p < T::depth; p += b_step) {
            float* const to = &b_tiles[stage][b_p + p][b_col];
            if (depth == T::depth || b_p + p < depth)
                copy_async<4 * width>(to, b_from + p * x.n);
            else
                for (unsigned j = 0; j < width; ++j) to[j] = 0;
        }
        b_from += depth * x.n;
    };

    // What it computes: as in step 10.
    const unsigned warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    const unsigned lane_row = (lane >> 1 & 1) + lane / (2 * T::lanes_across) * 2;
    const unsigned lane_col = (lane & 1) + lane / 4 % (T::lanes_across / 2) * 2;
    const unsigned first_row = warp / T::warps_across * T::warp_rows + lane_row * 4;
    const unsigned first_col = warp % T::warps_across * T::warp_cols + lane_col * 4;
    float left[2][T::thread_rows], right[2][T::thread_cols];  // of this term and of the next
    const auto fetch = [&](unsigned stage, unsigned p) {
#pragma unroll
        for (unsigned i = 0; i < T::thread_rows; i += 4)
            fetch_four(&left[p % 2][i], &a_tiles[stage][p][first_row + i / 4 * T::piece_rows]);
#pragma unroll
        for (unsigned j = 0; j < T::thread_cols; j += 4)
            fetch_four(&right[p % 2][j], &b_tiles[stage][p][first_col + j / 4 * T::piece_cols]);
    };

    // 2^32 tiles would be more than 2^35 terms: more than any memory holds.
    const unsigned tiles = static_cast<unsigned>((x.k + T::depth - 1) / T::depth);
    copy_tiles(0, tiles == 0 ? 0 : static_cast<unsigned>(x.k - (tiles - std::size_t{1}) * T::depth));
    commit_copies();
#pragma unroll
    for (unsigned stage = 1; stage + 1 < T::stages; ++stage) {
        if (stage < tiles) copy_tiles(stage, T::depth);
        commit_copies();
    }
    wait_for_copies<T::stages - 2>();
    __syncthreads();
    fetch(0, 0);

    float sums[T::thread_rows][T::thread_cols] = {};
    float lost[T::compensated ? T::thread_rows : 1][T::compensated ? T::thread_cols : 1] = {};
    unsigned stage = 0, free_stage = T::stages - 1;
    for (unsigned tile = 0; tile < tiles; ++tile) {
        unsigned next_stage = stage + 1 == T::stages ? 0 : stage + 1;
        if (tile + 1 == tiles) next_stage = stage;  // there is no next tile: what is fetched will not be used
#pragma unroll
        for (unsigned p = 0; p < T::depth; ++p) {
            if (p + 1 < T::depth) {
                fetch(stage, p + 1);
            } else {
                wait_for_copies<T::stages - 2>();
                __syncthreads();  // the next tile is there; and everybody has fetched the last term of this one
                fetch(next_stage, 0);
            }
            if (p == 0) {  // the stage of the tile before is free since that barrier
                if (tile + T::stages - 1 < tiles) copy_tiles(free_stage, T::depth);
                commit_copies();
                free_stage = stage;
            }
#pragma unroll
            for (unsigned j = 0; j < T::thread_cols; ++j) {
#pragma unroll
                for (unsigned turn = 0; turn < T::thread_rows; ++turn) {
                    const unsigned i = j % 2 == 0 ? turn : T::thread_rows - 1 - turn;
                    if constexpr (T::compensated)
                        add_product(sums[i][j], lost[i][j], left[p % 2][i], right[p % 2][j]);
                    else
                        sums[i][j] += left[p % 2][i] * right[p % 2][j];
                }
            }
        }
        stage = next_stage;
    }
#pragma unroll
    for (unsigned i = 0; i < T::thread_rows; ++i) {
        const std::size_t row = corner.row + first_row + i / 4 * T::piece_rows + i % 4;
#pragma unroll
        for (unsigned j = 0; j < T::thread_cols; j += 4) {
            const std::size_t col = corner.col + first_col + j / 4 * T::piece_cols;
            // A store of 16 bytes takes four neighboring registers. nvcc would keep the sums in such fours all along,
            // and half of the multiply-adds would read two operands from one bank. It cannot leave out + 0, which makes
            // +0 of -0: so what is stored are copies.
            float four[4];
            for (unsigned e = 0; e < 4; ++e) four[e] = sums[i][j + e] + 0.0f;
            if (row < x.m) store_four(c + row * x.n, col, x.n, four);
        }
    }
}

template <class Sizes>
void run_pipeline(Multiplication& problem) {
    const bool rows_begin_at_16 = problem.n % 4 == 0;
    const TileKernel kernel = rows_begin_at_16 ? product_pipeline<Sizes, 4> : product_pipeline<Sizes, 1>;
    launch_tiles(kernel, problem, Sizes::block_rows, Sizes::block_cols, Tiling<Sizes>::threads);
}

void pipeline(Multiplication& problem) { run_pipeline<PlainSizes>(problem); }

// Step 12, the side branch again: Kahan's sum in the pipeline. Here the multiply-add units are what limits, and four
// operations instead of one should take four times as long. A thread has two registers for each sum now, and room for
// 8 x 8 of them.
void pipeline_kahan(Multiplication& problem) { run_pipeline<CompensatedSizes>(problem); }

}  // namespace
}  // namespace examples
