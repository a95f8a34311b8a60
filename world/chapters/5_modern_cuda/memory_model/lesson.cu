// Problem: a thread has computed something, and another thread of the same launch needs it.
//
// Two threads play a relay: each waits for its turn, reads a message of eight words, and
// writes the next one. The steps are right ways to do that, from a launch per round to
// order and scope at the access itself. After them come versions that are wrong, and tests
// with very many pairs of threads, which show on a GPU what may go wrong there.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "chapters/2_memory_model/provoked.h"
#include "chapters/5_modern_cuda/memory_model/kernels.cuh"
#include "chapters/5_modern_cuda/memory_model/litmus.cuh"
#include "chapters/5_modern_cuda/memory_model/wrong.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace modern_cuda {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

// The message, the flag, and what the players found. Each run begins anew with round 0.
struct Relay {
    unsigned rounds;
    std::vector<double> expected;
    DeviceBuffer<unsigned> d_words{kWords}, d_turn{1}, d_seen;

    explicit Relay(const warpwise::Size& size)
        : rounds(static_cast<unsigned>(size[0])), d_seen(size[0]) {
        for (unsigned round = 0; round < rounds; ++round)
            expected.push_back(static_cast<double>(kWords) * round);
    }

    void poison() { d_seen.fill_bytes(0xFF); }
    warpwise::Comparison compare() {
        return warpwise::compare(d_seen.download(), expected, {.absolute = 0});
    }
    warpwise::Work work() const { return {}; }
    static std::size_t device_bytes(const warpwise::Size& size) {
        return size[0] * sizeof(unsigned) + 4096;
    }

    void begin() {
        warpwise::check(cudaMemsetAsync(d_words.data(), 0, d_words.bytes()));
        warpwise::check(cudaMemsetAsync(d_turn.data(), 0, d_turn.bytes()));
    }
};

// The launches of the steps.
void by_launches(Relay& relay) {
    relay.begin();
    for (unsigned round = 0; round < relay.rounds; ++round) {
        relay_by_launches<<<1, 1>>>(relay.d_words.data(), round, relay.d_seen.data());
        warpwise::check_launch();
    }
}

using Kernel = void (*)(unsigned*, unsigned*, unsigned, unsigned*);

// Each player waits for the other one, so both blocks have to be resident. A cooperative
// launch makes sure of that.
template <Kernel kernel>
void between_blocks(Relay& relay) {
    relay.begin();
    unsigned *words = relay.d_words.data(), *turn = relay.d_turn.data();
    unsigned* seen = relay.d_seen.data();
    void* arguments[] = {&words, &turn, &relay.rounds, &seen};
    warpwise::check(
        cudaLaunchCooperativeKernel(kernel, dim3(2), dim3(1), arguments, 0, nullptr));
}

void in_a_block(Relay& relay) {
    relay.begin();
    relay_block_scope<<<1, 64>>>(relay.d_words.data(), relay.d_turn.data(), relay.rounds,
                                 relay.d_seen.data());
    warpwise::check_launch();
}

void in_shared_memory(Relay& relay) {
    relay_in_shared_memory<<<1, 64>>>(relay.rounds, relay.d_seen.data());
    warpwise::check_launch();
}

void by_barriers(Relay& relay) {
    relay_by_barriers<<<1, 64>>>(relay.rounds, relay.d_seen.data());
    warpwise::check_launch();
}

struct Version {
    const char* name;
    const char* change;  // of a wrong version: its flag
    void (*run)(Relay&);
    const char* players = "";
    const char* scope = "";
};

const std::array<Version, 8> kSteps = {{
    {"relay_by_launches", "a launch per round", by_launches, "two launches", "-"},
    {"relay_threadfence", "one launch: __threadfence and atomics",
     between_blocks<relay_threadfence>, "two blocks", "device"},
    {"relay_relaxed_and_fences", "relaxed atomics, fences acquire and release",
     between_blocks<relay_relaxed_and_fences>, "two blocks", "device"},
    {"relay_release_acquire", "the store releases, the load acquires",
     between_blocks<relay_release_acquire>, "two blocks", "device"},
    {"relay_system_scope", "the same for the whole system",
     between_blocks<relay_system_scope>, "two blocks", "system"},
    {"relay_block_scope", "two warps of one block: block scope", in_a_block, "two warps",
     "block"},
    {"relay_in_shared_memory", "message and flag in shared memory", in_shared_memory,
     "two warps", "block"},
    {"relay_by_barriers", "a barrier per round instead of a flag", by_barriers, "two warps",
     "block"},
}};

