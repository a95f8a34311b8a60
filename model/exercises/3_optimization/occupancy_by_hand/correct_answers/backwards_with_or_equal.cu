// Correct answer: goes from the last limit to the first, where <= is right
#include "exercises/3_optimization/occupancy_by_hand/occupancy_by_hand.h"

namespace {

template <class Integer>
Integer round_up(Integer value, Integer unit) {
    return (value + unit - 1) / unit * unit;
}

}  // namespace

Occupancy occupancy_of(const Multiprocessor& sm, const Block& block) {
    const int warps = (block.threads - 1) / 32 + 1;
    const int warp_registers = round_up(32 * block.registers_of_a_thread, 256);
    const std::size_t asked = block.shared_bytes + sm.reserved_bytes;
    const std::size_t bytes = round_up(asked, sm.shared_unit);

    int blocks = bytes == 0 ? sm.blocks : static_cast<int>(sm.shared_bytes / bytes);
    Limit limit = Limit::shared_memory;
    const auto at_most = [&](int fits, Limit by) {
        if (fits <= blocks) blocks = fits, limit = by;
    };
    at_most(sm.registers / 4 / warp_registers * 4 / warps, Limit::registers);
    at_most(sm.warps / warps, Limit::warps);
    at_most(sm.blocks, Limit::blocks);

    return {blocks, limit, static_cast<double>(blocks) * warps / sm.warps};
}
