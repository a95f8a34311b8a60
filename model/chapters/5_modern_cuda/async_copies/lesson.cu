// Problem: how rough is a signal in each window of 256 floats?
//
// The sum of the squares of the second differences takes each float three times, so a tile
// is copied to shared memory first. The steps differ in how it gets there, and in what the
// block does meanwhile: it waits, it works on another tile, or one of its warps does
// nothing but copy.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cstddef>
#include <string>
#include <vector>

#include "chapters/2_memory_model/provoked.h"
#include "chapters/5_modern_cuda/async_copies/kernels.cuh"
#include "chapters/5_modern_cuda/async_copies/wrong.cuh"
#include "chapters/5_modern_cuda/mistakes.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/helpers/read_only.cuh"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"
#include "common/lesson/memory.h"

namespace modern_cuda {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

// The square of the second difference at i; 0 at both ends of the array.
template <class T>
T square_of_bend(const std::vector<float>& values, std::size_t i) {
    if (i == 0 || i + 1 >= values.size()) return 0;
    const T bend = T{values[i - 1]} - 2 * T{values[i]} + T{values[i + 1]};
    return bend * bend;
}

template <class T>
T roughness_of(const std::vector<float>& values, std::size_t window) {
    const std::size_t begin = window * kWindow;
    T sum = 0;
    for (std::size_t i = begin; i < std::min(begin + kWindow, values.size()); ++i)
        sum += square_of_bend<T>(values, i);
    return sum;
}

// The signal, its roughness in double, and memory for the steps.
struct Signal {
    std::size_t count;
    std::vector<float> values;
    std::vector<double> expected;  // by window
    DeviceBuffer<float> d_in, d_out;
    DeviceBuffer<unsigned> d_never_written{1};
    unsigned most_blocks = 0;  // that a launch may have; 0: as many as are resident

    explicit Signal(const warpwise::Size& size)
        : count(size[0]),
          values(warpwise::uniform<float>(count, 1)),
          expected(warpwise::ceil_div(count, kWindow)),
          d_in(values),
          d_out(expected.size()) {
        const std::size_t parts = warpwise::parallel_parts(expected.size());
        warpwise::parallel_for_parts(
            expected.size(), parts, [&](std::size_t, std::size_t begin, std::size_t end) {
                for (std::size_t window = begin; window < end; ++window)
                    expected[window] = roughness_of<double>(values, window);
            });
    }

    void poison() { d_out.fill_bytes(0xFF); }

