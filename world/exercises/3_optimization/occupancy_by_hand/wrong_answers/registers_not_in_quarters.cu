// Wrong answer: all registers of the SM are one heap
// Rejected by: gives a warp whole units of registers in one quarter
// Message: The registers are not divided.
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
    const int by_registers = sm.registers / registers_of_a_warp / warps;

    const std::size_t wanted = block.shared_bytes + sm.reserved_bytes;
    const std::size_t taken = round_up(wanted, sm.shared_unit);
    const int by_shared_memory =
        taken == 0 ? sm.blocks : static_cast<int>(sm.shared_bytes / taken);

    int resident_blocks = sm.blocks;
    Limit limit = Limit::blocks;
    if (by_warps < resident_blocks) {
        resident_blocks = by_warps;
        limit = Limit::warps;
    }
    if (by_registers < resident_blocks) {
        resident_blocks = by_registers;
        limit = Limit::registers;
    }
    if (by_shared_memory < resident_blocks) {
        resident_blocks = by_shared_memory;
        limit = Limit::shared_memory;
    }
    const double share = static_cast<double>(resident_blocks * warps) / sm.warps;
    return {resident_blocks, limit, share};
}
