// Problem: the sum of n floats, by all blocks of a grid, in a single launch.
//
// A block adds up its share and leaves the sum in memory. One block has to add the block
// sums, but only when all of them are there, and blocks cannot wait for each other: a block
// that has not started may need the place that a waiting block holds. The usual answer is a
// second launch, since the end of a kernel is a barrier for the whole grid. The other
// answer: no block waits. Every block draws a ticket when it is done, and the one that
// draws the last ticket knows that all others have drawn theirs. It finishes the work.
//
// Three things have to be right for that, and each is left out in code that has been
// published: the fence between the sum of the block and its ticket, the look at the ticket
// instead of the counter, and the counter's start at zero. The steps are the right
// versions; what the wrong ones do is shown after the table.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#ifndef __CPU_DEVICE__
#include <cub/device/device_reduce.cuh>
#endif

#include "chapters/2_memory_model/fences_and_last_block/kernels.cuh"
#include "chapters/2_memory_model/fences_and_last_block/wrong.cuh"
#include "chapters/2_memory_model/provoked.h"
#include "common/helpers/benchmark.h"
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
using warpwise::text_of;

constexpr std::size_t kElementsPerThread = 8;

// The input, its sum in double, and memory for the steps. The counter is set to zero once,
// when it is made: each launch has to leave it as it found it, or the next one goes wrong.
struct Sum {
    std::size_t count;
    double reference = 0, magnitudes = 0;
    std::vector<float> values;
    DeviceBuffer<float> d_values, d_block_sums, d_total{1};
    DeviceBuffer<unsigned> d_drawn{std::vector<unsigned>{0}};
#ifndef __CPU_DEVICE__
    DeviceBuffer<unsigned char> d_workspace;  // of the library's routine
#endif
    double tolerance = 0;

    explicit Sum(const warpwise::Size& size)
        : count(size[0]),
          values(warpwise::uniform<float>(count, 1)),
          d_values(values),
          d_block_sums(most_blocks()) {
        for (const float value : values) {
            reference += value;
            magnitudes += std::fabs(value);
        }
    }

    void poison() {
        d_total.fill_bytes(0xFF);
        d_block_sums.fill_bytes(0xFF);
        tolerance = 0;
    }

    // `chain`: the longest chain of additions behind the result.
    void rounds_like(std::size_t chain,
                     double epsilon = std::numeric_limits<float>::epsilon()) {
        tolerance = warpwise::sum_tolerance(chain, epsilon, magnitudes);
    }

    warpwise::Comparison compare() {
        return warpwise::compare(d_total.download(), {reference}, {.absolute = tolerance});
    }

    warpwise::Work work() const {
        return {.bytes = sizeof(float) * static_cast<double>(count),
                .operations = static_cast<double>(count)};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return (size[0] + most_blocks()) * sizeof(float) + (std::size_t{1} << 20);
    }

    // Enough blocks for eight floats per thread, but no more than fit on the device at
    // once.
    unsigned blocks() const {
        const std::size_t wanted = std::max<std::size_t>(
            1, warpwise::ceil_div(count, kThreads * kElementsPerThread));
        return static_cast<unsigned>(std::min<std::size_t>(wanted, most_blocks()));
    }

    // Additions of a thread and log2(256) = 8 rounds of shuffles, then the same for the
    // block sums.
    std::size_t chain() const {
        return warpwise::ceil_div(count, std::size_t{blocks()} * kThreads) + 8 +
               warpwise::ceil_div(blocks(), kThreads) + 8;
    }

    static unsigned most_blocks();
};

// Step 1, the loop on one core.
void serial(Sum& problem) {
    double sum = 0;
    for (const float value : problem.values) sum += value;
    problem.d_total.upload({static_cast<float>(sum)});
    problem.rounds_like(1);
}

unsigned Sum::most_blocks() { return warpwise::blocks_that_fill(sum_blocks, kThreads); }

// The launches of the steps.
void two_launches(Sum& problem) {
    sum_blocks<<<problem.blocks(), kThreads>>>(problem.d_values.data(), problem.count,
                                               problem.d_block_sums.data());
    warpwise::check_launch();
    add_block_sums<<<1, kThreads>>>(problem.d_block_sums.data(), problem.blocks(),
                                    problem.d_total.data());
    warpwise::check_launch();
    problem.rounds_like(problem.chain());
}

