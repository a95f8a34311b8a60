#include "allocations.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>

#include "cpu_device/device_model.h"
#include "cpu_device/findings.h"

namespace cpu_device {
namespace {

constexpr std::size_t alignment = model::allocation_alignment;
constexpr std::size_t most_device_bytes = std::size_t{16} << 30;
constexpr std::size_t filled_bytes = std::size_t{1} << 20;  // more would cost time and touch pages for nothing
constexpr unsigned char fresh_byte = 0xFF;
constexpr unsigned char border_byte = 0xE5;
constexpr std::size_t remembered_frees = 64;
constexpr std::size_t far_away = std::size_t{64} << 10;

std::size_t page_bytes() {
    static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return bytes;
}

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

/// An allocation and the memory around it: [begin, address) and [end of the data, end) hold border bytes.
struct Record {
    Allocation data;
    std::byte* begin = nullptr;
    std::byte* end = nullptr;
    bool has_guard_pages = false;

    std::byte* data_end() const { return data.address + data.bytes; }
    bool is_ours() const { return begin != nullptr; }
};

const char* name_of(MemoryKind kind) {
    switch (kind) {
        case MemoryKind::device:
            return "device memory";
        case MemoryKind::managed:
            return "managed memory";
        case MemoryKind::pinned:
            return "page-locked memory";
        case MemoryKind::registered:
            return "registered memory";
        case MemoryKind::symbol:
            return "a device variable";
    }
    return "memory";
}

struct Registry {
    std::mutex mutex;
    std::map<const std::byte*, Record> records;  ///< by address; they do not overlap
    std::deque<Allocation> freed;                ///< the last ones, newest first
    std::size_t device_bytes = 0;

    /// The last record that begins at or before `pointer`, or null.
    const Record* before(const void* pointer) const {
        auto next = records.upper_bound(static_cast<const std::byte*>(pointer));
        return next == records.begin() ? nullptr : &std::prev(next)->second;
    }

