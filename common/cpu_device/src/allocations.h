// All memory that the runtime knows: what it handed out, and host memory and variables that it was told about.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cpu_device/types.h"

namespace cpu_device {

enum class MemoryKind : unsigned char {
    device,
    managed,
    pinned,      ///< page-locked host memory that the runtime allocated
    registered,  ///< host memory of the program, page-locked by cudaHostRegister
    symbol,      ///< a `__device__` or `__constant__` variable whose address was asked for
};

struct Allocation {
    std::byte* address = nullptr;
    std::size_t bytes = 0;
    MemoryKind kind = MemoryKind::device;
    unsigned flags = 0;  ///< of cudaHostAlloc or cudaHostRegister

    bool holds(const void* pointer, std::size_t count) const;
};

/// Device, managed or pinned memory. Allocations of a page or more lie between two pages that nobody may touch, so
/// that a kernel that runs far past either end is stopped. Sets `*pointer` to null on failure and for no bytes.
cudaError_t allocate(MemoryKind kind, std::size_t bytes, unsigned flags, void** pointer);

/// Frees memory of one of the two kinds that `allocate` returned; cudaErrorInvalidValue for anything else.
/// Reports bytes that were written right before or behind it.
cudaError_t release(void* pointer, MemoryKind kind, MemoryKind or_kind);

/// Makes memory known that the runtime did not allocate. False if a part of it is known already.
bool remember(const Allocation& range);

/// Forgets the range of that kind that begins at `pointer`; false if there is none.
bool forget(const void* pointer, MemoryKind kind);

/// The allocation in which `pointer` lies.
std::optional<Allocation> find_allocation(const void* pointer);

/// Where `pointer` lies, as a clause for a message: "8 bytes past the end of 400 bytes of device memory", "in 400
/// bytes of device memory that were freed"; empty if no allocation is near.
std::string describe_address(const void* pointer);

struct MemoryInfo {
    std::size_t free_bytes;
    std::size_t total_bytes;
};

/// Device memory: half of the host's memory, at most 16 GiB.
MemoryInfo device_memory();

/// Frees everything that `allocate` returned and forgets the rest.
void release_all();

}  // namespace cpu_device
