#pragma once

#include "chapters/4_examples/attention/tensor_tiles.cuh"

namespace examples {
namespace {

// Step 5, copies ahead: while the warps multiply queries and keys, the values of the tile
// are copied, and while they multiply weights and values, the keys of the next tile are.
// So keys and values need one place each, as before, and each of two barriers per tile says
// two things: what was copied is there for all, and what was read may be overwritten.
// This could be faster because a copy has as long to arrive as one of the two products
// takes. On an H200 it is not, probably because the other block on the SM multiplies while
// this one waits. Still slow because the tensor cores wait while a warp computes
// exponentials, unless another warp of the same scheduler multiplies, and because all
// operands pass through registers.
__global__ void __launch_bounds__(kMmaThreads, 2) mma_ahead(Heads x) {
    extern __shared__ __align__(128) unsigned char shared_memory[];
    const unsigned queries = shared_address(shared_memory);
    const unsigned keys = queries + kQueryBytes, values = keys + kTileBytes;
    const unsigned tiles = (x.tokens + BM - 1) / BM;
    const unsigned first_row = blockIdx.x % tiles * BM;
    const std::size_t head = std::size_t{blockIdx.x / tiles} * x.tokens * kDim;

    fetch_rows<BM>(queries, x.queries + head, first_row, x.tokens);
    fetch_rows<BN>(keys, x.keys + head, 0, x.tokens);
    Rows rows;
    for (unsigned first = 0; first < x.tokens; first += BN) {
        wait_for_copies();
        __syncthreads();  // the keys are here; all have read the values before
        fetch_rows<BN>(values, x.values + head, first, x.tokens);
        Scores scores = {};
        compute_scores(scores, queries, keys);
        wait_for_copies();
        __syncthreads();  // the values are here; all have read the keys
        if (first + BN < x.tokens)
            fetch_rows<BN>(keys, x.keys + head, first + BN, x.tokens);
        if (first + BN > x.tokens) drop_keys(scores, first, x.tokens);
        weigh(scores, rows);
        add_values(rows, scores, values);
    }
    store_rows(rows, x.out + head, first_row, x.tokens);
}

}  // namespace
}  // namespace examples
