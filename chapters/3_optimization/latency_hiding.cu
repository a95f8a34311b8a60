// Problem: an operation that needs the result of another has to wait for it: 4 cycles for a sum, hundreds for a load.
// How does a thread get something else to do meanwhile?
//
// Two tasks. A polynomial of 256 terms, which is arithmetic only: Horner's rule is one chain of multiply-adds, and
// each needs the one before; cut into several chains, it has as many operations that can run at the same time. And
// the sums of exponentials of a matrix's columns (as in a softmax, without its maximum), which is loads: several before
// the first is used, or the next ones before these are used. Both follow Little's law: what must be under way is
// throughput x latency.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "chapters/3_optimization/lessons.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/helpers/text.h"

namespace optimization {
namespace {

using warpwise::check;
using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr unsigned kLanes = 32;
constexpr unsigned kThreads = 256;
constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

// ---- one chain, or several ----------------------------------------------------------------------------------------

constexpr int kTerms = 256;

// From 0 to 1. nvcc works them out and writes them into the instructions. If they were in memory, an instruction would
// have to fetch every two of them, and a third of what a scheduler starts would be no multiply-add.
__host__ __device__ constexpr float coefficient(int k) {
    return static_cast<float>((static_cast<unsigned>(k + 1) * 2654435761u) >> 8) / 16777216.0f;
}

__device__ inline float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }

// A number that knows how many operations lie between it and the input, one after the other; `operations` counts all.
struct Traced {
    float value = 0;
    int depth = 0;
    int* operations = nullptr;
};

__device__ inline Traced multiply_add(Traced a, Traced b, Traced c) {
    int depth = a.depth > b.depth ? a.depth : b.depth;
    if (c.depth > depth) depth = c.depth;
    ++*b.operations;
    return {fmaf(a.value, b.value, c.value), depth + 1, b.operations};
}

// The value at x of the polynomial with these coefficients, the constant one first. One chain is Horner's rule:
// ((c3 x + c2) x + c1) x + c0. With k chains, each takes every k-th coefficient and goes on by x^k; what they come to
// is joined by Horner's rule. The chains need nothing of each other, so an operation of one can start while those of
// the others are still on their way. The price is a few operations for x^k and for joining, and k registers.
template <int kChains, class Number>
__device__ Number polynomial(Number x) {
    Number power = x;
    for (int k = 1; k < kChains; ++k) power = multiply_add(power, x, Number{0.0f});
    Number sums[kChains];
#pragma unroll
    for (int k = 0; k < kChains; ++k) sums[k] = Number{coefficient(kTerms - kChains + k)};
#pragma unroll
    for (int term = kTerms - 2 * kChains; term >= 0; term -= kChains) {
#pragma unroll
        for (int k = 0; k < kChains; ++k) sums[k] = multiply_add(sums[k], power, Number{coefficient(term + k)});
    }
    Number value = sums[kChains - 1];
#pragma unroll
    for (int k = kChains - 2; k >= 0; --k) value = multiply_add(value, x, sums[k]);
    return value;
}

constexpr float kNextPoint = 0.96875f;  // 31/32

struct Span {
    long long begin, end;  // cycles of the SM's clock
};

// The sum of the polynomial at `rounds` points x, 31/32 x ... for each thread's own x.
template <int kChains>
__global__ void add_values(const float* points, float* sums, int rounds, Span* spans) {
    float x = points[threadIdx.x];
    float sum = 0;
    __syncthreads();  // all warps begin together
    const long long begin = clock64();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        sum += polynomial<kChains>(x);
        x *= kNextPoint;
    }
    spans[threadIdx.x] = {begin, clock64()};
    sums[threadIdx.x] = sum;
}

// Operations of one value: all of them, and the longest chain that they form.
struct Structure {
    int operations, longest;
};

template <int kChains>
__global__ void trace(Structure* structure) {
    int operations = 0;
    const Traced value = polynomial<kChains>(Traced{0.5f, 0, &operations});
    *structure = {operations, value.depth};
}

