#pragma once

#include "chapters/4_examples/attention/step_02_row_per_warp.cuh"

namespace examples {
namespace {

// A block takes 64 queries and 32 keys at a time. Of their 64 x 32 scores, a thread
// computes 4 x 2, and of the 64 x 128 sums of values, 4 x 8. Sixteen lanes share four rows.
constexpr unsigned kRows = 64, kKeys = 32;
constexpr unsigned kRowsOfThread = 4, kLanesOfRow = 16;
constexpr unsigned kKeysOfThread = kKeys / kLanesOfRow;
constexpr unsigned kColsOfThread = kDim / kLanesOfRow;
static_assert(kRows / kRowsOfThread * kLanesOfRow == kThreads && kColsOfThread == 8);
// Rows in shared memory have 16 bytes more, so that the same 16 bytes of eight rows are in
// different banks.
constexpr unsigned kPitch = kDim + 8, kPitchOfWeights = kKeys + 4;

// Copies rows first, first + 1, ... of `from` to shared memory, 16 bytes at a time. Rows
// that do not exist become 0.
template <unsigned Rows>
__device__ void copy_rows(Bf16 (*to)[kPitch], const Bf16* from, unsigned first,
                          unsigned tokens) {
    constexpr unsigned pieces = kDim / 8;
    for (unsigned i = threadIdx.x; i < Rows * pieces; i += kThreads) {
        const unsigned row = i / pieces, piece = i % pieces;
        uint4 eight = {0, 0, 0, 0};
        if (first + row < tokens)
            eight = reinterpret_cast<const uint4*>(from +
                                                   std::size_t{first + row} * kDim)[piece];
        reinterpret_cast<uint4*>(to[row])[piece] = eight;
    }
}

// Step 3, tiles: a block loads 32 keys and values to shared memory for 64 queries, and each
// element that a thread takes from there serves several of its sums in registers (lesson
// matrix_multiply, steps 4 to 7). Only the weights go through shared memory once more,
// because a thread needs those of all 32 keys for its columns of the result.
// Faster because 8 bytes per score are left of 768, and because 6 loads from shared memory
// serve 64 multiply-adds. Still slow because multiply-adds of single floats are the slowest
// way to multiply matrices that a GPU has, and because bf16 must be made floats before.
__global__ void __launch_bounds__(kThreads, 2) register_tiles(Heads x) {
    __shared__ __align__(16) Bf16 queries[kRows][kPitch];
    __shared__ __align__(16) Bf16 keys[kKeys][kPitch], values[kKeys][kPitch];
    __shared__ __align__(16) float weights[kRows][kPitchOfWeights];
    const unsigned tiles = (x.tokens + kRows - 1) / kRows;
    const unsigned first_row = blockIdx.x % tiles * kRows;
    const std::size_t head = std::size_t{blockIdx.x / tiles} * x.tokens * kDim;
    const unsigned row = threadIdx.x / kLanesOfRow * kRowsOfThread;
    const unsigned lane = threadIdx.x % kLanesOfRow;  // among those of a row

    copy_rows<kRows>(queries, x.queries + head, first_row, x.tokens);
    float largest[kRowsOfThread], sums[kRowsOfThread] = {};
    float out[kRowsOfThread][kColsOfThread] = {};
    for (float& of_row : largest) of_row = kLowest;
    for (unsigned first = 0; first < x.tokens; first += kKeys) {
        __syncthreads();  // all have read the tiles before
        copy_rows<kKeys>(keys, x.keys + head, first, x.tokens);
        copy_rows<kKeys>(values, x.values + head, first, x.tokens);
        __syncthreads();

        float score[kRowsOfThread][kKeysOfThread] = {};
        for (unsigned d = 0; d < kDim; d += 8) {
            float q[kRowsOfThread][8], k[kKeysOfThread][8];
#pragma unroll
            for (unsigned i = 0; i < kRowsOfThread; ++i)
                load_eight(q[i], &queries[row + i][d]);
#pragma unroll
            for (unsigned j = 0; j < kKeysOfThread; ++j)
                load_eight(k[j], &keys[lane + j * kLanesOfRow][d]);
#pragma unroll
            for (unsigned i = 0; i < kRowsOfThread; ++i) {
#pragma unroll
                for (unsigned j = 0; j < kKeysOfThread; ++j) {
#pragma unroll
                    for (unsigned p = 0; p < 8; ++p) score[i][j] += q[i][p] * k[j][p];
                }
            }
        }
#pragma unroll
        for (unsigned i = 0; i < kRowsOfThread; ++i) {
            float larger = largest[i];
#pragma unroll
            for (unsigned j = 0; j < kKeysOfThread; ++j) {
                const bool exists = first + lane + j * kLanesOfRow < x.tokens;
                score[i][j] = exists ? score[i][j] * kScaleLog2e : -INFINITY;
                larger = fmaxf(larger, score[i][j]);
            }
            larger = largest_over_lanes<kLanesOfRow>(larger);
            const float correction = exp2f(largest[i] - larger);
            largest[i] = larger;
            sums[i] *= correction;
#pragma unroll
            for (float& sum : out[i]) sum *= correction;
#pragma unroll
            for (unsigned j = 0; j < kKeysOfThread; ++j) {
                const float weight = exp2f(score[i][j] - larger);
                sums[i] += weight;
                weights[row + i][lane + j * kLanesOfRow] = weight;
            }
        }
        __syncwarp();  // the lanes of a row are in one warp
        for (unsigned key = 0; key < kKeys; key += 4) {
            float w[kRowsOfThread][4];
#pragma unroll
            for (unsigned i = 0; i < kRowsOfThread; ++i) {
                const float4 four =
                    *reinterpret_cast<const float4*>(&weights[row + i][key]);
                w[i][0] = four.x, w[i][1] = four.y, w[i][2] = four.z, w[i][3] = four.w;
            }
#pragma unroll
            for (unsigned j = 0; j < 4; ++j) {
                float v[kColsOfThread];
                load_eight(v, &values[key + j][lane * kColsOfThread]);
#pragma unroll
                for (unsigned i = 0; i < kRowsOfThread; ++i) {
#pragma unroll
                    for (unsigned c = 0; c < kColsOfThread; ++c)
                        out[i][c] += w[i][j] * v[c];
                }
            }
        }
    }
#pragma unroll
    for (unsigned i = 0; i < kRowsOfThread; ++i) {
        const float factor = 1 / sum_over_lanes<kLanesOfRow>(sums[i]);
        if (first_row + row + i >= x.tokens) continue;
        float4* const to = reinterpret_cast<float4*>(
            x.out + head + std::size_t{first_row + row + i} * kDim + lane * kColsOfThread);
#pragma unroll
        for (unsigned c = 0; c < kColsOfThread; c += 4)
            to[c / 4] =
                scaled(make_float4(out[i][c], out[i][c + 1], out[i][c + 2], out[i][c + 3]),
                       factor);
    }
}

}  // namespace
}  // namespace examples
