// Runs the threads of a block, one after the other, and writes down what each of them accesses. Compiled without
// instrumentation.
#include <stddef.h>

struct uint3 {
    unsigned x, y, z;
};
uint3 threadIdx, blockIdx, blockDim, gridDim;

extern "C" unsigned char __heap_base;
extern "C" void live_start(unsigned kernel, const unsigned* words);  // one thread, up to its first barrier

namespace live {
enum class Waits : unsigned { nobody, block, warp };
}
using live::Waits;

namespace {

constexpr unsigned kLanes = 32;
constexpr unsigned kThreads = 1024;
constexpr unsigned kEvents = 1u << 18;
constexpr unsigned kFrameBytes = 1u << 20;
constexpr unsigned kSharedArrays = 8;
constexpr unsigned kBarrier = 0xffff;  // in the place of a site

// Of each event: site << 16 | thread, and the address of an access; or of a barrier its line, and 1 << 31 if it is one
// of the warp.
unsigned events[kEvents][2];
unsigned event_count;

alignas(16) unsigned char frames[kFrameBytes];
unsigned frame_bytes;

struct Shared {
    unsigned begin, bytes, name;
};
Shared shared[kSharedArrays];
unsigned shared_count;

struct Parked {
    void* frame;
    Waits waits;
};
Parked parked[kThreads];
unsigned arguments[64];
unsigned current;  // the thread that runs

[[noreturn]] void give_up() { __builtin_trap(); }

void note(unsigned site, unsigned value) {
    if (event_count == kEvents) give_up();
    events[event_count][0] = site << 16 | current;
    events[event_count][1] = value;
    ++event_count;
}

void become(unsigned thread) {
    current = thread;
    threadIdx = {thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / blockDim.x / blockDim.y};
    parked[thread].waits = Waits::nobody;
}

// Whether some of the threads [begin, end) wait at such a barrier.
bool any(unsigned begin, unsigned end, Waits waits) {
    for (unsigned thread = begin; thread < end; ++thread) {
        if (parked[thread].waits == waits) return true;
    }
    return false;
}

void resume(unsigned begin, unsigned end, Waits waits) {
    for (unsigned thread = begin; thread < end; ++thread) {
        if (parked[thread].waits != waits) continue;
        become(thread);
        __builtin_coro_resume(parked[thread].frame);
    }
}

// Until its threads have ended, or wait for the block.
void run_warp(unsigned begin, unsigned end) {
    while (any(begin, end, Waits::warp)) {
        if (any(begin, end, Waits::block)) give_up();  // they wait at different barriers
        resume(begin, end, Waits::warp);
    }
}

}  // namespace

namespace live {

void wait_at(void* frame, Waits waits, unsigned line) noexcept {
    parked[current] = {frame, waits};
    note(kBarrier, line | (waits == Waits::warp ? 1u << 31 : 0));
}

void* new_frame(size_t bytes) {
    void* const frame = frames + frame_bytes;
    frame_bytes += (bytes + 15) / 16 * 16;
    if (frame_bytes > kFrameBytes) give_up();
    return frame;
}

void shared_array(const void* array, unsigned bytes, unsigned name) {
    const unsigned begin = reinterpret_cast<size_t>(array);
    for (unsigned k = 0; k < shared_count; ++k) {
        if (shared[k].begin == begin) return;
    }
    if (shared_count == kSharedArrays) give_up();
    shared[shared_count++] = {begin, bytes, name};
}

}  // namespace live

extern "C" {

void __tsan_init() {}

// A load or store of the kernel. Those of its own variables, on the stack or in a frame, are none of memory.
void live_access(const void* where, unsigned site) {
    const unsigned address = reinterpret_cast<size_t>(where);
    bool is_memory = address >= reinterpret_cast<size_t>(&__heap_base);
    for (unsigned k = 0; k < shared_count && !is_memory; ++k) {
        is_memory = address >= shared[k].begin && address < shared[k].begin + shared[k].bytes;
    }
    if (is_memory) note(site, address);
}

// A basic block begins.
void live_step(unsigned site) { note(site, 0); }

void live_shape(unsigned grid_x, unsigned grid_y, unsigned block_x, unsigned block_y) {
    gridDim = {grid_x, grid_y, 1};
    blockDim = {block_x, block_y, 1};
}

// Returns the number of events.
unsigned live_block(unsigned kernel, unsigned x, unsigned y) {
    const unsigned threads = blockDim.x * blockDim.y;
    if (threads > kThreads) give_up();
    blockIdx = {x, y, 0};
    event_count = frame_bytes = shared_count = 0;

    for (unsigned begin = 0; begin < threads; begin += kLanes) {
        const unsigned end = begin + kLanes < threads ? begin + kLanes : threads;
        for (unsigned thread = begin; thread < end; ++thread) {
            become(thread);
            live_start(kernel, arguments);
        }
        run_warp(begin, end);
    }
    while (any(0, threads, Waits::block)) {
        for (unsigned begin = 0; begin < threads; begin += kLanes) {
            const unsigned end = begin + kLanes < threads ? begin + kLanes : threads;
            resume(begin, end, Waits::block);
            run_warp(begin, end);
        }
    }
    return event_count;
}

void* live_arguments() { return arguments; }
const void* live_events() { return events; }
const void* live_shared() { return shared; }
unsigned live_shared_count() { return shared_count; }

}  // extern "C"
