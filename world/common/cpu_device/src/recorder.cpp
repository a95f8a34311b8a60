#include "recorder.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <new>
#include <utility>

#include "block.h"
#include "cpu_device/occupancy.h"
#include "instrumented_code.h"

namespace cpu_device {
namespace {

/// Bytes of an SM's 256 KiB that one block finds as L1, if its SM is full of blocks like it. Blocks that run together
/// partly want the same lines, and so do the warps of a block, which run one after the other here: more than the even
/// share (the exponent was chosen with the training part of common/tests/model).
std::size_t l1_share(const Launch& launch) {
    constexpr std::size_t all = 256 * 1024;
    const int resident =
        occupancy(static_cast<int>(launch.threads), launch.instrument.registers, launch.dynamic_bytes).blocks_per_sm;
    const auto blocks = static_cast<std::size_t>(std::max(resident, 1));
    const std::size_t shared = std::min(all, blocks * (launch.dynamic_bytes + 1024));
    return static_cast<std::size_t>(static_cast<double>(all - shared) / std::sqrt(static_cast<double>(blocks)));
}

}  // namespace

Recorder::Recorder() {
    void* memory = mmap(nullptr, kThreads * kStride * sizeof(TraceEvent), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    madvise(memory, kThreads * kStride * sizeof(TraceEvent), MADV_HUGEPAGE);  // the lanes' traces lie far apart
    traces_ = static_cast<TraceEvent*>(memory);
}

Recorder::~Recorder() { munmap(traces_, kThreads * kStride * sizeof(TraceEvent)); }

void Recorder::begin(Launch& launch, const ArrayMap& arrays, Tally& tally, const std::byte* arena,
                     std::size_t arena_bytes, uint3 block, std::uint64_t linear_index, bool traced) {
    launch_ = &launch;
    arrays_ = &arrays;
    tally_ = &tally;
    arena_ = reinterpret_cast<std::uintptr_t>(arena);
    arena_bytes_ = arena_bytes;
    threads_ = launch.threads;
    warps_ = (threads_ + 31) / 32;
    std::fill_n(counts_.begin(), warps_ * 32, 0);  // also of lanes that the last warp does not have
    std::fill_n(states_.begin(), threads_, State::running);
    std::fill_n(full_.begin(), warps_, 0);
    std::fill_n(unfinished_.begin(), warps_, 32);
    if (threads_ % 32 != 0) unfinished_[warps_ - 1] = static_cast<unsigned char>(threads_ % 32);
    traced_ = traced;
    if (traced) {
        first_trace_ = tally.add_traces(warps_);
        for (unsigned warp = 0; warp < warps_; ++warp) {
            TracedWarp& trace = tally.trace(first_trace_ + warp);
            trace.block = block;
            trace.warp = warp;
            trace.threads = std::min(32u, threads_ - warp * 32);
        }
    }
    begin_model(linear_index);
    if (shared_launch_ != launch.id) {
        shared_.clear();
        shared_launch_ = launch.id;
    }
}

void Recorder::release_all_blocked() {
    for (unsigned thread = 0; thread < threads_; ++thread) {
        if (states_[thread] == State::blocked) states_[thread] = State::running;
    }
}

bool Recorder::make_room(unsigned thread) {
    save(thread, State::full);
    const unsigned warp = thread / 32;
    ++full_[warp];
    merge(warp);
    if (counts_[thread] >= kEvents) return false;
    release(thread);
    resume(thread);
    return true;
}

void Recorder::flush() {
    for (unsigned warp = 0; warp < warps_; ++warp) merge(warp);
}

void Recorder::merge(unsigned warp) {
    warp_ = warp;
    recorded_ =
        modeled_block_ && recorded_warps_[warp] != 0 ? &tally_->model().warps[recorded_warps_[warp] - 1] : nullptr;
    const unsigned first = warp * 32;
    const unsigned lanes = std::min(32u, threads_ - first);
    const Count done = merge_common_events(first);
    Count* const counts = &counts_[first];
    Count more = 0;
    for (unsigned lane = 0; lane < 32; ++lane) more |= counts[lane] ^ done;
    if (more == 0) {
        std::fill_n(counts, 32, 0);
        return;
    }
    Heads heads;
    Heads ends;
    std::uint32_t present = 0;  // lanes that have an event to show
    bool stuck = false;
    const auto may_show_more = [&](unsigned lane) {
        const State state = states_[first + lane];
        return state != State::blocked && state != State::finished;
    };
    for (unsigned lane = 0; lane < lanes; ++lane) {
        heads[lane] = trace(first + lane) + done;
        ends[lane] = trace(first + lane) + counts_[first + lane];
        if (heads[lane] != ends[lane]) {
            present |= 1u << lane;
        } else {
            stuck |= may_show_more(lane);
        }
    }
    while (present != 0 && !stuck) {
        std::uint64_t least = ~std::uint64_t{0};
        std::uint32_t together = 0;
        for_each_lane(present, [&](unsigned lane) {
            const std::uint64_t order = heads[lane]->order;
            if (order < least) {
                least = order;
                together = 0;
            }
            together |= std::uint32_t{order == least} << lane;
        });
        count_event(*heads[static_cast<unsigned>(std::countr_zero(together))], together, heads);
        for_each_lane(together, [&](unsigned lane) {
            if (++heads[lane] != ends[lane]) return;
            present &= ~(1u << lane);
            stuck |= may_show_more(lane);
        });
    }
    for (unsigned lane = 0; lane < lanes; ++lane) {
        TraceEvent* events = trace(first + lane);
        const auto left = static_cast<std::size_t>(ends[lane] - heads[lane]);
        if (left != 0 && heads[lane] != events) std::memmove(events, heads[lane], left * sizeof(TraceEvent));
        counts_[first + lane] = static_cast<Count>(left);
    }
}

/// Counts the events that 32 lanes have in common from the first one on: in most warps all. Returns how many.
Recorder::Count Recorder::merge_common_events(unsigned first) {
    if (first + 32 > threads_) return 0;
    const Count* const counts = &counts_[first];
    Count least = counts[0];
    for (unsigned lane = 0; lane < 32; ++lane) least = std::min(least, counts[lane]);
    const TraceEvent* leader = trace(first);
    for (Count i = 0; i < least; ++i, ++leader) {
        const std::uint64_t order = leader->order;
        std::uint64_t different = 0;
        for (unsigned lane = 1; lane < 32; ++lane) different |= leader[lane * kStride].order ^ order;
        if (different != 0) return i;
        if (leader->kind() == TraceEvent::step) {
            count_step(leader->code(), 0xFFFFFFFFu);
            continue;
        }
        std::uint64_t any = 0;
        std::uint64_t all = ~std::uint64_t{0};
        for (unsigned lane = 0; lane < 32; ++lane) {
            const std::uint64_t place = leader[lane * kStride].place;
            request_.address[lane] = TraceEvent::address_of(place);
            any |= place;
            all &= place;
        }
        if (!TraceEvent::is_in_shared(any)) {
            count_access(*leader, false, 0xFFFFFFFFu);
        } else if (TraceEvent::is_in_shared(all)) {
            count_access(*leader, true, 0xFFFFFFFFu);
        } else {
            return i;
        }
    }
    return least;
}

/// What the lanes do together.
void Recorder::count_event(const TraceEvent& event, std::uint32_t lanes, const Heads& heads) {
    if (event.kind() == TraceEvent::step) {
        count_step(event.code(), lanes);
        return;
    }
    std::uint32_t in_shared = 0;
    for_each_lane(lanes, [&](unsigned lane) {
        request_.address[lane] = TraceEvent::address_of(heads[lane]->place);
        in_shared |= std::uint32_t{TraceEvent::is_in_shared(heads[lane]->place)} << lane;
    });
    if (in_shared != 0) count_access(event, true, in_shared);
    if (in_shared != lanes) count_access(event, false, lanes & ~in_shared);
}

/// Of lanes whose addresses stand in `request_`, all of them in shared memory or none. One access of the host may be
/// several requests of a GPU: nvcc copies structures by their alignment, and this takes it to be that of four bytes.
void Recorder::count_access(const TraceEvent& event, bool shared, std::uint32_t lanes) {
    if (shared && launch_->cluster_blocks > 1) [[unlikely]] {
        std::uint32_t remote = 0;
        for_each_lane(lanes, [&](unsigned lane) {
            remote |= std::uint32_t{request_.address[lane] - arena_ >= arena_bytes_} << lane;
        });
        if (remote != 0) count_remote(event, remote);
        lanes &= ~remote;
        if (lanes == 0) return;
    }
    const std::uint64_t leader = request_.address[static_cast<unsigned>(std::countr_zero(lanes))];
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
    for (std::uint32_t offset = 0; offset < bytes; offset += width) {
        const RequestCounters counters = model_.count(operation, request_);
        tally_->add_request(event.code(), operation, array, counters);
        if (traced_) [[unlikely]]
            trace_access(event.code(), operation, array, counters);
        if (modeled_) model_access(event, operation, array, counters);
        if (offset + width < bytes) for_each_lane(lanes, [&](unsigned lane) { request_.address[lane] += width; });
    }
    if (bytes > width) for_each_lane(lanes, [&](unsigned lane) { request_.address[lane] -= bytes - width; });
}

/// Of lanes that access shared memory of other blocks of the cluster: over the network between the SMs. How many
/// wavefronts that takes in those SMs is not known.
void Recorder::count_remote(const TraceEvent& event, std::uint32_t lanes) {
    const TraceEvent::Kind kind = event.kind();
    const bool reads = kind == TraceEvent::read || kind == TraceEvent::copy_read;
    const bool writes = kind == TraceEvent::write || kind == TraceEvent::copy_write;
    const MemoryOperation operation = reads    ? MemoryOperation::shared_load
                                      : writes ? MemoryOperation::shared_store
                                               : MemoryOperation::shared_atomic;
    const auto own_place = [&](unsigned lane) { return (request_.address[lane] - arena_) % kArenaBytes; };
    const int array = shared_array(own_place(static_cast<unsigned>(std::countr_zero(lanes))));
    RequestCounters counters;
    counters.requests = 1;
    counters.lanes = counters.remote_lanes = static_cast<std::uint64_t>(std::popcount(lanes));
    counters.bytes = counters.lanes * event.bytes();
    tally_->add_request(event.code(), operation, array, counters);
    if (!traced_) return;
    const WarpRequest all = request_;
    request_.lanes = lanes;
    request_.bytes = event.bytes();
    for_each_lane(lanes, [&](unsigned lane) { request_.address[lane] = arena_ + own_place(lane); });
    trace_access(event.code(), operation, array, counters);
    request_ = all;
}

/// One side of a copy in bulk. What is partly outside of the tensor is counted by elements of four bytes or less.
void Recorder::count_bulk(const void* code, bool shared, bool writes, const std::vector<BulkPiece>& pieces) {
    const auto kind = writes ? TraceEvent::write : TraceEvent::read;
    const auto offset = static_cast<std::uint32_t>(static_cast<const char*>(code) - code_start());
    RecordedWarp* const recorded = std::exchange(recorded_, nullptr);  // it belongs to no warp
    request_.lanes = 0;
    request_.bytes = kBulkChunk;
    unsigned lanes = 0;
    const auto flush = [&] {
        if (lanes == 0) return;
        request_.lanes = lanes == 32 ? 0xFFFFFFFFu : (1u << lanes) - 1;
        const TraceEvent event = {TraceEvent::order_of(0, offset, kind),
                                  TraceEvent::place_of(request_.address[0], shared, request_.bytes)};
        count_access(event, shared, request_.lanes);
        lanes = 0;
    };
    const auto add = [&](std::uint64_t address, std::uint32_t bytes) {
        if (lanes == 32 || (lanes > 0 && request_.bytes != bytes)) flush();
        request_.bytes = bytes;
        request_.address[lanes++] = address;
    };
    for (const BulkPiece& piece : pieces) {
        const std::uint64_t address =
            shared ? reinterpret_cast<std::uintptr_t>(piece.shared) : reinterpret_cast<std::uintptr_t>(piece.global);
        if (shared || piece.bytes == kBulkChunk) {
            add(address, kBulkChunk);
            continue;
        }
        const std::uint32_t width = piece.bytes % 4 == 0 && address % 4 == 0 ? 4 : piece.bytes % 2 == 0 ? 2 : 1;
        for (std::uint32_t done = 0; done < piece.bytes; done += width) add(address + done, width);
    }
    flush();
    recorded_ = recorded;
}

void Recorder::count_bulk_load(const void* code, const std::vector<BulkPiece>& pieces, unsigned blocks, unsigned own) {
    if (code == nullptr) return;
    count_bulk(code, false, false, pieces);
    std::vector<BulkPiece> there = pieces;
    for (unsigned rank = 0; blocks >> rank != 0; ++rank) {
        if ((blocks >> rank & 1) == 0) continue;
        // The blocks' shared memory lies one after the other.
        const auto begin = static_cast<std::ptrdiff_t>(arena_) +
                           (std::ptrdiff_t{rank} - std::ptrdiff_t{own}) * static_cast<std::ptrdiff_t>(kArenaBytes);
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            there[i].shared = reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(pieces[i].shared) +
                                                           static_cast<std::uintptr_t>(begin));
        }
        count_bulk(code, true, true, there);
    }
}

