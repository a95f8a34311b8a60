// Correct answer: std::min of four first; then asks which of them it is, in order
#include "exercises/3_optimization/occupancy_by_hand/occupancy_by_hand.h"

#include <algorithm>

namespace {

template <class Integer>
Integer round_up(Integer value, Integer unit) {
    return (value + unit - 1) / unit * unit;
}

}  // namespace

Occupancy occupancy_of(const Multiprocessor& sm, const Block& block) {
    const int warps = round_up(block.threads, 32) / 32;
    const int regs_per_warp = round_up(block.registers_of_a_thread * 32, 256);
    const std::size_t smem_asked = block.shared_bytes + sm.reserved_bytes;
    const std::size_t smem = round_up(smem_asked, sm.shared_unit);

    const int warp_limit = sm.warps / warps;
    const int reg_limit = ((sm.registers / 4) / regs_per_warp) * 4 / warps;
    int smem_limit = sm.blocks;
    if (smem > 0) smem_limit = static_cast<int>(sm.shared_bytes / smem);

    const int blocks = std::min({sm.blocks, warp_limit, reg_limit, smem_limit});
    Limit why = Limit::shared_memory;
    if (blocks == sm.blocks) {
        why = Limit::blocks;
    } else if (blocks == warp_limit) {
        why = Limit::warps;
    } else if (blocks == reg_limit) {
        why = Limit::registers;
    }
    const double share = double(blocks * warps) / double(sm.warps);
    return Occupancy{blocks, why, share};
}
