#include "checker.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "checker_state.h"

namespace cpu_device {
namespace {

constexpr std::size_t kLargestUnit = 16;  // bytes that one instruction of a GPU loads or stores at most

}  // namespace

// ---- of the launch -------------------------------------------------------------------------------------------

/// The variable in which the bytes lie; null: between variables.
const SharedRange* LaunchChecker::State::shared_range(std::size_t offset, std::size_t bytes) {
    for (int attempt = 0; attempt < 2; ++attempt) {
        for (const SharedRange& range : shared_ranges) {
            if (range.holds(offset, bytes)) return &range;
        }
        // Perhaps a variable that has been met since.
        std::lock_guard lock(launch.mutex);
        if (shared_ranges.empty()) shared_ranges.push_back({0, launch.dynamic_bytes, nullptr});
        for (std::size_t i = shared_ranges.size() - 1; i < launch.shared_variables.size(); ++i) {
            const SharedVariable* variable = launch.shared_variables[i];
            shared_ranges.push_back({variable->offset, variable->offset + variable->bytes, variable});
        }
    }
    return nullptr;
}

uint3 LaunchChecker::State::block_index(std::uint64_t linear) const {
    const dim3& grid = launch.grid;
    return {static_cast<unsigned>(linear % grid.x), static_cast<unsigned>(linear / grid.x % grid.y),
            static_cast<unsigned>(linear / grid.x / grid.y)};
}

uint3 LaunchChecker::State::thread_index(unsigned linear) const {
    const dim3& block = launch.block;
    return {linear % block.x, linear / block.x % block.y, linear / block.x / block.y};
}

/// Nothing is left to be looked at; the pending write, if any, has been carried out.
void LaunchChecker::State::settle() {
    if (pending.block != nullptr) pending.block->resolve_pending();
    look_at_deferred();
}

// ---- one access ----------------------------------------------------------------------------------------------

/// Calls `visit(cell, address, bytes)` for the cells that stand for the bytes of the access in one word.
template <class Visit>
inline void BlockChecker::State::for_each_cell(const Space& space, const Doing& doing, std::uintptr_t word,
                                               Visit visit) {
    const std::uintptr_t first = std::max(word, doing.address);
    const std::uintptr_t end = std::min(word + 4, doing.address + doing.bytes);
    Cell& cell = space.word(word);
    Cell* bytes = ShadowMemory::bytes_of(cell, space.born);
    if (bytes == nullptr) {
        if (cell.is_split()) cell = {};  // by a block before this one
        if (end - first == 4) return visit(cell, first, std::size_t{4});
        bytes = space.cells->split(cell, space.born, doing.me);
    }
    for (std::uintptr_t address = first; address < end; ++address)
        visit(bytes[address - word], address, std::size_t{1});
}

/// Of many readers two are kept, as far apart as possible: then whoever writes without order finds one of them.
inline void BlockChecker::State::remember_read(Cell& cell, Stamp stamp, Mark mark, Stamp floor) const {
    unsigned slot = 0;
    if (!same_thread(cell.read[0], stamp)) {
        const bool is_second = same_thread(cell.read[1], stamp);
        // Whoever has no order with a reader before this one has none with this one either.
        if (is_second || !order.surely_before(cell.read[0], stamp, floor)) {
            slot = 1;
            const auto distance = [&](Stamp other) { return (cell.read[0] ^ other) >> kTimeBits; };
            const bool is_free = is_second || order.surely_before(cell.read[1], stamp, floor);
            if (!is_free && distance(stamp) < distance(cell.read[1])) return;
        }
    }
    const bool says_less = (mark & kRelaxed) != 0 && (cell.mark(Cell::kRead + slot) & kRelaxed) == 0;
    if (says_less && same_thread(cell.read[slot], stamp)) return;
    cell.read[slot] = stamp;
    cell.set_mark(Cell::kRead + slot, mark);
}

Conflict BlockChecker::State::conflict_of_read(const Cell& cell, const Doing& doing, const Space& space) const {
    const Mark writer = cell.mark(Cell::kWrite);
    if ((doing.mark & writer & kRelaxed) != 0 || order.before(cell.write, doing.me, space.floor)) return {};
    return {true, cell.raced(), cell.write, writer, true, 0};
}

Conflict BlockChecker::State::conflict_of_write(const Cell& cell, const Doing& doing, const Space& space) const {
    const auto is_ordered = [&](Stamp other, Mark mark) {
        return (doing.mark & mark & kRelaxed) != 0 || order.before(other, doing.me, space.floor);
    };
    const Mark writer = cell.mark(Cell::kWrite);
    if (!is_ordered(cell.write, writer)) return {true, cell.raced(), cell.write, writer, true, 0};
    for (unsigned i = 0; i < 2; ++i) {
        const Mark reader = cell.mark(Cell::kRead + i);
        if (cell.read[i] == 0 || is_ordered(cell.read[i], reader)) continue;
        // A reader that stands there from before the last (relaxed) write has seen something else.
        const bool saw_this = (writer & kRelaxed) == 0;
        return {true, cell.raced(), cell.read[i], reader, saw_this, 0};
    }
    return {};
}

inline void BlockChecker::State::write(Cell& cell, const Doing& doing, const Space& space) const {
    if ((doing.mark & kRelaxed) == 0) return cell.set_only_write(doing.me, doing.mark);
    // Other relaxed writes may follow in no order: what was no relaxed access has to stay, for them to meet.
    const Mark writer = cell.mark(Cell::kWrite);
    if (cell.write >= space.floor && (writer & kRelaxed) == 0) remember_read(cell, cell.write, writer, space.floor);
    cell.write = doing.me;
    cell.set_mark(Cell::kWrite, doing.mark);
}

/// Most accesses: whole words, in an order that barriers and launches give. True if that was all there is to do.
inline bool BlockChecker::State::touch_words(AccessKind kind, const Doing& doing, const Space& space) {
    if ((doing.address | doing.bytes) % 4 != 0 || kind > AccessKind::write) return false;
    const std::uintptr_t end = doing.address + doing.bytes;
    for (std::uintptr_t address = doing.address; address < end; address += 4) {
        Cell& cell = space.word(address);
        if (cell.is_split() || !order.surely_before(cell.write, doing.me, space.floor)) return false;
        if (kind == AccessKind::read) {
            if (space.unwritten(cell, address, 4)) return false;
            remember_read(cell, doing.me, doing.mark, space.floor);
        } else {
            if (!order.surely_before(cell.read[0], doing.me, space.floor) ||
                !order.surely_before(cell.read[1], doing.me, space.floor)) {
                return false;
            }
            cell.set_only_write(doing.me, doing.mark);
        }
    }
    return true;
}

/// Looks at the shadow of the access, and brings it up to date.
inline void BlockChecker::State::touch(const Access& access, const Doing& doing, const Space& space) {
    if (touch_words(access.kind, doing, space)) return;
    if (touch_all(access, doing, space)) await_write(access, doing, space);
}

/// The same for whatever access. True for a write that nothing orders with an earlier access.
bool BlockChecker::State::touch_all(const Access& access, const Doing& doing, const Space& space) {
    const bool looks = reads(access.kind);
    const bool changes = writes(access.kind);
    std::size_t written_words = 0, unwritten_words = 0;
    Conflict first;
    for (std::uintptr_t word = doing.address & ~std::uintptr_t{3}; word < doing.address + doing.bytes; word += 4) {
        bool any_written = false;
        for_each_cell(space, doing, word, [&](Cell& cell, std::uintptr_t address, std::size_t bytes) {
            if (looks) any_written |= !space.unwritten(cell, address, bytes);
            Conflict conflict = changes ? conflict_of_write(cell, doing, space) : conflict_of_read(cell, doing, space);
            if (conflict.found) [[unlikely]] {
                conflict.address = address;
                if (!first.found) first = conflict;
                if (changes) return forget_unwritten(address, conflict, space);
                cell.set_raced();
            }
            if (changes) {
                write(cell, doing, space);
            } else {
                remember_read(cell, doing.me, doing.mark, space.floor);
            }
        });
        ++(any_written ? written_words : unwritten_words);
    }
    if (looks && unwritten_words > 0 && !(access.is_block_copy && written_words > 0)) [[unlikely]] {
        note_unwritten(access, doing, space, count_as_written(doing, space));
    }
    if (first.found && !changes) report_race(access, doing, space, first, doing.seen, nullptr);
    return first.found && changes;
}

/// What the write makes of the memory shows when it has been carried out.
void BlockChecker::State::await_write(const Access& access, const Doing& doing, const Space& space) {
    launch.pending.block = this;
    launch.pending.thread = thread_of(doing.me);
    launch.pending.source_seen = false;
    launch.pending.access = access;
    launch.pending.doing = doing;
    launch.pending.space = space;
    launch.pending.before.assign(access.address, access.address + access.bytes);
}

/// From now on all of the memory counts as written: one report for memory that nobody set, not one for each line that
/// reads it. Returns where the part begins that nobody had written.
std::uintptr_t BlockChecker::State::count_as_written(const Doing& doing, const Space& space) {
    std::uintptr_t place = 0;
    for (std::uintptr_t word = doing.address & ~std::uintptr_t{3}; word < doing.address + doing.bytes; word += 4) {
        for_each_cell(space, doing, word, [&](Cell& cell, std::uintptr_t address, std::size_t bytes) {
            if (!space.unwritten(cell, address, bytes)) return;
            cell.write = space.born;
            if (place == 0) place = address;
        });
    }
    return place;
}

/// `a = b` of structures is announced as a write and then as a read, and carried out after both.
bool BlockChecker::State::may_be_source_of_pending(unsigned thread, const Access& access) const {
    const auto& write = launch.pending;
    if (write.block != this || write.thread != thread || write.source_seen) return false;
    if (access.kind != AccessKind::read || access.bytes != write.access.bytes) return false;
    const std::uintptr_t from = number_of(access.address), to = number_of(write.access.address);
    return from + access.bytes <= to || to + access.bytes <= from;
}

void BlockChecker::State::resolve_pending() {
    const Access access = launch.pending.access;
    Doing doing = launch.pending.doing;
    const Space space = launch.pending.space;
    launch.pending.block = nullptr;
    doing.seen = launch.pending.before.data();
    judge_write(access, doing, space, access.address);
}

/// A write that conflicts with an earlier access is a race if it has changed the memory.
void BlockChecker::State::judge_write(const Access& access, const Doing& doing, const Space& space,
                                      const std::byte* after) {
    if (std::memcmp(doing.seen, after, access.bytes) == 0) return;
    Conflict first;
    for (std::uintptr_t word = doing.address & ~std::uintptr_t{3}; word < doing.address + doing.bytes; word += 4) {
        for_each_cell(space, doing, word, [&](Cell& cell, std::uintptr_t address, std::size_t bytes) {
            Conflict conflict = conflict_of_write(cell, doing, space);
            const std::size_t offset = address - doing.address;
            if (!conflict.found || std::memcmp(doing.seen + offset, after + offset, bytes) == 0) return;
            conflict.address = address;
            if (!first.found) first = conflict;
            cell.set_only_write(doing.me, doing.mark);
            cell.set_raced();
        });
    }
    if (first.found) report_race(access, doing, space, first, doing.seen, after);
}

// ---- accesses that wait for their shadow ---------------------------------------------------------------------

/// The shadow is eight times as large as the memory: where addresses are random it is in no cache. Fetched now and
/// looked at some accesses later, many are on their way at a time.
inline void BlockChecker::State::defer(const Access& access, const Doing& doing, AllocationShadow& shadow) {
    __builtin_prefetch(&shadow.cells.word(doing.address - shadow.first_word), 1);
    if (launch.deferred_end - launch.deferred_first == LaunchChecker::State::kDeferred) {
        launch.look_at_first_deferred();
    }
    Deferred& entry = launch.deferred[launch.deferred_end++ % LaunchChecker::State::kDeferred];
    entry.access = access;
    entry.me = doing.me;
    entry.shadow = &shadow;
    entry.mark = doing.mark;
    if (access.bytes == 4) {
        std::memcpy(entry.seen.data(), access.address, 4);
    } else {
        std::memcpy(entry.seen.data(), access.address, access.bytes);
    }
    launch.deferred_by = this;
}

inline void LaunchChecker::State::look_at_first_deferred() {
    deferred_by->look_at(deferred[deferred_first % kDeferred]);
    ++deferred_first;
}

void BlockChecker::State::look_at(const Deferred& entry) {
    const std::uintptr_t address = number_of(entry.access.address);
    const bool relaxed = (entry.mark & kRelaxed) != 0;
    const Doing doing{entry.me, entry.mark, relaxed, address, entry.access.bytes, entry.seen.data()};
    const Space space = global_space(*entry.shadow);
    if (touch_words(entry.access.kind, doing, space)) return;
    if (!touch_all(entry.access, doing, space)) return;
    std::array<std::byte, 16> after;
    judge_write(entry.access, doing, space, value_after(entry, after));
}

/// What the write has made of the memory: what later accesses found there, else what is there now.
const std::byte* BlockChecker::State::value_after(const Deferred& entry, std::array<std::byte, 16>& value) const {
    const std::byte* const begin = entry.access.address;
    std::memcpy(value.data(), begin, entry.access.bytes);
    for (unsigned i = launch.deferred_end - 1; i != launch.deferred_first; --i) {
        const Deferred& later = launch.deferred[i % LaunchChecker::State::kDeferred];
        for (std::uint32_t k = 0; k < later.access.bytes; ++k) {
            const std::ptrdiff_t at = later.access.address + k - begin;
            if (at >= 0 && at < entry.access.bytes) value[static_cast<std::size_t>(at)] = later.seen[k];
        }
    }
    return value.data();
}

// ---- what the callbacks call ---------------------------------------------------------------------------------

inline cudaError_t BlockChecker::State::access(unsigned thread, const Access& access) {
    if (launch.pending.block != nullptr) [[unlikely]] {
        if (may_be_source_of_pending(thread, access)) {
            launch.pending.source_seen = true;
        } else {
            launch.pending.block->resolve_pending();
        }
    }
    if (access.bytes == 0) return cudaSuccess;
    Instruction& instruction = launch.instructions.find(access);
    const std::uintptr_t address = number_of(access.address);
    if ((address & (access.bytes - 1)) != 0 && !access.is_block_copy && std::has_single_bit(access.bytes) &&
        access.bytes <= kLargestUnit) [[unlikely]] {
        report_misaligned(thread, access);
        return cudaErrorMisalignedAddress;
    }
    Doing doing{order.now(thread), instruction.number, is_atomic(access.kind), address, access.bytes, access.address};
    const std::size_t offset = address - arena;
    if (offset < arena_bytes) {
        const SharedRange* range = instruction.shared;
        if (range == nullptr || !range->holds(offset, access.bytes)) {
            range = launch.shared_range(offset, access.bytes);
            if (range == nullptr) {
                report_shared_stray(thread, access, instruction);
                return cudaSuccess;
            }
            instruction.shared = range;
        }
        if (!shared->exists()) return cudaSuccess;
        if (doing.relaxed) doing.mark |= kRelaxed;
        touch(access, doing, {shared.get(), arena, order.born(), order.floor(), nullptr});
        if (doing.relaxed) order.synchronize(thread, address, true, reads(access.kind), writes(access.kind));
        return cudaSuccess;
    }
    Region* region = instruction.region;
    if (region == nullptr || !region->holds(address, access.bytes)) {
        region = launch.map.find(address, access.bytes);
        if (region == nullptr) {
            for (Region& other : launch.harmless) {
                if (other.holds(address, access.bytes)) region = &other;
            }
        }
        if (region == nullptr) {
            return report_stray(thread, access, instruction) ? cudaSuccess : cudaErrorIllegalAddress;
        }
        instruction.region = region;
    }
    if (region->shadow == nullptr) {
        if (region->allocation.address == nullptr) return cudaSuccess;  // harmless
        region->shadow = &shadow_of(region->allocation.address, region->allocation.bytes);
    }
    if (!region->shadow->cells.exists()) return cudaSuccess;
    doing.relaxed |= is_volatile(access.kind);
    if (doing.relaxed) doing.mark |= kRelaxed;
    uses_flags |= doing.relaxed;
    const bool synchronizes = doing.relaxed && order.may_synchronize();
    if (!synchronizes && access.bytes <= sizeof(Deferred::seen)) {
        defer(access, doing, *region->shadow);
        return cudaSuccess;
    }
    launch.look_at_deferred();
    touch(access, doing, global_space(*region->shadow));
    if (synchronizes) order.synchronize(thread, address, false, reads(access.kind), writes(access.kind));
    return cudaSuccess;
}

// ---- interface -----------------------------------------------------------------------------------------------

LaunchChecker::LaunchChecker(Launch& launch) : state_(std::make_unique<State>(launch)) {
    keep_shadows([this](std::uintptr_t begin, std::size_t bytes) { return state_->map.has(begin, bytes); });
    if (launch.sampled) note_unseen_launch();
}

LaunchChecker::~LaunchChecker() {
    state_->report_unwritten_reads();
    // Not one access: the kernel is in code that cannot be watched.
    if (state_->instructions.empty()) note_unseen_launch();
}

void LaunchChecker::grid_barrier() {
    state_->settle();
    state_->order.grid_barrier();
}

BlockChecker::BlockChecker(LaunchChecker& launch, std::uint64_t block, uint3 block_index, const std::byte* arena,
                           std::size_t arena_bytes)
    : state_(std::make_unique<State>(launch.state(), block, block_index, arena, arena_bytes)) {}

BlockChecker::~BlockChecker() {
    state_->launch.settle();
    // Nobody will write there any more.
    for (auto& reads : state_->launch.unwritten_reads) {
        for (auto& [address, example] : reads.examples) {
            if (address - state_->arena < state_->arena_bytes) address = 0;
        }
    }
    give_back_shared_shadow(std::move(state_->shared));
}

cudaError_t BlockChecker::access(unsigned thread, const Access& access) { return state_->access(thread, access); }

bool BlockChecker::awaits_a_write() const { return state_->launch.pending.block == state_.get(); }

void BlockChecker::pause() { state_->launch.settle(); }

void BlockChecker::barrier() {
    state_->launch.settle();
    state_->order.barrier();
}

void BlockChecker::meeting(unsigned warp, std::uint32_t lanes) {
    state_->launch.settle();
    state_->order.meeting(warp, lanes);
}

void BlockChecker::fence(unsigned thread, FenceScope scope) {
    state_->launch.settle();
    state_->order.fence(thread, scope);
}

}  // namespace cpu_device
