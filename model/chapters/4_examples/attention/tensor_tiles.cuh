// What steps 4, 5, and 7 share: the tiles in shared memory, the sums of a warp, and what
// happens to them from the loads of fragments to the result.
//
// A block of four warps computes 128 rows of the result, and a warp 32 of them. It takes 64
// keys and values at a time. The fragments of the scores have the shape that the product
// with the values wants its left operand in, so weights never leave the registers.
#pragma once

#include "chapters/4_examples/attention/tensor_core.cuh"

namespace examples {
namespace {

constexpr unsigned kMmaThreads = 128;
constexpr unsigned BM = 128, BN = 64;  // queries and keys of a tile
constexpr unsigned WM = 32;            // queries of a warp
constexpr unsigned kChunk = 16;        // bytes of the smallest copy
constexpr unsigned kRowBytes = kDim * sizeof(Bf16), kChunks = kRowBytes / kChunk;
constexpr unsigned kQueryBytes = BM * kRowBytes, kTileBytes = BN * kRowBytes;
constexpr unsigned kSharedBytes = kQueryBytes + 2 * kTileBytes;  // with keys and values

// Where chunk i of row r of a tile is: at place i ^ (r % 8). Rows have 256 bytes, so each
// begins at bank 0. Thanks to this swizzle the same chunk of eight rows is in different
// banks (lesson matrix_multiply).
__device__ unsigned swizzled(unsigned row, unsigned chunk) {
    return row * kRowBytes + (chunk ^ row % 8) * kChunk;
}

// Starts to copy rows first, first + 1, ... of a head. Rows past the last token become 0.
template <unsigned Rows>
__device__ void fetch_rows(unsigned to, const Bf16* head, unsigned first, unsigned tokens) {
#pragma unroll
    for (unsigned i = 0; i < Rows * kChunks; i += kMmaThreads) {
        const unsigned row = (i + threadIdx.x) / kChunks, chunk = threadIdx.x % kChunks;
        const bool exists = first + row < tokens;
        copy_chunk(to + swizzled(row, chunk),
                   head + (exists ? std::size_t{first + row} * kDim + chunk * 8 : 0),
                   exists);
    }
}

using Scores = float[WM / 16][BN / 8][4];  // 16 x 8 sums each, as mma has them

// What a warp keeps of its 32 rows. A lane has elements of four of them: 8 i + lane / 4.
struct Rows {
    float out[WM / 16][kDim / 8][4] = {};
    float largest[WM / 8] = {kLowest, kLowest, kLowest, kLowest};  // scaled
    float sums[WM / 8] = {};                                       // of this lane's columns
};

// The scores of a warp's rows with the keys of a tile: fragments of the queries come from
// shared memory each time, because 64 registers more for them are not there.
__device__ void compute_scores(Scores& scores, unsigned queries, unsigned keys) {
    const unsigned lane = threadIdx.x % kLanes;
    const unsigned q_row = threadIdx.x / kLanes * WM + lane % 16, q_chunk = lane / 16;
    const unsigned k_row = lane % 8 + lane / 16 * 8, k_chunk = lane / 8 % 2;
#pragma unroll
    for (unsigned step = 0; step < kDim / 16; ++step) {
        unsigned q[WM / 16][4];
#pragma unroll
        for (unsigned i = 0; i < WM / 16; ++i)
            ldmatrix(q[i], queries + swizzled(q_row + 16 * i, 2 * step + q_chunk));
#pragma unroll
        for (unsigned j = 0; j < BN / 16; ++j) {
            unsigned k[4];
            ldmatrix(k, keys + swizzled(k_row + 16 * j, 2 * step + k_chunk));
#pragma unroll
            for (unsigned i = 0; i < WM / 16; ++i) {
                mma_m16n8k16_bf16(scores[i][2 * j], q[i], {k[0], k[1]});
                mma_m16n8k16_bf16(scores[i][2 * j + 1], q[i], {k[2], k[3]});
            }
        }
    }
}

// Keys from number `end` on get no weight. `first`: the first key of the tile.
__device__ void drop_keys(Scores& scores, unsigned first, unsigned end) {
    const unsigned col = first + threadIdx.x % 4 * 2;
#pragma unroll
    for (unsigned j = 0; j < BN / 8; ++j) {
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
            if (col + 8 * j + k % 2 < end) continue;
#pragma unroll
            for (unsigned i = 0; i < WM / 16; ++i) scores[i][j][k] = -INFINITY;
        }
    }
}

// The online softmax: scores become weights, and what was summed up before is corrected.
__device__ void weigh(Scores& scores, Rows& rows) {
#pragma unroll
    for (unsigned r = 0; r < WM / 8; ++r) {
        const unsigned i = r / 2, half = r % 2 * 2;  // of the fragments
        float here = -INFINITY;
#pragma unroll
        for (unsigned j = 0; j < BN / 8; ++j)
            here = fmaxf(here, fmaxf(scores[i][j][half], scores[i][j][half + 1]));
        here = largest_over_lanes<4>(here) * kScaleLog2e;
        const float larger = fmaxf(rows.largest[r], here);
        const float correction = exp2_of(rows.largest[r] - larger);
        rows.largest[r] = larger;
        float sum = 0;
#pragma unroll
        for (unsigned j = 0; j < BN / 8; ++j) {
#pragma unroll
            for (unsigned k = half; k < half + 2; ++k) {
                // One multiply-add does both: the scale, and the maximum.
                scores[i][j][k] = exp2_of(fmaf(scores[i][j][k], kScaleLog2e, -larger));
                sum += scores[i][j][k];
            }
        }
        rows.sums[r] = rows.sums[r] * correction + sum;
#pragma unroll
        for (unsigned j = 0; j < kDim / 8; ++j) {
            rows.out[i][j][half] *= correction;
            rows.out[i][j][half + 1] *= correction;
        }
    }
}

// Adds the values of a tile with these weights, which are rounded to bf16 for it.
__device__ void add_values(Rows& rows, const Scores& weights, unsigned values) {
    const unsigned lane = threadIdx.x % kLanes, v_row = lane % 16, v_chunk = lane / 16;
#pragma unroll
    for (unsigned step = 0; step < BN / 16; ++step) {
        unsigned w[WM / 16][4];
#pragma unroll
        for (unsigned i = 0; i < WM / 16; ++i) {
#pragma unroll
            for (unsigned k = 0; k < 4; ++k) {
                const float* const sums = weights[i][2 * step + k / 2];
                w[i][k] = pair_of(sums[k % 2 * 2], sums[k % 2 * 2 + 1]);
            }
        }
#pragma unroll
        for (unsigned j = 0; j < kDim / 16; ++j) {
            unsigned v[4];
            ldmatrix_trans(v, values + swizzled(v_row + 16 * step, 2 * j + v_chunk));
#pragma unroll
            for (unsigned i = 0; i < WM / 16; ++i) {
                mma_m16n8k16_bf16(rows.out[i][2 * j], w[i], {v[0], v[1]});
                mma_m16n8k16_bf16(rows.out[i][2 * j + 1], w[i], {v[2], v[3]});
            }
        }
    }
}

// Divides by the sums, and stores. `first`: the first row of the block.
__device__ void store_rows(const Rows& rows, float* head, unsigned first, unsigned tokens) {
    const unsigned warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
#pragma unroll
    for (unsigned r = 0; r < WM / 8; ++r) {
        const float factor = 1 / sum_over_lanes<4>(rows.sums[r]);
        const unsigned row = first + warp * WM + 8 * r + lane / 4;
        if (row >= tokens) continue;
        float* const to = head + std::size_t{row} * kDim + lane % 4 * 2;
#pragma unroll
        for (unsigned j = 0; j < kDim / 8; ++j) {
            const float* const sums = &rows.out[r / 2][j][r % 2 * 2];
            *reinterpret_cast<float2*>(to + 8 * j) = scaled(sums[0], sums[1], factor);
        }
    }
}

}  // namespace
}  // namespace examples
