#include "allocations.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cpu_device/device_model.h"
#include "cpu_device/diagnostics.h"
#include "cpu_device/instrument.h"
#include "cpu_device/runtime_api.h"
#include "device_races.h"
#include "devices.h"
#include "diagnoser.h"
#include "instrumented_code.h"
#include "live_objects.h"
#include "shadow_memory.h"
#include "source_lines.h"

namespace cpu_device {
namespace {

constexpr std::size_t alignment = model::allocation_alignment;
constexpr std::size_t most_device_bytes = std::size_t{16} << 30;
constexpr std::size_t filled_bytes = std::size_t{1} << 20;  // more would cost time and touch pages for nothing
constexpr std::size_t filled_managed_bytes = std::size_t{16} << 20;
constexpr unsigned char fresh_byte = 0xFF;
constexpr unsigned char border_byte = 0xE5;
constexpr std::size_t remembered_frees = 64;
constexpr std::size_t quarantined_bytes = std::size_t{256} << 20;
constexpr std::ptrdiff_t far_away = std::ptrdiff_t{64} << 10;
constexpr std::ptrdiff_t far_from_a_variable = 512;  // the program's other variables lie there as well

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
    std::size_t guard_bytes = 0;   ///< on either side, where nobody may go; 0: memory of the heap
    bool access_reported = false;  ///< somebody went out of its bounds, and that was reported
    bool leak_reported = false;
    const void* freed_by = nullptr;  ///< the code that freed it, where `data.freed_at` is still to be found out

    std::byte* data_end() const { return data.address + data.bytes; }
    std::size_t taken_bytes() const { return static_cast<std::size_t>(end - begin); }
    bool is_ours() const { return begin != nullptr; }
};

const char* name_of(MemoryKind kind) {
    switch (kind) {
        case MemoryKind::device:
            return "device memory";
        case MemoryKind::managed:
            return "managed memory";
        case MemoryKind::pinned:
            return "pinned (page-locked) memory";
        case MemoryKind::registered:
            return "registered memory";
        case MemoryKind::symbol:
            break;
    }
    return "a device variable";
}

bool is_host(MemoryKind kind) { return kind == MemoryKind::pinned || kind == MemoryKind::registered; }

std::string bytes_of(const Allocation& a) {
    const bool names_device = a.kind == MemoryKind::device && device_count() > 1;
    return std::to_string(a.bytes) + " bytes of " +
           (names_device ? "memory of device " + std::to_string(a.device) : name_of(a.kind));
}

std::string short_text(const Site& site) { return short_name(site.file) + ":" + std::to_string(site.line); }

struct Registry {
    std::mutex mutex;
    std::map<const std::byte*, Record> records;     ///< by address; they do not overlap
    std::map<const std::byte*, Record> quarantine;  ///< freed, not given back; they do not overlap either
    std::deque<const std::byte*> quarantine_order;  ///< newest first
    std::size_t quarantine_bytes = 0;
    std::deque<Record> freed;                             ///< and given back: the last ones, newest first
    std::array<std::size_t, kMostDevices> taken_bytes{};  ///< by device

    std::size_t& device_bytes(int device) { return taken_bytes[static_cast<std::size_t>(device)]; }

    /// The last record that begins at or before `pointer`, or null.
    static Record* before(std::map<const std::byte*, Record>& among, const void* pointer) {
        auto next = among.upper_bound(static_cast<const std::byte*>(pointer));
        return next == among.begin() ? nullptr : &std::prev(next)->second;
    }

    Record* holding(const void* pointer) {
        Record* record = before(records, pointer);
        return record != nullptr && record->data.holds(pointer, 1) ? record : nullptr;
    }

    const Record* kept_back_holding(const void* pointer) {
        const Record* record = before(quarantine, pointer);
        return record != nullptr && record->data.holds(pointer, 1) ? record : nullptr;
    }

    const Record* freed_holding(const void* pointer) {
        if (const Record* record = kept_back_holding(pointer)) return record;
        const auto old =
            std::find_if(freed.begin(), freed.end(), [&](const Record& r) { return r.data.holds(pointer, 1); });
        return old == freed.end() ? nullptr : &*old;
    }

