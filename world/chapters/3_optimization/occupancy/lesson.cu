// Problem: out[i] = 2 in[i] + 1. How many threads must a multiprocessor (SM) hold to do
// that at the memory's speed?
//
// A load takes hundreds of cycles, and a warp that needs its value waits. Meanwhile the SM
// runs another warp, if it holds one. Occupancy is the number of warps that an SM holds, as
// a fraction of the most that it could hold: 100 % is the largest choice of warps to switch
// to. It is a means, not the end: what has to be large is the number of bytes in flight,
// and a few threads with many loads each do as well as many threads with one.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "chapters/3_optimization/occupancy/kernels.cuh"
#include "chapters/3_optimization/occupancy/resident_blocks.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/instrument.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace optimization {
namespace {

using warpwise::check;
using warpwise::counted;
using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr int kThreads = 256;  // per block, unless a table says otherwise

std::string percent(double share) { return text_of("%.3g %%", 100 * share); }

// ---- the problem ------------------------------------------------------------------------

struct Scale {
    std::size_t count;
    std::vector<float> in, out;
    DeviceBuffer<float> d_in, d_out;
    bool out_is_on_host = false;  // set by the step that leaves its result in `out`

    explicit Scale(const warpwise::Size& size)
        : count(size[0]),
          in(warpwise::uniform<float>(count, 41)),
          out(count),
          d_in(in),
          d_out(count) {}

    void poison() {
        std::fill(out.begin(), out.end(), NAN);
        d_out.fill_bytes(0xFF);
        out_is_on_host = false;
    }

    // The doubling is exact, so there is one rounding, with a fused multiply-add or
    // without.
    warpwise::Comparison compare() {
        if (!out_is_on_host) out = d_out.download();
        return warpwise::compare_each(out, count,
                                      [&](std::size_t i) { return 2.0 * in[i] + 1; },
                                      {.absolute = 0x1p-23});
    }

    // Each element is read once and written once; a multiplication and an addition.
    warpwise::Work work() const {
        const double elements = static_cast<double>(count);
        return {.bytes = 2 * sizeof(float) * elements, .operations = 2 * elements};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return 2 * sizeof(float) * size[0];
    }
};

// ---- steps ------------------------------------------------------------------------------

// Step 1, one core of the host.
void serial(Scale& problem) {
    for (std::size_t i = 0; i < problem.count; ++i) problem.out[i] = 2 * problem.in[i] + 1;
    problem.out_is_on_host = true;
}

using Kernel = void (*)(const float*, float*, std::size_t);

struct Variant {
    const char* name;
    Kernel kernel;
    std::size_t bytes_in_flight;  // per thread
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

// Dynamic shared memory that nobody uses: so much for each block that only `blocks` of them
// fit on an SM.
std::size_t ballast_for(const Multiprocessor& sm, int blocks) {
    const std::size_t share = sm.shared_bytes / static_cast<std::size_t>(blocks) /
                              sm.shared_unit * sm.shared_unit;
    return std::min(share - sm.reserved_bytes_of_a_block, sm.shared_bytes_of_a_block);
}

// The grid just fills the device, or has fewer blocks where there is less to do.
void launch(Kernel kernel, Scale& problem, std::size_t ballast = 0,
            int threads = kThreads) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(ballast)));
    const auto block = static_cast<unsigned>(threads);
    const unsigned grid = std::min(warpwise::blocks_that_fill(kernel, block, ballast),
                                   warpwise::blocks_for(problem.count, block));
    kernel<<<grid, block, ballast>>>(problem.d_in.data(), problem.d_out.data(),
                                     problem.count);
    warpwise::check_launch();
}

template <Kernel kernel>
void one_block_per_sm(Scale& problem) {
    launch(kernel, problem, ballast_for(multiprocessor_of(this_device()), 1));
}

// ---- by hand and by the API -------------------------------------------------------------

// What the API says of a kernel that may have all the shared memory there is.
template <class AnyKernel>
int blocks_by_api(const Multiprocessor& sm, AnyKernel kernel, int threads,
                  std::size_t shared_bytes) {
    int blocks = 0;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(sm.shared_bytes_of_a_block)));
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads,
                                                        shared_bytes));
    return blocks;
}

