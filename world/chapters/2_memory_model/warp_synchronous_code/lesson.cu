// Problem: the sums of tiles of 256 floats, one block per tile, and what the last warp may
// leave out.
//
// A tree in shared memory halves the number of working threads in every round. After three
// rounds all of them are lanes of one warp, and a barrier for 256 threads seems too much.
// Until 2017 the lanes of a warp ran in lockstep: each instruction was carried out for all
// of them before the next, so that code without any barrier worked, and was taught
// ("warp-synchronous programming"). Since Volta (compute capability 7.0) every thread has a
// program counter of its own, and lanes may diverge. __syncwarp() and the barriers of the
// block bring them together, and order their reads and writes. Operations with a mask
// (shuffles, votes, matches) only wait for lanes; they order no memory access.
//
// The old code still compiles, and with `volatile` it still gives the right sums most of
// the time. That makes it dangerous.
#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "chapters/2_memory_model/provoked.h"
#include "chapters/2_memory_model/warp_synchronous_code/kernels.cuh"
#include "chapters/2_memory_model/warp_synchronous_code/wrong_tails.cuh"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace memory_model {
namespace {

using warpwise::DeviceBuffer;

// Whole numbers from -100 to 100: sums of 256 of them are exact in any order, and a sum
// that is not exact is wrong.
std::vector<float> whole_numbers(std::size_t count) {
    const std::vector<int> numbers = warpwise::uniform_integers(count, 1, -100, 100);
    return {numbers.begin(), numbers.end()};
}

std::vector<double> sums_of_tiles(const std::vector<float>& values) {
    std::vector<double> sums(warpwise::ceil_div(values.size(), kThreads));
    for (std::size_t i = 0; i < values.size(); ++i) sums[i / kThreads] += values[i];
    return sums;
}

using Kernel = void (*)(const float*, float*, std::size_t);

struct TileSums {
    std::size_t count;
    std::vector<double> reference;
    DeviceBuffer<float> d_values, d_sums;

    explicit TileSums(const warpwise::Size& size) : count(size[0]), d_values(count) {
        const std::vector<float> values = whole_numbers(count);
        d_values.upload(values);
        reference = sums_of_tiles(values);
        d_sums = DeviceBuffer<float>(reference.size());
    }

    void poison() { d_sums.fill_bytes(0xFF); }

    warpwise::Comparison compare() {
        return warpwise::compare(d_sums.download(), reference);
    }

    warpwise::Work work() const {
        return {.bytes = sizeof(float) * static_cast<double>(count + reference.size()),
                .operations = static_cast<double>(count)};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return (size[0] + warpwise::ceil_div(size[0], kThreads)) * sizeof(float);
    }

