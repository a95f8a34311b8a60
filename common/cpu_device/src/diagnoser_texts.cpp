// What the diagnoser tells of errors: diagnostics with names, places, values and hints.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "diagnoser_state.h"
#include "source_lines.h"
#include "stream_order.h"

namespace cpu_device {
namespace {

constexpr const char* kDynamicName = "dynamic shared memory";
constexpr std::size_t kExamples = 64;                  // reads of unwritten memory that are kept for each instruction
constexpr std::size_t kPlaces = std::size_t{1} << 20;  // of such reads that a later write may explain

/// The last access that was reported as one to memory that is none of the kernel's.
struct {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
} last_stray;

}  // namespace

Diagnostic BlockDiagnoser::State::diagnostic(DiagnosticKind kind, unsigned thread, const Access& access) const {
    Diagnostic diagnostic{};
    diagnostic.kind = kind;
    diagnostic.kernel = launch.launch.site.kernel;
    diagnostic.block = block_index;
    diagnostic.thread = launch.thread_index(thread);
    diagnostic.action = present_text(access.kind, access.bytes, nullptr, nullptr);
    diagnostic.code = access.code;
    return diagnostic;
}

namespace {

std::string shared_text(const SharedRange& range) {
    const std::string size = std::to_string(range.end - range.begin) + " bytes of ";
    if (range.variable == nullptr) return size + "dynamic shared memory";
    const Site& site = range.variable->site;
    return size + "shared memory, declared at " + short_name(site.file) + ":" + std::to_string(site.line);
}

std::string name_of(const SharedRange& range) {
    return range.variable == nullptr ? kDynamicName : range.variable->name;
}

/// Of which block the shared memory is, where that is another one than the thread's.
std::string of_rank(unsigned rank) { return ", in the block of rank " + std::to_string(rank) + " of the cluster"; }

std::string byte_range(std::size_t offset, std::size_t bytes) {
    if (bytes == 1) return "byte " + std::to_string(offset);
    return "bytes " + std::to_string(offset) + " to " + std::to_string(offset + bytes - 1);
}

}  // namespace

/// Array and memory of an access that stays inside of one.
void BlockDiagnoser::State::describe(Diagnostic& diagnostic, const Access& access) const {
    const std::uintptr_t address = number_of(access.address);
    if (address - arena < arena_bytes) {
        const SharedRange* range = launch.shared_range(address - arena, access.bytes);
        if (range == nullptr) return;
        diagnostic.array = name_of(*range);
        diagnostic.memory = byte_range(address - arena - range->begin, access.bytes) + " of " + shared_text(*range);
    } else if (is_in_cluster(address)) {
        const std::size_t place = address - cluster->arenas;
        const SharedRange* range = launch.shared_range(place % arena_bytes, access.bytes);
        if (range == nullptr) return;
        diagnostic.array = name_of(*range);
        diagnostic.memory = byte_range(place % arena_bytes - range->begin, access.bytes) + " of " +
                            shared_text(*range) + of_rank(static_cast<unsigned>(place / arena_bytes));
    } else if (const Region* region = launch.map.find(address, access.bytes)) {
        diagnostic.array = region->name;
        diagnostic.memory = byte_range(address - region->begin, access.bytes) + " of " + region_text(*region);
    }
}

void BlockDiagnoser::State::report_misaligned(unsigned thread, const Access& access) {
    Diagnostic found = diagnostic(DiagnosticKind::misaligned_access, thread, access);
    const std::string size = std::to_string(access.bytes);
    const std::uintptr_t address = number_of(access.address);
    found.message = "an access of " + size + " bytes has to begin at a multiple of " + size + "; this one is " +
                    std::to_string(address % access.bytes) + " bytes after one";
    found.hint = "begin at an element whose address is a multiple of " + size + ", or load the elements one by one";
    describe(found, access);
    report(std::move(found));
}

void BlockDiagnoser::State::report_write_to_constant(unsigned thread, const Access& access) {
    if (report_again(DiagnosticKind::illegal_access, access.code)) return;
    Diagnostic found = diagnostic(DiagnosticKind::illegal_access, thread, access);
    describe(found, access);
    found.message = "a thread writes '" + found.array + "', a __constant__ variable, which kernels can only read";
    found.hint =
        "what kernels change belongs in a __device__ variable; the host writes a __constant__ one with "
        "cudaMemcpyToSymbol";
    report(std::move(found));
}

namespace {

constexpr const char* kGuarded =
    " compares an index already: which index does this thread use here, and how many elements (not bytes) has the "
    "allocation? Is another index compared, is the bound too large, or the allocation too small?";

const char* bounds_hint(bool behind, bool is_shared) {
    if (!behind) return "the index is negative: check what is subtracted from it before it is used";
    return is_shared ? "keep the index below the length of the array; only if all of these elements are needed, make "
                       "it longer"
                     : "let only threads whose index is inside do this: if (i < n) ...";
}

std::string bounds_message(const std::string& name, bool behind, bool writes) {
    return std::string(writes ? "a thread writes " : "a thread reads ") +
           (behind ? "past the end of " : "before the start of ") + (name.empty() ? "an allocation" : "'" + name + "'");
}

}  // namespace

void BlockDiagnoser::State::report_shared_stray(unsigned thread, const Access& access, Instruction& instruction) {
    if (report_again(DiagnosticKind::out_of_bounds, access.code)) return;
    const std::uintptr_t address = number_of(access.address);
    const bool is_remote = is_in_cluster(address) && address - arena >= arena_bytes;
    const std::size_t place = is_remote ? address - cluster->arenas : address - arena;
    const std::size_t offset = place % arena_bytes;
    const SharedRange* nearest = instruction.shared;
    for (const SharedRange& range : launch.shared_ranges) {
        if (instruction.shared != nullptr || range.begin == range.end) continue;
        const auto distance = [&](const SharedRange& r) { return distance_of(r.begin, r.end, offset, access.bytes); };
        if (nearest == nullptr || distance(range) < distance(*nearest)) nearest = &range;
    }
    Diagnostic found = diagnostic(DiagnosticKind::out_of_bounds, thread, access);
    if (nearest == nullptr) {
        found.message = "a thread uses shared memory that the launch did not ask for";
        found.hint = "give the bytes of the extern __shared__ array as the third argument of the launch";
    } else {
        const bool behind = offset + access.bytes > nearest->end;
        found.array = name_of(*nearest);
        found.message = bounds_message(found.array, behind, writes(access.kind));
        found.memory = shared_text(*nearest) + "; " + distance_text(nearest->begin, nearest->end, offset, access.bytes);
        if (is_remote) found.memory += of_rank(static_cast<unsigned>(place / arena_bytes));
        found.hint = bounds_hint(behind, true);
    }
    report(std::move(found));
}

void BlockDiagnoser::State::look_at_order(unsigned thread, const Access& access, const Region& region) {
    if (note_pool_use == nullptr) return;
    const Launch& running = launch.launch;
    const bool is_ordered =
        note_pool_use(region.allocation, running.stream, "kernel " + std::string(running.site.kernel),
                      {"<<<>>>", running.site.site, nullptr});
    if (is_ordered) return;
    Diagnostic found = diagnostic(DiagnosticKind::missing_order, thread, access);
    found.array = region.name;
    found.message = std::string("a thread ") + (writes(access.kind) ? "writes" : "reads") + " memory of " +
                    "cudaMallocAsync in another stream than that of its allocation, and nothing orders the two";
    found.memory = byte_range(number_of(access.address) - region.begin, access.bytes) + " of " + region_text(region);
    found.hint = std::string(order_hint) + "; or synchronize before the launch";
    report(std::move(found));
}

void BlockDiagnoser::State::report_ended_block(Stamp stamp, const Access& access, unsigned target) {
    if (report_again(DiagnosticKind::use_after_free, access.code)) return;
    Diagnostic found = diagnostic(DiagnosticKind::use_after_free, thread_of(stamp), access);
    found.block = launch.block_index(launch.order.index_of(stamp));
    describe(found, access);
    found.message = std::string("a thread ") + (writes(access.kind) ? "writes" : "reads") +
                    " shared memory of another block of the cluster, which may have ended before";
    if (number_of(access.address) - arena < arena_bytes) found.memory += of_rank(target);  // told by the owner
    found.hint =
        "the shared memory of a block is gone when its threads have ended: put cluster.sync() after the last access "
        "to it, where every thread of the cluster comes by";
    report(std::move(found));
}

void BlockDiagnoser::State::report_block_not_started(unsigned thread, const Access& access) {
    if (report_again(DiagnosticKind::illegal_access, access.code)) return;
    Diagnostic found = diagnostic(DiagnosticKind::illegal_access, thread, access);
    describe(found, access);
    found.message = std::string("a thread ") + (writes(access.kind) ? "writes" : "reads") +
                    " shared memory of another block of the cluster, which may not have started yet";
    found.hint =
        "put cluster.sync() before the first access to another block's shared memory (and after that block has "
        "written what it begins with): only then all blocks of the cluster have started";
    report(std::move(found));
}

bool BlockDiagnoser::State::report_stray(unsigned thread, const Access& access, Instruction& instruction) {
    const std::uintptr_t address = number_of(access.address);
    if (launch.map.refresh(address, access.bytes)) {
        launch.instructions.forget_regions();
        return true;
    }
    using Place = Stray::Place;
    const Stray stray = launch.map.stray(address, access.bytes, instruction.region);
    const bool is_wild = stray.place == Place::host && writes(access.kind) && !launch.map.is_meant(address);
    if (stray.place == Place::unknown) {
        if (stray.region.end != 0) launch.harmless.push_back(stray.region);
        return true;
    }
    last_stray.begin = address;
    last_stray.end = address + access.bytes;
    const DiagnosticKind kind = stray.place == Place::near_region ? DiagnosticKind::out_of_bounds
                                : stray.place == Place::freed     ? DiagnosticKind::use_after_free
                                : stray.place == Place::host      ? DiagnosticKind::host_memory
                                                                  : DiagnosticKind::illegal_access;
    const Region& region = stray.region;
    if (stray.place == Place::near_region && writes(access.kind)) note_reported(region.allocation.address);
    const bool goes_on = !is_wild && stray.place != Place::peer;
    if (report_again(kind, access.code)) return goes_on;
    Diagnostic found = diagnostic(kind, thread, access);
    found.array = region.name;
    switch (stray.place) {
        case Place::near_region: {
            const bool behind = address + access.bytes > region.end;
            found.message = bounds_message(region.name, behind, writes(access.kind));
            found.memory = region_text(region) + "; " + distance_text(region.begin, region.end, address, access.bytes);
            found.hint = bounds_hint(behind, false);
            if (behind) found.by_line.guarded = kGuarded;
            break;
        }
        case Place::freed:
            found.message =
                std::string("a thread ") + (writes(access.kind) ? "writes" : "reads") + " memory that was freed";
            found.memory = byte_range(address - region.begin, access.bytes) + " of " + region_text(region);
            found.hint =
                region.allocation.is_of_pool
                    ? "call cudaFreeAsync behind the last launch that uses the memory: who comes later, in any "
                      "stream, must not use it"
                    : "free the memory after the last kernel that uses it has run";
            break;
        case Place::peer: {
            const std::string owner = std::to_string(region.allocation.device);
            const std::string device = std::to_string(launch.launch.device);
            found.message = std::string("a thread of a kernel on device ") + device +
                            (writes(access.kind) ? " writes" : " reads") + " memory of device " + owner +
                            ", to which device " + device + " has no access";
            found.memory = byte_range(address - region.begin, access.bytes) + " of " + region_text(region);
            found.hint = region.allocation.is_of_pool
                             ? "memory of a pool is opened to another device by cudaMemPoolSetAccess"
                             : "ask cudaDeviceCanAccessPeer, then, while device " + device +
                                   " is the current one, call cudaDeviceEnablePeerAccess(" + owner +
                                   ", 0); or copy the data with cudaMemcpyPeer, which needs no access";
            break;
        }
        case Place::inaccessible: {
            char text[80];
            std::snprintf(text, sizeof text, "access to address %#zx, which belongs to no allocation",
                          static_cast<std::size_t>(address));
            found.message = text;
            const std::string element = launch.map.negative_index(address, access.bytes);
            found.hint =
                address < 65536   ? "that is a null pointer plus a small offset: was the memory allocated, and the "
                                    "call checked?"
                : element.empty() ? "check the index against the size, and that the pointer was not freed"
                                  : element +
                                        ": is a negative index computed, or compared with 0, as an unsigned number? "
                                        "threadIdx, blockIdx, and blockDim are unsigned";
            break;
        }
        default:
            found.message = std::string("a thread ") + (writes(access.kind) ? "writes" : "reads") +
                            " memory of the host, where a GPU cannot reach";
            found.memory = "memory of the host, or a local variable of another thread";
            found.hint = "copy the data to memory from cudaMalloc and give the kernel that pointer";
            if (is_wild) found.hint += "; or is an index far too large?";
            break;
    }
    report(std::move(found));
    return goes_on;
}

void BlockDiagnoser::State::note_unwritten(const Access& access, const Doing& doing, bool is_shared,
                                           std::uintptr_t place, std::size_t written) {
    auto& all = launch.unwritten_reads;
    auto reads = std::find_if(all.begin(), all.end(), [&](const auto& some) { return some.code == access.code; });
    const bool is_new = reads == all.end();
    if (is_new) reads = all.insert(reads, {access.code, {}, {}, 0});
    ++reads->count;
    if (reads->examples.size() < kExamples) {
        const Region* region = is_shared ? nullptr : launch.map.find(doing.address, access.bytes);
        const bool is_managed = region != nullptr && region->shadow != nullptr && region->shadow->host_writes_unseen;
        Diagnostic found = diagnostic(DiagnosticKind::uninitialized_read, thread_of(doing.me), access);
        describe(found, access);
        found.message = "a thread reads " + (found.array.empty() ? std::string("memory") : "'" + found.array + "'") +
                        (written == 0 ? " where nobody has written anything yet"
                                      : " where only " + std::to_string(written) + " of the " +
                                            std::to_string(access.bytes) + " bytes were written");
        // What the read finds there is chance; where a part was written, it may tell which.
        found.action = present_text(access.kind, access.bytes, written == 0 ? nullptr : doing.seen, nullptr);
        found.hint =
            is_managed
                ? "memory from cudaMallocManaged is zero on most systems, but nothing promises it: write it in host "
                  "code, with cudaMemset, or in a kernel, before it is read"
            : is_shared && cluster != nullptr && number_of(access.address) - arena >= arena_bytes
                ? "shared memory holds whatever was there: which thread of that block is to write this element, and "
                  "which cluster.sync() stands between that write and this read?"
            : is_shared
                ? "shared memory holds whatever was there: which thread is to write this element, and which "
                  "__syncthreads() stands between that write and this read? (A thread that has returned writes "
                  "nothing.)"
                : "memory from cudaMalloc holds whatever was there: set it with cudaMemcpy, cudaMemset or a kernel";
        if (is_new) reads->first = found;
        reads->examples.emplace_back(place, std::move(found));
    }
    auto& places = unwritten_places_of(is_shared);
    if (places.size() < kPlaces) places[place] = static_cast<std::size_t>(reads - all.begin());
}

/// A write conflicts with an earlier access. If that was a read of memory nobody had written, it only came too early.
void BlockDiagnoser::State::forget_unwritten(std::uintptr_t address, const Conflict& conflict, const Space& space) {
    auto& places = unwritten_places_of(space.global == nullptr);
    if (places.empty()) return;
    const auto place = places.find(address);
    if (place == places.end()) return;
    auto& reads = launch.unwritten_reads[place->second];
    if (reads.code != launch.instructions.form(conflict.mark).code) return;
    --reads.count;
    std::erase_if(reads.examples, [&](const auto& example) { return example.first == address; });
    places.erase(place);
}

void LaunchDiagnoser::State::report_unwritten_reads() {
    for (UnwrittenReads& reads : unwritten_reads) {
        if (reads.count == 0) continue;
        Diagnostic found = reads.examples.empty() ? std::move(reads.first) : std::move(reads.examples.front().second);
        found.count = reads.count;
        report(std::move(found));
    }
}

// ---- races -----------------------------------------------------------------------------------------------------

/// What the lanes of both accesses did together in between, if it ordered nothing; null when there is no such thing.
const char* BlockDiagnoser::State::exchange_between(Stamp me, Stamp event) const {
    const unsigned warp = thread_of(me) / 32;
    if (block_of(me) != block_of(event) || thread_of(event) / 32 != warp || warp >= exchanges.size()) return nullptr;
    const Exchange& last = exchanges[warp][thread_of(me) % 32];
    if ((last.lanes >> thread_of(event) % 32 & 1) == 0 || last.time <= time_of(event)) return nullptr;
    switch (last.operation) {
        case Collective::shuffle:
            return "a shuffle";
        case Collective::vote:
            return "a vote";
        case Collective::match:
            return "a match";
        case Collective::group:
            return nullptr;  // of CUB: what it does inside is not what the program has to repair
        case Collective::matrix:
            return nullptr;  // ldmatrix may be one of the accesses itself
        default:
            return "a warp reduction";
    }
}

/// Advice where an atomic (or volatile) variable told the thread of `me` that the other one had come by. Empty where
/// nothing of the kind was seen.
std::string BlockDiagnoser::State::hint_for_handover(Stamp me, Stamp event, bool same_block) {
    const std::string fence = same_block ? "__threadfence_block()" : "__threadfence()";
    const std::string on_reading =
        "between the atomic or volatile read that saw the flag and this access, or read it "
        "with cuda::atomic_ref and memory_order_acquire";
    const std::string scope =
        "a fence or atomic on the way has block scope (__threadfence_block, atomicAdd_block, thread_scope_block) and "
        "orders nothing between blocks: use __threadfence(), plain atomicAdd, thread_scope_device";
    switch (order.missing_order(event, me)) {
        case MissingOrder::acquire:
            return "the other thread released its accesses (by a fence and an atomic), but this one did not acquire "
                   "them: put " +
                   fence + " " + on_reading;
        case MissingOrder::scope:
            return scope;
        case MissingOrder::acquire_scope:
            return scope + "; and put " + fence + " " + on_reading;
        case MissingOrder::everything:
            break;
    }
    for (unsigned i = 0; i < std::min<std::size_t>(handover_count, handovers.size()); ++i) {
        const Handover& seen = handovers[(handover_count - 1 - i) % handovers.size()];
        const auto written = launch.flag_writes.find({seen.address, block_of(event)});
        if (written == launch.flag_writes.end() || written->second < stamp_of(block_of(event)) ||
            time_of(written->second) < time_of(event) || same_thread(written->second, seen.reader) ||
            !order.before(seen.reader, me, 0)) {
            continue;
        }
        if (acquires(launch.instructions.form(seen.mark).order) ||
            order.has_acquired_since(thread_of(seen.reader), time_of(seen.reader))) {
            return "this thread has acquired after its read of the flag, but the other one did not release its "
                   "accesses: put " +
                   fence +
                   " between them and its atomic or volatile write of the flag, or write it with cuda::atomic_ref and "
                   "memory_order_release";
        }
        return "CUDA's atomics are relaxed, and so are volatile accesses: a flag orders no other memory by itself. "
               "Put " +
               fence + " between the other thread's access and its write of the flag, and another one " + on_reading;
    }
    return "";
}

namespace {

constexpr const char* kUpdate =
    "two threads update the same element: does one of them compute a wrong index? If both are to update it, use an "
    "atomic such as atomicAdd";
constexpr const char* kOtherArray =
    "does this launch write the array that it reads? __syncthreads() orders the threads of one block only, so if "
    "several "
    "blocks use this memory, write to another array";

}  // namespace

/// Only what was established: `by_line` takes what depends on source lines, which are not known yet.
std::string BlockDiagnoser::State::hint_for_race(const Doing& doing, const Conflict& conflict, bool is_shared,
                                                 bool lands, RaceHints& by_line) {
    const InstructionForm& mine = launch.instructions.form(doing.mark);
    const InstructionForm& other = launch.instructions.form(conflict.mark);
    const Stamp me = doing.me, event = conflict.other;
    const bool same_block = block_of(me) == block_of(event);
    const bool same_warp = same_block && thread_of(me) / 32 == thread_of(event) / 32;
    const bool both_write = writes(mine.kind) && writes(other.kind);
    hint_has_reason = true;
    if (lands && mine.code == other.code) {
        return "the copy belongs to a phase that can complete before the copy begins: begin it before the arrival of "
               "its "
               "thread, or before another arrival that comes after it for certain";
    }
    if (is_atomic(mine.kind) && is_atomic(other.kind)) {
        return "atomics of block scope (atomicAdd_block, thread_scope_block) are atomic among the threads of one block "
               "only: use atomicAdd or thread_scope_device";
    }
    if (is_shared && !same_block) {
        return "put cluster.sync() between the two accesses, where every thread of the cluster comes by: "
               "__syncthreads() waits for the threads of one block only";
    }
    if (is_atomic(mine.kind) != is_atomic(other.kind)) {
        if (same_block) {
            return "put __syncthreads() between the atomic accesses and the others, where every thread of the block "
                   "comes by; an atomic read alone would not wait for the other threads. Only if the other access is "
                   "part of an update such as +=, make that update atomic instead";
        }
        return both_write
                   ? "set the start value before the launch, or make all accesses atomic: blocks run in any order"
                   : "blocks run in any order, and an atomic read alone would not wait for them: read it in another "
                     "kernel, or use the value that the atomic operation returns. Only if the read is part of an "
                     "update such as +=, make that update atomic";
    }
    const bool uses_shared = launch.launch.dynamic_bytes > 0 || !launch.launch.shared_variables.empty();
    if (same_warp && (is_volatile(mine.kind) || is_volatile(other.kind)) &&
        (is_shared || is_volatile(mine.kind) == is_volatile(other.kind))) {
        return uses_shared ? "volatile orders nothing: put __syncwarp() between the two accesses"
                           : "volatile orders nothing, and lanes of a warp do not run in lockstep: exchange the values "
                             "with __shfl_down_sync() instead of through memory";
    }
    if (std::string hint = hint_for_handover(me, event, same_block); !hint.empty()) return hint;
    if (mine.code == other.code && both_write) {
        return "two threads write the same element: does one of them compute a wrong index? If both are to update it, "
               "use "
               "an atomic such as atomicAdd";
    }
    hint_has_reason = false;
    if (!same_block) {
        if (conflict.is_update) by_line.same_line = kUpdate;
        const auto cluster_of = [&](Stamp stamp) { return launch.launch.cluster_of(launch.order.index_of(stamp)); };
        if (cluster != nullptr && !conflict.is_update && cluster_of(me) == cluster_of(event)) {
            return "put cluster.sync() between the two accesses, where every thread of the cluster comes by: "
                   "__syncthreads() waits for the threads of one block only";
        }
        return both_write ? "blocks run in any order: give each its own element, or use an atomic such as atomicAdd"
                          : "blocks run in any order: use atomics, or do the second step in another kernel";
    }
    if (const char* exchange = exchange_between(me, event)) {
        hint_has_reason = true;
        return std::string(exchange) +
               " stands between the two accesses; it exchanges values among the lanes but orders no memory: put " +
               (uses_shared ? "__syncwarp()" : "__syncthreads()") + " there as well";
    }
    const bool is_warps_own = is_shared && same_warp;
    const bool one_warp = launch.launch.threads <= 32;
    const std::string unless =
        one_warp ? "if blocks are never larger than a warp" : "if no other warp uses this memory";
    const std::string barrier = is_warps_own ? "__syncthreads() (or __syncwarp() " + unless + ")" : "__syncthreads()";
    const std::string same_line = "one thread reads in this line what another one writes in it: ";
    if (conflict.is_update) {
        by_line.same_line = kUpdate;
    } else {
        by_line.same_line = same_line + "read into a local variable, then " + barrier +
                            ", then write; put the barrier where every thread comes by, not inside a branch";
        by_line.same_line_in_loop =
            same_line + "if they are in different rounds of the loop, put " + barrier +
            " at the beginning of each round, where every thread comes by (not inside a branch); if they are in the "
            "same round, no barrier between rounds helps: which threads should execute this line in that round?";
    }
    by_line.barrier = last_barrier;
    const unsigned warp = thread_of(me) / 32;
    if (is_warps_own && warp < last_syncwarp.size()) {
        const MetLanes& mine = last_syncwarp[warp][thread_of(me) % 32];
        const MetLanes& others = last_syncwarp[warp][thread_of(event) % 32];
        if ((mine.lanes >> thread_of(event) % 32 & 1) != 0) {
            by_line.syncwarp = mine.site;
        } else {
            by_line.syncwarp_of_one = mine.lanes != 0 ? mine.site : others.site;
        }
    }
    if (is_warps_own) {
        return "lanes of a warp do not run in lockstep: put __syncthreads() between the two accesses, or "
               "__syncwarp() " +
               unless;
    }
    if (!is_shared && !both_write && !conflict.is_update && launch.launch.blocks > 1) {
        // A barrier is of no use where other blocks use the array as well.
        by_line.same_line = kOtherArray;
        by_line.same_line_in_loop.clear();
        return kOtherArray;
    }
    return "put __syncthreads() between the two accesses, where every thread of the block comes by";
}

void BlockDiagnoser::State::report_race(const Access& access, const Doing& doing, const Space& space,
                                        const Conflict& conflict, const std::byte* before, const std::byte* after) {
    const InstructionForm& other = launch.instructions.form(conflict.mark);
    if (report_again(DiagnosticKind::data_race, access.code, other.code)) return;
    if (conflict.known) {  // what follows from a race that was reported
        // The thread that had read what another one wrote now writes it by the same instruction: both update it.
        if (last_race.address == conflict.address && same_thread(last_race.me, doing.me) &&
            same_thread(last_race.other, conflict.other) && access.code == other.code &&
            last_race.other_code == other.code && !last_race.has_reason) {
            revise_hint(DiagnosticKind::data_race, last_race.code, last_race.other_code, kUpdate);
        }
        return;
    }
    Diagnostic found = diagnostic(DiagnosticKind::data_race, thread_of(doing.me), access);
    describe(found, access);
    const bool same_block = block_of(doing.me) == block_of(conflict.other);
    const bool same_warp = same_block && thread_of(doing.me) / 32 == thread_of(conflict.other) / 32;
    const std::string two = same_warp                 ? "two lanes of a warp"
                            : same_block              ? "two threads of a block"
                            : space.global == nullptr ? "threads of two blocks of a cluster"
                                                      : "threads of two blocks";
    if (writes(access.kind) && writes(other.kind)) {
        found.message = two + " write the same memory, and nothing orders them: the last one wins";
    } else {
        found.message = two + " use the same memory, one of them writes it, and nothing orders them";
    }
    found.action = present_text(access.kind, access.bytes, before, after);
    const bool same_value = conflict.value_is_of_other && other.bytes == access.bytes;
    found.other = OtherSide{{},
                            launch.block_index(launch.order.index_of(conflict.other)),
                            launch.thread_index(thread_of(conflict.other)),
                            past_text(other.kind, other.bytes, same_value ? before : nullptr)};
    found.other_code = other.code;
    found.hint = hint_for_race(doing, conflict, space.global == nullptr, access.lands, found.by_line);
    last_race = {conflict.address, doing.me, conflict.other, access.code, other.code, hint_has_reason};
    report(std::move(found));
}

/// An access to what an asynchronous copy may be writing.
void BlockDiagnoser::State::report_early_access(unsigned thread, const Access& access, const LateCopy& copy) {
    if (report_again(DiagnosticKind::data_race, access.code, copy.code)) return;
    Diagnostic found = diagnostic(DiagnosticKind::data_race, thread, access);
    describe(found, access);
    const bool copies = access.code == copy.code;
    found.message = std::string(copies                ? "an asynchronous copy goes "
                                : writes(access.kind) ? "a thread writes "
                                                      : "a thread reads ") +
                    "where an asynchronous copy has yet to write: nobody has waited for the copy";
    found.other = OtherSide{{},
                            copy.in_bulk ? copy.block : block_index,
                            launch.thread_index(copy.thread),
                            copy.in_bulk ? "begins a copy in bulk"
                                         : "begins to copy " + std::to_string(copy.bytes) + " bytes asynchronously"};
    found.other_code = copy.code;
    if (copy.in_bulk) {
        found.hint =
            "wait first for the phase of the barrier that the copy was given, in the thread that reads or writes: by "
            "the parity of that phase, which is 0 for the first one, 1 for the second, and so on";
        return report(std::move(found));
    }
    found.hint =
        "wait for the copy first, in the thread that reads: by the barrier or the pipeline stage to which the copy "
        "belongs, and by the right phase or stage. The copies of a pipeline stage begin to count with "
        "producer_commit(). A pipeline of thread scope, or cp.async, waits for the thread's own copies only: then a "
        "barrier of the block has to follow, before other threads read";
    report(std::move(found));
}

/// A write where a store in bulk may still read.
void BlockDiagnoser::State::report_write_under_store(unsigned thread, const Access& access, const BulkStore& store) {
    if (report_again(DiagnosticKind::data_race, access.code, store.code)) return;
    Diagnostic found = diagnostic(DiagnosticKind::data_race, thread, access);
    describe(found, access);
    found.message = "a thread writes where a store in bulk may still read: nobody has waited for the store";
    found.other = OtherSide{{}, block_index, launch.thread_index(store.thread), "begins a store in bulk"};
    found.other_code = store.code;
    found.hint =
        "the thread that began the store has to call cp_async_bulk_commit_group() and "
        "cp_async_bulk_wait_group_read(), and then a barrier has to follow, before anybody writes there again";
    report(std::move(found));
}

void BlockDiagnoser::State::report_unfenced_write(unsigned thread, const BulkPiece& piece, const void* code,
                                                  const Cell& cell) {
    const InstructionForm& other = launch.instructions.form(cell.mark(Cell::kWrite));
    if (report_again(DiagnosticKind::data_race, code, other.code)) return;
    Access access;
    access.address = piece.shared;
    access.bytes = piece.bytes;
    access.is_block_copy = true;
    access.code = code;
    Diagnostic found = diagnostic(DiagnosticKind::data_race, thread, access);
    describe(found, access);
    found.action = "begins a store in bulk";
    found.message =
        "a store in bulk reads what a thread has written, and no fence makes that visible to it: it may read what was "
        "there before";
    found.other = OtherSide{
        {}, block_index, launch.thread_index(thread_of(cell.write)), past_text(other.kind, other.bytes, nullptr)};
    found.other_code = other.code;
    found.hint =
        "the tensor memory accelerator reaches shared memory by another way than threads do (another proxy): let every "
        "thread call fence_proxy_async(space_shared) after its writes and before the barrier behind which the store "
        "begins";
    report(std::move(found));
}

void BlockDiagnoser::State::report_launch_ahead(unsigned thread, const Access& access, bool was_write) {
    if (report_again(DiagnosticKind::data_race, access.code, nullptr)) return;
    Diagnostic found = diagnostic(DiagnosticKind::data_race, thread, access);
    describe(found, access);
    found.message = std::string(writes(access.kind) ? "a thread writes" : "a thread reads") +
                    " what the kernel ahead (" + launch.ahead.kernel + ") " + (was_write ? "writes" : "reads") +
                    ", and that kernel may still run: nobody has waited for it";
    found.other = OtherSide{launch.ahead.site, {}, {}, "the launch of " + launch.ahead.kernel, {}, true};
    found.hint =
        "this kernel was launched with programmatic stream serialization: call cudaGridDependencySynchronize() before "
        "the first access to memory that the kernel ahead uses; what needs none of it can stay ahead of that call";
    report(std::move(found));
}

bool was_reported(const void* address) {
    return number_of(address) >= last_stray.begin && number_of(address) < last_stray.end;
}

}  // namespace cpu_device
