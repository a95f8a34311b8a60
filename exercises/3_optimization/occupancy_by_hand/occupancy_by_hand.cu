// Exercise: how many blocks fit on a multiprocessor, and which limit decides.
// See README.md beside this file.
#include "exercises/3_optimization/occupancy_by_hand/occupancy_by_hand.h"

Occupancy occupancy_of(const Multiprocessor& sm, const Block& block) {
    // TODO 1: how many warps has a block? Begun warps count as whole ones.
    const int warps = block.threads / 32 + 1;

    const int by_warps = sm.warps / warps;

    // TODO 2: how many warps do the registers suffice for, and so how many blocks? A warp's
    // registers are rounded up
    //         to a multiple of 256, and they must fit into what is left of one quarter.
    const int by_registers = sm.blocks;

    // TODO 3: how many blocks does the shared memory suffice for? A block also takes the
    // reserved bytes, and the sum
    //         is rounded up. Where it takes none at all, shared memory is no limit.
    const int by_shared_memory = block.shared_bytes == 0 ? sm.blocks : 1;

    // TODO 4: the least of the four is what fits. Which limit is it? Where several are
    // equal: the first one in the
    //         order blocks, warps, registers, shared memory.
    int resident_blocks = sm.blocks;
    const Limit limit = Limit::blocks;
    if (by_warps < resident_blocks) resident_blocks = by_warps;
    if (by_registers < resident_blocks) resident_blocks = by_registers;
    if (by_shared_memory < resident_blocks) resident_blocks = by_shared_memory;

    // TODO 5: which share of the SM's places for warps do they take?
    const double share = 1;

    return {resident_blocks, limit, share};
}
