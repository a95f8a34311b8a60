// Problem: three kernels that are slower than they have to be, each for another reason.
//
// Nsight Compute says what the warps of a kernel wait for: its stall reasons. The lesson
// goes from the reason to the change that removes it, three times, and shows what was
// recorded with Nsight Compute beside what the CPU device's time model says. After that it
// shows how NVTX ranges name parts of a program on a profiler's time line.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "chapters/5_modern_cuda/mistakes.h"
#include "chapters/5_modern_cuda/profiling/kernels.cuh"
#include "chapters/5_modern_cuda/profiling/ranges.cuh"
#include "chapters/5_modern_cuda/profiling/wrong.cuh"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/instrument.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/helpers/ranges.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"
#include "common/lesson/record.h"
#include "common/model/model.h"

namespace modern_cuda {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr double kEps = 6e-8;  // of float: half of the distance of two numbers near 1

// ---- the mean of many frames ------------------------------------------------------------

struct Frames {
    unsigned count;
    std::size_t pixels;
    std::vector<float> frames;
    std::vector<double> expected, magnitudes;
    DeviceBuffer<float> d_frames, d_mean;

    explicit Frames(const warpwise::Size& size)
        : count(static_cast<unsigned>(size[0])),
          pixels(size[1]),
          frames(warpwise::uniform<float>(count * pixels, 1)),
          expected(pixels),
          magnitudes(pixels),
          d_frames(frames),
          d_mean(pixels) {
        warpwise::parallel_for(pixels, [&](std::size_t begin, std::size_t end) {
            for (unsigned k = 0; k < count; ++k) {
                for (std::size_t i = begin; i < end; ++i) {
                    expected[i] += frames[k * pixels + i];
                    magnitudes[i] += std::fabs(frames[k * pixels + i]);
                }
            }
            for (std::size_t i = begin; i < end; ++i) expected[i] /= count;
        });
    }

    void poison() { d_mean.fill_bytes(0xFF); }
    warpwise::Comparison compare() {
        double most = 0;
        for (const double magnitude : magnitudes) most = std::max(most, magnitude);
        const double absolute = warpwise::sum_tolerance(count, kEps, most) / count;
        return warpwise::compare(d_mean.download(), expected, {.absolute = absolute});
    }
    warpwise::Work work() const {
        return {.bytes = sizeof(float) * static_cast<double>((count + 1) * pixels),
                .operations = static_cast<double>(count * pixels)};
    }
    static std::size_t device_bytes(const warpwise::Size& size) {
        return (size[0] + 1) * size[1] * sizeof(float);
    }
};

using OfFrames = void (*)(const float*, unsigned, std::size_t, float*);

template <OfFrames Kernel>
void mean_by(Frames& problem) {
    Kernel<<<warpwise::blocks_for(problem.pixels, kThreads), kThreads>>>(
        problem.d_frames.data(), problem.count, problem.pixels, problem.d_mean.data());
    warpwise::check_launch();
}

// ---- a pulse in a signal ----------------------------------------------------------------

struct Signal {
    std::size_t count;
    std::vector<float> signal, pulse;
    std::vector<double> expected;
    DeviceBuffer<float> d_signal, d_pulse, d_out;

    explicit Signal(const warpwise::Size& size)
        : count(size[0]),
          signal(warpwise::uniform<float>(count, 2)),
          pulse(warpwise::uniform<float>(kPulse, 3)),
          expected(count),
          d_signal(signal),
          d_pulse(pulse),
          d_out(count) {
        warpwise::parallel_for(count, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const std::size_t taps = std::min<std::size_t>(kPulse, count - i);
                double sum = 0;
                for (std::size_t k = 0; k < taps; ++k)
                    sum += static_cast<double>(pulse[k]) * signal[i + k];
                expected[i] = sum;
            }
        });
    }

    void poison() { d_out.fill_bytes(0xFF); }
    warpwise::Comparison compare() {
        double most = 0;  // of the samples the largest is 1
        for (const float sample : pulse) most += std::fabs(sample);
        const double absolute = warpwise::sum_tolerance(2 * kPulse, kEps, most);
        return warpwise::compare(d_out.download(), expected, {.absolute = absolute});
    }
    warpwise::Work work() const {
        return {.bytes = sizeof(float) * static_cast<double>(2 * count),
                .operations = 2.0 * kPulse * static_cast<double>(count)};
    }
    static std::size_t device_bytes(const warpwise::Size& size) {
        return (2 * size[0] + kPulse) * sizeof(float);
    }
};

