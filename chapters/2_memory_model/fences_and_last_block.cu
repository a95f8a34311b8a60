// Problem: the sum of n floats, by all blocks of a grid, in a single launch.
//
// A block adds up its share and leaves the sum in memory. Somebody has to add the block sums, but only when all of them
// are there, and blocks cannot wait for each other: a block that has not started may be waiting for a place that a
// waiting block holds. The usual answer is a second launch, since the end of a kernel is a barrier for the whole grid.
// The other answer: nobody waits. Every block draws a ticket when it is done, and the one that draws the last ticket
// knows that all others have been there. It finishes the work.
//
// Three things have to be right for that, and each is left out in code that has been published: the fence between the
// block's sum and its ticket, the look at the ticket instead of the counter, and the counter's start at zero. The steps
// are the right versions; what the wrong ones do is shown after the table.
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

#include "chapters/2_memory_model/lessons.h"
#include "chapters/2_memory_model/provoked.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"

namespace memory_model {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr unsigned kThreads = 256;          // a block
constexpr unsigned kWarps = kThreads / 32;  // a block
constexpr std::size_t kElementsAThread = 8;

// The input, its sum in double, and memory for the steps. The counter is set to zero once, when it is made: each launch
// has to leave it as it found it, or the next one goes wrong.
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
        : count(size[0]), values(warpwise::uniform<float>(count, 1)), d_values(values), d_block_sums(most_blocks()) {
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
    void rounds_like(std::size_t chain, double epsilon = std::numeric_limits<float>::epsilon()) {
        tolerance = warpwise::sum_tolerance(chain, epsilon, magnitudes);
    }

    warpwise::Comparison compare() {
        return warpwise::compare(d_total.download(), {reference}, {.absolute = tolerance});
    }

    warpwise::Work work() const {
        return {.bytes = sizeof(float) * static_cast<double>(count), .operations = static_cast<double>(count)};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return (size[0] + most_blocks()) * sizeof(float) + (std::size_t{1} << 20);
    }

    // Enough blocks for eight floats a thread, but no more than fit on the device at once.
    unsigned blocks() const {
        const std::size_t wanted = std::max<std::size_t>(1, warpwise::ceil_div(count, kThreads * kElementsAThread));
        return static_cast<unsigned>(std::min<std::size_t>(wanted, most_blocks()));
    }

    // Additions of a thread and log2(256) = 8 rounds of shuffles, then the same for the block sums.
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

// What the steps share: a sum over the threads of a block by shuffles (lesson pi), complete in thread 0. Called twice
// in a kernel, it needs a barrier in between, because `warp_sums` is used again.
__device__ float sum_of_block(float value) {
    __shared__ float warp_sums[kWarps];
    for (unsigned distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(~0u, value, distance);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x >= 32) return value;
    value = threadIdx.x < kWarps ? warp_sums[threadIdx.x] : 0.0f;
    for (unsigned distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(~0u, value, distance);
    return value;
}

// Step 2, two launches: the blocks leave their sums, and a second kernel of one block adds them. It starts when the
// first one has ended, and then everything that the first one wrote is there.
// Slow: for few elements. The second launch waits for the last block of the first, then has to be started itself, and
// reads a few kilobytes with one block while all other SMs have nothing to do.
__global__ void sum_blocks(const float* values, std::size_t count, float* block_sums) {
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    float sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += stride) sum += values[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) block_sums[blockIdx.x] = sum;
}

__global__ void add_block_sums(const float* block_sums, unsigned blocks, float* total) {
    float sum = 0;
    for (unsigned i = threadIdx.x; i < blocks; i += kThreads) sum += block_sums[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) *total = sum;
}

unsigned Sum::most_blocks() { return warpwise::blocks_that_fill(sum_blocks, kThreads); }

void two_launches(Sum& problem) {
    sum_blocks<<<problem.blocks(), kThreads>>>(problem.d_values.data(), problem.count, problem.d_block_sums.data());
    warpwise::check_launch();
    add_block_sums<<<1, kThreads>>>(problem.d_block_sums.data(), problem.blocks(), problem.d_total.data());
    warpwise::check_launch();
    problem.rounds_like(problem.chain());
}

// Step 3, one launch: thread 0 writes the block's sum and draws a ticket. Whoever draws the last one, gridDim.x - 1,
// knows that the other sums have been written, and its block adds them all.
// The fences make that true. Without the first one a GPU may show the ticket to others before the sum: both are writes
// to memory, to different places. The second one belongs to the reader: what is read below it is not older than the
// ticket. The barrier then passes on to the whole block what thread 0 knows.
// atomicInc(drawn, last) adds 1, and goes back to 0 after `last`: the last draw resets the counter for the next launch.
// Better: one launch. Slow: a barrier and an atomic more a block, and the last block works alone at the end, as before.
__global__ void sum_by_last_block(const float* values, std::size_t count, float* block_sums, unsigned* drawn,
                                  float* total) {
    __shared__ bool is_last;
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    float sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += stride) sum += values[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = sum;
        __threadfence();
        const unsigned ticket = atomicInc(drawn, gridDim.x - 1);
        __threadfence();
        is_last = ticket == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;  // all threads of the block, or none

    float rest = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += kThreads) rest += block_sums[i];
    rest = sum_of_block(rest);
    if (threadIdx.x == 0) *total = rest;
}

void last_block(Sum& problem) {
    sum_by_last_block<<<problem.blocks(), kThreads>>>(problem.d_values.data(), problem.count,
                                                      problem.d_block_sums.data(), problem.d_drawn.data(),
                                                      problem.d_total.data());
    warpwise::check_launch();
    problem.rounds_like(problem.chain());
}

// Step 4, for comparison: each block adds its sum to the total by an atomic operation. No ticket and no fence, because
// nobody reads what another block wrote.
// Better: the shortest code, and no slower than step 3: with no more blocks than fit on the device, few queue for the
// one address. Slow: the total must be cleared first, which is an operation of its own before the launch. And blocks
// come in any order, so that the last digits may differ from run to run, which those of step 3 never do: the last block
// adds in the order of the array, whichever block it is. Nor is there an atomic operation for everything: none for the
// place of the largest element together with the element, for example.
__global__ void sum_by_atomics(const float* values, std::size_t count, float* total) {
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    float sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += stride) sum += values[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) atomicAdd(total, sum);
}