void Recorder::count_bulk_store(const void* code, const std::vector<BulkPiece>& pieces) {
    if (code == nullptr) return;
    count_bulk(code, true, false, pieces);
    count_bulk(code, false, true, pieces);
}

void Recorder::begin_model(std::uint64_t linear_index) {
    modeled_ = modeled_block_ = false;
    recorded_ = nullptr;
    if (!launch_->instrument.model) return;
    // Of many blocks a quarter is enough for the caches, whichever comes first.
    constexpr std::uint64_t few_blocks = 64;
    const bool recorded = launch_->records_for_model(linear_index);
    modeled_ = recorded || launch_->blocks <= few_blocks || linear_index * 0x9E3779B97F4A7C15u >> 62 == 0;
    if (!modeled_) return;
    ++tally_->model().blocks;
    l1_.begin(l1_share(*launch_));
    if (!recorded) return;
    modeled_block_ = true;
    std::vector<RecordedWarp>& warps = tally_->model().warps;
    for (unsigned warp = 0; warp < warps_; ++warp) {
        // The first, one in the middle, and the last: they stand for those between.
        const bool chosen = warp == 0 || warp == warps_ / 2 || warp == warps_ - 1;
        recorded_warps_[warp] = chosen ? warps.size() + 1 : 0;
        if (chosen) warps.push_back({linear_index, warp, 0, {}});
    }
}