struct Method {
    int chains;
    void (*add_values)(const float*, float*, int, Span*);
    void (*trace)(Structure*);
};
constexpr std::array<Method, 4> methods = {{{1, add_values<1>, trace<1>},
                                            {2, add_values<2>, trace<2>},
                                            {4, add_values<4>, trace<4>},
                                            {8, add_values<8>, trace<8>}}};
constexpr double kCyclesOfAnOperation = 4;
constexpr unsigned kSchedulers = 4;  // of an SM: each starts an instruction of one of its warps in a cycle

Structure structure_of(const Method& method) {
    DeviceBuffer<Structure> d_structure(1);
    method.trace<<<1, 1>>>(d_structure.data());
    warpwise::check_launch();
    return d_structure.download()[0];
}

// Operations a cycle that so many warps of a scheduler start. What makes x^k and what joins the chains comes one after
// the other; in between, a warp starts an operation for each chain, and waits if these are fewer than 4.
double predicted_rate(int chains, const Structure& structure, unsigned warps) {
    const double alone = kCyclesOfAnOperation * 2 * (chains - 1);
    const double together = (kTerms / chains - 1) * std::max<double>(chains, kCyclesOfAnOperation);
    return std::min(1.0, warps * structure.operations / (alone + together));
}

void show_structure(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    for (const Method& method : methods) {
        const Structure structure = structure_of(method);
        const int k = method.chains;
        lesson.expect(structure.operations == kTerms + k - 2, "chains: as many operations as predicted");
        lesson.expect(structure.longest == kTerms / k - 1 + 2 * (k - 1), "chains: the longest is as predicted");
        rows.push_back({std::to_string(k), std::to_string(structure.operations), std::to_string(structure.longest),
                        text_of("%.2f", static_cast<double>(structure.operations) / structure.longest)});
    }
    lesson.table("A polynomial of 256 terms", {"chains", "operations", "one after the other", "side by side"}, rows);
}

std::vector<double> expected_sums(const std::vector<float>& points, int rounds) {
    std::vector<double> sums(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        float x = points[i];
        for (int round = 0; round < rounds; ++round, x *= kNextPoint) {
            double value = 0;
            for (int term = kTerms - 1; term >= 0; --term) value = value * x + coefficient(term);
            sums[i] += value;
        }
    }
    return sums;
}

// One block on one SM with 1 to 8 warps for each of its four schedulers: predicted, and on a GPU measured.
void show_chains(warpwise::Lesson& lesson) {
    const bool measures = lesson.measures();
    const int rounds = measures ? 256 : 1;
    const std::vector<float> points = warpwise::uniform<float>(1024, 51);
    const std::vector<double> expected = expected_sums(points, rounds);
    double magnitudes = 0;
    for (int term = 0; term < kTerms; ++term) magnitudes += coefficient(term) * rounds;
    const double tolerance = warpwise::sum_tolerance(kTerms * static_cast<std::size_t>(rounds), kEpsilon, magnitudes);

    const DeviceBuffer<float> d_points(points);
    std::vector<std::vector<std::string>> predicted, measured;
    for (const unsigned warps : {1u, 2u, 4u, 8u}) {
        const unsigned threads = warps * kSchedulers * kLanes;
        predicted.push_back({std::to_string(warps)});
        measured.push_back({std::to_string(warps)});
        for (const Method& method : methods) {
            const Structure structure = structure_of(method);
            predicted.back().push_back(text_of("%.2f", predicted_rate(method.chains, structure, warps)));

            DeviceBuffer<float> d_sums(threads);
            DeviceBuffer<Span> d_spans(threads);
            for (int run = 0; run < (measures ? 2 : 1); ++run) {  // the first one fills caches
                d_sums.fill_bytes(0xFF);
                method.add_values<<<1, threads>>>(d_points.data(), d_sums.data(), rounds, d_spans.data());
                warpwise::check_launch();
            }
            const auto sum = [&](std::size_t i) { return expected[i]; };
            lesson.expect(warpwise::compare_each(d_sums.download(), threads, sum, {.absolute = tolerance}).passed,
                          std::to_string(method.chains) + " chains: the sums are right");
            long long begin = std::numeric_limits<long long>::max(), end = 0;
            for (const Span& span : d_spans.download()) {
                begin = std::min(begin, span.begin);
                end = std::max(end, span.end);
            }
            const double operations = static_cast<double>(warps) * structure.operations * rounds;
            measured.back().push_back(text_of("%.2f", operations / static_cast<double>(end - begin)));
        }
    }
    const std::vector<std::string> header = {"warps a scheduler", "1 chain", "2 chains", "4 chains", "8 chains"};
    const std::string title = "Operations a cycle against warps a scheduler, ";
    lesson.table(title + "predicted", header, predicted);
    if (measures) {
        lesson.table(title + "measured", header, measured);
    } else {
        lesson.show_recorded(title + "measured");
    }
}

