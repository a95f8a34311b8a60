// Problem: smooth n floats with a triangular window of radius r. Elements before the first
// and after the last are 0.
//
//     out[i] = 1 / (r + 1)^2 * sum over k = -r .. r of (r + 1 - |k|) * in[i + k]
//
// Every input is wanted by 2 r + 1 outputs. Shared memory is the place for what many
// threads of a block want: the block loads a tile once, and its threads read it as often as
// they like. But an SM has a cache as well, which keeps what was just read without being
// asked. When does a tile still pay?
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "chapters/2_memory_model/shared_memory/kernels.cuh"
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

constexpr int kRadius = 16;  // of the steps; the tables after them have others as well

// The four kernels for one radius.
struct Kernels {
    using Kernel = void (*)(const float*, float*, std::size_t);
    int radius;
    Kernel from_global, from_tile, fours_from_tile, fours_from_global;
};
template <int Radius>
constexpr Kernels kernels_of = {Radius, smooth_from_global<Radius>,
                                smooth_from_tile<Radius>, smooth_fours_from_tile<Radius>,
                                smooth_fours_from_global<Radius>};

// Input and output, for any radius that there are kernels for.
struct Smoothing {
    Kernels kernels;
    std::size_t count;
    std::vector<float> in, out;
    DeviceBuffer<float> d_in, d_out;
    bool out_is_on_host = false;

    explicit Smoothing(const warpwise::Size& size,
                       const Kernels& kernels_ = kernels_of<kRadius>)
        : kernels(kernels_),
          count(size[0]),
          in(warpwise::uniform<float>(count, 7)),
          out(count),
          d_in(in),
          d_out(count) {}

    void poison() {
        std::fill(out.begin(), out.end(), std::numeric_limits<float>::quiet_NaN());
        d_out.fill_bytes(0xFF);
        out_is_on_host = false;
    }

    double reference(std::size_t i) const {
        const int r = kernels.radius;
        double sum = 0;
        for (int k = -r; k <= r; ++k) {
            const std::size_t neighbor =
                i + static_cast<std::size_t>(k);  // wraps around before the first element
            if (neighbor < count)
                sum += (r + 1 - std::abs(k)) * static_cast<double>(in[neighbor]);
        }
        return sum / ((r + 1) * (r + 1));
    }

    // Inputs are at most 1 and the weights' sum is 1. A sum of 2 r + 1 products, added one
    // after the other, rounds by at most (2 r + 1) u of the sum of their magnitudes (u =
    // epsilon / 2); the scale and its use add 2 u.
    warpwise::Comparison compare() {
        if (!out_is_on_host) out = d_out.download();
        const double half_epsilon = std::numeric_limits<float>::epsilon() / 2.0;
        return warpwise::compare_each(
            out, count, [&](std::size_t i) { return reference(i); },
            {.absolute = (2 * kernels.radius + 4) * half_epsilon});
    }

    // A multiplication and an addition for each of the window's elements.
    warpwise::Work work() const {
        return {.bytes = 2.0 * sizeof(float) * count,
                .operations = 2.0 * (2 * kernels.radius + 1) * count};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return 2 * sizeof(float) * size[0];
    }

    void launch(Kernels::Kernel kernel, unsigned outputs_of_a_thread) {
        const unsigned blocks = warpwise::blocks_for(count, kThreads * outputs_of_a_thread);
        kernel<<<blocks, kThreads>>>(d_in.data(), d_out.data(), count);
        warpwise::check_launch();
    }
};

// Step 1, what the others replace: two loops on one core of the host.
void serial(Smoothing& problem) {
    const int r = problem.kernels.radius;
    const float scale = 1.0f / static_cast<float>((r + 1) * (r + 1));
    for (std::size_t i = 0; i < problem.count; ++i) {
        float sum = 0;
        for (int k = -r; k <= r; ++k) {
            const std::size_t neighbor = i + static_cast<std::size_t>(k);
            if (neighbor < problem.count)
                sum += static_cast<float>(r + 1 - std::abs(k)) * problem.in[neighbor];
        }
        problem.out[i] = scale * sum;
    }
    problem.out_is_on_host = true;
}

// The launches of the steps.
void from_global(Smoothing& problem) { problem.launch(problem.kernels.from_global, 1); }
void from_tile(Smoothing& problem) { problem.launch(problem.kernels.from_tile, 1); }
void fours_from_tile(Smoothing& problem) {
    problem.launch(problem.kernels.fours_from_tile, kOutputs);
}
void fours_from_global(Smoothing& problem) {
    problem.launch(problem.kernels.fours_from_global, kOutputs);
}

// ---- what the kernels ask for, predicted and counted ------------------------------------

// What a block asks for, for each 32 of its outputs.
struct Asked {
    double requests = 0;         // global loads of warps
    double sectors = 0;          // that these touch
    double shared_requests = 0;  // loads and stores of shared memory

