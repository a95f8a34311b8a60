// Matchers on what kernels do: how they use memory, barriers and lanes, and whether they have errors.
//
//     const grading::Instrumented instrumented =
//         grading::instrument([&] { transpose(d_in.data(), d_out.data(), rows, cols); });
//     CHECK_THAT(instrumented, grading::NoRace());
//     CHECK_THAT(instrumented, grading::GlobalEfficiencyAtLeast(0.8));
//     CHECK_THAT(instrumented, grading::NoBankConflicts());
//     CHECK_THAT(instrumented, grading::LaunchesExactly(1));
//     CHECK_THAT(instrumented, grading::CallsNot("cudaMemcpy"));
//
// For who wrote which element there is common/grading/activity.h.
//
// A failure names the lines of source that cost most. All launches inside `instrument` are judged together, every block
// of them is instrumented.
//
// Only the CPU device sees what kernels do. On a GPU, and in programs that were not compiled for instrumenting, these
// matchers accept everything, and the grader says at its end that it left them out (`counts_were_left_out`).
#pragma once

#include <array>
#include <catch2/catch_tostring.hpp>
#include <catch2/matchers/catch_matchers_templated.hpp>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/grading/grading.h"
#include "common/helpers/activity.h"
#include "common/helpers/counts.h"
#include "common/helpers/instrument.h"

namespace grading {

struct Instrumented {
    bool countable = false;                         ///< false where nobody could see what the kernels did
    std::vector<warpwise::LaunchCounts> launches;   ///< in their order
    std::vector<warpwise::Diagnostic> diagnostics;  ///< found meanwhile; finish() and the grader's end know them too
    std::vector<warpwise::ApiCall> calls = {};      ///< of the runtime API, and launches, in their order
    std::string name = {};                          ///< "TITLE OF THE TEST CASE #2": the second `instrument` in it

    /// How often one of these functions was called. Names are those of the functions that do the work: cudaMallocHost
    /// shows as cudaHostAlloc.
    std::size_t calls_of(std::initializer_list<std::string_view> functions) const;
    /// Copies in this direction ("cudaMemcpyDeviceToHost"), by whatever function; cudaMemcpyDefault counts for all.
    std::size_t copies(std::string_view direction) const;
};

/// Runs `body` and instruments the kernels that it launches. What `body` throws goes on to the caller.
Instrumented instrument(const std::function<void()>& body);

/// The launches of the last `instrument`.
const std::vector<warpwise::LaunchCounts>& last_launches();

/// A line of source.
struct Place {
    std::string file;
    int line = 0;
    auto operator<=>(const Place&) const = default;
};

/// Where threads have waited at a barrier of their block, in all calls of `instrument`.
const std::set<Place>& barrier_places();

/// What one `instrument` has counted, for those who compare two answers call by call.
struct CountedCall {
    std::string name;  ///< as Instrumented::name
    std::size_t launches = 0;
    double barriers_per_warp = 0;  ///< of the launch that has most
    warpwise::Counts total;
};
const std::vector<CountedCall>& counted_calls();  ///< of this run of the program

/// Catch2 matcher for `Instrumented`; made by the functions below.
class InstrumentedMatcher : public Catch::Matchers::MatcherGenericBase {
public:
    using Judge = std::function<Judgement(const Instrumented&)>;
    InstrumentedMatcher(Judge judge, std::string hint) : judge_(std::move(judge)), hint_(std::move(hint)) {}

    /// Adds `hint` to the message of a failure for which `cause` holds. Of several, the first one that holds.
    InstrumentedMatcher when(std::function<bool(const Instrumented&)> cause, std::string hint) && {
        hints_.emplace_back(std::move(cause), std::move(hint));
        return std::move(*this);
    }