    bool overlaps(const void* pointer, std::size_t bytes) const {
        const auto* first = static_cast<const std::byte*>(pointer);
        const Record* last = before(first + bytes - 1);
        return last != nullptr && last->data_end() > first;
    }
};

Registry& registry() {
    static Registry* all = new Registry;  // still needed when the process exits
    return *all;
}

std::size_t total_device_bytes() {
    static const std::size_t total =
        std::min(static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page_bytes() / 2, most_device_bytes);
    return total;
}

/// A page of its own on either side, data as close to the end as its alignment allows.
bool map_between_guard_pages(Record& record) {
    const std::size_t page = page_bytes();
    const std::size_t data_pages = round_up(record.data.bytes, page);
    void* mapped = mmap(nullptr, data_pages + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return false;
    record.begin = static_cast<std::byte*>(mapped) + page;
    record.end = record.begin + data_pages;
    record.has_guard_pages = true;
    if (mprotect(record.begin, data_pages, PROT_READ | PROT_WRITE) != 0) {
        munmap(mapped, data_pages + 2 * page);
        return false;
    }
    record.data.address = record.end - round_up(record.data.bytes, alignment);
    return true;
}

bool take_from_heap(Record& record) {
    const std::size_t bytes = round_up(record.data.bytes, alignment) + 2 * alignment;
    record.begin = static_cast<std::byte*>(std::aligned_alloc(alignment, bytes));
    if (record.begin == nullptr) return false;
    record.end = record.begin + bytes;
    record.data.address = record.begin + alignment;
    return true;
}

void give_back(const Record& record) {
    if (record.has_guard_pages) {
        const std::size_t page = page_bytes();
        munmap(record.begin - page, static_cast<std::size_t>(record.end - record.begin) + 2 * page);
    } else {
        std::free(record.begin);
    }
}

void fill(std::byte* from, std::byte* to, unsigned char value) {
    std::memset(from, value, static_cast<std::size_t>(to - from));
}

void report_border(const Record& record, const std::string& where) {
    Finding found{};
    found.kind = FindingKind::illegal_access;
    found.message = where + " " + std::to_string(record.data.bytes) + " bytes of " + name_of(record.data.kind) +
                    " was written to; it shows now that the memory is freed";
    found.hint = "compare the index with the number of elements before writing";
    report(std::move(found));
}

void check_borders(const Record& record) {
    const auto untouched = [](std::byte b) { return b == std::byte{border_byte}; };
    const auto behind = std::find_if_not(record.data_end(), record.end, untouched);
    if (behind != record.end) {
        report_border(record, "byte " + std::to_string(behind - record.data_end()) + " behind the end of");
    }
    const std::reverse_iterator last(record.data.address), first(record.begin);
    const auto ahead = std::find_if_not(last, first, untouched);
    if (ahead != first) report_border(record, "byte " + std::to_string(ahead - last + 1) + " before the start of");
}

}  // namespace

bool Allocation::holds(const void* pointer, std::size_t count) const {
    const auto* first = static_cast<const std::byte*>(pointer);
    if (first < address) return false;
    const auto offset = static_cast<std::size_t>(first - address);
    return offset <= bytes && count <= bytes - offset;
}

cudaError_t allocate(MemoryKind kind, std::size_t bytes, unsigned flags, void** pointer) {
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (bytes > SIZE_MAX / 2) return cudaErrorMemoryAllocation;

    Registry& all = registry();
    std::lock_guard lock(all.mutex);
    if (kind == MemoryKind::device && bytes > total_device_bytes() - all.device_bytes) return cudaErrorMemoryAllocation;
    Record record;
    record.data = {nullptr, bytes, kind, flags};
    if (!(bytes >= page_bytes() ? map_between_guard_pages(record) : take_from_heap(record)))
        return cudaErrorMemoryAllocation;
    fill(record.begin, record.data.address, border_byte);
    fill(record.data.address, record.data.address + std::min(bytes, filled_bytes), fresh_byte);
    fill(record.data_end(), record.end, border_byte);

    std::erase_if(all.freed, [&](const Allocation& old) {
        return old.address < record.end && record.begin < old.address + old.bytes;
    });
    if (kind == MemoryKind::device) all.device_bytes += bytes;
    all.records.emplace(record.data.address, record);
    *pointer = record.data.address;
    return cudaSuccess;
}

cudaError_t release(void* pointer, MemoryKind kind, MemoryKind or_kind) {
    Record record;
    {
        Registry& all = registry();
        std::lock_guard lock(all.mutex);
        const auto found = all.records.find(static_cast<std::byte*>(pointer));
        if (found == all.records.end() || !found->second.is_ours()) return cudaErrorInvalidValue;
        record = found->second;
        if (record.data.kind != kind && record.data.kind != or_kind) return cudaErrorInvalidValue;
        all.records.erase(found);
        if (record.data.kind == MemoryKind::device) all.device_bytes -= record.data.bytes;
        all.freed.push_front(record.data);
        if (all.freed.size() > remembered_frees) all.freed.pop_back();
    }
    check_borders(record);
    give_back(record);
    return cudaSuccess;
}

bool remember(const Allocation& range) {
    Registry& all = registry();
    std::lock_guard lock(all.mutex);
    if (all.overlaps(range.address, range.bytes)) return false;
    Record record;
    record.data = range;
    all.records.emplace(range.address, record);
    return true;
}

bool forget(const void* pointer, MemoryKind kind) {
    Registry& all = registry();
    std::lock_guard lock(all.mutex);
    const auto found = all.records.find(static_cast<const std::byte*>(pointer));
    if (found == all.records.end() || found->second.data.kind != kind) return false;
    all.records.erase(found);
    return true;
}

std::optional<Allocation> find_allocation(const void* pointer) {
    Registry& all = registry();
    std::lock_guard lock(all.mutex);
    const Record* record = all.before(pointer);
    if (record == nullptr || !record->data.holds(pointer, 1)) return std::nullopt;
    return record->data;
}

std::string describe_address(const void* pointer) {
    const auto* address = static_cast<const std::byte*>(pointer);
    const auto of = [](const Allocation& a) { return std::to_string(a.bytes) + " bytes of " + name_of(a.kind); };
    Registry& all = registry();
    std::lock_guard lock(all.mutex);
    const Record* record = all.before(pointer);
    if (record != nullptr && record->data.holds(pointer, 1)) return "in " + of(record->data);
    for (const Allocation& old : all.freed) {
        if (old.holds(pointer, 1)) return "in " + of(old) + " that were freed";
    }
    if (record != nullptr && address < record->data_end() + far_away) {
        return std::to_string(address - record->data_end()) + " bytes past the end of " + of(record->data);
    }
    const auto next = all.records.upper_bound(address);
    if (next != all.records.end() && next->first - address < static_cast<std::ptrdiff_t>(far_away)) {
        return std::to_string(next->first - address) + " bytes before the start of " + of(next->second.data);
    }
    return "";
}

MemoryInfo device_memory() {
    std::lock_guard lock(registry().mutex);
    return {total_device_bytes() - registry().device_bytes, total_device_bytes()};
}

void release_all() {
    std::map<const std::byte*, Record> records;
    {
        Registry& all = registry();
        std::lock_guard lock(all.mutex);
        records.swap(all.records);
        all.device_bytes = 0;
    }
    for (const auto& [address, record] : records) {
        if (!record.is_ours()) continue;
        check_borders(record);
        give_back(record);
    }
}

}  // namespace cpu_device
