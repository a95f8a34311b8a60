// What the checker keeps of a launch and of a block. checker.cpp looks at accesses, checker_reports.cpp tells what was
// wrong.
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
#include "checker.h"
#include "cpu_device/findings.h"
#include "happens_before.h"
#include "memory_map.h"
#include "shadow_memory.h"

namespace cpu_device {

inline std::uintptr_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

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
    std::uint64_t shape = 0;              ///< bytes and kind
    Mark number = 0;                      ///< as it stands in marks
    Region* region = nullptr;             ///< where it went last
    const SharedRange* shared = nullptr;  ///< where it went last in shared memory
};

struct InstructionForm {
    const void* code;
    std::uint32_t bytes;
    AccessKind kind;
};

/// The instructions of a launch by their numbers, and a cache of those that are busy.
class Instructions {
public:
    Instructions() { forms_.push_back({nullptr, 0, AccessKind::read}); }  // number 0: one too many to have a number

    Instruction& find(const Access& access) {
        const std::uint64_t shape = std::uint64_t{access.bytes} << 8 | static_cast<std::uint64_t>(access.kind);
        const std::uint64_t hash = (number_of(access.code) ^ shape << 40) * 0x9E3779B97F4A7C15u;
        Instruction& entry = cache_[hash >> (64 - kCacheBits)];
        if (entry.code != access.code || entry.shape != shape || entry.number == 0) enter(entry, access, shape, hash);
        return entry;
    }
    const InstructionForm& form(Mark mark) const { return forms_[mark / 2]; }
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
            forms_.push_back({access.code, access.bytes, access.kind});
        }
        entry.number = known->second;
    }

    std::array<Instruction, 1 << kCacheBits> cache_{};
    std::vector<InstructionForm> forms_;
    std::unordered_map<std::uint64_t, Mark>
        numbers_;  ///< by hash, which multiplication by an odd number keeps distinct
};

/// The shadow that belongs to an access.
struct Space {
    ShadowMemory* cells;
    std::uintptr_t first_word;  ///< the address that the first cell stands for
    Stamp born;                 ///< older writes are those of another block
    Stamp floor;                ///< older accesses come before everything
    AllocationShadow* global;   ///< null: shared memory

    Cell& word(std::uintptr_t address) const { return cells->word(address - first_word); }

    bool unwritten(const Cell& cell, std::uintptr_t address, std::size_t bytes) const {
        if (cell.write >= born) return false;
        return global == nullptr || !(global->all_written || global->by_host.any(address - global->begin, bytes));
    }
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
};

struct LaunchChecker::State {
    explicit State(Launch& the_launch) : launch(the_launch), map(the_launch) {}

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
    Instructions instructions;
    std::deque<SharedRange> shared_ranges;
    std::deque<Region> harmless;  ///< outside of the map, and yet no mistake

    /// Reads of memory that nobody had written. They are reported when the launch has ended: where another thread
    /// writes later and nothing orders the two, the race is the mistake.
    struct UnwrittenReads {
        const void* code;
        Finding first;                                             ///< of all
        std::vector<std::pair<std::uintptr_t, Finding>> examples;  ///< the first ones that still count, by address
        std::uint64_t count = 0;
    };
    std::vector<UnwrittenReads> unwritten_reads;
    using UnwrittenPlaces = std::unordered_map<std::uintptr_t, std::size_t>;  ///< index of the reads, by address
    UnwrittenPlaces unwritten_places;                                         ///< in global memory

    /// A write that nothing orders with an earlier access. It is a race only if it changes the value, which shows as
    /// soon as anything else happens.
    struct {
        BlockChecker::State* block = nullptr;  ///< null: there is none
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
    BlockChecker::State* deferred_by = nullptr;
};

struct BlockChecker::State {
    State(LaunchChecker::State& the_launch, std::uint64_t index, uint3 index_in_grid, const std::byte* memory,
          std::size_t memory_bytes)
        : launch(the_launch),
          order(launch.order, index),
          block_index(index_in_grid),
          arena(number_of(memory)),
          arena_bytes(memory_bytes),
          shared(take_shared_shadow(memory_bytes)) {}

    cudaError_t access(unsigned thread, const Access& access);
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
    bool touch_words(AccessKind kind, const Doing& doing, const Space& space);
    void touch(const Access& access, const Doing& doing, const Space& space);
    bool touch_all(const Access& access, const Doing& doing, const Space& space);
    void await_write(const Access& access, const Doing& doing, const Space& space);
    void resolve_pending();
    bool may_be_source_of_pending(unsigned thread, const Access& access) const;
    void judge_write(const Access& access, const Doing& doing, const Space& space, const std::byte* after);
    void forget_unwritten(std::uintptr_t address, const Conflict& conflict, const Space& space);

    Finding finding(FindingKind kind, unsigned thread, const Access& access) const;
    void describe(Finding& finding, const Access& access) const;
    void report_misaligned(unsigned thread, const Access& access);
    void report_shared_stray(unsigned thread, const Access& access, Instruction& instruction);
    /// False: a write into memory that is neither the kernel's nor what somebody meant. It must not be carried out: it
    /// might hit what the CPU device itself needs.
    bool report_stray(unsigned thread, const Access& access, Instruction& instruction);
    std::uintptr_t count_as_written(const Doing& doing, const Space& space);
    /// `place`: the first byte that nobody has written.
    void note_unwritten(const Access& access, const Doing& doing, const Space& space, std::uintptr_t place);
    void report_race(const Access& access, const Doing& doing, const Space& space, const Conflict& conflict,
                     const std::byte* before, const std::byte* after);
    const char* hint_for_race(const InstructionForm& mine, Stamp me, const InstructionForm& other, Stamp other_stamp,
                              bool is_shared) const;

    LaunchChecker::State& launch;
    BlockOrder order;
    uint3 block_index;
    std::uintptr_t arena;
    std::size_t arena_bytes;
    std::unique_ptr<ShadowMemory> shared;
    LaunchChecker::State::UnwrittenPlaces unwritten_places;  ///< in shared memory
    bool uses_flags = false;                                 ///< an atomic or volatile access to global memory was seen
};

}  // namespace cpu_device
