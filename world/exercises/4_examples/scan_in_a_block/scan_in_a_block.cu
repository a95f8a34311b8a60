// Exercise: scan a tile with few barriers.
// The task: ./warpwise task scan_in_a_block
#include <cuda_runtime.h>

#include "exercises/4_examples/scan_in_a_block/scan_in_a_block.h"

/// One block per tile, one thread per value: scanned[i] is the sum of the tile up to value
/// i, and sums[blockIdx.x] is the sum of the whole tile.
__global__ void scan_one_tile(const float* values, int count, float* scanned, float* sums) {
    // TODO 1: scan the 32 values of each warp by shuffles. Threads past the end of the
    // values take part, too.
    // TODO 2: let other warps know the sum of each warp.
    // TODO 3: add the sum of all warps before one's own, and store the results.
}

void scan_tiles(const float* d_values, int count, float* d_scanned, float* d_sums,
                int threads_per_block) {
    if (count == 0) return;
    const int tiles = (count + threads_per_block - 1) / threads_per_block;
    scan_one_tile<<<tiles, threads_per_block>>>(d_values, count, d_scanned, d_sums);
}
