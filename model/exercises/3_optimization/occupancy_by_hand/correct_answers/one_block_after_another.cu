// Correct answer: moves blocks in, one after another, until something is missing
#include "exercises/3_optimization/occupancy_by_hand/occupancy_by_hand.h"

Occupancy occupancy_of(const Multiprocessor& sm, const Block& block) {
    int warps = block.threads / 32;
    if (block.threads % 32 != 0) ++warps;

    int warp_registers = 32 * block.registers_of_a_thread;
    while (warp_registers % 256 != 0) ++warp_registers;
    const int register_warps = sm.registers / 4 / warp_registers * 4;

    std::size_t bytes = block.shared_bytes + sm.reserved_bytes;
    if (bytes % sm.shared_unit != 0) bytes += sm.shared_unit - bytes % sm.shared_unit;

    int inside = 0;
    Limit limit;
    for (;;) {
        const int next = inside + 1;
        if (next > sm.blocks) {
            limit = Limit::blocks;
            break;
        }
        if (next * warps > sm.warps) {
            limit = Limit::warps;
            break;
        }
        if (next * warps > register_warps) {
            limit = Limit::registers;
            break;
        }
        if (next * bytes > sm.shared_bytes) {
            limit = Limit::shared_memory;
            break;
        }
        inside = next;
    }
    return {inside, limit, static_cast<double>(inside) * warps / sm.warps};
}
