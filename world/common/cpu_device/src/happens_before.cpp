#include "happens_before.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

namespace cpu_device {
namespace {

// A search through what blocks learned from each other ends here: what was not found by then counts as ordered, since a
// missed race is better than a false one.
constexpr std::uint64_t kLongestSearch = 1'000'000;

template <class Visit>
void for_each_thread(unsigned warp, std::uint32_t lanes, Visit visit) {
    for (; lanes != 0; lanes &= lanes - 1) visit(warp * 32 + static_cast<unsigned>(std::countr_zero(lanes)));
}

std::uint32_t next_block = 1;  // of the process; launches run one at a time

}  // namespace

// ---- between blocks ----------------------------------------------------------------------------------------

std::uint32_t LaunchOrder::new_block(std::uint64_t index) {
    if (index_.empty()) {
        if (next_block > kLastBlock / 2) {
            forget_accesses();
            next_block = 1;
        }
        first_ = next_block;
        floor_ = stamp_of(first_);
    }
    if (index_.size() < next_block - first_) index_.resize(next_block - first_, kOfAnotherLaunch);
    index_.push_back(index);
    return next_block < kLastBlock ? next_block++ : kLastBlock;
}

void LaunchOrder::grid_barrier() {
    floor_ = stamp_of(next_block);
    global_.clear();
    ended_.clear();
    for (BlockOrder* block : running_) block->renew(new_block(block->index_));
}

/// Whether an operation of this scope, by a thread of one of the blocks, includes the threads of the other.
bool LaunchOrder::reaches(ThreadScope scope, std::uint32_t from_block, std::uint32_t to_block) const {
    return every_scope_reaches_ || scope >= (from_block == to_block ? ThreadScope::block : ThreadScope::device);
}

/// True if `visit(fences, view at the fence)` is true for a fence of the block that came after what `thread` did at
/// `time` and before the moment of the view.
template <class Visit>
bool LaunchOrder::any_fence_between(const BlockHistory& block, const View& view, unsigned thread, std::uint32_t time,
                                    Visit visit) {
    // Fences stand in the order of their times. Those before that time cannot cover it.
    auto fences = std::partition_point(block.fences.begin(), block.fences.end(),
                                       [&](const Fences& f) { return f.time + f.count - 1 <= time; });
    for (; fences != block.fences.end() && fences->time < view.time; ++fences) {
        if (steps_left_ == 0) return true;
        --steps_left_;
        const auto is_between = [&](unsigned fencer) {
            if (fencer < fences->thread || fencer >= fences->thread + fences->count) return false;
            const std::uint32_t fenced = fences->time + (fencer - fences->thread);
            const View at_fence = {fencer, fenced, fences->barrier, fences->lanes};
            return view.covers(fencer, fenced) && at_fence.covers(thread, time) && visit(*fences, at_fence);
        };
        // One of these is, or none of the run is.
        if (is_between(fences->thread) || is_between(view.thread) || is_between(thread)) return true;
        for (unsigned lane = 0; view.lanes != nullptr && lane < 32; ++lane) {
            if (is_between(view.thread / 32 * 32 + lane)) return true;
        }
    }
    return false;
}

/// True if the publication tells of what `thread` of the publishing block did at `time`: it was released after that.
bool LaunchOrder::tells(const Publication& publication, std::uint32_t to_block, unsigned thread, std::uint32_t time) {
    const BlockHistory& block = *publication.by;
    if (!reaches(publication.scope, block.block, to_block)) return false;
    if (publication.releases && publication.view.covers(thread, time)) return true;
    return any_fence_between(block, publication.view, thread, time, [&](const Fences& fence, const View&) {
        return fence.releases && reaches(fence.scope, block.block, to_block);
    });
}

/// True if what the block read there counts at the moment of the view: the read acquired, or a fence followed it.
bool LaunchOrder::takes_effect(const BlockHistory& block, const View& view, const Acquisition& known,
                               std::uint32_t from_block) {
    if (!view.covers(known.thread, known.time) || !reaches(known.scope, from_block, block.block)) return false;
    if (known.acquires || every_read_acquires_) return true;
    return any_fence_between(block, view, known.thread, known.time, [&](const Fences& fence, const View&) {
        return fence.acquires && reaches(fence.scope, from_block, block.block);
    });
}

/// True if the publication tells of what its block had read from a thread of `from_block`: the read counted when it was
/// released.
bool LaunchOrder::passes_on(const Publication& publication, std::uint32_t to_block, const Acquisition& known,
                            std::uint32_t from_block) {
    const BlockHistory& block = *publication.by;
    if (!reaches(publication.scope, block.block, to_block)) return false;
    if (publication.releases && takes_effect(block, publication.view, known, from_block)) return true;
    return any_fence_between(block, publication.view, known.thread, known.time,
                             [&](const Fences& fence, const View& at_fence) {
                                 if (!fence.releases || !reaches(fence.scope, block.block, to_block)) return false;
                                 // A fence between the read and the write serves both.
                                 if (fence.acquires && reaches(fence.scope, from_block, block.block) &&
                                     reaches(known.scope, from_block, block.block)) {
                                     return true;
                                 }
                                 return takes_effect(block, at_fence, known, from_block);
                             });
}

/// True if `event`, an access of this launch, comes before the moment of the view by what the block has learned.
bool LaunchOrder::learned(const BlockHistory& block, const View& view, Stamp event) {
    const std::uint64_t allowed = std::min(kLongestSearch, all_steps_left_);
    steps_left_ = allowed;
    const bool found = search(block, view, event);
    all_steps_left_ -= allowed - steps_left_;
    return found;
}

bool LaunchOrder::search(const BlockHistory& block, const View& view, Stamp event) {
    const std::uint32_t by = block_of(event);
    // Told by its own block: the usual case.
    for (auto known = block.acquired.rbegin(); known != block.acquired.rend(); ++known) {
        if (steps_left_ == 0) return true;
        --steps_left_;
        const auto last = known->location->last.find(by);
        if (last == known->location->last.end() || !takes_effect(block, view, *known, by)) continue;
        const std::vector<Publication>& all = known->location->publications;
        for (std::int64_t i = last->second; i >= known->first; i = all[static_cast<std::size_t>(i)].previous) {
            const Publication& publication = all[static_cast<std::size_t>(i)];
            if (i < known->publications && tells(publication, block.block, thread_of(event), time_of(event)))
                return true;
            if (steps_left_ == 0) return true;
            --steps_left_;
        }
    }
    // Told by a block that had learned of it before it published.
    struct Lesson {
        const Location* location;
        std::uint32_t first;
        std::uint32_t publications;
        std::uint32_t to_block;
        bool from_all;  ///< false: what threads of the same block published counts, and nothing else
    };
    std::vector<Lesson> open;
    std::map<std::tuple<const Location*, std::uint32_t, bool>, std::pair<std::uint32_t, std::uint32_t>>
        searched;  // publications, by location (and listener if it matters)
    const auto learn = [&](const Acquisition& known, std::uint32_t to_block, auto counts_from) {
        const bool from_all = counts_from(kLastBlock);
        if (!from_all && !(has_narrow_scopes_ && counts_from(to_block))) return;
        open.push_back({known.location, known.first, known.publications, to_block, from_all});
    };
    for (const Acquisition& known : block.acquired) {
        if (steps_left_ == 0) return true;
        --steps_left_;
        learn(known, block.block, [&](std::uint32_t from) { return takes_effect(block, view, known, from); });
    }
    while (!open.empty()) {
        const Lesson lesson = open.back();
        open.pop_back();
        auto& [from, to] = searched[{lesson.location, has_narrow_scopes_ ? lesson.to_block : 0, lesson.from_all}];
        if (lesson.first >= from && lesson.publications <= to) continue;
        const std::uint32_t known_from = from, known_to = to;
        const bool touches = to > 0 && lesson.first <= to && from <= lesson.publications;
        from = touches ? std::min(from, lesson.first) : lesson.first;
        to = touches ? std::max(to, lesson.publications) : lesson.publications;
        for (std::uint32_t i = lesson.publications; i-- > lesson.first;) {
            if (i >= known_from && i < known_to) continue;
            if (steps_left_ == 0) return true;
            --steps_left_;
            const Publication& publication = lesson.location->publications[i];
            // What the cluster's barrier had told the thread that published.
            const ClusterOrder* const cluster = publication.by->cluster.get();
            if (cluster != nullptr && cluster->covers(publication.cluster_phase, index_of(event), event)) return true;
            if (!lesson.from_all && publication.by->block != lesson.to_block) continue;
            if (publication.by->block == by && tells(publication, lesson.to_block, thread_of(event), time_of(event))) {
                return true;
            }
            for (const Acquisition& known : publication.by->acquired) {
                if (steps_left_ == 0) return true;
                --steps_left_;
                learn(known, publication.by->block, [&](std::uint32_t from_block) {
                    return passes_on(publication, lesson.to_block, known, from_block);
                });
            }
        }
    }
    return false;
}

// ---- inside a block ----------------------------------------------------------------------------------------

BlockOrder::BlockOrder(LaunchOrder& launch, std::uint64_t index) : launch_(launch), index_(index) {
    renew(launch.new_block(index));
    born_ = stamp_of(block_);
    launch.running_.push_back(this);
}

BlockOrder::~BlockOrder() {
    std::erase(launch_.running_, this);
    if (has_published_) launch_.ended_.push_back(std::move(history_));
}

/// Goes on as if it were another block: all that the block did so far comes before all that it does from now on.
void BlockOrder::renew(std::uint32_t block) {
    if (has_published_) launch_.ended_.push_back(std::move(history_));
    history_.reset();
    has_published_ = false;
    exchanges_.clear();
    clocks_.clear();
    has_fenced_.clear();
    fence_count_ = 0;
    block_ = block;
    barrier_ = 1;  // stamps of time 0 come before everything
    now_ = stamp_of(block, 0, 1);
    floor_ = stamp_of(block);
}

void BlockOrder::tick() {
    if (time_of(now_) == kLastTime) {
        renew(launch_.new_block(index_));
    } else {
        ++now_;
    }
}

void BlockOrder::barrier() {
    tick();
    barrier_ = time_of(now_);
    cluster_phase_of_all_ = latest_cluster_phase_;
}

void BlockOrder::meeting(unsigned warp, std::uint32_t lanes) {
    if (std::popcount(lanes) < 2) return;
    tick();
    if (warps_.size() <= warp) warps_.resize(warp + 1);
    if (warps_[warp] == nullptr) warps_[warp] = std::make_unique<WarpClock>();
    WarpClock& clock = *warps_[warp];
    if (clock.block != block_) {
        clock.block = block_;
        for (LaneTimes& times : clock.known) times.fill(0);
        clock.kept.fill(nullptr);
    }
    LaneTimes together{};
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const LaneTimes& known = clock.known[static_cast<unsigned>(std::countr_zero(rest))];
        for (unsigned i = 0; i < 32; ++i) together[i] = std::max(together[i], known[i]);
    }
    for (unsigned i = 0; i < 32; ++i) {
        if ((lanes >> i & 1) != 0) together[i] = time_of(now_);
    }
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        clock.known[lane] = together;
        clock.kept[lane] = nullptr;
    }
    if (!clocks_.empty()) join_clocks(warp, lanes);
    if (cluster_ == nullptr) return;
    std::uint32_t phase = 0;
    for_each_thread(warp, lanes, [&](unsigned thread) { phase = std::max(phase, cluster_phases_[thread]); });
    for_each_thread(warp, lanes, [&](unsigned thread) { cluster_phases_[thread] = phase; });
}

