// Which accesses of a launch come before which others, whatever the order in which a GPU runs its threads.
//
// Order comes from block-wide barriers, from __syncwarp, and from release and acquire patterns (the causality order of
// the PTX ISA's memory consistency model). An arrival at a cuda::barrier releases, and a wait for its phase acquires
// what came before all arrivals of that phase. A release pattern is a fence and then an atomic write, or a write that
// releases by itself; an acquire pattern is an atomic read of what was written there and then a fence, or a read that
// acquires by itself. The scopes of all four have to reach the other thread. What has no order may happen at the same
// time.
//
// In one respect this is more generous than the PTX ISA: between fence and atomic there may be a barrier, so that one
// thread does the atomic for a block whose threads have fenced (or will fence) their own accesses. Fences are
// cumulative over barriers on every GPU, and many programs rely on it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "cpu_device/instrumented.h"
#include "shadow_memory.h"
#include "thread_clock.h"

namespace cpu_device {

/// For each lane of a warp the time before which all that it did is known.
using LaneTimes = std::array<std::uint32_t, 32>;

/// What a thread knows of its own block at one moment.
struct View {
    unsigned thread;
    std::uint32_t time;                                   ///< what the thread itself did before this time
    std::uint32_t barrier;                                ///< what all threads did before this time
    const LaneTimes* lanes;                               ///< what the lanes of its warp did; null: nothing beyond that
    const std::vector<std::uint32_t>* threads = nullptr;  ///< what cuda::barrier told of each thread; null: nothing

    bool covers(unsigned other, std::uint32_t when) const {
        if (other == thread) return when < time;
        if (when < barrier || (lanes != nullptr && other / 32 == thread / 32 && when < (*lanes)[other % 32]))
            return true;
        return threads != nullptr && when < (*threads)[other];
    }
};

/// What the threads of a cluster's blocks tell each other at its barrier.
class ClusterOrder {
public:
    /// `blocks`: linear indices in the grid, by rank.
    explicit ClusterOrder(std::vector<std::uint64_t> blocks);

    /// A thread arrives; `block` as in stamps. What it did before `time`, and what all threads of its block did before
    /// `barrier`, comes before all that threads do that have waited for this phase.
    void arrive(unsigned rank, unsigned thread, std::uint32_t block, std::uint32_t time, std::uint32_t barrier);
    /// All have arrived that still run, by rank and thread; of those that have ended everything is known.
    void complete_phase(const std::vector<std::vector<bool>>& still_run);
    /// True if the event, by a block of the cluster, comes before all that threads do that have waited for this phase,
    /// counted from 1.
    bool covers(std::uint32_t phase, std::uint64_t block, Stamp event) const;

private:
    struct Arrivals {
        std::uint32_t block = 0;
        std::uint32_t barrier = 0;
        std::vector<std::uint32_t> threads;
    };
    using Phase = std::vector<Arrivals>;  ///< by rank
    static constexpr std::size_t kKept = 4;

    std::vector<std::uint64_t> blocks_;
    Phase present_;
    std::array<Phase, kKept> completed_;  ///< the last ones, a ring
    std::uint32_t phases_ = 0;
};

/// Fences by consecutive threads at consecutive times, with nothing between them.
struct Fences {
    std::uint32_t time;  ///< of the first
    std::uint32_t barrier;
    const LaneTimes* lanes;  ///< not null: a single fence
    std::uint16_t thread;    ///< of the first
    std::uint16_t count;
    ThreadScope scope;
    bool acquires;
    bool releases;
};

struct BlockHistory;

/// An atomic write that releases, or by a thread that has fenced or knows of a fence.
struct Publication {
    const BlockHistory* by;
    View view;
    std::int64_t previous;            ///< of the same block at the same location; -1: none
    ThreadScope scope;                ///< of the write
    bool releases;                    ///< by itself: it tells all that the view covers
    std::uint32_t cluster_phase = 0;  ///< for which the thread had waited
};

/// An address on which such atomics were done.
struct Location {
    std::vector<Publication> publications;                 ///< in the order of the atomics
    std::unordered_map<std::uint32_t, std::int64_t> last;  ///< by block
    /// The first publication that a reader of the present value observes. Updates carry on what was there; a store by
    /// another thread begins anew.
    std::uint32_t chain = 0;
};

using Locations = std::unordered_map<std::uintptr_t, Location>;

/// A thread has read what the publications from `first` to before `publications` of a location led to.
struct Acquisition {
    const Location* location;
    std::uint32_t first;
    std::uint32_t publications;
    std::uint32_t time;
    unsigned thread;
    ThreadScope scope;  ///< of the read
    bool acquires;      ///< by itself; otherwise it takes a fence behind it
};

/// What an atomic operation does to the order of accesses.
struct Synchronization {
    bool reads;
    bool writes;
    MemoryOrder order;
    ThreadScope scope;
};

/// Why a handover from thread to thread orders nothing.
enum class MissingOrder : unsigned char {
    everything,     ///< there is none, or none whose writer releases
    acquire,        ///< only the fence behind the read is missing
    scope,          ///< only the scopes are too narrow
    acquire_scope,  ///< both
};

/// What must be kept of a block while its launch runs, because others may learn of it.
struct BlockHistory {
    explicit BlockHistory(std::uint32_t block_) : block(block_) {}