// ---- the second problem: loads ------------------------------------------------------------------------------------

// sums[col] = the sum of exp(values[row][col]) over all rows.
struct ColumnSums {
    std::size_t rows, cols;
    std::vector<float> values, sums;
    std::vector<double> expected;
    DeviceBuffer<float> d_values, d_sums;
    bool sums_are_on_host = false;  // set by the step that leaves its result in `sums`

    explicit ColumnSums(const warpwise::Size& size)
        : rows(size[0]),
          cols(size[1]),
          values(warpwise::uniform<float>(rows * cols, 52)),
          sums(cols),
          expected(cols),
          d_values(values),
          d_sums(cols) {
        warpwise::parallel_for(cols, [&](std::size_t begin, std::size_t end) {
            for (std::size_t row = 0; row < rows; ++row) {
                for (std::size_t col = begin; col < end; ++col) {
                    expected[col] += std::exp(double{values[row * cols + col]});
                }
            }
        });
    }

    void poison() {
        std::fill(sums.begin(), sums.end(), NAN);
        d_sums.fill_bytes(0xFF);
        sums_are_on_host = false;
    }

    // The terms are positive: an error of a few units in the last place for each exponential, and that of a sum.
    warpwise::Comparison compare() {
        if (!sums_are_on_host) sums = d_sums.download();
        const double relative = 4 * kEpsilon + warpwise::sum_tolerance(std::max<std::size_t>(rows, 1), kEpsilon, 1);
        return warpwise::compare(sums, expected, {.relative = relative});
    }

    // Each element is read once; an exponential and an addition.
    warpwise::Work work() const {
        const double elements = static_cast<double>(rows * cols);
        return {.bytes = sizeof(float) * elements, .operations = 2 * elements};
    }

    static std::size_t device_bytes(const warpwise::Size& size) { return sizeof(float) * (size.count() + size[1]); }
};

// Step 1, one core of the host, row after row.
void serial(ColumnSums& problem) {
    std::fill(problem.sums.begin(), problem.sums.end(), 0.0f);
    for (std::size_t row = 0; row < problem.rows; ++row) {
        for (std::size_t col = 0; col < problem.cols; ++col) {
            problem.sums[col] += std::exp(problem.values[row * problem.cols + col]);
        }
    }
    problem.sums_are_on_host = true;
}

// Step 2, a thread a column, and one load at a time. (nvcc would unroll this loop; the pragma forbids it.)
// Slow: each row costs the latency of a load and then that of an exponential. The only help are other warps, and the
// columns are few: with 33792 of them an H200's SMs have 8 warps each of 64.
__global__ void sum_one_by_one(const float* __restrict__ values, float* __restrict__ sums, std::size_t rows,
                               std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float sum = 0;
#pragma unroll 1
    for (std::size_t row = 0; row < rows; ++row) sum += expf(values[row * cols + col]);
    sums[col] = sum;
}

// Steps 3 to 5, unrolled by hand: kLoads loads, then kLoads exponentials. The loads do not depend on each other, so
// all of them are under way when the first value is waited for: one latency for kLoads rows. The rows left over are
// done one by one. Slow: while the exponentials are computed, no load is under way; the memory idles and starts anew.
template <unsigned kLoads>
__global__ void sum_in_batches(const float* __restrict__ values, float* __restrict__ sums, std::size_t rows,
                               std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float sum = 0;
    std::size_t row = 0;
#pragma unroll 1
    for (; row + kLoads <= rows; row += kLoads) {
        float batch[kLoads];
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) batch[k] = values[(row + k) * cols + col];
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) sum += expf(batch[k]);
    }
    for (; row < rows; ++row) sum += expf(values[row * cols + col]);
    sums[col] = sum;
}