    // One request for `floats` neighboring floats from `first` on, counted from a place
    // that begins a sector.
    void load(int first, int floats) {
        constexpr int far_inside =
            1 << 20;  // keeps the places positive, and is a multiple of a sector's 8 floats
        const int begin = far_inside + first;
        ++requests;
        sectors += (begin + floats - 1) / 8 - begin / 8 + 1;
    }

    Asked for_each_32(int outputs) const {
        const double share = 32.0 / outputs;
        return {requests * share, sectors * share, shared_requests * share};
    }
};

Asked asked_from_global(int radius) {
    Asked asked;
    for (int k = -radius; k <= radius; ++k)
        asked.load(k, 32);  // of one warp; the others' loads lie 32 floats on
    return asked;
}

Asked asked_from_tile(int radius) {
    Asked asked;
    const int tile_size = kThreads + 2 * radius;
    for (int place = 0; place < tile_size;
         place += 32) {  // 32 lanes load from global and store to shared memory
        asked.load(place - radius, std::min(32, tile_size - place));
        ++asked.shared_requests;
    }
    asked.shared_requests += kThreads / 32 * (2 * radius + 1);
    return asked.for_each_32(kThreads);
}

Asked asked_fours_from_tile(int radius) {
    Asked asked;
    const int halo = warpwise::ceil_div(radius, kOutputs) * kOutputs;
    const int tile_size = kThreads + 2 * halo / kOutputs;
    for (int place = 0; place < tile_size; place += 32) {
        asked.load(kOutputs * place - halo, kOutputs * std::min(32, tile_size - place));
        ++asked.shared_requests;
    }
    asked.shared_requests += kThreads / 32 * (2 * halo / kOutputs + 1);
    return asked.for_each_32(kThreads * kOutputs);
}

Asked asked_fours_from_global(int radius) {
    Asked asked;
    const int halo = warpwise::ceil_div(radius, kOutputs) * kOutputs;
    for (int distance = -halo; distance <= halo; distance += kOutputs)
        asked.load(distance, 32 * kOutputs);
    return asked.for_each_32(32 * kOutputs);
}

// Windows at the two ends of the array are cut short and cost a few requests more or less.
bool nearly(double counted, double predicted) {
    return std::fabs(counted - predicted) <= 0.01 * predicted;
}

using Run = void (*)(Smoothing&);
struct Way {
    const char* name;
    Run run;
    Asked (*asked)(int radius);
};
constexpr std::array<Way, 4> ways = {
    {{"smooth_from_global", from_global, asked_from_global},
     {"smooth_from_tile", from_tile, asked_from_tile},
     {"smooth_fours_from_tile", fours_from_tile, asked_fours_from_tile},
     {"smooth_fours_from_global", fours_from_global, asked_fours_from_global}}};

constexpr std::array<Kernels, 6> radii = {kernels_of<1>, kernels_of<2>,  kernels_of<4>,
                                          kernels_of<8>, kernels_of<16>, kernels_of<32>};

// Holds the prediction for one way and radius against the counters.
void expect_asked(warpwise::Lesson& lesson, Smoothing& problem, const Way& way) {
    problem.poison();
    const auto counts = lesson.count([&] { way.run(problem); });
    const std::string where =
        std::string(way.name) + ", radius " + std::to_string(problem.kernels.radius);
    lesson.expect(problem.compare().passed, where + ": the result is right");
    if (!counts) return;
    const Asked asked = way.asked(problem.kernels.radius);
    const double share = 32.0 / static_cast<double>(problem.count);
    lesson.expect(nearly(counts->global_load.requests * share, asked.requests),
                  where + ": as many loads as predicted");
    lesson.expect(nearly(counts->global_load.sectors * share, asked.sectors),
                  where + ": as many sectors as predicted");
    lesson.expect(nearly(counts->shared().requests * share, asked.shared_requests),
                  where + ": as many requests to shared memory as predicted");
    lesson.expect(counts->shared().conflicts() == 0, where + ": no bank conflicts");
}

// What 32 outputs ask for, by radius.
void show_requests(warpwise::Lesson& lesson) {
    constexpr std::size_t count = std::size_t{1} << 15;
    std::vector<std::vector<std::string>> rows;
    for (const Kernels& kernels : radii) {
        Smoothing problem({count}, kernels);
        std::vector<std::string> row = {std::to_string(kernels.radius)};
        for (const Way& way : ways) {
            expect_asked(lesson, problem, way);
            const Asked asked = way.asked(kernels.radius);
            std::string cell = text_of("%.3g", asked.requests) + " (" +
                               text_of("%.3g", asked.sectors) + ")";
            if (asked.shared_requests > 0)
                cell += " + " + text_of("%.3g", asked.shared_requests);
            row.push_back(cell);
        }
        rows.push_back(row);
    }
    lesson.table(
        {"requests",
         "Asked for 32 outputs: global requests (their sectors) + requests to shared "
         "memory"},
        {"radius", "from global", "from tile", "fours from tile", "fours from global"},
        rows);
}