const std::array<Version, 6> kWrong = {{
    {"relay_plain", "plain", between_blocks<relay_plain>},
    {"relay_volatile", "volatile", between_blocks<relay_volatile>},
    {"relay_relaxed", "relaxed on both sides", between_blocks<relay_relaxed>},
    {"relay_release_only", "release, read relaxed", between_blocks<relay_release_only>},
    {"relay_acquire_only", "written relaxed, acquire", between_blocks<relay_acquire_only>},
    {"relay_narrow_scope", "release and acquire, block scope",
     between_blocks<relay_narrow_scope>},
}};

// ---- what a hand-over takes -------------------------------------------------------------

void show_hand_overs(warpwise::Lesson& lesson) {
    if (!lesson.measures()) {
        lesson.show_recorded("hand_overs");
        return;
    }
    constexpr unsigned rounds = 10000;
    Relay relay({rounds});
    std::vector<warpwise::Candidate> candidates;
    for (const Version& step : kSteps) candidates.push_back({[&] { step.run(relay); }});
    const std::vector<warpwise::Timing> timings =
        warpwise::measure_in_turn(candidates, {.samples = 20, .seconds = 0.2});
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < kSteps.size(); ++i) {
        relay.poison();
        kSteps[i].run(relay);
        lesson.expect(relay.compare().passed,
                      std::string(kSteps[i].name) + ": right after timing");
        rows.push_back({kSteps[i].name, kSteps[i].players, kSteps[i].scope,
                        text_of("%.0f", timings[i].median / rounds * 1e9)});
    }
    lesson.table({"hand_overs", "A hand-over, of 10000 in a row"},
                 {"step", "players", "scope", "ns per hand-over"}, rows);
}

// ---- the wrong versions -----------------------------------------------------------------

std::vector<warpwise::Diagnostic> diagnostics_of(const Version& version, unsigned rounds) {
    return ::memory_model::provoked_diagnostics([&] {
        Relay relay({rounds});
        relay.poison();
        version.run(relay);
        (void)relay.compare();
    });
}

// How often the versions go wrong on a GPU.
void show_failures(warpwise::Lesson& lesson) {
    if (!lesson.measures()) {
        lesson.show_recorded("failures");
        return;
    }
    constexpr unsigned runs = 100, rounds = 1000;
    std::vector<Version> all(kWrong.begin(), kWrong.end());
    all.push_back(kSteps[3]);
    all.back().change = "release and acquire, device scope";
    std::vector<std::vector<std::string>> rows;
    for (const Version& version : all) {
        Relay relay({rounds});
        unsigned wrong_runs = 0, old_words = 0, gave_up = 0;
        for (unsigned run = 0; run < runs; ++run) {
            relay.poison();
            version.run(relay);
            const std::vector<unsigned> seen = relay.d_seen.download();
            unsigned old = 0, missing = 0;
            for (unsigned round = 0; round < rounds; ++round) {
                if (seen[round] == ~0u)
                    ++missing;
                else if (seen[round] != kWords * round)
                    ++old;
            }
            wrong_runs += old + missing > 0 ? 1 : 0;
            old_words += old;
            gave_up += missing > 0 ? 1 : 0;
        }
        if (version.run == kSteps[3].run)
            lesson.expect(wrong_runs == 0, "relay_release_acquire: right in every run");
        rows.push_back({version.name, version.change, std::to_string(wrong_runs),
                        std::to_string(gave_up),
                        text_of("%.1f", 100.0 * old_words / (runs * rounds)) + " %"});
    }
    lesson.table({"failures", "Of " + std::to_string(runs) + " runs with " +
                                  std::to_string(rounds) + " hand-overs"},
                 {"version", "flag", "wrong runs", "gave up", "old messages"}, rows);
}

