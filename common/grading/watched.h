// Matchers on what kernels do: how they use memory, barriers and lanes, and whether they make mistakes.
//
//     const grading::Watched watched = grading::watch([&] { transpose(d_in.data(), d_out.data(), rows, cols); });
//     CHECK_THAT(watched, grading::NoRace());
//     CHECK_THAT(watched, grading::SectorsPerRequestAtMost(4.5, "Do neighboring threads store neighboring
//     elements?")); CHECK_THAT(watched, grading::NoBankConflictsOn("tile"));
//
// A failure names the lines of source that cost most. All launches inside `watch` are judged together, every block of
// them is watched.
//
// Only the CPU device sees what kernels do. On a GPU, and in programs that were not compiled for watching, these
// matchers accept everything, and the grader says at its end that it left them out (`counts_were_left_out`).
#pragma once

#include <catch2/catch_tostring.hpp>
#include <catch2/matchers/catch_matchers_templated.hpp>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "common/grading/grading.h"
#include "common/helpers/counts.h"
#include "common/helpers/watch.h"

namespace grading {

struct Watched {
    bool countable = false;                        ///< false where nobody could see what the kernels did
    std::vector<warpwise::LaunchCounts> launches;  ///< in their order
    std::vector<warpwise::Mistake> mistakes;       ///< found meanwhile; finish() and the grader's end know them too
};

/// Runs `body` and watches the kernels that it launches. What `body` throws goes on to the caller.
Watched watch(const std::function<void()>& body);

/// Catch2 matcher for `Watched`; made by the functions below.
class WatchedMatcher : public Catch::Matchers::MatcherGenericBase {
public:
    using Judge = std::function<Verdict(const Watched&)>;
    WatchedMatcher(Judge judge, std::string hint) : judge_(std::move(judge)), hint_(std::move(hint)) {}

    bool match(const Watched& watched) const;
    std::string describe() const override { return text_; }

private:
    Judge judge_;
    std::string hint_;
    mutable std::string text_;  // describe() is asked for after match()
};

enum class Accesses { loads, stores, loads_and_stores };

/// Global memory: on average, a warp's load touches at most `limit` sectors of 32 bytes, and so does its store. 4 are
/// the least for 4 bytes a lane, 8 for 8 bytes, 16 for 16 bytes. Wants at least one launch. In all matchers `hint` is
/// added to the message of a failure.
WatchedMatcher SectorsPerRequestAtMost(double limit, std::string hint = "");
WatchedMatcher SectorsPerRequestAtMost(double limit, Accesses accesses, std::string hint = "");

/// Global memory: loads, stores and atomics touch sectors of at most so many bytes in all. Wants at least one launch.
WatchedMatcher BytesMovedAtMost(double bytes, std::string hint = "");

/// No load, store or atomic of shared memory takes more passes than without bank conflicts. Wants at least one launch.
WatchedMatcher NoBankConflicts(std::string hint = "");

/// The same for one __shared__ array, which has to be used.
WatchedMatcher NoBankConflictsOn(std::string array, std::string hint = "");

/// On average over what warps run, at least so many of their 32 lanes are active. Wants at least one launch.
WatchedMatcher ActiveLanesAtLeast(double lanes, std::string hint = "");

/// In no launch a warp passes more than so many barriers of its block, on average.
WatchedMatcher BarriersAtMost(double barriers, std::string hint = "");

/// Threads do at most so many atomic operations on global memory in all: a warp whose 32 lanes add counts 32.
WatchedMatcher AtomicsAtMost(double operations, std::string hint = "");

/// At most so many kernels are launched.
WatchedMatcher LaunchesAtMost(std::size_t launches, std::string hint = "");

/// No data race was found.
WatchedMatcher NoRace(std::string hint = "");

/// No access outside of an array or to memory that is not there, none of memory that nobody wrote, no invalid free.
WatchedMatcher CleanMemory(std::string hint = "");

/// True once a matcher had to accept what nobody could see.
bool counts_were_left_out();

}  // namespace grading

template <>
struct Catch::StringMaker<grading::Watched> {
    static std::string convert(const grading::Watched& watched);
};