    std::uint32_t block;  ///< as in stamps
    std::vector<Fences> fences;
    std::vector<Acquisition> acquired;
    std::deque<LaneTimes> lane_times;
    std::deque<std::vector<std::uint32_t>> thread_times;
    Locations shared;  ///< in the block's shared memory
    std::shared_ptr<const ClusterOrder> cluster;
};

class BlockOrder;

/// The order of one launch, beyond the borders of blocks.
class LaunchOrder {
public:
    /// All blocks wait for each other: everything so far comes before everything from now on.
    void grid_barrier();

    /// Linear index of the block that a stamp of this launch belongs to.
    std::uint64_t index_of(Stamp stamp) const { return index_[block_of(stamp) - first_]; }
    /// False for a stamp of another launch: of one before it, or of another device's that runs at the same time.
    bool owns(Stamp stamp) const {
        const std::uint32_t place = block_of(stamp) - first_;
        return place < index_.size() && index_[place] != kOfAnotherLaunch;
    }
    /// What is older than this stamp comes before everything from now on.
    Stamp floor() const { return floor_; }
    /// The first stamp of the launch, and the first one after it.
    Stamp first() const { return stamp_of(first_); }
    Stamp end() const { return stamp_of(first_ + static_cast<std::uint32_t>(index_.size())); }

private:
    friend class BlockOrder;

    std::uint32_t new_block(std::uint64_t index);
    bool reaches(ThreadScope scope, std::uint32_t from_block, std::uint32_t to_block) const;
    template <class Visit>
    bool any_fence_between(const BlockHistory& block, const View& view, unsigned thread, std::uint32_t time,
                           Visit visit);
    bool tells(const Publication& publication, std::uint32_t to_block, unsigned thread, std::uint32_t time);
    bool takes_effect(const BlockHistory& block, const View& view, const Acquisition& known, std::uint32_t from_block);
    bool passes_on(const Publication& publication, std::uint32_t to_block, const Acquisition& known,
                   std::uint32_t from_block);
    bool learned(const BlockHistory& block, const View& view, Stamp event);
    bool search(const BlockHistory& block, const View& view, Stamp event);

    static constexpr std::uint64_t kOfAnotherLaunch = ~std::uint64_t{0};

    std::uint32_t first_ = 0;
    Stamp floor_ = 0;
    std::vector<std::uint64_t> index_;  ///< of blocks in the grid, from `first_` on
    Locations global_;
    std::vector<std::unique_ptr<BlockHistory>> ended_;  ///< blocks that have published something
    std::vector<BlockOrder*> running_;
    bool has_narrow_scopes_ = false;
    // To find out what is missing, a search may take for granted:
    bool every_read_acquires_ = false;
    bool every_scope_reaches_ = false;
    std::uint64_t steps_left_ = 0;               ///< of the search that goes on now
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
    /// `lanes` of the warp have met at a __syncwarp.
    void meeting(unsigned warp, std::uint32_t lanes);
    void fence(unsigned thread, ThreadScope scope, MemoryOrder order);
    /// The thread arrives at a barrier: `clock`, which stands for all arrivals so far, learns what the thread knows.
    void arrive(unsigned thread, ThreadClock& clock);
    /// The thread has waited for the arrivals that `clock` stands for.
    void learn(unsigned thread, const ThreadClock& clock);
    /// From now on the block is the one of this rank in a cluster.
    void join(std::shared_ptr<ClusterOrder> cluster, unsigned rank);
    void arrive_at_cluster(unsigned thread);
    /// The thread has waited for the phase, counted from 1.
    void wait_for_cluster(unsigned thread, std::uint32_t phase);
    /// The last phase for which the thread, or one with which it has met since, has waited; 0: none.
    std::uint32_t cluster_phase(unsigned thread) const {
        return cluster_phases_.empty() ? 0 : std::max(cluster_phases_[thread], cluster_phase_of_all_);
    }
    /// The last phase for which any of the threads has waited.
    std::uint32_t latest_cluster_phase() const { return latest_cluster_phase_; }