void atomics(Sum& problem) {
    warpwise::check(cudaMemsetAsync(problem.d_total.data(), 0, problem.d_total.bytes()));
    sum_by_atomics<<<problem.blocks(), kThreads>>>(problem.d_values.data(), problem.count, problem.d_total.data());
    warpwise::check_launch();
    problem.rounds_like(problem.chain() + problem.blocks());
}

// Step 5, step 3 with 16 bytes an access and four sums a thread, so that four loads are under way at a time.
// Better: for large arrays, which memory limits. For small ones it changes nothing: there the launch is what takes
// time.
__global__ void sum_by_last_block_float4(const float* values, std::size_t count, float* block_sums, unsigned* drawn,
                                         float* total) {
    __shared__ bool is_last;
    const auto* fours = reinterpret_cast<const float4*>(values);
    const std::size_t vectors = count / 4;
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    const std::size_t thread = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    float sums[4] = {0, 0, 0, 0};
    std::size_t i = thread;
    for (; i + 3 * stride < vectors; i += 4 * stride) {
        float4 four[4];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) four[k] = fours[i + k * stride];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) sums[k] += (four[k].x + four[k].y) + (four[k].z + four[k].w);
    }
    for (; i < vectors; i += stride) {
        const float4 four = fours[i];
        sums[0] += (four.x + four.y) + (four.z + four.w);
    }
    if (thread < count % 4) sums[1] += values[4 * vectors + thread];

    const float sum = sum_of_block((sums[0] + sums[1]) + (sums[2] + sums[3]));
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = sum;
        __threadfence();
        const unsigned ticket = atomicInc(drawn, gridDim.x - 1);
        __threadfence();
        is_last = ticket == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;

    float rest = 0;
    for (unsigned k = threadIdx.x; k < gridDim.x; k += kThreads) rest += block_sums[k];
    rest = sum_of_block(rest);
    if (threadIdx.x == 0) *total = rest;
}

void last_block_float4(Sum& problem) {
    sum_by_last_block_float4<<<problem.blocks(), kThreads>>>(problem.d_values.data(), problem.count,
                                                             problem.d_block_sums.data(), problem.d_drawn.data(),
                                                             problem.d_total.data());
    warpwise::check_launch();
    problem.rounds_like(problem.chain());
}

