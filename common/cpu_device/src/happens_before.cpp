#include "happens_before.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace cpu_device {
namespace {

// A search through what blocks learned from each other ends here: what was not found by then counts as ordered, since a
// missed race is better than a false one.
constexpr std::uint64_t kLongestSearch = 1'000'000;

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
    index_.push_back(index);
    return next_block < kLastBlock ? next_block++ : kLastBlock;
}

void LaunchOrder::grid_barrier() {
    floor_ = stamp_of(next_block);
    global_.clear();
    ended_.clear();
    for (BlockOrder* block : running_) block->renew(new_block(block->index_));
}

/// True if the publication tells of what `thread` of the publishing block did at `time`: a fence that came before the
/// publication came after that.
bool LaunchOrder::tells(const Publication& publication, std::uint32_t to_block, unsigned thread, std::uint32_t time) {
    const BlockHistory& block = *publication.by;
    const View& view = publication.view;
    // Fences stand in the order of their times. Those before that time cannot cover it.
    auto fences = std::partition_point(block.fences.begin(), block.fences.end(),
                                       [&](const Fences& f) { return f.time + f.count - 1 <= time; });
    for (; fences != block.fences.end() && fences->time < view.time; ++fences) {
        if (steps_left_ == 0) return true;
        --steps_left_;
        if (fences->scope == FenceScope::block && to_block != block.block) continue;
        const auto fence_tells = [&](unsigned fencer) {
            if (fencer < fences->thread || fencer >= fences->thread + fences->count) return false;
            const std::uint32_t fenced = fences->time + (fencer - fences->thread);
            const View at_fence = {fencer, fenced, fences->barrier, fences->lanes};
            return view.covers(fencer, fenced) && at_fence.covers(thread, time);
        };
        // One of these tells, or none of the run does.
        if (fence_tells(fences->thread) || fence_tells(view.thread) || fence_tells(thread)) return true;
        for (unsigned lane = 0; view.lanes != nullptr && lane < 32; ++lane) {
            if (fence_tells(view.thread / 32 * 32 + lane)) return true;
        }
    }
    return false;
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
        if (last == known->location->last.end() || !view.covers(known->thread, known->time)) continue;
        const std::vector<Publication>& all = known->location->publications;
        for (std::int64_t i = last->second; i >= 0; i = all[static_cast<std::size_t>(i)].previous) {
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
        std::uint32_t publications;
        std::uint32_t to_block;
    };
    std::vector<Lesson> open;
    std::unordered_map<std::uint64_t, std::uint32_t>
        searched;  // publications, by location (and listener if it matters)
    for (const Acquisition& known : block.acquired) {
        if (view.covers(known.thread, known.time)) open.push_back({known.location, known.publications, block.block});
    }
    while (!open.empty()) {
        const Lesson lesson = open.back();
        open.pop_back();
        const auto key =
            reinterpret_cast<std::uintptr_t>(lesson.location) << 10 ^ (has_block_fences_ ? lesson.to_block : 0);
        const std::uint32_t from = std::exchange(searched[key], std::max(searched[key], lesson.publications));
        for (std::uint32_t i = lesson.publications; i-- > from;) {
            const Publication& publication = lesson.location->publications[i];
            if (publication.by->block == by && tells(publication, lesson.to_block, thread_of(event), time_of(event))) {
                return true;
            }
            for (const Acquisition& known : publication.by->acquired) {
                if (steps_left_ == 0) return true;
                --steps_left_;
                if (tells(publication, lesson.to_block, known.thread, known.time)) {
                    open.push_back({known.location, known.publications, publication.by->block});
                }
            }
            if (steps_left_ == 0) return true;
            --steps_left_;
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
}

BlockHistory& BlockOrder::history() {
    if (history_ == nullptr) history_ = std::make_unique<BlockHistory>(block_);
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

View BlockOrder::view_of(unsigned thread) const { return {thread, time_of(now_) + 1, barrier_, lanes_of(thread)}; }

bool BlockOrder::before_by_meetings_or_fences(Stamp event, Stamp me) const {
    const View view = view_of(thread_of(me));
    if (block_of(event) == block_) {
        if (view.covers(thread_of(event), time_of(event))) return true;
    } else if (launch_.index_of(event) == index_) {
        return true;  // from before the block was renewed
    }
    if (history_ == nullptr || history_->acquired.empty()) return false;
    return launch_.learned(*history_, view, event);
}

void BlockOrder::fence(unsigned thread, FenceScope scope) {
    tick();  // what comes after the fence is not covered by it
    if (has_fenced_.size() <= thread) has_fenced_.resize(thread + 1);
    has_fenced_[thread] = true;
    ++fence_count_;
    launch_.has_block_fences_ |= scope == FenceScope::block;
    const std::uint32_t time = time_of(now_);
    const LaneTimes* lanes = keep_lanes_of(thread);
    std::vector<Fences>& all = history().fences;
    if (!all.empty() && lanes == nullptr) {
        Fences& last = all.back();
        if (last.lanes == nullptr && last.barrier == barrier_ && last.scope == scope &&
            last.thread + last.count == thread && last.time + last.count == time) {
            ++last.count;
            return;
        }
    }
    all.push_back({time, barrier_, lanes, static_cast<std::uint16_t>(thread), 1, scope});
}

void BlockOrder::synchronize(unsigned thread, std::uintptr_t address, bool is_shared, bool reads, bool writes) {
    const bool may_publish = writes && fence_count_ > 0;
    if (is_shared && history_ == nullptr) return;
    Locations& locations = is_shared ? history_->shared : launch_.global_;
    if (locations.empty() && !may_publish) return;
    if (reads) {
        const auto found = locations.find(address);
        if (found != locations.end()) acquire(thread, found->second);
    }
    if (!may_publish) return;
    const Fences& first = history_->fences.front();
    const bool knows_a_fence =
        (thread < has_fenced_.size() && has_fenced_[thread]) || first.time < barrier_ || lanes_of(thread) != nullptr;
    if (knows_a_fence) publish(thread, locations[address]);
}

void BlockOrder::acquire(unsigned thread, const Location& location) {
    const auto publications = static_cast<std::uint32_t>(location.publications.size());
    Exchange& before = exchanges_[reinterpret_cast<std::uintptr_t>(&location) << 10 | thread];
    if (before.learned == publications) return;
    before.learned = publications;
    history().acquired.push_back({&location, publications, time_of(now_), thread});
}

void BlockOrder::publish(unsigned thread, Location& location) {
    View view = view_of(thread);
    view.lanes = keep_lanes_of(thread);
    Exchange& before = exchanges_[reinterpret_cast<std::uintptr_t>(&location) << 10 | thread];
    if (before.fences == fence_count_ && before.barrier == barrier_ && before.lanes == view.lanes) return;
    before.fences = fence_count_;
    before.barrier = barrier_;
    before.lanes = view.lanes;
    has_published_ = true;
    const auto [last, is_first] = location.last.try_emplace(block_, -1);
    const auto number = static_cast<std::int64_t>(location.publications.size());
    location.publications.push_back({history_.get(), view, last->second});
    last->second = number;
}

}  // namespace cpu_device
