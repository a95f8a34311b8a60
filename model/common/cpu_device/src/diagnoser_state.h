// What the diagnoser keeps of a launch and of a block. diagnoser.cpp looks at accesses, diagnoser_texts.cpp tells
// what was wrong.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "access_text.h"
#include "block.h"
#include "cpu_device/diagnostics.h"
#include "diagnoser.h"
#include "happens_before.h"
#include "memory_map.h"
#include "shadow_memory.h"

namespace cpu_device {

/// A `__shared__` variable's place in the arena, or that of the dynamic part.
struct SharedRange {
    std::size_t begin;
    std::size_t end;
    const SharedVariable* variable;  ///< null: dynamic shared memory

    bool holds(std::size_t offset, std::size_t bytes) const {
        return offset >= begin && offset < end && bytes <= end - offset;
    }
};

/// One load or store of the program, in the form that it was met.
struct Instruction {
    const void* code = nullptr;
    std::uint64_t shape = 0;              ///< bytes, kind, scope and order
    Mark number = 0;                      ///< as it stands in marks
    Region* region = nullptr;             ///< where it went last
    const SharedRange* shared = nullptr;  ///< where it went last in shared memory
};

struct InstructionForm {
    const void* code;
    std::uint32_t bytes;
    AccessKind kind;
    ThreadScope scope;
    MemoryOrder order;
};

/// The instructions of a launch by their numbers, and a cache of those that are busy.
class Instructions {
public:
    Instructions() { forms_.push_back({}); }  // number 0: one too many to have a number

    Instruction& find(const Access& access) {
        const auto kind = static_cast<std::uint64_t>(access.kind) | static_cast<std::uint64_t>(access.scope) << 4 |
                          static_cast<std::uint64_t>(access.order) << 6;
        const std::uint64_t shape = std::uint64_t{access.bytes} << 8 | kind;
        const std::uint64_t hash = (number_of(access.code) ^ shape << 40) * 0x9E3779B97F4A7C15u;
        Instruction& entry = cache_[hash >> (64 - kCacheBits)];
        if (entry.code != access.code || entry.shape != shape || entry.number == 0) enter(entry, access, shape, hash);
        return entry;
    }
    const InstructionForm& form(Mark mark) const {
        return forms_[mark / 2 < forms_.size() ? mark / 2 : 0];  // it may be a mark of another launch
    }
    bool empty() const { return forms_.size() == 1; }

    /// Regions have moved.
    void forget_regions() {
        for (Instruction& entry : cache_) entry.region = nullptr;
    }

private:
    static constexpr unsigned kCacheBits = 10;
    static constexpr std::size_t kMost = std::size_t{1} << (kMarkBits - 1);

    void enter(Instruction& entry, const Access& access, std::uint64_t shape, std::uint64_t hash) {
        entry = Instruction{};
        entry.code = access.code;
        entry.shape = shape;
        const auto [known, is_new] = numbers_.try_emplace(hash, 0);
        if (is_new && forms_.size() < kMost) {
            known->second = static_cast<Mark>(forms_.size() * 2);
            forms_.push_back({access.code, access.bytes, access.kind, access.scope, access.order});
        }
        entry.number = known->second;
    }

    std::array<Instruction, 1 << kCacheBits> cache_{};
    std::vector<InstructionForm> forms_;
    std::unordered_map<std::uint64_t, Mark>
        numbers_;  ///< by hash, which multiplication by an odd number keeps distinct
};

/// What goes on: who does what.
struct Doing {
    Stamp me;
    Mark mark;
    bool relaxed;
    std::uintptr_t address;
    std::size_t bytes;
    const std::byte* seen;  ///< what the memory held before it
};

/// The shadow that belongs to an access.
struct Space {
    ShadowMemory* cells;
    std::uintptr_t first_word;  ///< the address that the first cell stands for
    Stamp born;                 ///< older writes are those of another block
    Stamp floor;                ///< older accesses come before everything
    AllocationShadow* global;   ///< null: shared memory