#ifndef __CPU_DEVICE__
// What a user would call instead. Its workspace is allocated once, as its users do.
void vendor(Sum& problem) {
    const float* const values = problem.d_values.data();
    std::size_t bytes = 0;
    warpwise::check(cub::DeviceReduce::Sum(nullptr, bytes, values, problem.d_total.data(), problem.count));
    if (problem.d_workspace.size() < bytes) problem.d_workspace = DeviceBuffer<unsigned char>(bytes);
    warpwise::check(
        cub::DeviceReduce::Sum(problem.d_workspace.data(), bytes, values, problem.d_total.data(), problem.count));
    problem.rounds_like(problem.chain());
}
#endif

// ---- what the steps ask of the memory ----------------------------------------------------------------------------

// Requests and barriers of warps, as the text predicts them, for a number of floats that the grid's threads share
// evenly, in at most 32 blocks: then the block sums are read by one request.
struct Predicted {
    const char* step;
    void (*run)(Sum&);
    double launches, loads, stores, atomics, barriers;
};

void show_predictions(warpwise::Lesson& lesson) {
    constexpr std::size_t count = 16 * kThreads * kElementsAThread;
    Sum problem({count});
    const double blocks = problem.blocks();
    const double loads = count / 32;
    const std::array<Predicted, 3> all = {{
        {"sum_two_launches", two_launches, 2, loads + 1, blocks + 1, 0, kWarps * (blocks + 1)},
        {"sum_by_last_block", last_block, 1, loads + 1, blocks + 1, blocks, kWarps * (2 * blocks + 1)},
        {"sum_by_atomics", atomics, 1, loads, 0, blocks, kWarps * blocks},
    }};
    std::vector<std::vector<std::string>> rows;
    for (const Predicted& predicted : all) {
        rows.push_back({predicted.step, warpwise::count_text(predicted.launches), warpwise::count_text(predicted.loads),
                        warpwise::count_text(predicted.stores), warpwise::count_text(predicted.atomics),
                        warpwise::count_text(predicted.barriers)});
        const auto counts = lesson.count([&] { predicted.run(problem); });
        if (!counts || blocks > 32) continue;
        const std::string step = predicted.step;
        lesson.expect(counts->global_load.requests == predicted.loads, step + ": as many loads as predicted");
        lesson.expect(counts->global_store.requests == predicted.stores, step + ": as many stores as predicted");
        lesson.expect(counts->global_atomic.requests == predicted.atomics, step + ": as many atomics as predicted");
        lesson.expect(counts->barriers == predicted.barriers, step + ": as many barriers as predicted");
    }
    lesson.table("What " + std::to_string(count) + " floats take in " + std::to_string(problem.blocks()) +
                     " blocks of 8 warps: predicted, and held against the counters where there are some",
                 {"step", "launches", "loads", "stores", "atomics", "barriers"}, rows);
}

// ---- one launch against two, from a thousand floats on ------------------------------------------------------------

void show_launches(warpwise::Lesson& lesson) {
    const std::string title = "One launch against two";
    if (!lesson.measures()) {
        lesson.show_recorded(title);
        return;
    }
    std::vector<std::vector<std::string>> rows;
    for (unsigned bits = 10; bits <= 26; bits += 4) {
        Sum problem({std::size_t{1} << bits});
        const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
            {{[&] { two_launches(problem); }}, {[&] { last_block(problem); }}}, {.samples = 50, .seconds = 0.1});
        lesson.expect(problem.compare().passed, "one launch: the sum is right after timing");
        const double two = timings[0].median, one = timings[1].median;
        rows.push_back({std::to_string(problem.count), text_of("%.1f", two * 1e6), text_of("%.1f", one * 1e6),
                        text_of("%.2f", two / one)});
    }
    lesson.table(title, {"floats", "two launches, us", "one launch, us", "ratio"}, rows);
}

// ---- the wrong versions ---------------------------------------------------------------------------------------------

// WRONG, as it was published, here a little shortened: every block counts up, and looks at the counter to see whether
// it was the last. It drew a ticket and threw it away.
__global__ void looks_at_the_counter(const float* values, std::size_t count, float* block_sums, unsigned* drawn,
                                     float* total) {
    __shared__ bool is_last;
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    float sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += stride) sum += values[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = sum;
        __threadfence();
        atomicInc(drawn, gridDim.x);
        is_last = *drawn == gridDim.x;
    }
    __syncthreads();
    if (!is_last) return;

    float rest = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += kThreads) rest += block_sums[i];
    rest = sum_of_block(rest);
    if (threadIdx.x == 0) *total = rest;
}

