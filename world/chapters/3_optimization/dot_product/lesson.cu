// Problem: the dot product of two vectors of n floats, a[0] * b[0] + ... + a[n-1] * b[n-1].
//
// Eight bytes are read for one multiplication and one addition, so the memory should be the
// limit: 4.8 TB/s would be 0.6 * 10^12 products per second. What keeps the first steps from
// that rate is the sum, because many threads have to produce one number. The ladder that
// leads there is a classic. M. Harris told it in 2007 for the sum of an array ("Optimizing
// parallel reduction in CUDA", NVIDIA), from 8.05 ms down to 0.27 ms for 2^22 integers on a
// G80. Here it goes on to current chips, and the counters are predicted for each step.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#ifndef __CPU_DEVICE__
#include <cublas_v2.h>
#include <thrust/functional.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/zip_function.h>

#include <cub/device/device_reduce.cuh>
#endif

#include "chapters/3_optimization/dot_product/kernels.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/cublas.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/helpers/read_only.cuh"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"
#include "common/lesson/memory.h"

namespace optimization {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

// Products per thread, at least, in steps 5 to 10: short vectors have fewer blocks.
constexpr std::size_t kProductsPerThread = 8;

// The vectors, their product in double, and memory for the steps. The counter of tickets is
// set to zero once, when it is made: each launch leaves it as it found it.
struct Dot {
    std::size_t count;
    std::vector<float> a, b;
    double reference = 0;
    DeviceBuffer<float> d_a, d_b, d_block_sums, d_dot{1};
    DeviceBuffer<unsigned> d_drawn{std::vector<unsigned>{0}};
    DeviceBuffer<unsigned char> d_vendor_storage;
    std::vector<float> block_sums;  // on the host, for steps that finish there
    std::optional<float> on_host;   // the result of a step that leaves it on the host
    double tolerance = 0;

    // Random numbers in [-1, 1], b with the signs of a: no product is negative, so that
    // none makes up for one that is missing, and a block that is left out shows in the sum.
    explicit Dot(const warpwise::Size& size)
        : count(size[0]),
          a(warpwise::uniform<float>(count, 1)),
          b(warpwise::uniform<float>(count, 2)),
          d_block_sums(tiles()),
          block_sums(tiles()) {
        const std::size_t parts = warpwise::parallel_parts(count);
        std::vector<double> sums(parts);
        warpwise::parallel_for_parts(
            count, parts, [&](std::size_t part, std::size_t begin, std::size_t end) {
                double sum = 0;
                for (std::size_t i = begin; i < end; ++i) {
                    b[i] = std::copysign(b[i], a[i]);
                    sum += double{a[i]} * double{b[i]};
                }
                sums[part] = sum;
            });
        for (const double sum : sums) reference += sum;
        d_a = DeviceBuffer<float>(a);
        d_b = DeviceBuffer<float>(b);
    }

    void poison() {
        d_dot.fill_bytes(0xFF);
        d_block_sums.fill_bytes(0xFF);
        on_host.reset();
        tolerance = 0;
    }

    // `chain`: the longest chain of roundings behind the result. All products are positive,
    // so their magnitudes add up to the reference.
    void rounds_like(std::size_t chain,
                     double epsilon = std::numeric_limits<float>::epsilon()) {
        tolerance = warpwise::sum_tolerance(chain, epsilon, reference);
    }

    warpwise::Comparison compare() {
        const std::vector<float> result =
            on_host ? std::vector<float>{*on_host} : d_dot.download();
        return warpwise::compare(result, {reference}, {.absolute = tolerance});
    }

    warpwise::Work work() const {
        return {.bytes = 8 * static_cast<double>(count),
                .operations = 2 * static_cast<double>(count)};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return (2 * size[0] + warpwise::ceil_div(size[0], kThreads)) * sizeof(float) +
               (std::size_t{1} << 20);
    }

    unsigned tiles() const { return warpwise::blocks_for(count, kThreads); }

