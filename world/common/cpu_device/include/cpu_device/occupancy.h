// Theoretical occupancy: how many blocks of a kernel fit on one multiprocessor at a time.
//
//     Occupancy o = occupancy(256, 32, 20 * 1024);   // o.blocks_per_sm == 8, limited by threads
#pragma once

#include <cstddef>

namespace cpu_device {

/// What keeps another block from fitting.
enum class OccupancyLimit {
    blocks,         ///< the multiprocessor holds 32 blocks
    threads,        ///< ... and 2048 threads, in whole warps
    registers,      ///< ... and 65536 registers
    shared_memory,  ///< ... and 228 KB of shared memory
    impossible,     ///< not even one block fits: one of the limits of a block is exceeded
};

struct Occupancy {
    int blocks_per_sm = 0;
    OccupancyLimit limit = OccupancyLimit::impossible;  ///< the first in the order above where several are equal
};

/// The rules of compute capability 9.0: warps are whole; a warp's registers are rounded up to 256 and live in one
/// of four quarters of the register file; a block takes its shared memory rounded up to 128 bytes, plus 1 KB.
/// `shared_bytes` is static and dynamic shared memory of a block together, at most 227 KB.
/// (CUDA C++ Programming Guide, "Compute Capabilities"; Hopper Tuning Guide, "Occupancy".)
Occupancy occupancy(int threads_per_block, int registers_per_thread, std::size_t shared_bytes);

}  // namespace cpu_device