// Step 6, software pipelining: the loads of the next round are issued before this round's values are used. A round
// then takes the latency or the arithmetic, whichever is longer, and not both. The price is a second set of registers.
// The last round has no next, and stands behind the loop: with a condition around the loads, nvcc puts them behind the
// exponentials, and nothing is gained. Slow: as few loads are under way as in step 5.
template <unsigned kLoads>
__global__ void sum_prefetched(const float* __restrict__ values, float* __restrict__ sums, std::size_t rows,
                               std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float sum = 0;
    std::size_t row = 0;
    if (rows >= kLoads) {
        float next[kLoads];
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) next[k] = values[k * cols + col];
#pragma unroll 1
        for (row = kLoads; row + kLoads <= rows; row += kLoads) {
            float batch[kLoads];
#pragma unroll
            for (unsigned k = 0; k < kLoads; ++k) batch[k] = next[k];
#pragma unroll
            for (unsigned k = 0; k < kLoads; ++k) next[k] = values[(row + k) * cols + col];
#pragma unroll
            for (unsigned k = 0; k < kLoads; ++k) sum += expf(batch[k]);
        }
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) sum += expf(next[k]);
    }
    for (; row < rows; ++row) sum += expf(values[row * cols + col]);
    sums[col] = sum;
}

// Step 7, the other way to have more under way: more threads. The rows are dealt out to the blocks of a column of the
// grid, so many that they fill the device, and each adds its part to the sum. Better: other warps fill the pauses of
// each, and no second set of registers is needed. The price is an atomic addition for each part and column, and sums
// whose last digits depend on the order of the parts.
template <unsigned kLoads>
__global__ void sum_parts(const float* __restrict__ values, float* __restrict__ sums, std::size_t rows,
                          std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    std::size_t row = rows * blockIdx.y / gridDim.y;
    const std::size_t end = rows * (blockIdx.y + std::size_t{1}) / gridDim.y;
    float sum = 0;
#pragma unroll 1
    for (; row + kLoads <= end; row += kLoads) {
        float batch[kLoads];
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) batch[k] = values[(row + k) * cols + col];
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) sum += expf(batch[k]);
    }
    for (; row < end; ++row) sum += expf(values[row * cols + col]);
    atomicAdd(&sums[col], sum);
}

using Kernel = void (*)(const float*, float*, std::size_t, std::size_t);

template <Kernel kernel>
void run(ColumnSums& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.cols, kThreads);
    kernel<<<blocks, kThreads>>>(problem.d_values.data(), problem.d_sums.data(), problem.rows, problem.cols);
    warpwise::check_launch();
}

void run_parts(ColumnSums& problem) {
    check(cudaMemsetAsync(problem.d_sums.data(), 0, problem.d_sums.bytes()));
    const unsigned blocks = warpwise::blocks_for(problem.cols, kThreads);
    const unsigned parts = std::clamp(warpwise::blocks_that_fill(sum_parts<8>, kThreads) / blocks, 1u, 65535u);
    const dim3 grid(blocks, parts);
    sum_parts<8><<<grid, kThreads>>>(problem.d_values.data(), problem.d_sums.data(), problem.rows, problem.cols);
    warpwise::check_launch();
}

// What a step should have under way on an H200, and what that lets through at most.
struct Predicted {
    const char* step;
    double loads;  // of a thread, under way when it waits
    unsigned threads_an_sm;
};
constexpr std::array<Predicted, 6> predictions = {{{"one_load", 1, 256},
                                                   {"two_loads", 2, 256},
                                                   {"four_loads", 4, 256},
                                                   {"eight_loads", 8, 256},
                                                   {"eight_prefetched", 8, 256},
                                                   {"eight_loads_more_threads", 8, 2048}}};

