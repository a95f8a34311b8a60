// What an instrumented thread writes down while counters are taken.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cpu_device {

/// Something that a thread did: entered a basic block, or accessed memory.
struct TraceEvent {
    enum Kind : std::uint16_t { step, read, write, copy_read, copy_write, atomic, increment, compare_and_swap };

    std::uint64_t order;  ///< the smaller, the earlier a warp carries it out; the same for all lanes at one instruction
    std::uint64_t place;  ///< address, whether it is in shared memory, and from bit 48 on the number of bytes

    /// `code`: offset of the return address in the program. `height`: of the stack pointer above the lowest that is
    /// told apart, see `lowest_height`, a multiple of 16; deeper calls come first.
    static std::uint64_t order_of(std::uint64_t height, std::uint32_t code, Kind kind) {
        return height << 44 | std::uint64_t{code} << 16 | kind;
    }
    /// What has to be taken from an address on a stack that ends at `stack_end` to get its height, a multiple of 16.
    static std::uintptr_t lowest_height(std::uintptr_t stack_end) { return stack_end - 0xFFFF * std::uintptr_t{16}; }
    static Kind kind_of(std::uint64_t order) { return static_cast<Kind>(order & 0xFFFF); }
    Kind kind() const { return kind_of(order); }
    std::uint32_t code() const { return static_cast<std::uint32_t>(order >> 16); }
    /// More than 65535 bytes count as that many.
    static std::uint64_t place_of(std::uintptr_t address, bool in_shared, std::size_t bytes) {
        return address | std::uint64_t{in_shared} << 47 |
               static_cast<std::uint64_t>(bytes < 0xFFFF ? bytes : 0xFFFF) << 48;
    }
    static std::uint64_t address_of(std::uint64_t place) { return place & ((std::uint64_t{1} << 47) - 1); }
    static bool is_in_shared(std::uint64_t place) { return (place >> 47 & 1) != 0; }
    std::uint32_t bytes() const { return static_cast<std::uint32_t>(place >> 48); }
};

}  // namespace cpu_device
