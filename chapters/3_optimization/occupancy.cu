// Problem: out[i] = 2 in[i] + 1. How many threads must a multiprocessor (SM) hold to do that at the memory's speed?
//
// A load takes hundreds of cycles, and a warp that needs its value waits. Meanwhile the SM runs another warp, if it
// holds one. Occupancy is the number of warps that an SM holds, as a share of the most that it could hold: 100 % is
// largest choice of warps to switch to. It is a means, not the end: what has to be large is the number of bytes under
// way, and a few threads with many loads each do as well as many threads with one.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "chapters/3_optimization/lessons.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/helpers/watch.h"

namespace optimization {
namespace {

using warpwise::check;
using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr int kThreads = 256;  // of a block, unless a table says otherwise

std::string percent(double share) { return text_of("%.3g %%", 100 * share); }

// ---- occupancy by hand --------------------------------------------------------------------------------------------

// What an SM has, and the units in which it gives it away. Sources: cudaDeviceProp, and for what that does not tell
// NVIDIA's CUDA C++ Programming Guide, "Compute Capabilities", and the toolkit's calculator, cuda_occupancy.h.
struct Multiprocessor {
    int warps, blocks, registers;
    std::size_t shared_bytes;               // of the SM
    int threads_of_a_block;                 // the most
    std::size_t shared_bytes_of_a_block;    // the most, on request
    std::size_t reserved_bytes_of_a_block;  // the system's own: 1 KiB since compute capability 8.0
    std::size_t shared_unit;                // shared memory is given away in multiples of this
    int register_unit = 256;                // and registers, a warp at a time, in multiples of this
    int quarters = 4;                       // of the register file: a warp has all of its registers in one
    int registers_of_a_thread = 255;        // the most
};

Multiprocessor multiprocessor_of(const cudaDeviceProp& device) {
    return {.warps = device.maxThreadsPerMultiProcessor / device.warpSize,
            .blocks = device.maxBlocksPerMultiProcessor,
            .registers = device.regsPerMultiprocessor,
            .shared_bytes = device.sharedMemPerMultiprocessor,
            .threads_of_a_block = device.maxThreadsPerBlock,
            .shared_bytes_of_a_block = device.sharedMemPerBlockOptin,
            .reserved_bytes_of_a_block = device.reservedSharedMemPerBlock,
            .shared_unit = device.major >= 8 ? std::size_t{128} : std::size_t{256}};
}

// What a block of a kernel needs. The registers are the compiler's choice: cudaFuncGetAttributes or -Xptxas -v tells.
struct Needs {
    int threads;
    int registers_of_a_thread;
    std::size_t shared_bytes;  // static and dynamic
};

struct Resident {
    int blocks;
    const char* limit;  // what keeps another block away; the first one where several do
};

constexpr int warps_of(int threads) { return (threads + 31) / 32; }

template <class Integer>
constexpr Integer round_up(Integer value, Integer unit) {
    return (value + unit - 1) / unit * unit;
}

// How many blocks an SM holds at a time: four quotients, and the least of them.
Resident resident_blocks(const Multiprocessor& sm, const Needs& block) {
    if (block.threads > sm.threads_of_a_block) return {0, "threads of a block"};
    if (block.registers_of_a_thread > sm.registers_of_a_thread) return {0, "registers of a thread"};
    if (block.shared_bytes > sm.shared_bytes_of_a_block) return {0, "shared memory of a block"};

    const int warps = warps_of(block.threads);  // half a warp takes the place of a whole one
    const int by_warps = sm.warps / warps;

    // A warp's registers are rounded up, and all of them have to be in one quarter of the register file.
    const int registers_of_a_warp = round_up(std::max(1, block.registers_of_a_thread) * 32, sm.register_unit);
    const int warps_in_a_quarter = sm.registers / sm.quarters / registers_of_a_warp;
    const int by_registers = sm.quarters * warps_in_a_quarter / warps;

    const std::size_t shared_of_a_block = round_up(block.shared_bytes + sm.reserved_bytes_of_a_block, sm.shared_unit);
    const int by_shared_memory =
        shared_of_a_block == 0 ? sm.blocks : static_cast<int>(sm.shared_bytes / shared_of_a_block);

    Resident least = {sm.blocks, "blocks"};
    if (by_warps < least.blocks) least = {by_warps, "threads"};
    if (by_registers < least.blocks) least = {by_registers, "registers"};
    if (by_shared_memory < least.blocks) least = {by_shared_memory, "shared memory"};
    return least;
}

double occupancy_of(const Multiprocessor& sm, int blocks, int threads) {
    return static_cast<double>(blocks * warps_of(threads)) / sm.warps;
}

// ---- the problem --------------------------------------------------------------------------------------------------

struct Scale {
    std::size_t count;
    std::vector<float> in, out;
    DeviceBuffer<float> d_in, d_out;
    bool out_is_on_host = false;  // set by the step that leaves its result in `out`