void predict_loads(warpwise::Lesson& lesson) {
    constexpr double bandwidth = 4.8e12, latency = 332e-9, sms = 132;
    std::vector<std::vector<std::string>> rows;
    for (const Predicted& step : predictions) {
        const double bytes = step.loads * sizeof(float) * step.threads_an_sm;
        rows.push_back({step.step, text_of("%.0f", step.loads), std::to_string(step.threads_an_sm),
                        text_of("%.0f", bytes / 1024),
                        text_of("%.0f", std::min(bandwidth, bytes * sms / latency) * 1e-9)});
    }
    lesson.table("Predicted for an H200 and 33792 columns",
                 {"step", "loads under way a thread", "threads an SM", "KiB under way an SM", "GB/s at most"}, rows);
}

void show_recorded_steps(warpwise::Lesson& lesson) {
    std::vector<std::string> steps;
    for (const Predicted& step : predictions) steps.emplace_back(step.step);
    lesson.show_recorded_steps("The same steps, 8192 x 33792", steps, "GB/s", [](const warpwise::RecordedStep& step) {
        return warpwise::text_or_dash("%.0f", step.gb_per_s);
    });
}

// All steps ask for the same: as many requests, as many sectors. Only their order differs.
void expect_same_loads(warpwise::Lesson& lesson) {
    constexpr std::size_t rows = 67, cols = 1024;
    ColumnSums problem({rows, cols});
    for (void (*const step)(ColumnSums&) : {run<sum_one_by_one>, run<sum_in_batches<2>>, run<sum_in_batches<4>>,
                                            run<sum_in_batches<8>>, run<sum_prefetched<8>>, run_parts}) {
        if (const auto counts = lesson.count([&] { step(problem); })) {
            lesson.expect(counts->global_load.requests == rows * cols / kLanes, "every step has a load for each row");
            lesson.expect(counts->global_load.sectors_per_request() == 4, "and each of them touches 4 sectors");
        }
    }
}

}  // namespace

