#include "common/grading/instrumented.h"

#include <algorithm>
#include <catch2/interfaces/catch_interfaces_capture.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "common/grading/failure.h"

namespace grading {
namespace {

using warpwise::bytes_moved_text;
using warpwise::count_text;
using warpwise::Counts;
using warpwise::Diagnostic;
using warpwise::LaunchCounts;
using warpwise::LineCounts;
using warpwise::ratio_text;
using warpwise::RequestCounts;

constexpr std::size_t lines_shown = 3;
constexpr std::size_t longest_source = 60;  // Catch2 breaks lines of more than 80 characters
constexpr double lanes_of_a_warp = 32;

// What to ask about a count, whatever its cause.
constexpr const char* sectors_question = "In that line, which addresses do lanes 0, 1, and 2 of a warp access?";
constexpr const char* banks_question =
    "In that line, which word does each lane of a warp access, and in which bank (word % 32) does it lie?";
constexpr const char* lanes_question =
    "In that line, which lanes of a warp take part, and what do the others wait for?";
constexpr const char* barriers_question =
    "For each barrier: which thread reads after it what another one wrote before it?";
constexpr const char* release_question = "Where does each of them stop being used?";
constexpr const char* no_launch_question = "Which line launches your kernel, and does the host code reach it here?";
constexpr const char* bytes_question =
    "Which of these lines moves an element more than once, or sectors of which it needs only a part?";
constexpr const char* shared_question =
    "Which values does one thread of a block fetch for another one, and where could they lie meanwhile?";
constexpr const char* atomics_question = "Which of these additions could a block, or a warp, first do by itself?";
constexpr const char* fewer_launches_question = "Which of these launches does work that another one could do?";
constexpr const char* shape_question =
    "Which two arguments stand between <<< and >>>, and which values do they have here?";
constexpr const char* threads_question = "How many elements does each thread of this launch take?";
constexpr const char* calls_not_question = "What does your code need this call for, and does the task allow it?";
constexpr const char* calls_question = "Which line of yours should call it?";
constexpr const char* waits_question = "What does the host do after this call that it could not have done before it?";
constexpr const char* copies_question = "Which line of yours copies, and who needs what it copies?";

Judgement no_kernel_launched() { return {false, "no kernel was launched", nullptr, no_launch_question}; }

bool left_out = false;
std::vector<LaunchCounts> launches_of_last_call;
std::vector<CountedCall> all_counted_calls;
std::set<Place> all_barrier_places;

using Cost = std::function<double(const Counts&)>;
using Describe = std::function<std::string(const Counts&)>;

/// The lines that cost most, each with its source and what it costs, every line begun by a line break.
std::string costly_lines(const Instrumented& instrumented, const Cost& cost, const Describe& describe) {
    std::vector<LineCounts> lines = warpwise::lines_of(instrumented.launches);
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
    if (lines.size() > lines_shown) text += "\nand " + counted(lines.size() - lines_shown, "more line");
    return text;
}

/// "32 sectors/request (8192 requests, 8.39 MB moved)"
std::string sectors_text(const RequestCounts& requests) {
    return ratio_text(requests.sectors_per_request()) + " sectors/request (" + counted(requests.requests, "request") +
           ", " + bytes_moved_text(requests.bytes_moved()) + " moved)";
}

/// A judge of what is seen: accepts what nobody saw, and refuses a program without kernels.
template <class Judge>
InstrumentedMatcher counting_matcher(Judge judge, std::string hint) {
    return {[judge = std::move(judge)](const Instrumented& instrumented) -> Judgement {
                if (!instrumented.countable) {
                    left_out = true;
                    return {true, "not counted on this device"};
                }
                if (instrumented.launches.empty()) return no_kernel_launched();
                return judge(instrumented);
            },
            std::move(hint)};
}

Judgement judge_sectors(const Instrumented& instrumented, RequestCounts Counts::*which, const std::string& name,
                        double limit) {
    const RequestCounts all = warpwise::sum_of(instrumented.launches).*which;
    const std::string figure = ratio_text(all.sectors_per_request()) + " sectors/request";
    if (all.sectors_per_request() <= limit) return {true, name + ": " + figure};
    const auto cost = [which, limit](const Counts& counts) {
        const RequestCounts& requests = counts.*which;
        return requests.sectors_per_request() > limit ? requests.sectors : 0;
    };
    const auto describe = [which](const Counts& counts) { return sectors_text(counts.*which); };
    return {false,
            name + ": " + figure + " on average, at most " + ratio_text(limit) + " allowed" +
                costly_lines(instrumented, cost, describe),
            nullptr, sectors_question};
}

std::string percent_text(double fraction) { return std::to_string(std::lround(100 * fraction)) + " %"; }

Judgement judge_efficiency(const Instrumented& instrumented, RequestCounts Counts::*which, const std::string& name,
                           double fraction) {
    const RequestCounts requests = warpwise::sum_of(instrumented.launches).*which;
    const double efficiency = requests.sector_efficiency();
    if (efficiency >= fraction) return {true, name + ": " + percent_text(efficiency)};
    const auto cost = [which](const Counts& counts) {
        return (counts.*which).sectors - (counts.*which).needed_sectors;
    };
    const auto describe = [which](const Counts& counts) {
        const RequestCounts& line = counts.*which;
        return ratio_text(line.sectors_per_request()) + " sectors per request, " +
               ratio_text(line.needed_sectors / line.requests) + " needed (" + counted(line.requests, "request") + ")";
    };
    return {false,
            name + ": " + percent_text(efficiency) + " of the 32-byte sectors that were touched are needed, at least " +
                percent_text(fraction) + " wanted" + costly_lines(instrumented, cost, describe),
            nullptr, sectors_question};
}

/// Lines with bank conflicts, worst first.
std::string conflicting_lines(const Instrumented& instrumented) {
    return costly_lines(
        instrumented, [](const Counts& counts) { return counts.shared().conflicts(); },
        [](const Counts& counts) {
            const RequestCounts shared = counts.shared();
            return counted(shared.conflicts(), "conflict") + ": " + ratio_text(shared.wavefronts_per_request()) +
                   " wavefronts for each of " + counted(shared.requests, "request");
        });
}

Judgement judge_conflicts(const Instrumented& instrumented) {
    const double conflicts = warpwise::sum_of(instrumented.launches).shared().conflicts();
    if (conflicts == 0) return {true, "no bank conflicts"};
    return {false, counted(conflicts, "bank conflict") + " in shared memory" + conflicting_lines(instrumented), nullptr,
            banks_question};
}

/// "my.cu:12: kernel<<<(4, 1, 1), (32, 1, 1)>>>" for each launch, every line begun by a line break.
std::string launch_lines(const Instrumented& instrumented) {
    const auto shape = [](const std::array<unsigned, 3>& sides) {
        if (sides[1] == 1 && sides[2] == 1) return std::to_string(sides[0]);
        return "(" + std::to_string(sides[0]) + ", " + std::to_string(sides[1]) +
               (sides[2] == 1 ? "" : ", " + std::to_string(sides[2])) + ")";
    };
    std::string text;
    const std::size_t done = instrumented.launches.size();
    for (std::size_t i = 0; i < std::min(2 * lines_shown, done); ++i) {
        const LaunchCounts& launch = instrumented.launches[i];
        text += "\n" + std::filesystem::path(launch.file).filename().string() + ":" + std::to_string(launch.line) +
                ": " + launch.kernel + "<<<" + shape(launch.grid) + ", " + shape(launch.block) + ">>>";
    }
    if (done > 2 * lines_shown) text += "\n...";
    return text;
}

/// For what is known of launches and calls without counting anything in kernels.
InstrumentedMatcher host_matcher(InstrumentedMatcher::Judge judge, std::string hint) {
    return {[judge = std::move(judge)](const Instrumented& instrumented) -> Judgement {
                if (instrumented.countable) return judge(instrumented);
                left_out = true;
                return {true, "not counted on this device"};
            },
            std::move(hint)};
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

/// What makes something, and what undoes that. One of several functions may do each.
struct Pair {
    const char* noun;
    std::vector<std::string_view> makers;
    std::vector<std::string_view> releasers;
};
const std::vector<Pair>& pairs() {
    static const std::vector<Pair> all = {
        {"event", {"cudaEventCreate", "cudaEventCreateWithFlags"}, {"cudaEventDestroy"}},
        {"stream",
         {"cudaStreamCreate", "cudaStreamCreateWithFlags", "cudaStreamCreateWithPriority"},
         {"cudaStreamDestroy"}},
        {"texture object", {"cudaCreateTextureObject"}, {"cudaDestroyTextureObject"}},
        {"surface object", {"cudaCreateSurfaceObject"}, {"cudaDestroySurfaceObject"}},
        {"array", {"cudaMallocArray", "cudaMalloc3DArray"}, {"cudaFreeArray"}},
        {"memory pool", {"cudaMemPoolCreate"}, {"cudaMemPoolDestroy"}},
        {"graph", {"cudaGraphCreate", "cudaGraphClone", "cudaStreamEndCapture"}, {"cudaGraphDestroy"}},
        {"executable graph",
         {"cudaGraphInstantiate", "cudaGraphInstantiateWithFlags", "cudaGraphInstantiateWithParams"},
         {"cudaGraphExecDestroy"}},
        {"allocation of pinned memory", {"cudaHostAlloc", "cudaMallocHost"}, {"cudaFreeHost"}},
        {"allocation of device memory",
         {"cudaMalloc", "cudaMallocAsync", "cudaMallocFromPoolAsync", "cudaMallocManaged", "cudaMallocPitch",
          "cudaMalloc3D"},
         {"cudaFree", "cudaFreeAsync"}}};
    return all;
}

std::size_t count_calls(const Instrumented& instrumented, const std::vector<std::string_view>& functions) {
    return static_cast<std::size_t>(
        std::count_if(instrumented.calls.begin(), instrumented.calls.end(), [&](const warpwise::ApiCall& call) {
            return std::find(functions.begin(), functions.end(), call.function) != functions.end();
        }));
}

InstrumentedMatcher diagnostic_matcher(std::initializer_list<std::string_view> kinds, std::string none,
                                       std::string hint) {
    return {[kinds = std::vector<std::string_view>(kinds),
             none = std::move(none)](const Instrumented& instrumented) -> Judgement {
                if (!instrumented.countable) left_out = true;
                std::vector<Diagnostic> found;
                for (const Diagnostic& diagnostic : instrumented.diagnostics) {
                    if (std::find(kinds.begin(), kinds.end(), diagnostic.kind) != kinds.end())
                        found.push_back(diagnostic);
                }
                if (found.empty()) return {true, none};
                std::string text;
                for (const Diagnostic& diagnostic : found) text += (text.empty() ? "" : "\n\n") + diagnostic.text;
                warpwise::forget_diagnostics(found);  // told now: not once more at the end
                return {false, text};
            },
            std::move(hint)};
}

}  // namespace

Instrumented instrument(const std::function<void()>& body) {
    Instrumented instrumented{.countable = warpwise::can_instrument(), .launches = {}, .diagnostics = {}};
    instrumented.diagnostics = warpwise::diagnostics_during([&] {
        instrumented.launches =
            warpwise::count_launches([&] { instrumented.calls = warpwise::log_during(body); }, {.blocks = 0});
    });
    launches_of_last_call = instrumented.launches;
    for (const LineCounts& line : warpwise::lines_of(instrumented.launches)) {
        if (line.counts.barriers > 0) all_barrier_places.insert({line.file, line.line});
    }
    const std::string test = Catch::getResultCapture().getCurrentTestName();
    const auto before = std::count_if(all_counted_calls.begin(), all_counted_calls.end(),
                                      [&](const CountedCall& call) { return call.name.starts_with(test + " #"); });
    instrumented.name = test + " #" + std::to_string(before + 1);
    CountedCall counted{instrumented.name, instrumented.launches.size(), 0, warpwise::sum_of(instrumented.launches)};
    for (const LaunchCounts& launch : instrumented.launches) {
        counted.barriers_per_warp = std::max(counted.barriers_per_warp, launch.barriers_per_warp());
    }
    all_counted_calls.push_back(std::move(counted));
    return instrumented;
}

const std::vector<LaunchCounts>& last_launches() { return launches_of_last_call; }

const std::set<Place>& barrier_places() { return all_barrier_places; }

const std::vector<CountedCall>& counted_calls() { return all_counted_calls; }

std::size_t Instrumented::calls_of(std::initializer_list<std::string_view> functions) const {
    return static_cast<std::size_t>(std::count_if(calls.begin(), calls.end(), [&](const warpwise::ApiCall& call) {
        return std::find(functions.begin(), functions.end(), call.function) != functions.end();
    }));
}

std::size_t Instrumented::copies(std::string_view direction) const {
    return static_cast<std::size_t>(std::count_if(calls.begin(), calls.end(), [&](const warpwise::ApiCall& call) {
        return call.direction == direction || call.direction == "cudaMemcpyDefault";
    }));
}

bool InstrumentedMatcher::match(const Instrumented& instrumented) const {
    const Judgement judgement = judge_(instrumented);
    text_ = judgement.text;
    if (judgement.passed) return true;
    std::string said = hint_;
    for (const auto& [cause, hint] : hints_) {
        if (!cause(instrumented)) continue;
        said += (said.empty() ? "" : "\n") + hint;
        break;
    }
    if (!said.empty()) text_ += "\n" + said;
    note_failed_match({.judgement = judgement, .hint = said, .place = {}, .call = instrumented.name});
    return false;
}

InstrumentedMatcher GlobalEfficiencyAtLeast(double fraction, std::string hint) {
    return GlobalEfficiencyAtLeast(fraction, Accesses::loads_and_stores, std::move(hint));
}

InstrumentedMatcher GlobalEfficiencyAtLeast(double fraction, Accesses accesses, std::string hint) {
    const auto judge = [fraction, accesses](const Instrumented& instrumented) -> Judgement {
        const Judgement loads = judge_efficiency(instrumented, &Counts::global_load, "global loads", fraction);
        if (accesses != Accesses::stores && !loads.passed) return loads;
        const Judgement stores = judge_efficiency(instrumented, &Counts::global_store, "global stores", fraction);
        if (accesses != Accesses::loads && !stores.passed) return stores;
        return {true, loads.text + ", " + stores.text};
    };
    return counting_matcher(judge, std::move(hint));
}

InstrumentedMatcher SectorsPerRequestAtMost(double limit, std::string hint) {
    return SectorsPerRequestAtMost(limit, Accesses::loads_and_stores, std::move(hint));
}

InstrumentedMatcher SectorsPerRequestAtMost(double limit, Accesses accesses, std::string hint) {
    const auto judge = [limit, accesses](const Instrumented& instrumented) -> Judgement {
        const Judgement loads = judge_sectors(instrumented, &Counts::global_load, "global loads", limit);
        if (accesses != Accesses::stores && !loads.passed) return loads;
        const Judgement stores = judge_sectors(instrumented, &Counts::global_store, "global stores", limit);
        if (accesses != Accesses::loads && !stores.passed) return stores;
        return {true, loads.text + ", " + stores.text};
    };
    return counting_matcher(judge, std::move(hint));
}

InstrumentedMatcher BytesMovedAtMost(double bytes, std::string hint) {
    const auto judge = [bytes](const Instrumented& instrumented) -> Judgement {
        const double moved = warpwise::sum_of(instrumented.launches).global().bytes_moved();
        if (moved <= bytes) return {true, bytes_moved_text(moved) + " moved"};
        return {false,
                bytes_moved_text(moved) + " of global memory moved, at most " + bytes_moved_text(bytes) + " allowed" +
                    costly_lines(
                        instrumented, [](const Counts& counts) { return counts.global().bytes_moved(); },
                        [](const Counts& counts) { return sectors_text(counts.global()); }),
                nullptr, bytes_question};
    };
    return counting_matcher(judge, std::move(hint));
}

InstrumentedMatcher NoBankConflicts(std::string hint) { return counting_matcher(judge_conflicts, std::move(hint)); }

InstrumentedMatcher UsesSharedMemory(std::string hint) {
    const auto judge = [](const Instrumented& instrumented) -> Judgement {
        const double requests = warpwise::sum_of(instrumented.launches).shared().requests;
        if (requests > 0) return {true, counted(requests, "request") + " to shared memory"};
        return {false, "no shared memory was used", nullptr, shared_question};
    };
    return counting_matcher(judge, std::move(hint));
}

InstrumentedMatcher NoBankConflictsOn(std::string array, std::string hint) {
    const auto judge = [array = std::move(array)](const Instrumented& instrumented) -> Judgement {
        const std::optional<Counts> counts = warpwise::array_of(instrumented.launches, array);
        const double accesses = warpwise::sum_of(instrumented.launches).shared().requests;
        if (accesses == 0) return {false, "no shared memory was used", nullptr, shared_question};
        if (!counts || counts->shared().requests == 0) return judge_conflicts(instrumented);
        const double conflicts = counts->shared().conflicts();
        if (conflicts == 0) return {true, "no bank conflicts on " + array};
        return {false, counted(conflicts, "bank conflict") + " on " + array + conflicting_lines(instrumented), nullptr,
                banks_question};
    };
    return counting_matcher(judge, std::move(hint));
}

InstrumentedMatcher ActiveLanesAtLeast(double lanes, std::string hint) {
    const auto judge = [lanes](const Instrumented& instrumented) -> Judgement {
        const double active = warpwise::sum_of(instrumented.launches).active_lanes_per_step();
        if (active >= lanes) return {true, ratio_text(active) + " active lanes"};
        return {false,
                ratio_text(active) + " of 32 lanes active on average, at least " + ratio_text(lanes) + " wanted" +
                    costly_lines(
                        instrumented,
                        [](const Counts& counts) { return counts.steps * lanes_of_a_warp - counts.active_lanes; },
                        [](const Counts& counts) {
                            return ratio_text(counts.active_lanes_per_step()) + " active lanes, run " +
                                   counted(counts.steps, "time") + " by a warp";
                        }),
                nullptr, lanes_question};
    };
    return counting_matcher(judge, std::move(hint));
}

InstrumentedMatcher BarriersAtMost(unsigned barriers, std::string hint) {
    const auto judge = [barriers](const Instrumented& instrumented) -> Judgement {
        const auto most = std::max_element(
            instrumented.launches.begin(), instrumented.launches.end(),
            [](const LaunchCounts& a, const LaunchCounts& b) { return a.most_barriers < b.most_barriers; });
        const unsigned passed = most->most_barriers;
        if (passed <= barriers) return {true, "no warp passes more than " + counted(passed, "barrier")};
        const Instrumented worst{.countable = true, .launches = {*most}, .diagnostics = {}};
        return {false,
                "a warp of " + most->kernel + " passes " + counted(passed, "barrier") + ", at most " +
                    std::to_string(barriers) + " allowed" +
                    costly_lines(
                        worst, [](const Counts& counts) { return counts.barriers; },
                        [](const Counts& counts) { return counted(counts.barriers, "barrier") + " of warps"; }),
                nullptr, barriers_question};
    };
    return counting_matcher(judge, std::move(hint));
}

InstrumentedMatcher AtomicsAtMost(double operations, std::string hint) {
    const auto judge = [operations](const Instrumented& instrumented) -> Judgement {
        const double done = warpwise::sum_of(instrumented.launches).global_atomic.lanes;
        if (done <= operations) return {true, counted(done, "atomic operation")};
        return {false,
                counted(done, "atomic operation") + " on global memory, at most " + count_text(operations) +
                    " allowed" +
                    costly_lines(
                        instrumented, [](const Counts& counts) { return counts.global_atomic.lanes; },
                        [](const Counts& counts) {
                            return counted(counts.global_atomic.lanes, "operation") + ", " +
                                   count_text(counts.global_atomic.same_address) +
                                   " of them wait for another lane of their warp";
                        }),
                nullptr, atomics_question};
    };
    return counting_matcher(judge, std::move(hint));
}

InstrumentedMatcher LaunchesAtMost(std::size_t launches, std::string hint) {
    const auto judge = [launches](const Instrumented& instrumented) -> Judgement {
        const std::size_t done = instrumented.launches.size();
        if (done <= launches) return {true, counted(done, "launch")};
        return {
            false,
            counted(done, "launch") + ", at most " + std::to_string(launches) + " allowed" + launch_lines(instrumented),
            nullptr, fewer_launches_question};
    };
    return host_matcher(judge, std::move(hint));
}

InstrumentedMatcher LaunchesExactly(std::size_t launches, std::string hint) {
    const auto judge = [launches](const Instrumented& instrumented) -> Judgement {
        const std::size_t done = instrumented.launches.size();
        const std::string text = counted(done, "launch");
        if (done == launches) return {true, text};
        return {false, text + ", " + std::to_string(launches) + " wanted" + launch_lines(instrumented), nullptr,
                done > launches ? fewer_launches_question : no_launch_question};
    };
    return host_matcher(judge, std::move(hint));
}

InstrumentedMatcher EveryLaunchHas(Shape grid, Shape block, std::string hint) {
    const auto judge = [grid, block](const Instrumented& instrumented) -> Judgement {
        const auto fits = [](const Shape& wanted, const std::array<unsigned, 3>& got) {
            for (std::size_t i = 0; i < 3; ++i) {
                if (wanted[i] != 0 && wanted[i] != got[i]) return false;
            }
            return true;
        };
        if (instrumented.launches.empty()) return no_kernel_launched();
        for (const LaunchCounts& launch : instrumented.launches) {
            if (fits(grid, launch.grid) && fits(block, launch.block)) continue;
            const auto text = [](const Shape& shape) {
                std::string sides;
                for (const unsigned side : shape) {
                    sides += (sides.empty() ? "(" : ", ") + (side == 0 ? std::string("any") : std::to_string(side));
                }
                return sides + ")";
            };
            return {false,
                    "the launch has another shape than grid " + text(grid) + " and block " + text(block) +
                        launch_lines(instrumented),
                    nullptr, shape_question};
        }
        return {true, "launched as wanted"};
    };
    return host_matcher(judge, std::move(hint));
}

InstrumentedMatcher ThreadsAtLeast(std::size_t threads, std::string hint) {
    const auto judge = [threads](const Instrumented& instrumented) -> Judgement {
        std::size_t most = 0;
        for (const LaunchCounts& launch : instrumented.launches) {
            const std::size_t in_block = std::size_t{launch.block[0]} * launch.block[1] * launch.block[2];
            most = std::max(most, launch.blocks * in_block);
        }
        const std::string text = "the largest launch has " + counted(most, "thread");
        if (most >= threads) return {true, text};
        if (instrumented.launches.empty()) return no_kernel_launched();
        return {false, text + ", at least " + std::to_string(threads) + " wanted" + launch_lines(instrumented), nullptr,
                threads_question};
    };
    return host_matcher(judge, std::move(hint));
}

InstrumentedMatcher BlocksAtLeast(std::size_t blocks, std::string hint) {
    const auto judge = [blocks](const Instrumented& instrumented) -> Judgement {
        std::size_t most = 0;
        for (const LaunchCounts& launch : instrumented.launches) most = std::max<std::size_t>(most, launch.blocks);
        const std::string text = "the largest launch has " + counted(most, "block");
        if (most >= blocks) return {true, text};
        if (instrumented.launches.empty()) return no_kernel_launched();
        return {false, text + ", at least " + std::to_string(blocks) + " wanted" + launch_lines(instrumented), nullptr,
                threads_question};
    };
    return host_matcher(judge, std::move(hint));
}

InstrumentedMatcher CallsNot(std::vector<std::string> functions, std::string hint) {
    const auto judge = [functions = std::move(functions)](const Instrumented& instrumented) -> Judgement {
        for (const std::string& function : functions) {
            const std::size_t times = instrumented.calls_of({function});
            if (times > 0)
                return {false, function + " was called " + counted(times, "time"), nullptr, calls_not_question};
        }
        return {true, joined(functions) + " not called"};
    };
    return host_matcher(judge, std::move(hint));
}

InstrumentedMatcher Calls(std::vector<std::string> functions, std::string hint) {
    const auto judge = [functions = std::move(functions)](const Instrumented& instrumented) -> Judgement {
        for (const std::string& function : functions) {
            if (instrumented.calls_of({function}) == 0)
                return {false, function + " was not called", nullptr, calls_question};
        }
        return {true, joined(functions) + " called"};
    };
    return host_matcher(judge, std::move(hint));
}

InstrumentedMatcher WaitsForNothing(std::string hint) {
    const auto judge = [](const Instrumented& instrumented) -> Judgement {
        for (const warpwise::ApiCall& call : instrumented.calls) {
            if (call.waits)
                return {false, call.function + " was called, which waits for the device", nullptr, waits_question};
        }
        return {true, "no call waits for the device"};
    };
    return host_matcher(judge, std::move(hint));
}

InstrumentedMatcher CopiesNothing(std::string direction, std::string hint) {
    const auto judge = [direction = std::move(direction)](const Instrumented& instrumented) -> Judgement {
        const std::size_t copies = instrumented.copies(direction);
        if (copies == 0) return {true, "nothing copied with " + direction};
        return {false, "copied " + counted(copies, "time") + " with " + direction, nullptr, copies_question};
    };
    return host_matcher(judge, std::move(hint));
}

InstrumentedMatcher ReleasesWhatItMakes(std::string hint) {
    const auto judge = [](const Instrumented& instrumented) -> Judgement {
        for (const Pair& pair : pairs()) {
            const std::size_t made = count_calls(instrumented, pair.makers);
            const std::size_t released = count_calls(instrumented, pair.releasers);
            if (made <= released) continue;
            return {false,
                    counted(made, pair.noun) + " made (" + joined({pair.makers.begin(), pair.makers.end()}) + "), " +
                        std::to_string(released) + " released (" +
                        joined({pair.releasers.begin(), pair.releasers.end()}) + ")",
                    nullptr, release_question};
        }
        return {true, "everything released"};
    };
    return host_matcher(judge, std::move(hint));
}

InstrumentedMatcher NoRace(std::string hint) {
    return diagnostic_matcher({"data_race"}, "no data race", std::move(hint));
}

InstrumentedMatcher CleanMemory(std::string hint) {
    return diagnostic_matcher({"out_of_bounds", "misaligned_access", "use_after_free", "host_memory",
                               "uninitialized_read", "illegal_access", "invalid_free"},
                              "clean memory", std::move(hint));
}

bool counts_were_left_out() { return left_out; }

void note_left_out() { left_out = true; }

std::string code_of(const std::string& file) {
    std::ifstream stream(file);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    std::string code;
    for (std::size_t i = 0; i < text.size();) {
        if (text.compare(i, 2, "//") == 0) {
            i = std::min(text.find('\n', i), text.size());
        } else if (text.compare(i, 2, "/*") == 0) {
            const std::size_t end = text.find("*/", i + 2);
            i = end == std::string::npos ? text.size() : end + 2;
        } else {
            code += text[i++];
        }
    }
    return code;
}

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

}  // namespace grading

std::string Catch::StringMaker<grading::Instrumented>::convert(const grading::Instrumented& instrumented) {
    if (!instrumented.countable) return "kernels that nobody instrumented";
    std::string text = grading::counted(instrumented.launches.size(), "launch");
    for (std::size_t i = 0; i < instrumented.launches.size() && i < 3; ++i) {
        text += (i == 0 ? " of " : ", ") + instrumented.launches[i].kernel;
    }
    return text + (instrumented.launches.size() > 3 ? ", ...:" : ":");
}
