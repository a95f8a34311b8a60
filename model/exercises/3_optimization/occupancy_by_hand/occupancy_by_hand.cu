// Exercise: how many blocks fit on a multiprocessor, and which limit decides.
// The task: ./warpwise task occupancy_by_hand
#include "exercises/3_optimization/occupancy_by_hand/occupancy_by_hand.h"

Occupancy occupancy_of(const Multiprocessor& sm, const Block& block) {
    // TODO 1: how many warps does a block have? A remainder of fewer than 32 threads takes
    // a whole warp.
    const int warps = block.threads / 32 + 1;

    const int by_warps = sm.warps / warps;

    // TODO 2: for how many warps do the registers suffice, and therefore for how many
    // blocks? The registers of a warp are rounded up to a multiple of 256, and they have to
    // fit into what is left of one quarter.
    const int by_registers = sm.blocks;

    // TODO 3: for how many blocks does the shared memory suffice? A block also takes the
    // reserved bytes, and the sum is rounded up. If a block takes no bytes at all, shared
    // memory is no limit.
    const int by_shared_memory = block.shared_bytes == 0 ? sm.blocks : 1;

    // TODO 4: the smallest of the four numbers is what fits. Which limit does it belong to?
    // If several are equal, name the first one in the order blocks, warps, registers,
    // shared memory.
    int resident_blocks = sm.blocks;
    const Limit limit = Limit::blocks;
    if (by_warps < resident_blocks) resident_blocks = by_warps;
    if (by_registers < resident_blocks) resident_blocks = by_registers;
    if (by_shared_memory < resident_blocks) resident_blocks = by_shared_memory;

    // TODO 5: which share of the SM's places for warps do the resident blocks take?
    const double share = 1;

    return {resident_blocks, limit, share};
}