// What the CPU device says of all versions, the right ones included.
void show_diagnostics(warpwise::Lesson& lesson) {
    if (!warpwise::can_instrument()) return;
    constexpr unsigned rounds = 20;
    std::vector<std::vector<std::string>> rows;
    for (const Version& step : kSteps) {
        const std::size_t errors = diagnostics_of(step, rounds).size();
        lesson.expect(errors == 0, std::string(step.name) + ": no error is found");
        rows.push_back({step.name, "right", errors == 0 ? "nothing" : "an error"});
    }
    std::string text;
    for (const Version& version : kWrong) {
        const std::vector<warpwise::Diagnostic> found = diagnostics_of(version, rounds);
        const bool race = !found.empty() && found.front().kind == "data_race";
        lesson.expect(race, std::string(version.name) + ": its data race is found");
        rows.push_back({version.name, "wrong", race ? "data race" : "nothing"});
        if (race && version.run == kWrong[1].run)
            text = ::memory_model::as_printed(found.front());
    }
    lesson.table({"found", "What the search for errors finds"},
                 {"version", "between blocks", "reported"}, rows);
    if (!text.empty()) lesson.text("Of relay_volatile, --diagnose says:\n\n" + text);
}

// ---- litmus tests -----------------------------------------------------------------------

// Blocks for a litmus test: as many as are resident, few on the CPU device.
template <class Test>
unsigned blocks_of_test(Test kernel, unsigned threads) {
    if (!warpwise::Lesson::on_gpu()) return 4;
    return std::min(2048u, warpwise::blocks_that_fill(kernel, threads) / 2 * 2);
}

struct Outcomes {
    unsigned long long pairs = 0, unexpected = 0;
    unsigned runs = 0, runs_with_unexpected = 0;

    void add(unsigned all, unsigned found) {
        pairs += all;
        unexpected += found;
        ++runs;
        runs_with_unexpected += found > 0 ? 1 : 0;
    }
    std::vector<std::string> cells() const {
        return {std::to_string(runs_with_unexpected) + " of " + std::to_string(runs),
                std::to_string(unexpected) + " of " + std::to_string(pairs)};
    }
};

constexpr unsigned kTestThreads = 256;  // per block; 32 on the CPU device

// Message passing, `runs` times. Counts pairs whose flag was seen, and words that were not.
template <class Way>
Outcomes run_messages(bool near, unsigned runs) {
    const unsigned threads = warpwise::Lesson::on_gpu() ? kTestThreads : 32;
    const unsigned blocks = blocks_of_test(pass_messages<Way>, threads);
    const std::size_t pairs = std::size_t{blocks} * threads;
    DeviceBuffer<unsigned> d_words(pairs * kApart), d_flags(pairs * kApart), d_arrived(1),
        d_outcomes(3);
    Outcomes outcomes;
    for (unsigned run = 0; run < runs; ++run) {
        for (DeviceBuffer<unsigned>* buffer : {&d_words, &d_flags, &d_arrived, &d_outcomes})
            buffer->fill_bytes(0);
        unsigned *words = d_words.data(), *flags = d_flags.data();
        unsigned *arrived = d_arrived.data(), *counts_of = d_outcomes.data();
        void* arguments[] = {&words, &flags, &near, &arrived, &counts_of};
        warpwise::check(cudaLaunchCooperativeKernel(pass_messages<Way>, dim3(blocks),
                                                    dim3(threads), arguments, 0, nullptr));
        const std::vector<unsigned> counts = d_outcomes.download();
        outcomes.add(counts[kBoth] + counts[kFlagAlone], counts[kFlagAlone]);
    }
    return outcomes;
}

// Store buffering, `runs` times. Counts pairs of which both threads have loaded 0.
template <class Way>
Outcomes run_buffering(unsigned runs) {
    const unsigned threads = warpwise::Lesson::on_gpu() ? kTestThreads : 32;
    const unsigned blocks = std::max(2u, blocks_of_test(store_then_load<Way>, threads));
    const unsigned pairs = blocks / 2 * threads;
    DeviceBuffer<unsigned> d_x(std::size_t{pairs} * kApart),
        d_y(std::size_t{pairs} * kApart), d_arrived(1), d_loaded(std::size_t{2} * pairs);
    Outcomes outcomes;
    for (unsigned run = 0; run < runs; ++run) {
        for (DeviceBuffer<unsigned>* buffer : {&d_x, &d_y, &d_arrived})
            buffer->fill_bytes(0);
        d_loaded.fill_bytes(0xFF);
        unsigned *x = d_x.data(), *y = d_y.data();
        unsigned *arrived = d_arrived.data(), *loads = d_loaded.data();
        void* arguments[] = {&x, &y, &arrived, &loads};
        warpwise::check(cudaLaunchCooperativeKernel(store_then_load<Way>, dim3(blocks),
                                                    dim3(threads), arguments, 0, nullptr));
        const std::vector<unsigned> loaded = d_loaded.download();
        unsigned both_zero = 0;
        for (unsigned pair = 0; pair < pairs; ++pair)
            both_zero += loaded[2 * pair] == 0 && loaded[2 * pair + 1] == 0 ? 1 : 0;
        outcomes.add(pairs, both_zero);
    }
    return outcomes;
}