void last_block(Sum& problem) {
    sum_by_last_block<<<problem.blocks(), kThreads>>>(
        problem.d_values.data(), problem.count, problem.d_block_sums.data(),
        problem.d_drawn.data(), problem.d_total.data());
    warpwise::check_launch();
    problem.rounds_like(problem.chain());
}

void atomics(Sum& problem) {
    warpwise::check(cudaMemsetAsync(problem.d_total.data(), 0, problem.d_total.bytes()));
    sum_by_atomics<<<problem.blocks(), kThreads>>>(problem.d_values.data(), problem.count,
                                                   problem.d_total.data());
    warpwise::check_launch();
    problem.rounds_like(problem.chain() + problem.blocks());
}

void last_block_float4(Sum& problem) {
    sum_by_last_block_float4<<<problem.blocks(), kThreads>>>(
        problem.d_values.data(), problem.count, problem.d_block_sums.data(),
        problem.d_drawn.data(), problem.d_total.data());
    warpwise::check_launch();
    problem.rounds_like(problem.chain());
}

#ifndef __CPU_DEVICE__
// What a user would call instead. Its workspace is allocated once, as its users do.
void vendor(Sum& problem) {
    const float* const values = problem.d_values.data();
    std::size_t bytes = 0;
    warpwise::check(cub::DeviceReduce::Sum(nullptr, bytes, values, problem.d_total.data(),
                                           problem.count));
    if (problem.d_workspace.size() < bytes)
        problem.d_workspace = DeviceBuffer<unsigned char>(bytes);
    warpwise::check(cub::DeviceReduce::Sum(problem.d_workspace.data(), bytes, values,
                                           problem.d_total.data(), problem.count));
    problem.rounds_like(problem.chain());
}
#endif

// ---- what the steps ask of the memory ---------------------------------------------------

// Requests and barriers of warps, as the lesson predicts them, for a number of floats that
// the threads of the grid share evenly, in at most 32 blocks: then the block sums are read
// by one request.
struct Predicted {
    const char* step;
    void (*run)(Sum&);
    double launches, loads, stores, atomics, barriers;
};

void show_predictions(warpwise::Lesson& lesson) {
    constexpr std::size_t count = 16 * kThreads * kElementsPerThread;
    Sum problem({count});
    const double blocks = problem.blocks();
    const double loads = count / 32;
    const std::array<Predicted, 3> all = {{
        {"sum_two_launches", two_launches, 2, loads + 1, blocks + 1, 0,
         kWarps * (blocks + 1)},
        {"sum_by_last_block", last_block, 1, loads + 1, blocks + 1, blocks,
         kWarps * (2 * blocks + 1)},
        {"sum_by_atomics", atomics, 1, loads, 0, blocks, kWarps * blocks},
    }};
    std::vector<std::vector<std::string>> rows;
    for (const Predicted& predicted : all) {
        rows.push_back({predicted.step, warpwise::count_text(predicted.launches),
                        warpwise::count_text(predicted.loads),
                        warpwise::count_text(predicted.stores),
                        warpwise::count_text(predicted.atomics),
                        warpwise::count_text(predicted.barriers)});
        const auto counts = lesson.count([&] { predicted.run(problem); });
        if (!counts || blocks > 32) continue;
        const std::string step = predicted.step;
        lesson.expect(counts->global_load.requests == predicted.loads,
                      step + ": as many loads as predicted");
        lesson.expect(counts->global_store.requests == predicted.stores,
                      step + ": as many stores as predicted");
        lesson.expect(counts->global_atomic.requests == predicted.atomics,
                      step + ": as many atomics as predicted");
        lesson.expect(counts->barriers == predicted.barriers,
                      step + ": as many barriers as predicted");
    }
    lesson.table(
        {"counts", "What " + std::to_string(count) + " floats take in " +
                       std::to_string(problem.blocks()) +
                       " blocks of 8 warps: predicted, and held against the counters where "
                       "there are some"},
        {"step", "launches", "loads", "stores", "atomics", "barriers"}, rows);
}

// ---- one launch against two, from a thousand floats on ----------------------------------