template <class AnyKernel>
int registers_of(AnyKernel kernel) {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel));
    return attributes.numRegs;
}

// Compares the calculation with the API, for one kernel in many shapes. Returns a line that
// says so.
template <class AnyKernel>
std::string compare_with_api(warpwise::Lesson& lesson, const Multiprocessor& sm,
                             const char* name, AnyKernel kernel) {
    const int registers = registers_of(kernel);
    int cases = 0, equal = 0;
    for (const int threads :
         {1, 32, 33, 64, 96, 128, 160, 192, 256, 320, 384, 512, 640, 768, 1024}) {
        for (const std::size_t wanted :
             {0, 1, 1024, 5000, 16384, 30000, 48 * 1024, 65536 - 1024, 100000}) {
            const std::size_t shared = std::min(wanted, sm.shared_bytes_of_a_block);
            const int by_hand = resident_blocks(sm, {threads, registers, shared}).blocks;
            equal += by_hand == blocks_by_api(sm, kernel, threads, shared);
            ++cases;
        }
    }
    const std::string agreement = std::to_string(equal) + " of " + std::to_string(cases);
    lesson.expect(equal == cases, std::string(name) + ": calculation and API agree in " +
                                      agreement + " cases");
    return "\n    " + agreement + " cases agree: " + std::to_string(registers) +
           " registers, " + name;
}

void show_agreement(warpwise::Lesson& lesson, const Multiprocessor& sm) {
    std::string text;
    for (const Variant& variant : variants)
        text += compare_with_api(lesson, sm, variant.name, variant.kernel);
    text += compare_with_api(lesson, sm, "16 values held", divide_by_sum<16>);
    text += compare_with_api(lesson, sm, "48 values held", divide_by_sum<48>);
    lesson.text(
        "Calculation and API, for blocks of 1 to 1024 threads with 0 to 100000 bytes of "
        "shared memory:\n" +
        text);
}

// The four quotients, for a block as a lesson might have it. Returns the least of them, in
// words.
std::string show_an_example(warpwise::Lesson& lesson, const Multiprocessor& sm,
                            const Needs& block) {
    const auto number = [](auto value) { return std::to_string(value); };
    const int warps = warps_of(block.threads);
    const int registers = round_up(block.registers_of_a_thread * 32, sm.register_unit);
    const int warps_by_registers = sm.quarters * (sm.registers / sm.quarters / registers);
    const std::size_t shared =
        round_up(block.shared_bytes + sm.reserved_bytes_of_a_block, sm.shared_unit);
    lesson.table(
        {"resources",
         "A block of 256 threads with 40 registers each and 20000 bytes of shared memory, "
         "on this device"},
        {"what", "an SM has", "a block takes", "blocks"},
        {{"blocks", number(sm.blocks), "1", number(sm.blocks)},
         {"threads", number(sm.warps) + " warps", number(warps) + " warps",
          number(sm.warps / warps)},
         {"registers",
          "4 x " + number(sm.registers / 4) + ": " + number(warps_by_registers) + " warps",
          number(warps) + " warps of " + number(registers),
          number(warps_by_registers / warps)},
         {"shared memory", number(sm.shared_bytes) + " bytes", number(shared) + " bytes",
          number(sm.shared_bytes / shared)}});
    const Resident resident = resident_blocks(sm, block);
    return "The least quotient is " + number(resident.blocks) + ", by the limit of " +
           resident.limit + ": an occupancy of " +
           percent(occupancy_of(sm, resident.blocks, block.threads)) + ".";
}