// ---- cuda::barrier -------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t kThreads = 1024;  // of a block, at most

void take_later(std::vector<std::uint32_t>& times, const std::vector<std::uint32_t>& others) {
    for (std::size_t i = 0; i < times.size(); ++i) times[i] = std::max(times[i], others[i]);
}

}  // namespace

void BlockOrder::arrive(unsigned thread, ThreadClock& clock) {
    tick();  // what comes after the arrival is not covered by it
    if (clock.block != block_) {
        clock.block = block_;
        clock.times.assign(kThreads, 0);
    }
    if (const auto* known = threads_of(thread)) take_later(clock.times, *known);
    if (const LaneTimes* lanes = lanes_of(thread)) {
        for (unsigned lane = 0; lane < 32; ++lane) {
            std::uint32_t& time = clock.times[thread / 32 * 32 + lane];
            time = std::max(time, (*lanes)[lane]);
        }
    }
    clock.times[thread] = time_of(now_);
}

void BlockOrder::learn(unsigned thread, const ThreadClock& clock) {
    if (clock.block != block_) return;  // from before the block was renewed
    if (clocks_.empty()) clocks_.resize(kThreads);
    if (clocks_[thread].empty()) {
        clocks_[thread] = clock.times;
    } else {
        take_later(clocks_[thread], clock.times);
    }
}

