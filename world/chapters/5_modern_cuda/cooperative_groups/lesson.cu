// Problem: keep the positive floats of an array, one after the other (stream compaction).
//
// Every thread finds out by itself whether its element is kept. Where the element goes
// depends on all others. The steps let larger and larger groups of threads find that out
// together: a thread by itself, the lanes that are here, a warp, a block, and the grid.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#ifndef __CPU_DEVICE__
#include <cub/device/device_select.cuh>
#endif

#include "chapters/5_modern_cuda/cooperative_groups/kernels.cuh"
#include "chapters/5_modern_cuda/cooperative_groups/wrong.cuh"
#include "chapters/5_modern_cuda/mistakes.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"
#include "common/lesson/memory.h"

namespace modern_cuda {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr unsigned kSmallestTile = 2048;  // of the single passes

// As many blocks as can be resident of each kernel that is launched with one chunk per
// block.
unsigned most_blocks() {
    return std::min(warpwise::blocks_that_fill(compact_with_grid_barrier, kThreads),
                    warpwise::blocks_that_fill(store_kept, kThreads));
}

// Floats of equal bits stand together, NaN included, and positive ones in their order.
void sort_by_bits(std::vector<float>& values) {
    std::sort(values.begin(), values.end(), [](float a, float b) {
        return std::bit_cast<std::uint32_t>(a) < std::bit_cast<std::uint32_t>(b);
    });
}

// A sum over all floats that does not depend on their order. Other floats have, but for one
// case in 2^64, another sum.
std::uint64_t sum_of_any_order(const std::vector<float>& values) {
    std::uint64_t sum = 0;
    for (const float value : values)
        sum += warpwise::random_bits(1, std::bit_cast<std::uint32_t>(value));
    return sum;
}

// The floats, what is to be kept of them, and memory for the steps.
struct Compaction {
    std::size_t count;
    std::vector<float> values;
    std::vector<float> expected;  // in the order of the array
    unsigned most = most_blocks();
    DeviceBuffer<float> d_in, d_out;
    DeviceBuffer<unsigned> d_kept{1}, d_sums;
    DeviceBuffer<Word> d_words;  // the counter of tiles, and then a word for each tile
#ifndef __CPU_DEVICE__
    DeviceBuffer<unsigned char> d_workspace;  // of the library's routine
#endif
    bool ordered = true;

    explicit Compaction(const warpwise::Size& size)
        : Compaction(warpwise::uniform<float>(size[0], 1)) {}

    explicit Compaction(std::vector<float> floats)
        : count(floats.size()),
          values(std::move(floats)),
          d_in(values),
          d_out(count),
          d_sums(most),
          d_words(warpwise::blocks_for(count, kSmallestTile) + 1) {
        for (const float value : values)
            if (value > 0) expected.push_back(value);
    }

    void poison() {
        d_out.fill_bytes(0xFF);
        d_kept.fill_bytes(0xFF);
        d_sums.fill_bytes(0xFF);
        d_words.fill_bytes(0xFF);
    }

    // The number, the floats in their order or in any, and the places after them, which
    // have to hold the poison as before. To sort very many floats takes minutes, so of
    // those only the sum is compared first.
    warpwise::Comparison compare() {
        const unsigned kept = d_kept.download()[0];
        std::vector<float> got = d_out.download();
        std::size_t beyond = 0;
        for (std::size_t i = expected.size(); i < count; ++i)
            beyond += std::isnan(got[i]) ? 0 : 1;
        got.resize(expected.size());
        if (kept != expected.size() || beyond != 0) {
            warpwise::Comparison wrong;
            wrong.note = "kept " + std::to_string(kept) + " floats, of " +
                         std::to_string(expected.size()) + "; wrote " +
                         std::to_string(beyond) + " beyond them";
            return wrong;
        }
        std::vector<float> sorted;
        const std::vector<float>* wanted = &expected;
        if (!ordered) {
            if (got.size() > (std::size_t{1} << 22) &&
                sum_of_any_order(got) == sum_of_any_order(expected)) {
                got = expected;
            } else {
                sorted = expected;
                sort_by_bits(sorted);
                sort_by_bits(got);
                wanted = &sorted;
            }
        }
        return warpwise::compare_each(
            got, expected.size(),
            [&](std::size_t i) { return static_cast<double>((*wanted)[i]); },
            {.absolute = 0});
    }