// The price of a register. No kernel here has just so many; but counting launches on the
// CPU device takes a number.
void show_registers(warpwise::Lesson& lesson, const Multiprocessor& sm) {
    std::vector<std::vector<std::string>> rows;
    for (const int registers : {16, 32, 33, 40, 41, 64, 65, 96, 128, 168, 255}) {
        rows.push_back({std::to_string(registers)});
        for (const int threads : {96, 256, 512, 1024}) {
            const Resident resident = resident_blocks(sm, {threads, registers, 0});
            const double share = occupancy_of(sm, resident.blocks, threads);
            rows.back().push_back(std::to_string(resident.blocks) + " (" + percent(share) +
                                  ")");
            DeviceBuffer<float> d_values(
                std::vector<float>(8 * static_cast<std::size_t>(threads), 3));
            const auto launches = warpwise::count_launches(
                [&] { divide_by_sum<8><<<1, threads>>>(d_values.data()); },
                {.registers = registers, .lines = false});
            warpwise::check_launch();
            const std::vector<float> shares =
                d_values.download();  // of 8 equal values, each is an eighth of the sum
            lesson.expect(std::all_of(shares.begin(), shares.end(),
                                      [](float v) { return v == 0.125f; }),
                          "each value is divided by the sum");
            for (const warpwise::LaunchCounts& counts : launches) {
                lesson.expect(counts.occupancy == share,
                              std::to_string(registers) +
                                  " registers: calculation and CPU device agree");
            }
        }
    }
    lesson.table({"registers", "Resident blocks and occupancy by registers per thread"},
                 {"registers per thread", "96 threads", "256 threads", "512 threads",
                  "1024 threads"},
                 rows);
}

// ---- sweeps -----------------------------------------------------------------------------

std::size_t size_of_sweeps(const warpwise::Lesson& lesson) {
    return std::size_t{1} << (lesson.measures() ? 26 : 16);
}

std::string gigabytes_per_second(const Scale& problem, const warpwise::Timing& timing) {
    return text_of("%.0f", problem.work().bytes / timing.median * 1e-9);
}

// The kernel of step 2 with blocks from half a warp to the largest. Returns what
// cudaOccupancyMaxPotentialBlockSize proposes, in words.
std::string sweep_block_sizes(warpwise::Lesson& lesson, const Multiprocessor& sm) {
    const int registers = registers_of(scale_one);
    Scale problem({size_of_sweeps(lesson)});
    std::vector<std::vector<std::string>> rows;
    std::vector<warpwise::Candidate> candidates;
    int most_warps = 0;
    for (const int threads :
         {16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 640, 768, 1024}) {
        const Resident resident = resident_blocks(sm, {threads, registers, 0});
        most_warps = std::max(most_warps, resident.blocks * warps_of(threads));
        problem.poison();
        launch(scale_one, problem, 0, threads);
        lesson.expect(problem.compare().passed,
                      "blocks of " + std::to_string(threads) + " threads are right");
        rows.push_back(
            {std::to_string(threads), std::to_string(warps_of(threads)),
             std::to_string(resident.blocks),
             percent(occupancy_of(sm, resident.blocks, threads)), resident.limit,
             text_of("%.1f", resident.blocks * threads * sizeof(float) / 1024.0)});
        candidates.push_back(
            {[&problem, threads] { launch(scale_one, problem, 0, threads); }});
    }
    std::vector<std::string> header = {
        "threads per block", "warps", "blocks per SM",
        "occupancy",         "limit", "KiB in flight per SM"};
    if (lesson.measures()) {
        header.push_back("GB/s");
        const std::vector<warpwise::Timing> timings =
            warpwise::measure_in_turn(candidates, {.seconds = 0.1});
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i].push_back(gigabytes_per_second(problem, timings[i]));
        }
    }
    lesson.table({"block_size", "Occupancy against block size, one float per thread"},
                 header, rows);

    int grid = 0, threads = 0;
    check(cudaOccupancyMaxPotentialBlockSize(&grid, &threads, scale_one));
    const Resident resident = resident_blocks(sm, {threads, registers, 0});
    lesson.expect(grid == resident.blocks * this_device().multiProcessorCount,
                  "the grid that cudaOccupancyMaxPotentialBlockSize proposes is that of "
                  "the calculation");
    lesson.expect(resident.blocks * warps_of(threads) >= most_warps,
                  "no block size of the sweep has more warps than that of "
                  "cudaOccupancyMaxPotentialBlockSize");
    return "cudaOccupancyMaxPotentialBlockSize proposes " + std::to_string(grid) +
           " blocks of " + std::to_string(threads) + " threads.";
}

