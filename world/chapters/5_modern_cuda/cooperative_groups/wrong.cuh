// Mistakes with groups, for the CPU device to find. On a GPU these kernels may hang or give
// wrong results, so they do not run there. All of them have one block per 64 floats.
#pragma once

#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
#include <cuda_runtime.h>

namespace modern_cuda {
namespace {

namespace cg = cooperative_groups;

// WRONG: the tile has 32 lanes, but only those that keep their float come to the scan.
__global__ void scan_in_branch(const float* in, float* out, unsigned* kept) {
    const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());
    const float value = in[threadIdx.x];
    if (value > 0) {
        const unsigned place = cg::exclusive_scan(tile, 1u);
        out[threadIdx.x / 32 * 32 + place] = value;
    }
    tile.sync();
    if (threadIdx.x == 0) *kept = 0;
}

// WRONG: the group was made before the branch, so it has lanes that are not in the branch.
__global__ void group_from_before(const float* in, float* out, unsigned* kept) {
    const cg::coalesced_group group = cg::coalesced_threads();
    const float value = in[threadIdx.x];
    if (value > 0) {
        unsigned first = 0;
        if (group.thread_rank() == 0) first = atomicAdd(kept, group.num_threads());
        first = group.shfl(first, 0);
        out[first + group.thread_rank()] = value;
    }
    group.sync();
}

// WRONG: the first warp waits for the whole block, and the other one does not come.
__global__ void block_barrier_in_branch(const float* in, float* out, unsigned* kept) {
    __shared__ unsigned warp_kept[2];
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    const float value = in[threadIdx.x];
    const unsigned ballot = tile.ballot(value > 0);
    if (tile.thread_rank() == 0) warp_kept[tile.meta_group_rank()] = ballot;
    if (tile.meta_group_rank() == 0) {
        block.sync();
        if (tile.thread_rank() == 0)
            *kept = static_cast<unsigned>(__popc(warp_kept[0]) + __popc(warp_kept[1]));
    }
    block.sync();
    out[threadIdx.x] = value;
}

// WRONG in an ordinary launch: nothing makes sure that all blocks are resident.
__global__ void grid_barrier_without_launch(const float* in, float* out, unsigned* kept) {
    if (threadIdx.x == 0) atomicAdd(kept, 1u);
    cg::this_grid().sync();
    out[threadIdx.x] = in[threadIdx.x];
}

}  // namespace
}  // namespace modern_cuda