    warpwise::Work work() const {
        return {.bytes = sizeof(float) * static_cast<double>(count + expected.size()),
                .operations = static_cast<double>(count)};
    }
    static std::size_t device_bytes(const warpwise::Size& size) {
        return 2 * size[0] * sizeof(float) + size[0] / kSmallestTile * sizeof(Word) +
               (std::size_t{1} << 24);
    }
};

// Step 1, the loop on one core.
void serial(Compaction& problem) {
    std::vector<float> kept;
    for (const float value : problem.values)
        if (value > 0) kept.push_back(value);
    problem.d_kept.upload({static_cast<unsigned>(kept.size())});
    if (!kept.empty()) {
        warpwise::check(cudaMemcpy(problem.d_out.data(), kept.data(),
                                   kept.size() * sizeof(float), cudaMemcpyHostToDevice));
    }
    problem.ordered = true;
}

// ---- steps 2 to 5, a counter ------------------------------------------------------------

using WithCounter = void (*)(const float*, std::size_t, float*, unsigned*);

template <WithCounter Kernel, unsigned PerBlock>
void with_counter(Compaction& problem) {
    warpwise::check(cudaMemsetAsync(problem.d_kept.data(), 0, problem.d_kept.bytes()));
    Kernel<<<warpwise::blocks_for(problem.count, PerBlock), kThreads>>>(
        problem.d_in.data(), problem.count, problem.d_out.data(), problem.d_kept.data());
    warpwise::check_launch();
    problem.ordered = false;
}

// ---- steps 6 and 7, a barrier of all blocks ---------------------------------------------

unsigned resident_blocks(const Compaction& problem) {
    return std::min(warpwise::blocks_for(problem.count, kTile), problem.most);
}

void two_launches(Compaction& problem) {
    const unsigned blocks = resident_blocks(problem);
    count_kept<<<blocks, kThreads>>>(problem.d_in.data(), problem.count,
                                     problem.d_sums.data());
    warpwise::check_launch();
    store_kept<<<blocks, kThreads>>>(problem.d_in.data(), problem.count,
                                     problem.d_out.data(), problem.d_sums.data(),
                                     problem.d_kept.data());
    warpwise::check_launch();
    problem.ordered = true;
}

void grid_barrier(Compaction& problem) {
    const float* in = problem.d_in.data();
    float* out = problem.d_out.data();
    unsigned *sums = problem.d_sums.data(), *kept = problem.d_kept.data();
    void* arguments[] = {&in, &problem.count, &out, &sums, &kept};
    warpwise::check(cudaLaunchCooperativeKernel(compact_with_grid_barrier,
                                                dim3(resident_blocks(problem)),
                                                dim3(kThreads), arguments, 0, nullptr));
    problem.ordered = true;
}

// ---- steps 8 and 9, a single pass -------------------------------------------------------

using SinglePass = void (*)(const float*, std::size_t, float*, Word*, Word*, unsigned*);

template <SinglePass Kernel, unsigned Tile, unsigned Threads = kThreads>
void in_one_pass(Compaction& problem) {
    static_assert(Tile >= kSmallestTile);
    const unsigned tiles = warpwise::blocks_for(problem.count, Tile);
    Word* const d_words = problem.d_words.data();
    warpwise::check(cudaMemsetAsync(d_words, 0, (tiles + 1) * sizeof(Word)));
    Kernel<<<tiles, Threads>>>(problem.d_in.data(), problem.count, problem.d_out.data(),
                               d_words + 1, d_words, problem.d_kept.data());
    warpwise::check_launch();
    problem.ordered = true;
}

template <class Numbers>
void tuned(Compaction& problem) {
    in_one_pass<compact_tuned<Numbers>, Numbers::tile, Numbers::threads>(problem);
}

#ifndef __CPU_DEVICE__
struct IsPositive {
    __host__ __device__ bool operator()(float value) const { return value > 0; }
};

// What a user would call instead. Its workspace is allocated once, as its users do.
void vendor(Compaction& problem) {
    std::size_t needed = 0;
    warpwise::check(cub::DeviceSelect::If(nullptr, needed, problem.d_in.data(),
                                          problem.d_out.data(), problem.d_kept.data(),
                                          problem.count, IsPositive{}));
    if (problem.d_workspace.size() < needed)
        problem.d_workspace = DeviceBuffer<unsigned char>(needed);
    warpwise::check(cub::DeviceSelect::If(
        problem.d_workspace.data(), needed, problem.d_in.data(), problem.d_out.data(),
        problem.d_kept.data(), problem.count, IsPositive{}));
    problem.ordered = true;
}
#endif

// ---- all of them ------------------------------------------------------------------------

struct Method {
    const char* name;
    const char* change;
    void (*run)(Compaction&);
};

const std::array<Method, 8> kMethods = {{
    {"compact_by_atomics", "an atomic per element that is kept",
     with_counter<compact_by_atomics, kThreads>},
    {"compact_by_coalesced_groups", "an atomic for the lanes that keep theirs",
     with_counter<compact_by_coalesced_groups, kThreads>},
    {"compact_by_tiles", "an atomic per warp, 8 floats per thread",
     with_counter<compact_by_tiles, kTile>},
    {"compact_by_blocks", "an atomic per block, packed in shared memory",
     with_counter<compact_by_blocks, kTile>},
    {"compact_in_two_launches", "in order: count, then store", two_launches},
    {"compact_with_grid_barrier", "in order: one launch, grid.sync()", grid_barrier},
    {"compact_look_back", "in order: a single pass, blocks look back",
     in_one_pass<compact_look_back, kTile>},
    {"compact_tuned", "tuning: larger tiles, pauses", tuned<Tuned>},
}};

void expect_right(warpwise::Lesson& lesson, const std::string& what, Compaction& problem,
                  void (*run)(Compaction&)) {
    problem.poison();
    run(problem);
    const warpwise::Comparison comparison = problem.compare();
    lesson.expect(comparison.passed, what + ": " + comparison.summary());
}

// All are kept, none is kept, and what is never positive: 0, -0, and NaN.
void expect_all_and_none(warpwise::Lesson& lesson) {
    for (const std::size_t count : {std::size_t{33}, std::size_t{20011}}) {
        std::vector<float> ascending(count), never(count);
        for (std::size_t i = 0; i < count; ++i) {
            ascending[i] = static_cast<float>(i + 1);
            never[i] = i % 3 == 0 ? 0.0f : i % 3 == 1 ? -0.0f : NAN;
        }
        Compaction all(ascending), none(never);
        for (const Method& method : kMethods) {
            const std::string of = " of " + std::to_string(count);
            expect_right(lesson, std::string(method.name) + ", all" + of, all, method.run);
            expect_right(lesson, std::string(method.name) + ", none" + of, none,
                         method.run);
        }
    }
}

// ---- additions, as the lesson predicts them ---------------------------------------------

// Six tiles of 2048 floats, or two of 8192, the last of which is not full. The grids of the
// single passes are small enough for one core of the CPU device, where each tile finds the
// prefix of the tile before it at its first look. So the counts are the same in every run.
constexpr std::size_t kCounted = 6 * kTile;

void show_additions(warpwise::Lesson& lesson) {
    Compaction problem(warpwise::Size{kCounted});
    std::size_t warps_that_keep = 0;
    for (std::size_t i = 0; i < kCounted; i += 32) {
        const auto begin = problem.values.begin() + static_cast<std::ptrdiff_t>(i);
        warps_that_keep +=
            std::any_of(begin, begin + 32, [](float v) { return v > 0; }) ? 1 : 0;
    }
    struct Predicted {
        std::size_t additions;
        unsigned reads;  // of each float
        const char* order;
    };
    const std::array<Predicted, kMethods.size()> predicted = {{
        {problem.expected.size(), 1, "any"},
        {warps_that_keep, 1, "within a warp"},
        {kCounted / kPart, 1, "any"},
        {kCounted / kTile, 1, "within a block"},
        {0, 2, "of the array"},
        {0, 2, "of the array"},
        {kCounted / kTile, 1, "of the array"},
        {warpwise::ceil_div(kCounted, Tuned::tile), 1, "of the array"},
    }};
    std::vector<std::vector<std::string>> rows;
    for (std::size_t k = 0; k < kMethods.size(); ++k) {
        const std::string step = kMethods[k].name;
        rows.push_back({step, std::to_string(predicted[k].additions),
                        std::to_string(predicted[k].reads), predicted[k].order});
        problem.poison();
        const auto counts = lesson.count([&] { kMethods[k].run(problem); });
        if (!counts) continue;
        lesson.expect(problem.compare().passed, step + ": right when counted");
        const auto additions = static_cast<double>(predicted[k].additions);
        lesson.expect(counts->global_atomic.lanes == additions,
                      step + ": as many additions as predicted");
        // Besides the floats, a step may load the counts of other blocks.
        const double sectors = predicted[k].reads * kCounted * sizeof(float) / 32.0;
        lesson.expect(counts->global_load.sectors >= sectors &&
                          counts->global_load.sectors < 1.05 * sectors,
                      step + ": loads each float as often as predicted");
    }
    lesson.table({"additions", "Atomic additions for " + std::to_string(kCounted) +
                                   " floats, of which " +
                                   std::to_string(problem.expected.size()) + " are kept"},
                 {"step", "additions", "loads of a float", "order"}, rows);
}

// A grid whose barrier could never be passed is refused, and nothing runs.
void expect_refusal(warpwise::Lesson& lesson) {
    Compaction problem(warpwise::Size{33});
    problem.poison();
    const float* in = problem.d_in.data();
    float* out = problem.d_out.data();
    unsigned *sums = problem.d_sums.data(), *kept = problem.d_kept.data();
    void* arguments[] = {&in, &problem.count, &out, &sums, &kept};
    const unsigned resident =
        warpwise::blocks_that_fill(compact_with_grid_barrier, kThreads);
    const cudaError_t status =
        cudaLaunchCooperativeKernel(compact_with_grid_barrier, dim3(resident + 1),
                                    dim3(kThreads), arguments, 0, nullptr);
    lesson.expect(status == cudaErrorCooperativeLaunchTooLarge,
                  "a cooperative launch with more blocks than are resident is refused");
    (void)cudaGetLastError();  // which is that error
    lesson.expect(problem.d_kept.download()[0] == ~0u, "and nothing was written");
}

// ---- mistakes that the CPU device finds -------------------------------------------------

// Two warps run the kernel.
Mistake in_kernel(const char* name, const char* what,
                  void (*kernel)(const float*, float*, unsigned*), const char* kind) {
    const auto run = [kernel] {
        DeviceBuffer<float> d_in(warpwise::uniform<float>(64, 1)), d_out(64);
        DeviceBuffer<unsigned> d_kept(std::vector<unsigned>{0});
        kernel<<<1, 64>>>(d_in.data(), d_out.data(), d_kept.data());
        (void)cudaDeviceSynchronize();
    };
    return {name, what, run, kind};
}

const std::vector<Mistake>& mistakes() {
    static const std::vector<Mistake> all = {
        in_kernel("scan_in_branch", "lanes of a tile skip its scan", scan_in_branch,
                  "missing_lane"),
        in_kernel("group_from_before", "a group made before the branch", group_from_before,
                  "missing_lane"),
        in_kernel("block_barrier_in_branch", "block.sync() of one warp",
                  block_barrier_in_branch, "divergent_barrier"),
        in_kernel("grid_barrier_without_launch", "grid.sync() after <<<...>>>",
                  grid_barrier_without_launch, "kernel_trap"),
    };
    return all;
}

// ---- one launch against two -------------------------------------------------------------

void show_launches(warpwise::Lesson& lesson) {
    if (!lesson.measures()) {
        lesson.show_recorded("launches");
        return;
    }
    std::vector<std::vector<std::string>> rows;
    for (unsigned bits = 12; bits <= 24; bits += 3) {
        Compaction problem(warpwise::Size{std::size_t{1} << bits});
        const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
            {{[&] { two_launches(problem); }}, {[&] { grid_barrier(problem); }}, {[&] {
                 tuned<Tuned>(problem);
             }}},
            {.samples = 30, .seconds = 0.1});
        rows.push_back({"2^" + std::to_string(bits)});
        for (const warpwise::Timing& timing : timings)
            rows.back().push_back(text_of("%.1f", timing.median * 1e6));
    }
    lesson.table({"launches", "A barrier of the grid, two launches, and a single pass"},
                 {"floats", "two launches, us", "grid.sync(), us", "compact_tuned, us"},
                 rows);
}