// Every kernel with 1 to 8 resident blocks: what is in flight, and on a GPU how fast it is.
// On the CPU device the counters show that nothing else changes.
void sweep_residents(warpwise::Lesson& lesson, const Multiprocessor& sm) {
    const bool measures = lesson.measures();
    Scale problem({size_of_sweeps(lesson)});
    std::vector<std::string> header = {"blocks per SM", "occupancy"};
    for (const Variant& variant : variants) header.emplace_back(variant.name);
    std::vector<std::vector<std::string>> bytes, rates;
    std::vector<warpwise::Candidate> candidates;
    for (const int blocks : {1, 2, 3, 4, 6, 8}) {
        const double share = occupancy_of(sm, blocks, kThreads);
        if (share > 1) continue;
        bytes.push_back({std::to_string(blocks), percent(share)});
        for (const Variant& variant : variants) {
            const std::string name = std::string(variant.name) + ", " +
                                     counted(static_cast<std::size_t>(blocks), "block") +
                                     " per SM: ";
            const std::size_t ballast = ballast_for(sm, blocks);
            const auto run = [&problem, &variant, ballast] {
                launch(variant.kernel, problem, ballast);
            };
            lesson.expect(blocks_by_api(sm, variant.kernel, kThreads, ballast) == blocks,
                          name + "the API agrees");
            problem.poison();
            for (const warpwise::LaunchCounts& counts :
                 warpwise::count_launches(run, {.lines = false})) {
                lesson.expect(counts.occupancy == share, name + "the CPU device agrees");
                lesson.expect(counts.total.global_load.bytes ==
                                      4.0 * static_cast<double>(problem.count) &&
                                  counts.total.global_load.bytes_moved() ==
                                      counts.total.global_load.bytes,
                              name + "each byte is loaded once");
            }
            lesson.expect(problem.compare().passed, name + "the result is right");
            candidates.push_back({run});
            bytes.back().push_back(
                std::to_string(variant.bytes_in_flight * kThreads * blocks / 1024));
        }
    }
    lesson.table({"bytes_in_flight",
                  "KiB in flight per SM against blocks per SM, blocks of 256 threads"},
                 header, bytes);

    const std::vector<warpwise::Timing> timings =
        measures ? warpwise::measure_in_turn(candidates, {.seconds = 0.1})
                 : std::vector<warpwise::Timing>();
    for (std::size_t i = 0; i < timings.size(); ++i) {
        const std::vector<std::string>& row = bytes[i / variants.size()];
        if (i % variants.size() == 0) rates.push_back({row[0], row[1]});
        rates.back().push_back(gigabytes_per_second(problem, timings[i]));
    }
    if (measures) {
        lesson.table({"bandwidth", "GB/s against blocks per SM, blocks of 256 threads"},
                     header, rates);
    } else {
        lesson.show_recorded("bandwidth");
    }
}

// ---- waves ------------------------------------------------------------------------------