using OfSignal = void (*)(const float*, std::size_t, const float*, float*);

template <OfSignal Kernel, unsigned Places>
void match_by(Signal& problem) {
    Kernel<<<warpwise::blocks_for(problem.count, Places * kThreads), kThreads>>>(
        problem.d_signal.data(), problem.count, problem.d_pulse.data(),
        problem.d_out.data());
    warpwise::check_launch();
}

// ---- rows that add up to one ------------------------------------------------------------

struct Rows {
    std::size_t rows, cols;
    std::vector<float> matrix;
    std::vector<double> sums;
    DeviceBuffer<float> d_in, d_out;

    explicit Rows(const warpwise::Size& size)
        : rows(size[0]),
          cols(size[1]),
          matrix(warpwise::uniform<float>(rows * cols, 4, 0.0f, 1.0f)),
          sums(rows),
          d_in(matrix),
          d_out(rows * cols) {
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t col = 0; col < cols; ++col)
                sums[row] += matrix[row * cols + col];
    }

    void poison() { d_out.fill_bytes(0xFF); }
    warpwise::Comparison compare() {
        const double relative = warpwise::sum_tolerance(cols, kEps, 1) + 4 * kEps;
        return warpwise::compare_each(
            d_out.download(), rows * cols,
            [&](std::size_t i) { return matrix[i] / sums[i / cols]; },
            {.relative = relative});
    }
    warpwise::Work work() const {
        return {.bytes = 2 * sizeof(float) * static_cast<double>(rows * cols),
                .operations = 2 * static_cast<double>(rows * cols)};
    }
    static std::size_t device_bytes(const warpwise::Size& size) {
        return 2 * size[0] * size[1] * sizeof(float);
    }
};

using OfRows = void (*)(const float*, std::size_t, float*);

template <OfRows Kernel>
void scale_by(Rows& problem) {
    if (problem.rows * problem.cols == 0) return;
    Kernel<<<static_cast<unsigned>(problem.rows), kRowThreads>>>(
        problem.d_in.data(), problem.cols, problem.d_out.data());
    warpwise::check_launch();
}

// ---- what each multiplication costs in shared memory ------------------------------------

void show_wavefronts(warpwise::Lesson& lesson) {
    Signal problem(warpwise::Size{20000});
    std::vector<std::vector<std::string>> rows;
    const auto add = [&](const char* kernel, unsigned places, void (*run)(Signal&)) {
        const auto counts = lesson.count([&] { run(problem); });
        if (!counts) return;
        const std::size_t per_block = std::size_t{places} * kThreads;
        const double multiplications =  // of a warp, for sixteen of each lane
            static_cast<double>(warpwise::ceil_div(problem.count, per_block) * per_block) *
            kPulse / 32 / 16;
        rows.push_back({kernel,
                        text_of("%.0f", counts->shared_load.requests / multiplications),
                        text_of("%.0f", counts->shared_load.wavefronts / multiplications)});
    };
    add("match_one", 1, match_by<match_one, 1>);
    add("match_four", 4, match_by<match_four, 4>);
    if (rows.empty()) return;
    lesson.table({"wavefronts", "Shared memory, for sixteen multiplications of a warp"},
                 {"kernel", "loads", "wavefronts"}, rows);
}

// ---- what the time model says, and what was recorded ------------------------------------

struct Profiled {
    const char* kernel;
    std::function<void()> run;
};

// The kernels at sizes that the CPU device counts in about a second, but with enough blocks
// for a whole H200.
std::vector<Profiled> profiled() {
    static Frames frames(warpwise::Size{320, 65536});
    static Signal signal(warpwise::Size{std::size_t{1} << 20});
    static Rows rows(warpwise::Size{2112, 4096});
    return {
        {"mean_in_turn", [] { mean_by<mean_in_turn>(frames); }},
        {"mean_of_sixteen", [] { mean_by<mean_of_sixteen>(frames); }},
        {"match_one", [] { match_by<match_one, 1>(signal); }},
        {"match_four", [] { match_by<match_four, 4>(signal); }},
        {"one_thread_adds", [] { scale_by<one_thread_adds>(rows); }},
        {"tree_adds", [] { scale_by<tree_adds>(rows); }},
        {"warps_add", [] { scale_by<warps_add>(rows); }},
    };
}

// Of Nsight Compute, by docs/scripts/record_ncu.mjs.
const warpwise::Record& of_profiler() {
    static const warpwise::Record record =
        warpwise::Record::read(warpwise::recorded_folder() + "/ncu_h200.json", "profiling");
    return record;
}