// WRONG: takes the block with the highest number for the one that comes last.
__global__ void takes_the_highest_number(const float* values, std::size_t count, float* block_sums, unsigned*,
                                         float* total) {
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    float sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += stride) sum += values[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = sum;
        __threadfence();
    }
    __syncthreads();
    if (blockIdx.x != gridDim.x - 1) return;

    float rest = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += kThreads) rest += block_sums[i];
    rest = sum_of_block(rest);
    if (threadIdx.x == 0) *total = rest;
}

// WRONG: step 3 without its fences. Right on the CPU device, and most of the time on a GPU.
__global__ void has_no_fence(const float* values, std::size_t count, float* block_sums, unsigned* drawn, float* total) {
    __shared__ bool is_last;
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    float sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += stride) sum += values[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = sum;
        is_last = atomicInc(drawn, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;

    float rest = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += kThreads) rest += block_sums[i];
    rest = sum_of_block(rest);
    if (threadIdx.x == 0) *total = rest;
}

constexpr unsigned kBlocks = 7;  // of the demonstrations: few, so that all of them are resident at once
constexpr std::size_t kCount = kBlocks * kThreads;  // one float a thread
constexpr unsigned kCalls = 3;

using Kernel = void (*)(const float*, std::size_t, float*, unsigned*, float*);