// Grids around multiples of what is resident at once. With one block per SM, a last wave of
// one block takes as long as a full one.
void sweep_grids(warpwise::Lesson& lesson, const Multiprocessor& sm) {
    const int rounds = lesson.measures() ? 20000 : 16;
    const std::size_t ballast = ballast_for(sm, 1);
    check(cudaFuncSetAttribute(work_a_while, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(ballast)));
    const unsigned wave = warpwise::blocks_that_fill(work_a_while, kThreads, ballast);
    const std::vector<unsigned> grids = {wave,      wave + 1,     wave * 3 / 2,
                                         2 * wave,  2 * wave + 1, 4 * wave + 1,
                                         16 * wave, 16 * wave + 1};
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
        for (int round = 0; round < rounds; ++round)
            expected[i] = expected[i] * double{0.999f} + 0.5;
    }
    // A round adds half a unit in the last place (of values below 512) and shrinks earlier
    // errors by a thousandth.
    const auto result = [&](std::size_t i) { return expected[i % kThreads]; };
    lesson.expect(warpwise::compare_each(d_results.download(), d_results.size(), result,
                                         {.absolute = 0x1p-6})
                      .passed,
                  "every block of the largest grid has done its work");

    std::vector<warpwise::Candidate> candidates;
    for (const unsigned grid : grids) candidates.push_back({[&run, grid] { run(grid); }});
    std::vector<warpwise::Timing> timings(grids.size());
    std::vector<std::string> header = {"blocks", "waves", "places used"};
    if (lesson.measures()) {
        timings =
            warpwise::measure_in_turn(candidates, {.seconds = 0.1, .flush_l2 = false});
        header.push_back("time, in full waves");
    }
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < grids.size(); ++i) {
        const std::size_t waves = warpwise::ceil_div(grids[i], wave);
        rows.push_back(
            {std::to_string(grids[i]), std::to_string(waves),
             percent(static_cast<double>(grids[i]) / static_cast<double>(waves * wave))});
        if (lesson.measures()) {
            rows.back().push_back(text_of("%.2f", timings[i].median / timings[0].median));
        }
    }
    lesson.table({"waves", "Waves of a grid, one block per SM"}, header, rows);
}

}  // namespace