// ---- clusters ------------------------------------------------------------------------------------------------

ClusterOrder::ClusterOrder(std::vector<std::uint64_t> blocks) : blocks_(std::move(blocks)), present_(blocks_.size()) {
    for (Arrivals& block : present_) block.threads.assign(kThreads, 0);
}

void ClusterOrder::arrive(unsigned rank, unsigned thread, std::uint32_t block, std::uint32_t time,
                          std::uint32_t barrier) {
    Arrivals& of = present_[rank];
    if (of.block != block) {  // the first arrival, or the block was renewed
        of.block = block;
        of.barrier = 0;
        of.threads.assign(kThreads, 0);
    }
    of.threads[thread] = time;
    of.barrier = std::max(of.barrier, barrier);
}

void ClusterOrder::complete_phase(const std::vector<std::vector<bool>>& still_run) {
    ++phases_;
    Phase& phase = completed_[phases_ % kKept];
    phase = present_;
    for (unsigned rank = 0; rank < phase.size(); ++rank) {
        bool any = false;
        for (unsigned thread = 0; thread < kThreads; ++thread) {
            if (still_run[rank][thread]) {
                any = true;
            } else {
                phase[rank].threads[thread] = kLastTime + 1;
            }
        }
        if (!any) phase[rank].block = kLastBlock + 1;  // all of it
    }
}