    // One block per tile. Without tiles nothing is launched, because a grid of 0 blocks
    // would be an error.
    void run(Kernel kernel) {
        if (count == 0) return;
        kernel<<<warpwise::blocks_for(count, kThreads), kThreads>>>(d_values.data(),
                                                                    d_sums.data(), count);
        warpwise::check_launch();
    }
};

// What each step does in a full block of eight warps, as the text predicts it.
struct Predicted {
    const char* step;
    Kernel kernel;
    double barriers, shared_requests;
};
constexpr std::array<Predicted, 4> predictions = {
    {{"tree_with_barriers", tree_with_barriers, 64, 45},
     {"tail_with_syncwarp", tail_with_syncwarp, 24, 45},
     {"tail_with_shuffles", tail_with_shuffles, 24, 28},
     {"warps_first", warps_first, 8, 9}}};

void show_predictions(warpwise::Lesson& lesson) {
    constexpr double blocks = 8;
    TileSums problem({std::size_t{kThreads} * 8});
    std::vector<std::vector<std::string>> rows;
    for (const Predicted& predicted : predictions) {
        rows.push_back({predicted.step, warpwise::count_text(predicted.barriers),
                        warpwise::count_text(predicted.shared_requests)});
        const auto counts = lesson.count([&] { problem.run(predicted.kernel); });
        if (!counts) continue;
        const std::string step = predicted.step;
        lesson.expect(counts->barriers == predicted.barriers * blocks,
                      step + ": as many barriers as predicted");
        lesson.expect(counts->shared().requests == predicted.shared_requests * blocks,
                      step + ": as many requests to shared memory as predicted");
    }
    lesson.table({"counts",
                  "A block of 8 warps: predicted, and held against the counters where "
                  "there are some"},
                 {"step", "barriers", "requests to shared memory"}, rows);
}

// ---- right and wrong tails --------------------------------------------------------------

struct Tail {
    const char* name;
    Kernel kernel;
    bool right;
    const char* in_lockstep;  // what it did on GPUs before Volta
};
constexpr std::array<Tail, 7> tails = {
    {{"tail_with_nothing", tail_with_nothing, false, "as the compiler likes"},
     {"tail_with_volatile", tail_with_volatile, false, "right"},
     {"tail_where_all_add", tail_where_all_add, false, "right"},
     {"tree_with_barriers", tree_with_barriers, true, "right"},
     {"tail_with_syncwarp", tail_with_syncwarp, true, "right"},
     {"tail_with_shuffles", tail_with_shuffles, true, "right"},
     {"warps_first", warps_first, true, "right"}}};

constexpr std::size_t kTiles = 4;  // per demonstration

// "right", or how many of the sums were wrong, in one order of the threads.
std::string result_of(Kernel kernel) {
    std::string text;
    uninstrumented([&] {
        TileSums problem({kTiles * kThreads});
        problem.poison();
        problem.run(kernel);
        const warpwise::Comparison comparison = problem.compare();
        text = comparison.passed ? "right"
                                 : std::to_string(comparison.mismatched) + " of 4 wrong";
    });
    return text;
}

std::vector<warpwise::Diagnostic> diagnostics_of(Kernel kernel) {
    return provoked_diagnostics([&] {
        TileSums problem({kTiles * kThreads});
        problem.run(kernel);
        warpwise::check_finished();
    });
}

void show_tails(warpwise::Lesson& lesson) {
    const bool on_gpu = warpwise::Lesson::on_gpu();
    std::vector<std::string> header = {"tail", "until 2017"};
    if (on_gpu) {
        header.push_back("on this GPU, now");
    } else {
        for (const char* const order : {"ascending", "seed 1", "seed 2", "seed 3"})
            header.push_back(order);
    }
    if (warpwise::can_instrument()) header.push_back("errors found");
    std::vector<std::vector<std::string>> rows;
    for (const Tail& tail : tails) {
        rows.push_back({tail.name, tail.in_lockstep});
        bool always_right = true;
        for (unsigned seed = 0; seed < (on_gpu ? 1u : 4u); ++seed) {
            const OrderOfSeed order(seed);
            rows.back().push_back(result_of(tail.kernel));
            always_right &= rows.back().back() == "right";
        }
        const std::string name = tail.name;
        if (tail.right) lesson.expect(always_right, name + ": right in every order");
        if (!tail.right && !on_gpu)
            lesson.expect(!always_right, name + ": some order shows the mistake");
        if (!warpwise::can_instrument()) continue;
        const std::size_t found = diagnostics_of(tail.kernel).size();
        lesson.expect((found == 0) == tail.right,
                      name + ": errors are found where there are some");
        rows.back().push_back(found == 0 ? "none"
                                         : std::to_string(found) +
                                               (found == 1 ? " race" : " races"));
    }
    lesson.table({"tails", "Seven tails, and the sums of 4 tiles" +
                               std::string(on_gpu ? "" : " in four orders of the lanes")},
                 header, rows);
}

// What the CPU device reports of the two wrong tails that gave the right sums on an H200.
void show_diagnostics(warpwise::Lesson& lesson) {
    if (!warpwise::can_instrument()) return;
    const std::vector<warpwise::Diagnostic> ordered = diagnostics_of(tail_with_volatile),
                                            all = diagnostics_of(tail_where_all_add);
    if (ordered.empty() || all.empty()) return;  // an expectation has failed already
    lesson.text(
        "What --diagnose reports of the volatile tail, for its first pair of lines:\n\n" +
        as_printed(ordered.front()) + "\n\nand of the tail where all lanes add:\n\n" +
        as_printed(all.front()));
}

}  // namespace