std::string recorded_by_profiler() {
    return "recorded on one " + of_profiler().device() + " with Nsight Compute, " +
           of_profiler().date();
}

void show_table_of_profiler(warpwise::Lesson& lesson, const std::string& name) {
    const warpwise::RecordedTable* const table = of_profiler().table(name);
    if (table == nullptr) return;
    lesson.table({name, table->title, recorded_by_profiler()}, table->header, table->rows);
}

// The stall reason with the most cycles, as it is recorded: "barrier".
std::string largest_stall(const std::string& kernel) {
    const warpwise::RecordedTable* const table = of_profiler().table("stalls");
    if (table == nullptr) return "-";
    std::string largest = "-";
    double most = 0;
    for (const std::string& reason : table->header) {
        if (reason == "all") continue;
        const auto cycles = of_profiler().number("stalls", {kernel}, reason);
        if (!cycles || *cycles <= most) continue;
        most = *cycles;
        largest = reason;
    }
    return largest;
}

void show_limits(warpwise::Lesson& lesson) {
    if (!warpwise::can_instrument()) return;
    const warpwise::model::Gpu gpu = warpwise::model::load_gpu("H200");
    std::vector<std::vector<std::string>> rows;
    for (const Profiled& each : profiled()) {
        const warpwise::Instrumentation not_for_mistakes({});
        const std::vector<warpwise::LaunchCounts> launches =
            warpwise::count_launches(each.run, {.blocks = 32, .lines = false});
        if (launches.size() != 1 || !launches[0].facts.known) continue;
        const warpwise::model::LaunchFacts& facts = launches[0].facts;
        const warpwise::model::Estimate estimate =
            warpwise::model::estimate(facts, gpu, {.cold_caches = true});
        rows.push_back({each.kernel, text_of("%.0f", 1e6 * estimate.seconds),
                        warpwise::model::short_name_of(estimate.limiter),
                        text_of("%.0f %%", 100 * estimate.share),
                        text_of("%.0f", estimate.bytes_in_flight / 1024),
                        text_of("%.1f", facts.longest_over_average),
                        largest_stall(each.kernel)});
    }
    lesson.table({"limits", "What limits each kernel: the time model of the CPU device"},
                 {"kernel", "~ us on an H200", "~ limited by", "~ share of the time",
                  "~ KiB in flight per SM", "longest warp / average", "recorded stall"},
                 rows);
}

// ---- ranges of NVTX ---------------------------------------------------------------------

struct WithRanges {
    const char* name;
    void (*run)(Job&);
    const char* range;    // one that the table shows
    std::size_t kernels;  // in it
    bool ends;
};

constexpr WithRanges kWithRanges[] = {
    {"scoped_ranges", scoped_ranges, "compute", 2, true},
    {"range_without_name", range_without_name, "compute", 0, true},
    {"range_never_ended", range_never_ended, "compute", 2, false},
    {"range_ended_twice", range_ended_twice, "step", 0, true},
};

void show_ranges(warpwise::Lesson& lesson) {
    if (!warpwise::can_instrument()) {
        for (const WithRanges& each : kWithRanges) {
            if (!each.ends) continue;
            Job job;
            each.run(job);
        }
        return;
    }
    std::vector<std::vector<std::string>> rows;
    for (const WithRanges& each : kWithRanges) {
        Job job;
        const warpwise::Instrumentation instrumenting({.diagnostics = true});
        const warpwise::RangeLog log = warpwise::log_ranges_during([&] { each.run(job); });
        if (!each.ends) nvtxRangePop();  // for the programs after it
        bool as_expected = false;
        for (const warpwise::Range& range : log.ranges) {
            std::size_t kernels = 0, copies = 0, waits = 0;
            for (std::size_t i = range.first_call; i < range.end_call; ++i) {
                const warpwise::ApiCall& call = log.calls[i];
                kernels += call.launch != 0 ? 1 : 0;
                copies += call.bytes > 0 ? 1 : 0;
                waits += call.waits ? 1 : 0;
            }
            rows.push_back({each.name, range.name, std::to_string(range.level),
                            std::to_string(copies), std::to_string(kernels),
                            std::to_string(waits), range.has_ended ? "yes" : "no"});
            if (range.name == each.range)
                as_expected = kernels == each.kernels && range.has_ended == each.ends;
        }
        lesson.expect(as_expected, std::string(each.name) + ": its ranges are found");
    }
    lesson.table({"ranges", "Calls of the host inside of each range"},
                 {"program", "range", "level", "copies", "launches", "waits", "ended"},
                 rows);
}