bool ClusterOrder::covers(std::uint32_t phase, std::uint64_t block, Stamp event) const {
    if (phase == 0) return false;
    const auto found = std::find(blocks_.begin(), blocks_.end(), block);
    if (found == blocks_.end()) return false;
    if (phase + kKept <= phases_) return true;  // long ago
    const Arrivals& of = completed_[phase % kKept][static_cast<std::size_t>(found - blocks_.begin())];
    if (block_of(event) != of.block) return block_of(event) < of.block;
    return time_of(event) < std::max(of.barrier, of.threads[thread_of(event)]);
}

void BlockOrder::join(std::shared_ptr<ClusterOrder> cluster, unsigned rank) {
    cluster_ = std::move(cluster);
    rank_ = rank;
    cluster_phases_.assign(kThreads, 0);
}

void BlockOrder::arrive_at_cluster(unsigned thread) {
    tick();  // what comes after the arrival is not covered by it
    cluster_->arrive(rank_, thread, block_, time_of(now_), barrier_);
}

void BlockOrder::wait_for_cluster(unsigned thread, std::uint32_t phase) {
    tick();
    cluster_phases_[thread] = phase;
    latest_cluster_phase_ = std::max(latest_cluster_phase_, phase);
}

const std::vector<std::uint32_t>* BlockOrder::threads_of(unsigned thread) const {
    return clocks_.empty() || clocks_[thread].empty() ? nullptr : &clocks_[thread];
}

/// Lanes that have met know what each of them knows.
void BlockOrder::join_clocks(unsigned warp, std::uint32_t lanes) {
    std::vector<std::uint32_t> together;
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const auto* known = threads_of(warp * 32 + static_cast<unsigned>(std::countr_zero(rest)));
        if (known == nullptr) continue;
        if (together.empty()) {
            together = *known;
        } else {
            take_later(together, *known);
        }
    }
    if (together.empty()) return;
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        clocks_[warp * 32 + static_cast<unsigned>(std::countr_zero(rest))] = together;
    }
}

void BlockOrder::know(unsigned thread, std::uint32_t& all, std::vector<std::uint32_t>& times) const {
    all = std::max(all, barrier_);
    times[thread] = std::max(times[thread], time_of(now_));
    if (const auto* known = threads_of(thread)) take_later(times, *known);
    if (const LaneTimes* lanes = lanes_of(thread)) {
        for (unsigned lane = 0; lane < 32; ++lane) {
            std::uint32_t& time = times[thread / 32 * 32 + lane];
            time = std::max(time, (*lanes)[lane]);
        }
    }
}