    explicit Scale(const warpwise::Size& size)
        : count(size[0]), in(warpwise::uniform<float>(count, 41)), out(count), d_in(in), d_out(count) {}

    void poison() {
        std::fill(out.begin(), out.end(), NAN);
        d_out.fill_bytes(0xFF);
        out_is_on_host = false;
    }

    // The doubling is exact, so there is one rounding, with a fused multiply-add or without.
    warpwise::Comparison compare() {
        if (!out_is_on_host) out = d_out.download();
        return warpwise::compare_each(out, count, [&](std::size_t i) { return 2.0 * in[i] + 1; },
                                      {.absolute = 0x1p-23});
    }

    // Each element is read once and written once; a multiplication and an addition.
    warpwise::Work work() const {
        const double elements = static_cast<double>(count);
        return {.bytes = 2 * sizeof(float) * elements, .operations = 2 * elements};
    }

    static std::size_t device_bytes(const warpwise::Size& size) { return 2 * sizeof(float) * size[0]; }
};

// ---- steps --------------------------------------------------------------------------------------------------------

// Step 1, one core of the host.
void serial(Scale& problem) {
    for (std::size_t i = 0; i < problem.count; ++i) problem.out[i] = 2 * problem.in[i] + 1;
    problem.out_is_on_host = true;
}

// Steps 2 and 3, one load a thread under way: its value is needed at once, by the store before the next load. (nvcc
// must not unroll the loop: it would put several loads in front.) Step 2 runs with as many blocks as an SM holds.
// Step 3 is the same kernel with a single block an SM. Slow: where there were 8, an eighth of the bytes is under way.
__global__ void scale_one(const float* __restrict__ in, float* __restrict__ out, std::size_t count) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
#pragma unroll 1
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
        out[i] = 2 * in[i] + 1;
    }
}

// Steps 4 and 5, kElements independent loads before the first value is used, still with a single block an SM. A
// thread's elements lie a block's width apart, so that neighboring threads have neighboring elements. Better: as many
// times the bytes under way. Slow: as many instructions as before, each for 4 bytes.
template <unsigned kElements>
__global__ void scale_many(const float* __restrict__ in, float* __restrict__ out, std::size_t count) {
    const std::size_t chunk = std::size_t{blockDim.x} * kElements;
#pragma unroll 1
    for (std::size_t first = blockIdx.x * chunk; first < count; first += gridDim.x * chunk) {
        const std::size_t i = first + threadIdx.x;
        if (first + chunk <= count) {
            float values[kElements];
#pragma unroll
            for (unsigned k = 0; k < kElements; ++k) values[k] = in[i + k * blockDim.x];
#pragma unroll
            for (unsigned k = 0; k < kElements; ++k) out[i + k * blockDim.x] = 2 * values[k] + 1;
        } else {
            for (std::size_t k = i; k < count; k += blockDim.x) out[k] = 2 * in[k] + 1;
        }
    }
}