// ---- mistakes that the CPU device finds -------------------------------------------------

template <class Launch>
Mistake mistake(const char* kernel, const char* what, const char* kind, std::size_t in,
                const Launch& launch) {
    const auto run = [in, launch] {
        DeviceBuffer<float> d_in(warpwise::uniform<float>(in, 5, 0.5f, 1.0f)), d_out(64);
        launch(d_in.data(), d_out.data());
        (void)cudaDeviceSynchronize();
    };
    return {kernel, what, run, kind};
}

std::vector<Mistake> mistakes() {
    return {
        mistake("no_remainder", "twenty frames, and loads of sixteen", "out_of_bounds",
                20 * 64,
                [](const float* in, float* out) { no_remainder<<<1, 64>>>(in, 20, out); }),
        mistake("tile_too_short", "no samples beyond those of the block",
                "uninitialized_read", 64,
                [](const float* in, float* out) { tile_too_short<<<1, 64>>>(in, out); }),
        mistake("barrier_removed", "sums of other warps, without a barrier", "data_race",
                64,
                [](const float* in, float* out) { barrier_removed<<<1, 64>>>(in, out); }),
        mistake(
            "only_busy_warps_wait", "a barrier in a branch", "divergent_barrier", 64,
            [](const float* in, float* out) { only_busy_warps_wait<<<1, 64>>>(in, out); }),
    };
}

}  // namespace

