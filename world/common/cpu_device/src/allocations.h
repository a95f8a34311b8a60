// All memory that the runtime knows: what it handed out, and host memory and variables that it was told about.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "api_call.h"
#include "cpu_device/types.h"

namespace cpu_device {

enum class MemoryKind : unsigned char {
    device,
    managed,
    pinned,      ///< host memory that the runtime allocated
    registered,  ///< host memory of the program, pinned by cudaHostRegister
    symbol,      ///< a `__device__`, `__constant__` or `__managed__` variable
};

struct Allocation {
    std::byte* address = nullptr;
    std::size_t bytes = 0;
    MemoryKind kind = MemoryKind::device;
    unsigned flags = 0;        ///< of cudaHostAlloc or cudaHostRegister
    std::string name = {};     ///< of a variable; empty otherwise
    std::string pointer = {};  ///< the pointer that the allocating call set, "d_in"; empty when not known
    bool constant = false;     ///< a `__constant__` variable
    Site made_at = {};         ///< the call that allocated it, or the variable's definition
    Site freed_at = {};        ///< the call that freed it; line 0 while it lives and where nothing is known
    bool is_of_pool = false;   ///< of cudaMallocAsync: it begins and ends in the order of a stream
    /// False for a variable until cudaGetSymbolAddress: in host code its name stands for the host's own copy.
    bool has_device_address = true;
    int device = 0;           ///< on which it lies; of managed and pinned memory: that was the current one
    bool is_managed = false;  ///< a `__managed__` variable

    const std::string& display_name() const { return name.empty() ? pointer : name; }
    bool holds(const void* pointer, std::size_t count) const;
};

/// "'d_in', 400 bytes of device memory allocated at main.cu:12": a noun for messages.
std::string describe(const Allocation& allocation);

/// Device, managed or pinned memory. Allocations of a page or more lie between two pages that nobody may touch, so
/// that a kernel that runs far past either end is stopped. Sets `*pointer` to null on failure and for no bytes.
cudaError_t allocate(MemoryKind kind, std::size_t bytes, unsigned flags, void** pointer, Site site);

/// Frees memory of one of the two kinds that `allocate` returned; cudaErrorInvalidValue for anything else, which is
/// reported while errors are looked for. Reports bytes that were written right before or after it.
///
/// While errors are looked for, the last 256 MiB that were freed stay as they are and are not handed out again, so
/// that whoever still uses them is recognized and does no harm.
cudaError_t release(void* pointer, MemoryKind kind, MemoryKind or_kind, const ApiCall& call);

/// The memory at `pointer`, which `allocate` has returned, is that of a pool.
void mark_as_of_pool(const void* pointer);

/// Managed memory is freed: what was said of its pages is forgotten. Null in programs that say nothing.
[[gnu::weak]] void forget_advice(const void* address);

/// Makes memory known that the runtime did not allocate. False if a part of it is known already.
bool remember(const Allocation& range);

/// Forgets the range of that kind that begins at `pointer`; false if there is none.
bool forget(const void* pointer, MemoryKind kind);

/// Whether the program may have variables of the device that were never made known by `DeviceVariable`.
bool has_unregistered_variables();

/// The program asked for the device address of the variable in which `pointer` lies.
void give_device_address(const void* pointer);

/// The allocation in which `pointer` lies.
std::optional<Allocation> find_allocation(const void* pointer);

/// The same for a pointer that host code hands to the runtime: a variable only with its device address.
std::optional<Allocation> find_for_host(const void* pointer);

/// The freed memory in which `pointer` lies, among what is kept back.
std::optional<Allocation> find_freed(const void* pointer);

/// The allocation that `pointer` just misses: it lies in the memory around the data in which nothing else can be, 64
/// KiB on either side while errors are looked for.
std::optional<Allocation> find_missed(const void* pointer);

/// Everything that is known now, by address; allocations do not overlap. Variables were written before main.
std::vector<Allocation> live_allocations();

/// Freed memory that is kept back, what was freed last first.
std::vector<Allocation> freed_allocations();

/// An access outside of the allocation that begins at `address` has been reported: the bytes around it that were
/// written to are not reported again when it is freed.
void note_reported(const void* address);

/// Where `pointer` lies, as a clause for a message: "8 bytes past the end of 'd_in', 400 bytes of device memory
/// allocated at main.cu:12", "in 400 bytes of device memory allocated at main.cu:12 that were freed"; empty if
/// nothing is near.
std::string describe_address(const void* pointer);

struct MemoryInfo {
    std::size_t free_bytes;
    std::size_t total_bytes;
};

/// Memory of the current device. All devices together have half of the host's memory, at most 16 GiB.
MemoryInfo device_memory();

/// Frees everything that `allocate` returned on the current device, and forgets memory that was registered there.
/// Variables stay.
void release_all();

}  // namespace cpu_device
