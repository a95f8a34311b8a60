// XORWOW on the host, and how its state is moved on by powers of two.
#pragma once

#include <array>
#include <cstdint>

namespace cpu_device::curand {

/// The generator of one thread.
struct Xorwow {
    std::array<std::uint32_t, 5> words;
    std::uint32_t counter;

    Xorwow(std::uint64_t seed, std::uint64_t sequence, std::uint64_t offset);
    std::uint32_t next();
};

}  // namespace cpu_device::curand