    bool match(const Instrumented& instrumented) const;
    std::string describe() const override { return text_; }

private:
    Judge judge_;
    std::string hint_;
    std::vector<std::pair<std::function<bool(const Instrumented&)>, std::string>> hints_;
    mutable std::string text_;  // describe() is asked for after match()
};

enum class Accesses { loads, stores, loads_and_stores };

/// Global memory: of the sectors of 32 bytes that the requests of warps touch, at least this fraction is needed. Needed
/// are as many as the bytes that the lanes ask for would fill if they lay side by side, request by request: any access
/// width passes, as do warps of which few lanes take part. Loads and stores are judged each by themselves.
///
/// Aligned neighboring elements reach 1. Neighboring floats that begin anywhere reach 0.8 (5 sectors for 4), float4
/// 16/17; rows shorter than a warp less. Elements that are 32 bytes or more apart reach 0.125. Wants at least one
/// launch. Says nothing about how many lanes work: a grid of one thread reaches 1 as well (see ActiveLanesAtLeast,
/// WrittenByThreads).
///
/// In all matchers `hint` is added to every message of a failure: only for what holds whatever the cause. `when` adds
/// hints for causes.
InstrumentedMatcher GlobalEfficiencyAtLeast(double fraction, std::string hint = "");
InstrumentedMatcher GlobalEfficiencyAtLeast(double fraction, Accesses accesses, std::string hint = "");

/// Global memory: on average, a warp's load touches at most `limit` sectors of 32 bytes, and so does its store. Depends
/// on the access width (4 sectors for 4 bytes per lane, 16 for 16): GlobalEfficiencyAtLeast accepts all widths.
InstrumentedMatcher SectorsPerRequestAtMost(double limit, std::string hint = "");
InstrumentedMatcher SectorsPerRequestAtMost(double limit, Accesses accesses, std::string hint = "");

/// Global memory: loads, stores and atomics touch sectors of at most so many bytes in all. Wants at least one launch.
InstrumentedMatcher BytesMovedAtMost(double bytes, std::string hint = "");

/// No load, store or atomic of shared memory takes more passes than without bank conflicts. Wants at least one launch.
InstrumentedMatcher NoBankConflicts(std::string hint = "");

/// The same for one __shared__ array. Where there is none of this name (it may have another one, or be dynamic shared
/// memory), all of shared memory is judged, which has to be used.
InstrumentedMatcher NoBankConflictsOn(std::string array, std::string hint = "");

/// On average over what warps run, at least so many of their 32 lanes are active. Wants at least one launch.
InstrumentedMatcher ActiveLanesAtLeast(double lanes, std::string hint = "");

/// In no launch does any warp pass more than so many barriers of its block.
InstrumentedMatcher BarriersAtMost(unsigned barriers, std::string hint = "");

/// Threads do at most so many atomic operations on global memory in all: a warp whose 32 lanes add counts 32.
InstrumentedMatcher AtomicsAtMost(double operations, std::string hint = "");

/// Threads read or write shared memory.
InstrumentedMatcher UsesSharedMemory(std::string hint = "");

/// So many kernels are launched, at most or exactly.
InstrumentedMatcher LaunchesAtMost(std::size_t launches, std::string hint = "");
InstrumentedMatcher LaunchesExactly(std::size_t launches, std::string hint = "");

/// Every launch has this grid and these blocks; 0 leaves a dimension to the answer. Wants at least one launch.
using Shape = std::array<unsigned, 3>;
InstrumentedMatcher EveryLaunchHas(Shape grid, Shape block, std::string hint = "");

/// In some launch at least so many threads work, over all of its blocks; in some launch so many blocks.
InstrumentedMatcher ThreadsAtLeast(std::size_t threads, std::string hint = "");
InstrumentedMatcher BlocksAtLeast(std::size_t blocks, std::string hint = "");

/// None of these functions of the runtime API is called; each of them is.
InstrumentedMatcher CallsNot(std::vector<std::string> functions, std::string hint = "");
InstrumentedMatcher Calls(std::vector<std::string> functions, std::string hint = "");

/// No function waits for the device, as cudaStreamSynchronize, cudaMemcpy, and cudaFree do.
InstrumentedMatcher WaitsForNothing(std::string hint = "");

/// Nothing is copied in this direction: "cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost".
InstrumentedMatcher CopiesNothing(std::string direction, std::string hint = "");

/// Events, streams, texture objects, graphs, and memory that the instrumented code makes are destroyed there as well.
InstrumentedMatcher ReleasesWhatItMakes(std::string hint = "");

/// No data race was found.
InstrumentedMatcher NoRace(std::string hint = "");

/// No access outside of an array or to memory that is not there, none of memory that nobody wrote, no invalid free.
InstrumentedMatcher CleanMemory(std::string hint = "");

/// True once a matcher had to accept what nobody could see.
bool counts_were_left_out();
void note_left_out();  ///< for matchers

/// The file without its comments; empty when it cannot be read. For what only the source tells.
std::string code_of(const std::string& file);

/// The text of a line without its indentation, cut when it is long; empty when the file cannot be read. For messages.
std::string source_text(const std::string& file, int line);

}  // namespace grading

template <>
struct Catch::StringMaker<grading::Instrumented> {
    static std::string convert(const grading::Instrumented& instrumented);
};