// Step 6, independent loads of 16 bytes: sixteen floats a thread under way with four instructions, and still a single
// block an SM. The arrays begin at multiples of 16 bytes, as allocations do; the last one to three elements are done
// one by one. More threads should add little to that.
template <unsigned kVectors>
__global__ void scale_vectors(const float* __restrict__ in, float* __restrict__ out, std::size_t count) {
    const auto* from = reinterpret_cast<const float4*>(in);
    auto* to = reinterpret_cast<float4*>(out);
    const auto scaled = [](float4 v) { return make_float4(2 * v.x + 1, 2 * v.y + 1, 2 * v.z + 1, 2 * v.w + 1); };
    const std::size_t vectors = count / 4;
    const std::size_t chunk = std::size_t{blockDim.x} * kVectors;
#pragma unroll 1
    for (std::size_t first = blockIdx.x * chunk; first < vectors; first += gridDim.x * chunk) {
        const std::size_t i = first + threadIdx.x;
        if (first + chunk <= vectors) {
            float4 values[kVectors];
#pragma unroll
            for (unsigned k = 0; k < kVectors; ++k) values[k] = from[i + k * blockDim.x];
#pragma unroll
            for (unsigned k = 0; k < kVectors; ++k) to[i + k * blockDim.x] = scaled(values[k]);
        } else {
            for (std::size_t k = i; k < vectors; k += blockDim.x) to[k] = scaled(from[k]);
        }
    }
    const std::size_t rest = 4 * vectors + threadIdx.x;
    if (blockIdx.x == 0 && rest < count) out[rest] = 2 * in[rest] + 1;
}

using Kernel = void (*)(const float*, float*, std::size_t);

struct Variant {
    const char* name;
    Kernel kernel;
    std::size_t bytes_under_way;  // of a thread
};
constexpr std::array<Variant, 5> variants = {{{"1 float", scale_one, 4},
                                              {"2 floats", scale_many<2>, 8},
                                              {"4 floats", scale_many<4>, 16},
                                              {"8 floats", scale_many<8>, 32},
                                              {"4 float4", scale_vectors<4>, 64}}};

cudaDeviceProp this_device() {
    int device = 0;
    cudaDeviceProp properties{};
    check(cudaGetDevice(&device));
    check(cudaGetDeviceProperties(&properties, device));
    return properties;
}

// Dynamic shared memory that nobody uses: so much for each block that only `blocks` of them fit on an SM.
std::size_t ballast_for(const Multiprocessor& sm, int blocks) {
    const std::size_t share = sm.shared_bytes / static_cast<std::size_t>(blocks) / sm.shared_unit * sm.shared_unit;
    return std::min(share - sm.reserved_bytes_of_a_block, sm.shared_bytes_of_a_block);
}

// The grid just fills the device, or has fewer blocks where there is less to do.
void launch(Kernel kernel, Scale& problem, std::size_t ballast = 0, int threads = kThreads) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(ballast)));
    const auto block = static_cast<unsigned>(threads);
    const unsigned grid =
        std::min(warpwise::blocks_that_fill(kernel, block, ballast), warpwise::blocks_for(problem.count, block));
    kernel<<<grid, block, ballast>>>(problem.d_in.data(), problem.d_out.data(), problem.count);
    warpwise::check_launch();
}

template <Kernel kernel>
void one_block_an_sm(Scale& problem) {
    launch(kernel, problem, ballast_for(multiprocessor_of(this_device()), 1));
}

// ---- by hand and by the API ---------------------------------------------------------------------------------------

// A kernel that needs many registers: a thread keeps kHeld values while it adds them up, to divide them by the sum.
template <unsigned kHeld>
__global__ void divide_by_sum(float* values) {
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x * kHeld + threadIdx.x;
    float held[kHeld];
    float sum = 0;
#pragma unroll
    for (unsigned k = 0; k < kHeld; ++k) sum += held[k] = values[first + k * blockDim.x];
    const float factor = 1 / sum;
#pragma unroll
    for (unsigned k = 0; k < kHeld; ++k) values[first + k * blockDim.x] = held[k] * factor;
}

// What the API says of a kernel that may have all the shared memory there is.
template <class AnyKernel>
int blocks_by_api(const Multiprocessor& sm, AnyKernel kernel, int threads, std::size_t shared_bytes) {
    int blocks = 0;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(sm.shared_bytes_of_a_block)));
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes));
    return blocks;
}

template <class AnyKernel>
int registers_of(AnyKernel kernel) {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel));
    return attributes.numRegs;
}

