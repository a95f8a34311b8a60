// Words for accesses: what a thread did, with which values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "diagnoser.h"

namespace cpu_device {

/// The value of 1, 2, 4 or 8 bytes: as a floating-point number where that looks like one, else as an integer. Empty for
/// other sizes.
std::string value_text(const std::byte* value, std::size_t bytes);

/// "reads 4 bytes (2)", "writes 4 bytes (0 -> 1.5)", "atomically updates 4 bytes". Null: the value is not known.
std::string present_text(AccessKind kind, std::size_t bytes, const std::byte* before, const std::byte* after);

/// "read 4 bytes (2)", "wrote 4 bytes (1.5)": what the memory holds since, or null.
std::string past_text(AccessKind kind, std::size_t bytes, const std::byte* value);

constexpr bool reads(AccessKind kind) {
    return kind == AccessKind::read || kind == AccessKind::volatile_read || kind == AccessKind::atomic ||
           kind == AccessKind::atomic_read;
}
constexpr bool writes(AccessKind kind) {
    return kind == AccessKind::write || kind == AccessKind::volatile_write || kind == AccessKind::atomic ||
           kind == AccessKind::atomic_write;
}
constexpr bool is_atomic(AccessKind kind) {
    return kind == AccessKind::atomic || kind == AccessKind::atomic_read || kind == AccessKind::atomic_write;
}
constexpr bool is_volatile(AccessKind kind) {
    return kind == AccessKind::volatile_read || kind == AccessKind::volatile_write;
}

}  // namespace cpu_device