void warp_synchronous_code(warpwise::Lesson& lesson) {
    lesson.question(
        R"(The last rounds of a tree in shared memory belong to a single warp. Until
2017 its lanes ran in lockstep, and code without any barrier worked. Since then every
thread has a program counter of its own. What keeps the lanes of a warp in order, and
what does that cost? (A shuffle lets a lane read a register of another lane, without
shared memory.))");
    lesson.predict(
        {.question = R"(A block has 8 warps, and a tree with a barrier in every one
of its eight rounds passes 64 barriers. How many barriers do the warps pass together
when the last warp works alone from 64 parts on?)",
         .answer = warpwise::Number{.value = 24,
                                    .unit = "barriers",
                                    .shown_by =
                                        warpwise::TableCell{
                                            "counts", {"tail_with_syncwarp"}, "barriers"}},
         .because = R"(Two rounds and the beginning of the last warp's part need
one barrier each, for each of 8 warps.)"});
    lesson.predict(
        {.question = R"(A tree of 8 warps makes 45 requests to shared memory when
its last warp works alone. How many are left when that warp uses shuffles instead?)",
         .answer =
             warpwise::Number{.value = 28,
                              .unit = "requests",
                              .shown_by = warpwise::TableCell{"counts",
                                                              {"tail_with_shuffles"},
                                                              "requests to shared memory"}},
         .because = R"(Shuffles exchange registers. What is left are 8 stores of the
values, 18 requests of the two rounds before, and the 2 loads with which the tail
begins.)"});

    const auto step = [](const Predicted& predicted, const char* change) {
        return warpwise::Step<TileSums>{
            predicted.step, change,
            [kernel = predicted.kernel](TileSums& problem) { problem.run(kernel); }};
    };
    lesson.steps<TileSums>(
        {.gpu = {std::size_t{1} << 26},
         .cpu = {std::size_t{1} << 15},
         .awkward = {{0},
                     {1},
                     {2},
                     {31},
                     {32},
                     {33},
                     {63},
                     {65},
                     {255},
                     {256},
                     {257},
                     {1009},
                     {4099}}},
        {step(predictions[0], "a tree, a barrier before every round"),
         step(predictions[1], "the last warp alone, __syncwarp()"),
         step(predictions[2], "the last warp alone, shuffles"),
         step(predictions[3], "every warp by shuffles, then the first")});
    show_predictions(lesson);
    lesson.conclusion(
        R"(Eight rounds with a barrier each are 64 barriers for 8 warps. When the last
warp works alone, two rounds and the beginning of its part need one each: 24. Shuffles
save 17 of the 45 requests to shared memory. When every warp begins with shuffles, only
8 stores and 1 load remain, and one barrier per warp.)");

    lesson.question(
        R"(The same tail can be written with less: with nothing, with volatile, or with
a __syncwarp() per round while all lanes add. The first two are in many programs from
before 2017. The third is a hasty repair.)");
    lesson.predict(
        {.question = R"(Which of the three tails is right?)",
         .answer = warpwise::Choice{{"the one with volatile", "the one where all lanes add",
                                     "none of the three"},
                                    2},
         .because = R"(Nothing keeps the lanes of a warp together between two
lines. Each of the three has races, also where its sums happen to be right.)"});
    show_tails(lesson);
    show_diagnostics(lesson);
    lesson.conclusion(
        warpwise::Lesson::on_gpu()
            ? R"(All three are wrong. Where the sums are right, the lanes probably
happened to stay together, which nothing guarantees: another compiler or another branch
may change it. The CPU device finds the races of all three, and compute-sanitizer --tool
racecheck finds some of them.)"
            : R"(All three are wrong: each gives wrong sums in some order of the lanes,
and the search finds its races in any order. On a GPU some of them may give right sums,
because the lanes happen to stay together. Nothing guarantees that. A __syncwarp() per
round orders the lanes, provided that no lane writes what another one reads in the same
round.)");
}

}  // namespace memory_model