// Holds the calculation against the API, for one kernel in many shapes. Returns what it is to be told of.
template <class AnyKernel>
std::string compare_with_api(warpwise::Lesson& lesson, const Multiprocessor& sm, const char* name, AnyKernel kernel) {
    const int registers = registers_of(kernel);
    int cases = 0, equal = 0;
    for (const int threads : {1, 32, 33, 64, 96, 128, 160, 192, 256, 320, 384, 512, 640, 768, 1024}) {
        for (const std::size_t wanted : {0, 1, 1024, 5000, 16384, 30000, 48 * 1024, 65536 - 1024, 100000}) {
            const std::size_t shared = std::min(wanted, sm.shared_bytes_of_a_block);
            const int by_hand = resident_blocks(sm, {threads, registers, shared}).blocks;
            equal += by_hand == blocks_by_api(sm, kernel, threads, shared);
            ++cases;
        }
    }
    const std::string agreement = std::to_string(equal) + " of " + std::to_string(cases);
    lesson.expect(equal == cases, std::string(name) + ": calculation and API agree in " + agreement + " cases");
    return "\n    " + agreement + " cases agree: " + std::to_string(registers) + " registers, " + name;
}

void show_agreement(warpwise::Lesson& lesson, const Multiprocessor& sm) {
    std::string text;
    for (const Variant& variant : variants) text += compare_with_api(lesson, sm, variant.name, variant.kernel);
    text += compare_with_api(lesson, sm, "16 values held", divide_by_sum<16>);
    text += compare_with_api(lesson, sm, "48 values held", divide_by_sum<48>);
    lesson.text(text.substr(1));
}

// The four quotients, for a block as a lesson might have it.
void show_an_example(warpwise::Lesson& lesson, const Multiprocessor& sm, const Needs& block) {
    const auto number = [](auto value) { return std::to_string(value); };
    const int warps = warps_of(block.threads);
    const int registers = round_up(block.registers_of_a_thread * 32, sm.register_unit);
    const int warps_by_registers = sm.quarters * (sm.registers / sm.quarters / registers);
    const std::size_t shared = round_up(block.shared_bytes + sm.reserved_bytes_of_a_block, sm.shared_unit);
    lesson.table("A block of 256 threads with 40 registers each and 20000 bytes of shared memory, on this device",
                 {"what", "an SM has", "a block takes", "blocks"},
                 {{"blocks", number(sm.blocks), "1", number(sm.blocks)},
                  {"threads", number(sm.warps) + " warps", number(warps) + " warps", number(sm.warps / warps)},
                  {"registers", "4 x " + number(sm.registers / 4) + ": " + number(warps_by_registers) + " warps",
                   number(warps) + " warps of " + number(registers), number(warps_by_registers / warps)},
                  {"shared memory", number(sm.shared_bytes) + " bytes", number(shared) + " bytes",
                   number(sm.shared_bytes / shared)}});
    const Resident resident = resident_blocks(sm, block);
    lesson.text("The least of them is " + number(resident.blocks) + ", by the limit of " + resident.limit +
                ": an occupancy of " + percent(occupancy_of(sm, resident.blocks, block.threads)) + ".");
}

// The price of a register. No kernel here has just so many; but counting launches on the CPU device takes a number.
void show_registers(warpwise::Lesson& lesson, const Multiprocessor& sm) {
    std::vector<std::vector<std::string>> rows;
    for (const int registers : {16, 32, 33, 40, 41, 64, 65, 96, 128, 168, 255}) {
        rows.push_back({std::to_string(registers)});
        for (const int threads : {96, 256, 512, 1024}) {
            const Resident resident = resident_blocks(sm, {threads, registers, 0});
            const double share = occupancy_of(sm, resident.blocks, threads);
            rows.back().push_back(std::to_string(resident.blocks) + " (" + percent(share) + ")");
            DeviceBuffer<float> d_values(std::vector<float>(8 * static_cast<std::size_t>(threads), 3));
            const auto launches = warpwise::count_launches([&] { divide_by_sum<8><<<1, threads>>>(d_values.data()); },
                                                           {.registers = registers, .lines = false});
            warpwise::check_launch();
            const std::vector<float> shares = d_values.download();  // of 8 equal values, each is an eighth of the sum
            lesson.expect(std::all_of(shares.begin(), shares.end(), [](float v) { return v == 0.125f; }),
                          "each value is divided by the sum");
            for (const warpwise::LaunchCounts& counts : launches) {
                lesson.expect(counts.occupancy == share,
                              std::to_string(registers) + " registers: calculation and CPU device agree");
            }
        }
    }
    lesson.table("Resident blocks and occupancy by registers a thread",
                 {"registers a thread", "96 threads", "256 threads", "512 threads", "1024 threads"}, rows);
}

