// One block of a running kernel: its threads, its barrier, its warps' meetings and its shared memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "child_launches.h"
#include "cpu_device/diagnostics.h"
#include "cpu_device/execution.h"
#include "cpu_device/instrument.h"
#include "diagnoser.h"
#include "fiber.h"
#include "instrumented_thread.h"
#include "launch_twin.h"
#include "recorder.h"
#include "tally.h"
#include "tensor_maps.h"

namespace cpu_device {

constexpr unsigned kWarpSize = 32;
constexpr unsigned kMaxThreadsPerBlock = 1024;
constexpr std::size_t kStaticSharedLimit = 48 * 1024;
constexpr std::size_t kSharedLimit = 227 * 1024;
constexpr unsigned kMostBlocksOfCluster = 16;
// Room for the largest dynamic and the largest static shared memory, each variable on a row of banks of its own. A
// power of two: clusters lay those of their blocks one after the other.
constexpr std::size_t kArenaBytes = 1024 * 1024;
constexpr std::size_t kSharedAlignment = 128;  // one row of the 32 banks: which array comes first changes no conflict
constexpr unsigned char kPoison = 0xFF;        // NaN as a float, -1 as an integer

inline bool same_place(const Site& a, const Site& b) {
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

struct Cluster;
struct Launch;

/// What launches with clusters need (clusters.cpp), which programs without any do not link.
struct ClusterSupport {
    /// The cluster's shape, 1 x 1 x 1 where nobody asks for one. An error: a GPU refuses the launch, and `why` says
    /// why.
    cudaError_t (*shape_of)(const LaunchConfig& config, dim3& cluster, std::string& why);
    /// Runs clusters of the launch until none is left.
    void (*run)(Launch& launch, FiberPool& fibers, Tally& tally);
};
extern const ClusterSupport* cluster_support;  ///< null until the program says that it may launch clusters

/// "2 x 3 x 1"
std::string text_of(const dim3& shape);

/// Everything that the blocks of one launch have in common.
struct Launch {
    explicit Launch(const LaunchSite& launched_at) : site(launched_at) {}

    const LaunchSite& site;
    std::uint64_t id = 0;  ///< counts up from 1 over the whole process
    dim3 grid;
    dim3 block;
    unsigned threads = 0;  ///< in a block
    std::size_t dynamic_bytes = 0;
    bool opted_in = false;  ///< cudaFuncSetAttribute allowed the kernel more than 48 KB of dynamic shared memory
    ErasedLaunch code{};
    bool cooperative = false;
    dim3 cluster = {1, 1, 1};
    unsigned cluster_blocks = 1;  ///< in a cluster
    std::uint64_t blocks = 0;
    std::uint64_t seed = 0;
    cudaStream_t stream = nullptr;
    int device = 0;
    /// With several devices: sets the launch aside while all its blocks only wait; null: there is nobody else.
    std::function<void()> park;
    std::atomic<bool>* overdue = nullptr;  ///< it was set aside for too long
    bool programmatic = false;             ///< may begin before the launch ahead of it in the stream has ended
    InstrumentOptions instrument;
    bool sampled = false;                        ///< some blocks are not instrumented
    std::unique_ptr<ArrayMap> arrays;            ///< while counters are taken
    std::unique_ptr<LaunchDiagnoser> diagnoser;  ///< while errors are looked for

    std::atomic<std::uint64_t> next_block{0};
    std::atomic<std::uint64_t> finished_blocks{0};
    std::atomic<std::uint64_t> instrumented_blocks{
        0};                                    ///< of those that began: looked at for races, while that is asked for
    std::atomic<int> failure{cudaSuccess};     ///< the first cudaError_t that ended the kernel
    std::atomic<std::size_t> shared_bytes{0};  ///< dynamic and every static variable met so far, in the arena

    unsigned depth = 0;      ///< how many kernels are above it that launch each other
    ChildLaunches children;  ///< what the kernel launches

    std::mutex mutex;  ///< guards what follows
    std::size_t static_bytes = 0;
    std::vector<SharedVariable*> shared_variables;  ///< those met so far; filled while the launch is instrumented
    /// Where they lie in the arena, of a launch that others may interrupt: then the variables hold those others'
    /// places.
    std::map<const SharedVariable*, std::size_t> places_of_shared;
    std::size_t place_of(const SharedVariable& variable) const {
        const auto found = places_of_shared.find(&variable);
        return found == places_of_shared.end() ? variable.offset : found->second;
    }
    Tally tally;                                        ///< of the host threads that are done
    std::set<std::pair<DiagnosticKind, int>> reported;  ///< kinds and lines: one report each

    /// A shuffle that took values of lanes which did not come. Whether its program uses them shows in what it does
    /// next: who guards the use lets these lanes take another way than those that got a value.
    struct IncompleteShuffle {
        std::set<std::uint32_t> way_with_value;     ///< where lanes went on that took another lane's value
        std::set<std::uint32_t> way_without_value;  ///< where those went on that took the value of a missing lane
        Diagnostic example{};
        std::uint64_t count = 0;          ///< of lanes that took the value of a missing one
        bool several_lanes_came = false;  ///< when one of them did
    };
    std::map<std::pair<const char*, int>, IncompleteShuffle> incomplete_shuffles;  ///< by file and line
    LaunchTwin twin;  ///< takes other values in place of the missing ones
    void report_undefined_shuffles();

    /// True for the first diagnostic of this kind at this line.
    bool is_first_diagnostic(DiagnosticKind kind, int line) {
        std::lock_guard lock(mutex);
        return reported.emplace(kind, line).second;
    }
    bool is_instrumented() const { return instrument.counters || instrument.diagnostics; }
    /// Whether the block is among those that are instrumented.
    bool instruments(std::uint64_t linear_index) const;
    /// Of clusters, all blocks are instrumented or none: which one of so many blocks or clusters.
    bool samples(std::uint64_t index, std::uint64_t all, std::uint64_t wanted) const;
    /// Linear index of the block's cluster among the clusters.
    std::uint64_t cluster_of(std::uint64_t linear_index) const;
    /// Whether some warps of the block, which is instrumented, are recorded for the time model: of the first block, of
    /// the last, and of two in between.
    bool records_for_model(std::uint64_t linear_index) const {
        return linear_index == 0 || linear_index == blocks - 1 || linear_index == recorded_blocks[0] ||
               linear_index == recorded_blocks[1];
    }
    std::uint64_t recorded_blocks[2] = {};
    struct Parameter {
        std::string name;
        bool is_restrict = false;
        std::uintptr_t address = 0;  ///< 0 for what is no pointer
    };
    /// The kernel's parameters; none when they are not known.
    std::vector<Parameter> parameters() const;
    /// Name of the kernel's first parameter that points into memory from `begin` to `end`; empty when there is none.
    std::string parameter_in(std::uintptr_t begin, std::uintptr_t end) const;
    void fail(cudaError_t error) {
        int none = cudaSuccess;
        failure.compare_exchange_strong(none, error);
    }
};

/// Lanes of one warp that meet for a warp-wide operation.
struct Meeting {
    std::uint64_t value[kWarpSize];
    Fiber* waiting[kWarpSize];
    std::uint32_t required = 0;  ///< the mask, less lanes that the warp does not have
    std::uint32_t arrived = 0;
    unsigned to_read = 0;  ///< lanes that still look at the values
    Collective operation{};
    Site site;
    Meeting* next = nullptr;  ///< in the list of open or of free meetings
};

/// A part of an asynchronous copy to shared memory, by one thread. What it copies was read when it began.
struct LateCopy {
    std::byte* to;
    std::uint32_t bytes;
    std::uint32_t number;  ///< to the diagnoser
    std::uint64_t since;   ///< the phase of its barrier, or the group of its thread, to which it belongs
    bool in_bulk = false;  ///< by the tensor memory accelerator
    alignas(16) std::byte data[16];
};

/// A cuda::barrier of the block. Its eight bytes in the program's memory only say which one it is.
struct AsyncBarrier {
    const void* address;
    std::ptrdiff_t expected;  ///< arrivals in each phase
    std::ptrdiff_t missing;   ///< in the present phase
    std::int64_t bytes;   ///< that the present phase still waits for: announced, less those that copies have brought
    std::uint64_t phase;  ///< how many have completed
    Site site;            ///< of its initialization
    std::vector<LateCopy> copies;
    ThreadClock arrived;    ///< what those knew that have arrived
    ThreadClock completed;  ///< the same, when the last phase was completed
};

/// The asynchronous copies of one thread that belong to no barrier. They form groups, in the order of the commits.
struct ThreadCopies {
    std::uint64_t group = 0;  ///< that is still open
    std::vector<LateCopy> copies;
};

/// A store in bulk, from shared to global memory, that may not have read its source yet.
struct BulkStore {
    std::uint64_t group;   ///< of its thread
    std::uint32_t number;  ///< to the diagnoser
    const void* code;
    Site site;
    std::vector<BulkPiece> pieces;
};

/// The stores in bulk of one thread, in groups as ThreadCopies.
struct ThreadStores {
    std::uint64_t group = 0;
    std::vector<BulkStore> stores;
};

class Block {
public:
    enum class State {
        running,
        spinning,  ///< its threads only spin: other blocks should get a turn
        at_grid_barrier,
        at_cluster_barrier,  ///< it waits for other blocks of the cluster
        awaits_arrivals,     ///< at barriers of its own, and another block of the cluster may still bring something
        done,
    };

    explicit Block(FiberPool& pool);
    /// A block of clusters, whose shared memory and meetings lie with those of the others.
    Block(FiberPool& pool, std::byte* arena, std::byte* meetings);
    ~Block();
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    /// Prepares for block `linear_index` of the launch. `tally`: what the host thread has counted of it.
    void begin(Launch& launch, std::uint64_t linear_index, Tally& tally);
    static std::size_t meeting_bytes();

    /// Runs until the block is done or can only wait for other blocks. A failed launch makes it `done`.
    State run();

    /// After `at_grid_barrier`: lets the threads go on in the next `run`.
    void leave_grid_barrier();

    // Of a block in a cluster: clusters.cpp.
    /// Makes it the block of this rank; before `begin`.
    void join(Cluster& cluster, unsigned rank);
    /// The present phase of the cluster's barrier is complete: lets those go on that have waited for it.
    void leave_cluster_barrier(std::uint32_t phase);
    /// Whether a thread that still runs has not arrived yet. Only while all of them wait.
    bool lacks_arrivals() const;
    /// Its threads wait for what can never come.
    void report_stall();
    /// By thread: whether it waits.
    std::vector<bool> waiting_threads() const;
    /// All blocks of the cluster wait, and no arrival can come any more.
    static void report_missing_blocks(const Cluster& cluster);

    // Called on a fiber, by the running thread.
    unsigned barrier(unsigned contribution, Site site);
    Meeting* meet(Collective operation, std::uint32_t mask, std::uint64_t value, Site site);
    void leave(Meeting* meeting);
    std::uint32_t converge(Site site);
    void wait_for_grid(Site site);
    void arrive_at_cluster(Site site);
    void wait_for_cluster(Site site);
    void begin_barrier(void* barrier, std::ptrdiff_t expected, Site site);
    std::uint64_t arrive(const void* barrier, std::ptrdiff_t count, bool drops, Site site);
    void wait_for_phase(const void* barrier, std::uint64_t phase, Site site);
    void wait_for_parity(const void* barrier, bool parity, Site site);
    bool has_completed(const void* barrier, std::uint64_t phase, Site site);
    bool has_completed_parity(const void* barrier, bool parity, Site site);
    void begin_copy(void* to, const void* from, std::size_t bytes, const void* barrier, const void* code, Site site);
    void commit_copies();
    void wait_for_copies(unsigned prior);
    // bulk_copies.cpp
    void expect_bytes(const void* barrier, std::uint32_t bytes, Site site);
    void load_in_bulk(void* to, const void* from, std::uint32_t bytes, const void* barrier, unsigned blocks,
                      const void* code, Site site);
    void load_box(void* to, const void* map, const std::int32_t* at, unsigned rank, const void* barrier,
                  unsigned blocks, const void* code, Site site);
    void store_in_bulk(void* to, const void* from, std::uint32_t bytes, const void* code, Site site);
    void store_box(const void* map, const std::int32_t* at, unsigned rank, const void* from, const void* code,
                   Site site);
    void commit_bulk_stores();
    void wait_for_bulk_stores(unsigned prior);
    void fence_async_proxy();
    void yield();
    [[noreturn]] void abandon();  ///< back to the host stack; the launch has failed

    void run_until_idle();  ///< starts threads until none is left, then gives the fiber up; returns in a later block
    bool next_thread_slowly();  ///< makes the next thread of the block the running one; false: there is none
    Launch& launch() { return *launch_; }
    const Launch& launch() const { return *launch_; }
    std::uint64_t linear_index() const {
        return index_.x + std::uint64_t{launch_->grid.x} * (index_.y + std::uint64_t{launch_->grid.y} * index_.z);
    }
    unsigned phase() const { return barriers_passed_; }
    unsigned grid_phase() const { return grid_barriers_passed_; }
    void* shared_address(std::size_t offset, std::size_t bytes);
    bool is_shared_memory(const void* address) const;
    std::byte* shared_memory() const { return arena_; }
    bool has_ready_threads() const { return has_ready(); }
    Cluster* cluster() const { return cluster_; }  ///< null: it is alone
    unsigned rank_in_cluster() const { return rank_; }
    bool is_on_stack(const void* address) const;                  ///< of the running thread
    Diagnostic diagnostic(DiagnosticKind kind, Site site) const;  ///< with kernel, block and running thread filled in

    /// See cpu_device::note_shuffle.
    std::uint64_t note_shuffle(std::uint32_t mask, std::uint32_t came, unsigned source, Site site);
    /// The running thread, which has come from a shuffle that some lanes missed, goes on at `place`: a step's code, or
    /// a hash of whatever else it does first.
    void note_way_on(std::uint32_t place);

    /// "threads 0 to 31 wait at __syncthreads() (k.cu:12)": all threads of the block that wait; empty when none does.
    std::string waiting_text() const;

    /// The running thread's trace is full: waits until other lanes of its warp have come as far.
    void make_room();
    bool has_spare_room() const { return recorder_->has_spare_room(); }

private:
    using FiberList = std::unique_ptr<Fiber*[]>;

    bool merge_and_start_thread();
    bool start_thread();
    void poison_shared(std::size_t used);
    void park(Wait wait, Site site);
    void park_for_cluster(Site site);
    void start_instrumenting();
    void start_instrumenting_fiber();
    void stop_instrumenting_thread();
    void go_on_instrumenting_thread();
    void instrument_barrier();
    void wake_threads_with_room(unsigned warp);
    void prefetch_thread(const Fiber& fiber) const;
    void switch_to_next();
    void switch_away(boost::context::detail::fcontext_t* from);
    bool has_ready() const { return ready_head_ != ready_tail_; }
    Fiber* pop_ready() { return ready_[ready_head_++ % kMaxThreadsPerBlock]; }
    void make_ready(Fiber* fiber) { ready_[ready_tail_++ % kMaxThreadsPerBlock] = fiber; }
    void start_fiber(boost::context::detail::fcontext_t* from);
    void save_thread(Fiber& fiber);
    void load_thread(const Fiber& fiber);
    void release_barrier();
    void finish();
    bool resolve_stall();
    bool resolve_convergence();
    bool resolve_barrier(unsigned exited);
    bool resolve_meetings();
    void report_different_barriers();
    void report_missing_lanes();
    void report_stuck_threads();
    bool report_missing_arrivals();
    AsyncBarrier& barrier_at(const void* barrier, const char* what, Site site);
    [[noreturn]] void end_for_barrier(Site site, const std::string& message, const char* hint);
    void complete_phase(AsyncBarrier& barrier);
    void complete_phase_if_all_came(AsyncBarrier& barrier);
    [[noreturn]] void end_for_too_many_bytes(const AsyncBarrier& barrier, Site site);
    void load_pieces(std::byte* to, std::uint32_t bytes, bool fills_with_nan, const void* barrier, unsigned blocks,
                     const void* code, Site site);
    void bring_pieces(Block& target, unsigned rank, std::uint32_t bytes, bool fills_with_nan, std::size_t barrier,
                      const void* code, Site site);
    void store_pieces(const std::byte* from, std::uint32_t bytes, const void* code, Site site);
    TensorMap tensor_map(const void* map, unsigned rank, Site site);
    void check_bulk_address(const void* address, std::uint32_t alignment, const char* what, Site site);
    void check_bulk_copy(const void* to, const void* from, std::uint32_t bytes, Site site);
    void check_box_begin(const TensorMap& map, std::int32_t at, Site site);
    void check_own_shared(const std::byte* address, std::uint32_t bytes, const char* what, Site site);
    void check_access(const void* memory, std::uint32_t bytes, bool writes, const void* code);
    void carry_out(const BulkStore& store);
    void end_bulk_copies();
    [[noreturn]] void end_for_bulk_copy(DiagnosticKind kind, cudaError_t error, Site site, const std::string& message,
                                        const char* hint);
    void park_for_arrivals(const AsyncBarrier& barrier, Site site);
    void note_completed(AsyncBarrier& barrier, std::uint64_t phase);
    void land(LateCopy& copy);
    Meeting* open_meeting(unsigned warp, Collective operation, std::uint32_t required, Site site);
    void complete(unsigned warp, Meeting* meeting, std::uint32_t running);
    [[noreturn]] void end_for_mask(Collective operation, std::uint32_t mask, Site site);
    std::uint32_t lanes_of_warp(unsigned warp) const;
    /// Threads that wait for the same at the same place, in ascending order.
    struct WaitingGroup {
        Wait wait;
        Site site;
        std::vector<unsigned> threads;
    };
    std::vector<WaitingGroup> waiting_groups() const;
    std::string text_of(const std::vector<WaitingGroup>& groups) const;
    std::string where_they_parted(unsigned one, unsigned other) const;
    std::uint32_t live_lanes(unsigned warp) const;
    uint3 thread_index(unsigned linear) const;
    template <class Visit>
    void for_each_waiting(Visit visit) const {
        for (Fiber* fiber : fibers_) {
            if (fiber->wait != Wait::nothing) visit(*fiber);
        }
    }
    void thread_goes_on_at(Site site) {
        if (instrumented_thread.awaits_step) [[unlikely]]
            note_way_on(static_cast<std::uint32_t>(site.line));
    }

    FiberPool& pool_;
    Launch* launch_ = nullptr;
    uint3 index_{};
    ThreadState saved_{};  ///< of `current_thread`, while another block runs on this host thread
    State state_ = State::done;

    boost::context::detail::fcontext_t host_ = nullptr;  ///< where `run` waits
    Fiber* running_ = nullptr;
    std::vector<Fiber*> fibers_;  ///< all that this block holds
    FiberList ready_{};           ///< a ring: no thread stands in it twice, so it never overflows
    unsigned ready_head_ = 0;
    unsigned ready_tail_ = 0;
    std::vector<unsigned> order_;  ///< of starting threads, when shuffled

    FiberList at_barrier_{};
    unsigned barriers_passed_ = 0;
    unsigned grid_barriers_passed_ = 0;
    unsigned arrived_ = 0;  ///< threads at the barrier
    unsigned barrier_sum_ = 0;
    unsigned barrier_result_ = 0;
    Site barrier_site_;
    std::uint32_t warps_at_barrier_ = 0;  ///< a bit for each warp of which a thread has come
    bool several_barriers_ = false;       ///< threads of the block wait at different ones
    unsigned yields_in_a_row_ = 0;

    Meeting* open_[kMaxThreadsPerBlock / kWarpSize] = {};  ///< by warp: linked lists of meetings that lack lanes
    // Behind the arena: instrumented code reads the lanes' values there, which is no error.
    Meeting* meetings_ = nullptr;
    std::size_t used_meetings_ = 0;
    Meeting* free_meetings_ = nullptr;

    std::byte* arena_ = nullptr;
    bool owns_arena_ = false;
    Cluster* cluster_ = nullptr;
    unsigned rank_ = 0;  ///< in the cluster
    /// By thread, in a cluster: how often it has arrived at the cluster's barrier, and how often it has waited.
    std::vector<std::uint32_t> cluster_arrivals_;
    std::vector<std::uint32_t> cluster_waits_;
    std::size_t poisoned_ = 0;  ///< bytes of the arena that this block's threads may look at

    std::vector<AsyncBarrier> async_barriers_;
    std::vector<ThreadCopies> thread_copies_;     ///< by thread; empty: nobody has begun one
    std::vector<ThreadStores> thread_stores_;     ///< the same
    std::vector<BulkPiece> pieces_;               ///< of the copy that begins
    void (Block::*end_bulk_copies_)() = nullptr;  ///< null: no thread has begun a copy in bulk

    bool instrumented_ = false;
    bool thread_is_first_ = false;  ///< of this fiber: none has ended when the next one starts
    std::unique_ptr<Recorder> recorder_;
    bool recording_ = false;
    std::unique_ptr<BlockDiagnoser> diagnoser_;
    std::unique_ptr<RecentSteps[]> steps_;  ///< by thread, while errors are looked for
    /// By thread: the shuffle after which it has not gone on yet, and whether that gave it a value.
    struct AwaitedStep {
        Launch::IncompleteShuffle* shuffle = nullptr;
        bool has_value = false;
    };
    std::vector<AwaitedStep> awaited_steps_;
};

/// The block of the running device thread. `what` is named when there is none: a device function called by the host.
Block& running_block(const char* what);

}  // namespace cpu_device