void Recorder::record(const WarpEvent& event) {
    ++recorded_->all_events;
    if (recorded_->events.size() < ModelTally::kMostEvents) recorded_->events.push_back(event);
}

void Recorder::record_barrier() {
    for (unsigned warp = 0; warp < warps_; ++warp) {
        if (recorded_warps_[warp] == 0) continue;
        recorded_ = &tally_->model().warps[recorded_warps_[warp] - 1];
        record({.kind = WarpEvent::Kind::barrier});
    }
    recorded_ = nullptr;
}

/// Follows the request through L1, and notes it where its warp is recorded.
void Recorder::model_access(const TraceEvent& event, MemoryOperation operation, int array,
                            const RequestCounters& counters) {
    WarpEvent noted{.code = event.code(), .kind = WarpEvent::Kind::access, .operation = operation};
    const bool load = operation == MemoryOperation::global_load;
    if (load || operation == MemoryOperation::global_store || operation == MemoryOperation::global_atomic) {
        ModelTally& model = tally_->model();
        ModelTally::Sectors& sums = model.arrays[array];
        unsigned lines = 0;
        unsigned missing_sectors = 0;
        const auto touch = [&](std::uint64_t line, unsigned sectors) {
            ++lines;
            // Stores and atomics go to L2 whatever L1 holds.
            const unsigned missing = load ? l1_.load(line, sectors) : sectors;
            missing_sectors += static_cast<unsigned>(std::popcount(missing));
            for (unsigned rest = missing; rest != 0; rest &= rest - 1) {
                model.distinct.add(line * 4 + static_cast<unsigned>(std::countr_zero(rest)), !load);
            }
        };
        const std::uint64_t first = request_.address[0];
        const std::uint64_t last = request_.address[31] + request_.bytes - 1;
        const bool dense = request_.lanes == 0xFFFFFFFFu && first <= last &&
                           counters.sectors == (last >> 5) - (first >> 5) + 1;  // every sector from first to last
        if (dense) {
            for (std::uint64_t at = first >> 7; at <= last >> 7; ++at) {
                const unsigned from = at == first >> 7 ? (first >> 5 & 3) : 0;
                const unsigned to = at == last >> 7 ? (last >> 5 & 3) : 3;
                touch(at, (2u << to) - (1u << from));
            }
        }
        // Neighboring lanes mostly touch the same line.
        std::uint64_t line = ~std::uint64_t{0};
        unsigned sectors = 0;
        for_each_lane(dense ? 0 : request_.lanes, [&](unsigned lane) {
            const std::uint64_t address = request_.address[lane];
            for (std::uint64_t sector = address >> 5; sector <= (address + request_.bytes - 1) >> 5; ++sector) {
                if (sector >> 2 != line) {
                    if (sectors != 0) touch(line, sectors);
                    line = sector >> 2;
                    sectors = 0;
                }
                sectors |= 1u << (sector & 3);
            }
        });
        if (sectors != 0) touch(line, sectors);
        model.l1_lines += lines;
        if (load) {
            model.l1_sectors += static_cast<double>(counters.sectors);
            sums.loads += missing_sectors;
        } else {
            sums.stores += static_cast<double>(counters.sectors);
        }
        if (operation == MemoryOperation::global_atomic) {
            // nvcc adds up what the lanes of a warp count at one address, and one of them carries out the sum.
            const bool added_up = event.kind() == TraceEvent::increment && counters.same_address + 1 == counters.lanes;
            const std::uint32_t lanes = added_up ? request_.lanes & -request_.lanes : request_.lanes;
            for_each_lane(lanes, [&](unsigned lane) {
                const std::uint64_t hash = request_.address[lane] * 0x9E3779B97F4A7C15u;
                ++model.atomics[hash >> (64 - ModelTally::kHotBits)];
            });
        }
        noted.in_l1 = load && missing_sectors == 0;
        noted.passes = static_cast<std::uint16_t>(lines);
    } else {
        noted.passes = static_cast<std::uint16_t>(counters.wavefronts);
    }
    if (recorded_ != nullptr) record(noted);
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
            const std::size_t begin = launch_->place_of(*variable);
            shared_.push_back({begin, begin + variable->bytes, ++array});
        }
    }
    return kFirstSharedArray;
}