    Cell& word(std::uintptr_t address) const { return cells->word(address - first_word); }

    /// Which of the bytes, for which the cell stands and which are a part of the access, somebody has written: one bit
    /// for each.
    std::uint32_t written(const Cell& cell, std::uintptr_t address, std::size_t bytes, const Doing& doing) const {
        const std::uint32_t all = (1u << bytes) - 1;
        if (cell.write >= born || (global != nullptr && global->all_written)) return all;
        if (global == nullptr) return 0;
        const std::uint32_t bits = global->written.get(address - global->begin, bytes);
        if (bits == all || !global->host_writes_unseen) return bits;
        return global->holds_poison(doing.seen + (address - doing.address), address, bytes) ? bits : all;
    }
    bool unwritten(const Cell& cell, std::uintptr_t address, std::size_t bytes, const Doing& doing) const {
        return written(cell, address, bytes, doing) != (1u << bytes) - 1;
    }
};

/// An access to global memory whose shadow is being fetched into the cache. Others go on meanwhile.
struct Deferred {
    Access access;
    Stamp me;
    AllocationShadow* shadow;
    Mark mark;
    alignas(16) std::array<std::byte, 16> seen;
};

/// An earlier access that nothing orders with the present one.
struct Conflict {
    bool found = false;
    bool known = false;  ///< a race on the same memory was found before
    Stamp other = 0;
    Mark mark = 0;
    bool value_is_of_other = false;  ///< the memory still holds what the other one saw or wrote
    std::uintptr_t address = 0;
    bool is_update = false;  ///< both threads read the element with one instruction, and one has written it since
};

/// An atomic (or volatile) read that found what an atomic (or volatile) write of another thread had left.
struct Handover {
    Stamp reader = 0;
    std::uintptr_t address = 0;
    Mark mark = 0;  ///< of the read
};

struct LaunchDiagnoser::State {
    explicit State(Launch& the_launch) : launch(the_launch), map(the_launch) {}

    std::unique_ptr<WrittenShared> take_written_shared();

    const SharedRange* shared_range(std::size_t offset, std::size_t bytes);
    uint3 block_index(std::uint64_t linear) const;
    uint3 thread_index(unsigned linear) const;
    void settle();
    void report_unwritten_reads();
    void look_at_first_deferred();
    /// Whatever changes the order of accesses, or could change memory unseen, has to wait for those that were put off.
    void look_at_deferred() {
        while (deferred_first != deferred_end) look_at_first_deferred();
    }

    Launch& launch;
    MemoryMap map;
    LaunchOrder order;
    /// The launch ahead in the stream, where this one may begin before that one has ended.
    struct LaunchAhead {
        cudaStream_t stream = nullptr;
        Stamp first = 0;
        Stamp end = 0;  ///< 0: there is none
        Site site{};
        std::string kernel{};

        bool did(Stamp stamp) const { return stamp >= first && stamp < end; }
    };
    LaunchAhead ahead;
    Instructions instructions;
    std::deque<SharedRange> shared_ranges;
    std::deque<Region> harmless;     ///< outside of the map, and yet no error
    bool has_volatile = false;       ///< a volatile access to global memory was seen
    bool has_narrow_scopes = false;  ///< an atomic of less than device scope was seen

    /// For advice: which block wrote last, by an atomic or volatile operation, at which address. Of the first such
    /// operations of a launch.
    struct FlagWriter {
        std::uintptr_t address;
        std::uint32_t block;
        bool operator==(const FlagWriter&) const = default;
    };
    struct HashOfFlagWriter {
        std::size_t operator()(const FlagWriter& of) const { return of.address * 0x9E3779B97F4A7C15u + of.block; }
    };
    std::unordered_map<FlagWriter, Stamp, HashOfFlagWriter> flag_writes;
    unsigned flag_writes_left = 20'000;

