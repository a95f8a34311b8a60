#include "memory_map.h"

#include <link.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <mutex>
#include <string_view>

#include "block.h"
#include "devices.h"
#include "diagnoser.h"
#include "source_lines.h"

namespace cpu_device {
namespace {

constexpr std::size_t kNear = std::size_t{64} << 10;  // of an allocation
constexpr std::size_t kLeastNear = 256;
constexpr std::size_t kNearVariable = std::size_t{4} << 10;  // of a variable: other variables live next to it

/// What kernels have taken from the heap so far, by address. What they gave back stays in: the host's allocator may
/// give it to the next kernel at any time.
struct KernelHeap {
    std::mutex mutex;
    std::map<std::uintptr_t, std::uintptr_t> end_of;
};

KernelHeap& kernel_heap() {
    static KernelHeap* heap = new KernelHeap;  // still needed when the process exits
    return *heap;
}

Stray harmless(std::uintptr_t begin, std::uintptr_t end) {
    Stray stray{};
    stray.region.begin = begin;
    stray.region.end = end;
    return stray;
}

const char* kind_text(const Allocation& allocation) {
    switch (allocation.kind) {
        case MemoryKind::device:
            return "device memory";
        case MemoryKind::managed:
            return "managed memory";
        case MemoryKind::pinned:
            return "pinned (page-locked) memory";
        case MemoryKind::registered:
            return "registered host memory";
        case MemoryKind::symbol:
            return allocation.constant ? "constant memory" : "device memory";
    }
    return "memory";
}

std::string at_text(const char* what, const Site& site) {
    if (site.line <= 0) return "";
    return std::string(what) + " at " + short_name(site.file) + ":" + std::to_string(site.line);
}

/// A part of a loaded program or library.
struct Segment {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    bool writable = false;
    bool found = false;
    std::uintptr_t address = 0;  ///< that is looked for
};

int visit_object(dl_phdr_info* object, std::size_t, void* data) {
    Segment& segment = *static_cast<Segment*>(data);
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const auto& header = object->dlpi_phdr[i];
        if (header.p_type != PT_LOAD) continue;
        segment.begin = object->dlpi_addr + header.p_vaddr;
        segment.end = segment.begin + header.p_memsz;
        segment.writable = (header.p_flags & PF_W) != 0;
        segment.found = segment.address >= segment.begin && segment.address < segment.end;
        if (segment.found) return 1;
    }
    return 0;
}

/// The part of a program or library in which the address lies.
Segment segment_of(std::uintptr_t address) {
    Segment segment;
    segment.address = address;
    dl_iterate_phdr(visit_object, &segment);
    return segment;
}

}  // namespace

bool is_in_program_data(const void* pointer) {
    return pointer != nullptr && segment_of(reinterpret_cast<std::uintptr_t>(pointer)).found;
}

MemoryMap::MemoryMap(const Launch& launch) : launch_(launch) {
    const char here = 0;
    on_stack_ = reinterpret_cast<std::uintptr_t>(&here);
    read_regions();
}

/// An allocation is called by the first parameter that points into it, else as the host calls it.
Region MemoryMap::region_of(const Allocation& allocation) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(allocation.address);
    const std::uintptr_t end = begin + allocation.bytes;
    std::string name;
    if (allocation.kind != MemoryKind::symbol) name = launch_.parameter_in(begin, end);
    return {begin, end, name.empty() ? allocation.display_name() : std::move(name), allocation, nullptr};
}

/// Of memory of another device, the kernel's may use what it was given access to.
bool MemoryMap::is_reached(const Allocation& allocation) const {
    if (allocation.kind != MemoryKind::device || allocation.device == launch_.device) return true;
    if (allocation.is_of_pool) return pool_allows != nullptr && pool_allows(allocation.address, launch_.device);
    return is_peer(launch_.device, allocation.device);
}

void MemoryMap::read_regions() {
    regions_.clear();
    for (const Allocation& allocation : live_allocations()) {
        if (is_reached(allocation)) regions_.push_back(region_of(allocation));
    }
}

Region* MemoryMap::find(std::uintptr_t address, std::size_t bytes) {
    const auto next = std::upper_bound(regions_.begin(), regions_.end(), address,
                                       [](std::uintptr_t a, const Region& region) { return a < region.begin; });
    if (next == regions_.begin()) return nullptr;
    Region& region = *std::prev(next);
    return region.holds(address, bytes) ? &region : nullptr;
}

