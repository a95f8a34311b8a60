// The function that the grader calls.
#pragma once

#include <cstddef>

/// What one multiprocessor (SM) has for its resident blocks.
struct Multiprocessor {
    int warps;                   ///< places for so many warps of 32 threads
    int blocks;                  ///< places for so many blocks
    int registers;               ///< of 32 bits, in four equal quarters
    std::size_t shared_bytes;    ///< shared memory, reserved bytes included
    std::size_t reserved_bytes;  ///< what the system takes of it for each block; may be 0
    std::size_t shared_unit;  ///< what a block takes, reserved bytes included, is rounded
                              ///< up to a multiple of this
};

/// What a block of a kernel takes. It keeps to the limits of a single block: 1024 threads,
/// 255 registers per thread ...
struct Block {
    int threads;                ///< at least 1
    int registers_of_a_thread;  ///< at least 1
    std::size_t shared_bytes;   ///< static and dynamic; may be 0
};

/// What keeps one more block from becoming resident; where several limits do, the first one
/// in this order.
enum class Limit { blocks, warps, registers, shared_memory };

struct Occupancy {
    int resident_blocks;  ///< may be 0
    Limit limit;
    double share;  ///< of the SM's places for warps that are taken, 0 to 1, to 1e-6
};

/// Computes how many blocks an SM holds at a time, and why not more.
/// A warp's registers (those of 32 threads) are rounded up to a multiple of 256 and lie in
/// one of the four quarters. The warps of a block may lie in different quarters.
Occupancy occupancy_of(const Multiprocessor& sm, const Block& block);