    // Blocks for a kernel whose threads stride over the vectors: no more than fit on the
    // device at once.
    template <class Kernel>
    unsigned blocks(Kernel kernel) const {
        return std::min(warpwise::blocks_for(count, kThreads * kProductsPerThread),
                        warpwise::blocks_that_fill(kernel, kThreads));
    }

    // A product, the additions of a thread and 8 rounds of a tree; the same again for the
    // block sums.
    std::size_t chain(unsigned blocks) const {
        return 1 + warpwise::ceil_div(count, std::size_t{blocks} * kThreads) + 8 +
               warpwise::ceil_div(blocks, kThreads) + 8;
    }
};

// ---- steps ------------------------------------------------------------------------------

// Step 1: the loop on one core, in double.
void serial(Dot& problem) {
    double sum = 0;
    for (std::size_t i = 0; i < problem.count; ++i)
        sum += double{problem.a[i]} * double{problem.b[i]};
    problem.on_host = static_cast<float>(sum);
    problem.rounds_like(1);
}

// Steps 2 to 5: the kernel leaves block sums, and the host adds them, in double.
template <auto Kernel>
void finish_on_host(Dot& problem, unsigned blocks) {
    Kernel<<<blocks, kThreads>>>(problem.d_a.data(), problem.d_b.data(), problem.count,
                                 problem.d_block_sums.data());
    warpwise::check_launch();
    warpwise::check(cudaMemcpy(problem.block_sums.data(), problem.d_block_sums.data(),
                               blocks * sizeof(float), cudaMemcpyDeviceToHost));
    double sum = 0;
    for (unsigned block = 0; block < blocks; ++block) sum += problem.block_sums[block];
    problem.on_host = static_cast<float>(sum);
    problem.rounds_like(problem.chain(blocks));
}

template <auto Kernel>
void block_per_tile(Dot& problem) {
    finish_on_host<Kernel>(problem, problem.tiles());
}

void grid_stride(Dot& problem) {
    finish_on_host<dot_grid_stride>(problem, problem.blocks(dot_grid_stride));
}

// Step 6: the result is cleared first, then all blocks add to it.
void atomic_finish(Dot& problem) {
    warpwise::check(cudaMemsetAsync(problem.d_dot.data(), 0, problem.d_dot.bytes()));
    const unsigned blocks = problem.blocks(dot_atomic);
    dot_atomic<<<blocks, kThreads>>>(problem.d_a.data(), problem.d_b.data(), problem.count,
                                     problem.d_dot.data());
    warpwise::check_launch();
    problem.rounds_like(problem.chain(blocks) + blocks);
}

// Steps 7 to 9: the same kernel with three trees.
template <float (*SumOfBlock)(float)>
void last_block(Dot& problem) {
    const unsigned blocks = problem.blocks(dot_last_block<SumOfBlock>);
    dot_last_block<SumOfBlock><<<blocks, kThreads>>>(
        problem.d_a.data(), problem.d_b.data(), problem.count, problem.d_block_sums.data(),
        problem.d_drawn.data(), problem.d_dot.data());
    warpwise::check_launch();
    problem.rounds_like(problem.chain(blocks));
}

// Steps 10 to 13: blocks take tiles in turn. There is one block for every `Products`
// products, but at most `BlocksPerSm` blocks per SM; 0 stands for as many as fit.
template <auto Kernel, std::size_t Products, unsigned BlocksPerSm = 0>
void tiles_in_turn(Dot& problem) {
    const unsigned most = BlocksPerSm == 0 ? warpwise::blocks_that_fill(Kernel, kThreads)
                                           : BlocksPerSm * warpwise::multiprocessors();
    const unsigned blocks = std::min(warpwise::blocks_for(problem.count, Products), most);
    Kernel<<<blocks, kThreads>>>(problem.d_a.data(), problem.d_b.data(), problem.count,
                                 problem.d_block_sums.data(), problem.d_drawn.data(),
                                 problem.d_dot.data());
    warpwise::check_launch();
    problem.rounds_like(problem.chain(blocks));
}

constexpr auto four_loads = tiles_in_turn<dot_four_loads, kProductsPerThread * kThreads>;
constexpr auto float4_loads = tiles_in_turn<dot_float4_loads, kLoads * 4 * kThreads>;
constexpr auto four_sums = tiles_in_turn<dot_four_sums, kLoads * 4 * kThreads>;

template <unsigned Loads, unsigned BlocksPerSm = 0>
void tuned(Dot& problem) {
    tiles_in_turn<dot_tuned<Loads>, Loads * 4 * kThreads, BlocksPerSm>(problem);
}

#ifndef __CPU_DEVICE__
// What a user would call instead. Neither says how it adds; no thread is expected to add up
// more than 1 / 32768 of the products.
std::size_t chain_of_vendor(const Dot& problem) {
    return warpwise::ceil_div(problem.count, 32768) + 32;
}

void vendor_cublas(Dot& problem) {
    // The result stays on the device.
    static const cublasHandle_t handle =
        warpwise::make_cublas_handle(CUBLAS_POINTER_MODE_DEVICE);
    if (problem.count == 0)
        return problem.d_dot.fill_bytes(0);  // not promised by its manual
    warpwise::check_cublas(cublasSdot_64(handle, static_cast<std::int64_t>(problem.count),
                                         problem.d_a.data(), 1, problem.d_b.data(), 1,
                                         problem.d_dot.data()));
    problem.rounds_like(chain_of_vendor(problem));
}

// A sum over products that are never stored: an iterator computes each one when CUB reads
// it.
void vendor_cub(Dot& problem) {
    const float *const a = problem.d_a.data(), *const b = problem.d_b.data();
    const auto products = thrust::make_transform_iterator(
        thrust::make_zip_iterator(a, b),
        thrust::make_zip_function(thrust::multiplies<float>()));
    std::size_t needed = 0;
    warpwise::check(cub::DeviceReduce::Sum(nullptr, needed, products, problem.d_dot.data(),
                                           problem.count));
    if (problem.d_vendor_storage.size() < needed)
        problem.d_vendor_storage = DeviceBuffer<unsigned char>(needed);
    warpwise::check(cub::DeviceReduce::Sum(problem.d_vendor_storage.data(), needed,
                                           products, problem.d_dot.data(), problem.count));
    problem.rounds_like(chain_of_vendor(problem));
}
#endif

// ---- predictions, held against the counters ---------------------------------------------

// What the warps of a step do with 65536 products: 256 tiles, or 32 blocks in steps 5 to 10
// and 16 in steps 11 to 13. A tree: each of 8 warps stores its values, each warp with work
// in a round makes two loads and a store, and thread 0 reads the sum; 256 + 3 * 255 + 1 =
// 1022 lanes take part. With shuffles 8 lanes store, and 8 load at once. A ticket: one lane
// stores is_last, and after a barrier 8 warps read it. The last block has a tree more, and
// one load.
struct Predicted {
    const char* step;
    void (*run)(Dot&);
    double accesses, lanes, conflicts;  // of shared memory
    double barriers, loads, atomics;
};
const Predicted predictions[] = {
    {"dot_modulo", block_per_tile<dot_modulo>, 256 * (8 + 3 * 47 + 1), 256 * 1022, 0,
     256 * 8 * 8, 4096, 0},
    {"dot_strided_index", block_per_tile<dot_strided_index>, 256 * (8 + 3 * 12 + 1),
     256 * 1022, 256 * 3 * (47 - 12), 256 * 8 * 8, 4096, 0},
    {"dot_halves", block_per_tile<dot_halves>, 256 * 45, 256 * 1022, 0, 256 * 8 * 8, 4096,
     0},
    {"dot_grid_stride", grid_stride, 32 * 45, 32 * 1022, 0, 32 * 8 * 8, 4096, 0},
    {"dot_atomic", atomic_finish, 32 * 45, 32 * 1022, 0, 32 * 8 * 8, 4096, 32},
    {"dot_last_block", last_block<tree_of_halves>, 33 * 45 + 32 * 9, 33 * 1022 + 32 * 257,
     0, (33 * 8 + 32) * 8, 4097, 32},
    {"dot_warp_tail", last_block<tree_with_warp_tail>, 33 * 45 + 32 * 9,
     33 * 1022 + 32 * 257, 0, (33 * 3 + 32) * 8, 4097, 32},
    {"dot_shuffles", last_block<tree_of_shuffles>, 33 * 9 + 32 * 9, 33 * 16 + 32 * 257, 0,
     (33 + 32) * 8, 4097, 32},
    {"dot_four_loads", four_loads, 33 * 9 + 32 * 9, 33 * 16 + 32 * 257, 0, (33 + 32) * 8,
     4097, 32},
    {"dot_float4_loads", float4_loads, 17 * 9 + 16 * 9, 17 * 16 + 16 * 257, 0,
     (17 + 16) * 8, 1025, 16},
    {"dot_four_sums", four_sums, 17 * 9 + 16 * 9, 17 * 16 + 16 * 257, 0, (17 + 16) * 8,
     1025, 16},
    {"dot_tuned", tuned<4>, 17 * 9 + 16 * 9, 17 * 16 + 16 * 257, 0, (17 + 16) * 8, 1025,
     16},
};

void show_predictions(warpwise::Lesson& lesson) {
    Dot problem({65536});
    std::vector<std::vector<std::string>> rows;
    for (const Predicted& predicted : predictions) {
        using warpwise::count_text;
        const std::string step = predicted.step;
        rows.push_back({step, count_text(predicted.accesses),
                        text_of("%.1f", predicted.lanes / predicted.accesses),
                        count_text(predicted.conflicts), count_text(predicted.barriers),
                        count_text(predicted.loads), count_text(predicted.atomics)});
        problem.poison();
        const auto counts = lesson.count([&] { predicted.run(problem); });
        if (!counts) continue;
        lesson.expect(problem.compare().passed, step + ": the dot product is right");
        lesson.expect(counts->shared().requests == predicted.accesses,
                      step + ": accesses of shared memory");
        lesson.expect(counts->shared().lanes == predicted.lanes, step + ": lanes in them");
        lesson.expect(counts->shared().conflicts() == predicted.conflicts,
                      step + ": bank conflicts");
        lesson.expect(counts->barriers == predicted.barriers, step + ": barriers");
        lesson.expect(counts->global_load.requests == predicted.loads, step + ": loads");
        // 8 bytes for each product and, where a block reads 32 or 16 block sums, those.
        const double sums = counts->global_load.sectors - 65536.0 * 8 / 32;
        lesson.expect(sums >= 0 && sums <= 4, step + ": whole sectors");
        lesson.expect(counts->global_atomic.requests == predicted.atomics,
                      step + ": atomics");
    }
    lesson.table(
        {"counts",
         "Predicted for 65536 products: 256 tiles, 32 blocks in steps 5 to 10, 16 blocks "
         "after"},
        {"step", "shared accesses", "lanes in each", "conflicts", "barriers", "loads",
         "atomics"},
        rows);
}

// ---- small and large vectors, and read bandwidth ----------------------------------------

// Read bandwidth: reads both vectors and does nothing else.
template <unsigned Loads>
void read_both(Dot& problem) {
    warpwise::read_only<Loads>(problem.d_a.data(), problem.d_b.data(), problem.d_a.bytes(),
                               problem.d_drawn.data());
}

// The steps from 5 on, step 13 with other numbers of loads and blocks, the vendor's
// routines, and what only reads.
struct Timed {
    const char* name;
    void (*run)(Dot&);
};
const std::vector<Timed> timed = {
    {"dot_grid_stride", grid_stride},
    {"dot_atomic", atomic_finish},
    {"dot_last_block", last_block<tree_of_halves>},
    {"dot_warp_tail", last_block<tree_with_warp_tail>},
    {"dot_shuffles", last_block<tree_of_shuffles>},
    {"dot_four_loads", four_loads},
    {"dot_float4_loads", float4_loads},
    {"dot_four_sums", four_sums},
    {"dot_tuned", tuned<4>},
    {"  with 1 load of each vector", tuned<1>},
    {"  with 2 loads of each vector", tuned<2>},
    {"  with 8 loads of each vector", tuned<8>},
    {"  with 1 block per SM", tuned<4, 1>},
    {"  with 2 blocks per SM", tuned<4, 2>},
    {"  with 16 blocks per SM", tuned<4, 16>},
#ifndef __CPU_DEVICE__
    {"cublasSdot", vendor_cublas},
    {"cub::DeviceReduce", vendor_cub},
#endif
    {"read, 4 loads", read_both<4>},
    {"read, 8 loads", read_both<8>},
};
bool only_reads(const std::string& name) { return name.starts_with("read"); }

constexpr std::size_t kSmall = std::size_t{1} << 20, kLarge = std::size_t{1} << 28;

// kLarge, or as many as the free memory has room for.
std::size_t large_count() {
    return warpwise::halve_to_fit(
        kLarge, kSmall, [](std::size_t count) { return Dot::device_bytes({count}); });
}

// Seconds of each of `timed`, measured in turn. What adds up is checked afterwards.
std::vector<double> measure(warpwise::Lesson& lesson, std::size_t count) {
    Dot problem({count});
    std::vector<warpwise::Candidate> candidates;
    for (const Timed& each : timed)
        candidates.push_back({[&each, &problem] { each.run(problem); }});
    std::vector<double> seconds;
    for (const warpwise::Timing& timing :
         warpwise::measure_in_turn(candidates, {.samples = 20, .seconds = 0.2})) {
        seconds.push_back(timing.median);
    }
    for (const Timed& each : timed) {
        if (only_reads(each.name)) continue;
        problem.poison();
        each.run(problem);
        lesson.expect(problem.compare().passed,
                      std::string(each.name) + ": right after timing");
    }
    return seconds;
}

void show_small_and_large(warpwise::Lesson& lesson) {
    if (!lesson.measures()) {
        lesson.show_recorded("sizes");
        return;
    }
    const std::size_t count = large_count();
    const std::vector<double> small = measure(lesson, kSmall),
                              large = measure(lesson, count);
    double read = std::numeric_limits<double>::max();
    for (std::size_t i = 0; i < timed.size(); ++i) {
        if (only_reads(timed[i].name)) read = std::min(read, large[i]);
    }
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < timed.size(); ++i) {
        rows.push_back({timed[i].name, text_of("%.1f", small[i] * 1e6),
                        text_of("%.1f", large[i] * 1e6),
                        text_of("%.0f", 8e-9 * static_cast<double>(count) / large[i]),
                        text_of("%.3f", read / large[i])});
    }
    lesson.table({"sizes", "2^20 elements, and " + std::to_string(count)},
                 {"step", "2^20, us", "large, us", "large, GB/s", "of read"}, rows);
}

}  // namespace

