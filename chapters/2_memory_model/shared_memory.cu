// Problem: smooth n floats with a triangular window of radius r. Elements before the first and behind the last are 0.
//
//     out[i] = 1 / (r + 1)^2 * sum over k = -r .. r of (r + 1 - |k|) * in[i + k]
//
// Every input is wanted by 2 r + 1 outputs. Shared memory is the place for what many threads of a block want: the block
// loads a tile once, and its threads read it as often as they like. But an SM has a cache as well, and the cache keeps
// what was just read without being asked. When does a tile still pay?
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "chapters/2_memory_model/lessons.h"
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

constexpr int kThreads = 256;
constexpr int kRadius = 16;  // of the steps; the tables behind them have others as well

// What all kernels have in common: the window. `weight` is a small whole number, exact as a float, and `scale` makes
// the weights' sum 1. Both are known when the kernel is compiled, because the radius is.
template <int Radius>
__host__ __device__ constexpr float weight(int k) {
    return static_cast<float>(Radius + 1 - (k < 0 ? -k : k));
}
template <int Radius>
__host__ __device__ constexpr float scale() {
    return 1.0f / static_cast<float>((Radius + 1) * (Radius + 1));
}

// Step 2, one output a thread, and the window straight from global memory: 2 r + 1 loads. Threads whose window reaches
// beyond the array leave out what is not there; an index before the first element wraps around to a huge one, so that
// one comparison covers both ends.
// Slow? A warp's loads lie side by side, but most begin in the middle of a sector: 5 sectors instead of 4, 2 r + 1
// times. They ask for each input 2 r + 1 times. How often it comes from memory is the cache's business.
template <int Radius>
__global__ void smooth_from_global(const float* in, float* out, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sum = 0;
    if (i >= Radius && count - i > Radius) {
#pragma unroll
        for (int k = -Radius; k <= Radius; ++k) sum += weight<Radius>(k) * in[i + static_cast<std::size_t>(k)];
    } else {
        for (int k = -Radius; k <= Radius; ++k) {
            const std::size_t neighbor = i + static_cast<std::size_t>(k);
            if (neighbor < count) sum += weight<Radius>(k) * in[neighbor];
        }
    }
    out[i] = scale<Radius>() * sum;
}

// Step 3, the block's inputs in shared memory: its own 256, and a halo of r more on both sides. All threads load in
// turns until the tile is full, so no thread's number has to be special and the halo may be wider than the block. Every
// place of the tile is written, with 0 where the array has ended. Then a barrier, because each thread reads what others
// have loaded; threads without an output come to it all the same.
// Better: global memory is asked for each input little more than once. Slow? The window is still read with 2 r + 1
// requests, from shared memory now, and nobody may begin before the slowest load of the block has come back.
template <int Radius>
__global__ void smooth_from_tile(const float* in, float* out, std::size_t count) {
    constexpr int tile_size = kThreads + 2 * Radius;
    __shared__ float tile[tile_size];
    const std::size_t begin = std::size_t{blockIdx.x} * kThreads;
    for (int place = static_cast<int>(threadIdx.x); place < tile_size; place += kThreads) {
        const std::size_t i = begin - Radius + static_cast<std::size_t>(place);
        tile[place] = i < count ? in[i] : 0.0f;
    }
    __syncthreads();

    const std::size_t i = begin + threadIdx.x;
    if (i >= count) return;
    float sum = 0;
#pragma unroll
    for (int k = -Radius; k <= Radius; ++k) {
        sum += weight<Radius>(k) * tile[static_cast<int>(threadIdx.x) + Radius + k];
    }
    out[i] = scale<Radius>() * sum;
}

// Steps 4 and 5 have four neighboring outputs a thread. Of the 4 (2 r + 1) inputs that they want only 2 r + 4 differ,
// so that each is loaded once and used up to four times from a register. All goes by float4, which begin at multiples
// of four: the halo is rounded up to that.
constexpr int kOutputs = 4;

template <int Radius>
__host__ __device__ constexpr int halo_of_fours() {
    return (Radius + kOutputs - 1) / kOutputs * kOutputs;
}

// The elements first to first + 3, with 0 for those outside of the array. `first` is a multiple of four, also when it
// lies before the array and has wrapped around.
__device__ float4 load_four(const float* in, std::size_t first, std::size_t count) {
    if (first < count && count - first >= 4) return *reinterpret_cast<const float4*>(in + first);
    float values[4];
    for (std::size_t k = 0; k < 4; ++k) values[k] = first + k < count ? in[first + k] : 0.0f;
    return make_float4(values[0], values[1], values[2], values[3]);
}