    // A difference of three floats of magnitude 1 is wrong by a few roundings, and a sum of
    // 256 squares by a little more than the square root of as many.
    warpwise::Comparison compare() {
        return warpwise::compare(
            d_out.download(), expected,
            {.absolute = 64 * FLT_EPSILON, .relative = 128 * FLT_EPSILON});
    }
    warpwise::Work work() const {
        return {.bytes = sizeof(float) * static_cast<double>(count + expected.size()),
                .operations = 6.0 * static_cast<double>(count)};
    }
    static std::size_t device_bytes(const warpwise::Size& size) {
        return (size[0] + size[0] / kWindow) * sizeof(float) + 4096;
    }
};

// Step 1, a loop on one core.
void serial(Signal& signal) {
    std::vector<float> out(signal.expected.size());
    for (std::size_t window = 0; window < out.size(); ++window)
        out[window] = roughness_of<float>(signal.values, window);
    if (out.empty()) return;
    warpwise::check(cudaMemcpy(signal.d_out.data(), out.data(), out.size() * sizeof(float),
                               cudaMemcpyHostToDevice));
}

using Kernel = void (*)(const float*, std::size_t, float*);

// As many blocks as are resident, unless there are fewer tiles.
template <Kernel kernel, unsigned Threads, unsigned Tile>
void launch(Signal& signal, std::size_t shared_bytes = 0) {
    static const unsigned resident =
        warpwise::blocks_that_fill(kernel, Threads, shared_bytes);
    const std::size_t tiles = std::max<std::size_t>(1, tiles_of(signal.count, Tile));
    std::size_t blocks = std::min<std::size_t>(tiles, resident);
    if (signal.most_blocks > 0) blocks = std::min<std::size_t>(blocks, signal.most_blocks);
    kernel<<<static_cast<unsigned>(blocks), Threads, shared_bytes>>>(
        signal.d_in.data(), signal.count, signal.d_out.data());
    warpwise::check_launch();
}

template <Kernel kernel, unsigned Threads = kThreads>
void with(Signal& signal) {
    launch<kernel, Threads, kTile>(signal);
}

template <class Numbers>
void tuned(Signal& signal) {
    // Only an opt-in lets a block have more than 48 KiB of dynamic shared memory.
    static const bool allowed = [] {
        warpwise::check(cudaFuncSetAttribute(windows_tuned<Numbers>,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             static_cast<int>(Numbers::shared_bytes)));
        return true;
    }();
    (void)allowed;
    launch<windows_tuned<Numbers>, kThreads + 32, Numbers::tile>(signal,
                                                                 Numbers::shared_bytes);
}

// Threads per block of the steps with a producer warp.
constexpr unsigned kWithProducer = kThreads + 32;

struct Method {
    const char* name;
    const char* change;
    void (*run)(Signal&);
    unsigned (*resident)();        // blocks, on the whole device
    unsigned tiles_in_flight;      // of a block, while it computes
    unsigned floats;               // of a tile
    unsigned barriers;             // of a block, per tile
    unsigned barriers_before = 0;  // and once
};

template <Kernel kernel, unsigned Threads>
unsigned resident_blocks() {
    return warpwise::blocks_that_fill(kernel, Threads);
}
template <class Numbers>
unsigned resident_tuned() {
    return warpwise::blocks_that_fill(windows_tuned<Numbers>, kWithProducer,
                                      Numbers::shared_bytes);
}

const std::array<Method, 7> kMethods = {{
    {"windows_through_registers", "a tile at a time, through registers",
     with<windows_through_registers>, resident_blocks<windows_through_registers, kThreads>,
     0, kTile, 2},
    {"windows_memcpy_async", "the copy bypasses registers", with<windows_memcpy_async>,
     resident_blocks<windows_memcpy_async, kThreads>, 0, kTile, 2},
    {"windows_two_stages", "the next tile in flight meanwhile", with<windows_pipeline<2>>,
     resident_blocks<windows_pipeline<2>, kThreads>, 1, kTile, 1},
    {"windows_four_stages", "three tiles in flight meanwhile", with<windows_pipeline<4>>,
     resident_blocks<windows_pipeline<4>, kThreads>, 3, kTile, 1},
    {"windows_producer_warp", "a warp that only copies",
     with<windows_producer_warp<4>, kWithProducer>,
     resident_blocks<windows_producer_warp<4>, kWithProducer>, 3, kTile, 0, 1},
    {"windows_tuned", "tuning: larger tiles, 2 stages", tuned<Tuned>, resident_tuned<Tuned>,
     Tuned::stages - 1, Tuned::tile, 0, 1},
    {"windows_wide_reads", "16 bytes per read from shared memory", tuned<WideReads>,
     resident_tuned<WideReads>, WideReads::stages - 1, WideReads::tile, 0, 1},
}};

void expect_right(warpwise::Lesson& lesson, const std::string& what, Signal& signal,
                  void (*run)(Signal&)) {
    signal.poison();
    run(signal);
    const warpwise::Comparison comparison = signal.compare();
    lesson.expect(comparison.passed, what + ": " + comparison.summary());
}

// ---- barriers and bytes, as the lesson predicts them ------------------------------------

// Two blocks share twelve tiles of 2048 floats, or six of 4096.
constexpr std::size_t kCounted = 12 * kTile;

void show_rounds(warpwise::Lesson& lesson) {
    Signal signal(warpwise::Size{kCounted});
    signal.most_blocks = 2;
    std::vector<std::vector<std::string>> rows;
    for (const Method& method : kMethods) {
        const std::size_t tiles = tiles_of(kCounted, method.floats);
        const std::size_t barriers = method.barriers_before + method.barriers * tiles / 2;
        // Each tile but the first has a halo before it, each but the last one after.
        const std::size_t floats = kCounted + 2 * kHalo * (tiles - 1);
        rows.push_back({method.name, std::to_string(tiles), std::to_string(barriers),
                        std::to_string(floats * sizeof(float) / 32)});
        signal.poison();
        const auto counts = lesson.count([&] { method.run(signal); });
        if (!counts) continue;
        const std::string step = method.name;
        lesson.expect(signal.compare().passed, step + ": right when counted");
        const double warps = 2.0 * (method.barriers == 0 ? kWithProducer : kThreads) / 32;
        lesson.expect(counts->barriers == warps * static_cast<double>(barriers),
                      step + ": as many barriers as predicted");
        lesson.expect(
            counts->global_load.bytes == static_cast<double>(floats * sizeof(float)),
            step + ": copies as many bytes as predicted");
        lesson.expect(counts->shared().conflicts() == 0, step + ": no bank conflicts");
        lesson.expect(counts->shared_store.bytes == counts->global_load.bytes,
                      step + ": a byte to shared memory for each one copied");
    }
    lesson.table({"rounds", std::to_string(kCounted) + " floats, copied by two blocks"},
                 {"step", "tiles", "barriers per warp", "sectors copied"}, rows);
}

void show_bytes_in_flight(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    for (const Method& method : kMethods) {
        const unsigned blocks = method.resident() / warpwise::multiprocessors();
        const unsigned kib = method.tiles_in_flight * method.floats / 256;
        rows.push_back({method.name, std::to_string(method.tiles_in_flight),
                        std::to_string(kib), std::to_string(blocks),
                        std::to_string(kib * blocks)});
    }
    lesson.table({"in_flight", "In flight while a block computes"},
                 {"step", "tiles", "KiB per block", "blocks per SM", "KiB per SM"}, rows);
}

// ---- mistakes that the CPU device finds -------------------------------------------------

Mistake in_kernel(const char* name, const char* what, void (*kernel)(const float*, float*),
                  const char* kind) {
    const auto run = [kernel] {
        // In another order, a thread may come to a barrier before init().
        const ::memory_model::OrderOfSeed ascending(0);
        DeviceBuffer<float> d_in(warpwise::uniform<float>(128, 1)), d_out(128);
        kernel<<<1, 64>>>(d_in.data(), d_out.data());
        (void)cudaDeviceSynchronize();
    };
    return {name, what, run, kind};
}

const std::vector<Mistake>& mistakes() {
    static const std::vector<Mistake> all = {
        in_kernel("barrier_instead_of_wait", "__syncthreads() instead of a wait",
                  barrier_instead_of_wait, "data_race"),
        in_kernel("wait_without_barrier", "waits for its own copies only",
                  wait_without_barrier, "data_race"),
        in_kernel("wait_for_the_other_stage", "one stage too few", wait_for_the_other_stage,
                  "data_race"),
        in_kernel("copy_into_a_tile_in_use", "no barrier before the next copy",
                  copy_into_a_tile_in_use, "data_race"),
        in_kernel("too_few_arrivals", "32 of 64 threads arrive", too_few_arrivals,
                  "missing_arrival"),
        in_kernel("arrive_before_init", "no barrier after init()", arrive_before_init,
                  "data_race"),
    };
    return all;
}

// ---- read bandwidth, and other numbers, on a GPU ----------------------------------------

// Read bandwidth: reads the array and does nothing else.
template <unsigned Loads>
void read_all(Signal& signal) {
    warpwise::read_only<Loads>(signal.d_in.data(), signal.d_in.data() + signal.count / 2,
                               signal.d_in.bytes() / 2, signal.d_never_written.data());
}

struct Timed {
    const char* name;
    void (*run)(Signal&);
    std::size_t shared_bytes = 0;  // dynamic, of a block
};

template <unsigned Stages, unsigned Windows, unsigned Off = 0, bool Wide = false>
Timed numbers(const char* name) {
    using Numbers = Tuning<Stages, Windows, Off, Wide>;
    return {name, tuned<Numbers>, Numbers::shared_bytes};
}

std::vector<Timed> timed() {
    std::vector<Timed> all;
    for (const Method& method : kMethods) all.push_back({method.name, method.run});
    for (Timed& each : all)
        if (each.run == tuned<Tuned> || each.run == tuned<WideReads>)
            each.shared_bytes = Tuned::shared_bytes;
    all.push_back({"  pipeline of 3 stages", with<windows_pipeline<3>>});
    all.push_back({"  producer, 2 stages", with<windows_producer_warp<2>, kWithProducer>});
    all.push_back({"  producer, 3 stages", with<windows_producer_warp<3>, kWithProducer>});
    all.push_back(numbers<2, 2, 4>("  tuned, buffers 16 bytes off"));
    all.push_back(numbers<2, 2, 16>("  tuned, buffers 64 bytes off"));
    all.push_back(numbers<3, 2>("  tuned, 3 stages of 16 KiB"));
    all.push_back(numbers<4, 2>("  tuned, 4 stages of 16 KiB"));
    all.push_back(numbers<6, 1>("  tuned, 6 stages of 8 KiB"));
    all.push_back(numbers<2, 4>("  tuned, 2 stages of 32 KiB"));
    all.push_back(numbers<3, 4>("  tuned, 3 stages of 32 KiB"));
    all.push_back(numbers<3, 2, 0, true>("  wide, 3 stages of 16 KiB"));
    all.push_back(numbers<4, 2, 0, true>("  wide, 4 stages of 16 KiB"));
    all.push_back(numbers<4, 1, 0, true>("  wide, 4 stages of 8 KiB"));
    all.push_back(numbers<6, 1, 0, true>("  wide, 6 stages of 8 KiB"));
    all.push_back(numbers<2, 4, 0, true>("  wide, 2 stages of 32 KiB"));
    all.push_back(numbers<3, 4, 0, true>("  wide, 3 stages of 32 KiB"));
    all.push_back({"read, 4 loads", read_all<4>});
    all.push_back({"read, 8 loads", read_all<8>});
    return all;
}
bool only_reads(const std::string& name) { return name.starts_with("read"); }

// Whether a block may have as much shared memory: an older GPU has less.
bool fits(const Timed& each) {
    int device = 0, most = 0;
    warpwise::check(cudaGetDevice(&device));
    warpwise::check(
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    return each.shared_bytes + 1024 <= static_cast<std::size_t>(most);
}

constexpr std::size_t kLarge = std::size_t{1} << 28;

// kLarge, or as many as the free memory has room for.
std::size_t large_count() {
    return warpwise::halve_to_fit(
        kLarge, kTile, [](std::size_t count) { return Signal::device_bytes({count}); });
}

void show_read_share(warpwise::Lesson& lesson) {
    std::vector<Timed> all = timed();
    std::erase_if(all, [](const Timed& each) { return !fits(each); });
    if (!lesson.measures()) {
        Signal signal(warpwise::Size{20011});
        for (const Timed& each : all)
            if (!only_reads(each.name)) expect_right(lesson, each.name, signal, each.run);
        lesson.show_recorded("read_share");
        return;
    }
    Signal signal(warpwise::Size{large_count()});
    std::vector<warpwise::Candidate> candidates;
    for (const Timed& each : all)
        candidates.push_back({[&each, &signal] { each.run(signal); }});
    const std::vector<warpwise::Timing> timings =
        warpwise::measure_in_turn(candidates, {.samples = 20, .seconds = 0.2});
    double shortest_read = 1e30;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (only_reads(all[i].name))
            shortest_read = std::min(shortest_read, timings[i].median);
        else
            expect_right(lesson, std::string(all[i].name) + ", after timing", signal,
                         all[i].run);
    }
    const double read_bytes = static_cast<double>(signal.d_in.bytes());
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < all.size(); ++i) {
        rows.push_back({all[i].name, text_of("%.1f", timings[i].median * 1e6),
                        text_of("%.0f", 1e-9 * read_bytes / timings[i].median),
                        text_of("%.3f", shortest_read / timings[i].median)});
    }
    lesson.table({"read_share", std::to_string(signal.count) + " floats"},
                 {"step", "us", "GB/s read", "of read bandwidth"}, rows);
}

}  // namespace