struct Test {
    const char* name;
    std::function<Outcomes(unsigned runs)> run;
    bool may_fail;  // by the rules of the memory model
    bool races;
};

template <class Way>
Test messages(const char* name, bool near, bool wrong) {
    return {name, [near](unsigned runs) { return run_messages<Way>(near, runs); }, wrong,
            wrong};
}

const std::vector<Test> kMessages = {
    messages<VolatileFlag>("volatile", false, true),
    messages<VolatileFlag>("volatile, line read before", true, true),
    messages<RelaxedFlag>("relaxed", false, true),
    messages<RelaxedFlag>("relaxed, line read before", true, true),
    messages<AcquireOnly>("acquire only", false, true),
    messages<RelaxedAndFences>("relaxed, and fences", false, false),
    messages<RelaxedAndFences>("relaxed, and fences, line read before", true, false),
    messages<ReleaseAcquire>("release and acquire", false, false),
    messages<ReleaseAcquire>("release and acquire, line read before", true, false),
};

const std::vector<Test> kBuffering = {
    {"relaxed", run_buffering<RelaxedAtomics>, true, false},
    {"release and acquire", run_buffering<ReleaseThenAcquire>, true, false},
    {"relaxed, and a seq_cst fence between", run_buffering<FenceOfAll>, false, false},
};

void show_tests(warpwise::Lesson& lesson, const std::string& name, const std::string& title,
                const std::string& unexpected, const std::vector<Test>& tests) {
    if (!lesson.measures()) {
        // One small run of each, in which the CPU device looks for errors if it can.
        for (const Test& test : tests) {
            Outcomes outcomes;
            const std::vector<warpwise::Diagnostic> found =
                ::memory_model::provoked_diagnostics([&] { outcomes = test.run(1); });
            lesson.expect(test.may_fail || outcomes.unexpected == 0,
                          name + ", " + test.name + ": never " + unexpected);
            if (!warpwise::can_instrument()) continue;
            lesson.expect(
                found.empty() != test.races,
                name + ", " + test.name +
                    (test.races ? ": its data race is found" : ": no error is found"));
        }
        lesson.show_recorded(name);
        return;
    }
    constexpr unsigned runs = 200;
    std::vector<std::vector<std::string>> rows;
    for (const Test& test : tests) {
        const Outcomes outcomes = test.run(runs);
        lesson.expect(test.may_fail || outcomes.unexpected == 0,
                      name + ", " + test.name + ": never " + unexpected);
        rows.push_back({test.name, test.may_fail ? "yes" : "no"});
        for (const std::string& cell : outcomes.cells()) rows.back().push_back(cell);
    }
    lesson.table({name, title}, {"accesses", "allowed", "runs with it", "pairs with it"},
                 rows);
}

}  // namespace

