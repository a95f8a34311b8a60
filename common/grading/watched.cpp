#include "common/grading/watched.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

namespace grading {
namespace {

using warpwise::bytes_moved_text;
using warpwise::count_text;
using warpwise::Counts;
using warpwise::LaunchCounts;
using warpwise::LineCounts;
using warpwise::Mistake;
using warpwise::ratio_text;
using warpwise::RequestCounts;

constexpr std::size_t lines_shown = 3;
constexpr std::size_t longest_source = 60;  // Catch2 breaks lines of more than 80 characters
constexpr double lanes_of_a_warp = 32;

bool left_out = false;

/// The text of a line without its indentation, cut when it is long; empty when the file cannot be read.
std::string source_text(const std::string& file, int line) {
    std::ifstream source(file);
    std::string text;
    for (int number = 0; number < line; ++number) {
        if (!std::getline(source, text)) return {};
    }
    text.erase(0, text.find_first_not_of(" \t"));
    text.erase(text.find_last_not_of(" \t\r") + 1);
    if (text.size() > longest_source) text = text.substr(0, longest_source - 3) + "...";
    return text;
}

using Cost = std::function<double(const Counts&)>;
using Describe = std::function<std::string(const Counts&)>;

/// The lines that cost most, each with its source and what it costs, every line begun by a line break.
std::string costly_lines(const Watched& watched, const Cost& cost, const Describe& describe) {
    std::vector<LineCounts> lines = warpwise::lines_of(watched.launches);
    std::erase_if(lines, [&](const LineCounts& line) { return cost(line.counts) <= 0; });
    std::stable_sort(lines.begin(), lines.end(),
                     [&](const LineCounts& a, const LineCounts& b) { return cost(a.counts) > cost(b.counts); });
    std::string text;
    for (std::size_t i = 0; i < std::min(lines_shown, lines.size()); ++i) {
        const LineCounts& line = lines[i];
        text += "\n" + std::filesystem::path(line.file).filename().string() + ":" + std::to_string(line.line);
        const std::string source = source_text(line.file, line.line);
        if (!source.empty()) text += ": " + source;
        text += "\n    " + describe(line.counts);
    }
    if (lines.size() > lines_shown) text += "\nand " + std::to_string(lines.size() - lines_shown) + " more lines";
    return text;
}

std::string plural(double count, const std::string& word) {
    return count_text(count) + " " + word + (count == 1 ? "" : "s");
}

/// "32 sectors/request (8192 requests, 8.39 MB moved)"
std::string sectors_text(const RequestCounts& requests) {
    return ratio_text(requests.sectors_per_request()) + " sectors/request (" + plural(requests.requests, "request") +
           ", " + bytes_moved_text(requests.bytes_moved()) + " moved)";
}

/// A judge of what is seen: accepts what nobody saw, and refuses a program without kernels.
template <class Judge>
WatchedMatcher counting_matcher(Judge judge, std::string hint) {
    return {[judge = std::move(judge)](const Watched& watched) -> Verdict {
                if (!watched.countable) {
                    left_out = true;
                    return {true, "not counted on this device"};
                }
                if (watched.launches.empty()) return {false, "no kernel was launched"};
                return judge(watched);
            },
            std::move(hint)};
}

Verdict judge_sectors(const Watched& watched, RequestCounts Counts::*which, const std::string& name, double limit) {
    const RequestCounts all = warpwise::sum_of(watched.launches).*which;
    const std::string figure = ratio_text(all.sectors_per_request()) + " sectors/request";
    if (all.sectors_per_request() <= limit) return {true, name + ": " + figure};
    const auto cost = [which, limit](const Counts& counts) {
        const RequestCounts& requests = counts.*which;
        return requests.sectors_per_request() > limit ? requests.sectors : 0;
    };
    const auto describe = [which](const Counts& counts) { return sectors_text(counts.*which); };
    return {false, name + ": " + figure + " on average, at most " + ratio_text(limit) + " allowed" +
                       costly_lines(watched, cost, describe)};
}

/// Lines with bank conflicts, worst first.
std::string conflicting_lines(const Watched& watched) {
    return costly_lines(
        watched, [](const Counts& counts) { return counts.shared().conflicts(); },
        [](const Counts& counts) {
            const RequestCounts shared = counts.shared();
            return plural(shared.conflicts(), "conflict") + ": " + ratio_text(shared.wavefronts_per_request()) +
                   " passes for each of " + plural(shared.requests, "request");
        });
}

std::string names_of_shared_arrays(const Watched& watched) {
    std::vector<std::string> names;
    for (const LaunchCounts& launch : watched.launches) {
        for (const warpwise::ArrayCounts& array : launch.arrays) {
            const bool known = std::find(names.begin(), names.end(), array.name) != names.end();
            if (array.counts.shared().requests > 0 && !known) names.push_back(array.name);
        }
    }
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

WatchedMatcher mistake_matcher(std::initializer_list<std::string_view> kinds, std::string none, std::string hint) {
    return {[kinds = std::vector<std::string_view>(kinds), none = std::move(none)](const Watched& watched) -> Verdict {
                if (!watched.countable) left_out = true;
                std::vector<Mistake> found;
                for (const Mistake& mistake : watched.mistakes) {
                    if (std::find(kinds.begin(), kinds.end(), mistake.kind) != kinds.end()) found.push_back(mistake);
                }
                if (found.empty()) return {true, none};
                std::string text;
                for (const Mistake& mistake : found) text += (text.empty() ? "" : "\n\n") + mistake.text;
                warpwise::forget_mistakes(found);  // told now: not once more at the end
                return {false, text};
            },
            std::move(hint)};
}

}  // namespace

Watched watch(const std::function<void()>& body) {
    Watched watched{.countable = warpwise::can_watch(), .launches = {}, .mistakes = {}};
    watched.mistakes =
        warpwise::mistakes_during([&] { watched.launches = warpwise::count_launches(body, {.blocks = 0}); });
    return watched;
}

bool WatchedMatcher::match(const Watched& watched) const {
    const Verdict verdict = judge_(watched);
    text_ = verdict.text;
    if (!verdict.passed && !hint_.empty()) text_ += "\n" + hint_;
    return verdict.passed;
}

WatchedMatcher SectorsPerRequestAtMost(double limit, std::string hint) {
    return SectorsPerRequestAtMost(limit, Accesses::loads_and_stores, std::move(hint));
}

WatchedMatcher SectorsPerRequestAtMost(double limit, Accesses accesses, std::string hint) {
    const auto judge = [limit, accesses](const Watched& watched) -> Verdict {
        const Verdict loads = judge_sectors(watched, &Counts::global_load, "global loads", limit);
        if (accesses != Accesses::stores && !loads.passed) return loads;
        const Verdict stores = judge_sectors(watched, &Counts::global_store, "global stores", limit);
        if (accesses != Accesses::loads && !stores.passed) return stores;
        return {true, loads.text + ", " + stores.text};
    };
    return counting_matcher(judge, std::move(hint));
}

WatchedMatcher BytesMovedAtMost(double bytes, std::string hint) {
    const auto judge = [bytes](const Watched& watched) -> Verdict {
        const double moved = warpwise::sum_of(watched.launches).global().bytes_moved();
        if (moved <= bytes) return {true, bytes_moved_text(moved) + " moved"};
        return {false, bytes_moved_text(moved) + " of global memory moved, at most " + bytes_moved_text(bytes) +
                           " allowed" +
                           costly_lines(
                               watched, [](const Counts& counts) { return counts.global().bytes_moved(); },
                               [](const Counts& counts) { return sectors_text(counts.global()); })};
    };
    return counting_matcher(judge, std::move(hint));
}

WatchedMatcher NoBankConflicts(std::string hint) {
    const auto judge = [](const Watched& watched) -> Verdict {
        const double conflicts = warpwise::sum_of(watched.launches).shared().conflicts();
        if (conflicts == 0) return {true, "no bank conflicts"};
        return {false, plural(conflicts, "bank conflict") + conflicting_lines(watched)};
    };
    return counting_matcher(judge, std::move(hint));
}

WatchedMatcher NoBankConflictsOn(std::string array, std::string hint) {
    const auto judge = [array = std::move(array)](const Watched& watched) -> Verdict {
        const std::optional<Counts> counts = warpwise::array_of(watched.launches, array);
        if (!counts || counts->shared().requests == 0) {
            const std::string names = names_of_shared_arrays(watched);
            return {false, "no __shared__ array called " + array + " was used" +
                               (names.empty() ? ", and no other one" : "; used were: " + names)};
        }
        const double conflicts = counts->shared().conflicts();
        if (conflicts == 0) return {true, "no bank conflicts on " + array};
        return {false, plural(conflicts, "bank conflict") + " on " + array + conflicting_lines(watched)};
    };
    return counting_matcher(judge, std::move(hint));
}

WatchedMatcher ActiveLanesAtLeast(double lanes, std::string hint) {
    const auto judge = [lanes](const Watched& watched) -> Verdict {
        const double active = warpwise::sum_of(watched.launches).active_lanes_per_step();
        if (active >= lanes) return {true, ratio_text(active) + " active lanes"};
        return {
            false,
            ratio_text(active) + " of 32 lanes active on average, at least " + ratio_text(lanes) + " wanted" +
                costly_lines(
                    watched, [](const Counts& counts) { return counts.steps * lanes_of_a_warp - counts.active_lanes; },
                    [](const Counts& counts) {
                        return ratio_text(counts.active_lanes_per_step()) + " active lanes, run " +
                               plural(counts.steps, "time") + " by a warp";
                    })};
    };
    return counting_matcher(judge, std::move(hint));
}

WatchedMatcher BarriersAtMost(double barriers, std::string hint) {
    const auto judge = [barriers](const Watched& watched) -> Verdict {
        const auto most = std::max_element(
            watched.launches.begin(), watched.launches.end(),
            [](const LaunchCounts& a, const LaunchCounts& b) { return a.barriers_per_warp() < b.barriers_per_warp(); });
        const double passed = most->barriers_per_warp();
        if (passed <= barriers) return {true, ratio_text(passed) + " barriers a warp"};
        const Watched worst{.countable = true, .launches = {*most}, .mistakes = {}};
        return {false, "a warp of " + most->kernel + " passes " + ratio_text(passed) + " barriers, at most " +
                           ratio_text(barriers) + " allowed" +
                           costly_lines(
                               worst, [](const Counts& counts) { return counts.barriers; },
                               [](const Counts& counts) { return plural(counts.barriers, "barrier") + " of warps"; })};
    };
    return counting_matcher(judge, std::move(hint));
}

WatchedMatcher AtomicsAtMost(double operations, std::string hint) {
    const auto judge = [operations](const Watched& watched) -> Verdict {
        const double done = warpwise::sum_of(watched.launches).global_atomic.lanes;
        if (done <= operations) return {true, plural(done, "atomic operation")};
        return {false, plural(done, "atomic operation") + " on global memory, at most " + count_text(operations) +
                           " allowed" +
                           costly_lines(
                               watched, [](const Counts& counts) { return counts.global_atomic.lanes; },
                               [](const Counts& counts) {
                                   return plural(counts.global_atomic.lanes, "operation") + ", " +
                                          count_text(counts.global_atomic.same_address) +
                                          " of them wait for another lane of their warp";
                               })};
    };
    return counting_matcher(judge, std::move(hint));
}

WatchedMatcher LaunchesAtMost(std::size_t launches, std::string hint) {
    const auto judge = [launches](const Watched& watched) -> Verdict {
        if (!watched.countable) {
            left_out = true;
            return {true, "not counted on this device"};
        }
        const std::size_t done = watched.launches.size();
        std::string text = plural(static_cast<double>(done), "launch");
        if (done <= launches) return {true, text};
        text = std::to_string(done) + " launches, at most " + std::to_string(launches) + " allowed";
        for (std::size_t i = 0; i < std::min(2 * lines_shown, done); ++i) {
            const LaunchCounts& launch = watched.launches[i];
            text += "\n" + std::filesystem::path(launch.file).filename().string() + ":" + std::to_string(launch.line) +
                    ": " + launch.kernel;
        }
        if (done > 2 * lines_shown) text += "\n...";
        return {false, text};
    };
    return {judge, std::move(hint)};
}

WatchedMatcher NoRace(std::string hint) { return mistake_matcher({"data_race"}, "no data race", std::move(hint)); }

WatchedMatcher CleanMemory(std::string hint) {
    return mistake_matcher({"out_of_bounds", "misaligned_access", "use_after_free", "host_memory", "uninitialized_read",
                            "illegal_access", "invalid_free"},
                           "clean memory", std::move(hint));
}

bool counts_were_left_out() { return left_out; }

}  // namespace grading

std::string Catch::StringMaker<grading::Watched>::convert(const grading::Watched& watched) {
    if (!watched.countable) return "kernels that nobody watched";
    std::string text =
        std::to_string(watched.launches.size()) + (watched.launches.size() == 1 ? " launch" : " launches");
    for (std::size_t i = 0; i < watched.launches.size() && i < 3; ++i) {
        text += (i == 0 ? " of " : ", ") + watched.launches[i].kernel;
    }
    return text + (watched.launches.size() > 3 ? ", ...:" : ":");
}