void occupancy(warpwise::Lesson& lesson) {
    const Multiprocessor sm = multiprocessor_of(this_device());
    lesson.question(
        R"(An SM need not wait for a load as long as it holds another warp that can go on.
Occupancy is the number of warps that an SM holds, as a fraction of the most that it could
hold. How do you know it before you run anything, and how much of it do you need?)");
    lesson.predict({.question = R"(An SM has places for 64 warps and 32 blocks, 65536
registers, and 228 KiB of shared memory. A block has 256 threads with 40 registers each,
and 20000 bytes of shared memory. How many blocks fit?)",
                    .answer = warpwise::Number{.value = 6, .unit = "blocks"},
                    .because = R"(The registers are the limit: 65536 / (256 * 40) is 6.4.
There would be places for 8 blocks by threads, and for 11 by shared memory.)"});
    const std::string least = show_an_example(lesson, sm, {kThreads, 40, 20000});
    show_agreement(lesson, sm);
    lesson.conclusion(
        least +
        R"( cudaOccupancyMaxActiveBlocksPerMultiprocessor computes the same number. Only the
calculation tells which limit it was, and so what to change.)");

    lesson.question(
        R"(The registers of a warp are allocated in multiples of 256, that is 8 per thread.
With 32 registers per thread, 2048 threads just fill a register file of 65536.)");
    lesson.predict({.question = R"(Registers are given out in portions of eight per thread.
With 32 registers per thread, 8 blocks of 256 threads fit into 65536 registers. How many
fit with 33?)",
                    .answer = warpwise::Number{.value = 6, .unit = "blocks"},
                    .because = R"(33 registers take as much as 40, and 65536 / (256 * 40) is
6.4. The registers 34 to 40 are free.)"});
    show_registers(lesson, sm);
    lesson.conclusion(
        R"(The 33rd register costs as much as eight: 48 warps instead of 64, on an SM that
could hold so many, while 34 to 40 are free. The 41st leaves 40 warps. A block of 1024
threads needs places for 32 warps at once: where there are 48, a third stays empty. With
more than 64 registers per thread, such a block cannot run at all.)");

    lesson.question(
        R"(Now the block size, for a kernel with few registers and no shared memory.)");
    lesson.predict(
        {.question = R"(An SM has places for 64 warps and for 32 blocks. Which is
the smallest block, in multiples of 32 threads, that can fill it?)",
         .answer = warpwise::Number{.value = 64, .unit = "threads"},
         .because = R"(64 warps in 32 blocks are two warps per block. Blocks of one
warp leave half of the places empty.)"});
    const std::string proposal = sweep_block_sizes(lesson, sm);
    lesson.conclusion(
        "Here an SM has places for " + std::to_string(sm.blocks) + " blocks and " +
        std::to_string(sm.warps) + " warps, so blocks of " +
        std::to_string((sm.warps + sm.blocks - 1) / sm.blocks) +
        R"( warps are enough to fill it. Half a warp takes the place of a whole one. Sizes
that do not divide the SM's threads leave places empty. )" +
        proposal +
        " It knows nothing of what the kernel does, so take it as the start of a search.");

    lesson.question(
        R"(What is occupancy good for? By Little's law, the bytes in flight have to be
throughput times latency. An SM of an H200 needs at least some 6 KiB of loads in flight for
this kernel. 2048 threads with one float each are 8 KiB; but a thread may also have several
loads in flight.)");
    lesson.predict({.question = R"(In one block of 256 threads every thread has 8 floats in
flight. How many blocks with one float per thread have as much in flight?)",
                    .answer = warpwise::Number{.value = 8, .unit = "blocks"},
                    .because = R"(What counts is the product: 1 * 256 * 8 floats are as many
as 8 * 256 * 1. Kernels with equal products differ by about a fifth.)"});
    sweep_residents(lesson, sm);
    lesson.conclusion(
        R"(One block with 8 floats per thread has as much in flight as eight blocks with one
float. Kernels with equal numbers in the first table differ by about a fifth in the second
one, although their occupancy differs by a factor of eight. But eight times the bytes in
flight bring less than eight times the rate: the busier the memory, the longer a load
takes.)");

    lesson.question(
        R"(The same as steps. In steps 3 to 6, dynamic shared memory that nobody uses limits
an SM to a single block.)");
    lesson.predict(
        {.question = R"(one_float_one_block has an eighth of the resident blocks of
one_float. How many times as long does it take on a GPU?)",
         .answer = warpwise::Measured{.by = warpwise::TimeRatio{"one_float_one_block",
                                                                "one_float"},
                                      .unit = "times",
                                      .factor = 1.3},
         .because = R"(An eighth of the bytes is in flight. It is less than eight
times as long, because with all its blocks one_float comes near the memory's limit.)"});
    lesson.steps<Scale>(
        {.gpu = {std::size_t{1} << 28},
         .cpu = {std::size_t{1} << 18},
         .awkward = {{0},
                     {1},
                     {3},
                     {31},
                     {32},
                     {33},
                     {255},
                     {257},
                     {1009},
                     {2047},
                     {2049},
                     {4097},
                     {40961}}},
        {{"serial", "one core of the host", serial, warpwise::StepKind::host},
         {"one_float", "one float per thread, all blocks that fit",
          [](Scale& problem) { launch(scale_one, problem); }},
         {"one_float_one_block", "a single block per SM", one_block_per_sm<scale_one>},
         {"four_floats_one_block", "4 loads before the first use",
          one_block_per_sm<scale_many<4>>},
         {"eight_floats_one_block", "8 loads before the first use",
          one_block_per_sm<scale_many<8>>},
         {"four_float4_one_block", "4 loads of 16 bytes before the first use",
          one_block_per_sm<scale_vectors<4>>}});
    lesson.conclusion(
        R"(All steps move the same bytes. Occupancy tells step 2 from the others; what tells
the others from each other, the loads in flight, is not among the counters. On an H200, step
6 is even faster than step 2, with an eighth of its threads: what counts is the number of
bytes in flight, not the number of warps.)");

    lesson.question(
        R"(Last, the grid. As many blocks as are resident at once are a wave. If all blocks
take equally long, a grid of one wave and one block takes as long as two waves, and in the
second one nearly all SMs idle.)");
    lesson.predict(
        {.question = R"(16 SMs hold one block each. A grid of 17 blocks takes two
waves. What percentage of the places in these two waves does it use?)",
         .answer = warpwise::Number{.value = 53.1, .unit = "%", .factor = 1.02},
         .because = R"(17 of 32. After 16 waves, the tail is only a few percent.)"});
    sweep_grids(lesson, sm);
    lesson.conclusion(
        R"(A grid of one wave and one block uses about half of its places; after 16 waves,
the tail is a few percent. In short grids avoid it: by a grid-stride loop with exactly one
wave of blocks, or by smaller blocks. Here an SM holds one block. Where it holds more, a
lone block of the last wave has an SM to itself and is done sooner.)");
}

}  // namespace optimization
