#pragma once

#include <cfloat>
#include <cmath>

#include "chapters/4_examples/transformer_block/shapes.cuh"

namespace examples {
namespace {

constexpr unsigned kKeys = kLanes;                      // of a tile: one per lane
constexpr unsigned kQueries = 8;                        // of a warp
constexpr unsigned kAttentionWarps = 4;                 // of a block
constexpr unsigned kRows = kAttentionWarps * kQueries;  // queries of a block
static_assert(kRows == kKeys, "the first key of the last tile is the block's first query");

// Step 5, attention in one kernel, without matrices of scores. A block has 32 queries of a
// head and goes through the keys in tiles of 32. A lane computes the scores of one key with
// the eight queries of its warp. The softmax is the online one (lesson softmax): when a
// tile brings a larger score, the sum and the weighted values so far are multiplied by
// exp(old - new). Then a lane changes its role: it has `Head` / 32 columns of the values
// and adds up their weighted sums for all eight queries. `Head` is the largest width of a
// head; places past the end of a shorter one hold 0.
// Faster because no score reaches global memory, because keys and values are read once per
// 32 queries, and because tiles of keys that all 32 queries must not see are left out, half
// of them. Still slow because 32 multiply-adds of the scores take 12 wavefronts of shared
// memory, which are 12 cycles, while an SM with 128 units could do them in 8. And the
// blocks of the last queries have many times the work of those of the first.
template <unsigned Head>
__global__ void __launch_bounds__(kAttentionWarps* kLanes)
    attention_online(const float* qkv, Heads x, float* out) {
    constexpr unsigned threads = kAttentionWarps * kLanes, own = Head / kLanes;
    __shared__ __align__(16) float q_tile[kRows][Head];
    __shared__ float k_tile[kKeys][Head + 1];  // 32 rows of a column: 32 banks
    __shared__ float v_tile[kKeys][Head];
    __shared__ float4 weights[kAttentionWarps][kQueries / 4][kKeys];
    const unsigned lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
    const std::size_t tiles = (x.tokens + kRows - 1) / kRows, width = x.heads * x.head;
    const std::size_t head = blockIdx.x / tiles, first_query = blockIdx.x % tiles * kRows;
    const float* const q = qkv + head * x.head;
    const float *const k = q + width, *const v = k + width;
    const float scale = rsqrtf(static_cast<float>(x.head));
    for (unsigned i = threadIdx.x; i < kRows * Head; i += threads) {
        const unsigned row = i / Head, col = i % Head;
        const bool is_there = first_query + row < x.tokens && col < x.head;
        q_tile[row][col] = is_there ? q[(first_query + row) * 3 * width + col] * scale : 0;
    }

    float largest[kQueries], sums[kQueries], results[kQueries][own];
#pragma unroll
    for (unsigned i = 0; i < kQueries; ++i) {
        largest[i] = -FLT_MAX;
        sums[i] = 0;
#pragma unroll
        for (unsigned c = 0; c < own; ++c) results[i][c] = 0;
    }
    for (std::size_t first_key = 0; first_key <= first_query; first_key += kKeys) {
        __syncthreads();  // all warps have used the tiles before
        for (unsigned i = threadIdx.x; i < kKeys * Head; i += threads) {
            const unsigned row = i / Head, col = i % Head;
            const bool is_there = first_key + row < x.tokens && col < x.head;
            const std::size_t from = (first_key + row) * 3 * width + col;
            k_tile[row][col] = is_there ? k[from] : 0;
            v_tile[row][col] = is_there ? v[from] : 0;
        }
        __syncthreads();
        float scores[kQueries] = {};
        for (unsigned p = 0; p < Head; p += 4) {
            float of_key[4];
#pragma unroll
            for (unsigned j = 0; j < 4; ++j) of_key[j] = k_tile[lane][p + j];
#pragma unroll
            for (unsigned i = 0; i < kQueries; ++i) {
                float of_query[4];
                fetch_four(of_query, &q_tile[warp * kQueries + i][p]);
#pragma unroll
                for (unsigned j = 0; j < 4; ++j) scores[i] += of_query[j] * of_key[j];
            }
        }
#pragma unroll
        for (unsigned i = 0; i < kQueries; ++i) {
            const std::size_t query = first_query + warp * kQueries + i;
            if (first_key + lane > query) scores[i] = -INFINITY;
            float larger = fmaxf(largest[i], scores[i]);
            for (unsigned distance = kLanes / 2; distance > 0; distance /= 2)
                larger = fmaxf(larger, __shfl_xor_sync(~0u, larger, distance));
            const float correction = expf(largest[i] - larger);
            largest[i] = larger;
            scores[i] = expf(scores[i] - larger);  // now a weight
            sums[i] = sums[i] * correction + scores[i];
#pragma unroll
            for (unsigned c = 0; c < own; ++c) results[i][c] *= correction;
        }
#pragma unroll
        for (unsigned i = 0; i < kQueries; i += 4) {
            weights[warp][i / 4][lane] =
                make_float4(scores[i], scores[i + 1], scores[i + 2], scores[i + 3]);
        }
        __syncwarp();
#pragma unroll 4
        for (unsigned key = 0; key < kKeys; ++key) {
            float values[own];
#pragma unroll
            for (unsigned c = 0; c < own; ++c) values[c] = v_tile[key][lane + c * kLanes];
#pragma unroll
            for (unsigned i = 0; i < kQueries; i += 4) {
                const float4 four = weights[warp][i / 4][key];
#pragma unroll
                for (unsigned c = 0; c < own; ++c) {
                    results[i][c] += four.x * values[c];
                    results[i + 1][c] += four.y * values[c];
                    results[i + 2][c] += four.z * values[c];
                    results[i + 3][c] += four.w * values[c];
                }
            }
        }
    }
#pragma unroll
    for (unsigned i = 0; i < kQueries; ++i) {
        float sum = sums[i];  // of the keys of this lane
        for (unsigned distance = kLanes / 2; distance > 0; distance /= 2)
            sum += __shfl_xor_sync(~0u, sum, distance);
        const std::size_t query = first_query + warp * kQueries + i;
#pragma unroll
        for (unsigned c = 0; c < own; ++c) {
            const unsigned col = lane + c * kLanes;
            if (query < x.tokens && col < x.head)
                out[query * width + head * x.head + col] = results[i][c] / sum;
        }
    }
}

}  // namespace
}  // namespace examples