__device__ void store_four(const float (&values)[kOutputs], float* out, std::size_t first, std::size_t count) {
    if (first < count && count - first >= 4) {
        *reinterpret_cast<float4*>(out + first) = make_float4(values[0], values[1], values[2], values[3]);
        return;
    }
    for (std::size_t k = 0; k < 4; ++k) {
        if (first + k < count) out[first + k] = values[k];
    }
}

// Adds what four inputs contribute to four outputs; the first input lies `distance` behind the first output.
template <int Radius>
__device__ void add_four(float4 inputs, int distance, float (&sums)[kOutputs]) {
    const float values[4] = {inputs.x, inputs.y, inputs.z, inputs.w};
#pragma unroll
    for (int input = 0; input < 4; ++input) {
#pragma unroll
        for (int output = 0; output < kOutputs; ++output) {
            const int k = distance + input - output;
            if (k >= -Radius && k <= Radius) sums[output] += weight<Radius>(k) * values[input];
        }
    }
}

// Step 4, four outputs a thread from a tile four times as long.
// Better: (2 r + 4) / 4 reads of shared memory for four outputs instead of 4 (2 r + 1), and a halo that is small beside
// the tile. Slow? The barrier is still there, and every input still goes from the cache to the tile and back.
template <int Radius>
__global__ void smooth_fours_from_tile(const float* in, float* out, std::size_t count) {
    constexpr int halo = halo_of_fours<Radius>();
    constexpr int tile_size = kThreads + 2 * halo / kOutputs;
    __shared__ float4 tile[tile_size];
    const std::size_t begin = std::size_t{blockIdx.x} * kThreads * kOutputs;
    for (int place = static_cast<int>(threadIdx.x); place < tile_size; place += kThreads) {
        const float4 four = load_four(in, begin - halo + kOutputs * static_cast<std::size_t>(place), count);
        tile[place] = four;
    }
    __syncthreads();

    float sums[kOutputs] = {};
#pragma unroll
    for (int distance = -halo; distance <= halo; distance += kOutputs) {
        const float4 inputs = tile[static_cast<int>(threadIdx.x) + (halo + distance) / kOutputs];
        add_four<Radius>(inputs, distance, sums);
    }
    for (float& sum : sums) sum *= scale<Radius>();
    store_four(sums, out, begin + std::size_t{kOutputs} * threadIdx.x, count);
}

// Step 5, the same without a tile: the same loads, straight from global memory. No barrier, no shared memory, no thread
// that waits for another one. The cache keeps what the neighbors want next. What is left is the memory's own speed, as
// long as the window is narrow; a wide one has requests and additions that take longer.
template <int Radius>
__global__ void smooth_fours_from_global(const float* in, float* out, std::size_t count) {
    constexpr int halo = halo_of_fours<Radius>();
    const std::size_t first = kOutputs * (std::size_t{blockIdx.x} * kThreads + threadIdx.x);
    if (first >= count) return;
    float sums[kOutputs] = {};
#pragma unroll
    for (int distance = -halo; distance <= halo; distance += kOutputs) {
        add_four<Radius>(load_four(in, first + static_cast<std::size_t>(distance), count), distance, sums);
    }
    for (float& sum : sums) sum *= scale<Radius>();
    store_four(sums, out, first, count);
}

// The four kernels for one radius.
struct Kernels {
    using Kernel = void (*)(const float*, float*, std::size_t);
    int radius;
    Kernel from_global, from_tile, fours_from_tile, fours_from_global;
};
template <int Radius>
constexpr Kernels kernels_of = {Radius, smooth_from_global<Radius>, smooth_from_tile<Radius>,
                                smooth_fours_from_tile<Radius>, smooth_fours_from_global<Radius>};

// Input and output, for any radius that there are kernels for.
struct Smoothing {
    Kernels kernels;
    std::size_t count;
    std::vector<float> in, out;
    DeviceBuffer<float> d_in, d_out;
    bool out_is_on_host = false;

    explicit Smoothing(const warpwise::Size& size, const Kernels& kernels_ = kernels_of<kRadius>)
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
            const std::size_t neighbor = i + static_cast<std::size_t>(k);  // wraps around before the first element
            if (neighbor < count) sum += (r + 1 - std::abs(k)) * static_cast<double>(in[neighbor]);
        }
        return sum / ((r + 1) * (r + 1));
    }

    // Inputs are at most 1 and the weights' sum is 1. A sum of 2 r + 1 products, added one after the other, rounds by
    // at most (2 r + 1) u of the sum of their magnitudes (u = epsilon / 2); the scale and its use add 2 u.
    warpwise::Comparison compare() {
        if (!out_is_on_host) out = d_out.download();
        const double half_epsilon = std::numeric_limits<float>::epsilon() / 2.0;
        return warpwise::compare_each(out, count, [&](std::size_t i) { return reference(i); },
                                      {.absolute = (2 * kernels.radius + 4) * half_epsilon});
    }

    // A multiplication and an addition for each of the window's elements.
    warpwise::Work work() const {
        return {.bytes = 2.0 * sizeof(float) * count, .operations = 2.0 * (2 * kernels.radius + 1) * count};
    }

    static std::size_t device_bytes(const warpwise::Size& size) { return 2 * sizeof(float) * size[0]; }

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
            if (neighbor < problem.count) sum += static_cast<float>(r + 1 - std::abs(k)) * problem.in[neighbor];
        }
        problem.out[i] = scale * sum;
    }
    problem.out_is_on_host = true;
}

