// Solution of occupancy_by_hand: four quotients, each rounded down, and the least of them.
// Rounding is what there is to it: what a block takes is rounded up first (to whole warps,
// to 256 registers per warp, to units of shared memory). A warp cannot have some registers
// in one quarter and some in another, so each quarter is rounded down by itself.
#include "exercises/3_optimization/occupancy_by_hand/occupancy_by_hand.h"

namespace {

template <class Integer>
Integer round_up(Integer value, Integer unit) {
    return (value + unit - 1) / unit * unit;
}

}  // namespace

Occupancy occupancy_of(const Multiprocessor& sm, const Block& block) {
    const int warps = (block.threads + 31) / 32;

    const int by_warps = sm.warps / warps;

    const int registers_of_a_warp = round_up(32 * block.registers_of_a_thread, 256);
    const int warps_in_a_quarter = sm.registers / 4 / registers_of_a_warp;
    const int by_registers = 4 * warps_in_a_quarter / warps;

    // Without shared memory on a chip that reserves none, nothing is taken: shared memory
    // is no limit then.
    const std::size_t shared_bytes =
        round_up(block.shared_bytes + sm.reserved_bytes, sm.shared_unit);
    const int by_shared_memory =
        shared_bytes == 0 ? sm.blocks : static_cast<int>(sm.shared_bytes / shared_bytes);

    // Only a smaller one replaces what is there, so of equal limits the first one stays.
    int resident_blocks = sm.blocks;
    Limit limit = Limit::blocks;
    const auto limit_to = [&](int blocks, Limit by) {
        if (blocks >= resident_blocks) return;
        resident_blocks = blocks;
        limit = by;
    };
    limit_to(by_warps, Limit::warps);
    limit_to(by_registers, Limit::registers);
    limit_to(by_shared_memory, Limit::shared_memory);

    return {resident_blocks, limit,
            static_cast<double>(resident_blocks * warps) / sm.warps};
}
