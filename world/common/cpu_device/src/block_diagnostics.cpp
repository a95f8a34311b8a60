// What a block reports: threads that wait at different places, masks that name the wrong lanes, and values of lanes
// that are not there.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "block.h"
#include "instrumented_code.h"
#include "source_lines.h"

namespace cpu_device {
namespace {

std::string at(const Site& site) { return short_name(site.file) + ":" + std::to_string(site.line); }

std::string counted(unsigned n, const char* noun) { return std::to_string(n) + " " + noun + (n == 1 ? "" : "s"); }

const char* name_of(Collective operation) {
    switch (operation) {
        case Collective::syncwarp:
            return "__syncwarp";
        case Collective::shuffle:
            return "a shuffle";
        case Collective::vote:
            return "a vote";
        case Collective::match:
            return "a match";
        case Collective::reduce:
            return "a warp reduction";
        case Collective::group:
            return "a group operation";
        case Collective::matrix:
            return "a tensor core instruction";
    }
    return "a warp-wide operation";
}

std::string hex(std::uint32_t mask) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", mask);
    return text;
}

}  // namespace

void Block::end_for_mask(Collective operation, std::uint32_t mask, Site site) {
    const Uninstrumented now;
    Diagnostic found = diagnostic(DiagnosticKind::mask_without_caller, site);
    const std::string lane = std::to_string(lane_id());
    found.message = "lane " + lane + " calls " + name_of(operation) + " with mask " + hex(mask) +
                    ", which leaves lane " + lane + " out";
    found.hint = "the mask has to name every lane that makes the call, the caller included";
    report(std::move(found));
    launch_->fail(cudaErrorLaunchFailure);
    abandon();
}

// ---- who waits where, in words ---------------------------------------------------------------------------

std::vector<Block::WaitingGroup> Block::waiting_groups() const {
    std::vector<WaitingGroup> groups;
    for_each_waiting([&](const Fiber& fiber) {
        const auto same = [&](const WaitingGroup& group) {
            return group.wait == fiber.wait && same_place(group.site, fiber.site);
        };
        auto group = std::find_if(groups.begin(), groups.end(), same);
        if (group == groups.end()) group = groups.insert(group, {fiber.wait, fiber.site, {}});
        group->threads.push_back(fiber.linear_thread);
    });
    for (WaitingGroup& group : groups) std::sort(group.threads.begin(), group.threads.end());
    std::sort(groups.begin(), groups.end(),
              [](const WaitingGroup& a, const WaitingGroup& b) { return a.threads.front() < b.threads.front(); });
    return groups;
}

namespace {

/// "0 to 31", "5", "0, 2, 4, 6 and 12 more". Ascending.
std::string numbers_text(const std::vector<unsigned>& numbers) {
    constexpr std::size_t most_parts = 4;
    std::string text;
    std::size_t parts = 0;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t end = i + 1;
        while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
        if (parts == most_parts) return text + " and " + std::to_string(numbers.size() - i) + " more";
        text += (parts++ == 0 ? "" : ", ") + std::to_string(numbers[i]);
        if (end - i > 1) text += " to " + std::to_string(numbers[end - 1]);
        i = end;
    }
    return text;
}

std::string numbered(const char* noun, const std::vector<unsigned>& numbers) {
    return std::string(noun) + (numbers.size() == 1 ? " " : "s ") + numbers_text(numbers);
}

std::vector<unsigned> lanes_in(std::uint32_t mask) {
    std::vector<unsigned> lanes;
    for (; mask != 0; mask &= mask - 1) lanes.push_back(static_cast<unsigned>(std::countr_zero(mask)));
    return lanes;
}

const char* name_of(Wait wait) {
    switch (wait) {
        case Wait::barrier:
            return "a barrier of the block";
        case Wait::grid:
            return "grid.sync()";
        case Wait::meeting:
            return "a warp-wide operation";
        case Wait::arrivals:
            return "a cuda::barrier";
        case Wait::cluster:
            return "the cluster's barrier";
        default:
            return "something else";
    }
}

}  // namespace

std::string Block::text_of(const std::vector<WaitingGroup>& groups) const {
    // In a block of rows, a thread's number is its rank.
    const char* noun = launch_->block.y * launch_->block.z == 1 ? "thread" : "thread of rank";
    const char* nouns = launch_->block.y * launch_->block.z == 1 ? "threads" : "threads of ranks";
    std::string text;
    for (const WaitingGroup& group : groups) {
        const bool one = group.threads.size() == 1;
        text += (text.empty() ? "" : ", ") + std::string(one ? noun : nouns) + " " + numbers_text(group.threads) +
                (one ? " waits at " : " wait at ") + name_of(group.wait) + " (" + at(group.site) + ")";
    }
    return text;
}

