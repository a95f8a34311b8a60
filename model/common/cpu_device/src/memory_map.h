// Where an address of a kernel lies: in an allocation, in freed memory, near a device variable, in memory of the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocations.h"
#include "shadow_memory.h"

namespace cpu_device {

struct Launch;

/// Memory that a kernel may touch.
struct Region {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::string name;  ///< of the kernel's parameter, of the variable; empty when unknown
    Allocation allocation{};
    AllocationShadow* shadow = nullptr;  ///< made when it is first touched

    bool holds(std::uintptr_t address, std::size_t bytes) const {
        return address >= begin && address < end && bytes <= end - address;
    }
    /// A `__constant__` variable. By the address that cudaGetSymbolAddress gives, it is global memory, too.
    bool is_read_only() const { return allocation.constant && !allocation.has_device_address; }
};

/// An address outside of everything the kernel may touch.
struct Stray {
    enum class Place {
        near_region,   ///< before or after `region`, or across its end
        freed,         ///< in `region`, which was freed
        peer,          ///< in `region`, of another device, which the kernel's may not use
        host,          ///< memory of the host
        inaccessible,  ///< nowhere: the access faults
        unknown,       ///< in the program itself, where constants and the runtime's variables live: no error
    };
    Place place = Place::unknown;
    Region region{};  ///< for `unknown` where no access is an error; without an allocation; empty when not known
};

/// What was allocated when a launch began, with the names that its parameters give.
class MemoryMap {
public:
    explicit MemoryMap(const Launch& launch);

    /// The region in which all bytes lie; null when there is none.
    Region* find(std::uintptr_t address, std::size_t bytes);

    /// Looks again at what is allocated; true if the bytes lie in a region now.
    bool refresh(std::uintptr_t address, std::size_t bytes);

    /// Says what the bytes are, of which `find` and `refresh` know nothing. `usual`: where the same instruction went
    /// before, or null.
    Stray stray(std::uintptr_t address, std::size_t bytes, const Region* usual);

    /// Whether one of the kernel's arguments points to the same stretch of the process's memory as this address, of
    /// which `stray` has just said what it is.
    bool is_meant(std::uintptr_t address);

    /// "element 4294967295 of 'in'", if a negative index, counted as an unsigned number, leads from one of the kernel's
    /// arguments to this address; else empty. `bytes`: of the access; it stands for the size of an element.
    std::string negative_index(std::uintptr_t address, std::size_t bytes) const;

    /// True if there is a region with exactly these bounds.
    bool has(std::uintptr_t begin, std::size_t bytes) {
        const Region* region = find(begin, bytes);
        return region != nullptr && region->begin == begin && region->end == begin + bytes;
    }

private:
    struct Mapping {
        std::uintptr_t begin;
        std::uintptr_t end;
        bool readable;
        bool of_a_file;
    };

    bool is_reached(const Allocation& allocation) const;
    Region region_of(const Allocation& allocation) const;
    void read_regions();
    void read_mappings();
    const Mapping* mapping_of(std::uintptr_t address) const;
    bool behind_host_pointer(std::uintptr_t address, const Region& region, const Mapping& mapping);

    const Launch& launch_;
    std::vector<Region> regions_;    ///< by address
    std::vector<Mapping> mappings_;  ///< of the process, by address; read when first needed
    std::uintptr_t on_stack_ = 0;    ///< of the launching host thread
};

/// Whether the address lies in the program or a library: where variables live that are on no stack and no heap.
bool is_in_program_data(const void* pointer);

/// "8 bytes past its end (index 102 of 100 elements of 4 bytes)", "12 bytes before its start", "its last 4 bytes past
/// its end". `bytes`: of the access; it stands for the size of an element.
std::string distance_text(std::uintptr_t begin, std::uintptr_t end, std::uintptr_t address, std::size_t bytes);

/// "400 bytes of device memory, allocated at x.cu:12 for 'd_in'".
std::string region_text(const Region& region);

/// Bytes between the access and the region; 0 when they touch.
std::size_t distance_of(std::uintptr_t begin, std::uintptr_t end, std::uintptr_t address, std::size_t bytes);

}  // namespace cpu_device
