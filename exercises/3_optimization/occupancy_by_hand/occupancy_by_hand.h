// The function that the grader calls.
#pragma once

#include <cstddef>

/// What one multiprocessor (SM) has to give to its resident blocks.
struct Multiprocessor {
    int warps;                   ///< places for so many warps of 32 threads
    int blocks;                  ///< and for so many blocks
    int registers;               ///< of 32 bits, in four equal quarters
    std::size_t shared_bytes;    ///< shared memory
    std::size_t reserved_bytes;  ///< of it, what the system takes for each block
    std::size_t shared_unit;     ///< a block's shared memory is rounded up to a multiple of this
};

/// What a block of a kernel takes. It keeps to the limits of a single block: 1024 threads, 255 registers a thread ...
struct Block {
    int threads;                ///< at least 1
    int registers_of_a_thread;  ///< at least 1
    std::size_t shared_bytes;   ///< static and dynamic
};

/// What keeps one more block from moving in; where several do, the first one in this order.
enum class Limit { blocks, warps, registers, shared_memory };

struct Occupancy {
    int resident_blocks;  ///< may be 0
    Limit limit;
    double share;  ///< of the SM's places for warps that are taken, 0 to 1
};

/// How many blocks an SM holds at a time, and why not more.
/// A warp's registers (32 threads') are rounded up to a multiple of 256, and lie in one of the four quarters.
Occupancy occupancy_of(const Multiprocessor& sm, const Block& block);