    /// False while no fence, and no atomic that acquires or releases, was seen.
    bool has_history() const { return history_ != nullptr || !launch_.global_.empty(); }
    /// The thread does an atomic (or volatile) operation on `address`.
    void synchronize(unsigned thread, std::uintptr_t address, bool is_shared, Synchronization what);
    /// False while such an operation on global memory orders nothing, because nobody has fenced or released.
    bool may_synchronize() const { return fence_count_ > 0 || !launch_.global_.empty(); }

    /// What follows has another time than what went before.
    void tick();
    /// What the thread knows to have come before: all before `all`, and of each thread what came before its time.
    void know(unsigned thread, std::uint32_t& all, std::vector<std::uint32_t>& times) const;
    bool has_fenced(unsigned thread) const { return thread < has_fenced_.size() && has_fenced_[thread]; }
    /// True if the thread has done a fence that acquires since `time`.
    bool has_acquired_since(unsigned thread, std::uint32_t time) const;
    /// Of two accesses that `before` does not order: what is missing for a handover through an atomic.
    MissingOrder missing_order(Stamp event, Stamp me);

private:
    friend class LaunchOrder;

    struct WarpClock {
        std::uint32_t block = 0;                ///< for which the times hold
        std::array<LaneTimes, 32> known;        ///< [lane]: what it knows of the others
        std::array<const LaneTimes*, 32> kept;  ///< copies in the history, null when there is none of now
    };

    void renew(std::uint32_t block);
    bool before_by_meetings_or_fences(Stamp event, Stamp me) const;
    BlockHistory& history();
    View view_of(unsigned thread) const;
    const LaneTimes* lanes_of(unsigned thread) const;
    const LaneTimes* keep_lanes_of(unsigned thread);
    const std::vector<std::uint32_t>* threads_of(unsigned thread) const;
    void join_clocks(unsigned warp, std::uint32_t lanes);
    void acquire(unsigned thread, const Location& location, const Synchronization& what);
    void begin_chain(unsigned thread, Location& location);
    void publish(unsigned thread, Location& location, const Synchronization& what);

    LaunchOrder& launch_;
    std::uint64_t index_;
    std::uint32_t block_ = 0;  ///< as in stamps
    Stamp now_ = 0;            ///< the present, without a thread
    Stamp born_ = 0;
    Stamp floor_ = 0;
    std::uint32_t barrier_ = 1;  ///< time of the last barrier
    std::vector<std::unique_ptr<WarpClock>> warps_;
    std::vector<std::vector<std::uint32_t>> clocks_;  ///< by thread, what it has learned; empty: nobody has
    std::unique_ptr<BlockHistory> history_;
    bool has_published_ = false;
    /// By location and thread: how much was learned, and what the publication told last.
    struct Exchange {
        std::uint32_t first = 0;  ///< of the publications learned
        std::uint32_t learned = 0;
        std::uint32_t acquired = 0;  ///< learned by a read that acquires by itself
        std::int64_t told = -1;      ///< the publication
        std::uint32_t barrier = 0;
        std::uint64_t fences = 0;
        const LaneTimes* lanes = nullptr;
    };
    std::unordered_map<std::uint64_t, Exchange> exchanges_;
    std::shared_ptr<ClusterOrder> cluster_;  ///< null: the block is in none
    unsigned rank_ = 0;
    std::vector<std::uint32_t> cluster_phases_;  ///< by thread
    std::uint32_t cluster_phase_of_all_ = 0;     ///< by the block's own barrier
    std::uint32_t latest_cluster_phase_ = 0;
    std::uint64_t fence_count_ = 0;
    std::vector<bool> has_fenced_;  ///< by thread; empty: nobody has
};

}  // namespace cpu_device