void show_launches(warpwise::Lesson& lesson) {
    if (!lesson.measures()) {
        lesson.show_recorded("launches");
        return;
    }
    std::vector<std::vector<std::string>> rows;
    for (unsigned bits = 10; bits <= 26; bits += 4) {
        Sum problem({std::size_t{1} << bits});
        const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
            {{[&] { two_launches(problem); }}, {[&] { last_block(problem); }}},
            {.samples = 50, .seconds = 0.1});
        lesson.expect(problem.compare().passed,
                      "one launch: the sum is right after timing");
        const double two = timings[0].median, one = timings[1].median;
        rows.push_back({std::to_string(problem.count), text_of("%.1f", two * 1e6),
                        text_of("%.1f", one * 1e6), text_of("%.2f", two / one)});
    }
    lesson.table({"launches", "One launch against two"},
                 {"floats", "two launches, us", "one launch, us", "ratio"}, rows);
}

// ---- the wrong versions -----------------------------------------------------------------

// Of the demonstrations: few, so that all of them are resident at once.
constexpr unsigned kBlocks = 7;
constexpr std::size_t kCount = kBlocks * kThreads;  // one float per thread
constexpr unsigned kCalls = 3;

using Kernel = void (*)(const float*, std::size_t, float*, unsigned*, float*);

// Calls a kernel several times with one counter and one array of block sums, both zero in
// the beginning. In call k all values are k, so that sums are exact, and what is left of
// the call before shows. Returns the totals; NaN: not written.
std::array<float, kCalls> totals_of_calls(Kernel kernel) {
    DeviceBuffer<float> d_values(kCount), d_block_sums(std::vector<float>(kBlocks, 0)),
        d_total(1);
    DeviceBuffer<unsigned> d_drawn(std::vector<unsigned>{0});
    std::array<float, kCalls> totals;
    for (unsigned call = 1; call <= kCalls; ++call) {
        d_values.upload(std::vector<float>(kCount, static_cast<float>(call)));
        d_total.fill_bytes(0xFF);
        kernel<<<kBlocks, kThreads>>>(d_values.data(), kCount, d_block_sums.data(),
                                      d_drawn.data(), d_total.data());
        warpwise::check_launch();
        totals[call - 1] = d_total.download()[0];
    }
    return totals;
}

float expected_total(unsigned call) { return static_cast<float>(call * kCount); }

std::string text_of_total(float total, unsigned call) {
    if (std::isnan(total)) return "not written";
    if (total == expected_total(call)) return "right";
    return text_of("%.0f", total) + " for " + text_of("%.0f", expected_total(call));
}

bool all_right(const std::array<float, kCalls>& totals) {
    for (unsigned call = 1; call <= kCalls; ++call) {
        if (totals[call - 1] != expected_total(call)) return false;
    }
    return true;
}

// Three calls each of the right kernel and of two wrong ones, on the CPU device in four
// orders of the blocks.
void show_calls(warpwise::Lesson& lesson) {
    const bool on_gpu = warpwise::Lesson::on_gpu();
    const std::vector<unsigned> seeds =
        on_gpu ? std::vector<unsigned>{0} : std::vector<unsigned>{0, 1, 2, 3};
    std::vector<std::vector<std::string>> rows;
    bool highest_is_wrong_somewhere = false;
    const auto add_rows = [&](const char* name, Kernel kernel) {
        std::vector<std::array<float, kCalls>> results;
        for (const unsigned seed : seeds) {
            const OrderOfSeed order(seed);
            uninstrumented([&] { results.push_back(totals_of_calls(kernel)); });
            rows.push_back({name, on_gpu      ? "the GPU's"
                                  : seed == 0 ? "ascending"
                                              : "seed " + std::to_string(seed)});
            for (unsigned call = 1; call <= kCalls; ++call) {
                rows.back().push_back(text_of_total(results.back()[call - 1], call));
            }
        }
        return results;
    };
    for (const auto& totals : add_rows("sum_by_last_block", sum_by_last_block)) {
        lesson.expect(all_right(totals),
                      "sum_by_last_block: right in every order and every call");
    }
    for (const auto& totals : add_rows("looks_at_the_counter", looks_at_the_counter)) {
        lesson.expect(std::isnan(totals[1]),
                      "looks_at_the_counter: the second call writes nothing");
        if (on_gpu) continue;
        lesson.expect(totals[0] == expected_total(1),
                      "looks_at_the_counter: right in the first call, block by block");
        lesson.expect(totals[2] == (kBlocks - 1) * kThreads * 2 + kThreads * 3,
                      "looks_at_the_counter: the third call takes six sums of the second");
    }
    for (const auto& totals :
         add_rows("takes_the_highest_number", takes_the_highest_number)) {
        highest_is_wrong_somewhere |= !all_right(totals);
    }
    if (!on_gpu)
        lesson.expect(highest_is_wrong_somewhere,
                      "takes_the_highest_number: an order shows the mistake");
    lesson.table({"calls", "Three calls in a row, " + std::to_string(kBlocks) +
                               " blocks; call k sums values that are all k"},
                 {"kernel", "order of the blocks", "call 1", "call 2", "call 3"}, rows);
}