BlockHistory& BlockOrder::history() {
    if (history_ == nullptr) {
        history_ = std::make_unique<BlockHistory>(block_);
        history_->cluster = cluster_;
    }
    return *history_;
}

const LaneTimes* BlockOrder::lanes_of(unsigned thread) const {
    const unsigned warp = thread / 32;
    if (warp >= warps_.size() || warps_[warp] == nullptr || warps_[warp]->block != block_) return nullptr;
    return &warps_[warp]->known[thread % 32];
}

/// A copy that stays as it is; null if it says no more than the last barrier does.
const LaneTimes* BlockOrder::keep_lanes_of(unsigned thread) {
    const LaneTimes* lanes = lanes_of(thread);
    if (lanes == nullptr || std::all_of(lanes->begin(), lanes->end(), [&](auto t) { return t <= barrier_; })) {
        return nullptr;
    }
    const LaneTimes*& kept = warps_[thread / 32]->kept[thread % 32];
    if (kept == nullptr) kept = &history().lane_times.emplace_back(*lanes);
    return kept;
}

View BlockOrder::view_of(unsigned thread) const {
    return {thread, time_of(now_) + 1, barrier_, lanes_of(thread), threads_of(thread)};
}

bool BlockOrder::before_by_meetings_or_fences(Stamp event, Stamp me) const {
    if (!launch_.owns(event)) return true;  // what kernels of several devices do to each other is not looked at here
    if (cluster_ != nullptr && cluster_->covers(cluster_phase(thread_of(me)), launch_.index_of(event), event)) {
        return true;
    }
    const View view = view_of(thread_of(me));
    if (block_of(event) == block_) {
        if (view.covers(thread_of(event), time_of(event))) return true;
    } else if (launch_.index_of(event) == index_) {
        return true;  // from before the block was renewed
    }
    if (history_ == nullptr || history_->acquired.empty()) return false;
    return launch_.learned(*history_, view, event);
}

void BlockOrder::fence(unsigned thread, ThreadScope scope, MemoryOrder order) {
    if (scope == ThreadScope::thread || order == MemoryOrder::relaxed) return;
    tick();  // what comes after the fence is not covered by it
    launch_.has_narrow_scopes_ |= scope == ThreadScope::block;
    if (has_fenced_.size() <= thread) has_fenced_.resize(thread + 1);
    has_fenced_[thread] = true;
    ++fence_count_;
    const std::uint32_t time = time_of(now_);
    const LaneTimes* lanes = keep_lanes_of(thread);
    std::vector<Fences>& all = history().fences;
    if (!all.empty() && lanes == nullptr) {
        Fences& last = all.back();
        if (last.lanes == nullptr && last.barrier == barrier_ && last.scope == scope &&
            last.acquires == acquires(order) && last.releases == releases(order) &&
            last.thread + last.count == thread && last.time + last.count == time) {
            ++last.count;
            return;
        }
    }
    all.push_back(
        {time, barrier_, lanes, static_cast<std::uint16_t>(thread), 1, scope, acquires(order), releases(order)});
}

void BlockOrder::synchronize(unsigned thread, std::uintptr_t address, bool is_shared, Synchronization what) {
    launch_.has_narrow_scopes_ |= what.scope < ThreadScope::device;
    const bool by_itself = what.writes && releases(what.order);
    const bool may_publish = what.writes && (fence_count_ > 0 || by_itself);
    if (is_shared && history_ == nullptr && !may_publish) return;
    Locations& locations = is_shared ? history().shared : launch_.global_;
    if (locations.empty() && !may_publish) return;
    const auto found = locations.find(address);
    if (found != locations.end()) {
        if (what.reads) acquire(thread, found->second, what);
        if (what.writes && !what.reads) begin_chain(thread, found->second);
    }
    if (!may_publish) return;
    const auto knows_a_fence = [&] {
        return fence_count_ > 0 &&
               (has_fenced(thread) || history_->fences.front().time < barrier_ || lanes_of(thread) != nullptr);
    };
    if (by_itself || knows_a_fence()) publish(thread, locations[address], what);
    if (by_itself) tick();  // what comes after it was not released
}

