// What is known of the threads of a block, thread by thread.
#pragma once

#include <cstdint>
#include <vector>

namespace cpu_device {

/// For each thread of the block the time before which all that it did is known.
struct ThreadClock {
    std::uint32_t block = 0;  ///< as in stamps: the times are those of this block, or of none
    std::vector<std::uint32_t> times;
};

}  // namespace cpu_device