std::string Block::waiting_text() const {
    // Lanes that only keep step with their warp wait at no line of the source.
    std::vector<WaitingGroup> groups = waiting_groups();
    std::erase_if(groups, [](const WaitingGroup& group) { return group.site.line == 0; });
    return text_of(groups);
}

/// "; they parted after k.cu:10: thread 0 went on at k.cu:11, thread 32 at k.cu:14", as far as that is known.
std::string Block::where_they_parted(unsigned one, unsigned other) const {
    if (!steps_ || !diagnoser_) return "";
    const auto recent = [&](unsigned thread) {
        const RecentSteps& steps = steps_[thread];
        std::vector<std::uint32_t> codes;
        for (std::uint32_t i = steps.count - std::min(steps.count, RecentSteps::kKept); i != steps.count; ++i) {
            codes.push_back(steps.code[i % RecentSteps::kKept]);
        }
        return codes;
    };
    const std::vector<std::uint32_t> a = recent(one), b = recent(other);
    for (std::size_t i = a.size(); i-- > 0;) {
        const auto last = std::find(b.rbegin(), b.rend(), a[i]);
        if (last == b.rend()) continue;
        const auto j = static_cast<std::size_t>(b.rend() - last);  // of the step after it
        std::vector<const void*> codes = {code_start() + a[i]};
        if (i + 1 < a.size()) codes.push_back(code_start() + a[i + 1]);
        if (j < b.size()) codes.push_back(code_start() + b[j]);
        const std::vector<SourceLine> lines = source_lines(codes);
        if (lines[0].line == 0) return "";
        const auto place = [](const SourceLine& line) { return at({line.file.c_str(), line.line}); };
        std::string text = "; their ways parted after " + place(lines[0]);
        std::size_t next = 1;
        const auto add = [&](unsigned thread, bool went_on) {
            if (!went_on) return;
            const SourceLine& line = lines[next++];
            if (line.line == 0) return;
            text += (next == 2 ? ": thread " : ", thread ") + std::to_string(thread) +
                    (next == 2 ? " went on at " : " at ") + place(line);
        };
        add(one, i + 1 < a.size());
        add(other, j < b.size());
        return text;
    }
    return "";
}

void Block::report_different_barriers() {
    const std::vector<WaitingGroup> groups = waiting_groups();
    const WaitingGroup& first = groups.front();
    const WaitingGroup& second = groups[1];
    if (!launch_->is_first_diagnostic(DiagnosticKind::divergent_barrier, second.site.line)) return;
    threadIdx = thread_index(second.threads.front());
    Diagnostic found = diagnostic(DiagnosticKind::divergent_barrier, second.site);
    found.action = "waits here";
    found.other = OtherSide{first.site, index_, thread_index(first.threads.front()), "waits here"};
    found.message = "the threads of a block wait at different barriers: " + text_of(groups) +
                    where_they_parted(first.threads.front(), second.threads.front());
    found.hint =
        "all threads of the block that still run have to reach the same __syncthreads(): move it out of the branch or "
        "loop that only some of them enter";
    report(std::move(found));
}

/// A warp-wide operation names lanes that still run and wait elsewhere.
void Block::report_missing_lanes() {
    // Of operations that wait for each other's lanes, the one that stands first: it was left out on the way to the
    // next.
    const Meeting* first = nullptr;
    unsigned warp = 0;
    for (unsigned w = 0; w < kMaxThreadsPerBlock / kWarpSize && (first == nullptr || w == warp); ++w) {
        for (const Meeting* other = open_[w]; other != nullptr; other = other->next) {
            if (first == nullptr || other->site.line < first->site.line) first = other;
            warp = w;
        }
    }
    const Meeting& meeting = *first;
    if (!launch_->is_first_diagnostic(DiagnosticKind::missing_lane, meeting.site.line)) return;
    const std::uint32_t missing = meeting.required & ~meeting.arrived & live_lanes(warp);
    std::vector<WaitingGroup> elsewhere = waiting_groups();
    for (WaitingGroup& group : elsewhere) {
        std::erase_if(group.threads, [&](unsigned thread) {
            return thread / kWarpSize != warp || (missing >> thread % kWarpSize & 1) == 0;
        });
    }
    std::erase_if(elsewhere, [](const WaitingGroup& group) { return group.threads.empty(); });
    const Fiber& witness = *meeting.waiting[std::countr_zero(meeting.arrived)];
    threadIdx = witness.thread_index;
    Diagnostic found = diagnostic(DiagnosticKind::missing_lane, meeting.site);
    const unsigned absent = warp * kWarpSize + static_cast<unsigned>(std::countr_zero(missing));
    found.action = "waits here";
    found.message = std::string(name_of(meeting.operation)) + " with mask " + hex(meeting.required) + " waits for " +
                    numbered("lane", lanes_in(missing)) + " of warp " + std::to_string(warp) + ", which never " +
                    (std::popcount(missing) == 1 ? "comes" : "come") + ": " + text_of(elsewhere) +
                    where_they_parted(witness.linear_thread, absent);
    found.other = OtherSide{elsewhere.front().site, index_, thread_index(absent), "waits here"};
    found.hint =
        meeting.operation == Collective::matrix
            ? "all 32 lanes of a warp have to reach it together: move it out of the branch"
            : "name only lanes that make the call (take the mask before the branch with __ballot_sync), or let "
              "all lanes reach it";
    report(std::move(found));
}