    /// Reads of memory that nobody had written. They are reported when the launch has ended: where another thread
    /// writes later and nothing orders the two, the race is the error.
    struct UnwrittenReads {
        const void* code;
        Diagnostic first;                                             ///< of all
        std::vector<std::pair<std::uintptr_t, Diagnostic>> examples;  ///< the first ones that still count, by address
        std::uint64_t count = 0;
    };
    std::vector<UnwrittenReads> unwritten_reads;
    using UnwrittenPlaces = std::unordered_map<std::uintptr_t, std::size_t>;  ///< index of the reads, by address
    UnwrittenPlaces unwritten_places;                                         ///< in global memory

    std::uint64_t accesses = 0;  ///< of all blocks so far

    /// Where instructions of blocks that are not instrumented for races went last. Who shares an entry only loses time.
    struct Range {
        std::uintptr_t begin = 0;  ///< in shared memory the offset in the arena
        std::uintptr_t end = 0;
        AllocationShadow* shadow = nullptr;  ///< null: shared memory
    };
    static constexpr std::size_t kRanges = 64;
    std::array<Range, kRanges> ranges;
    Range& range_of(const void* code) { return ranges[number_of(code) / 2 % kRanges]; }
    std::vector<std::unique_ptr<WrittenShared>> spare_written_shared;

    /// A write that nothing orders with an earlier access. It is a race only if it changes the value, which shows as
    /// soon as anything else happens.
    struct {
        BlockDiagnoser::State* block = nullptr;  ///< null: there is none
        unsigned thread = 0;
        bool source_seen = false;  ///< it may be a structure that is copied: the read has been announced, too
        Access access;
        Doing doing{};
        Space space{};
        std::vector<std::byte> before;
    } pending;

    /// A ring of accesses of the block that runs, from `deferred_first` to before `deferred_end`.
    static constexpr unsigned kDeferred = 16;
    std::array<Deferred, kDeferred> deferred;
    unsigned deferred_first = 0;
    unsigned deferred_end = 0;
    bool last_access_writes = false;  ///< of those announced
    BlockDiagnoser::State* deferred_by = nullptr;
};

struct ClusterDiagnoser::State {
    std::uintptr_t arenas;
    std::size_t arena_bytes;
    std::shared_ptr<ClusterOrder> order;
    std::array<BlockDiagnoser::State*, kMostBlocksOfCluster> blocks{};  ///< by rank; null: has ended
    unsigned count;
    Stamp floor = 0;  ///< of the shared memory: older accesses were those of other blocks

    /// The last access of a thread to the shared memory of another block.
    struct RemoteUse {
        Stamp stamp;
        Access access;
    };
    /// By the rank of the block whose memory it was, then by rank and number of the thread.
    std::array<std::unordered_map<std::uint32_t, RemoteUse>, kMostBlocksOfCluster> uses;
};

struct BlockDiagnoser::State {
    State(LaunchDiagnoser::State& the_launch, std::uint64_t index, uint3 index_in_grid, const std::byte* memory,
          std::size_t memory_bytes, bool for_races)
        : launch(the_launch),
          order(launch.order, index),
          block_index(index_in_grid),
          arena(number_of(memory)),
          arena_bytes(memory_bytes),
          shared(for_races ? take_shared_shadow(memory_bytes) : nullptr),
          written_shared(for_races ? nullptr : the_launch.take_written_shared()) {}