bool MemoryMap::refresh(std::uintptr_t address, std::size_t bytes) {
    const std::optional<Allocation> found = find_allocation(reinterpret_cast<const void*>(address));
    if (!found || !found->holds(reinterpret_cast<const void*>(address), bytes) || !is_reached(*found)) return false;
    read_regions();
    return find(address, bytes) != nullptr;
}

void MemoryMap::read_mappings() {
    mappings_.clear();
    std::FILE* file = std::fopen("/proc/self/maps", "r");
    if (file == nullptr) return;
    char line[512];
    while (std::fgets(line, sizeof line, file) != nullptr) {
        unsigned long begin = 0, end = 0, inode = 0;
        char rights[8] = "";
        if (std::sscanf(line, "%lx-%lx %7s %*s %*s %lu", &begin, &end, rights, &inode) != 4) continue;
        mappings_.push_back({begin, end, rights[0] == 'r', inode != 0});
    }
    std::fclose(file);
}

const MemoryMap::Mapping* MemoryMap::mapping_of(std::uintptr_t address) const {
    const auto next = std::upper_bound(mappings_.begin(), mappings_.end(), address,
                                       [](std::uintptr_t a, const Mapping& mapping) { return a < mapping.begin; });
    if (next == mappings_.begin() || address >= std::prev(next)->end) return nullptr;
    return &*std::prev(next);
}

Stray MemoryMap::stray(std::uintptr_t address, std::size_t bytes, const Region* usual) {
    using Place = Stray::Place;
    {
        KernelHeap& heap = kernel_heap();
        std::lock_guard lock(heap.mutex);
        const auto next = heap.end_of.upper_bound(address);
        if (next != heap.end_of.begin() && address < std::prev(next)->second) {
            return harmless(std::prev(next)->first, std::prev(next)->second);
        }
    }
    if (const auto other = find_allocation(reinterpret_cast<const void*>(address)); other && !is_reached(*other)) {
        return {Place::peer, region_of(*other)};
    }
    if (const auto freed = find_freed(reinterpret_cast<const void*>(address))) return {Place::freed, region_of(*freed)};
    const Segment segment = segment_of(address);
    const Mapping* mapping = mapping_of(address);
    if (mapping == nullptr || !mapping->readable || mapping->end < address + bytes) {
        read_mappings();
        mapping = mapping_of(address);
    }
    const bool is_readable = mapping != nullptr && mapping->readable;

    const auto distance = [&](const Region& region) { return distance_of(region.begin, region.end, address, bytes); };
    const auto is_near = [&](const Region& region) {
        if (region.allocation.kind == MemoryKind::symbol) {
            // Constants of the program have a segment of their own. What lies beside them is none of the kernel's
            // errors.
            return segment.found && segment.writable && region.begin >= segment.begin && region.begin < segment.end &&
                   distance(region) < kNearVariable;
        }
        if (segment.found) return false;
        if (&region == usual) return distance(region) < kNear;
        // Other readable memory than the region's is somebody else's. In the same memory the host's own data may be
        // close, but who has never been in the region is not likely to miss it by more than its size.
        if (is_readable && (region.begin < mapping->begin || region.begin >= mapping->end)) return false;
        return distance(region) < std::clamp(region.end - region.begin, kLeastNear, kNear);
    };
    const Region* nearest = usual != nullptr && is_near(*usual) ? usual : nullptr;
    if (nearest == nullptr) {
        const auto next = std::upper_bound(regions_.begin(), regions_.end(), address,
                                           [](std::uintptr_t a, const Region& region) { return a < region.begin; });
        if (next != regions_.begin() && is_near(*std::prev(next))) nearest = &*std::prev(next);
        if (next != regions_.end() && is_near(*next) && (nearest == nullptr || distance(*next) < distance(*nearest))) {
            nearest = &*next;
        }
        if (nearest != nullptr && is_readable && behind_host_pointer(address, *nearest, *mapping)) nearest = nullptr;
    }
    if (nearest != nullptr) return {Place::near_region, *nearest};
    if (segment.found) return segment.writable ? Stray{} : harmless(segment.begin, segment.end);
    if (!is_readable) return {Place::inaccessible, {}};
    if (mapping->of_a_file) return harmless(mapping->begin, mapping->end);
    if (on_stack_ >= mapping->begin && on_stack_ < mapping->end) {
        // The launch's arguments are there, too. A pointer among them that points here tells that it is an error.
        for (std::size_t i = 0; i < launch_.code.arguments; ++i) {
            const auto pointer = reinterpret_cast<std::uintptr_t>(launch_.code.pointers[i]);
            if (pointer >= mapping->begin && pointer < mapping->end && address >= pointer) return {Place::host, {}};
        }
        return {};
    }
    return {Place::host, {}};
}

