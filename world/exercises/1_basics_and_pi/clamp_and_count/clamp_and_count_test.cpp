#include "exercises/1_basics_and_pi/clamp_and_count/clamp_and_count.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/activity.h"
#include "common/helpers/counts.h"

const grading::Exercise grading::exercise{"1_basics_and_pi", "clamp_and_count"};

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

struct Limits {
    float low, high;
};

/// The elements of one call. Some of them equal a limit.
std::vector<float> elements(std::size_t n, Limits limits, std::uint64_t stream) {
    std::vector<float> values = grading::random_floats(n, stream);
    for (std::size_t i = 3; i + 1 < n; i += 17) {
        values[i] = limits.low;
        values[i + 1] = limits.high;
    }
    return values;
}

struct Expected {
    std::vector<double> clamped;
    unsigned below = 0, above = 0, equal = 0;
    unsigned outside() const { return below + above; }
};

Expected clamp(const std::vector<float>& values, Limits limits) {
    Expected expected;
    for (const float value : values) {
        expected.below += value < limits.low ? 1u : 0u;
        expected.above += value > limits.high ? 1u : 0u;
        expected.equal += value == limits.low || value == limits.high ? 1u : 0u;
        expected.clamped.push_back(std::clamp(value, limits.low, limits.high));
    }
    return expected;
}

std::vector<double> as_doubles(const std::vector<float>& values) {
    return {values.begin(), values.end()};
}

/// Fails unless the host used the two variables as the task asks for. Sees nothing on a
/// GPU.
void check_variables(const grading::Instrumented& instrumented) {
    if (!warpwise::can_log()) {
        grading::note_left_out();
        return;
    }
    if (warpwise::sum_of(instrumented.launches).constant_load.requests == 0) {
        FAIL(
            "No kernel of this call read a __constant__ variable.\nWhere does your kernel "
            "take the limits from?");
    }
    if (instrumented.calls_of({"cudaMemcpyToSymbol", "cudaMemcpyToSymbolAsync"}) == 0) {
        FAIL(
            "The host copied nothing to a variable of the device (cudaMemcpyToSymbol).\n"
            "How do the limits of this call get into the __constant__ variable?");
    }
    if (instrumented.calls_of({"cudaMemcpyFromSymbol", "cudaMemcpyFromSymbolAsync"}) == 0) {
        FAIL(
            "The host copied nothing from a variable of the device "
            "(cudaMemcpyFromSymbol).\nIn which variable is the count when the kernel has "
            "ended?");
    }
    CHECK_THAT(instrumented,
               grading::CallsNot({"cudaMallocManaged", "cudaHostAlloc", "cudaHostRegister"},
                                 "The count comes back in a variable of the device."));
    if (grading::code_of(instrumented.launches[0].file).find("__managed__") !=
        std::string::npos) {
        FAIL(
            "Your source has a __managed__ variable. The task asks for one that the host "
            "reads with cudaMemcpyFromSymbol.\nWhich word makes a variable one of the "
            "device alone?");
    }
    std::size_t bytes = 0;
    for (const warpwise::ApiCall& call : instrumented.calls) {
        const bool copies = call.direction == "cudaMemcpyDeviceToHost" ||
                            call.direction == "cudaMemcpyDefault";
        if (copies) bytes += call.bytes;
    }
    if (bytes > 16) {
        FAIL_CHECK("This call copied "
                   << bytes
                   << " bytes from the device to the host; at most 16 are allowed.\n"
                   << "How many bytes does one number have, and in which variable is it?");
    }
}

struct Graded {
    std::size_t threads = 0;
    std::size_t blocks = 0;
};

/// What the calls before this one have left in variables that nobody sets again. All tests
/// share it, because the variables live as long as the program.
struct Before {
    bool is_first = true;        ///< there was no call
    Limits limits = {0, 0};      ///< of the last call; 0 in a variable that nobody has set
    unsigned most_returned = 0;  ///< what a counter holds that is never reset
};

/// What a call did to bring back its count. Known where the calls can be seen.
struct Counting {
    bool launches = false;
    bool changes = false;       ///< a kernel writes to something beside `out`
    double additions = 0;       ///< of threads, by atomic operations
    bool copies = false;        ///< from a variable of the device
    bool copies_after = false;  ///< the same, after the last launch
    std::size_t bytes = 0;      ///< of the last such copy
};