void dot_product(warpwise::Lesson& lesson) {
    lesson.question(
        R"(A dot product reads two vectors once and leaves one number, so the memory
should be the only limit. But many threads have to form one sum. The first three kernels
add up 256 products per block in shared memory, each with another tree. What do the
trees cost?)");
    lesson.predict({.question = R"(A tree has eight rounds, and a block has eight warps.
In dot_modulo, round r keeps the threads whose index is a multiple of 2^r. How many
warps have work, added up over the eight rounds?)",
                    .answer = warpwise::Number{.value = 47, .unit = "warps"},
                    .because = R"(8 + 8 + 8 + 8 + 8 + 4 + 2 + 1: as long as one thread of
a warp has work, the warp has. In dot_halves it is 4 + 2 + 1 + 5 * 1.)"});
    show_predictions(lesson);
    lesson.conclusion(
        R"(47 warps have work in dot_modulo, and 12 in the other two. But
dot_strided_index still needs 47 wavefronts, because those depend on where the words lie
and not on who loads them: its three accesses per round make 105 conflicts per tile.
dot_halves needs 12. From step 5 on there is one tree per block instead of one per tile,
which removes nearly all of this.)");

    lesson.question(
        R"(Steps 2 to 9 form the sum with other trees, and finish on the host, with
atomics, or in the last block. Steps 10 to 13 change how the vectors are loaded. Which
of these matters for a large vector?)");
    lesson.predict(
        {.question = R"(In step 9 the 2048 threads of a full SM have 16 KB in
flight, more than the 12 KB that Little's law asks for. Step 10 has four times as many.
How many times as fast as step 9 is it on a GPU?)",
         .answer =
             warpwise::Measured{.by = warpwise::TimeRatio{"dot_shuffles", "dot_four_loads"},
                                .unit = "times",
                                .factor = 1.1},
         .because = R"(Threads do not load all the time, so on average fewer bytes
are in flight than their loads add up to. Steps 11 to 13 add far less.)"});

    std::vector<warpwise::Step<Dot>> steps = {
        {"serial", "a loop in double, one core", serial, warpwise::StepKind::host},
        {"dot_modulo", "one tree per tile, every second thread",
         block_per_tile<dot_modulo>},
        {"dot_strided_index", "the same pairs, the first threads",
         block_per_tile<dot_strided_index>},
        {"dot_halves", "upper half to lower half", block_per_tile<dot_halves>},
        {"dot_grid_stride", "threads add first, one tree per block", grid_stride},
        {"dot_atomic", "blocks add with atomics, not the host", atomic_finish},
        {"dot_last_block", "the block with the last ticket finishes",
         last_block<tree_of_halves>},
        {"dot_warp_tail", "one warp does the last rounds", last_block<tree_with_warp_tail>},
        {"dot_shuffles", "warps add from register to register",
         last_block<tree_of_shuffles>},
        {"dot_four_loads", "four loads of each vector in flight", four_loads},
        {"dot_float4_loads", "16 bytes per load", float4_loads},
        {"dot_four_sums", "one sum per load", four_sums},
        {"dot_tuned", "tuning: more registers by launch bounds", tuned<4>},
    };
#ifndef __CPU_DEVICE__
    steps.push_back({"cublas", "cublasSdot", vendor_cublas, warpwise::StepKind::vendor});
    steps.push_back({"cub", "cub::DeviceReduce, products by iterator", vendor_cub,
                     warpwise::StepKind::vendor});
#endif
    const std::vector<warpwise::Size> awkward = {{0},    {1},    {3},     {31},   {32},
                                                 {33},   {255},  {257},   {1009}, {4095},
                                                 {4096}, {4099}, {100003}};
    lesson.steps<Dot>({.gpu = {kLarge}, .cpu = {std::size_t{1} << 18}, .awkward = awkward},
                      steps);
    lesson.conclusion(
        warpwise::Lesson::on_gpu()
            ? R"(Steps 6 to 9 should all take about the same time here: they improve what
is done once per block, and a block has many thousands of products. What is left to gain
is more bytes in flight, and step 10 is the step that brings them.)"
            : R"(Steps 2 to 4 make the same loads and differ in shared memory only. Step
10 makes as many requests as step 9, and steps 11 to 13 make a quarter of them, for the
same sectors. No counter shows how many bytes are in flight at a time, so only a time
can tell which of these steps pay.)");

    lesson.question(
        R"(`read` is a kernel that only reads both vectors: nothing that reads them can be
faster. How close do the steps come to it for a large vector, and what decides the time
of a small one?)");
    lesson.predict(
        {.question = R"(In step 5 the host copies and adds the sums of the blocks. In step 6
the blocks add them with atomic operations. With 2^20 elements, how many times as long does
step 5 take as step 6?)",
         .answer =
             warpwise::Measured{
                 .by = warpwise::CellRatio{{"sizes", {"dot_grid_stride"}, "2^20, us"},
                                           {"sizes", {"dot_atomic"}, "2^20, us"}},
                 .unit = "times",
                 .factor = 1.4},
         .because = R"(The vectors are read in a few microseconds, and a copy to the host
with the wait for it costs more than that.)"});
    show_small_and_large(lesson);
    lesson.conclusion(
        R"(For the large vector steps 6 to 9 make no difference. What counts is bytes in
flight: step 10 comes close to read bandwidth, and in step 13 one block per SM, or one
load of 16 bytes, is almost enough. The small vector gains most from step 6, which saves
the copy and the host's loop. The last block is not faster than the atomics, and cheaper
trees save little.)");
}

}  // namespace optimization
