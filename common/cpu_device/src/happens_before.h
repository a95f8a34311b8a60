// Which accesses of a launch come before which others, whatever the order in which a GPU runs its threads.
//
// Order comes from block-wide barriers, from meetings of a warp's lanes, and from atomics that follow a fence: what a
// thread knew at its fence is published by its next atomics, and learned by whoever does an atomic on the same address
// afterwards (the causality order of the PTX ISA's memory consistency model). What has no order may happen at the same
// time.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "cpu_device/watched.h"
#include "shadow_memory.h"

namespace cpu_device {

/// For each lane of a warp the time before which all that it did is known.
using LaneTimes = std::array<std::uint32_t, 32>;

/// What a thread knows of its own block at one moment.
struct View {
    unsigned thread;
    std::uint32_t time;      ///< what the thread itself did before this time
    std::uint32_t barrier;   ///< what all threads did before this time
    const LaneTimes* lanes;  ///< what the lanes of its warp did; null: nothing beyond that

    bool covers(unsigned other, std::uint32_t when) const {
        if (other == thread) return when < time;
        return when < barrier || (lanes != nullptr && other / 32 == thread / 32 && when < (*lanes)[other % 32]);
    }
};

/// Fences by consecutive threads at consecutive times, with nothing between them.
struct Fences {
    std::uint32_t time;  ///< of the first
    std::uint32_t barrier;
    const LaneTimes* lanes;  ///< not null: a single fence
    std::uint16_t thread;    ///< of the first
    std::uint16_t count;
    FenceScope scope;
};

struct BlockHistory;

/// An atomic by a thread that has fenced, or that knows of a fence.
struct Publication {
    const BlockHistory* by;
    View view;
    std::int64_t previous;  ///< of the same block at the same location; -1: none
};

/// An address on which such atomics were done.
struct Location {
    std::vector<Publication> publications;                 ///< in the order of the atomics
    std::unordered_map<std::uint32_t, std::int64_t> last;  ///< by block
};

using Locations = std::unordered_map<std::uintptr_t, Location>;

/// A thread has learned the first `publications` of a location.
struct Acquisition {
    const Location* location;
    std::uint32_t publications;
    std::uint32_t time;
    unsigned thread;
};

/// What must be kept of a block while its launch runs, because others may learn of it.
struct BlockHistory {
    explicit BlockHistory(std::uint32_t block_) : block(block_) {}

    std::uint32_t block;  ///< as in stamps
    std::vector<Fences> fences;
    std::vector<Acquisition> acquired;
    std::deque<LaneTimes> lane_times;
    Locations shared;  ///< in the block's shared memory
};

class BlockOrder;

/// The order of one launch, beyond the borders of blocks.
class LaunchOrder {
public:
    /// All blocks wait for each other: everything so far comes before everything from now on.
    void grid_barrier();

    /// Linear index of the block that a stamp of this launch belongs to.
    std::uint64_t index_of(Stamp stamp) const { return index_[block_of(stamp) - first_]; }
    /// What is older than this stamp comes before everything from now on.
    Stamp floor() const { return floor_; }

private:
    friend class BlockOrder;

    std::uint32_t new_block(std::uint64_t index);
    bool tells(const Publication& publication, std::uint32_t to_block, unsigned thread, std::uint32_t time);
    bool learned(const BlockHistory& block, const View& view, Stamp event);
    bool search(const BlockHistory& block, const View& view, Stamp event);

    std::uint32_t first_ = 0;
    Stamp floor_ = 0;
    std::vector<std::uint64_t> index_;  ///< of blocks in the grid, from `first_` on
    Locations global_;
    std::vector<std::unique_ptr<BlockHistory>> ended_;  ///< blocks that have published something
    std::vector<BlockOrder*> running_;
    bool has_block_fences_ = false;
    std::uint64_t steps_left_ = 0;               ///< of the search under way
    std::uint64_t all_steps_left_ = 30'000'000;  ///< of all searches
};

/// The order of one block's threads.
class BlockOrder {
public:
    BlockOrder(LaunchOrder& launch, std::uint64_t index);
    ~BlockOrder();
    BlockOrder(const BlockOrder&) = delete;
    BlockOrder& operator=(const BlockOrder&) = delete;

    /// The stamp of what `thread` does now.
    Stamp now(unsigned thread) const { return now_ | Stamp{thread} << kTimeBits; }
    /// Where the block's own stamps begin: its shared memory did not exist before.
    Stamp born() const { return born_; }
    /// What is older than this stamp comes before all that the block does from now on.
    Stamp floor() const { return floor_; }

    /// True if `event`, an access of this launch or older than `floor`, comes before what the thread of `me` does now.
    bool before(Stamp event, Stamp me, Stamp floor) const {
        return surely_before(event, me, floor) || before_by_meetings_or_fences(event, me);
    }
    /// The same without meetings and fences.
    bool surely_before(Stamp event, Stamp me, Stamp floor) const {
        if (event < floor) return true;
        const Stamp difference = event ^ me;
        return difference >> kTimeBits == 0 || (difference >> kBlockShift == 0 && time_of(event) < barrier_);
    }

    void barrier();
    void meeting(unsigned warp, std::uint32_t lanes);
    void fence(unsigned thread, FenceScope scope);
    /// The thread does an atomic (or volatile) operation on `address`, which reads or writes or both.
    void synchronize(unsigned thread, std::uintptr_t address, bool is_shared, bool reads, bool writes);
    /// False while such an operation on global memory orders nothing, because nobody has fenced.
    bool may_synchronize() const { return fence_count_ > 0 || !launch_.global_.empty(); }

private:
    friend class LaunchOrder;

    struct WarpClock {
        std::uint32_t block = 0;                ///< for which the times hold
        std::array<LaneTimes, 32> known;        ///< [lane]: what it knows of the others
        std::array<const LaneTimes*, 32> kept;  ///< copies in the history, null when there is none of now
    };

    void renew(std::uint32_t block);
    void tick();
    bool before_by_meetings_or_fences(Stamp event, Stamp me) const;
    BlockHistory& history();
    View view_of(unsigned thread) const;
    const LaneTimes* lanes_of(unsigned thread) const;
    const LaneTimes* keep_lanes_of(unsigned thread);
    void acquire(unsigned thread, const Location& location);
    void publish(unsigned thread, Location& location);

    LaunchOrder& launch_;
    std::uint64_t index_;
    std::uint32_t block_ = 0;  ///< as in stamps
    Stamp now_ = 0;            ///< the present, without a thread
    Stamp born_ = 0;
    Stamp floor_ = 0;
    std::uint32_t barrier_ = 1;  ///< time of the last barrier
    std::vector<std::unique_ptr<WarpClock>> warps_;
    std::unique_ptr<BlockHistory> history_;
    bool has_published_ = false;
    /// By location and thread: how much was learned, and what the publication told last.
    struct Exchange {
        std::uint32_t learned = 0;
        std::uint32_t barrier = 0;
        std::uint64_t fences = 0;
        const LaneTimes* lanes = nullptr;
    };
    std::unordered_map<std::uint64_t, Exchange> exchanges_;
    std::uint64_t fence_count_ = 0;
    std::vector<bool> has_fenced_;  ///< by thread; empty: nobody has
};

}  // namespace cpu_device
