#include "recorder.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "block.h"
#include "watched_code.h"

namespace cpu_device {

Recorder::Recorder() {
    void* memory = mmap(nullptr, kThreads * kStride * sizeof(TraceEvent), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    traces_ = static_cast<TraceEvent*>(memory);
}

Recorder::~Recorder() { munmap(traces_, kThreads * kStride * sizeof(TraceEvent)); }

void Recorder::begin(Launch& launch, const ArrayMap& arrays, Tally& tally, const std::byte* arena,
                     std::size_t arena_bytes) {
    launch_ = &launch;
    arrays_ = &arrays;
    tally_ = &tally;
    arena_ = reinterpret_cast<std::uintptr_t>(arena);
    arena_bytes_ = arena_bytes;
    threads_ = launch.threads;
    warps_ = (threads_ + 31) / 32;
    std::fill_n(lanes_.begin(), threads_, Lane{});
    std::fill_n(full_.begin(), warps_, 0);
    std::fill_n(finished_.begin(), warps_, 0);
    if (shared_launch_ != launch.id) {
        shared_.clear();
        shared_launch_ = launch.id;
    }
}

void Recorder::save(unsigned thread) {
    lanes_[thread].count = static_cast<std::uint16_t>(watched_thread.next - trace(thread));
    watched_thread.next = watched_thread.end = nullptr;
}

void Recorder::finish(unsigned thread) {
    save(thread);
    lanes_[thread].state = State::finished;
    const unsigned warp = thread / 32;
    if (++finished_[warp] == std::min(32u, threads_ - warp * 32)) merge(warp);
}

void Recorder::block(unsigned thread) {
    save(thread);
    lanes_[thread].state = State::blocked;
}

void Recorder::release(unsigned thread) {
    if (lanes_[thread].state == State::full) --full_[thread / 32];
    lanes_[thread].state = State::running;
}

void Recorder::resume(unsigned thread) {
    lanes_[thread].state = State::running;
    watched_thread.next = trace(thread) + lanes_[thread].count;
    watched_thread.end = trace(thread) + kEvents;
}

void Recorder::release_all_blocked() {
    for (unsigned thread = 0; thread < threads_; ++thread) {
        if (lanes_[thread].state == State::blocked) lanes_[thread].state = State::running;
    }
}

bool Recorder::make_room(unsigned thread) {
    save(thread);
    lanes_[thread].state = State::full;
    const unsigned warp = thread / 32;
    ++full_[warp];
    merge(warp);
    if (lanes_[thread].count == kEvents) return false;
    release(thread);
    resume(thread);
    return true;
}

void Recorder::flush() {
    for (unsigned warp = 0; warp < warps_; ++warp) merge(warp);
}

/// Carries out the lanes' traces together, until nothing is left or a lane that may still go on has nothing more to
/// show.
void Recorder::merge(unsigned warp) {
    constexpr std::uint32_t all = 0xFFFFFFFFu;
    const unsigned first = warp * 32;
    const unsigned lanes = std::min(32u, threads_ - first);
    Heads heads{};
    Heads ends{};
    std::uint32_t present = 0;      // lanes that have an event to show
    std::ptrdiff_t sure = kEvents;  // events that each of them has at least
    const auto may_show_more = [&](unsigned lane) {
        const State state = lanes_[first + lane].state;
        return state != State::blocked && state != State::finished;
    };
    for (unsigned lane = 0; lane < lanes; ++lane) {
        const unsigned count = lanes_[first + lane].count;
        if (count == 0) {
            if (may_show_more(lane)) return;
            continue;
        }
        heads[lane] = trace(first + lane);
        ends[lane] = heads[lane] + count;
        present |= 1u << lane;
        sure = std::min<std::ptrdiff_t>(sure, count);
    }
    bool stuck = false;
    while (present != 0 && !stuck) {
        std::uint32_t together = present;
        const std::uint64_t place = heads[static_cast<unsigned>(std::countr_zero(present))]->order;
        std::uint64_t different = 0;
        if (present == all) {  // mostly
            for (unsigned lane = 0; lane < 32; ++lane) different |= heads[lane]->order ^ place;
        } else {
            for_each_lane(present, [&](unsigned lane) { different |= heads[lane]->order ^ place; });
        }
        if (different != 0) {
            std::uint64_t least = ~std::uint64_t{0};
            for_each_lane(present, [&](unsigned lane) { least = std::min(least, heads[lane]->order); });
            together = 0;
            for_each_lane(present,
                          [&](unsigned lane) { together |= std::uint32_t{heads[lane]->order == least} << lane; });
        }
        const TraceEvent& event = *heads[static_cast<unsigned>(std::countr_zero(together))];
        if (event.kind() == TraceEvent::step) {
            tally_->add_step(event.code(), static_cast<unsigned>(std::popcount(together)));
        } else {
            count_access(event, together, heads);
        }
        if (together == all && --sure > 0) {
            for (unsigned lane = 0; lane < 32; ++lane) ++heads[lane];
            continue;
        }
        for_each_lane(together, [&](unsigned lane) {
            if (++heads[lane] != ends[lane]) return;
            present &= ~(1u << lane);
            stuck |= may_show_more(lane);
        });
        sure = kEvents;
        for_each_lane(present, [&](unsigned lane) { sure = std::min(sure, ends[lane] - heads[lane]); });
    }
    for (unsigned lane = 0; lane < lanes; ++lane) {
        if (ends[lane] == nullptr) continue;
        TraceEvent* events = trace(first + lane);
        const auto left = static_cast<std::size_t>(ends[lane] - heads[lane]);
        if (left != 0 && heads[lane] != events) std::memmove(events, heads[lane], left * sizeof(TraceEvent));
        lanes_[first + lane].count = static_cast<std::uint16_t>(left);
    }
}

void Recorder::count_access(const TraceEvent& event, std::uint32_t lanes, const Heads& heads) {
    std::uint32_t in_shared = 0;
    if (lanes == 0xFFFFFFFFu) {
        for (unsigned lane = 0; lane < 32; ++lane) address_[lane] = TraceEvent::address_of(heads[lane]->place);
        for (unsigned lane = 0; lane < 32; ++lane) {
            in_shared |= std::uint32_t{address_[lane] - arena_ < arena_bytes_} << lane;
        }
    } else {
        for_each_lane(lanes, [&](unsigned lane) {
            address_[lane] = TraceEvent::address_of(heads[lane]->place);
            in_shared |= std::uint32_t{address_[lane] - arena_ < arena_bytes_} << lane;
        });
    }
    if (in_shared != 0) count_in_one_space(event, true, in_shared);
    if (in_shared != lanes) count_in_one_space(event, false, lanes & ~in_shared);
}

/// One access of the host may be several requests of a GPU: nvcc copies structures by their alignment, and this takes
/// it to be that of four bytes.
void Recorder::count_in_one_space(const TraceEvent& event, bool shared, std::uint32_t lanes) {
    const std::uint64_t leader = address_[static_cast<unsigned>(std::countr_zero(lanes))];
    const TraceEvent::Kind kind = event.kind();
    const bool reads = kind == TraceEvent::read || kind == TraceEvent::copy_read;
    const bool writes = kind == TraceEvent::write || kind == TraceEvent::copy_write;
    const bool copies = kind == TraceEvent::copy_read || kind == TraceEvent::copy_write;
    int array = 0;
    MemoryOperation operation{};
    if (shared) {
        array = shared_array(leader - arena_);
        operation = reads    ? MemoryOperation::shared_load
                    : writes ? MemoryOperation::shared_store
                             : MemoryOperation::shared_atomic;
    } else {
        array = arrays_->find(leader);
        if (array < 0) return;  // not the kernel's: a table of the program, a structure of the runtime
        operation = writes                              ? MemoryOperation::global_store
                    : !reads                            ? MemoryOperation::global_atomic
                    : arrays_->range(array).is_constant ? MemoryOperation::constant_load
                                                        : MemoryOperation::global_load;
    }
    const std::uint32_t bytes = event.bytes();
    std::uint32_t width = bytes;
    const bool joined = shared && bytes <= 16 && std::has_single_bit(bytes) && leader % bytes == 0;
    if (copies && !joined) {
        width = bytes % 4 == 0 && leader % 4 == 0 ? 4 : bytes % 2 == 0 && leader % 2 == 0 ? 2 : 1;
    }
    request_.bytes = width;
    request_.lanes = lanes;
    request_.atomic = kind == TraceEvent::increment          ? AtomicUse::increment
                      : kind == TraceEvent::compare_and_swap ? AtomicUse::compare_and_swap
                                                             : AtomicUse::update;
    const std::uint64_t base = shared ? arena_ : 0;
    for (std::uint32_t offset = 0; offset < bytes; offset += width) {
        for (unsigned lane = 0; lane < 32; ++lane) request_.address[lane] = address_[lane] - base + offset;
        tally_->add_request(event.code(), operation, array, model_.count(operation, request_));
    }
}

int Recorder::shared_array(std::uint64_t offset) {
    for (int attempt = 0; attempt < 2; ++attempt) {
        for (const SharedRange& range : shared_) {
            if (offset >= range.begin && offset < range.end) return range.array;
        }
        // A variable that this host thread has not heard of yet.
        std::lock_guard lock(launch_->mutex);
        shared_.clear();
        if (launch_->dynamic_bytes > 0) shared_.push_back({0, launch_->dynamic_bytes, kFirstSharedArray});
        int array = kFirstSharedArray;
        for (const SharedVariable* variable : launch_->shared_variables) {
            shared_.push_back({variable->offset, variable->offset + variable->bytes, ++array});
        }
    }
    return kFirstSharedArray;
}

}  // namespace cpu_device