void from_global(Smoothing& problem) { problem.launch(problem.kernels.from_global, 1); }
void from_tile(Smoothing& problem) { problem.launch(problem.kernels.from_tile, 1); }
void fours_from_tile(Smoothing& problem) { problem.launch(problem.kernels.fours_from_tile, kOutputs); }
void fours_from_global(Smoothing& problem) { problem.launch(problem.kernels.fours_from_global, kOutputs); }

// ---- what the kernels ask for, predicted and counted --------------------------------------------------------------

// What a block asks for, for each 32 of its outputs.
struct Asked {
    double requests = 0;         // global loads of warps
    double sectors = 0;          // that these touch
    double shared_requests = 0;  // loads and stores of shared memory

    // One request for `floats` neighboring floats from `first` on, counted from a place that begins a sector.
    void load(int first, int floats) {
        constexpr int far_inside = 1 << 20;  // keeps the places positive, and is a multiple of a sector's 8 floats
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
    for (int k = -radius; k <= radius; ++k) asked.load(k, 32);  // of one warp; the others' loads lie 32 floats on
    return asked;
}

Asked asked_from_tile(int radius) {
    Asked asked;
    const int tile_size = kThreads + 2 * radius;
    for (int place = 0; place < tile_size; place += 32) {  // 32 lanes load from global and store to shared memory
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
    for (int distance = -halo; distance <= halo; distance += kOutputs) asked.load(distance, 32 * kOutputs);
    return asked.for_each_32(32 * kOutputs);
}

// Windows at the two ends of the array are cut short and cost a few requests more or less.
bool nearly(double counted, double predicted) { return std::fabs(counted - predicted) <= 0.01 * predicted; }

using Run = void (*)(Smoothing&);
struct Way {
    const char* name;
    Run run;
    Asked (*asked)(int radius);
};
constexpr std::array<Way, 4> ways = {{{"smooth_from_global", from_global, asked_from_global},
                                      {"smooth_from_tile", from_tile, asked_from_tile},
                                      {"smooth_fours_from_tile", fours_from_tile, asked_fours_from_tile},
                                      {"smooth_fours_from_global", fours_from_global, asked_fours_from_global}}};

constexpr std::array<Kernels, 6> radii = {kernels_of<1>, kernels_of<2>,  kernels_of<4>,
                                          kernels_of<8>, kernels_of<16>, kernels_of<32>};

// Holds the prediction for one way and radius against the counters.
void expect_asked(warpwise::Lesson& lesson, Smoothing& problem, const Way& way) {
    problem.poison();
    const auto counts = lesson.count([&] { way.run(problem); });
    const std::string where = std::string(way.name) + ", radius " + std::to_string(problem.kernels.radius);
    lesson.expect(problem.compare().passed, where + ": the result is right");
    if (!counts) return;
    const Asked asked = way.asked(problem.kernels.radius);
    const double share = 32.0 / static_cast<double>(problem.count);
    lesson.expect(nearly(counts->global_load.requests * share, asked.requests), where + ": as many loads as predicted");
    lesson.expect(nearly(counts->global_load.sectors * share, asked.sectors), where + ": as many sectors as predicted");
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
            std::string cell = text_of("%.3g", asked.requests) + " (" + text_of("%.3g", asked.sectors) + ")";
            if (asked.shared_requests > 0) cell += " + " + text_of("%.3g", asked.shared_requests);
            row.push_back(cell);
        }
        rows.push_back(row);
    }
    lesson.table("Asked for 32 outputs: global requests (their sectors) + requests to shared memory",
                 {"radius", "from global", "from tile", "fours from tile", "fours from global"}, rows);
}