    cudaError_t access(unsigned thread, const Access& access);
    cudaError_t access_shared(unsigned thread, const Access& access, Doing& doing, Instruction& instruction);
    cudaError_t access_global(unsigned thread, const Access& access, Doing& doing, Instruction& instruction);
    cudaError_t access_remote(unsigned thread, const Access& access, Doing& doing, Instruction& instruction);
    bool is_in_cluster(std::uintptr_t address) const {
        return cluster != nullptr && address - cluster->arenas < cluster->count * arena_bytes;
    }
    void end_in_cluster();
    bool leans_on_lockstep(const Cell& cell, unsigned slot, const Doing& doing) const;
    bool is_free_of_order(const Cell& cell, unsigned slot, const Doing& doing) const;
    bool is_flag(const Cell& cell, unsigned slot, const Doing& doing, const Space& space) const;
    void note_handover(const Cell& cell, const Doing& doing, const Space& space, bool looks);
    Conflict conflict_of_read(const Cell& cell, const Doing& doing, const Space& space) const;
    Conflict conflict_of_write(const Cell& cell, const Doing& doing, const Space& space) const;
    void remember_read(Cell& cell, Stamp stamp, Mark mark, Stamp floor) const;
    void write(Cell& cell, const Doing& doing, const Space& space) const;
    template <class Visit>
    void for_each_cell(const Space& space, const Doing& doing, std::uintptr_t word, Visit visit);
    void defer(const Access& access, const Doing& doing, AllocationShadow& shadow);
    void look_at(const Deferred& access);
    const std::byte* value_after(const Deferred& access, std::array<std::byte, 16>& value) const;
    Space global_space(AllocationShadow& shadow) const {
        return {&shadow.cells, shadow.first_word, 1, launch.order.floor(), &shadow};
    }
    Space shared_space() const;
    LaunchDiagnoser::State::UnwrittenPlaces& unwritten_places_of(bool is_shared) {
        return is_shared && cluster == nullptr ? unwritten_places : launch.unwritten_places;
    }
    bool touch_words(AccessKind kind, const Doing& doing, const Space& space);
    void touch(const Access& access, const Doing& doing, const Space& space);
    bool touch_all(const Access& access, const Doing& doing, const Space& space);
    void await_write(const Access& access, const Doing& doing, const Space& space);
    void resolve_pending();
    bool may_be_source_of_pending(unsigned thread, const Access& access) const;
    void judge_write(const Access& access, const Doing& doing, const Space& space, const std::byte* after);
    void forget_unwritten(std::uintptr_t address, const Conflict& conflict, const Space& space);

    Diagnostic diagnostic(DiagnosticKind kind, unsigned thread, const Access& access) const;
    void describe(Diagnostic& diagnostic, const Access& access) const;
    /// The launch uses memory of a pool for the first time.
    void look_at_order(unsigned thread, const Access& access, const Region& region);
    void report_ended_block(Stamp stamp, const Access& access, unsigned target);
    void report_block_not_started(unsigned thread, const Access& access);
    void report_misaligned(unsigned thread, const Access& access);
    void report_write_to_constant(unsigned thread, const Access& access);
    void report_shared_stray(unsigned thread, const Access& access, Instruction& instruction);
    /// False: a write into memory that is neither the kernel's nor what somebody meant. It must not be carried out: it
    /// might hit what the CPU device itself needs.
    bool report_stray(unsigned thread, const Access& access, Instruction& instruction);
    std::uintptr_t count_as_written(const Doing& doing, const Space& space);
    bool is_surely_right(const Access& access);
    void look_at_bits_of_shared(const Access& access, const Doing& doing);
    void look_at_bits_of_global(const Access& access, const Doing& doing, AllocationShadow& shadow);
    /// `place`: the first byte that nobody has written; `written`: how many of the bytes somebody has written.
    void note_unwritten(const Access& access, const Doing& doing, bool is_shared, std::uintptr_t place,
                        std::size_t written);
    void report_race(const Access& access, const Doing& doing, const Space& space, const Conflict& conflict,
                     const std::byte* before, const std::byte* after);
    std::string hint_for_race(const Doing& doing, const Conflict& conflict, bool is_shared, bool lands,
                              RaceHints& by_line);
    std::string hint_for_handover(Stamp me, Stamp event, bool same_block);
    const char* exchange_between(Stamp me, Stamp event) const;
    void note_syncwarp(unsigned warp, std::uint32_t lanes, Site site);
    void note_exchange(unsigned warp, std::uint32_t lanes, Collective operation);