void BlockOrder::acquire(unsigned thread, const Location& location, const Synchronization& what) {
    const auto publications = static_cast<std::uint32_t>(location.publications.size());
    if (location.chain == publications) return;
    Exchange& before = exchanges_[reinterpret_cast<std::uintptr_t>(&location) << 10 | thread];
    const bool by_itself = acquires(what.order);
    if ((by_itself ? before.acquired : before.learned) == publications) return;
    // A read that acquires does so for what its thread has read there before, too.
    const std::uint32_t first =
        by_itself && before.learned > before.acquired ? std::min(before.first, location.chain) : location.chain;
    before.first = before.learned > before.acquired ? std::min(before.first, location.chain) : location.chain;
    before.learned = publications;
    if (by_itself) before.acquired = publications;
    history().acquired.push_back({&location, first, publications, time_of(now_), thread, what.scope, by_itself});
}

/// The thread stores without reading: whoever reads that observes nothing of what others had published there.
void BlockOrder::begin_chain(unsigned thread, Location& location) {
    const std::uint32_t chain = location.chain;
    location.chain = static_cast<std::uint32_t>(location.publications.size());
    const auto own = exchanges_.find(reinterpret_cast<std::uintptr_t>(&location) << 10 | thread);
    if (own == exchanges_.end() || own->second.told < chain) return;
    // What the thread itself has released there stays released by its later writes.
    Publication again = location.publications[static_cast<std::size_t>(own->second.told)];
    if (!again.releases) return;
    std::int64_t& last = location.last[block_];
    again.previous = last;
    last = location.chain;
    location.publications.push_back(again);
    own->second.told = last;
}

void BlockOrder::publish(unsigned thread, Location& location, const Synchronization& what) {
    View view = view_of(thread);
    view.lanes = keep_lanes_of(thread);
    if (view.threads != nullptr) view.threads = &history().thread_times.emplace_back(*view.threads);
    const bool by_itself = releases(what.order);
    Exchange& before = exchanges_[reinterpret_cast<std::uintptr_t>(&location) << 10 | thread];
    const bool is_told = before.told >= location.chain && before.fences == fence_count_ && before.barrier == barrier_ &&
                         before.lanes == view.lanes;
    if (is_told && !by_itself) return;
    before.fences = fence_count_;
    before.barrier = barrier_;
    before.lanes = view.lanes;
    has_published_ = true;
    history();
    const auto [last, is_first] = location.last.try_emplace(block_, -1);
    const auto number = static_cast<std::int64_t>(location.publications.size());
    location.publications.push_back({history_.get(), view, last->second, what.scope, by_itself, cluster_phase(thread)});
    last->second = number;
    before.told = number;
}

// ---- what is missing -----------------------------------------------------------------------------------------

bool BlockOrder::has_acquired_since(unsigned thread, std::uint32_t time) const {
    if (history_ == nullptr) return false;
    return std::any_of(history_->fences.begin(), history_->fences.end(), [&](const Fences& fence) {
        const bool is_own = thread >= fence.thread && thread < fence.thread + fence.count;
        return is_own && fence.acquires && fence.time + (thread - fence.thread) > time;
    });
}

MissingOrder BlockOrder::missing_order(Stamp event, Stamp me) {
    if (history_ == nullptr || history_->acquired.empty()) return MissingOrder::everything;
    const View view = view_of(thread_of(me));
    const auto is_ordered = [&](bool reads_acquire, bool scopes_reach) {
        launch_.every_read_acquires_ = reads_acquire;
        launch_.every_scope_reaches_ = scopes_reach;
        const bool ordered = launch_.learned(*history_, view, event);
        launch_.every_read_acquires_ = launch_.every_scope_reaches_ = false;
        return ordered;
    };
    if (is_ordered(false, true)) return MissingOrder::scope;
    if (is_ordered(true, false)) return MissingOrder::acquire;
    return is_ordered(true, true) ? MissingOrder::acquire_scope : MissingOrder::everything;
}

}  // namespace cpu_device