void show_last_blocks(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    for (const bool all_draw_first : {false, true}) {
        DeviceBuffer<unsigned> d_drawn(std::vector<unsigned>{0}),
            d_last(std::vector<unsigned>{0, 0});
        count_last_blocks<<<kBlocks, 32>>>(d_drawn.data(), d_last.data(), d_last.data() + 1,
                                           all_draw_first);
        warpwise::check_launch();
        const std::vector<unsigned> last = d_last.download();
        lesson.expect(last[0] == 1, "count_last_blocks: one block has the last ticket");
        lesson.expect(last[1] >= 1 && (!all_draw_first || last[1] == kBlocks),
                      "count_last_blocks: whoever looks after the last draw takes itself "
                      "for the last");
        rows.push_back(
            {all_draw_first ? "all draw before the first one looks" : "as it comes",
             std::to_string(last[0]), std::to_string(last[1])});
    }
    lesson.table({"last_blocks", "Of " + std::to_string(kBlocks) +
                                     " blocks, how many take themselves for the last?"},
                 {"order", "by the drawn ticket", "by a look at the counter"}, rows);
}

std::vector<warpwise::Diagnostic> diagnostics_of(Kernel kernel) {
    return provoked_diagnostics([&] { totals_of_calls(kernel); });
}

// What the CPU device reports of the wrong kernels, and that it reports nothing of the
// right ones.
void show_diagnostics(warpwise::Lesson& lesson) {
    lesson.question(
        R"(Wrong results can give these two versions away. has_no_fence, which is step 3
without its fences, gives the right sums, and may do so on a GPU for years. How can such
a mistake be found?)");
    if (!warpwise::can_instrument()) {
        lesson.conclusion(
            warpwise::Lesson::on_gpu()
                ? R"(Not on a GPU: racecheck of compute-sanitizer looks at shared memory
only. The CPU device reports errors in all three kernels: run this lesson there.)"
                : R"(By the search for errors, without which this program was built.
Run the lesson without --no-counters to see what it says.)");
        return;
    }
    const std::vector<warpwise::Diagnostic> counter = diagnostics_of(looks_at_the_counter),
                                            fence = diagnostics_of(has_no_fence);
    lesson.expect(diagnostics_of(sum_by_last_block).empty(),
                  "sum_by_last_block: no error is found");
    lesson.expect(diagnostics_of(sum_by_last_block_float4).empty(),
                  "sum_by_last_block_float4: no error is found");
    lesson.expect(!counter.empty(),
                  "looks_at_the_counter: the look at the counter is found to be a race");
    lesson.expect(!fence.empty(), "has_no_fence: the missing fence is found");
    lesson.expect(!diagnostics_of(takes_the_highest_number).empty(),
                  "takes_the_highest_number: its race is found");
    if (counter.empty() || fence.empty()) return;
    lesson.text("Of looks_at_the_counter, --diagnose says:\n\n" +
                as_printed(counter.front()) +
                "\n\nAn atomic read would silence this report, and the kernel would still "
                "be wrong: only the drawn ticket tells which block is the last.\n\nOf "
                "has_no_fence:\n\n" +
                as_printed(fence.front()));
    lesson.conclusion(
        R"(With --diagnose the CPU device does not look at results: it asks of every two
accesses what orders them, so it needs no luck. A fence waits for no other thread, and it is
no barrier. A fence without a ticket says nothing, and a ticket without a fence promises
sums that may not be there yet.)");
}

}  // namespace