// ---- other numbers, and other shares, on a GPU ------------------------------------------

const std::vector<Method> kTimed = {
    {"compact_by_blocks", "", with_counter<compact_by_blocks, kTile>},
    {"compact_look_back", "", in_one_pass<compact_look_back, kTile>},
    {"compact_tuned", "", tuned<Tuned>},
    {"  without a pause", "", tuned<Tuning<256, 8, 0>>},
    {"  with a pause of 500 ns", "", tuned<Tuning<256, 8, 500>>},
    {"  with 128 threads, 6 loads", "", tuned<Tuning<128, 6, 100>>},
    {"  with 128 threads, 8 loads", "", tuned<Tuning<128, 8, 100>>},
    {"  with 256 threads, 4 loads", "", tuned<Tuning<256, 4, 100>>},
    {"  with 256 threads, 6 loads", "", tuned<Tuning<256, 6, 100>>},
    {"  with 512 threads, 4 loads", "", tuned<Tuning<512, 4, 100>>},
#ifndef __CPU_DEVICE__
    {"cub::DeviceSelect", "", vendor},
#endif
};

constexpr std::size_t kSmall = std::size_t{1} << 20, kLarge = std::size_t{1} << 28;

// kLarge, or as many as the free memory has room for.
std::size_t large_count() {
    return warpwise::halve_to_fit(kLarge, kSmall, [](std::size_t count) {
        return Compaction::device_bytes({count});
    });
}

