// Turns the accesses of an instrumented block's threads, which run one after the other, into the requests of warps.
//
// Each thread leaves a trace of the basic blocks it entered and of its accesses. Once the lanes of a warp have stopped,
// their traces are merged as a warp would have carried them out: always the lanes that are deepest in calls and, among
// them, furthest back in the code go on together (Collange, "Stack-less SIMT reconvergence at low cost", 2011). With
// code laid out in source order this meets the usual reconvergence points of loops and branches.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "instrumented_thread.h"
#include "request_model.h"
#include "tally.h"
#include "tensor_maps.h"
#include "trace_event.h"

namespace cpu_device {

struct Launch;

class Recorder {
public:
    Recorder();
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    /// `traced`: keeps what the warps do, event by event.
    void begin(Launch& launch, const ArrayMap& arrays, Tally& tally, const std::byte* arena, std::size_t arena_bytes,
               uint3 block, std::uint64_t linear_index, bool traced);

    // The life of a thread, as the block sees it. The running one writes its events through `instrumented_thread`.

    /// It goes on from its first event.
    void start(unsigned thread) {
        instrumented_thread.next = trace(thread);
        instrumented_thread.end = instrumented_thread.next + kEvents;
    }
    /// True when it was the last of its warp: then merge is to be called.
    bool finish(unsigned thread) {
        note(thread, State::finished);
        return --unfinished_[thread / 32] == 0;
    }
    /// Waits for others, at a barrier or a meeting.
    void block(unsigned thread) { save(thread, State::blocked); }
    /// May go on: what it does next is not known yet.
    void release(unsigned thread) {
        if (states_[thread] == State::full) --full_[thread / 32];
        states_[thread] = State::running;
    }
    /// Goes on.
    void resume(unsigned thread) {
        states_[thread] = State::running;
        instrumented_thread.next = trace(thread) + counts_[thread];
        instrumented_thread.end = trace(thread) + kEvents;
    }
    void release_all_blocked();  ///< behind a barrier
    /// It will be resumed soon.
    void prefetch(unsigned thread) { __builtin_prefetch(trace(thread), 1); }
    /// The trace of the running thread is full. True when there is room now; false: it has to wait for other lanes.
    bool make_room(unsigned thread);

    /// Merges what can be merged of a warp in which a thread waits for room; false if there is no such thread.
    bool make_room_in(unsigned warp) {
        if (full_[warp] == 0) return false;
        merge(warp);
        return true;
    }
    /// Calls `wake(thread)` for each thread of the warp that waited for room and has it now.
    template <class Wake>
    void wake_full(unsigned warp, Wake wake) {
        for (unsigned lane = 0; lane < 32 && full_[warp] != 0; ++lane) {
            const unsigned thread = warp * 32 + lane;
            if (thread >= threads_ || states_[thread] != State::full || counts_[thread] >= kEvents) continue;
            release(thread);
            wake(thread);
        }
    }

    /// Whether the running thread's next event fits behind a full trace. For a thread that must not be stopped now.
    bool has_spare_room() const {
        return instrumented_thread.next != nullptr && instrumented_thread.next < instrumented_thread.end + kSpare;
    }

    /// Carries out the lanes' traces together, until nothing is left or a lane that may still go on has nothing more to
    /// show.
    void merge(unsigned warp);
    /// All threads have stopped at a barrier or ended: nothing is left to wait for.
    void flush();
    /// `warps`: those that came. Warps that have exited do not execute the barrier.
    void count_barrier(Site site, unsigned warps) {
        tally_->add_barrier(site, warps);
        if (traced_) trace_barrier(site);
        if (modeled_block_) record_barrier();
    }
    void end_block(unsigned barriers) { tally_->add_block(barriers); }
    /// Copies by the tensor memory accelerator: 32 pieces count as a request of as many lanes. `pieces` of a load have
    /// their places in a block's shared memory; `blocks` are the ranks that get them, `own` that of this one.
    void count_bulk_load(const void* code, const std::vector<BulkPiece>& pieces, unsigned blocks, unsigned own);
    void count_bulk_store(const void* code, const std::vector<BulkPiece>& pieces);

private:
    using Count = std::int16_t;            // of a trace's events; processors have a minimum for signed ones
    static constexpr Count kEvents = 128;  // of each thread, at most, before its warp is merged
    static constexpr Count kSpare = 4;
    static constexpr unsigned kStride = kEvents + kSpare;  // not a power of two: lanes use different cache sets
    static constexpr unsigned kThreads = 1024;

