#include "block.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "clusters.h"
#include "instrumented_code.h"

// The built-in variables and the rest of the running thread's identity.
constinit thread_local uint3 threadIdx{};
constinit thread_local uint3 blockIdx{};
constinit thread_local dim3 blockDim{};
constinit thread_local dim3 gridDim{};

namespace cpu_device {

constinit thread_local ThreadState current_thread{};

namespace {

constexpr std::size_t kMeetings = kMaxThreadsPerBlock;  // no thread waits in two of them
// Threads that only look at memory run in turns, and after so many turns without anything else, other blocks run. Where
// no more threads than those of a warp could run in the block (others have ended, or wait at a barrier), four turns of
// each are enough: what they wait for comes from elsewhere.
constexpr unsigned kYieldsBeforeOtherBlocks = 4096;
constexpr unsigned kYieldsOfFewThreads = 128;

std::uint64_t mix(std::uint64_t z) {  // SplitMix64's finalizer (Steele, Lea, Flood, OOPSLA 2014)
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

std::vector<void (*)(void*)>& namespace_arrays() {
    static std::vector<void (*)(void*)> all;
    return all;
}

}  // namespace

NamespaceDynamicShared::NamespaceDynamicShared(void (*point_at)(void* start)) {
    namespace_arrays().push_back(point_at);
}

namespace {

std::byte* map_arena() {
    void* arena = mmap(nullptr, kArenaBytes + kMeetings * sizeof(Meeting), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED) throw std::bad_alloc();
    return static_cast<std::byte*>(arena);
}

}  // namespace

const ClusterSupport* cluster_support = nullptr;

std::size_t Block::meeting_bytes() { return kMeetings * sizeof(Meeting); }

Block::Block(FiberPool& pool) : Block(pool, map_arena(), nullptr) {
    meetings_ = reinterpret_cast<Meeting*>(arena_ + kArenaBytes);
    owns_arena_ = true;
}

Block::Block(FiberPool& pool, std::byte* arena, std::byte* meetings)
    : pool_(pool), meetings_(reinterpret_cast<Meeting*>(meetings)), arena_(arena) {
    // Nothing below allocates while device threads run: a fault may end a kernel at any instruction.
    fibers_.reserve(kMaxThreadsPerBlock);
    ready_ = std::make_unique<Fiber*[]>(kMaxThreadsPerBlock);
    at_barrier_ = std::make_unique<Fiber*[]>(kMaxThreadsPerBlock);
    order_.reserve(kMaxThreadsPerBlock);
}

Block::~Block() {
    if (owns_arena_) munmap(arena_, kArenaBytes + kMeetings * sizeof(Meeting));
}

void Block::begin(Launch& launch, std::uint64_t linear_index, Tally& tally) {
    launch_ = &launch;
    const std::uint64_t plane = static_cast<std::uint64_t>(launch.grid.x) * launch.grid.y;
    index_.z = static_cast<unsigned>(linear_index / plane);
    const std::uint64_t in_plane = linear_index % plane;
    index_.y = static_cast<unsigned>(in_plane / launch.grid.x);
    index_.x = static_cast<unsigned>(in_plane % launch.grid.x);
    saved_ = {};
    saved_.block = this;
    saved_.block_threads = launch.threads;
    saved_.row_end = launch.block.x;
    if (launch.seed != 0) {
        saved_.slowly = true;
        order_.resize(launch.threads);
        for (unsigned i = 0; i < launch.threads; ++i) order_[i] = i;
        std::uint64_t random = launch.seed ^ mix(linear_index) ^ mix(launch.id << 32);
        for (unsigned i = launch.threads; i > 1; --i) {
            random = mix(random);
            std::swap(order_[i - 1], order_[random % i]);
        }
    }
    poisoned_ = 0;
    async_barriers_.clear();
    thread_copies_.clear();
    thread_stores_.clear();
    end_bulk_copies_ = nullptr;
    barriers_passed_ = grid_barriers_passed_ = 0;
    state_ = State::running;
    yields_in_a_row_ = 0;
    const bool in_sample = launch.is_instrumented() && launch.instruments(linear_index);
    instrumented_ = in_sample || launch.diagnoser != nullptr;
    if (!instrumented_) return;
    find_own_variables();
    saved_.slowly = true;
    recording_ = in_sample && launch.instrument.counters;
    if (recording_) {
        if (!recorder_) recorder_ = std::make_unique<Recorder>();
        recorder_->begin(launch, *launch.arrays, tally, arena_, kArenaBytes, index_, linear_index,
                         linear_index < launch.instrument.traced_blocks);
    }
    if (launch.diagnoser) {
        ClusterDiagnoser* const cluster = cluster_ == nullptr ? nullptr : cluster_->diagnoser.get();
        diagnoser_ = std::make_unique<BlockDiagnoser>(*launch.diagnoser, linear_index, index_, arena_, kArenaBytes,
                                                      in_sample, cluster, rank_);
        if (!steps_) steps_ = std::make_unique<RecentSteps[]>(kMaxThreadsPerBlock);
        if (in_sample) ++launch.instrumented_blocks;
    }
}

void* Block::shared_address(std::size_t offset, std::size_t bytes) {
    if (offset + bytes > poisoned_) {
        // A shared variable that nobody wrote holds NaN. No thread of this block has seen these bytes yet.
        const std::size_t used = launch_->shared_bytes.load(std::memory_order_relaxed);
        if (cluster_ == nullptr) {
            poison_shared(used);
        } else {  // from now on a thread of this block can point into the others' memory as well
            for (unsigned rank = 0; rank < cluster_->count; ++rank) cluster_->blocks[rank]->poison_shared(used);
        }
    }
    return arena_ + offset;
}

void Block::poison_shared(std::size_t used) {
    std::memset(arena_ + poisoned_, kPoison, used - poisoned_);
    poisoned_ = used;
}

bool Block::is_shared_memory(const void* address) const {
    return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(arena_) < kArenaBytes;
}

bool Block::is_on_stack(const void* address) const {
    const auto end = reinterpret_cast<std::uintptr_t>(running_->stack_top);
    return end - reinterpret_cast<std::uintptr_t>(address) - 1 < running_->stack_bytes;
}

Block::State Block::run() {
    threadIdx = {};
    blockIdx = index_;
    blockDim = launch_->block;
    gridDim = launch_->grid;
    state_ = State::running;
    yields_in_a_row_ = 0;
    for (auto* point_at : namespace_arrays()) point_at(shared_address(0, launch_->dynamic_bytes));
    if (instrumented_) start_instrumenting();
    do {
        current_thread = saved_;
        if (has_ready()) {
            running_ = pop_ready();
            switch_context(running_->context, &host_);
        } else if (current_thread.next_thread < current_thread.block_threads) {
            start_fiber(&host_);
        }
        saved_ = current_thread;
        current_thread.block = nullptr;
        instrumented_thread.active = false;
        instrumented_thread.stop = 0;
        instrumented_thread.awaits_step = false;
        instrumented_thread.steps = nullptr;
        instrumented_thread.next = instrumented_thread.end = nullptr;
        running_ = nullptr;
        if (launch_->failure.load(std::memory_order_relaxed) != cudaSuccess) {
            finish();
            break;
        }
        if (state_ == State::spinning) break;
        if (has_ready() || saved_.next_thread < saved_.block_threads) continue;
        bool waiting = false;
        for (const Fiber* fiber : fibers_) waiting |= fiber->wait != Wait::nothing;
        if (!waiting) {
            finish();
            break;
        }
    } while (resolve_stall());
    return state_;
}

void Block::finish() {
    if (end_bulk_copies_ != nullptr && launch_->failure.load(std::memory_order_relaxed) == cudaSuccess) {
        (this->*end_bulk_copies_)();
    }
    if (instrumented_) {
        diagnoser_.reset();
        if (recording_ && launch_->failure.load(std::memory_order_relaxed) == cudaSuccess) {
            recorder_->flush();
            recorder_->end_block(barriers_passed_);
        }
        instrumented_ = recording_ = false;
    }
    // What other blocks of the cluster find in the shared memory of one that has ended is undefined.
    if (cluster_ != nullptr) std::memset(arena_, kPoison, poisoned_);
    for (Fiber* fiber : fibers_) {
        // A fiber that still waits, or was left in the middle of a thread, starts afresh.
        if (launch_->failure.load(std::memory_order_relaxed) != cudaSuccess) pool_.reset(fiber);
        fiber->wait = Wait::nothing;
        pool_.give_back(fiber);
    }
    fibers_.clear();
    ready_head_ = ready_tail_ = 0;
    arrived_ = 0;
    barrier_sum_ = 0;
    several_barriers_ = false;
    warps_at_barrier_ = 0;
    awaited_steps_.clear();
    if (launch_->failure.load(std::memory_order_relaxed) != cudaSuccess) {
        std::fill(std::begin(open_), std::end(open_), nullptr);
        free_meetings_ = nullptr;
        used_meetings_ = 0;
    }
    state_ = State::done;
}

// ---- switching -------------------------------------------------------------------------------------------

// After a switch the processor mispredicts every return up to the kernel's own code, because each stack has calls of
// its own. So what runs between a kernel and a switch is inlined into one function.
#define ALWAYS_INLINE inline __attribute__((always_inline))

void Block::start_fiber(boost::context::detail::fcontext_t* from) {
    Fiber* next = pool_.take();
    fibers_.push_back(next);
    running_ = next;
    switch_context(next->context, from);
}

void Block::run_until_idle() {
    thread_is_first_ = true;
    if (instrumented_) start_instrumenting_fiber();
    launch_->code.run_threads(launch_->code.call);
    Fiber* self = running_;  // what follows: no thread is left to start
    running_ = has_ready() ? pop_ready() : nullptr;
    switch_context(running_ != nullptr ? running_->context : host_, &self->context);
}

/// Where no thread is ready: a fresh fiber starts more threads, or the host finds out why none can run.
__attribute__((noinline)) void Block::switch_away(boost::context::detail::fcontext_t* from) {
    if (current_thread.next_thread < current_thread.block_threads) {
        start_fiber(from);
    } else {
        switch_context(host_, from);
    }
}

/// What the thread that comes after the next one needs. A large block's stacks do not fit the first-level cache.
ALWAYS_INLINE void Block::prefetch_thread(const Fiber& fiber) const {
    const char* end = static_cast<const char*>(fiber.context);
    __builtin_prefetch(end);
    __builtin_prefetch(end + 64);
    __builtin_prefetch(end + 128);
    if (recording_) [[unlikely]]
        recorder_->prefetch(fiber.linear_thread);
}

ALWAYS_INLINE void Block::switch_to_next() {
    Fiber* self = running_;
    if (!has_ready()) return switch_away(&self->context);
    Fiber* next = pop_ready();
    if (has_ready()) prefetch_thread(*ready_[ready_head_ % kMaxThreadsPerBlock]);
    running_ = next;
    if (next != self) switch_context(next->context, &self->context);
}

ALWAYS_INLINE void Block::save_thread(Fiber& fiber) {
    fiber.thread_index = threadIdx;
    fiber.linear_thread = current_thread.linear_thread;
}

ALWAYS_INLINE void Block::load_thread(const Fiber& fiber) {
    threadIdx = fiber.thread_index;
    current_thread.linear_thread = fiber.linear_thread;
}

ALWAYS_INLINE void Block::park(Wait wait, Site site) {
    Fiber* self = running_;
    if (instrumented_) [[unlikely]]
        stop_instrumenting_thread();
    save_thread(*self);
    self->site = site;
    self->wait = wait;
    switch_to_next();
    self->wait = Wait::nothing;
    load_thread(*self);
    if (instrumented_) [[unlikely]]
        go_on_instrumenting_thread();
}

void Block::abandon() {
    boost::context::detail::fcontext_t nowhere = nullptr;
    for (;;) switch_context(host_, &nowhere);
}

ALWAYS_INLINE bool Block::next_thread_slowly() {
    instrumented_thread.active = false;
    if (instrumented_thread.awaits_step) [[unlikely]]
        note_way_on(0);  // the thread has ended
    const bool merges = recording_ && !thread_is_first_ && recorder_->finish(current_thread.linear_thread);
    if (merges) [[unlikely]]
        return merge_and_start_thread();
    return start_thread();
}

// Not inlined, so that most threads start without registers being saved for the call.
__attribute__((noinline)) bool Block::merge_and_start_thread() {
    recorder_->merge(current_thread.linear_thread / kWarpSize);
    return start_thread();
}

ALWAYS_INLINE bool Block::start_thread() {
    ThreadState& state = current_thread;
    thread_is_first_ = false;
    if (state.next_thread == state.block_threads) return false;
    if (launch_->seed == 0) {
        start_in_order(state);
    } else {
        state.linear_thread = order_[state.next_thread++];
        threadIdx = thread_index(state.linear_thread);
    }
    if (instrumented_) {
        instrumented_thread.active = true;
        instrumented_thread.thread = state.linear_thread;
        if (diagnoser_) {
            instrumented_thread.steps = &steps_[state.linear_thread];
            instrumented_thread.steps->count = 0;
        }
        if (recording_) recorder_->start(state.linear_thread);
    }
    return true;
}

bool start_next_thread_slowly() { return current_thread.block->next_thread_slowly(); }

void Block::yield() {
    if (launch_->failure.load(std::memory_order_relaxed) != cudaSuccess) abandon();
    Fiber* self = running_;
    if (instrumented_) {
        stop_instrumenting_thread();
        if (recording_) recorder_->release(current_thread.linear_thread);
    }
    save_thread(*self);
    make_ready(self);
    const unsigned running = ready_tail_ - ready_head_ + (current_thread.block_threads - current_thread.next_thread);
    if (++yields_in_a_row_ > (running <= kWarpSize ? kYieldsOfFewThreads : kYieldsBeforeOtherBlocks)) {
        state_ = State::spinning;
        switch_context(host_, &self->context);
    } else if (current_thread.next_thread < current_thread.block_threads) {
        start_fiber(&self->context);  // whom it waits for may not have started
    } else {
        switch_to_next();
    }
    load_thread(*self);
    if (instrumented_) go_on_instrumenting_thread();
}

// ---- instrumenting ----------------------------------------------------------------------------------------------

/// What the callbacks have to know of the block.
void Block::start_instrumenting() {
    InstrumentedThread& self = instrumented_thread;
    self.diagnoser = diagnoser_.get();
    if (cluster_ != nullptr) {  // of all its blocks
        self.arena = reinterpret_cast<std::uintptr_t>(cluster_->arenas);
        self.arena_bytes = kMostBlocksOfCluster * kArenaBytes;
        self.block_bytes = Cluster::memory_bytes();
        return;
    }
    self.arena = reinterpret_cast<std::uintptr_t>(arena_);
    self.arena_bytes = kArenaBytes;
    self.block_bytes = kArenaBytes + kMeetings * sizeof(Meeting);
}

/// What they have to know of the fiber that has begun to run.
void Block::start_instrumenting_fiber() {
    instrumented_thread.stack_bytes = running_->stack_bytes;
    const auto stack_end = reinterpret_cast<std::uintptr_t>(running_->stack_top);
    instrumented_thread.stack = stack_end - running_->stack_bytes;
    instrumented_thread.lowest_height = TraceEvent::lowest_height(stack_end);
}

/// The running thread is about to wait.
void Block::stop_instrumenting_thread() {
    instrumented_thread.active = false;
    if (instrumented_thread.awaits_step) [[unlikely]]
        note_way_on(1);  // it lets others run
    if (diagnoser_) diagnoser_->pause();
    if (recording_) recorder_->block(current_thread.linear_thread);
}

void Block::go_on_instrumenting_thread() {
    start_instrumenting_fiber();
    instrumented_thread.active = true;
    instrumented_thread.thread = current_thread.linear_thread;
    if (diagnoser_) instrumented_thread.steps = &steps_[current_thread.linear_thread];
    if (recording_) recorder_->resume(current_thread.linear_thread);
}

/// All threads have come to a barrier or ended; the running one, if any, has been stopped.
void Block::instrument_barrier() {
    if (recording_) {
        recorder_->flush();
        recorder_->count_barrier(barrier_site_, static_cast<unsigned>(std::popcount(warps_at_barrier_)));
        recorder_->release_all_blocked();
    }
    if (diagnoser_) diagnoser_->barrier(barrier_site_);
}

void Block::wake_threads_with_room(unsigned warp) {
    recorder_->wake_full(warp, [this](unsigned thread) {
        for (Fiber* fiber : fibers_) {
            if (fiber->wait == Wait::room && fiber->linear_thread == thread) make_ready(fiber);
        }
    });
}

void Block::make_room() {
    const unsigned thread = current_thread.linear_thread;
    instrumented_thread.active = false;
    const bool awaits_step = std::exchange(instrumented_thread.awaits_step, false);
    const bool has_room = recorder_->make_room(thread);
    wake_threads_with_room(thread / kWarpSize);
    instrumented_thread.active = has_room;
    if (has_room) {
        instrumented_thread.awaits_step = awaits_step;
        return;
    }
    if (diagnoser_) diagnoser_->pause();
    Fiber* self = running_;
    save_thread(*self);
    self->wait = Wait::room;
    switch_to_next();
    self->wait = Wait::nothing;
    load_thread(*self);
    go_on_instrumenting_thread();
    instrumented_thread.awaits_step = awaits_step;
}

// ---- barriers --------------------------------------------------------------------------------------------

ALWAYS_INLINE unsigned Block::barrier(unsigned contribution, Site site) {
    thread_goes_on_at(site);
    barrier_sum_ += contribution;
    warps_at_barrier_ |= 1u << current_thread.linear_thread / kWarpSize;
    if (arrived_ == 0) {
        barrier_site_ = site;
    } else if (site.line != barrier_site_.line || site.file != barrier_site_.file) [[unlikely]] {
        several_barriers_ = several_barriers_ || !same_place(site, barrier_site_);
    }
    if (arrived_ + 1 < current_thread.block_threads || several_barriers_) {
        at_barrier_[arrived_++] = running_;
        park(Wait::barrier, site);
    } else if (!instrumented_) {
        release_barrier();  // the last to come goes on at once
    } else {
        stop_instrumenting_thread();
        release_barrier();
        go_on_instrumenting_thread();
    }
    return barrier_result_;
}

void Block::release_barrier() {
    ++barriers_passed_;
    if (instrumented_) instrument_barrier();
    barrier_result_ = barrier_sum_;
    barrier_sum_ = 0;
    ready_.swap(at_barrier_);  // nobody was ready: all others waited here
    ready_head_ = 0;
    ready_tail_ = arrived_;
    arrived_ = 0;
    several_barriers_ = false;
    warps_at_barrier_ = 0;
    yields_in_a_row_ = 0;
}

void Block::wait_for_grid(Site site) {
    if (!launch_->cooperative) {
        const Uninstrumented now;
        Diagnostic found = diagnostic(DiagnosticKind::kernel_trap, site);
        found.message = "grid.sync() in a kernel that was not launched by cudaLaunchCooperativeKernel";
        found.hint =
            "launch it with cudaLaunchCooperativeKernel, which makes sure that all blocks run at the same time";
        if (launch_->is_first_diagnostic(found.kind, site.line)) report(std::move(found));
        launch_->fail(cudaErrorLaunchFailure);
        abandon();
    }
    park(Wait::grid, site);
}

void Block::park_for_arrivals(const AsyncBarrier& barrier, Site site) {
    running_->barrier = static_cast<std::uint32_t>(&barrier - async_barriers_.data());
    park(Wait::arrivals, site);
}

void Block::park_for_cluster(Site site) { park(Wait::cluster, site); }

void Block::leave_grid_barrier() {
    ++grid_barriers_passed_;
    if (recording_) recorder_->flush();
    for (Fiber* fiber : fibers_) {
        if (fiber->wait != Wait::grid) continue;
        if (recording_) recorder_->release(fiber->linear_thread);
        make_ready(fiber);
    }
}

// ---- warps -----------------------------------------------------------------------------------------------

std::uint32_t Block::lanes_of_warp(unsigned warp) const {
    const unsigned lanes = std::min(kWarpSize, current_thread.block_threads - warp * kWarpSize);
    return lanes == kWarpSize ? 0xFFFFFFFFu : (1u << lanes) - 1;
}

Meeting* Block::open_meeting(unsigned warp, Collective operation, std::uint32_t required, Site site) {
    if (free_meetings_ == nullptr) free_meetings_ = new (&meetings_[used_meetings_++]) Meeting;
    Meeting* meeting = free_meetings_;
    free_meetings_ = meeting->next;
    meeting->required = required;
    meeting->arrived = 0;
    meeting->operation = operation;
    meeting->site = site;
    meeting->next = open_[warp];
    open_[warp] = meeting;
    return meeting;
}

ALWAYS_INLINE Meeting* Block::meet(Collective operation, std::uint32_t mask, std::uint64_t value, Site site) {
    const unsigned warp = warp_id();
    const unsigned lane = lane_id();
    const std::uint32_t self = 1u << lane;
    thread_goes_on_at(site);
    if ((mask & self) == 0) [[unlikely]]
        end_for_mask(operation, mask, site);
    const std::uint32_t required = mask & lanes_of_warp(warp);
    Meeting* meeting = open_[warp];
    while (meeting != nullptr && (meeting->required != required || meeting->operation != operation)) {
        meeting = meeting->next;
    }
    if (meeting == nullptr) meeting = open_meeting(warp, operation, required, site);
    meeting->value[lane] = value;
    meeting->arrived |= self;
    if (meeting->arrived == required) {
        complete(warp, meeting, self);
    } else {
        meeting->waiting[lane] = running_;
        park(Wait::meeting, site);
    }
    return meeting;
}

/// All of the lanes that came, less `running`, may go on.
void Block::complete(unsigned warp, Meeting* meeting, std::uint32_t running) {
    Meeting** link = &open_[warp];
    while (*link != meeting) link = &(*link)->next;
    *link = meeting->next;
    meeting->to_read = static_cast<unsigned>(std::popcount(meeting->arrived));
    if (instrumented_) {
        const Uninstrumented now;
        if (diagnoser_) diagnoser_->meeting(warp, meeting->arrived, meeting->operation, meeting->site);
        for (std::uint32_t rest = recording_ ? meeting->arrived & ~running : 0; rest != 0; rest &= rest - 1) {
            recorder_->release(warp * kWarpSize + static_cast<unsigned>(std::countr_zero(rest)));
        }
    }
    for (std::uint32_t rest = meeting->arrived & ~running; rest != 0; rest &= rest - 1) {
        make_ready(meeting->waiting[std::countr_zero(rest)]);
    }
    yields_in_a_row_ = 0;
}

void Block::leave(Meeting* meeting) {
    if (--meeting->to_read > 0) return;
    meeting->next = free_meetings_;
    free_meetings_ = meeting;
}

std::uint32_t Block::converge(Site site) {
    Fiber* self = running_;
    park(Wait::convergence, site);
    return self->converged;
}

// ---- when no thread can run ------------------------------------------------------------------------------

uint3 Block::thread_index(unsigned linear) const {
    const dim3& shape = launch_->block;
    return {linear % shape.x, linear / shape.x % shape.y, linear / (shape.x * shape.y)};
}

Diagnostic Block::diagnostic(DiagnosticKind kind, Site site) const {
    Diagnostic found{};
    found.kind = kind;
    found.kernel = launch_->site.kernel;
    found.site = site;
    found.block = index_;
    found.thread = threadIdx;
    return found;
}

bool Block::resolve_stall() {
    if (recording_) {
        for (unsigned warp = 0; warp * kWarpSize < launch_->threads; ++warp) {
            if (recorder_->make_room_in(warp)) wake_threads_with_room(warp);
        }
        if (has_ready()) return true;
    }
    unsigned waiting = 0;
    unsigned at_grid = 0;
    unsigned at_cluster = 0;
    unsigned at_arrivals = 0;
    for_each_waiting([&](const Fiber& fiber) {
        ++waiting;
        at_arrivals += fiber.wait == Wait::arrivals;
        at_grid += fiber.wait == Wait::grid;
        at_cluster += fiber.wait == Wait::cluster;
    });
    if (resolve_convergence()) return true;
    const unsigned exited = launch_->threads - waiting;
    if (at_grid == waiting && exited == 0) {
        state_ = State::at_grid_barrier;
        return false;
    }
    // Threads that have exited are not waited for ("Synchronization Functions", CUDA C++ Programming Guide).
    if (resolve_meetings() || resolve_barrier(exited)) return true;
    if (at_cluster > 0) {
        state_ = State::at_cluster_barrier;
        return false;
    }
    if (at_arrivals > 0 && cluster_ != nullptr && cluster_->count > 1) {
        state_ = State::awaits_arrivals;
        return false;
    }
    report_stall();
    launch_->fail(cudaErrorLaunchTimeout);  // a GPU would wait for ever
    finish();
    return false;
}

void Block::report_stall() {
    bool any_meeting = false;
    for (const Meeting* meeting : open_) any_meeting |= meeting != nullptr;
    if (any_meeting) {
        report_missing_lanes();
    } else if (!report_missing_arrivals()) {
        report_stuck_threads();
    }
}

bool Block::resolve_convergence() {
    // Lanes of a warp that stand at the same call have converged: nobody else can join them.
    bool any = false;
    for (Fiber* first : fibers_) {
        if (first->wait != Wait::convergence) continue;
        const unsigned warp = first->linear_thread / kWarpSize;
        std::uint32_t lanes = 0;
        for (Fiber* fiber : fibers_) {
            if (fiber->wait == Wait::convergence && fiber->linear_thread / kWarpSize == warp &&
                same_place(fiber->site, first->site)) {
                lanes |= 1u << fiber->linear_thread % kWarpSize;
            }
        }
        const Site site = first->site;
        for (Fiber* fiber : fibers_) {
            if (fiber->wait == Wait::convergence && fiber->linear_thread / kWarpSize == warp &&
                same_place(fiber->site, site)) {
                fiber->converged = lanes;
                fiber->wait = Wait::nothing;
                if (recording_) recorder_->release(fiber->linear_thread);
                make_ready(fiber);
            }
        }
        any = true;
    }
    return any;
}

/// All threads that still run have come to a barrier: they go on.
bool Block::resolve_barrier(unsigned exited) {
    if (arrived_ == 0 || arrived_ + exited < launch_->threads) return false;
    if (several_barriers_) report_different_barriers();
    release_barrier();
    return true;
}

/// Lanes that have exited will never come: the others go on without them.
bool Block::resolve_meetings() {
    bool any = false;
    const unsigned warps = (launch_->threads + kWarpSize - 1) / kWarpSize;
    for (unsigned warp = 0; warp < warps; ++warp) {
        if (open_[warp] == nullptr) continue;
        const std::uint32_t live = live_lanes(warp);
        for (Meeting *meeting = open_[warp], *next; meeting != nullptr; meeting = next) {
            next = meeting->next;
            if ((meeting->required & ~meeting->arrived & live) != 0) continue;
            complete(warp, meeting, 0);
            any = true;
        }
    }
    return any;
}

std::uint32_t Block::live_lanes(unsigned warp) const {
    std::uint32_t lanes = 0;
    for_each_waiting([&](const Fiber& fiber) {
        if (fiber.linear_thread / kWarpSize == warp) lanes |= 1u << fiber.linear_thread % kWarpSize;
    });
    return lanes;
}

// ---- what device code calls ------------------------------------------------------------------------------

Block& running_block(const char* what) {
    if (current_thread.block == nullptr) {
        std::fprintf(stderr, "CPU device: %s outside of a kernel\n", what);
        std::abort();
    }
    return *current_thread.block;
}

unsigned block_barrier(unsigned contribution, Site site) {
    return running_block("__syncthreads").barrier(contribution, site);
}

void grid_barrier(Site site) { running_block("grid.sync()").wait_for_grid(site); }

LaneValues enter_collective(Collective operation, std::uint32_t mask, std::uint64_t value, Site site) {
    Meeting* meeting = running_block("a warp-wide operation").meet(operation, mask, value, site);
    return {meeting->arrived, meeting->value, meeting};
}

void leave_collective(const LaneValues& values) { current_thread.block->leave(static_cast<Meeting*>(values.meeting)); }

std::uint64_t note_shuffle(std::uint32_t mask, std::uint32_t came, unsigned source, Site site) {
    return current_thread.block->note_shuffle(mask, came, source, site);
}

std::uint32_t converged_lanes(Site site) { return running_block("__activemask").converge(site); }

}  // namespace cpu_device
