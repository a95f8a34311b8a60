#include "diagnoser.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "diagnoser_state.h"
#include "stream_order.h"

namespace cpu_device {
namespace {

constexpr std::size_t kLargestUnit = 16;  // bytes that one instruction of a GPU loads or stores at most

/// Which of the bytes that an access reads somebody has written.
struct WrittenPart {
    std::size_t bytes = 0;
    std::uint32_t first = 0;  ///< of the first 32, one bit each

    /// `which`: one bit for each of `count` bytes from `offset` on.
    void add(std::size_t offset, std::uint32_t which) {
        bytes += static_cast<std::size_t>(std::popcount(which));
        if (offset < 32) first |= which << offset;
    }

    /// Whether the access counts as a read of uninitialized memory. A number needs all of its bytes; a structure has
    /// padding, and members that nobody may ever look at. Copies of small structures look like loads of 4, 8 or 16
    /// bytes: so the last of 4 bytes may be missing, and of more bytes each word needs one.
    bool is_too_little_for(const Access& access) const {
        if (bytes == access.bytes) return false;
        if (access.is_block_copy) return bytes == 0;
        if (access.bytes <= 4) return access.bytes < 4 || first != 0b0111;
        for (std::size_t word = 0; word < access.bytes && word < 32; word += 4) {
            if ((first >> word & 0b1111) == 0) return true;
        }
        return false;
    }
};

}  // namespace

// ---- of the launch -------------------------------------------------------------------------------------------

/// The variable in which the bytes lie; null: between variables.
const SharedRange* LaunchDiagnoser::State::shared_range(std::size_t offset, std::size_t bytes) {
    for (int attempt = 0; attempt < 2; ++attempt) {
        for (const SharedRange& range : shared_ranges) {
            if (range.holds(offset, bytes)) return &range;
        }
        // Perhaps a variable that has been met since.
        std::lock_guard lock(launch.mutex);
        if (shared_ranges.empty()) shared_ranges.push_back({0, launch.dynamic_bytes, nullptr});
        for (std::size_t i = shared_ranges.size() - 1; i < launch.shared_variables.size(); ++i) {
            const SharedVariable* variable = launch.shared_variables[i];
            const std::size_t begin = launch.place_of(*variable);
            shared_ranges.push_back({begin, begin + variable->bytes, variable});
        }
    }
    return nullptr;
}

uint3 LaunchDiagnoser::State::block_index(std::uint64_t linear) const {
    const dim3& grid = launch.grid;
    return {static_cast<unsigned>(linear % grid.x), static_cast<unsigned>(linear / grid.x % grid.y),
            static_cast<unsigned>(linear / grid.x / grid.y)};
}

uint3 LaunchDiagnoser::State::thread_index(unsigned linear) const {
    const dim3& block = launch.block;
    return {linear % block.x, linear / block.x % block.y, linear / block.x / block.y};
}

/// Nothing is left to be looked at; the pending write, if any, has been carried out.
void LaunchDiagnoser::State::settle() {
    if (pending.block != nullptr) pending.block->resolve_pending();
    look_at_deferred();
}

// ---- one access ----------------------------------------------------------------------------------------------

/// Calls `visit(cell, address, bytes)` for the cells that stand for the bytes of the access in one word.
template <class Visit>
inline void BlockDiagnoser::State::for_each_cell(const Space& space, const Doing& doing, std::uintptr_t word,
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
inline void BlockDiagnoser::State::remember_read(Cell& cell, Stamp stamp, Mark mark, Stamp floor) const {
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

/// Code that was written for warps in lockstep: a lane reads an element through a volatile pointer and writes it, as in
/// `sum[i] = sum[i] + sum[i + 16]`, and another lane of the warp reads it in another place of the code. (A flag that
/// lanes look at and set is read in one place by all.) No such access races with another one, but nothing says which
/// value the other lane finds.
bool BlockDiagnoser::State::leans_on_lockstep(const Cell& cell, unsigned slot, const Doing& doing) const {
    const Stamp there = slot == Cell::kWrite ? cell.write : cell.read[slot - Cell::kRead];
    if (block_of(there) != block_of(doing.me) || thread_of(there) / 32 != thread_of(doing.me) / 32) return false;
    if (order.has_fenced(thread_of(doing.me)) || order.has_fenced(thread_of(there))) return false;  // a flag
    const auto is_volatile_mark = [&](Mark mark) { return is_volatile(launch.instructions.form(mark).kind); };
    if (!is_volatile_mark(doing.mark) || !is_volatile_mark(cell.mark(slot))) return false;
    const bool i_write = writes(launch.instructions.form(doing.mark).kind);
    if (i_write && slot == Cell::kWrite) return false;
    const Stamp writer = i_write ? doing.me : there;
    const Mark reader = i_write ? cell.mark(slot) : doing.mark;
    for (unsigned i = 0; i < 2; ++i) {
        const Mark own = cell.mark(Cell::kRead + i);
        if (cell.read[i] != 0 && same_thread(cell.read[i], writer) && is_volatile_mark(own) && own / 2 != reader / 2) {
            return true;
        }
    }
    return false;
}

/// Whether the access may meet the one in the cell's slot in any order: both are relaxed, and their scopes reach each
/// other's threads.
inline bool BlockDiagnoser::State::is_free_of_order(const Cell& cell, unsigned slot, const Doing& doing) const {
    const Mark other = cell.mark(slot);
    if ((doing.mark & other & kRelaxed) == 0) return false;
    if (!launch.has_narrow_scopes && !launch.has_volatile) [[likely]]
        return true;
    if (leans_on_lockstep(cell, slot, doing)) return false;
    const Stamp there = slot == Cell::kWrite ? cell.write : cell.read[slot - Cell::kRead];
    const ThreadScope needed = same_thread(there, doing.me)            ? ThreadScope::thread
                               : block_of(there) == block_of(doing.me) ? ThreadScope::block
                                                                       : ThreadScope::device;
    return launch.instructions.form(doing.mark).scope >= needed && launch.instructions.form(other).scope >= needed;
}

/// Volatile accesses to shared memory are relaxed accesses. Yet most programs that have them lean on the lanes of a
/// warp running in lockstep, which nobody promises. Between warps, and where the writer fences, they are flags.
bool BlockDiagnoser::State::is_flag(const Cell& cell, unsigned slot, const Doing& doing, const Space& space) const {
    if (space.global != nullptr) return false;
    const auto is_flag_access = [&](Mark mark) {
        const AccessKind kind = launch.instructions.form(mark).kind;
        return is_volatile(kind) || is_atomic(kind);
    };
    const Stamp there = slot == Cell::kWrite ? cell.write : cell.read[slot - Cell::kRead];
    const unsigned thread = thread_of(doing.me), other = thread_of(there);
    if (thread / 32 == other / 32 || !is_flag_access(doing.mark) || !is_flag_access(cell.mark(slot))) return false;
    return order.has_fenced(writes(launch.instructions.form(doing.mark).kind) ? thread : other);
}

Conflict BlockDiagnoser::State::conflict_of_read(const Cell& cell, const Doing& doing, const Space& space) const {
    if (is_free_of_order(cell, Cell::kWrite, doing) || order.before(cell.write, doing.me, space.floor)) return {};
    if (is_flag(cell, Cell::kWrite, doing, space)) return {};
    const Mark by = cell.read_by_writer();
    const bool is_update = by != 0 && by / 2 == doing.mark / 2;
    return {true, cell.raced(), cell.write, cell.mark(Cell::kWrite), true, 0, is_update};
}

Conflict BlockDiagnoser::State::conflict_of_write(const Cell& cell, const Doing& doing, const Space& space) const {
    const auto is_ordered = [&](Stamp other, unsigned slot) {
        return is_free_of_order(cell, slot, doing) || order.before(other, doing.me, space.floor) ||
               is_flag(cell, slot, doing, space);
    };
    const Mark writer = cell.mark(Cell::kWrite);
    if (!is_ordered(cell.write, Cell::kWrite)) return {true, cell.raced(), cell.write, writer, true, 0, false};
    for (unsigned i = 0; i < 2; ++i) {
        const Mark reader = cell.mark(Cell::kRead + i);
        if (cell.read[i] == 0 || is_ordered(cell.read[i], Cell::kRead + i)) continue;
        // A reader that stands there from before the last (relaxed) write has seen something else.
        const bool saw_this = (writer & kRelaxed) == 0;
        const bool both_read = same_thread(cell.read[1 - i], doing.me) && cell.mark(Cell::kRead + 1 - i) == reader;
        return {true, cell.raced(), cell.read[i], reader, saw_this, 0, both_read};
    }
    return {};
}

inline void BlockDiagnoser::State::write(Cell& cell, const Doing& doing, const Space& space) const {
    if ((doing.mark & kRelaxed) == 0) return cell.set_only_write(doing.me, doing.mark);
    // Other relaxed writes may follow in no order: what was no relaxed access has to stay, for them to meet.
    const Mark writer = cell.mark(Cell::kWrite);
    if (cell.write >= space.floor && (writer & kRelaxed) == 0) remember_read(cell, cell.write, writer, space.floor);
    cell.write = doing.me;
    cell.set_mark(Cell::kWrite, doing.mark);
}

/// Most accesses: whole words, in an order that barriers and launches give. True if that was all there is to do.
inline bool BlockDiagnoser::State::touch_words(AccessKind kind, const Doing& doing, const Space& space) {
    if ((doing.address | doing.bytes) % 4 != 0 || kind > AccessKind::write) return false;
    const std::uintptr_t end = doing.address + doing.bytes;
    for (std::uintptr_t address = doing.address; address < end; address += 4) {
        Cell& cell = space.word(address);
        if (cell.is_split() || !order.surely_before(cell.write, doing.me, space.floor)) return false;
        if (kind == AccessKind::read) {
            if (space.unwritten(cell, address, 4, doing)) return false;
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
inline void BlockDiagnoser::State::touch(const Access& access, const Doing& doing, const Space& space) {
    if (touch_words(access.kind, doing, space)) return;
    if (touch_all(access, doing, space)) await_write(access, doing, space);
}

/// The same for whatever access. True for a write that nothing orders with an earlier access.
bool BlockDiagnoser::State::touch_all(const Access& access, const Doing& doing, const Space& space) {
    const bool looks = reads(access.kind);
    const bool changes = writes(access.kind);
    WrittenPart written;
    Conflict first;
    for (std::uintptr_t word = doing.address & ~std::uintptr_t{3}; word < doing.address + doing.bytes; word += 4) {
        for_each_cell(space, doing, word, [&](Cell& cell, std::uintptr_t address, std::size_t bytes) {
            if (looks) written.add(address - doing.address, space.written(cell, address, bytes, doing));
            if (doing.relaxed && address == doing.address) note_handover(cell, doing, space, looks);
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
    }
    if (looks && written.is_too_little_for(access)) [[unlikely]] {
        note_unwritten(access, doing, space.global == nullptr, count_as_written(doing, space), written.bytes);
    }
    if (first.found && !changes) report_race(access, doing, space, first, doing.seen, nullptr);
    return first.found && changes;
}

/// Keeps what advice may need to know: who has looked at a flag, and who has set it.
inline void BlockDiagnoser::State::note_handover(const Cell& cell, const Doing& doing, const Space& space, bool looks) {
    if (looks && cell.write >= space.floor && (cell.mark(Cell::kWrite) & kRelaxed) != 0 &&
        !same_thread(cell.write, doing.me)) {
        handovers[handover_count++ % handovers.size()] = {doing.me, doing.address, doing.mark};
    }
    if (launch.flag_writes_left == 0 || !writes(launch.instructions.form(doing.mark).kind)) return;
    --launch.flag_writes_left;
    launch.flag_writes[{doing.address, block_of(doing.me)}] = doing.me;
}

/// What the write makes of the memory shows when it has been carried out.
void BlockDiagnoser::State::await_write(const Access& access, const Doing& doing, const Space& space) {
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
std::uintptr_t BlockDiagnoser::State::count_as_written(const Doing& doing, const Space& space) {
    std::uintptr_t place = 0;
    for (std::uintptr_t word = doing.address & ~std::uintptr_t{3}; word < doing.address + doing.bytes; word += 4) {
        for_each_cell(space, doing, word, [&](Cell& cell, std::uintptr_t address, std::size_t bytes) {
            if (!space.unwritten(cell, address, bytes, doing)) return;
            cell.write = space.born;
            if (place == 0) place = address;
        });
    }
    return place;
}

/// `a = b` of structures is announced as a write and then as a read, and carried out after both.
bool BlockDiagnoser::State::may_be_source_of_pending(unsigned thread, const Access& access) const {
    const auto& write = launch.pending;
    if (write.block != this || write.thread != thread || write.source_seen) return false;
    if (access.kind != AccessKind::read || access.bytes != write.access.bytes) return false;
    const std::uintptr_t from = number_of(access.address), to = number_of(write.access.address);
    return from + access.bytes <= to || to + access.bytes <= from;
}

void BlockDiagnoser::State::resolve_pending() {
    const Access access = launch.pending.access;
    Doing doing = launch.pending.doing;
    const Space space = launch.pending.space;
    launch.pending.block = nullptr;
    doing.seen = launch.pending.before.data();
    judge_write(access, doing, space, access.address);
}

/// A write that conflicts with an earlier access is a race if it has changed the memory.
void BlockDiagnoser::State::judge_write(const Access& access, const Doing& doing, const Space& space,
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

// ---- blocks that are not instrumented for races -------------------------------------------------------------------

namespace {

template <class Bits>
WrittenPart written_part(Bits& bits, std::size_t offset, std::size_t bytes) {
    WrittenPart part;
    for (std::size_t done = 0; done < bytes; done += 32) {
        part.add(done, bits.get(offset + done, std::min<std::size_t>(bytes - done, 32)));
    }
    return part;
}

}  // namespace

/// Most accesses: aligned, inside of the same array as the one before, and to bytes that were written. True if that was
/// all there is to do.
inline bool BlockDiagnoser::State::is_surely_right(const Access& access) {
    const std::uintptr_t address = number_of(access.address);
    if ((address & (access.bytes - 1)) != 0 || access.bytes > kLargestUnit) return false;
    const bool is_write = access.kind == AccessKind::write;
    if (!is_write && access.kind != AccessKind::read) return false;
    const LaunchDiagnoser::State::Range& range = launch.range_of(access.code);
    const std::uintptr_t offset = address - arena;
    const bool is_shared = offset < arena_bytes;
    if (is_shared != (range.shadow == nullptr)) return false;
    const std::uintptr_t place = is_shared ? offset : address;
    if (place < range.begin || place + access.bytes > range.end) return false;
    const std::uint32_t all = (1u << access.bytes) - 1;
    if (is_shared) {
        if (written_shared->get(offset, access.bytes) == all) return true;
        if (is_write) written_shared->set(offset, access.bytes);
        return is_write;
    }
    AllocationShadow& shadow = *range.shadow;
    if (shadow.all_written || shadow.written.get(address - shadow.begin, access.bytes) == all) return true;
    if (is_write) shadow.written.set(address - shadow.begin, access.bytes);
    return is_write;
}

/// What such a block does to its shared memory: only what is written counts, one bit for each byte.
void BlockDiagnoser::State::look_at_bits_of_shared(const Access& access, const Doing& doing) {
    const std::size_t offset = doing.address - arena;
    if (reads(access.kind)) {
        const WrittenPart written = written_part(*written_shared, offset, access.bytes);
        if (written.is_too_little_for(access)) [[unlikely]] {
            std::size_t first = 0;
            while (written_shared->get(offset + first, 1) != 0) ++first;
            note_unwritten(access, doing, true, doing.address + first, written.bytes);
            written_shared->set(offset, access.bytes);  // one report is enough
        }
    }
    if (writes(access.kind)) written_shared->set(offset, access.bytes);
}

/// The same for global memory, of which a cell may know that an instrumented block wrote it.
void BlockDiagnoser::State::look_at_bits_of_global(const Access& access, const Doing& doing, AllocationShadow& shadow) {
    if (shadow.all_written) return;
    const std::size_t offset = doing.address - shadow.begin;
    if (reads(access.kind) && written_part(shadow.written, offset, access.bytes).bytes < access.bytes) [[unlikely]] {
        const Space space = global_space(shadow);
        WrittenPart written;
        for (std::uintptr_t word = doing.address & ~std::uintptr_t{3}; word < doing.address + doing.bytes; word += 4) {
            for_each_cell(space, doing, word, [&](Cell& cell, std::uintptr_t address, std::size_t bytes) {
                written.add(address - doing.address, space.written(cell, address, bytes, doing));
                // The next time the bits tell.
                if (!space.unwritten(cell, address, bytes, doing)) shadow.written.set(address - shadow.begin, bytes);
            });
        }
        if (written.is_too_little_for(access)) {
            note_unwritten(access, doing, false, count_as_written(doing, space), written.bytes);
        }
    }
    if (writes(access.kind)) shadow.written.set(offset, access.bytes);
}

// ---- accesses that wait for their shadow ---------------------------------------------------------------------

/// The shadow is eight times as large as the memory: where addresses are random it is in no cache. Fetched now and
/// looked at some accesses later, many are on their way at a time.
inline void BlockDiagnoser::State::defer(const Access& access, const Doing& doing, AllocationShadow& shadow) {
    __builtin_prefetch(&shadow.cells.word(doing.address - shadow.first_word), 1);
    if (launch.deferred_end - launch.deferred_first == LaunchDiagnoser::State::kDeferred) {
        launch.look_at_first_deferred();
    }
    Deferred& entry = launch.deferred[launch.deferred_end++ % LaunchDiagnoser::State::kDeferred];
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

inline void LaunchDiagnoser::State::look_at_first_deferred() {
    deferred_by->look_at(deferred[deferred_first % kDeferred]);
    ++deferred_first;
}

void BlockDiagnoser::State::look_at(const Deferred& entry) {
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
const std::byte* BlockDiagnoser::State::value_after(const Deferred& entry, std::array<std::byte, 16>& value) const {
    const std::byte* const begin = entry.access.address;
    std::memcpy(value.data(), begin, entry.access.bytes);
    for (unsigned i = launch.deferred_end - 1; i != launch.deferred_first; --i) {
        const Deferred& later = launch.deferred[i % LaunchDiagnoser::State::kDeferred];
        for (std::uint32_t k = 0; k < later.access.bytes; ++k) {
            const std::ptrdiff_t at = later.access.address + k - begin;
            if (at >= 0 && at < entry.access.bytes) value[static_cast<std::size_t>(at)] = later.seen[k];
        }
    }
    return value.data();
}

// ---- clusters ------------------------------------------------------------------------------------------------

inline Space BlockDiagnoser::State::shared_space() const {
    if (cluster != nullptr) [[unlikely]]
        return {shared.get(), arena, cluster->floor, cluster->floor + 1, nullptr};  // see count_as_written
    return {shared.get(), arena, order.born(), order.floor(), nullptr};
}

/// Shared memory of another block of the cluster. That block must have started and must not have ended, which only the
/// cluster's barrier can tell.
cudaError_t BlockDiagnoser::State::access_remote(unsigned thread, const Access& access, Doing& doing,
                                                 Instruction& instruction) {
    const std::size_t place = doing.address - cluster->arenas;
    const auto target = static_cast<unsigned>(place / arena_bytes);
    const SharedRange* const range = launch.shared_range(place % arena_bytes, access.bytes);
    if (range == nullptr) {
        report_shared_stray(thread, access, instruction);
        return cudaSuccess;
    }
    instruction.shared = range;
    State* const owner = cluster->blocks[target];
    if (owner == nullptr) {
        report_ended_block(doing.me, access, target);
        return cudaSuccess;
    }
    if (!looks_for_races()) {
        if (writes(access.kind)) owner->written_shared->set(place % arena_bytes, access.bytes);
        return cudaSuccess;
    }
    if (order.cluster_phase(thread) == 0 && !order.has_history()) report_block_not_started(thread, access);
    if (!access.in_bulk) cluster->uses[target][rank << 10 | thread] = {doing.me, access};
    if (!owner->shared->exists()) return cudaSuccess;
    if (doing.relaxed) doing.mark |= kRelaxed;
    touch(access, doing, owner->shared_space());
    if (doing.relaxed || is_volatile(access.kind)) {
        order.synchronize(thread, doing.address, false,
                          {reads(access.kind), writes(access.kind), access.order, access.scope});
    }
    return cudaSuccess;
}

/// All threads of the block have ended. Accesses to its shared memory of which none of them knows may come later.
void BlockDiagnoser::State::end_in_cluster() {
    cluster->blocks[rank] = nullptr;
    if (launch.launch.failure.load(std::memory_order_relaxed) != cudaSuccess || order.has_history()) return;
    for (const auto& [by, use] : cluster->uses[rank]) {
        const std::uint64_t block = launch.order.index_of(use.stamp);
        if (!cluster->order->covers(order.latest_cluster_phase(), block, use.stamp)) {
            report_ended_block(use.stamp, use.access, rank);
        }
    }
}

// ---- what the callbacks call ---------------------------------------------------------------------------------

inline cudaError_t BlockDiagnoser::State::access(unsigned thread, const Access& access) {
    if ((late_count | store_count) != 0) [[unlikely]]
        look_for_late_copy(thread, access);
    if (!looks_for_races() && is_surely_right(access)) {
        ++launch.accesses;
        return cudaSuccess;
    }
    if (launch.pending.block != nullptr) [[unlikely]] {
        if (may_be_source_of_pending(thread, access)) {
            launch.pending.source_seen = true;
        } else {
            launch.pending.block->resolve_pending();
        }
    }
    launch.last_access_writes = writes(access.kind);
    if (access.bytes == 0) return cudaSuccess;
    ++launch.accesses;
    Instruction& instruction = launch.instructions.find(access);
    const std::uintptr_t address = number_of(access.address);
    if ((address & (access.bytes - 1)) != 0 && !access.is_block_copy && std::has_single_bit(access.bytes) &&
        access.bytes <= kLargestUnit) [[unlikely]] {
        report_misaligned(thread, access);
        return cudaErrorMisalignedAddress;
    }
    launch.has_narrow_scopes |= access.scope < ThreadScope::device;
    Doing doing{order.now(thread), instruction.number, is_atomic(access.kind), address, access.bytes, access.address};
    if (address - arena < arena_bytes) return access_shared(thread, access, doing, instruction);
    if (is_in_cluster(address)) [[unlikely]]
        return access_remote(thread, access, doing, instruction);
    return access_global(thread, access, doing, instruction);
}

[[gnu::always_inline]] inline cudaError_t BlockDiagnoser::State::access_shared(unsigned thread, const Access& access,
                                                                               Doing& doing, Instruction& instruction) {
    const std::size_t offset = doing.address - arena;
    const SharedRange* range = instruction.shared;
    if (range == nullptr || !range->holds(offset, access.bytes)) {
        range = launch.shared_range(offset, access.bytes);
        if (range == nullptr) {
            report_shared_stray(thread, access, instruction);
            return cudaSuccess;
        }
        instruction.shared = range;
    }
    if (!looks_for_races()) {
        launch.range_of(access.code) = {range->begin, range->end, nullptr};
        look_at_bits_of_shared(access, doing);
        return cudaSuccess;
    }
    if (!shared->exists()) return cudaSuccess;
    if (doing.relaxed) doing.mark |= kRelaxed;
    touch(access, doing, shared_space());
    if (doing.relaxed || is_volatile(access.kind)) {
        order.synchronize(thread, doing.address, cluster == nullptr,
                          {reads(access.kind), writes(access.kind), access.order, access.scope});
    }
    return cudaSuccess;
}

[[gnu::always_inline]] inline cudaError_t BlockDiagnoser::State::access_global(unsigned thread, const Access& access,
                                                                               Doing& doing, Instruction& instruction) {
    Region* region = instruction.region;
    if (region == nullptr || !region->holds(doing.address, access.bytes)) {
        region = launch.map.find(doing.address, access.bytes);
        if (region == nullptr) {
            for (Region& other : launch.harmless) {
                if (other.holds(doing.address, access.bytes)) region = &other;
            }
        }
        if (region == nullptr) {
            return report_stray(thread, access, instruction) ? cudaSuccess : cudaErrorIllegalAddress;
        }
        instruction.region = region;
    }
    if (writes(access.kind) && region->is_read_only()) [[unlikely]] {
        report_write_to_constant(thread, access);
        return cudaSuccess;
    }
    if (region->shadow == nullptr) {
        if (region->allocation.address == nullptr) return cudaSuccess;  // harmless
        region->shadow = &shadow_of(region->allocation.address, region->allocation.bytes);
        if (region->allocation.is_of_pool) look_at_order(thread, access, *region);
        if (region->allocation.kind == MemoryKind::managed && note_managed_launch != nullptr) {
            const Launch& running = launch.launch;
            note_managed_launch(running.site.kernel, running.site.site, launch.order.first(), running.stream);
        }
    }
    if (!region->shadow->cells.exists()) return cudaSuccess;
    if (!looks_for_races()) {
        launch.range_of(access.code) = {region->begin, region->end, region->shadow};
        look_at_bits_of_global(access, doing, *region->shadow);
        return cudaSuccess;
    }
    if (launch.ahead.end != 0 && !has_waited_for_launch_ahead(thread)) [[unlikely]] {
        look_for_launch_ahead(thread, access, doing, *region->shadow);
    }
    doing.relaxed |= is_volatile(access.kind);
    launch.has_volatile |= is_volatile(access.kind);
    if (doing.relaxed) doing.mark |= kRelaxed;
    const bool synchronizes = doing.relaxed && (order.may_synchronize() || releases(access.order));
    if (!synchronizes && access.bytes <= sizeof(Deferred::seen)) {
        defer(access, doing, *region->shadow);
        return cudaSuccess;
    }
    launch.look_at_deferred();
    touch(access, doing, global_space(*region->shadow));
    if (synchronizes) {
        order.synchronize(thread, doing.address, false,
                          {reads(access.kind), writes(access.kind), access.order, access.scope});
    }
    return cudaSuccess;
}

// ---- interface -----------------------------------------------------------------------------------------------

namespace {

/// The launch that ended last.
struct LastLaunch {
    std::mutex mutex;
    LaunchDiagnoser::State::LaunchAhead launch;
};

LastLaunch& last_launch() {
    static auto* last = new LastLaunch;
    return *last;
}

}  // namespace

void nothing_overlaps() {
    LastLaunch& last = last_launch();
    std::lock_guard lock(last.mutex);
    last.launch.end = 0;
}

LaunchDiagnoser::LaunchDiagnoser(Launch& launch) : state_(std::make_unique<State>(launch)) {
    if (launch.programmatic) {
        std::lock_guard lock(last_launch().mutex);
        if (last_launch().launch.stream == launch.stream) state_->ahead = last_launch().launch;
    }
    keep_shadows([this](std::uintptr_t begin, std::size_t bytes) {
        if (state_->map.has(begin, bytes)) return true;
        // What this device has no access to lives all the same.
        const auto other = find_allocation(reinterpret_cast<const void*>(begin));
        return other && number_of(other->address) == begin && other->bytes == bytes;
    });
}

std::uint64_t LaunchDiagnoser::accesses() const { return state_->accesses; }

std::unique_ptr<WrittenShared> LaunchDiagnoser::State::take_written_shared() {
    if (spare_written_shared.empty()) return std::make_unique<WrittenShared>();
    std::unique_ptr<WrittenShared> bits = std::move(spare_written_shared.back());
    spare_written_shared.pop_back();
    bits->clear();
    return bits;
}

LaunchDiagnoser::~LaunchDiagnoser() {
    state_->report_unwritten_reads();
    {
        const Launch& launch = state_->launch;
        std::lock_guard lock(last_launch().mutex);
        last_launch().launch = {launch.stream, state_->order.first(), state_->order.end(), launch.site.site,
                                launch.site.kernel};
    }
    // Not one access: the kernel is in code that cannot be instrumented.
    if (state_->instructions.empty()) note_unseen_launch();
}

void LaunchDiagnoser::grid_barrier() {
    state_->settle();
    state_->order.grid_barrier();
}

ClusterDiagnoser::ClusterDiagnoser(const std::byte* arenas, std::size_t arena_bytes,
                                   const std::vector<std::uint64_t>& blocks)
    : state_(std::make_unique<State>()) {
    state_->arenas = number_of(arenas);
    state_->arena_bytes = arena_bytes;
    state_->count = static_cast<unsigned>(blocks.size());
    state_->order = std::make_shared<ClusterOrder>(blocks);
}

ClusterDiagnoser::~ClusterDiagnoser() = default;

void ClusterDiagnoser::complete_phase(const std::vector<std::vector<bool>>& still_run) {
    state_->order->complete_phase(still_run);
}

BlockDiagnoser::BlockDiagnoser(LaunchDiagnoser& launch, std::uint64_t block, uint3 block_index, const std::byte* arena,
                               std::size_t arena_bytes, bool for_races, ClusterDiagnoser* cluster, unsigned rank)
    : state_(std::make_unique<State>(launch.state(), block, block_index, arena, arena_bytes, for_races)) {
    if (cluster == nullptr) return;
    state_->cluster = &cluster->state();
    state_->rank = rank;
    state_->order.join(state_->cluster->order, rank);
    state_->cluster->blocks[rank] = state_.get();
    if (rank == 0) state_->cluster->floor = state_->order.born();
}

void BlockDiagnoser::arrive_at_cluster(unsigned thread) {
    state_->launch.settle();
    state_->order.arrive_at_cluster(thread);
}

void BlockDiagnoser::wait_for_cluster(unsigned thread, std::uint32_t phase) {
    state_->launch.settle();
    state_->order.wait_for_cluster(thread, phase);
}

BlockDiagnoser::~BlockDiagnoser() {
    state_->launch.settle();
    if (state_->cluster != nullptr) state_->end_in_cluster();
    // Nobody will write there any more.
    for (auto& reads : state_->launch.unwritten_reads) {
        for (auto& [address, example] : reads.examples) {
            if (address - state_->arena < state_->arena_bytes) address = 0;
        }
    }
    if (state_->shared != nullptr) {
        give_back_shared_shadow(std::move(state_->shared));
    } else {
        state_->launch.spare_written_shared.push_back(std::move(state_->written_shared));
    }
}

cudaError_t BlockDiagnoser::access(unsigned thread, const Access& access) { return state_->access(thread, access); }

bool BlockDiagnoser::awaits_a_write() const { return state_->launch.last_access_writes; }

void BlockDiagnoser::pause() {
    if (state_->looks_for_races()) state_->launch.settle();
}

void BlockDiagnoser::barrier(Site site) {
    if (!state_->looks_for_races()) return;
    state_->launch.settle();
    // Whoever has passed the barrier knows what one of the threads has waited for.
    if (std::vector<bool>& waited = state_->waited_for_ahead; !waited.empty()) waited.assign(1024, true);
    state_->order.barrier();
    state_->last_barrier = site;
}

void BlockDiagnoser::meeting(unsigned warp, std::uint32_t lanes, Collective operation, Site site) {
    if (!state_->looks_for_races()) return;
    state_->launch.settle();
    if (operation == Collective::syncwarp) {
        state_->order.meeting(warp, lanes);
        if (!state_->waited_for_ahead.empty()) {
            std::uint32_t waited = 0;
            for (unsigned lane = 0; lane < 32; ++lane) {
                if (state_->has_waited_for_launch_ahead(warp * 32 + lane)) waited |= 1u << lane;
            }
            for (unsigned lane = 0; lane < 32 && (waited & lanes) != 0; ++lane) {
                if ((lanes >> lane & 1) != 0) state_->waited_for_ahead[warp * 32 + lane] = true;
            }
        }
        state_->note_syncwarp(warp, lanes, site);
    } else {
        state_->note_exchange(warp, lanes, operation);
    }
}

void BlockDiagnoser::fence(unsigned thread, ThreadScope scope, MemoryOrder order) {
    if (!state_->looks_for_races()) return;
    state_->launch.settle();
    state_->order.fence(thread, scope, order);
}

// ---- asynchronous copies, and the barriers that tell of them -----------------------------------------------------

void BlockDiagnoser::State::look_for_late_copy(unsigned thread, const Access& access) {
    const std::uintptr_t offset = number_of(access.address) - arena;
    if (writes(access.kind) && offset < stored_from.size()) {
        const std::size_t end = std::min(stored_from.size(), offset + access.bytes);
        for (std::size_t place = offset; place < end; ++place) {
            if (stored_from[place] == 0) continue;
            launch.settle();
            return report_write_under_store(thread, access, bulk_stores[stored_from[place] - 1]);
        }
    }
    if (offset >= late_at.size()) return;
    const std::size_t end = std::min(late_at.size(), offset + access.bytes);
    for (std::size_t place = offset; place < end; ++place) {
        if (late_at[place] == 0) continue;
        launch.settle();
        return report_early_access(thread, access, late_copies[late_at[place] - 1]);
    }
}

std::uint32_t BlockDiagnoser::begin_copy(unsigned thread, const std::byte* to, std::uint32_t bytes, const void* code) {
    State& state = *state_;
    state.launch.settle();
    std::uint32_t index = static_cast<std::uint32_t>(state.late_copies.size());
    if (state.free_late_copies.empty()) {
        state.late_copies.push_back({});
    } else {
        index = state.free_late_copies.back();
        state.free_late_copies.pop_back();
    }
    state.late_copies[index] = {thread, bytes, code};
    const std::size_t offset = number_of(to) - state.arena;
    if (state.late_at.size() < offset + bytes) state.late_at.resize(offset + bytes);
    std::fill_n(state.late_at.begin() + static_cast<std::ptrdiff_t>(offset), bytes, index + 1);
    ++state.late_count;
    return index;
}

void BlockDiagnoser::land_copy(unsigned waiter, std::uint32_t number, const std::byte* to) {
    State& state = *state_;
    state.launch.settle();
    const State::LateCopy copy = state.late_copies[number];
    const auto first = state.late_at.begin() + static_cast<std::ptrdiff_t>(number_of(to) - state.arena);
    // Another copy that goes to the same place stays.
    std::replace(first, first + copy.bytes, number + 1, std::uint32_t{0});
    state.free_late_copies.push_back(number);
    --state.late_count;
    Access access;
    access.address = to;
    access.bytes = copy.bytes;
    access.kind = AccessKind::write;
    access.is_block_copy = access.lands = true;
    access.code = copy.code;
    (void)state.access(waiter, access);
}

std::uint32_t BlockDiagnoser::begin_bulk_copy(unsigned thread, uint3 block, const std::byte* to, std::uint32_t bytes,
                                              const void* code) {
    const std::uint32_t number = begin_copy(thread, to, bytes, code);
    State& state = *state_;
    state.late_copies[number].block = block;
    state.late_copies[number].in_bulk = true;
    if (!state.looks_for_races() || !state.shared->exists()) return number;
    const Space space = state.shared_space();
    const Doing doing{state.order.now(thread), 0, false, number_of(to), bytes, to};
    for (std::uintptr_t word = doing.address & ~std::uintptr_t{3}; word < doing.address + bytes; word += 4) {
        state.for_each_cell(space, doing, word,
                            [&](Cell& cell, std::uintptr_t, std::size_t) { cell.set_only_write(space.born, 0); });
    }
    return number;
}

const void* BlockDiagnoser::code_of_copy(std::uint32_t number) const { return state_->late_copies[number].code; }

void BlockDiagnoser::note_async_write(const std::byte* to, std::uint32_t bytes) {
    State& state = *state_;
    if (!state.looks_for_races() || !state.shared->exists()) return;
    const std::size_t first = (number_of(to) - state.arena) / 4, end = (number_of(to) - state.arena + bytes + 3) / 4;
    if (state.async_writes.size() < end) state.async_writes.resize(end);
    const Space space = state.shared_space();
    for (std::size_t word = first; word < end; ++word) {
        state.async_writes[word] = space.word(state.arena + 4 * word).write;
    }
}

std::uint32_t BlockDiagnoser::begin_bulk_store(unsigned thread, const std::vector<BulkPiece>& pieces,
                                               const void* code) {
    State& state = *state_;
    state.launch.settle();
    std::uint32_t index = static_cast<std::uint32_t>(state.bulk_stores.size());
    if (state.free_bulk_stores.empty()) {
        state.bulk_stores.push_back({});
    } else {
        index = state.free_bulk_stores.back();
        state.free_bulk_stores.pop_back();
    }
    state.bulk_stores[index] = {thread, code};
    for (const BulkPiece& piece : pieces) {
        if (state.looks_for_races() && state.shared->exists()) state.look_for_unfenced_writes(thread, piece, code);
        const std::size_t offset = number_of(piece.shared) - state.arena;
        if (state.stored_from.size() < offset + piece.bytes) state.stored_from.resize(offset + piece.bytes);
        std::fill_n(state.stored_from.begin() + static_cast<std::ptrdiff_t>(offset), piece.bytes, index + 1);
    }
    ++state.store_count;
    return index;
}

void BlockDiagnoser::end_bulk_store(std::uint32_t number, const std::vector<BulkPiece>& pieces) {
    State& state = *state_;
    for (const BulkPiece& piece : pieces) {
        const std::size_t offset = number_of(piece.shared) - state.arena;
        const auto first = state.stored_from.begin() + static_cast<std::ptrdiff_t>(offset);
        std::replace(first, first + piece.bytes, number + 1, std::uint32_t{0});
    }
    state.free_bulk_stores.push_back(number);
    --state.store_count;
}

void BlockDiagnoser::fence_async_proxy(unsigned thread) {
    State& state = *state_;
    if (!state.looks_for_races()) return;
    state.launch.settle();
    auto& fenced = state.fenced;
    state.order.tick();  // what comes after the fence is not covered by it
    const std::uint32_t block = block_of(state.order.now(0));
    if (fenced.block != block) fenced = {block, 0, std::vector<std::uint32_t>(1024)};
    state.order.know(thread, fenced.all, fenced.times);
}

/// Whether all that threads have written there was made visible to stores in bulk, which read it by another way.
void BlockDiagnoser::State::look_for_unfenced_writes(unsigned thread, const BulkPiece& piece, const void* code) {
    const Space space = shared_space();
    const std::uint32_t block = block_of(order.now(0));
    const std::byte* const from = piece.shared;
    const Doing doing{order.now(thread), 0, false, number_of(from), piece.bytes, from};
    for (std::uintptr_t word = doing.address & ~std::uintptr_t{3}; word < doing.address + piece.bytes; word += 4) {
        const std::size_t index = (word - arena) / 4;
        for_each_cell(space, doing, word, [&](Cell& cell, std::uintptr_t, std::size_t) {
            if (cell.write <= space.born || block_of(cell.write) != block || time_of(cell.write) == 0) return;
            if (index < async_writes.size() && async_writes[index] == cell.write) return;
            const std::uint32_t time = time_of(cell.write);
            const bool knows = fenced.block == block;
            if (knows && (time < fenced.all || time < fenced.times[thread_of(cell.write)])) return;
            report_unfenced_write(thread, piece, code, cell);
        });
    }
}

void BlockDiagnoser::arrive(unsigned thread, const void* barrier, ThreadClock& arrived) {
    if (!state_->looks_for_races()) return;
    state_->launch.settle();
    BlockOrder& order = state_->order;
    // What the thread has learned by fences and atomics goes on by the barrier, too.
    if (order.has_history()) {
        order.synchronize(thread, number_of(barrier), true, {true, true, MemoryOrder::release, ThreadScope::block});
    }
    order.arrive(thread, arrived);
}

void BlockDiagnoser::wait(unsigned thread, const void* barrier, const ThreadClock& completed) {
    if (!state_->looks_for_races()) return;
    state_->launch.settle();
    BlockOrder& order = state_->order;
    if (order.has_history()) {
        order.synchronize(thread, number_of(barrier), true, {true, false, MemoryOrder::acquire, ThreadScope::block});
    }
    order.learn(thread, completed);
}

// ---- launches that overlap -----------------------------------------------------------------------------------------

void BlockDiagnoser::wait_for_launch_ahead(unsigned thread) {
    if (state_->waited_for_ahead.empty()) state_->waited_for_ahead.resize(1024);
    state_->waited_for_ahead[thread] = true;
}

/// Whether the launch ahead, which may still run, has used the same memory, and one of the two writes it.
void BlockDiagnoser::State::look_for_launch_ahead(unsigned thread, const Access& access, const Doing& doing,
                                                  AllocationShadow& shadow) {
    const bool changes = writes(access.kind);
    const auto conflicts = [&](const Cell& cell, bool& was_write) {
        const auto is_of_ahead = [&](Stamp stamp, unsigned slot) {
            const bool both_relaxed = is_atomic(access.kind) && (cell.mark(slot) & kRelaxed) != 0;
            return launch.ahead.did(stamp) && !both_relaxed;
        };
        was_write = is_of_ahead(cell.write, Cell::kWrite);
        return was_write ||
               (changes && (is_of_ahead(cell.read[0], Cell::kRead) || is_of_ahead(cell.read[1], Cell::kRead + 1)));
    };
    const Space space = global_space(shadow);
    for (std::uintptr_t word = doing.address & ~std::uintptr_t{3}; word < doing.address + doing.bytes; word += 4) {
        const Cell& cell = space.word(word);
        bool was_write = false;
        bool found = false;
        if (const Cell* bytes = ShadowMemory::bytes_of(cell, space.born)) {
            const std::uintptr_t first = std::max(word, doing.address);
            const std::uintptr_t end = std::min(word + 4, doing.address + doing.bytes);
            for (std::uintptr_t at = first; at < end && !found; ++at) found = conflicts(bytes[at - word], was_write);
        } else if (!cell.is_split()) {
            found = conflicts(cell, was_write);
        }
        if (found) return report_launch_ahead(thread, access, was_write);
    }
}

// ---- for advice ----------------------------------------------------------------------------------------------

void BlockDiagnoser::State::note_syncwarp(unsigned warp, std::uint32_t lanes, Site site) {
    if (last_syncwarp.size() <= warp) last_syncwarp.resize(warp + 1);
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        last_syncwarp[warp][static_cast<unsigned>(std::countr_zero(rest))] = {site, lanes};
    }
}

void BlockDiagnoser::State::note_exchange(unsigned warp, std::uint32_t lanes, Collective operation) {
    if (std::popcount(lanes) < 2) return;
    order.tick();
    if (exchanges.size() <= warp) exchanges.resize(warp + 1);
    const Exchange exchange = {time_of(order.now(0)), lanes, operation};
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        exchanges[warp][static_cast<unsigned>(std::countr_zero(rest))] = exchange;
    }
}

}  // namespace cpu_device