std::vector<double> measure(warpwise::Lesson& lesson, const std::vector<Method>& methods,
                            Compaction& problem) {
    std::vector<warpwise::Candidate> candidates;
    for (const Method& each : methods)
        candidates.push_back({[&each, &problem] { each.run(problem); }});
    std::vector<double> seconds;
    for (const warpwise::Timing& timing :
         warpwise::measure_in_turn(candidates, {.samples = 20, .seconds = 0.2})) {
        seconds.push_back(timing.median);
    }
    for (const Method& each : methods)
        expect_right(lesson, std::string(each.name) + ", after timing", problem, each.run);
    return seconds;
}

void show_tuning(warpwise::Lesson& lesson) {
    if (!lesson.measures()) {
        Compaction problem(warpwise::Size{20011});
        for (const Method& each : kTimed)
            expect_right(lesson, each.name, problem, each.run);
        lesson.show_recorded("tuning");
        return;
    }
    const std::size_t count = large_count();
    Compaction few(warpwise::Size{kSmall}), many(warpwise::Size{count});
    const std::vector<double> small = measure(lesson, kTimed, few),
                              large = measure(lesson, kTimed, many);
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < kTimed.size(); ++i) {
        rows.push_back({kTimed[i].name, text_of("%.1f", small[i] * 1e6),
                        text_of("%.1f", large[i] * 1e6),
                        text_of("%.0f", 1e-9 * many.work().bytes / large[i]),
                        text_of("%.3f", large.back() / large[i])});
    }
    lesson.table({"tuning", "2^20 floats, and " + std::to_string(count)},
                 {"step", "2^20, us", "large, us", "large, GB/s", "of CUB"}, rows);
}