Counting counting_of(const grading::Instrumented& instrumented) {
    Counting counting;
    std::set<std::string> written;
    for (const warpwise::LaunchCounts& launch : instrumented.launches) {
        for (const warpwise::ArrayCounts& array : launch.arrays) {
            const warpwise::Counts& counts = array.counts;
            if (counts.global_store.requests + counts.global_atomic.requests > 0)
                written.insert(array.name);
        }
    }
    counting.changes = written.size() > 1;
    counting.additions = warpwise::sum_of(instrumented.launches).global_atomic.lanes;
    for (const warpwise::ApiCall& call : instrumented.calls) {
        if (call.function == "<<<>>>") {
            counting.launches = true;
            counting.copies_after = false;
        }
        if (call.function == "cudaMemcpyFromSymbol" ||
            call.function == "cudaMemcpyFromSymbolAsync") {
            counting.copies = counting.copies_after = true;
            counting.bytes = call.bytes;
        } else if (call.function == "cudaGetSymbolAddress") {
            counting.copies = true;  // a copy by that address may follow
        } else if (call.direction == "cudaMemcpyDeviceToHost" ||
                   call.direction == "cudaMemcpyDefault") {
            counting.copies_after = true;
        }
    }
    return counting;
}

/// The matcher of the count. Each cause asks its own question.
auto right_count(unsigned count, const Expected& expected, std::size_t n,
                 unsigned returned_before, const grading::Instrumented& instrumented) {
    const unsigned right = expected.outside();
    const auto always = [](bool holds) {
        return [holds](const grading::MismatchedArray&) { return holds; };
    };
    const auto is = [right, count, always](unsigned mistaken) {
        return always(mistaken != right && count == mistaken);
    };
    const Counting done = counting_of(instrumented);
    const bool seen = instrumented.countable && n > 0;
    const std::string additions = grading::counted(done.additions, "time");
    return grading::EqualTo(right)
        .when(always(seen && !done.launches),
              "No kernel was launched in this call. Which line of yours starts it?")
        .when(always(seen && !done.copies),
              "The host copied nothing from a variable of the device. In which variable is "
              "the count when the kernel has ended, and how does it come to the host?")
        .when(always(seen && !done.copies_after),
              "The host copied the count before it launched the kernel. When is the count "
              "complete?")
        .when(always(seen && !done.changes),
              "No thread of this call wrote to a variable of the device. Which line of the "
              "kernel counts?")
        .when(always(seen && done.bytes != 0 && done.bytes < sizeof(unsigned)),
              "The host copied " + grading::counted(done.bytes, "byte") +
                  " of the counter. How many bytes does it have?")
        .when(is(right + returned_before),
              "That is the count of this call plus what an earlier call returned. What "
              "does the counter hold when this call begins?")
        .when(is(right + expected.equal),
              "That is the number of elements that are outside or equal to a limit. Does "
              "clamping change an element that equals a limit?")
        .when(always(count == 0 && seen && done.additions == right),
              "The threads counted: they added " + additions +
                  ". Into which variable of the host is the count copied, which one does "
                  "the function return, and what changes the counter in between?")
        .when(is(expected.below),
              "That is the number of elements below the lower limit. Which comparison "
              "finds those above the upper one?")
        .when(is(expected.above),
              "That is the number of elements above the upper limit. Which comparison "
              "finds those below the lower one?")
        .when(is(static_cast<unsigned>(n)),
              "That is the number of all elements. Which of them are to be counted?")
        .when(is(static_cast<unsigned>(n) - right),
              "That is the number of elements inside of the limits. Which ones are to be "
              "counted?")
        .when(always(seen && done.additions != right),
              "In this call, threads added to a variable with an atomic operation " +
                  additions + ". Which threads add, and how much does each of them?")
        .when(always(seen),
              "As many threads added as there are elements outside. How much does each of "
              "them add, and to what?");
}