    bool looks_for_races() const { return written_shared == nullptr; }
    void look_for_late_copy(unsigned thread, const Access& access);
    bool has_waited_for_launch_ahead(unsigned thread) const {
        return thread < waited_for_ahead.size() && waited_for_ahead[thread];
    }
    void look_for_launch_ahead(unsigned thread, const Access& access, const Doing& doing, AllocationShadow& shadow);
    void report_launch_ahead(unsigned thread, const Access& access, bool was_write);
    struct LateCopy;
    void report_early_access(unsigned thread, const Access& access, const LateCopy& copy);
    struct BulkStore;
    void report_write_under_store(unsigned thread, const Access& access, const BulkStore& store);
    void look_for_unfenced_writes(unsigned thread, const BulkPiece& piece, const void* code);
    void report_unfenced_write(unsigned thread, const BulkPiece& piece, const void* code, const Cell& cell);

    LaunchDiagnoser::State& launch;
    BlockOrder order;
    uint3 block_index;
    std::uintptr_t arena;
    std::size_t arena_bytes;
    ClusterDiagnoser::State* cluster = nullptr;
    unsigned rank = 0;  ///< in the cluster
    std::unique_ptr<ShadowMemory> shared;
    /// Of a block that is not instrumented for races: nothing is known of it but what was written.
    std::unique_ptr<WrittenShared> written_shared;
    LaunchDiagnoser::State::UnwrittenPlaces unwritten_places;  ///< in shared memory
    std::vector<bool> waited_for_ahead;                        ///< by thread: it knows that the launch ahead has ended
    Site last_barrier{};
    /// What the lanes of a warp met for last without being ordered by it.
    struct Exchange {
        std::uint32_t time = 0;
        std::uint32_t lanes = 0;
        Collective operation{};
    };
    std::vector<std::array<Exchange, 32>> exchanges;  ///< by warp and lane
    struct MetLanes {
        Site site{};
        std::uint32_t lanes = 0;
    };
    std::vector<std::array<MetLanes, 32>> last_syncwarp;  ///< by warp and lane
    std::array<Handover, 32> handovers{};                 ///< the last ones, a ring
    unsigned handover_count = 0;
    struct {
        std::uintptr_t address = 0;
        Stamp me = 0;
        Stamp other = 0;
        const void* code = nullptr;
        const void* other_code = nullptr;
        bool has_reason = false;  ///< the hint names one that was established
    } last_race;
    bool hint_has_reason = false;  ///< of the last hint

    /// Asynchronous copies that have not landed yet, and by byte of shared memory which of them goes there: 0 for none,
    /// else one more than its index.
    struct LateCopy {
        unsigned thread;
        std::uint32_t bytes;
        const void* code;
        uint3 block{};
        bool in_bulk = false;
    };
    std::vector<LateCopy> late_copies;
    std::vector<std::uint32_t> free_late_copies;  ///< indices that are used again
    std::vector<std::uint32_t> late_at;
    std::size_t late_count = 0;

    /// The same for stores in bulk, and by byte which of them reads there.
    struct BulkStore {
        unsigned thread;
        const void* code;
    };
    std::vector<BulkStore> bulk_stores;
    std::vector<std::uint32_t> free_bulk_stores;
    std::vector<std::uint32_t> stored_from;
    std::size_t store_count = 0;

    /// Which writes have been made visible to stores in bulk by a fence: those before `all`, and by thread.
    struct {
        std::uint32_t block = 0;  ///< as in stamps, for which the times hold
        std::uint32_t all = 0;
        std::vector<std::uint32_t> times;
    } fenced;
    std::vector<Stamp> async_writes;  ///< by word of shared memory: of the last copy in bulk that went there
};

}  // namespace cpu_device
