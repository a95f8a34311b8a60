#pragma once

#include "chapters/4_examples/attention/tensor_tiles.cuh"

namespace examples {
namespace {

// Step 4, tensor cores: a warp computes the scores of 32 queries and 64 keys, and adds the
// values, with instructions that make 2048 multiply-adds each. Sums are floats, but weights
// are rounded to bf16, because tensor cores take both operands in the same precision.
// `ldmatrix` loads fragments of all three operands, and transposes the values on the way.
// Faster because of the tensor cores, and because a tile serves 128 queries in place of 64.
// Still slow because a block copies a tile, waits for it, and only then multiplies. Only
// the other block on the SM can fill the gap.
__global__ void __launch_bounds__(kMmaThreads, 2) mma_tiles(Heads x) {
    extern __shared__ __align__(128) unsigned char shared_memory[];
    const unsigned queries = shared_address(shared_memory);
    const unsigned keys = queries + kQueryBytes, values = keys + kTileBytes;
    const unsigned tiles = (x.tokens + BM - 1) / BM;
    const unsigned first_row = blockIdx.x % tiles * BM;
    const std::size_t head = std::size_t{blockIdx.x / tiles} * x.tokens * kDim;

    fetch_rows<BM>(queries, x.queries + head, first_row, x.tokens);
    Rows rows;
    for (unsigned first = 0; first < x.tokens; first += BN) {
        __syncthreads();  // all have read the tiles before
        fetch_rows<BN>(keys, x.keys + head, first, x.tokens);
        fetch_rows<BN>(values, x.values + head, first, x.tokens);
        wait_for_copies();
        __syncthreads();
        Scores scores = {};
        compute_scores(scores, queries, keys);
        if (first + BN > x.tokens) drop_keys(scores, first, x.tokens);
        weigh(scores, rows);
        add_values(rows, scores, values);
    }
    store_rows(rows, x.out + head, first_row, x.tokens);
}

}  // namespace
}  // namespace examples
