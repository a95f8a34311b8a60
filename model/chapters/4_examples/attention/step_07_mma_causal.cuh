#pragma once

#include "chapters/4_examples/attention/tensor_tiles.cuh"

namespace examples {
namespace {

// Keys after the query that looks get no weight. `row`: the first row of the block.
__device__ void drop_later_keys(Scores& scores, unsigned first, unsigned row) {
    const unsigned lane = threadIdx.x % kLanes, col = first + lane % 4 * 2;
#pragma unroll
    for (unsigned r = 0; r < WM / 8; ++r) {
        const unsigned own = row + threadIdx.x / kLanes * WM + 8 * r + lane / 4;
#pragma unroll
        for (unsigned j = 0; j < BN / 8; ++j) {
#pragma unroll
            for (unsigned k = 0; k < 2; ++k) {
                if (col + 8 * j + k > own) scores[r / 2][j][r % 2 * 2 + k] = -INFINITY;
            }
        }
    }
}

// A causal mask: a token sees itself and those before it. With `Skip` = false, all tiles
// are computed and then masked, so half of the work is for weights of 0.
//
// Step 7 has `Skip` = true: a block stops at the tile with its last query. The tiles beyond
// contribute nothing. Only the tiles on the diagonal are masked.
// Faster because half of the tiles are left. The blocks with the last queries have the most
// work, so they are launched first: otherwise the SMs would wait for them in the end.
template <bool Skip>
__global__ void __launch_bounds__(kMmaThreads, 2) mma_causal(Heads x) {
    extern __shared__ __align__(128) unsigned char shared_memory[];
    const unsigned queries = shared_address(shared_memory);
    const unsigned keys = queries + kQueryBytes, values = keys + kTileBytes;
    const unsigned tiles = (x.tokens + BM - 1) / BM;
    const unsigned first_row = (tiles - 1 - blockIdx.x / x.heads) * BM;
    const std::size_t head = std::size_t{blockIdx.x % x.heads} * x.tokens * kDim;
    const unsigned end = Skip ? min(first_row + BM, x.tokens) : x.tokens;

    fetch_rows<BM>(queries, x.queries + head, first_row, x.tokens);
    fetch_rows<BN>(keys, x.keys + head, 0, x.tokens);
    Rows rows;
    for (unsigned first = 0; first < end; first += BN) {
        wait_for_copies();
        __syncthreads();  // the keys are here; all have read the values before
        fetch_rows<BN>(values, x.values + head, first, x.tokens);
        Scores scores = {};
        compute_scores(scores, queries, keys);
        wait_for_copies();
        __syncthreads();  // the values are here; all have read the keys
        if (first + BN < end) fetch_rows<BN>(keys, x.keys + head, first + BN, x.tokens);
        if (!Skip || first + BN > first_row) drop_later_keys(scores, first, first_row);
        weigh(scores, rows);
        add_values(rows, scores, values);
    }
    store_rows(rows, x.out + head, first_row, x.tokens);
}

}  // namespace
}  // namespace examples
