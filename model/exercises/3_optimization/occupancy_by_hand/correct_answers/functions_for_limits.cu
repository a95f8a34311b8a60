// Correct answer: a function for each limit, and a running minimum
#include "exercises/3_optimization/occupancy_by_hand/occupancy_by_hand.h"

#include <climits>

namespace {

int warps_of(const Block& block) { return (block.threads + 31) >> 5; }

int fits_warps(const Multiprocessor& sm, const Block& block) {
    return sm.warps / warps_of(block);
}

int fits_registers(const Multiprocessor& sm, const Block& block) {
    const int needed = (block.registers_of_a_thread * 32 + 255) & ~255;
    const int quarter = sm.registers / 4;
    return quarter / needed * 4 / warps_of(block);
}

int fits_shared(const Multiprocessor& sm, const Block& block) {
    const std::size_t wanted = block.shared_bytes + sm.reserved_bytes;
    if (wanted == 0) return INT_MAX;
    const std::size_t units = (wanted + sm.shared_unit - 1) / sm.shared_unit;
    return static_cast<int>(sm.shared_bytes / (units * sm.shared_unit));
}

}  // namespace

Occupancy occupancy_of(const Multiprocessor& sm, const Block& block) {
    Occupancy best{sm.blocks, Limit::blocks, 0.0};
    const struct {
        int blocks;
        Limit limit;
    } others[] = {{fits_warps(sm, block), Limit::warps},
                  {fits_registers(sm, block), Limit::registers},
                  {fits_shared(sm, block), Limit::shared_memory}};
    for (const auto& other : others) {
        if (other.blocks < best.resident_blocks) {
            best.resident_blocks = other.blocks;
            best.limit = other.limit;
        }
    }
    best.share = 1.0 * best.resident_blocks * warps_of(block) / sm.warps;
    return best;
}
