// cuda::barrier, and copies that are late: they land when somebody has waited for them, which is the latest moment that
// a GPU may choose as well. Until then their destination holds poison.
#include "cpu_device/async_copies.h"

#include <algorithm>
#include <cstring>

#include "block.h"
#include "instrumented_code.h"

namespace cpu_device {
namespace {

// What a barrier's eight bytes hold: this, and its number in the block.
constexpr std::uint64_t kMark = 0xBA221E2;
constexpr unsigned kNumberBits = 32;

std::uint64_t word_of(const void* barrier) {
    std::uint64_t word;
    std::memcpy(&word, barrier, sizeof word);
    return word;
}

}  // namespace

bool is_barrier(const void* memory) { return word_of(memory) >> kNumberBits == kMark; }

// ---- barriers --------------------------------------------------------------------------------------------

void Block::begin_barrier(void* barrier, std::ptrdiff_t expected, Site site) {
    const Uninstrumented now;
    constexpr std::ptrdiff_t most = (1 << 20) - 1;
    if (expected < 1 || expected > most) {
        end_for_barrier(site, "a barrier is initialized for " + std::to_string(expected) + " arrivals",
                        "give init() the number of arrivals in each phase, from 1 to 2^20 - 1");
    }
    const std::uint64_t word = kMark << kNumberBits | async_barriers_.size();
    std::memcpy(barrier, &word, sizeof word);
    async_barriers_.push_back({barrier, expected, expected, 0, 0, site, {}, {}, {}});
}

AsyncBarrier& Block::barrier_at(const void* barrier, const char* what, Site site) {
    const std::uint64_t word = word_of(barrier);
    const std::uint64_t number = word & ((std::uint64_t{1} << kNumberBits) - 1);
    if (!is_barrier(barrier) || number >= async_barriers_.size() || async_barriers_[number].address != barrier) {
        const Uninstrumented now;
        end_for_barrier(site, std::string(what) + " of a barrier that nobody has initialized",
                        "let one thread call init(&barrier, arrivals), or make_pipeline in all threads, and then "
                        "__syncthreads(), before anybody uses the barrier");
    }
    return async_barriers_[number];
}

/// All arrivals of the phase have come: whoever waits for it goes on.
void Block::complete_phase(AsyncBarrier& barrier) {
    const auto number = static_cast<std::uint32_t>(&barrier - async_barriers_.data());
    barrier.missing = barrier.expected;
    if (diagnoser_) barrier.completed = barrier.arrived;
    ++barrier.phase;
    for (Fiber* fiber : fibers_) {
        if (fiber->wait != Wait::arrivals || fiber->barrier != number) continue;
        fiber->wait = Wait::nothing;
        if (recording_) recorder_->release(fiber->linear_thread);
        make_ready(fiber);
    }
    yields_in_a_row_ = 0;
}

std::uint64_t Block::arrive(const void* barrier, std::ptrdiff_t count, bool drops, Site site) {
    const Uninstrumented now;
    AsyncBarrier& at = barrier_at(barrier, "arrive()", site);
    if (count < 1 || count > at.missing) {
        end_for_barrier(site,
                        std::to_string(count) + " arrivals at a barrier, whose phase still waits for " +
                            std::to_string(at.missing) +
                            (at.bytes > 0 ? " and for " + std::to_string(at.bytes) + " bytes" : ""),
                        "the arrivals of a phase have to add up to what init() was told");
    }
    if (diagnoser_) diagnoser_->arrive(current_thread.linear_thread, barrier, at.arrived);
    const std::uint64_t phase = at.phase;
    if (drops) --at.expected;
    at.missing -= count;
    complete_phase_if_all_came(at);
    if (at.phase == phase && at.missing == 0 && at.bytes < 0) end_for_too_many_bytes(at, site);
    return phase;
}

void Block::complete_phase_if_all_came(AsyncBarrier& barrier) {
    if (barrier.missing == 0 && barrier.bytes == 0) complete_phase(barrier);
}

/// All have arrived, and nobody can announce the bytes any more that copies have brought.
void Block::end_for_too_many_bytes(const AsyncBarrier& barrier, Site site) {
    end_for_barrier(site,
                    "copies bring " + std::to_string(-barrier.bytes) +
                        " bytes more to a phase of a barrier than were announced, and all arrivals have come",
                    "announce all bytes that a phase waits for, before or with the last arrival: the sum of the sizes "
                    "of its copies. A box of a tensor map always counts as a whole, also where it lies partly outside "
                    "of the tensor");
}

/// The running thread knows that the phase, and all before it, have completed.
void Block::note_completed(AsyncBarrier& barrier, std::uint64_t phase) {
    const Uninstrumented now;
    const unsigned thread = current_thread.linear_thread;
    if (diagnoser_) diagnoser_->wait(thread, barrier.address, barrier.completed);
    bool any = false;
    for (LateCopy& copy : barrier.copies) {
        if (copy.since > phase) continue;
        land(copy);
        any = true;
    }
    if (!any) return;
    std::erase_if(barrier.copies, [&](const LateCopy& copy) { return copy.since <= phase; });
    // Whoever waits for the phase after this thread sees the copies as well.
    if (diagnoser_) diagnoser_->arrive(thread, barrier.address, barrier.completed);
}

void Block::wait_for_phase(const void* barrier, std::uint64_t phase, Site site) {
    if (has_completed(barrier, phase, site)) return;
    park_for_arrivals(barrier_at(barrier, "wait()", site), site);
    note_completed(barrier_at(barrier, "wait()", site), phase);
}

bool Block::has_completed(const void* barrier, std::uint64_t phase, Site site) {
    AsyncBarrier& at = barrier_at(barrier, "wait()", site);
    if (phase + 1 < at.phase || phase > at.phase) {
        const Uninstrumented now;  // also while the message is put together
        end_for_barrier(site,
                        "a thread waits with a token of phase " + std::to_string(phase) +
                            " of a barrier that is in phase " + std::to_string(at.phase),
                        "wait with the token that this thread's last arrive() at this barrier has returned: a token is "
                        "good for the present phase and for the one before");
    }
    if (phase == at.phase) return false;
    note_completed(at, phase);
    return true;
}

void Block::wait_for_parity(const void* barrier, bool parity, Site site) {
    if (has_completed_parity(barrier, parity, site)) return;
    AsyncBarrier& at = barrier_at(barrier, "wait_parity()", site);
    const std::uint64_t phase = at.phase;
    park_for_arrivals(at, site);
    note_completed(barrier_at(barrier, "wait_parity()", site), phase);
}

/// True while the phase before the present one has this parity; before the first one there seems to be one of parity 1.
/// As long as nobody has waited for a phase, its copies may be in flight, and then it is still the present one.
bool Block::has_completed_parity(const void* barrier, bool parity, Site site) {
    AsyncBarrier& at = barrier_at(barrier, "wait_parity()", site);
    if ((at.phase % 2 == 1) == parity) {
        const auto may_be_in_flight = [&](const LateCopy& copy) { return copy.since + 1 == at.phase; };
        return std::any_of(at.copies.begin(), at.copies.end(), may_be_in_flight);
    }
    if (at.phase > 0) note_completed(at, at.phase - 1);
    return true;
}

// ---- copies ----------------------------------------------------------------------------------------------

void Block::land(LateCopy& copy) {
    if (diagnoser_) diagnoser_->land_copy(current_thread.linear_thread, copy.number, copy.to);
    std::memcpy(copy.to, copy.data, copy.bytes);
    if (diagnoser_) diagnoser_->pause();
    if (diagnoser_ && copy.in_bulk) diagnoser_->note_async_write(copy.to, copy.bytes);
}

void Block::begin_copy(void* to, const void* from, std::size_t bytes, const void* barrier, const void* code,
                       Site site) {
    const Uninstrumented now;
    AsyncBarrier* const at = barrier == nullptr ? nullptr : &barrier_at(barrier, "memcpy_async()", site);
    if (!is_shared_memory(to)) {  // what a GPU does at once
        std::memcpy(to, from, bytes);
        return;
    }
    const unsigned thread = current_thread.linear_thread;
    LateCopy copy{};
    copy.to = static_cast<std::byte*>(to);
    copy.bytes = static_cast<std::uint32_t>(bytes);
    std::memcpy(copy.data, from, bytes);
    std::memset(to, kPoison, bytes);
    if (diagnoser_) copy.number = diagnoser_->begin_copy(thread, copy.to, copy.bytes, code);
    if (at != nullptr) {
        copy.since = at->phase;
        at->copies.push_back(copy);
    } else {
        if (thread_copies_.empty()) thread_copies_.resize(launch_->threads);
        copy.since = thread_copies_[thread].group;
        thread_copies_[thread].copies.push_back(copy);
    }
}

void Block::commit_copies() {
    const Uninstrumented now;
    if (thread_copies_.empty()) thread_copies_.resize(launch_->threads);
    ++thread_copies_[current_thread.linear_thread].group;
}

/// Waits for all groups that were committed but the last `prior`.
void Block::wait_for_copies(unsigned prior) {
    const Uninstrumented now;
    if (thread_copies_.empty()) return;
    ThreadCopies& own = thread_copies_[current_thread.linear_thread];
    const auto is_done = [&](const LateCopy& copy) { return copy.since + prior < own.group; };
    for (LateCopy& copy : own.copies) {
        if (is_done(copy)) land(copy);
    }
    std::erase_if(own.copies, is_done);
}

// ---- what device code calls ------------------------------------------------------------------------------

void begin_barrier(void* barrier, std::ptrdiff_t expected, Site site) {
    running_block("cuda::barrier").begin_barrier(barrier, expected, site);
}
std::uint64_t arrive_at_barrier(const void* barrier, std::ptrdiff_t count, bool drops, Site site) {
    return running_block("cuda::barrier").arrive(barrier, count, drops, site);
}
void wait_for_phase(const void* barrier, std::uint64_t phase, Site site) {
    running_block("cuda::barrier").wait_for_phase(barrier, phase, site);
}
void wait_for_parity(const void* barrier, bool parity, Site site) {
    running_block("cuda::barrier").wait_for_parity(barrier, parity, site);
}
bool has_completed(const void* barrier, std::uint64_t phase, Site site) {
    Block& block = running_block("cuda::barrier");
    if (block.has_completed(barrier, phase, site)) return true;
    block.yield();
    return block.has_completed(barrier, phase, site);
}
bool has_completed_parity(const void* barrier, bool parity, Site site) {
    Block& block = running_block("cuda::barrier");
    if (block.has_completed_parity(barrier, parity, site)) return true;
    block.yield();
    return block.has_completed_parity(barrier, parity, site);
}
void begin_copy(void* to, const void* from, std::size_t bytes, const void* barrier, const void* code, Site site) {
    running_block("memcpy_async").begin_copy(to, from, bytes, barrier, code, site);
}
void commit_copies() { running_block("an asynchronous copy").commit_copies(); }
void wait_for_copies(unsigned prior) { running_block("an asynchronous copy").wait_for_copies(prior); }

}  // namespace cpu_device