// Useful GB/s by radius: measured on a GPU; else, what was recorded.
void show_bandwidths(warpwise::Lesson& lesson) {
    if (!lesson.measures()) {
        lesson.show_recorded("radius");
        return;
    }
    std::size_t free_bytes = 0, all_bytes = 0;
    warpwise::check(cudaMemGetInfo(&free_bytes, &all_bytes));
    std::size_t count = std::size_t{1} << 27;
    while (count > 1024 && Smoothing::device_bytes({count}) > free_bytes / 4) count /= 2;
    std::vector<std::vector<std::string>> rows;
    for (const Kernels& kernels : radii) {
        Smoothing problem({count}, kernels);
        std::vector<warpwise::Candidate> candidates;
        for (const Way& way : ways)
            candidates.push_back({[&problem, &way] { way.run(problem); }, false});
        rows.push_back({std::to_string(kernels.radius)});
        for (const warpwise::Timing& timing :
             warpwise::measure_in_turn(candidates, {.seconds = 0.2})) {
            rows.back().push_back(
                text_of("%.0f", problem.work().bytes / timing.median * 1e-9));
        }
    }
    lesson.table(
        {"radius", "Useful GB/s by radius"},
        {"radius", "from global", "from tile", "fours from tile", "fours from global"},
        rows);
}

}  // namespace

void shared_memory(warpwise::Lesson& lesson) {
    lesson.question(
        R"(A window slides over an array: every output is a weighted sum of 2 r + 1 inputs.
The threads of a block can load their inputs once into shared memory, as a tile with a halo
of r elements on both sides, and read them from there. When does such a tile pay? The radius
is 16, so the window has 33 elements.)");
    lesson.predict({.question = R"(For one warp and its 32 outputs, each of which adds 33
neighboring values: how many loads from global memory does the first kernel make?)",
                    .answer = warpwise::Number{.value = 33, .unit = "loads"},
                    .because = R"(One load per neighbor. With the tile it is a little more
than one, because the block loads every value once.)"});
    lesson.predict(
        {.question = R"(L1 cache and shared memory are the same hardware, which
takes about one request of 4 bytes per lane in each cycle. For 32 outputs,
`smooth_from_global` makes 33, `smooth_from_tile` about two to fill the tile and 33 to read
it. How many times as fast is `smooth_from_tile` on a GPU?)",
         .answer = warpwise::Measured{.by = warpwise::TimeRatio{"smooth_from_global",
                                                                "smooth_from_tile"},
                                      .unit = "times",
                                      .factor = 1.2},
         .because = R"(Both kernels make nearly the same number of requests to this
hardware. And both load each input from device memory about once, because the L1 cache
answers the repeated loads of the first kernel. Why the tile gains a little was not tested
by itself.)"});
    lesson.steps<Smoothing>(
        {.gpu = {std::size_t{1} << 28},
         .cpu = {std::size_t{1} << 15},
         .awkward = {{0},
                     {1},
                     {2},
                     {15},
                     {16},
                     {17},
                     {31},
                     {32},
                     {33},
                     {255},
                     {256},
                     {257},
                     {1009},
                     {1023},
                     {1025},
                     {1041},
                     {4099},
                     {20011}}},
        {{"serial", "two loops on one core", serial, warpwise::StepKind::host},
         {"smooth_from_global", "a thread loads its whole window", from_global},
         {"smooth_from_tile", "the block loads a tile with a halo", from_tile},
         {"smooth_fours_from_tile", "four outputs per thread, float4", fours_from_tile},
         {"smooth_fours_from_global", "the same without the tile", fours_from_global}});
    lesson.conclusion(
        R"(Straight from global memory: 33 loads and 160 sectors. With a tile, the 8 warps
of a block make 9 loads of 36 sectors in all, 1.1 loads and 4.5 sectors for 32 outputs: 35
times fewer sectors. But the 33 reads of the window remain, from shared memory now, and the
L1 cache may have had those sectors already. Counts of requests do not show that.)");

    lesson.predict(
        {.question = R"(With radius 1, a warp makes 3 loads for 32 outputs. With the
tile it makes about one load, one store, and 3 reads of the tile, and waits at a barrier.
Which has the higher bandwidth on an H200?)",
         .answer =
             warpwise::Choice{{"the kernel without the tile", "the kernel with the tile",
                               "they differ by less than 10 %"},
                              0},
         .because = R"(The tile saves 2 loads and adds 4 requests to shared memory, and
no warp may read it before the loads of its whole block have arrived. We did not measure
which of the two costs more.)"});
    show_requests(lesson);
    show_bandwidths(lesson);
    lesson.conclusion(
        R"(The sectors that the tile saves never came from memory, because the L1 cache has
them. What is left are requests: L1 cache and shared memory take about one per cycle. Four
outputs per thread need far fewer requests and have more bytes in flight, and then the tile
only costs. A tile pays where the cache cannot help, as in a transpose, a matrix product, or
for values that other threads compute.)");
}

}  // namespace memory_model
