// How far the running kernel is, for programs that take a while.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cpu_device {

struct RunningKernel {
    std::string kernel;  ///< as the launch names it
    std::uint64_t finished_blocks;
    std::uint64_t blocks;
    unsigned threads;        ///< in a block
    std::uint64_t launches;  ///< of the process until now, this one included
};

/// Nothing while no kernel runs. Any thread may ask.
std::optional<RunningKernel> running_kernel();

}  // namespace cpu_device