// Calls a kernel several times with one counter and one array of block sums, both zero in the beginning. In call k all
// values are k, so that sums are exact, and what is left of the call before shows. Returns the totals; NaN: not
// written.
std::array<float, kCalls> totals_of_calls(Kernel kernel) {
    DeviceBuffer<float> d_values(kCount), d_block_sums(std::vector<float>(kBlocks, 0)), d_total(1);
    DeviceBuffer<unsigned> d_drawn(std::vector<unsigned>{0});
    std::array<float, kCalls> totals;
    for (unsigned call = 1; call <= kCalls; ++call) {
        d_values.upload(std::vector<float>(kCount, static_cast<float>(call)));
        d_total.fill_bytes(0xFF);
        kernel<<<kBlocks, kThreads>>>(d_values.data(), kCount, d_block_sums.data(), d_drawn.data(), d_total.data());
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

// Three calls each of the right kernel and of two wrong ones, on the CPU device in four orders of the blocks.
void show_calls(warpwise::Lesson& lesson) {
    const bool on_gpu = warpwise::Lesson::on_gpu();
    const std::vector<unsigned> seeds = on_gpu ? std::vector<unsigned>{0} : std::vector<unsigned>{0, 1, 2, 3};
    std::vector<std::vector<std::string>> rows;
    bool highest_is_wrong_somewhere = false;
    const auto add_rows = [&](const char* name, Kernel kernel) {
        std::vector<std::array<float, kCalls>> results;
        for (const unsigned seed : seeds) {
            const OrderOfSeed order(seed);
            unwatched([&] { results.push_back(totals_of_calls(kernel)); });
            rows.push_back({name, on_gpu ? "the GPU's" : seed == 0 ? "ascending" : "seed " + std::to_string(seed)});
            for (unsigned call = 1; call <= kCalls; ++call) {
                rows.back().push_back(text_of_total(results.back()[call - 1], call));
            }
        }
        return results;
    };
    for (const auto& totals : add_rows("sum_by_last_block", sum_by_last_block)) {
        lesson.expect(all_right(totals), "sum_by_last_block: right in every order and every call");
    }
    for (const auto& totals : add_rows("looks_at_the_counter", looks_at_the_counter)) {
        lesson.expect(std::isnan(totals[1]), "looks_at_the_counter: the second call writes nothing");
        if (on_gpu) continue;
        lesson.expect(totals[0] == expected_total(1), "looks_at_the_counter: right in the first call, block by block");
        lesson.expect(totals[2] == (kBlocks - 1) * kThreads * 2 + kThreads * 3,
                      "looks_at_the_counter: the third call takes six sums of the second");
    }
    for (const auto& totals : add_rows("takes_the_highest_number", takes_the_highest_number)) {
        highest_is_wrong_somewhere |= !all_right(totals);
    }
    if (!on_gpu) lesson.expect(highest_is_wrong_somewhere, "takes_the_highest_number: an order shows the mistake");
    lesson.table("Three calls in a row, " + std::to_string(kBlocks) + " blocks; call k sums values that are all k",
                 {"kernel", "order of the blocks", "call 1", "call 2", "call 3"}, rows);
}

// Counts blocks that take themselves for the last, by their ticket and by a look at the counter. With `all_draw_first`
// nobody looks before everybody has drawn. (Blocks that wait for each other: allowed for these few, all resident.)
__global__ void count_last_blocks(unsigned* drawn, unsigned* by_ticket, unsigned* by_counter, bool all_draw_first) {
    if (threadIdx.x != 0) return;
    const unsigned ticket = atomicInc(drawn, gridDim.x);
    while (all_draw_first && atomicAdd(drawn, 0u) < gridDim.x) {
    }
    if (ticket == gridDim.x - 1) atomicAdd(by_ticket, 1u);
    if (atomicAdd(drawn, 0u) == gridDim.x) atomicAdd(by_counter, 1u);
}

void show_last_blocks(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    for (const bool all_draw_first : {false, true}) {
        DeviceBuffer<unsigned> d_drawn(std::vector<unsigned>{0}), d_last(std::vector<unsigned>{0, 0});
        count_last_blocks<<<kBlocks, 32>>>(d_drawn.data(), d_last.data(), d_last.data() + 1, all_draw_first);
        warpwise::check_launch();
        const std::vector<unsigned> last = d_last.download();
        lesson.expect(last[0] == 1, "count_last_blocks: one block has the last ticket");
        lesson.expect(last[1] >= 1 && (!all_draw_first || last[1] == kBlocks),
                      "count_last_blocks: whoever looks after the last draw takes itself for the last");
        rows.push_back({all_draw_first ? "all draw before the first one looks" : "as it comes", std::to_string(last[0]),
                        std::to_string(last[1])});
    }
    lesson.table("Of " + std::to_string(kBlocks) + " blocks, how many take themselves for the last?",
                 {"order", "by the drawn ticket", "by a look at the counter"}, rows);
}

std::vector<warpwise::Mistake> mistakes_of(Kernel kernel) {
    return provoked_mistakes([&] { totals_of_calls(kernel); });
}

// What the CPU device reports of the wrong kernels, and that it reports nothing of the right ones.
void show_mistakes(warpwise::Lesson& lesson) {
    if (!warpwise::can_watch()) {
        lesson.text(
            warpwise::Lesson::on_gpu()
                ? R"(A GPU says nothing of all that. compute-sanitizer's racecheck looks at shared memory only, and a
missing fence may go unnoticed for years. The CPU device reports it: run this lesson there.)"
                : R"(This program was built without the search for mistakes; without --no-counters the lesson shows here
what it finds in the wrong kernels.)");
        return;
    }
    const std::vector<warpwise::Mistake> counter = mistakes_of(looks_at_the_counter), fence = mistakes_of(has_no_fence);
    lesson.expect(mistakes_of(sum_by_last_block).empty(), "sum_by_last_block: no mistake is found");
    lesson.expect(mistakes_of(sum_by_last_block_float4).empty(), "sum_by_last_block_float4: no mistake is found");
    lesson.expect(!counter.empty(), "looks_at_the_counter: the look at the counter is found to be a race");
    lesson.expect(!fence.empty(), "has_no_fence: the missing fence is found");
    lesson.expect(!mistakes_of(takes_the_highest_number).empty(), "takes_the_highest_number: its race is found");
    if (counter.empty() || fence.empty()) return;
    lesson.text(
        "None of that needs luck to be seen. The search for mistakes (--check) does not look at results, but asks of "
        "every two accesses what orders them. Of looks_at_the_counter it says:\n\n" +
        as_printed(counter.front()) + "\n\nand of has_no_fence, whose results were right:\n\n" +
        as_printed(fence.front()));
}

}  // namespace