// From few to all floats kept: the bytes to be stored, and what an atomic costs.
void show_shares(warpwise::Lesson& lesson) {
    if (!lesson.measures()) {
        lesson.show_recorded("shares");
        return;
    }
    std::vector<Method> methods(kMethods.begin(), kMethods.end());
#ifndef __CPU_DEVICE__
    methods.push_back({"cub::DeviceSelect", "", vendor});
#endif
    const std::size_t count = std::min<std::size_t>(large_count(), std::size_t{1} << 26);
    const std::array<int, 5> percents = {0, 10, 50, 90, 100};
    std::vector<std::vector<double>> seconds;
    for (const int percent : percents) {
        const float low = 0.01f * static_cast<float>(percent) - 1.0f;
        // Up to low + 1, so that `percent` of them are positive.
        Compaction problem(warpwise::uniform<float>(count, 1, low, low + 1.0f));
        seconds.push_back(measure(lesson, methods, problem));
    }
    std::vector<std::vector<std::string>> rows;
    for (std::size_t k = 0; k < methods.size(); ++k) {
        rows.push_back({methods[k].name});
        for (const std::vector<double>& of_share : seconds)
            rows.back().push_back(text_of("%.1f", of_share[k] * 1e6));
    }
    std::vector<std::string> header = {"step"};
    for (const int percent : percents)
        header.push_back(std::to_string(percent) + " % kept, us");
    lesson.table({"shares", std::to_string(count) + " floats"}, header, rows);
}

}  // namespace