void memory_model(warpwise::Lesson& lesson) {
    lesson.question(
        R"(A thread writes a message into memory and then sets a flag. Another thread waits
for the flag and reads the message. What has to be said about the flag, so that the whole
message is there? And what does such a hand-over cost between two blocks, and between two
warps of one block?)");
    lesson.predict(
        {.question = R"(Thread A stores 42 in a word, and then 1 in a volatile flag, which
was 0. Thread B, in another block, waits until the flag is 1, and then loads the word. What
may it find?)",
         .answer = warpwise::Choice{.choices = {"42, because volatile keeps the order",
                                                "42, or what the word held before"},
                                    .right = 1},
         .because = R"(volatile makes the compiler load and store at each access. It orders
no other memory: the flag may arrive before the word, and B's L1 cache may hold the old
word.)"});
    lesson.predict(
        {.question = R"(relay_by_barriers plays 512 rounds, with one __syncthreads() at the
beginning of each. How many barriers does a warp pass?)",
         .answer =
             warpwise::Number{.value = 512,
                              .unit = "barriers",
                              .shown_by = warpwise::barriers_per_warp("relay_by_barriers")},
         .because = R"(One per round. The barrier is a release and an acquire of all threads
of the block, so no flag is needed.)"});
    lesson.predict(
        {.question = R"(How many times as long does a hand-over take between two blocks,
with release and acquire at device scope, as between two warps of a block through shared
memory, on a GPU?)",
         .answer =
             warpwise::Measured{
                 .by =
                     warpwise::CellRatio{
                         {"hand_overs", {"relay_release_acquire"}, "ns per hand-over"},
                         {"hand_overs", {"relay_in_shared_memory"}, "ns per hand-over"}},
                 .unit = "times",
                 .factor = 2},
         .because = R"(Between blocks, message and flag go to the L2 cache and back. Shared
memory is in the SM.)"});

    std::vector<warpwise::Step<Relay>> steps;
    for (const Version& step : kSteps) steps.push_back({step.name, step.change, step.run});
    lesson.steps<Relay>({.gpu = {4096},
                         .cpu = {512},
                         .awkward = {{0}, {1}, {2}, {3}, {31}, {32}, {33}, {255}, {1009}}},
                        steps);
    show_hand_overs(lesson);
    lesson.conclusion(
        R"(All of these are right. The writer releases: what it wrote before is visible to
whoever acquires the value that it then stored. The reader acquires. It takes both, and a
scope that includes both threads. The narrower the scope, the nearer the memory in which
they meet. System scope is the default of cuda::atomic_ref, so name the scope.)");

    lesson.question(
        R"(Six versions of the relay between two blocks are wrong: a plain flag, a volatile
one, relaxed atomics, a release without an acquire, an acquire without a release, and both
at block scope. Each of them may give right results for years. How can they be found?)");
    lesson.predict(
        {.question = R"(relay_release_only releases, but its reader loads the flag relaxed.
The reader has read an earlier message from the same eight words. Where may it find an old
message, although the flag is new?)",
         .answer = warpwise::Choice{.choices = {"nowhere: the release sends it along",
                                                "in the L1 cache of its own SM",
                                                "in the registers of the writer"},
                                    .right = 1},
         .because = R"(A release makes the message visible to those who acquire. The acquire
is what keeps the reader's later loads from using older data of its L1 cache.)"});
    show_failures(lesson);
    show_diagnostics(lesson);
    lesson.conclusion(
        warpwise::can_instrument()
            ? R"(The search for errors asks of every two accesses what orders them, and does
not look at results. So it finds all six, and nothing in the eight right versions. The hint
says which part is missing.)"
        : warpwise::Lesson::on_gpu()
            ? R"(A run may tell that a version is wrong, but never that it is right. The CPU
device reports all six: run this lesson there, too.)"
            : R"(By the search for errors, without which this program was built. Run the
lesson without --no-counters.)");

    lesson.question(
        R"(A litmus test is a program of a few accesses, run by very many pairs of threads
at the same time. It counts how often an unexpected outcome appears. In the first test the
flag was seen, and the word beside it was not. How often is that?)");
    show_tests(lesson, "messages", "Flag seen, word not seen", "a flag without its word",
               kMessages);
    lesson.conclusion(
        R"(What may happen is decided by the memory model, not by the count. An outcome
that was never seen in these runs may still appear on the next GPU. The four tests with a
release and an acquire, as accesses or as fences, have to stay at 0.)");

    lesson.question(
        R"(The second test: x and y are 0. A thread stores 1 in x and then loads y. Its
partner stores 1 in y and then loads x. Can both load 0?)");
    lesson.predict(
        {.question = R"(x and y are 0. Thread A stores 1 in x with release, and then loads y
with acquire. Thread B does the same with x and y exchanged. Can both of them load 0?)",
         .answer =
             warpwise::Choice{.choices = {"no: one of them was later", "yes"}, .right = 1},
         .because = R"(A release orders what precedes it, and an acquire what follows it. A
load may therefore take place before an earlier store to another word. Only
memory_order_seq_cst forbids that.)"});
    show_tests(lesson, "store_buffering", "Both threads load 0", "two zeros", kBuffering);
    lesson.conclusion(
        R"(This is no data race, since all accesses are atomic, and the CPU device reports
nothing. Where a program relies on such an order, as a lock made of two flags does, each
thread needs a fence with memory_order_seq_cst between its store and its load.)");
}

}  // namespace modern_cuda