TracedEvent* Recorder::next_traced(unsigned warp) {
    TracedWarp& trace = tally_->trace(first_trace_ + warp);
    trace.cut = trace.events.size() == launch_->instrument.traced_events;
    return trace.cut ? nullptr : &trace.events.emplace_back();
}

void Recorder::trace_step(std::uint32_t code, std::uint32_t lanes) {
    if (TracedEvent* event = next_traced(warp_)) {
        event->lanes = lanes;
        event->code = code_start() + code;
    }
}

void Recorder::trace_access(std::uint32_t code, MemoryOperation operation, int array, const RequestCounters& counters) {
    TracedEvent* event = next_traced(warp_);
    if (event == nullptr) return;
    event->kind = TracedEvent::Kind::access;
    event->lanes = request_.lanes;
    event->operation = operation;
    event->array = array;
    event->bytes = request_.bytes;
    event->counters = counters;
    event->code = code_start() + code;
    const std::uintptr_t begin = array >= kFirstSharedArray ? arena_ : 0;
    for_each_lane(request_.lanes, [&](unsigned lane) {
        event->offsets.push_back(static_cast<std::int64_t>(request_.address[lane] - begin));
    });
}

void Recorder::trace_barrier(Site site) {
    for (unsigned warp = 0; warp < warps_; ++warp) {
        TracedEvent* event = next_traced(warp);
        if (event == nullptr) continue;
        event->kind = TracedEvent::Kind::barrier;
        event->site = site;
        const unsigned threads = tally_->trace(first_trace_ + warp).threads;
        event->lanes = 0xFFFFFFFFu >> (32 - threads);
    }
}

}  // namespace cpu_device