void fences_and_last_block(warpwise::Lesson& lesson) {
    lesson.question(
        R"(The blocks of a grid cannot wait for each other. When their sums have to become
one number, the usual way is a second launch. The other way is a ticket: every block draws
one when it is done, and the block with the last ticket finishes the work. What has to be
right for that?)");
    lesson.predict(
        {.question = R"(The second launch is replaced by tickets, and the block with
the last one finishes. 16 blocks sum 32768 floats. How many atomic operations does that
take?)",
         .answer = warpwise::Number{.value = 16,
                                    .unit = "atomics",
                                    .shown_by =
                                        warpwise::TableCell{
                                            "counts", {"sum_by_last_block"}, "atomics"}},
         .because = R"(Every block draws one ticket. It loads and stores as much as
the two launches do.)"});
    lesson.predict(
        {.question = R"(A sum takes one launch, whose last block finishes, instead
of two. How many times as fast is that for only 1024 floats on a GPU?)",
         .answer =
             warpwise::Measured{.by = warpwise::TableCell{"launches", {"1024"}, "ratio"},
                                .unit = "times",
                                .factor = 1.2},
         .because = R"(It saves one launch, which takes the same time for any size.
So small arrays gain, and large ones hardly.)",
         .idea = "asynchronous launches"});

    std::vector<warpwise::Step<Sum>> steps = {
        {"serial", "a loop in double, one core", serial, warpwise::StepKind::host},
        {"sum_two_launches", "block sums, then a second kernel", two_launches},
        {"sum_by_last_block", "one launch: fence, ticket, the last finishes", last_block},
        {"sum_by_atomics", "one atomic addition per block instead", atomics},
        {"sum_by_last_block_float4", "tickets, 16 bytes per access", last_block_float4},
    };
#ifndef __CPU_DEVICE__
    steps.push_back(
        {"vendor", "cub::DeviceReduce::Sum", vendor, warpwise::StepKind::vendor});
#endif
    lesson.steps<Sum>({.gpu = {std::size_t{1} << 24},
                       .cpu = {std::size_t{1} << 17},
                       .awkward = {{0},
                                   {1},
                                   {2},
                                   {31},
                                   {32},
                                   {33},
                                   {255},
                                   {257},
                                   {1009},
                                   {2048},
                                   {2049},
                                   {4099},
                                   {100003}}},
                      steps);
    show_predictions(lesson);
    show_launches(lesson);
    lesson.conclusion(
        R"(No load and no store more: the block sums are written and read again in both. The
one launch takes an atomic per block, and a second barrier, by which thread 0 tells the
others what its ticket was. What it saves is a launch, which is a fixed time: small arrays
gain by that, large ones hardly.)");

    lesson.question(
        R"(Now two wrong versions. looks_at_the_counter is from a published program: it
counts up with atomicInc(drawn, gridDim.x), does not use the result, and reads the counter
again to see whether it is gridDim.x. atomicInc(drawn, limit) adds 1, but where it finds
`limit` it stores 0 instead. Nothing else ever sets the counter back.
takes_the_highest_number lets the block with the highest blockIdx finish. How do they
fail?)");
    lesson.predict(
        {.question = R"(looks_at_the_counter is called three times, each time with 7
blocks. The counter is 0 before the first call. What is it before the second?)",
         .answer = warpwise::Number{.value = 7},
         .because = R"(atomicInc(drawn, 7) goes back to 0 only after 7, so seven
blocks leave 7. In the second call no block finds it at 7, and nothing is written.)"});
    show_calls(lesson);
    lesson.conclusion(
        R"(atomicInc(drawn, 7) counts from 0 to 7 and then goes back to 0. The first call
leaves 7. In the second the counter ends at 6: no block is the last, and nothing is written.
In the third, the first block makes it 7 and, if it looks at once, adds six sums of the call
before. takes_the_highest_number is right where all other blocks happen to be done before
that block reads their sums. Nothing promises this.)");

    lesson.predict(
        {.question = R"(A ticket tells a block how many had drawn before it. The
counter says how many have drawn by now. How many of 7 blocks can take themselves for
the last one by the counter?)",
         .answer =
             warpwise::Number{
                 .value = 7,
                 .unit = "blocks",
                 .shown_by = warpwise::TableCell{"last_blocks",
                                                 {"all draw before the first one looks"},
                                                 "by a look at the counter"}},
         .because = R"(If all draw before the first one looks, all of them find the
last number. By tickets it is always one.)"});
    show_last_blocks(lesson);
    lesson.conclusion(
        R"(One by the ticket, but up to all of them by the counter, because other blocks
draw between a block's draw and its look. Here each would write the same total. When the
last block adds to a running total, resets a counter, or appends to a list, it happens
several times.)");
    show_diagnostics(lesson);
}

}  // namespace memory_model