// ---- sweeps -------------------------------------------------------------------------------------------------------

std::size_t size_of_sweeps(const warpwise::Lesson& lesson) { return std::size_t{1} << (lesson.measures() ? 26 : 16); }

std::string gigabytes_per_second(const Scale& problem, const warpwise::Timing& timing) {
    return text_of("%.0f", problem.work().bytes / timing.median * 1e-9);
}

// The kernel of step 2 with blocks from half a warp to the largest.
void sweep_block_sizes(warpwise::Lesson& lesson, const Multiprocessor& sm) {
    const int registers = registers_of(scale_one);
    Scale problem({size_of_sweeps(lesson)});
    std::vector<std::vector<std::string>> rows;
    std::vector<warpwise::Candidate> candidates;
    int most_warps = 0;
    for (const int threads : {16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 640, 768, 1024}) {
        const Resident resident = resident_blocks(sm, {threads, registers, 0});
        most_warps = std::max(most_warps, resident.blocks * warps_of(threads));
        problem.poison();
        launch(scale_one, problem, 0, threads);
        lesson.expect(problem.compare().passed, "blocks of " + std::to_string(threads) + " threads are right");
        rows.push_back({std::to_string(threads), std::to_string(warps_of(threads)), std::to_string(resident.blocks),
                        percent(occupancy_of(sm, resident.blocks, threads)), resident.limit,
                        text_of("%.1f", resident.blocks * threads * sizeof(float) / 1024.0)});
        candidates.push_back({[&problem, threads] { launch(scale_one, problem, 0, threads); }});
    }
    std::vector<std::string> header = {"threads a block", "warps", "blocks an SM",
                                       "occupancy",       "limit", "KiB under way an SM"};
    if (lesson.measures()) {
        header.push_back("GB/s");
        const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(candidates, {.seconds = 0.1});
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i].push_back(gigabytes_per_second(problem, timings[i]));
        }
    }
    lesson.table("Occupancy against block size, one float a thread", header, rows);

    int grid = 0, threads = 0;
    check(cudaOccupancyMaxPotentialBlockSize(&grid, &threads, scale_one));
    const Resident resident = resident_blocks(sm, {threads, registers, 0});
    lesson.expect(grid == resident.blocks * this_device().multiProcessorCount,
                  "the grid that cudaOccupancyMaxPotentialBlockSize proposes is that of the calculation");
    lesson.expect(resident.blocks * warps_of(threads) >= most_warps,
                  "no block size of the sweep has more warps than that of cudaOccupancyMaxPotentialBlockSize");
    lesson.text("cudaOccupancyMaxPotentialBlockSize proposes " + std::to_string(grid) + " blocks of " +
                std::to_string(threads) +
                R"( threads: the largest block with the highest occupancy, and as many as fill the device. It knows
nothing of what the kernel does, so take it for the start of a search and not for its end.)");
}