    bool overlaps(const void* pointer, std::size_t bytes) {
        const auto* first = static_cast<const std::byte*>(pointer);
        const Record* last = before(records, first + bytes - 1);
        return last != nullptr && last->data_end() > first;
    }

    void remember_freed(const Record& record) {
        freed.push_front(record);
        if (freed.size() > remembered_frees) freed.pop_back();
    }

    /// Keeps freed memory back; what has to leave for it is added to `leaving`.
    void keep_back(const Record& record, std::vector<Record>& leaving) {
        if (record.taken_bytes() > quarantined_bytes) {
            leaving.push_back(record);
            remember_freed(record);
            return;
        }
        quarantine.emplace(record.data.address, record);
        quarantine_order.push_front(record.data.address);
        quarantine_bytes += record.taken_bytes();
        while (quarantine_bytes > quarantined_bytes) {
            const auto oldest = quarantine.find(quarantine_order.back());
            quarantine_bytes -= oldest->second.taken_bytes();
            leaving.push_back(oldest->second);
            remember_freed(oldest->second);
            quarantine.erase(oldest);
            quarantine_order.pop_back();
        }
    }
};

Registry& registry() {
    static Registry* all = new Registry;  // needed before main and still when the process exits
    return *all;
}

std::size_t total_device_bytes() {
    static const std::size_t total =
        std::min(static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page_bytes() / 2, most_device_bytes) /
        static_cast<std::size_t>(device_count());
    return total;
}

/// Guard pages on either side, data as close to the end as its alignment allows.
bool map_between_guard_pages(Record& record, std::size_t guard) {
    const std::size_t data_pages = round_up(record.data.bytes, page_bytes());
    void* mapped = mmap(nullptr, data_pages + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return false;
    record.begin = static_cast<std::byte*>(mapped) + guard;
    record.end = record.begin + data_pages;
    record.guard_bytes = guard;
    if (mprotect(record.begin, data_pages, PROT_READ | PROT_WRITE) != 0) {
        munmap(mapped, data_pages + 2 * guard);
        return false;
    }
    madvise(record.begin, data_pages, MADV_HUGEPAGE);  // for kernels with random addresses
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
    if (record.guard_bytes != 0) {
        munmap(record.begin - record.guard_bytes,
               static_cast<std::size_t>(record.end - record.begin) + 2 * record.guard_bytes);
    } else {
        std::free(record.begin);
    }
}

void fill(std::byte* from, std::byte* to, unsigned char value) {
    std::memset(from, value, static_cast<std::size_t>(to - from));
}

/// Managed memory is zero on every system that people use, but no document promises it. While errors are looked for
/// it holds what shows whether anybody has written there.
void fill_managed(const Allocation& memory) {
    if (!instrumenting().diagnostics) {
        // Larger ones are pages that the system has just made.
        if (memory.bytes < page_bytes()) std::memset(memory.address, 0, memory.bytes);
        return;
    }
    const std::size_t filled = std::min(memory.bytes, filled_managed_bytes);
    for (std::size_t i = 0; i < filled; ++i) memory.address[i] = static_cast<std::byte>(kManagedPoison >> (i % 4 * 8));
    note_allocation(memory.address, memory.bytes, true);
    if (filled < memory.bytes) note_host_write(memory.address + filled, memory.bytes - filled);
}

void report_border(const Record& record, const std::string& where) {
    Diagnostic found{};
    found.kind = DiagnosticKind::illegal_access;
    found.message = where + " " + describe(record.data) + " was written to; it shows now that the memory is freed";
    found.hint = "compare the index with the number of elements before writing";
    found.array = record.data.display_name();
    found.site = record.data.freed_at.line > 0 ? record.data.freed_at : site_of_code(record.freed_by);
    report(std::move(found));
}

void check_borders(const Record& record) {
    if (record.access_reported) return;
    const auto untouched = [](std::byte b) { return b == std::byte{border_byte}; };
    const auto behind = std::find_if_not(record.data_end(), record.end, untouched);
    if (behind != record.end) {
        report_border(record, "byte " + std::to_string(behind - record.data_end()) + " after the end of");
    }
    const std::reverse_iterator last(record.data.address), first(record.begin);
    const auto ahead = std::find_if_not(last, first, untouched);
    if (ahead != first) report_border(record, "byte " + std::to_string(ahead - last + 1) + " before the start of");
}

/// The pointer that the one `cudaMalloc...(&pointer, ...)` or `cudaHostAlloc(&pointer, ...)` in that line sets;
/// empty where there is no such call or another one. The name of a member says nothing about the array: left out.
std::string pointer_set_at(const Site& site) {
    const std::string text = site.line > 0 ? source_text(site.file, site.line) : "";
    const auto find_call = [&](std::size_t from) {
        return std::min(text.find("cudaMalloc", from), text.find("cudaHostAlloc", from));
    };
    const std::size_t call = find_call(0);
    if (call == std::string::npos || find_call(call + 1) != std::string::npos) return "";
    const std::size_t ampersand = text.find('&', call);
    if (ampersand == std::string::npos || text.find(',', call) < ampersand) return "";
    const std::size_t first = text.find_first_not_of(' ', ampersand + 1);
    const std::size_t last = std::min(text.find_first_of(",)", ampersand), text.size());
    if (first >= last) return "";
    const std::string name = text.substr(first, text.find_last_not_of(' ', last - 1) - first + 1);
    const auto belongs_to_name = [](unsigned char c) {
        return std::isalnum(c) != 0 || std::string_view("_.->[]:").find(static_cast<char>(c)) != std::string::npos;
    };
    const bool is_name = std::all_of(name.begin(), name.end(), belongs_to_name) && name.back() != '_';
    return is_name ? name : "";
}

Allocation with_place_of_free(Record record) {
    if (record.data.freed_at.line == 0) record.data.freed_at = site_of_code(record.freed_by);
    return std::move(record.data);
}

/// Says why memory that no function of the runtime can free at `pointer` is not to be freed by this one.
void report_wrong_free(void* pointer, const std::optional<Record>& live, const std::optional<Record>& freed,
                       const ApiCall& call) {
    if (live && live->data.address != pointer) {
        const auto offset = static_cast<std::byte*>(pointer) - live->data.address;
        report_misuse(
            DiagnosticKind::invalid_free, call,
            "was given a pointer " + std::to_string(offset) + " bytes after the start of " + describe(live->data),
            "free the pointer that the allocation returned, not one into its middle", live->data.display_name());
    } else if (live) {
        const char* hint = "memory of cudaMalloc and cudaMallocManaged is freed by cudaFree";
        if (live->data.kind == MemoryKind::pinned)
            hint = "memory of cudaMallocHost and cudaHostAlloc is freed by cudaFreeHost";
        if (live->data.kind == MemoryKind::registered) hint = "cudaHostUnregister undoes cudaHostRegister";
        if (live->data.kind == MemoryKind::symbol) hint = "variables live as long as the program";
        report_misuse(DiagnosticKind::invalid_free, call, "cannot free " + describe(live->data), hint,
                      live->data.display_name());
    } else if (freed) {
        const Allocation old = with_place_of_free(*freed);
        report_misuse(DiagnosticKind::invalid_free, call, "was given " + describe(old) + ", which was freed already",
                      "free each allocation once; a pointer that is set to nullptr afterwards can be freed again",
                      old.display_name(), OtherSide{old.freed_at, {}, {}, "freed it first"});
    } else {
        char address[32];
        std::snprintf(address, sizeof address, "%p", pointer);
        report_misuse(DiagnosticKind::invalid_free, call,
                      std::string("was given ") + address + ", which the runtime never allocated",
                      "host memory goes back the way it came: new with delete, malloc with free");
    }
}

void at_exit(int status, void*) {
    // A program that gave up half-way had no time to free anything.
    if (status == 0 && instrumenting().diagnostics) report_leaks();
}

// The number is a place among all that runs before main: behind diagnostics.cpp, whose handler therefore runs after
// this one, and ahead of the program's own variables, which may free memory when they are destroyed.
__attribute__((constructor(102))) void register_at_exit() { on_exit(at_exit, nullptr); }

}  // namespace

bool Allocation::holds(const void* pointer, std::size_t count) const {
    const auto* first = static_cast<const std::byte*>(pointer);
    if (first < address) return false;
    const auto offset = static_cast<std::size_t>(first - address);
    return offset <= bytes && count <= bytes - offset;
}

std::string describe(const Allocation& allocation) {
    const bool is_symbol = allocation.kind == MemoryKind::symbol;
    const std::string& name = allocation.display_name();
    std::string text = name.empty() ? "" : "'" + name + "', ";
    if (is_symbol) {
        const char* what = allocation.constant ? "a __constant__" : name.empty() ? "a device" : "a __device__";
        text += std::string(what) + " variable of " + std::to_string(allocation.bytes) + " bytes";
    } else {
        text += bytes_of(allocation);
    }
    if (allocation.made_at.line > 0) {
        const char* made = is_symbol                                   ? " defined at "
                           : allocation.kind == MemoryKind::registered ? " registered at "
                                                                       : " allocated at ";
        text += made + short_text(allocation.made_at);
    }
    return text;
}

cudaError_t allocate(MemoryKind kind, std::size_t bytes, unsigned flags, void** pointer, Site site) {
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (bytes > SIZE_MAX / 2) return cudaErrorMemoryAllocation;

    Record record;
    record.data.bytes = bytes;
    record.data.kind = kind;
    record.data.flags = flags;
    record.data.made_at = site;
    record.data.device = current_device;
    if (instrumenting().diagnostics) record.data.pointer = pointer_set_at(site);
    {
        Registry& all = registry();
        const RuntimeLock lock(all.mutex);
        if (kind == MemoryKind::device && bytes > total_device_bytes() - all.device_bytes(current_device)) {
            return cudaErrorMemoryAllocation;
        }
        // While errors are looked for, whoever misses an allocation by less than this hits nobody else's memory.
        const bool far_apart = instrumenting().diagnostics;
        const std::size_t guard = far_apart ? far_away : page_bytes();
        if (!(far_apart || bytes >= page_bytes() ? map_between_guard_pages(record, guard) : take_from_heap(record))) {
            return cudaErrorMemoryAllocation;
        }
        if (far_apart && (kind == MemoryKind::device || kind == MemoryKind::managed))
            note_device_memory(record.data.address, bytes);
        std::erase_if(all.freed, [&](const Record& old) {
            return old.data.address < record.end && record.begin < old.data_end();
        });
        if (kind == MemoryKind::device) all.device_bytes(current_device) += bytes;
        all.records.emplace(record.data.address, record);
    }
    fill(record.begin, record.data.address, border_byte);
    fill(record.data_end(), record.end, border_byte);
    if (kind == MemoryKind::managed) {
        fill_managed(record.data);
    } else {
        fill(record.data.address, record.data.address + std::min(bytes, filled_bytes), fresh_byte);
        if (kind == MemoryKind::device) note_allocation(record.data.address, bytes);
        if (kind == MemoryKind::pinned)
            note_host_write(record.data.address, bytes);  // nobody sees what host code writes
    }
    *pointer = record.data.address;
    return cudaSuccess;
}

cudaError_t release(void* pointer, MemoryKind kind, MemoryKind or_kind, const ApiCall& call) {
    const bool keep = instrumenting().diagnostics;
    std::optional<Record> live;
    std::optional<Record> freed;
    bool right = false;
    std::vector<Record> leaving;
    {
        Registry& all = registry();
        const RuntimeLock lock(all.mutex);
        if (const Record* holding = all.holding(pointer))
            live = *holding;
        else if (const Record* old = all.freed_holding(pointer))
            freed = *old;
        if (live) all.holding(pointer)->leak_reported = true;  // freed, or told now
        right = live && live->is_ours() && live->data.address == pointer &&
                (live->data.kind == kind || live->data.kind == or_kind);
        if (right) {
            all.records.erase(live->data.address);
            if (live->data.kind == MemoryKind::device) all.device_bytes(live->data.device) -= live->data.bytes;
            live->data.freed_at = call.site;
            live->freed_by = call.code;
            if (keep) {
                all.keep_back(*live, leaving);
            } else {
                all.remember_freed(*live);
                leaving.push_back(*live);
            }
        }
    }
    if (!right) {
        report_wrong_free(pointer, live, freed, call);
        return cudaErrorInvalidValue;
    }
    if (live->data.kind == MemoryKind::managed && forget_advice != nullptr) forget_advice(live->data.address);
    note_release(live->data.address, live->data.bytes);
    if (forget_device_uses != nullptr) forget_device_uses(live->data.address, live->data.bytes);
    check_borders(*live);
    for (const Record& old : leaving) give_back(old);
    return cudaSuccess;
}

void mark_as_of_pool(const void* pointer) {
    Registry& all = registry();
    const RuntimeLock lock(all.mutex);
    if (Record* record = all.holding(pointer)) record->data.is_of_pool = true;
}

bool remember(const Allocation& range) {
    Registry& all = registry();
    const RuntimeLock lock(all.mutex);
    if (all.overlaps(range.address, range.bytes)) return false;
    Record record;
    record.data = range;
    record.data.device = current_device;
    all.records.emplace(range.address, record);
    return true;
}

bool forget(const void* pointer, MemoryKind kind) {
    Registry& all = registry();
    const RuntimeLock lock(all.mutex);
    const auto found = all.records.find(static_cast<const std::byte*>(pointer));
    if (found == all.records.end() || found->second.data.kind != kind) return false;
    all.records.erase(found);
    return true;
}

void give_device_address(const void* pointer) {
    Registry& all = registry();
    const RuntimeLock lock(all.mutex);
    if (Record* record = all.holding(pointer)) record->data.has_device_address = true;
}

std::optional<Allocation> find_allocation(const void* pointer) {
    Registry& all = registry();
    const RuntimeLock lock(all.mutex);
    const Record* record = all.holding(pointer);
    if (record == nullptr) return std::nullopt;
    return record->data;
}

std::optional<Allocation> find_for_host(const void* pointer) {
    auto found = find_allocation(pointer);
    if (found && !found->has_device_address) found.reset();
    return found;
}

std::optional<Allocation> find_freed(const void* pointer) {
    std::optional<Record> found;
    {
        Registry& all = registry();
        const RuntimeLock lock(all.mutex);
        if (const Record* record = all.kept_back_holding(pointer)) found = *record;
    }
    if (!found) return std::nullopt;
    return with_place_of_free(std::move(*found));
}

std::optional<Allocation> find_missed(const void* pointer) {
    const auto* address = static_cast<const std::byte*>(pointer);
    Registry& all = registry();
    const RuntimeLock lock(all.mutex);
    const auto next = all.records.upper_bound(address);
    const auto surrounds = [address](const Record& record) {
        return record.is_ours() && !record.data.holds(address, 1) && address >= record.begin - record.guard_bytes &&
               address < record.end + record.guard_bytes;
    };
    if (next != all.records.begin() && surrounds(std::prev(next)->second)) return std::prev(next)->second.data;
    if (next != all.records.end() && surrounds(next->second)) return next->second.data;
    return std::nullopt;
}

std::vector<Allocation> live_allocations() {
    Registry& all = registry();
    const RuntimeLock lock(all.mutex);
    std::vector<Allocation> found;
    for (const auto& [address, record] : all.records) found.push_back(record.data);
    return found;
}

std::vector<Allocation> freed_allocations() {
    std::vector<Record> records;
    {
        Registry& all = registry();
        const RuntimeLock lock(all.mutex);
        for (const std::byte* address : all.quarantine_order) records.push_back(all.quarantine.at(address));
    }
    std::vector<const void*> code;
    for (const Record& record : records) code.push_back(record.freed_by);
    const std::vector<Site> sites = sites_of_code(code);
    std::vector<Allocation> found;
    for (std::size_t i = 0; i < records.size(); ++i) {
        found.push_back(std::move(records[i].data));
        if (found.back().freed_at.line == 0) found.back().freed_at = sites[i];
    }
    return found;
}

void note_reported(const void* address) {
    Registry& all = registry();
    const RuntimeLock lock(all.mutex);
    if (Record* record = all.holding(address)) record->access_reported = true;
}

void report_leaks() {
    if (device_is_lost()) return;  // nothing could be freed any more
    struct Group {
        std::uint64_t count = 0;
        std::size_t bytes = 0;
        Allocation first;
    };
    std::map<std::tuple<std::string, int, MemoryKind>, Group> groups;  // by place
    {
        Registry& all = registry();
        const RuntimeLock lock(all.mutex);
        for (auto& [address, record] : all.records) {
            if (!record.is_ours() || std::exchange(record.leak_reported, true)) continue;
            Group& group = groups[{record.data.made_at.file, record.data.made_at.line, record.data.kind}];
            if (group.count++ == 0) group.first = record.data;
            group.bytes += record.data.bytes;
        }
    }
    for (const auto& [place, group] : groups) {
        const Allocation& first = group.first;
        Diagnostic found{};
        found.kind = DiagnosticKind::memory_leak;
        found.message = group.count == 1 ? describe(first)
                                         : std::to_string(group.count) + " allocations of " + name_of(first.kind) +
                                               ", " + std::to_string(group.bytes) + " bytes in all,";
        found.message += group.count == 1 ? " was never freed" : " were never freed";
        found.site = first.made_at;
        found.hint = is_host(first.kind) ? "free it with cudaFreeHost when it is no longer used"
                     : first.is_of_pool  ? "free it with cudaFreeAsync behind its last use"
                                         : "free it with cudaFree when it is no longer used";
        found.array = first.display_name();
        found.count = group.count;
        found.is_note = !instrumenting().leaks;
        report(std::move(found));
    }
    report_leaked_objects();
}

std::string describe_address(const void* pointer) {
    const auto* address = static_cast<const std::byte*>(pointer);
    Registry& all = registry();
    const RuntimeLock lock(all.mutex);
    if (const Record* record = all.holding(pointer)) return "in " + describe(record->data);
    if (const Record* record = all.freed_holding(pointer)) return "in " + describe(record->data) + " that were freed";

    const auto reach = [](const Record& record) {
        return record.data.kind == MemoryKind::symbol ? far_from_a_variable : far_away;
    };
    const Record* last = Registry::before(all.records, pointer);
    const auto next = all.records.upper_bound(address);
    const std::ptrdiff_t past = last != nullptr ? address - last->data_end() : PTRDIFF_MAX;
    const std::ptrdiff_t ahead = next != all.records.end() ? next->first - address : PTRDIFF_MAX;
    if (past <= ahead && last != nullptr && past < reach(*last)) {
        return std::to_string(past) + " bytes past the end of " + describe(last->data);
    }
    if (next != all.records.end() && ahead < reach(next->second)) {
        return std::to_string(ahead) + " bytes before the start of " + describe(next->second.data);
    }
    return "";
}

MemoryInfo device_memory() {
    const RuntimeLock lock(registry().mutex);
    return {total_device_bytes() - registry().device_bytes(current_device), total_device_bytes()};
}

void release_all() {
    const bool keep = instrumenting().diagnostics;
    std::vector<Record> ended;
    std::vector<Record> leaving;
    {
        Registry& all = registry();
        const RuntimeLock lock(all.mutex);
        for (auto next = all.records.begin(); next != all.records.end();) {
            Record& record = next->second;
            if (record.data.kind != MemoryKind::symbol && record.data.device != current_device) {
                ++next;
                continue;
            }
            if (record.data.kind == MemoryKind::symbol) {
                record.data.has_device_address = false;
                ++next;
                continue;
            }
            if (record.is_ours()) {
                ended.push_back(record);
                keep ? all.keep_back(record, leaving) : leaving.push_back(record);
            }
            next = all.records.erase(next);
        }
        all.device_bytes(current_device) = 0;
    }
    for (const Record& record : ended) {
        note_release(record.data.address, record.data.bytes);
        check_borders(record);
    }
    for (const Record& record : leaving) give_back(record);
}

DeviceVariable::DeviceVariable(const char* name, const void* address, std::size_t bytes, bool is_constant, Site site,
                               bool is_managed) {
    Allocation variable;
    variable.address = static_cast<std::byte*>(const_cast<void*>(address));
    variable.bytes = bytes;
    variable.kind = MemoryKind::symbol;
    variable.name = name;
    variable.constant = is_constant;
    variable.made_at = site;
    variable.has_device_address = false;
    variable.is_managed = is_managed;
    remember(variable);
}

namespace {

std::atomic<bool>& unregistered_variables() {
    static std::atomic<bool> some = false;
    return some;
}

}  // namespace

UnregisteredVariables::UnregisteredVariables() { unregistered_variables() = true; }

bool has_unregistered_variables() { return unregistered_variables(); }

}  // namespace cpu_device
