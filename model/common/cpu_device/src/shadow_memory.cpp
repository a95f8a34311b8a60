#include "shadow_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cpu_device/instrument.h"
#include "diagnoser.h"

namespace cpu_device {
namespace {

void* map_zeros(std::size_t bytes) {
    void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    // Eight times as large as what it shadows: with small pages a random access would mostly wait for the page tables.
    madvise(mapped, bytes, MADV_HUGEPAGE);
    return mapped;
}

struct Shadows {
    std::mutex mutex;
    std::map<std::uintptr_t, std::unique_ptr<AllocationShadow>> shadows;  ///< by address
    std::atomic<std::size_t> unwritten{0};  ///< shadows of memory of which a part may never have been written

    /// Of shared memory, to be used again. Only whoever runs a launch touches them, and launches run one at a time.
    std::vector<std::unique_ptr<ShadowMemory>> spare;

    using Iterator = decltype(shadows)::iterator;

    Iterator erase(Iterator at) {
        if (!at->second->all_written) --unwritten;
        return shadows.erase(at);
    }
    void set_all_written(AllocationShadow& shadow) {
        if (!shadow.all_written) --unwritten;
        shadow.all_written = true;
    }
    void erase_overlapping(std::uintptr_t begin, std::size_t bytes) {
        auto at = shadows.lower_bound(begin);
        if (at != shadows.begin() && std::prev(at)->second->begin + std::prev(at)->second->bytes > begin) --at;
        while (at != shadows.end() && at->first < begin + bytes) at = erase(at);
    }
};

Shadows& all_shadows() {
    static Shadows* all = new Shadows;  // still needed when the process exits
    return *all;
}

}  // namespace

ShadowMemory::ShadowMemory(std::size_t bytes)
    : cells_(static_cast<Cell*>(map_zeros((bytes + 7) / 4 * sizeof(Cell)))), bytes_(bytes) {}

ShadowMemory::~ShadowMemory() {
    if (cells_ != nullptr) munmap(cells_, (bytes_ + 7) / 4 * sizeof(Cell));
}

Cell* ShadowMemory::split(Cell& word, Stamp born, Stamp now) {
    if (used_ == splits_.size()) splits_.emplace_back();
    std::array<Cell, 4>& bytes = splits_[used_++];
    Cell start = word;
    if (start.write < born) start.write = 0;
    bytes.fill(start);
    word.write = 0;
    word.read[0] = now;
    word.read[1] = number_of(bytes.data());
    word.marks = Cell::kSplit;
    return bytes.data();
}

WrittenBytes::WrittenBytes(std::size_t bytes)
    : bits_(static_cast<std::uint64_t*>(map_zeros(bytes / 8 + 16))), mapped_(bytes / 8 + 16) {}

WrittenBytes::~WrittenBytes() {
    if (bits_ != nullptr) munmap(bits_, mapped_);
}

AllocationShadow::AllocationShadow(std::uintptr_t begin_, std::size_t bytes_, bool all_written_,
                                   bool host_writes_unseen_)
    : begin(begin_),
      bytes(bytes_),
      first_word(begin_ / 4 * 4),
      cells(bytes_ + begin_ % 4),
      written(bytes_),
      all_written(all_written_),
      host_writes_unseen(host_writes_unseen_) {}

bool AllocationShadow::holds_poison(const std::byte* seen, std::uintptr_t address, std::size_t count) const {
    const auto is_poison = [](const std::byte* memory, std::uintptr_t first, std::uintptr_t end) {
        for (std::uintptr_t at = first; at < end; ++at) {
            if (memory[at - first] != static_cast<std::byte>(kManagedPoison >> (at % 4 * 8))) return false;
        }
        return true;
    };
    const std::uintptr_t last = address + count;
    if (!is_poison(seen, address, last)) return false;
    const std::uintptr_t word = std::max(address / 4 * 4, begin);
    const std::uintptr_t word_end = std::min((last + 3) / 4 * 4, begin + bytes);
    return is_poison(reinterpret_cast<const std::byte*>(word), word, address) &&
           is_poison(reinterpret_cast<const std::byte*>(last), last, word_end);
}

AllocationShadow& shadow_of(const std::byte* begin, std::size_t bytes) {
    Shadows& all = all_shadows();
    std::lock_guard lock(all.mutex);
    const std::uintptr_t address = number_of(begin);
    const auto found = all.shadows.find(address);
    if (found != all.shadows.end() && found->second->bytes == bytes) return *found->second;
    all.erase_overlapping(address, bytes);
    return *all.shadows.emplace(address, std::make_unique<AllocationShadow>(address, bytes, true)).first->second;
}

AllocationShadow* known_shadow(const std::byte* begin) {
    Shadows& all = all_shadows();
    std::lock_guard lock(all.mutex);
    const auto found = all.shadows.find(number_of(begin));
    return found == all.shadows.end() ? nullptr : found->second.get();
}

void keep_shadows(const std::function<bool(std::uintptr_t begin, std::size_t bytes)>& is_live) {
    Shadows& all = all_shadows();
    std::lock_guard lock(all.mutex);
    for (auto at = all.shadows.begin(); at != all.shadows.end();) {
        at = is_live(at->first, at->second->bytes) ? std::next(at) : all.erase(at);
    }
}

std::unique_ptr<ShadowMemory> take_shared_shadow(std::size_t bytes) {
    std::vector<std::unique_ptr<ShadowMemory>>& spare = all_shadows().spare;
    if (spare.empty() || spare.back()->bytes() < bytes) return std::make_unique<ShadowMemory>(bytes);
    std::unique_ptr<ShadowMemory> shadow = std::move(spare.back());
    spare.pop_back();
    shadow->reuse_splits();
    return shadow;
}

void give_back_shared_shadow(std::unique_ptr<ShadowMemory> shadow) { all_shadows().spare.push_back(std::move(shadow)); }

void forget_unwritten_memory() {
    Shadows& all = all_shadows();
    if (all.unwritten == 0) return;
    std::lock_guard lock(all.mutex);
    for (auto& [begin, shadow] : all.shadows) all.set_all_written(*shadow);
}

void forget_accesses() {
    forget_unwritten_memory();
    Shadows& all = all_shadows();
    std::lock_guard lock(all.mutex);
    all.shadows.clear();
    all.spare.clear();
}

void note_host_write(const void* memory, std::size_t bytes) {
    Shadows& all = all_shadows();
    if (all.unwritten == 0 || bytes == 0) return;
    std::lock_guard lock(all.mutex);
    const std::uintptr_t first = number_of(memory);
    auto at = all.shadows.upper_bound(first);
    if (at == all.shadows.begin()) return;
    AllocationShadow& shadow = *std::prev(at)->second;
    if (first >= shadow.begin + shadow.bytes || shadow.all_written) return;
    const std::size_t inside = std::min(bytes, shadow.begin + shadow.bytes - first);
    if (inside == shadow.bytes) {
        all.set_all_written(shadow);
    } else {
        shadow.written.set(first - shadow.begin, inside);
    }
}

void note_allocation(const void* memory, std::size_t bytes, bool host_writes_unseen) {
    if (memory == nullptr || bytes == 0) return;
    note_release(memory, bytes);
    if (!instrumenting().diagnostics) return;
    Shadows& all = all_shadows();
    std::lock_guard lock(all.mutex);
    const std::uintptr_t begin = number_of(memory);
    all.shadows.emplace(begin, std::make_unique<AllocationShadow>(begin, bytes, false, host_writes_unseen));
    ++all.unwritten;
}

void note_release(const void* memory, std::size_t bytes) {
    Shadows& all = all_shadows();
    std::lock_guard lock(all.mutex);
    if (!all.shadows.empty()) all.erase_overlapping(number_of(memory), bytes);
}

void note_unseen_launch() { forget_unwritten_memory(); }

}  // namespace cpu_device