void latency_hiding(warpwise::Lesson& lesson) {
    lesson.text(
        R"(The result of an operation is there some cycles after it was started: about 4 for a multiply-add (Z. Jia
and others measured it on Volta in 2018), hundreds for a load. A warp may start its next instruction a cycle later,
unless that needs the result. Then it waits, and the time is lost, unless another warp goes on.

What you will see: a polynomial as one chain of operations or several, loads one at a time or several, and the next
loads before this round's values are used.

Horner's rule takes the fewest operations a polynomial can do with, but each needs the one before.

    sum = sum * x + c[k];                                          one chain

    even = even * x2 + c[k];    odd = odd * x2 + c[k + 1];         two chains; x2 = x * x, in the end odd * x + even

How many operations do 1, 2, 4 and 8 chains take, and how many of them one after the other? The lesson carries a
depth along with each number, so the table below is counted, not derived.)");
    show_structure(lesson);
    lesson.text(
        R"(Eight chains take seven operations more, and are through after 45 steps instead of 255. They are not
eight times as short: x^8 has to be there first, and in the end the chains are joined.

Now Little's law: an SM's scheduler can start one operation a cycle, and an operation takes 4 cycles, so 4 must be
under way. They may come from 4 warps with one chain, from one warp with 4 chains, or from 2 with 2. Predict the
table's diagonal, and its upper right corner: 8 chains, but one warp.)");
    show_chains(lesson);
    lesson.text(lesson.measures()
                    ? R"(The diagonal holds, and the corner loses to 4 chains: making x^8 and joining the chains are 14
operations, one after the other, while nothing else is to do. What the measured table lacks everywhere is what else the
machine code contains: for compute capability 9.0 a round is 261 to 275 instructions, of which the table counts 255 to
262. (With 16 FP32 lanes a scheduler, as on compute capability 7.5 and 8.0, one multiply-add of a warp takes two cycles,
and the table ends at 0.5.) From 4 warps on, chains bring nothing: then the warps hide each other's latency.)"
                    : R"(The table is worked out; the CPU device checks the sums, and has no cycles. A GPU measures them
here by clock64, in one block on one SM. Eight chains in one warp are worse than four: making x^8 and joining the chains
are 14 operations, one after the other, while nothing else is to do. From 4 warps on, chains should bring nothing: then
the warps hide each other's latency. So an SM that is full needs no chains, and one that cannot be filled, because a
thread needs many registers, needs them.)");

    lesson.text(
        R"(Loads follow the same law with larger numbers. An H200's memory delivers 4.8 TB/s (data sheet), and a
load takes 332 ns (lesson memory_spaces measured it, with nothing else going on): 1.6 MB must be under way, 12 KiB
an SM. A matrix with 33792 columns and a thread for each of them is 256 threads an SM, with one load each 1 KiB.

    one load a round      sum += expf(values[row]);

    four                  a = values[row]; b = values[row + 1]; c = ...; d = ...;
                          sum += expf(a); sum += expf(b); sum += expf(c); sum += expf(d);

    prefetched            next = values[0];
                          for each row { now = next; next = values[row + 1]; sum += expf(now); }

A warp does not wait where it loads, but where it first uses what it loaded. So the four loads wait together, and
the one in the last line goes on while expf computes.)");
    predict_loads(lesson);
    lesson.steps<ColumnSums>({.gpu = {8192, 33792},
                              .cpu = {128, 2048},
                              .awkward = {{0, 0},
                                          {0, 5},
                                          {5, 0},
                                          {1, 1},
                                          {1, 33},
                                          {7, 31},
                                          {8, 32},
                                          {9, 33},
                                          {16, 257},
                                          {17, 1009},
                                          {1009, 3},
                                          {200, 1}}},
                             {{"serial", "one core of the host", serial, warpwise::StepKind::host},
                              {"one_load", "a thread a column, row by row", run<sum_one_by_one>},
                              {"two_loads", "2 loads before the first use", run<sum_in_batches<2>>},
                              {"four_loads", "4 loads", run<sum_in_batches<4>>},
                              {"eight_loads", "8 loads", run<sum_in_batches<8>>},
                              {"eight_prefetched", "8 loads, issued a round ahead", run<sum_prefetched<8>>},
                              {"eight_loads_more_threads", "rows dealt out to more threads", run_parts}});
    expect_same_loads(lesson);
    if (lesson.measures()) {
        lesson.text(
            R"(Compare with the prediction, and with the roof. Less than predicted: 332 ns is what one load takes with
nothing else going on, and the last of eight comes later, the more so with traffic. And the exponentials take time,
which only the last two steps hide. That is all that step 6 gains, since it has no more loads under way than step 5. The
last step has eight times as many, and should come close to the roof.)");
    } else {
        show_recorded_steps(lesson);
        lesson.text(
            R"(To the counters all kernels but the last are one and the same: as many requests, as many sectors, the
same occupancy. Nothing in them says how long a warp waits. On a GPU the time says it, and a profiler by the stall
reason `long scoreboard`.)");
    }
    lesson.text(
        R"(When to use which: raise the factor that you can raise without lowering the other. Where the SM is not full
and there is work for more threads, as here, take more threads. Where it is full, or cannot become full because a thread
needs many registers, take more loads a thread before the first use; nvcc unrolls loops of known length by
itself, and others with `#pragma unroll 4`, as long as it may move the loads up: `__restrict__` promises that no
store in between changes what they read. Prefetching last: it pays where a round computes about as long as a load
takes. Since compute capability 8.0 a prefetch may go to shared memory without passing through registers (cp.async,
chapter 4, matrix_multiply).

Mistakes to avoid: unrolling a loop with a single sum and expecting the additions to overlap: floating-point sums
are not reordered, so they stay one chain. A condition around each load of a round, which keeps the compiler from
moving it up. So many loads a thread that registers spill, or that fewer blocks fit: occupancy and loads under way
are factors of one product. Prefetching past the end of an array: the last round has no next.

Try next: lesson occupancy, for the other factor. And a matrix with many more columns, where a thread each is
enough:

    optimization latency_hiding --size 64x100000
    optimization latency_hiding --step eight --check)");
}

}  // namespace optimization