// Every kernel with 1 to 8 resident blocks: what is under way, and on a GPU how fast it is. On the CPU device the
// counters show that nothing else changes.
void sweep_residents(warpwise::Lesson& lesson, const Multiprocessor& sm) {
    const bool measures = lesson.measures();
    Scale problem({size_of_sweeps(lesson)});
    std::vector<std::string> header = {"blocks an SM", "occupancy"};
    for (const Variant& variant : variants) header.emplace_back(variant.name);
    std::vector<std::vector<std::string>> bytes, rates;
    std::vector<warpwise::Candidate> candidates;
    for (const int blocks : {1, 2, 3, 4, 6, 8}) {
        const double share = occupancy_of(sm, blocks, kThreads);
        if (share > 1) continue;
        bytes.push_back({std::to_string(blocks), percent(share)});
        for (const Variant& variant : variants) {
            const std::string name = std::string(variant.name) + ", " + std::to_string(blocks) + " blocks an SM: ";
            const std::size_t ballast = ballast_for(sm, blocks);
            const auto run = [&problem, &variant, ballast] { launch(variant.kernel, problem, ballast); };
            lesson.expect(blocks_by_api(sm, variant.kernel, kThreads, ballast) == blocks, name + "the API agrees");
            problem.poison();
            for (const warpwise::LaunchCounts& counts : warpwise::count_launches(run, {.lines = false})) {
                lesson.expect(counts.occupancy == share, name + "the CPU device agrees");
                lesson.expect(counts.total.global_load.bytes == 4.0 * static_cast<double>(problem.count) &&
                                  counts.total.global_load.bytes_moved() == counts.total.global_load.bytes,
                              name + "each byte is loaded once");
            }
            lesson.expect(problem.compare().passed, name + "the result is right");
            candidates.push_back({run});
            bytes.back().push_back(std::to_string(variant.bytes_under_way * kThreads * blocks / 1024));
        }
    }
    lesson.table("KiB under way an SM against blocks an SM, blocks of 256 threads", header, bytes);

    const std::vector<warpwise::Timing> timings =
        measures ? warpwise::measure_in_turn(candidates, {.seconds = 0.1}) : std::vector<warpwise::Timing>();
    for (std::size_t i = 0; i < timings.size(); ++i) {
        const std::vector<std::string>& row = bytes[i / variants.size()];
        if (i % variants.size() == 0) rates.push_back({row[0], row[1]});
        rates.back().push_back(gigabytes_per_second(problem, timings[i]));
    }
    const std::string title = "GB/s against blocks an SM, blocks of 256 threads";
    if (measures) {
        lesson.table(title, header, rates);
    } else {
        lesson.show_recorded(title);
    }
}

// ---- waves --------------------------------------------------------------------------------------------------------

// The same long work for every block: each operation of a thread needs the result of the one before.
__global__ void work_a_while(float* results, int rounds) {
    float value = static_cast<float>(threadIdx.x);
    for (int round = 0; round < rounds; ++round) value = fmaf(value, 0.999f, 0.5f);
    results[std::size_t{blockIdx.x} * blockDim.x + threadIdx.x] = value;
}

// Grids around multiples of what is resident at once. With one block an SM, a last wave of one block takes as long as
// a full one.
void sweep_grids(warpwise::Lesson& lesson, const Multiprocessor& sm) {
    const int rounds = lesson.measures() ? 20000 : 16;
    const std::size_t ballast = ballast_for(sm, 1);
    check(cudaFuncSetAttribute(work_a_while, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(ballast)));
    const unsigned wave = warpwise::blocks_that_fill(work_a_while, kThreads, ballast);
    const std::vector<unsigned> grids = {wave,         wave + 1,     wave * 3 / 2, 2 * wave,
                                         2 * wave + 1, 4 * wave + 1, 16 * wave,    16 * wave + 1};
    DeviceBuffer<float> d_results(std::size_t{grids.back()} * kThreads);
    const auto run = [&](unsigned grid) {
        work_a_while<<<grid, kThreads, ballast>>>(d_results.data(), rounds);
        warpwise::check_launch();
    };
    d_results.fill_bytes(0xFF);
    run(grids.back());
    std::vector<double> expected(kThreads);
    for (std::size_t i = 0; i < kThreads; ++i) {
        expected[i] = static_cast<double>(i);
        for (int round = 0; round < rounds; ++round) expected[i] = expected[i] * double{0.999f} + 0.5;
    }
    // A round adds half a unit in the last place (of values below 512) and shrinks earlier errors by a thousandth.
    const auto result = [&](std::size_t i) { return expected[i % kThreads]; };
    lesson.expect(warpwise::compare_each(d_results.download(), d_results.size(), result, {.absolute = 0x1p-6}).passed,
                  "every block of the largest grid has done its work");

    std::vector<warpwise::Candidate> candidates;
    for (const unsigned grid : grids) candidates.push_back({[&run, grid] { run(grid); }});
    std::vector<warpwise::Timing> timings(grids.size());
    std::vector<std::string> header = {"blocks", "waves", "places used"};
    if (lesson.measures()) {
        timings = warpwise::measure_in_turn(candidates, {.seconds = 0.1, .flush_l2 = false});
        header.push_back("time, in full waves");
    }
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < grids.size(); ++i) {
        const std::size_t waves = warpwise::ceil_div(grids[i], wave);
        rows.push_back({std::to_string(grids[i]), std::to_string(waves),
                        percent(static_cast<double>(grids[i]) / static_cast<double>(waves * wave))});
        if (lesson.measures()) {
            rows.back().push_back(text_of("%.2f", timings[i].median / timings[0].median));
        }
    }
    lesson.table("Waves of a grid, one block an SM", header, rows);
}

}  // namespace