void fences_and_last_block(warpwise::Lesson& lesson) {
    lesson.text(
        R"(The blocks of a grid cannot wait for each other. When their sums have to become one number, the usual way
is a second launch. The other way is a ticket: every block draws one when it is done, and the block with the last
ticket finishes the work for all.

What you will see: a sum by two launches, by one launch with tickets, and by atomic additions. Then three wrong
versions of the tickets, as they have been published, and what gives them away.

Predict: how many loads, stores and atomic operations does the one launch take more than the two? And for which sizes
will it be faster, for small arrays or for large ones?)");

    std::vector<warpwise::Step<Sum>> steps = {
        {"serial", "a loop in double, one core", serial, warpwise::StepKind::host},
        {"sum_two_launches", "block sums, then a second kernel", two_launches},
        {"sum_by_last_block", "one launch: fence, ticket, the last finishes", last_block},
        {"sum_by_atomics", "one atomic addition a block instead", atomics},
        {"sum_by_last_block_float4", "tickets, 16 bytes an access", last_block_float4},
    };
#ifndef __CPU_DEVICE__
    steps.push_back({"vendor", "cub::DeviceReduce::Sum", vendor, warpwise::StepKind::vendor});
#endif
    lesson.steps<Sum>(
        {.gpu = {std::size_t{1} << 24},
         .cpu = {std::size_t{1} << 17},
         .awkward = {{0}, {1}, {2}, {31}, {32}, {33}, {255}, {257}, {1009}, {2048}, {2049}, {4099}, {100003}}},
        steps);
    show_predictions(lesson);
    lesson.text(
        R"(The same loads and the same stores: the block sums are written and read again in both. The one launch adds
an atomic a block, and a second barrier, by which thread 0 tells the others what its ticket was. What it saves is a
launch, and that is a fixed time. Worked out from the table below, it is 1.3 to 1.5 microseconds on an H200: a sixth of
the whole for a thousand floats, and hardly a hundredth for 67 million.)");
    show_launches(lesson);

    lesson.text(
        R"(Now the wrong versions. looks_at_the_counter is from a published program: it counts up with
atomicInc(drawn, gridDim.x), forgets what that returned, and reads the counter again to see whether it is gridDim.x.
Nothing ever sets it back. takes_the_highest_number lets the block with the highest blockIdx finish.

Predict the three calls of looks_at_the_counter. The counter is 0 before the first; what is it before the second?)");
    show_calls(lesson);
    lesson.text(
        R"(atomicInc(drawn, 7) counts 0, 1 .. 7 and then goes back to 0. The first call leaves 7. In the second the
counter becomes 0, 1 .. 6 and never 7: nobody is the last, and nothing is written. In the third it begins at 6, the
first block to come makes it 7 and, if it looks at once, takes itself for the last and adds up six sums that the call
before had left. If none looks at once, nothing is written either, as it went on an H200. A test that calls it once, or
always on the same data, sees none of that.

takes_the_highest_number is right as long as blocks come in ascending order, which no GPU promises.

Suppose that the first call was right: was it only the missing reset, then? Look at what a block knows when it
compares. A ticket says how many had drawn before me. The counter says how many have drawn by now.)");
    show_last_blocks(lesson);
    lesson.text(
        R"(Between a block's draw and its look, others draw. In the worst case all blocks take themselves for the
last. Here each of them would write the same total, and only work would be wasted; but when the last one adds to a
running total, resets a counter or appends to a list, it happens several times. And where every thread looks for
itself, as in the original, some threads of a block may see 7 and others 6: a part of the block finishes, with sums
that lack the others', and waits at barriers that the others do not reach.)");
    show_mistakes(lesson);
    lesson.text(
        R"(What a fence does: __threadfence() orders this thread's writes before it and after it, as seen by all
threads of the device. It waits for nobody, and it is no barrier: whether another thread has come so far, only the
ticket tells. A fence without a ticket says nothing, and a ticket without a fence promises what may not be there yet.

Mistakes to avoid: comparing the counter instead of the ticket; never resetting it, or resetting it from outside while
another stream uses it (each stream needs a counter of its own); the fence behind the ticket instead of before it; a
fence by thread 0 for what other threads wrote, without a barrier in between; declaring the block sums
const __restrict__, so that the compiler may read them through a cache that does not look for changes; waiting in a
loop for the other blocks, which hangs as soon as there are more blocks than places.

Try next: take the fences out of sum_by_last_block, and run with and without --check. Then a small and a large size:

    memory_model fences_and_last_block --size 1Ki
    memory_model fences_and_last_block --size 64Mi)");
    if (!warpwise::Lesson::on_gpu()) {
        lesson.text(
            R"(The orders of the table are those of the seeds 0 to 3 of the CPU device; a seed for everything:

    CPU_DEVICE_SEED=3 memory_model fences_and_last_block --check)");
    }
}

}  // namespace memory_model