    enum class State : unsigned char {
        running,  ///< or ready to, or not started yet
        blocked,
        full,
        finished,
    };

    TraceEvent* trace(unsigned thread) { return traces_ + static_cast<std::size_t>(thread) * kStride; }
    void note(unsigned thread, State state) {
        // As `next` less the trace's begin, which is not looked up.
        counts_[thread] = static_cast<Count>(kEvents - (instrumented_thread.end - instrumented_thread.next));
        states_[thread] = state;
    }
    void save(unsigned thread, State state) {
        note(thread, state);
        instrumented_thread.next = instrumented_thread.end = nullptr;
    }
    Count merge_common_events(unsigned first);
    using Heads = std::array<const TraceEvent*, 32>;  ///< by lane: the event that comes next
    void count_event(const TraceEvent& event, std::uint32_t lanes, const Heads& heads);
    void count_access(const TraceEvent& event, bool shared, std::uint32_t lanes);
    void count_remote(const TraceEvent& event, std::uint32_t lanes);
    void count_bulk(const void* code, bool shared, bool writes, const std::vector<BulkPiece>& pieces);
    int shared_array(std::uint64_t offset);
    void count_step(std::uint32_t code, std::uint32_t lanes) {
        tally_->add_step(code, static_cast<unsigned>(std::popcount(lanes)));
        if (traced_) [[unlikely]]
            trace_step(code, lanes);
        if (recorded_ != nullptr) [[unlikely]]
            record({.code = code});
    }
    /// Where the next event of a warp goes; null when its trace is full.
    TracedEvent* next_traced(unsigned warp);
    void trace_step(std::uint32_t code, std::uint32_t lanes);
    void trace_access(std::uint32_t code, MemoryOperation operation, int array, const RequestCounters& counters);
    void trace_barrier(Site site);

    // For the time model.
    void begin_model(std::uint64_t linear_index);
    void record(const WarpEvent& event);
    void record_barrier();
    void model_access(const TraceEvent& event, MemoryOperation operation, int array, const RequestCounters& counters);

    TraceEvent* traces_ = nullptr;
    std::array<Count, kThreads> counts_;                     ///< by thread: events that are not merged yet
    std::array<State, kThreads> states_;                     ///< by thread
    std::array<unsigned char, kThreads / 32> full_{};        ///< lanes of each warp that wait for room
    std::array<unsigned char, kThreads / 32> unfinished_{};  ///< lanes of each warp that have not ended
    unsigned threads_ = 0;
    unsigned warps_ = 0;

    Launch* launch_ = nullptr;
    const ArrayMap* arrays_ = nullptr;
    Tally* tally_ = nullptr;
    std::uintptr_t arena_ = 0;
    std::size_t arena_bytes_ = 0;
    RequestModel model_;
    WarpRequest request_;  ///< that is being counted
    struct SharedRange {
        std::size_t begin;
        std::size_t end;
        int array;
    };
    std::vector<SharedRange> shared_;
    std::uint64_t shared_launch_ = 0;
    bool traced_ = false;
    std::size_t first_trace_ = 0;  ///< in the tally
    unsigned warp_ = 0;            ///< that is being merged
    bool modeled_ = false;
    bool modeled_block_ = false;  ///< some of its warps are recorded
    L1Cache l1_;
    std::array<std::size_t, kThreads / 32> recorded_warps_{};  ///< 1 + index in the tally; 0: not recorded
    RecordedWarp* recorded_ = nullptr;                         ///< of the warp that is being merged
};

}  // namespace cpu_device