void check_call(const std::vector<float>& values, Limits limits, Graded graded = {}) {
    static Before next;
    const Before before = next;
    const std::size_t n = values.size();
    INFO("n is " << n << ", the limits are " << limits.low << " and " << limits.high);
    const Expected expected = clamp(values, limits);
    const grading::Cause has_old_high = grading::equals(
        clamp(values, {limits.low, std::max(limits.low, before.limits.high)}).clamped);
    const grading::Guarded<float> d_in(values);
    grading::Guarded<float> d_out(n);
    unsigned count = 0;
    const grading::Instrumented instrumented = grading::instrument([&] {
        count = clamp_and_count(d_in.data(), d_out.data(), static_cast<int>(n), limits.low,
                                limits.high);
    });
    next = {false, limits, std::max(before.most_returned, count)};
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(
        d_out,
        grading::EqualTo(expected.clamped)
            .when(grading::equals(as_doubles(values)), "These elements were not clamped.")
            .when(
                [&](const grading::MismatchedArray& mismatch) {
                    return before.is_first && has_old_high(mismatch);
                },
                "The kernel found the lower limit of this call, but not the upper one. How "
                "many bytes do two floats have?")
            .when(
                grading::equals(clamp(values, before.limits).clamped),
                before.is_first
                    ? "The kernel found limits of 0. What does the host copy to the "
                      "variable, and how many bytes?"
                    : "These elements were clamped to the limits of the call before. What "
                      "sets the limits in each call?"));
    {
        INFO("elements below the limits: " << expected.below
                                           << ", above: " << expected.above);
        CHECK_THAT(count,
                   right_count(count, expected, n, before.most_returned, instrumented));
    }
    CHECK_THAT(d_out, grading::StaysInside());
    CHECK_THAT(d_in, grading::Unchanged());
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    if (n == 0) return;
    CHECK_THAT(d_in, grading::ReadByThreads(graded.threads));
    CHECK_THAT(d_in, grading::ReadByBlocks(graded.blocks));
    CHECK_THAT(d_out, grading::WrittenByThreads(graded.threads));
    CHECK_THAT(d_out, grading::WrittenByBlocks(graded.blocks));
    check_variables(instrumented);
}

}  // namespace

TEST_CASE("clamps and counts in the first call") {
    const Limits limits{-0.25f, 0.375f};
    check_call(elements(1009, limits, 1), limits);
}

TEST_CASE("counts each call by itself") {
    for (const std::size_t n : {500, 33, 1, 0, 1024, 1, 257}) {
        const std::vector<float> drawn = grading::random_positive_floats(2, 100 + n);
        const Limits limits{-drawn[0], drawn[1] / 2};
        check_call(elements(n, limits, n), limits);
    }
}

TEST_CASE("clamps and counts any number of elements") {
    for (const std::size_t n :
         grading::sizes({1, 2, 31, 32, 33, 255, 256, 257, 1024, 20'011}, 4, 20'000)) {
        const std::vector<float> drawn = grading::random_positive_floats(2, 200 + n);
        const Limits limits{-drawn[0] / 2, drawn[1] / 2};
        check_call(elements(n, limits, n), limits);
    }
}

TEST_CASE("accepts arrays without elements") { check_call({}, {-1, 1}); }

TEST_CASE("counts up to all of the elements") {
    const std::size_t n = 100'003;
    const std::vector<float> values = grading::random_floats(n, 7);
    check_call(values, {2, 3});  // all are below
    const std::vector<float> fewer = grading::random_floats(5003, 8);
    check_call(fewer, {-3, -2});  // all are above
    check_call(fewer, {-2, 2});   // none is outside
    check_call(fewer, {0.5f, 0.5f});
}

TEST_CASE("clamps to limits of any kind") {
    for (const Limits limits :
         {Limits{-infinity, infinity}, Limits{-infinity, 0.125f}, Limits{0.125f, infinity},
          Limits{-1e-3f, 1e-3f}, Limits{-3e38f, 3e38f}, Limits{0.25f, 0.25f}}) {
        std::vector<float> values = elements(1009, limits, 9);
        for (std::size_t i = 5; i + 2 < values.size(); i += 50) {
            values[i] = infinity;
            values[i + 1] = -infinity;
        }
        check_call(values, limits);
    }
}

TEST_CASE("shares the elements among many threads") {
    const Limits limits{-0.5f, 0.5f};
    check_call(elements(16'384, limits, 3), limits, {.threads = 1024, .blocks = 4});
}