void profiling(warpwise::Lesson& lesson) {
    lesson.question(
        R"(An image of 256 x 256 pixels was taken 4096 times. Each thread adds up one
pixel. Nsight Compute says that the warps wait for long_scoreboard, the answer of a load,
and that device memory is busy for a part of the time only. What has to change?)");
    lesson.predict(
        {.question =
             R"(Warps wait for loads (long_scoreboard), and device memory is far from
busy. Which of these changes can help?)",
         .answer =
             warpwise::Choice{.choices = {"more loads in flight per thread",
                                          "fewer instructions", "a tile in shared memory"},
                              .right = 0},
         .because = R"(Memory that is not busy can take more requests. Each byte is used
once, so a tile in shared memory saves no load, and the warps do not wait for
instructions.)"});
    lesson.steps<Frames>({.gpu = {4096, 65536},
                          .cpu = {64, 4096},
                          .awkward = {{1, 0},
                                      {1, 1},
                                      {4, 31},
                                      {15, 32},
                                      {16, 33},
                                      {17, 255},
                                      {31, 257},
                                      {33, 1009}}},
                         {{"mean_in_turn", "a loop over the frames", mean_by<mean_in_turn>},
                          {"mean_of_sixteen", "sixteen loads in flight per thread",
                           mean_by<mean_of_sixteen>}});
    lesson.conclusion(
        R"(long_scoreboard says that warps wait for memory. It does not say whether memory
is slow to answer or has too much to do. How busy device memory is says that. If it is not
busy, have more bytes in flight. If it is, load fewer bytes.)");

    lesson.question(
        R"(A receiver looks for a pulse of 128 samples in a signal. Signal and pulse are
in shared memory, global memory has hardly anything to do, and the warps wait for
mio_throttle: the queue of instructions for shared memory is full. What has to change?)");
    lesson.predict(
        {.question = R"(A thread of match_one loads two numbers from shared memory for
each multiplication, 32 for sixteen. A thread of match_four computes four neighboring
places, and loads four numbers at a time. How many loads does it need for sixteen
multiplications?)",
         .answer =
             warpwise::Number{
                 .value = 2,
                 .unit = "loads",
                 .shown_by = warpwise::TableCell{"wavefronts", {"match_four"}, "loads"}},
         .because = R"(Four numbers of the pulse and four places make sixteen
multiplications. They need seven neighboring samples, of which four are in registers
already.)"});
    lesson.steps<Signal>(
        {.gpu = {std::size_t{1} << 24},
         .cpu = {20000},
         .awkward = {{0},
                     {1},
                     {2},
                     {31},
                     {127},
                     {128},
                     {129},
                     {255},
                     {257},
                     {1009},
                     {1023},
                     {1025},
                     {4099}}},
        {{"match_one", "one place per thread", match_by<match_one, 1>},
         {"match_four", "four places per thread, in registers", match_by<match_four, 4>}});
    show_wavefronts(lesson);
    lesson.conclusion(
        R"(Shared memory delivers one wavefront per cycle and SM. What has been loaded
should be used several times, from registers. The same change helps wherever a warp loads
about as often as it computes, in a matrix product for example.)");

    lesson.question(
        R"(Each row of a matrix is divided by its sum. A block of 1024 threads has a row,
and thread 0 adds up the sums of the others. The warps wait for barrier. Does it help to
have fewer barriers?)");
    lesson.predict(
        {.question = R"(tree_adds stores 1024 sums, and halves their number ten times.
There is a barrier before each halving, and one at the end. How many barriers does a warp
pass? (one_thread_adds has two.))",
         .answer = warpwise::Number{.value = 11,
                                    .unit = "barriers",
                                    .shown_by = warpwise::barriers_per_warp("tree_adds")},
         .because = "Ten before the halvings, and the last one before all threads read."});
    lesson.predict(
        {.question = R"(one_thread_adds has 2 barriers, tree_adds 11, and warps_add 1.
Which is the fastest on a GPU, for rows of 4096 floats?)",
         .answer = warpwise::Fastest{{"one_thread_adds", "tree_adds", "warps_add"}},
         .because = R"(What costs is how long the warps wait at a barrier, and that is the
work of the slowest thread before it.)"});
    lesson.steps<Rows>(
        {.gpu = {32768, 4096},
         .cpu = {4, 4096},
         .awkward = {{0, 5},
                     {3, 0},
                     {1, 1},
                     {3, 31},
                     {2, 32},
                     {5, 33},
                     {2, 1023},
                     {3, 1024},
                     {2, 1025},
                     {7, 1009},
                     {2, 3001}}},
        {{"one_thread_adds", "thread 0 adds 1024 sums", scale_by<one_thread_adds>},
         {"tree_adds", "a tree in shared memory", scale_by<tree_adds>},
         {"warps_add", "shuffles, and one barrier", scale_by<warps_add>}});
    lesson.conclusion(
        R"(A barrier lasts as long as the slowest warp needs to come to it. The number of
barriers says little. Look for the code between two barriers that only a few threads
execute, and share its work out.)");

    lesson.question(
        R"(A profiler's report is for one kernel on one GPU. The CPU device has no clock,
but it has counts and a time model. Do the model's limits lead to the same changes as the
stall reasons of Nsight Compute?)");
    lesson.predict(
        {.question =
             "not_selected is the largest stall reason of a kernel. What does it say?",
         .answer = warpwise::Choice{.choices = {"there are too few warps",
                                                "several warps were ready at a time",
                                                "the warps wait for memory"},
                                    .right = 1},
         .because = R"(A scheduler issues one instruction per cycle. If several warps are
ready, it takes one of them, and the others are not selected. There are enough warps.)"});
    show_limits(lesson);
    show_table_of_profiler(lesson, "stalls");
    show_table_of_profiler(lesson, "figures");
    if (!of_profiler()) lesson.text("Nothing has been recorded with Nsight Compute yet.");
    lesson.conclusion(
        R"(The model tells limits of throughput and too few bytes in flight. It does not
follow warps that wait for another warp. For these, look how much longer the longest warp
takes than the average one. A profiler tells what warps really waited for.)");

    lesson.question(
        R"(A time line with hundreds of launches needs names. An NVTX range gives a name
to a part of the program. Four programs upload, compute, and download. Three have a
mistake in their ranges. What is inside of which range?)");
    lesson.predict(
        {.question =
             R"(nvtx3::scoped_range("compute"); stands alone before two launches. How many
of the launches are in the range?)",
         .answer = warpwise::Number{.value = 0,
                                    .unit = "launches",
                                    .shown_by = warpwise::TableCell{"ranges",
                                                                    {"range_without_name",
                                                                     "compute"},
                                                                    "launches"}},
         .because =
             R"(It is a temporary object, which is destroyed at the semicolon. Give it a
name: const nvtx3::scoped_range range("compute");)"});
    show_ranges(lesson);
    lesson.conclusion(
        R"(Let an object with a name end the range. A range tells what the host did in it.
A launch returns at once, so its kernel may run after the range has ended: Nsight Systems
shows that, too, in a row of the GPU's own.)");

    lesson.question(
        R"(Who removes a stall changes loads, tiles, and barriers, and makes mistakes
there. Four kernels have one each. How can these mistakes be found?)");
    show_mistakes(lesson, "kernel", mistakes(), "barrier_removed");
    lesson.conclusion(
        warpwise::can_instrument()
            ? R"(Run the search for errors after each change, before you profile again. A
kernel that leaves out a part of its work is fast, and its report means nothing.)"
            : R"(By the search for errors of the CPU device, which this program does not
have. Run this lesson there, without --no-counters.)");
}

}  // namespace modern_cuda