void cooperative_groups(warpwise::Lesson& lesson) {
    lesson.question(
        R"(Keep the positive floats of an array, without gaps. Each thread knows whether it
keeps its element, but where the element goes depends on all others. Which threads should
find that out together: none, the lanes that are here, a warp, a block, or all blocks?)");
    lesson.predict(
        {.question = R"(Lanes 3, 7, 8, and 20 of a warp take a branch, and call
coalesced_threads() in it. What is the thread_rank() of lane 8 in that group?)",
         .answer = warpwise::Number{.value = 2},
         .because = R"(The group has only the four lanes that are in the branch. Lane 3 has
rank 0, lane 7 has rank 1, and lane 8 has rank 2.)"});
    lesson.predict(
        {.question = R"(compact_by_tiles has a warp for each 256 floats, and each warp adds
once to the counter. How many additions are these for 12288 floats?)",
         .answer = warpwise::Number{.value = 48,
                                    .unit = "additions",
                                    .shown_by = warpwise::TableCell{"additions",
                                                                    {"compact_by_tiles"},
                                                                    "additions"}},
         .because = R"(12288 / 256. With an atomic per element that is kept, it would be
about 6144.)"});
    lesson.predict(
        {.question = R"(Half of 2^28 floats are kept. Which of these steps is the fastest on
a GPU?)",
         .answer = warpwise::Fastest{{"compact_by_atomics", "compact_by_coalesced_groups",
                                      "compact_with_grid_barrier", "compact_tuned"}},
         .because = R"(It reads each float once, stores by neighboring threads, and has an
atomic operation per 8192 floats. The step with a barrier of the grid reads twice.)"});

    std::vector<warpwise::Step<Compaction>> steps = {
        {"serial", "a loop, one core", serial, warpwise::StepKind::host}};
    for (const Method& method : kMethods)
        steps.push_back({method.name, method.change, method.run});
#ifndef __CPU_DEVICE__
    steps.push_back(
        {"vendor", "cub::DeviceSelect::If", vendor, warpwise::StepKind::vendor});
#endif
    lesson.steps<Compaction>({.gpu = {kLarge},
                              .cpu = {kCounted},
                              .awkward = {{0},
                                          {1},
                                          {3},
                                          {31},
                                          {32},
                                          {33},
                                          {255},
                                          {257},
                                          {1009},
                                          {kTile - 1},
                                          {kTile},
                                          {kTile + 1},
                                          {Tuned::tile - 1},
                                          {Tuned::tile + 1},
                                          {100003}}},
                             steps);
    expect_all_and_none(lesson);
    show_additions(lesson);
    lesson.conclusion(
        R"(The larger the group that finds its places together, the fewer additions to the
one counter, and the more neighbors are stored by neighboring threads. Places that are drawn
from a counter come in any order. Who needs the order of the array has to know how many the
blocks before keep: by a barrier of the grid, and reading twice, or by looking back.)");

    lesson.question(
        R"(Steps 6 and 7 differ in one thing: a second launch, or a barrier of all blocks
within one cooperative launch. For which sizes does that matter?)");
    lesson.predict(
        {.question = R"(A GPU can have 1056 blocks of a kernel resident at once. What does
cudaLaunchCooperativeKernel do with a grid of 4096 blocks?)",
         .answer =
             warpwise::Choice{
                 .choices = {"it runs them in four turns", "it returns an error",
                             "grid.sync() waits only for the resident ones"},
                 .right = 1},
         .because = R"(A block at the barrier keeps its place in the SM, so blocks that have
not started never would. The error is cudaErrorCooperativeLaunchTooLarge.)"});
    expect_refusal(lesson);
    show_launches(lesson);
    lesson.conclusion(
        R"(A barrier of the grid needs all blocks to be resident, so the grid is no larger
than the device, and each block takes a chunk. It saves a launch, which takes the same time
for any size.)");

    lesson.question(
        R"(How large should the tile of a single pass be, how long should a lane wait before
it looks again, and how does the time depend on how much is kept? On a GPU the tables show
that beside the vendor's routine.)");
    show_tuning(lesson);
    show_shares(lesson);
    lesson.conclusion(
        R"(A larger tile means fewer tiles to look at, but more registers and more shared
memory per block. The fewer floats are kept, the fewer bytes are stored, and the fewer
additions the first steps make.)");

    lesson.question(
        R"(Each function of a group has to be called by all threads of the group. Four
kernels break such a rule: on a GPU they may hang, or give wrong results. How can these
mistakes be found?)");
    show_mistakes(lesson, "kernel", mistakes(), "scan_in_branch");
    lesson.conclusion(
        warpwise::can_instrument()
            ? R"(The search for errors knows who belongs to a group, and says who is missing
and where these threads are instead. A group is made once for all of its threads, outside of
branches, or by coalesced_threads() in the branch in which it is used.)"
            : R"(By the search for errors of the CPU device, which this program does not
have. Run this lesson there, without --no-counters.)");
}

}  // namespace modern_cuda