void occupancy(warpwise::Lesson& lesson) {
    const Multiprocessor sm = multiprocessor_of(this_device());
    lesson.text(
        R"(A multiprocessor (SM) need not wait for a load as long as it holds another warp that can go on. So it is
given many more warps than it can run in a cycle. Occupancy is how many it holds, as a share of the most it could.

What you will see: the occupancy of a kernel, by hand and by asking; which of four limits decides it; a kernel of
the lowest occupancy with more bytes under way than one of the highest; grids whose last wave of blocks is nearly
empty.

A block moves in as a whole or not at all. So divide what an SM has by what a block takes, four times, and take the
least:

    blocks          as many as the SM has places for
    threads         in whole warps: 33 threads take two
    registers       a warp's are rounded up to 256, and all of them lie in one quarter of the register file
    shared memory   with 1 KiB for the system (since compute capability 8.0), rounded up to 128 bytes (7.x: 256))");
    show_an_example(lesson, sm, {kThreads, 40, 20000});
    lesson.text(
        R"(cudaOccupancyMaxActiveBlocksPerMultiprocessor works it out for you, from a kernel, a block size and the
dynamic shared memory. Which limit it was, and so what to change, only the calculation tells. Both are compared here
for blocks of 1 to 1024 threads with 0 to 100000 bytes.)");
    show_agreement(lesson, sm);
    if (!warpwise::Lesson::on_gpu()) {
        lesson.text(
            "(The CPU device takes 32 registers a thread for every kernel. What nvcc takes, -Xptxas -v tells.)");
    }
    lesson.text(
        R"(Predict: with 32 registers a thread, 2048 threads just fill a register file of 65536. What does the 33rd
cost, and what the 41st? And which block size suffers most?)");
    show_registers(lesson, sm);
    lesson.text(
        R"(Registers come 256 a warp, 8 a thread. So the 33rd costs as much as eight, 48 warps instead of 64 on an
SM that could hold so many, and 34 to 40 are free. A block of 1024 threads needs places for 32 warps at once: where
there are 48, a third stays empty. With more than 64 registers it cannot run at all. Small blocks leave less over.

Now the block size, for a kernel with few registers and no shared memory. Which is the smallest that fills an
SM?)");
    sweep_block_sizes(lesson, sm);
    lesson.text("On this device an SM has places for " + std::to_string(sm.blocks) + " blocks and " +
                std::to_string(sm.warps) + " warps: blocks of " +
                std::to_string((sm.warps + sm.blocks - 1) / sm.blocks) +
                R"( warps are enough to fill it. Half a warp takes the place of a whole one, and leaves half of its
lanes idle. Sizes that do not divide the SM's threads, such as 640, leave a rest that nobody can use.

What is occupancy good for? J. Little's law (1961) tells: under way = throughput x latency. An H200's memory
delivers 4.8 TB/s (data sheet), and a load takes 332 ns (measured by lesson memory_spaces, with nothing else going
on). That makes 1.6 MB that must be under way at any time, 12 KiB an SM. Half of what this kernel moves are stores,
which no warp waits for; but in traffic the way takes longer. So take 6 KiB of loads for the least.

2048 threads with a float each are 8 KiB: even full occupancy has little to spare. V. Volkov showed in 2010 (Better
performance at lower occupancy, GTC) that one thread may as well have several loads under way, and that few threads
with much work each can then beat many. Predict: a single block of 256 threads an SM, each with 8 floats under way,
against eight blocks with one float. Which has more? And with four float4?)");
    sweep_residents(lesson, sm);
    lesson.text(
        R"(One block with 8 floats a thread has as much under way as eight blocks with one: 8 KiB. Four float4 a
thread are twice that, at an occupancy of 12.5 % where an SM has places for 64 warps. If Little is right, kernels
with equal numbers in this table are about equally fast, wherever they stand, until the memory has enough.

On an H200 they are, within a fifth: 8 KiB make 2495 to 3022 GB/s, 16 KiB 3247 to 3574. Of equal numbers the kernel
with more threads is mostly ahead. And 6 KiB are the least indeed, and far from enough: 8 times the bytes under way, 8
KiB after 1, make 4.5 times the rate, because in traffic a round of loads takes 0.72 us and no longer 0.41. Some 32 KiB
are what it takes.

The same as steps. A single block an SM is forced by dynamic shared memory that nobody uses.)");
    lesson.steps<Scale>(
        {.gpu = {std::size_t{1} << 28},
         .cpu = {std::size_t{1} << 18},
         .awkward = {{0}, {1}, {3}, {31}, {32}, {33}, {255}, {257}, {1009}, {2047}, {2049}, {4097}, {40961}}},
        {{"serial", "one core of the host", serial, warpwise::StepKind::host},
         {"one_float", "a float a thread, all blocks that fit", [](Scale& problem) { launch(scale_one, problem); }},
         {"one_float_one_block", "a single block an SM", one_block_an_sm<scale_one>},
         {"four_floats_one_block", "4 loads before the first use", one_block_an_sm<scale_many<4>>},
         {"eight_floats_one_block", "8 loads before the first use", one_block_an_sm<scale_many<8>>},
         {"four_float4_one_block", "4 loads of 16 bytes before the first use", one_block_an_sm<scale_vectors<4>>}});
    lesson.text(
        lesson.measures()
            ? R"(Compare one_float_one_block with four_float4_one_block: the same threads, the same occupancy. Where
the last step comes up to one_float or passes it, as on an H200, occupancy is not what mattered.)"
            : R"(All steps move the same bytes, and only the last one with fewer requests. Occupancy tells step 2
from the others; what tells the others from each other, loads under way at a time, is no column here. On an H200 it
was the time: 710 us for step 2, then 3.21 ms, 1.27 ms, 864 us and 618 us.)");

    lesson.text(
        R"(Last, the grid. As many blocks as are resident at once are a wave. If all take equally long, a grid of
one wave and one block takes as long as two waves, and through the second nearly all SMs idle. Predict how much of
its places each grid uses.)");
    sweep_grids(lesson, sm);
    lesson.text(
        R"(Times contain the launch. On an H200 two waves took 1.87 times as long as one, and 16 waves 14.07 times:
0.13 for the launch, 0.87 for each wave. With that the prediction is right: one block more than a wave costs as much
as two waves.

The tail hurts short grids; after 16 waves it is a few percent. Ways out: a grid-stride loop with exactly
one wave of blocks (blocks_that_fill in common/helpers/launch_shape.h), smaller blocks, or many waves. Here an SM
holds one block. Where it holds more, a lone block of the last wave has an SM to itself, and is done sooner than in
a crowd.

The advice of 2010 was: a grid of at least 3 blocks an SM (4 with barriers), blocks of at least 4 warps, an
occupancy of about 0.5. What of it still holds?

    4 warps   An SM of that time (compute capability 1.3) had places for 8 blocks and 32 warps: no smaller block
              filled it. Today 2 or 3 warps do, as the sweep of block sizes says; 4 are never wrong.
    3 blocks  So that one works while another waits, at a load or at a barrier. Not enough today for a thread with
              one load under way (on an H200 1695 GB/s, and 3022 with 8 blocks), and with four float4 all there is.
    0.5       Of 8 KiB, that is 4: too few for a float a thread on an H200 (2104 GB/s of 3022), and more than enough
              for four float4 (3817).

The rule behind these rules is Little's: count what is under way.

When to use it: if neither memory nor arithmetic is busy, warps wait for something. Raise the factor that you can raise
without lowering the other. Where the SM is full, as in step 2, give each thread more independent work. Where it is not,
look for the limit, and whether it is close to the next step: with 41 registers one is too many, with 48 eight are.
But registers taken away by force (__launch_bounds__, -maxrregcount) may spill to local memory.

Mistakes to avoid: taking 100 % for the goal; blocks that are no multiple of 32; asking the API without the launch's
dynamic shared memory; expecting the theoretical occupancy throughout, when tails and uneven blocks lower the
achieved one.

Try next: the calculation is yours to write in the exercise occupancy_by_hand. Or see what 64 registers make of the
steps:

    optimization occupancy --registers 64
    optimization occupancy --size 1000003 --check)");
}

}  // namespace optimization