/// Threads wait at a barrier of the block or of the grid, and others, which would have to come, at another one.
void Block::report_stuck_threads() {
    const std::vector<WaitingGroup> groups = waiting_groups();
    const auto at_grid =
        std::find_if(groups.begin(), groups.end(), [](const WaitingGroup& group) { return group.wait == Wait::grid; });
    const WaitingGroup& named = at_grid == groups.end() ? groups.front() : *at_grid;
    threadIdx = thread_index(named.threads.front());
    Diagnostic found = diagnostic(DiagnosticKind::divergent_barrier, named.site);
    found.action = "waits here";
    std::size_t waiting = 0;
    for (const WaitingGroup& group : groups) waiting += group.threads.size();
    if (groups.size() > 1) {
        const WaitingGroup& other = &named == &groups.front() ? groups[1] : groups.front();
        found.other = OtherSide{other.site, index_, thread_index(other.threads.front()), "waits here"};
        found.message = "the threads of a block wait at different barriers: " + text_of(groups) +
                        where_they_parted(named.threads.front(), other.threads.front());
    } else {
        found.message = "grid.sync() was reached by " + counted(static_cast<unsigned>(waiting), "thread") +
                        " of a block of " + std::to_string(launch_->threads) + "; the others have exited";
    }
    found.hint = "every thread of every block has to reach grid.sync(): do not return before it";
    report(std::move(found));
}

/// Threads wait for a phase of a cuda::barrier, and whoever would have to arrive waits elsewhere or has exited. False
/// if nobody waits for one.
bool Block::report_missing_arrivals() {
    const Fiber* first = nullptr;
    unsigned exited = launch_->threads;
    for_each_waiting([&](const Fiber& fiber) {
        --exited;
        if (fiber.wait != Wait::arrivals) return;
        if (first == nullptr || fiber.linear_thread < first->linear_thread) first = &fiber;
    });
    if (first == nullptr) return false;
    const AsyncBarrier& barrier = async_barriers_[first->barrier];
    if (!launch_->is_first_diagnostic(DiagnosticKind::missing_arrival, first->site.line)) return true;
    threadIdx = first->thread_index;
    Diagnostic found = diagnostic(DiagnosticKind::missing_arrival, first->site);
    found.action = "waits here";
    const std::vector<WaitingGroup> groups = waiting_groups();
    for (const WaitingGroup& group : groups) {
        if (group.wait == Wait::arrivals && same_place(group.site, first->site)) continue;
        found.other = OtherSide{group.site, index_, thread_index(group.threads.front()), "waits here"};
        break;
    }
    found.message =
        "phase " + std::to_string(barrier.phase) + " of the barrier that was initialized at " + at(barrier.site) +
        " waits for ever: of " + std::to_string(barrier.expected) + " arrivals " +
        std::to_string(barrier.expected - barrier.missing) + " have come" +
        (barrier.bytes > 0 ? ", and of the bytes that were announced " + std::to_string(barrier.bytes) + " have not"
                           : "") +
        ". " + text_of(groups) +
        (exited > 0 ? ", " + counted(exited, "thread") + (exited == 1 ? " has" : " have") + " exited" : "");
    if (barrier.missing == 0 && barrier.bytes > 0) {
        found.hint =
            "the bytes that a phase is told to expect have to be the sum of the sizes of its copies: is the number "
            "right, is it in bytes and not in elements, and does every copy begin that it counts?";
        report(std::move(found));
        return true;
    }
    found.hint =
        "init() has to be told how many arrivals come in each phase: is the number right, does every thread that it "
        "counts call arrive() (of a pipeline: producer_commit() or consumer_release()) in each round, and does a "
        "thread that leaves call arrive_and_drop()?";
    report(std::move(found));
    return true;
}

void Block::end_for_barrier(Site site, const std::string& message, const char* hint) {
    const Uninstrumented now;
    Diagnostic found = diagnostic(DiagnosticKind::barrier_misuse, site);
    found.message = message;
    found.hint = hint;
    if (launch_->is_first_diagnostic(found.kind, site.line)) report(std::move(found));
    launch_->fail(cudaErrorLaunchFailure);
    abandon();
}

// ---- values of lanes that are not there ------------------------------------------------------------------