void async_copies(warpwise::Lesson& lesson) {
    lesson.question(
        R"(A block needs a tile of an array in shared memory, because it takes each float
several times. While the tile is on its way, the block has nothing to do, and while it
computes, nothing is on its way to it. How can a block do both at once?)");
    lesson.predict(
        {.question = R"(Two blocks share twelve tiles. With two stages there is one barrier
of the block per tile, because it stands for two things: the tile has arrived, and the tile
before may be overwritten. How many barriers does a warp pass?)",
         .answer = warpwise::Number{.value = 6,
                                    .unit = "barriers",
                                    .shown_by = warpwise::TableCell{"rounds",
                                                                    {"windows_two_stages"},
                                                                    "barriers per warp"}},
         .because = R"(Each block has six of the tiles, and there is one barrier for each
of them. Without stages it takes two, so 12.)"});
    lesson.predict(
        {.question = R"(A tile is 2048 floats. windows_four_stages has a buffer of four
tiles, and computes with one of them. How many KiB does a block have in flight meanwhile?)",
         .answer = warpwise::Number{.value = 24,
                                    .unit = "KiB",
                                    .shown_by = warpwise::TableCell{"in_flight",
                                                                    {"windows_four_stages"},
                                                                    "KiB per block"}},
         .because = "Three tiles of 8 KiB each."});
    lesson.predict(
        {.question = R"(Each thread copies a part of the tile, and all use a pipeline of
thread scope. What does a thread know when its consumer_wait() returns?)",
         .answer = warpwise::Choice{.choices = {"the whole tile has arrived",
                                                "its own part has arrived",
                                                "the parts of its warp have arrived"},
                                    .right = 1},
         .because = R"(The pipeline orders the copies of one thread. Only a barrier of the
block after it tells that the other threads have waited for theirs.)"});
    lesson.predict(
        {.question = R"(Which of these steps is the fastest on a GPU, for 2^28 floats?)",
         .answer = warpwise::Fastest{{"windows_through_registers", "windows_memcpy_async",
                                      "windows_two_stages", "windows_four_stages",
                                      "windows_tuned"}},
         .because = R"(Each wait and each arrival are for twice as many bytes. Stages alone
gain little where enough blocks are resident: others fill the gaps of a block that
waits.)"});

    std::vector<warpwise::Step<Signal>> steps = {
        {"serial", "a loop, one core", serial, warpwise::StepKind::host}};
    for (const Method& method : kMethods)
        steps.push_back({method.name, method.change, method.run});
    lesson.steps<Signal>({.gpu = {kLarge},
                          .cpu = {kCounted},
                          .awkward = {{0},
                                      {1},
                                      {2},
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
                                      {kTile + 3},
                                      {kTile + 5},
                                      {kTile + 31},
                                      {kTile + 32},
                                      {kTile + 33},
                                      {Tuned::tile + 6},
                                      {100003}}},
                         steps);
    show_rounds(lesson);
    show_bytes_in_flight(lesson);
    lesson.conclusion(
        R"(A copy that nobody waits for yet costs a block nothing. With stages, copies of
later tiles are in flight while the block computes. Each stage has two facts to pass on: it
is filled, and it is empty again. A barrier of the block says both to everybody. Two
barriers per stage say them only to those who need to know.)");

    lesson.question(
        R"(How much of read bandwidth is reached, and how many stages of which size does it
take? On a GPU the table compares with kernels that only read.)");
    show_read_share(lesson);
    lesson.conclusion(
        R"(The memory is busy if enough bytes are in flight per SM. Stages, the size of a
tile, and the number of resident blocks are three ways to have them, and shared memory
limits their product. Where more bytes in flight gain nothing, something else is the limit:
here what each warp does with its tile.)");

    lesson.question(
        R"(A copy that has not landed looks like one that has: the buffer holds something.
Six kernels break a rule of asynchronous copies. On a GPU they may give the right result for
years. How can these mistakes be found?)");
    show_mistakes(lesson, "kernel", mistakes(), "wait_for_the_other_stage");
    lesson.conclusion(
        warpwise::can_instrument()
            ? R"(The CPU device lets a copy land as late as the rules permit, when somebody
has waited for it, and holds NaN in its place until then. The search for errors names the
access that came too early, and the copy.)"
            : R"(By the search for errors of the CPU device, which this program does not
have. Run this lesson there, without --no-counters.)");
}

}  // namespace modern_cuda