bool MemoryMap::is_meant(std::uintptr_t address) {
    const Mapping* mapping = mapping_of(address);
    if (mapping == nullptr) return false;
    for (std::size_t i = 0; i < launch_.code.arguments; ++i) {
        const auto pointer = reinterpret_cast<std::uintptr_t>(launch_.code.pointers[i]);
        if (pointer >= mapping->begin && pointer < mapping->end && find(pointer, 1) == nullptr) return true;
    }
    return false;
}

std::string MemoryMap::negative_index(std::uintptr_t address, std::size_t bytes) const {
    constexpr std::uint64_t numbers = std::uint64_t{1} << 32;
    constexpr std::uint64_t most_below_zero = 1 << 20;
    for (const Launch::Parameter& parameter : launch_.parameters()) {
        if (parameter.name.empty() || parameter.address == 0 || address < parameter.address) continue;
        const std::uint64_t distance = address - parameter.address;
        const std::uint64_t index = distance / bytes;
        if (distance % bytes == 0 && index < numbers && index >= numbers - most_below_zero) {
            return "element " + std::to_string(index) + " of '" + parameter.name + "'";
        }
    }
    return {};
}

/// True if a pointer to host memory among the kernel's arguments explains the address better than the region does.
bool MemoryMap::behind_host_pointer(std::uintptr_t address, const Region& region, const Mapping& mapping) {
    for (std::size_t i = 0; i < launch_.code.arguments; ++i) {
        const auto pointer = reinterpret_cast<std::uintptr_t>(launch_.code.pointers[i]);
        if (pointer < mapping.begin || pointer > address || find(pointer, 1) != nullptr) continue;
        const bool is_end_of_region = distance_of(region.begin, region.end, pointer, 1) < kLeastNear;
        const bool region_is_between = pointer < region.begin && region.end <= address;
        if (!is_end_of_region && !region_is_between) return true;
    }
    return false;
}

std::size_t distance_of(std::uintptr_t begin, std::uintptr_t end, std::uintptr_t address, std::size_t bytes) {
    if (address >= end) return address - end;
    return address + bytes <= begin ? begin - (address + bytes) : 0;
}

std::string distance_text(std::uintptr_t begin, std::uintptr_t end, std::uintptr_t address, std::size_t bytes) {
    const auto count = [](std::size_t n) { return std::to_string(n) + (n == 1 ? " byte" : " bytes"); };
    // Programs count elements, which mostly have the size of the access.
    const std::size_t distance = address < begin ? begin - address : address - begin;
    const bool is_element = bytes > 1 && distance % bytes == 0 && (end - begin) % bytes == 0;
    const std::string index = std::to_string(is_element ? distance / bytes : 0);
    const std::string elements =
        std::to_string(is_element ? (end - begin) / bytes : 0) + " elements of " + count(bytes);
    if (address >= end) {
        return (address == end ? "right after its end" : count(address - end) + " past its end") +
               (is_element ? " (index " + index + " of " + elements + ")" : "");
    }
    if (address < begin) {
        return count(begin - address) + " before its start" +
               (is_element ? " (index -" + index + " of " + elements + ")" : "");
    }
    return "the last " + count(address + bytes - end) + " of the access past its end";
}

std::string region_text(const Region& region) {
    const Allocation& allocation = region.allocation;
    const bool names_device = allocation.kind == MemoryKind::device && device_count() > 1;
    const std::string kind =
        names_device ? "memory of device " + std::to_string(allocation.device) : kind_text(allocation);
    const bool is_variable = allocation.kind == MemoryKind::symbol || allocation.kind == MemoryKind::registered;
    const bool other_name = !allocation.pointer.empty() && allocation.pointer != region.name;
    return std::to_string(allocation.bytes) + " bytes of " + kind +
           at_text(is_variable ? ", declared" : ", allocated", allocation.made_at) +
           (other_name ? " for '" + allocation.pointer + "'" : "") + at_text(", freed", allocation.freed_at);
}

void note_kernel_heap(void* begin, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    KernelHeap& heap = kernel_heap();
    std::lock_guard lock(heap.mutex);
    heap.end_of[address] = address + bytes;
}

}  // namespace cpu_device