namespace {

/// What the launches so far have shown of a shuffle that took values of missing lanes.
struct ShuffleHistory {
    int times_unused = 0;
    bool is_used = false;
};
constexpr int kEnoughTimes = 3;  // a copy of the process takes time

/// By file and line. Only whoever runs a launch touches it, and launches run one at a time.
ShuffleHistory& history_of(const char* file, int line) {
    static auto* all = new std::map<std::pair<std::string, int>, ShuffleHistory>;
    return (*all)[{file, line}];
}

}  // namespace

std::uint64_t Block::note_shuffle(std::uint32_t mask, std::uint32_t came, unsigned source, Site site) {
    constexpr std::uint64_t missing = ~std::uint64_t{0};
    // Whoever is told its own value (the source was outside the segment) tells nothing about the others.
    if (!diagnoser_ || source == lane_id()) return missing;
    const Uninstrumented now;
    thread_goes_on_at(site);
    const bool has_value = source < kWarpSize && (came >> source & 1) != 0;
    if (!has_value && !launch_->twin.was_started()) {
        const ShuffleHistory& history = history_of(site.file, site.line);
        if (!history.is_used && history.times_unused < kEnoughTimes) launch_->twin.start();
    }
    std::unique_lock lock(launch_->mutex);
    Launch::IncompleteShuffle& shuffle = launch_->incomplete_shuffles[{site.file, site.line}];
    if (!has_value && std::popcount(came) > 1) shuffle.several_lanes_came = true;
    if (!has_value && shuffle.count++ == 0) {
        const bool exists = (lanes_of_warp(warp_id()) >> source & 1) != 0;
        const bool named = (mask >> source & 1) != 0;
        shuffle.example = diagnostic(DiagnosticKind::undefined_shuffle, site);
        shuffle.example.action = "takes the value of lane " + std::to_string(source);
        shuffle.example.message = "lane " + std::to_string(lane_id()) + " of warp " + std::to_string(warp_id()) +
                                  " takes the value of lane " + std::to_string(source) + ", which " +
                                  (!exists ? "the block does not have"
                                   : named ? "has exited"
                                           : "the mask " + hex(mask) + " leaves out") +
                                  ": what it gets is undefined";
        shuffle.example.hint =
            exists && named
                ? "let all lanes stay and bring a neutral value, such as 0 for a sum, where there is no element"
                : "use the value only where the source lane takes part: if (lane + offset < count) ...";
    }
    awaited_steps_.resize(launch_->threads);
    awaited_steps_[current_thread.linear_thread] = {&shuffle, has_value};
    instrumented_thread.awaits_step = true;
    // Large numbers, whether they are taken for floating-point ones or for integers, so that they show in sums and in
    // every second maximum or minimum.
    if (!launch_->twin.is_copy()) return missing;
    return shuffle.count % 2 == 0 ? 0x7E9676997E967699u : 0xFE967699FE967699u;
}

void Block::note_way_on(std::uint32_t place) {
    instrumented_thread.awaits_step = false;
    const AwaitedStep awaited = awaited_steps_[current_thread.linear_thread];
    std::lock_guard lock(launch_->mutex);
    (awaited.has_value ? awaited.shuffle->way_with_value : awaited.shuffle->way_without_value).insert(place);
}

void Launch::report_undefined_shuffles() {
    if (incomplete_shuffles.empty()) return;
    const std::optional<bool> same_result = twin.has_same_result(failure);
    std::size_t suspects = 0;
    for (const auto& [place, shuffle] : incomplete_shuffles) {
        suspects += shuffle.count > 0 && !history_of(place.first, place.second).is_used;
    }
    for (auto& [place, shuffle] : incomplete_shuffles) {
        if (shuffle.count == 0) continue;
        ShuffleHistory& history = history_of(place.first, place.second);
        if (same_result.value_or(false)) ++history.times_unused;
        if (!history.is_used && same_result != false && (same_result || history.times_unused >= kEnoughTimes)) continue;
        // The result depends on what was taken, by this shuffle or by another one. Or nobody knows. Then lanes that
        // went the same way after the shuffle have done the same with what they got. Where no lane got a value, all of
        // them may skip its use; a lane that is alone mostly does.
        const bool is_surely_used = history.is_used || (same_result == false && suspects == 1);
        const auto& with_value =
            shuffle.way_with_value;  // clang 14 has no references to structured bindings in lambdas
        const bool same_way = std::any_of(shuffle.way_without_value.begin(), shuffle.way_without_value.end(),
                                          [&](std::uint32_t way) { return with_value.count(way) != 0; });
        const bool may_be_used = shuffle.way_with_value.empty() ? shuffle.several_lanes_came : same_way;
        if (!is_surely_used && !may_be_used) continue;
        history.is_used = true;
        shuffle.example.count = shuffle.count;
        report(std::move(shuffle.example));
    }
}

}  // namespace cpu_device
