#pragma once

#include "chapters/4_examples/attention/warpgroup.cuh"

namespace examples {
namespace {

constexpr unsigned kWgmmaThreads = 2 * kGroup;
constexpr unsigned kSide = 128;  // queries of a block, and keys of a tile
// The queries, and two places each for keys and values, at multiples of 1024 bytes.
constexpr unsigned kWgmmaSharedBytes = 5 * kWholeTile + 1024;

// Starts to copy rows first, first + 1, ... of a head. Rows past the last token become 0.
__device__ void fetch_tile(unsigned to, const Bf16* head, unsigned first, unsigned tokens) {
    constexpr unsigned chunks = kDim / 8;
    const unsigned chunk = threadIdx.x % chunks;
#pragma unroll
    for (unsigned i = 0; i < kSide; i += kWgmmaThreads / chunks) {
        const unsigned row = i + threadIdx.x / chunks;
        const bool exists = first + row < tokens;
        copy_chunk(to + swizzled_in_halves(row, chunk),
                   head + (exists ? std::size_t{first + row} * kDim + chunk * 8 : 0),
                   exists);
    }
}

#if WARPWISE_SM_90A

// The scores of a warpgroup's 64 queries with the 128 keys of a tile, as one group.
__device__ void start_scores(float (&scores)[64], unsigned queries, unsigned keys) {
#pragma unroll
    for (unsigned step = 0; step < kDim / 16; ++step) {
        const unsigned at = step / 4 * kHalfTile + step % 4 * 32;
        multiply_rows(scores, rows_at(queries + at), rows_at(keys + at), step != 0);
    }
    wgmma_commit_group();
}

// Adds the values of a tile with these weights, as one group.
__device__ void start_values(float (&out)[64], const unsigned (&weights)[kSide / 16][4],
                             unsigned values) {
#pragma unroll
    for (unsigned step = 0; step < kSide / 16; ++step)
        multiply_fragments(out, weights[step], rows_at(values + step * 16 * kHalfRow));
    wgmma_commit_group();
}

// The online softmax for the two rows of a lane: 4 j to 4 j + 3 are two columns of the one
// row and of the other. Returns by which factors the earlier sums are to be multiplied.
__device__ float2 weigh_rows(float (&scores)[64], float (&largest)[2], float (&sums)[2]) {
    float corrections[2];
#pragma unroll
    for (unsigned r = 0; r < 2; ++r) {
        float here = -INFINITY;
#pragma unroll
        for (unsigned j = 2 * r; j < 64; j += 4)
            here = fmaxf(here, fmaxf(scores[j], scores[j + 1]));
        here = largest_over_lanes<4>(here) * kScaleLog2e;
        const float larger = fmaxf(largest[r], here);
        corrections[r] = exp2_of(largest[r] - larger);
        largest[r] = larger;
        float sum = 0;
#pragma unroll
        for (unsigned j = 2 * r; j < 64; j += 4) {
            scores[j] = exp2_of(fmaf(scores[j], kScaleLog2e, -larger));
            scores[j + 1] = exp2_of(fmaf(scores[j + 1], kScaleLog2e, -larger));
            sum += scores[j] + scores[j + 1];
        }
        sums[r] = sums[r] * corrections[r] + sum;
    }
    return {corrections[0], corrections[1]};
}

#endif

// Step 6, wgmma: a warpgroup, which are four warps, multiplies 64 queries with the 128 keys
// of a tile. Both operands come from shared memory, and the instruction is asynchronous.
// So a warpgroup starts two products at once: its queries with the next keys, and its
// weights with the values. While the second one runs, it computes the next weights.
// Faster because most operands of wgmma do not pass through registers, and because
// exponentials are computed while the tensor cores multiply. Still slow because all threads
// copy, and because both warpgroups wait for each other at each tile.
__global__ void __launch_bounds__(kWgmmaThreads, 1) wgmma_overlap(Heads x) {
#if WARPWISE_SM_90A
    extern __shared__ __align__(128) unsigned char shared_memory[];
    const unsigned queries = (shared_address(shared_memory) + 1023) / 1024 * 1024;
    const auto keys = [&](unsigned tile) { return queries + (1 + tile % 2) * kWholeTile; };
    const auto values = [&](unsigned tile) {
        return queries + (3 + tile % 2) * kWholeTile;
    };
    const unsigned blocks = (x.tokens + kSide - 1) / kSide, tiles = blocks;
    const unsigned first_row = blockIdx.x % blocks * kSide;
    const std::size_t head = std::size_t{blockIdx.x / blocks} * x.tokens * kDim;
    const unsigned lane = threadIdx.x % kLanes, group = threadIdx.x / kGroup;
    const unsigned own_queries = queries + group * 64 * kHalfRow;

    fetch_tile(queries, x.queries + head, first_row, x.tokens);
    fetch_tile(keys(0), x.keys + head, 0, x.tokens);
    float scores[64], out[64] = {}, largest[2] = {kLowest, kLowest}, sums[2] = {};
    unsigned weights[kSide / 16][4];
    for (unsigned tile = 0; tile < tiles; ++tile) {
        wait_for_copies();
        fence_proxy_async();
        __syncthreads();  // keys and the values before are here; those before are read
        if (tile + 1 < tiles)
            fetch_tile(keys(tile + 1), x.keys + head, (tile + 1) * kSide, x.tokens);
        fetch_tile(values(tile), x.values + head, tile * kSide, x.tokens);
        wgmma_fence();
        start_scores(scores, own_queries, keys(tile));
        if (tile == 0) {
            wgmma_wait_group<0>(scores);
        } else {
            wgmma_fence();
            start_values(out, weights, values(tile - 1));
            wgmma_wait_group<1>(scores);
        }
        if ((tile + 1) * kSide > x.tokens) {
#pragma unroll
            for (unsigned j = 0; j < 64; ++j) {
                const unsigned key = tile * kSide + j / 4 * 8 + lane % 4 * 2 + j % 2;
                if (key >= x.tokens) scores[j] = -INFINITY;
            }
        }
        const float2 corrections = weigh_rows(scores, largest, sums);
        wgmma_wait_group<0>(out);
#pragma unroll
        for (unsigned j = 0; j < 64; ++j)
            out[j] *= j % 4 < 2 ? corrections.x : corrections.y;
#pragma unroll
        for (unsigned step = 0; step < kSide / 16; ++step) {
#pragma unroll
            for (unsigned k = 0; k < 4; ++k)
                weights[step][k] =
                    pair_of(scores[8 * step + 2 * k], scores[8 * step + 2 * k + 1]);
        }
    }
    wait_for_copies();
    fence_proxy_async();
    __syncthreads();
    wgmma_fence();
    start_values(out, weights, values(tiles - 1));
    wgmma_wait_group<0>(out);
#pragma unroll
    for (unsigned r = 0; r < 2; ++r) {
        const float factor = 1 / sum_over_lanes<4>(sums[r]);
        const unsigned row =
            first_row + group * 64 + threadIdx.x % kGroup / kLanes * 16 + 8 * r + lane / 4;
        if (row >= x.tokens) continue;
        float* const to = x.out + head + std::size_t{row} * kDim + lane % 4 * 2;
#pragma unroll
        for (unsigned j = 0; j < 16; ++j)
            *reinterpret_cast<float2*>(to + 8 * j) =
                scaled(out[4 * j + 2 * r], out[4 * j + 2 * r + 1], factor);
    }
#endif
}

}  // namespace
}  // namespace examples