// Useful GB/s by radius: measured on a GPU; else, what was recorded.
void show_bandwidths(warpwise::Lesson& lesson) {
    const std::string title = "Useful GB/s by radius";
    if (!lesson.measures()) {
        lesson.show_recorded(title);
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
        for (const Way& way : ways) candidates.push_back({[&problem, &way] { way.run(problem); }, false});
        rows.push_back({std::to_string(kernels.radius)});
        for (const warpwise::Timing& timing : warpwise::measure_in_turn(candidates, {.seconds = 0.2})) {
            rows.back().push_back(text_of("%.0f", problem.work().bytes / timing.median * 1e-9));
        }
    }
    lesson.table(title, {"radius", "from global", "from tile", "fours from tile", "fours from global"}, rows);
}

}  // namespace

void shared_memory(warpwise::Lesson& lesson) {
    lesson.text(
        R"(A window slides over an array: every output is a weighted sum of 2 r + 1 inputs, so every input is wanted
2 r + 1 times. Shared memory is a piece of an SM that the threads of a block fill and read as they like. They load
their part of the array once, a tile with a halo of r elements on both sides, wait for each other, and read the rest of
the times from there.

What you will see: the window from global memory; from a tile; then both with four outputs a thread. The radius is 16,
so the window has 33 elements.

Predict, for one warp and its 32 outputs: how many loads from global memory does each of the first two kernels make,
and how many sectors do they ask for? And then: does the tile make it faster by as much?)");

    lesson.steps<Smoothing>({.gpu = {std::size_t{1} << 28},
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
                             {"smooth_fours_from_tile", "four outputs a thread, float4", fours_from_tile},
                             {"smooth_fours_from_global", "the same without the tile", fours_from_global}});

    lesson.text(
        R"(The count: 33 loads straight from global memory. Those that are shifted by a multiple of 8 floats touch 4
sectors, the others 5: 5 of one kind, 28 of the other, 160 sectors in all. With a tile, a block of 8 warps makes 9
loads of 36 sectors in all: 1.1 loads and 4.5 sectors for 32 outputs, 35 times fewer. What the tile does not change is
the 33 reads of the window: they go to shared memory now, with one store more for each load.

Now for other radii. Where would you expect the tile to pay off?)");
    show_requests(lesson);
    show_bandwidths(lesson);

    lesson.text(
        R"(Why 35 times fewer sectors are not 35 times the speed. The sectors that the tile saves never came from
memory in the first place. An SM keeps what it has loaded in its L1 cache, and the 33 loads of a warp follow each other
so closely that all but the first find their sectors there. From the device's memory both kernels read every input
about once.

What is left are requests. L1 cache and shared memory are the same piece of hardware, and it takes about one request a
cycle, for either of them. The memory of an H200 (4.25 TB/s as a copy, 132 SMs at 1.98 GHz) gives each SM about 16 bytes
a cycle, so 32 outputs, 256 bytes, take 16 cycles at best. One output a thread does not come near: at radius 1, with 3
requests, an SM of the H200 needs 27 cycles for 32 outputs from the cache and 35 from a tile (the table's GB/s, turned
round), because a thread has no more than 4 new bytes under way, and with a tile waits at a barrier for those of all
others. As long as the requests fit into that time they cost nothing, and the tile buys nothing. Beyond that requests
decide: from radius 16 to 32 there are 32 more, and they take 36 cycles more from the cache and 28 from the tile. It can
gain only as far as shared memory does not care where a warp begins to read, while the cache has 5 sectors to look up
instead of 4: 6 % at radius 16, 13 % at radius 32.

What helps is fewer requests, and more bytes under way. With four outputs a thread, 128 outputs need 9 reads of 16 bytes
a lane, which take four cycles each, instead of 4 x 33 reads of 4 bytes. The reuse has moved from shared memory into
registers. Then the tile only costs: its barrier, and the way from the cache into shared memory and back. Without it the
fours are faster at every radius, 4189 GB/s against 3058 at radius 1, and 2081 against 1900 at radius 32.)");
    if (!warpwise::Lesson::on_gpu()) {
        lesson.text(
            R"(The counters of the CPU device see requests and not caches: they tell what a kernel asks for, and a
cache may have the answer already. A table of sectors alone would praise the tile too much.)");
    }
    lesson.text(
        R"(When a tile does pay: where the cache cannot help, because the order of reading and the order of memory
disagree (transpose, lesson bank_conflicts), because much more is read between two uses than a cache holds (the blocked
matrix product), because threads want what other threads have computed, or on chips that do not cache global loads,
as those of 2008 (lesson texture_laplace). Else write the simple kernel first and measure.

Mistakes to avoid: no barrier between filling and reading; a return before the barrier, by threads that should have
loaded; a halo that is loaded by threads of a fixed number, which smaller blocks do not have (exercise stencil_halo);
places of the tile behind the end of the array that nobody writes.

Try next: take the barrier out and run with --check. Then make the window as wide as the block, and wider.

    memory_model shared_memory --check
    memory_model shared_memory --lines --step smooth_from_tile)");
}

}  // namespace memory_model
