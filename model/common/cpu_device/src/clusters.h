// The blocks of a thread block cluster, which run together on one host thread: their barrier, and their shared memory,
// which lies one after the other so that each of them can tell that an address belongs to another one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "block.h"
#include "diagnoser.h"

namespace cpu_device {

struct Cluster {
    unsigned count = 0;  ///< blocks
    dim3 shape;
    std::array<Block*, kMostBlocksOfCluster> blocks{};  ///< by rank
    std::byte* arenas = nullptr;                  ///< shared memory of all blocks, and behind it what the runtime needs
    std::uint32_t phase = 0;                      ///< of the barrier: how many have completed
    unsigned arrived = 0;                         ///< threads, in the present phase
    Site site;                                    ///< where the first of them has arrived
    std::unique_ptr<ClusterDiagnoser> diagnoser;  ///< while errors are looked for

    static std::size_t memory_bytes() { return kMostBlocksOfCluster * (kArenaBytes + Block::meeting_bytes()); }
};

}  // namespace cpu_device
