// Problem: an operation that needs the result of another has to wait for it: 4 cycles for a
// sum, hundreds for a load. How does a thread get something else to do meanwhile?
//
// Two tasks. A polynomial of 256 terms, which is arithmetic only: Horner's rule is one
// chain of multiply-adds, and each needs the one before; cut into several chains, it has as
// many operations that can be in flight at the same time. And the sums of exponentials of a
// matrix's columns (as in a softmax, without its maximum), which is loads: several before
// the first is used, or the next ones before these are used. Both follow Little's law: what
// must be in flight is throughput x latency.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "chapters/3_optimization/latency_hiding/chains.cuh"
#include "chapters/3_optimization/latency_hiding/columns.cuh"
#include "chapters/3_optimization/latency_hiding/polynomial.cuh"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace optimization {
namespace {

using warpwise::check;
using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr unsigned kLanes = 32;
constexpr unsigned kThreads = 256;
constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

// ---- one chain, or several --------------------------------------------------------------

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
constexpr unsigned kSchedulers = 4;  // per SM: each issues one instruction per cycle

Structure structure_of(const Method& method) {
    DeviceBuffer<Structure> d_structure(1);
    method.trace<<<1, 1>>>(d_structure.data());
    warpwise::check_launch();
    return d_structure.download()[0];
}

// Operations per cycle that so many warps of a scheduler issue. What makes x^k and what
// joins the chains comes one after the other; in between, a warp issues one operation per
// chain, and waits if these are fewer than 4.
double predicted_rate(int chains, const Structure& structure, unsigned warps) {
    const double alone = kCyclesOfAnOperation * 2 * (chains - 1);
    const double together =
        (kTerms / chains - 1) * std::max<double>(chains, kCyclesOfAnOperation);
    return std::min(1.0, warps * structure.operations / (alone + together));
}

void show_structure(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    for (const Method& method : methods) {
        const Structure structure = structure_of(method);
        const int k = method.chains;
        lesson.expect(structure.operations == kTerms + k - 2,
                      "chains: as many operations as predicted");
        lesson.expect(structure.longest == kTerms / k - 1 + 2 * (k - 1),
                      "chains: the longest is as predicted");
        rows.push_back({std::to_string(k), std::to_string(structure.operations),
                        std::to_string(structure.longest),
                        text_of("%.2f", static_cast<double>(structure.operations) /
                                            structure.longest)});
    }
    lesson.table({"chains", "A polynomial of 256 terms"},
                 {"chains", "operations", "one after the other", "side by side"}, rows);
}

std::vector<double> expected_sums(const std::vector<float>& points, int rounds) {
    std::vector<double> sums(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        float x = points[i];
        for (int round = 0; round < rounds; ++round, x *= kNextPoint) {
            double value = 0;
            for (int term = kTerms - 1; term >= 0; --term)
                value = value * x + coefficient(term);
            sums[i] += value;
        }
    }
    return sums;
}

// One block on one SM with 1 to 8 warps for each of its four schedulers: predicted, and on
// a GPU measured.
void show_chains(warpwise::Lesson& lesson) {
    const bool measures = lesson.measures();
    const int rounds = measures ? 256 : 1;
    const std::vector<float> points = warpwise::uniform<float>(1024, 51);
    const std::vector<double> expected = expected_sums(points, rounds);
    double magnitudes = 0;
    for (int term = 0; term < kTerms; ++term) magnitudes += coefficient(term) * rounds;
    const double tolerance = warpwise::sum_tolerance(
        kTerms * static_cast<std::size_t>(rounds), kEpsilon, magnitudes);

    const DeviceBuffer<float> d_points(points);
    std::vector<std::vector<std::string>> predicted, measured;
    for (const unsigned warps : {1u, 2u, 4u, 8u}) {
        const unsigned threads = warps * kSchedulers * kLanes;
        predicted.push_back({std::to_string(warps)});
        measured.push_back({std::to_string(warps)});
        for (const Method& method : methods) {
            const Structure structure = structure_of(method);
            predicted.back().push_back(
                text_of("%.2f", predicted_rate(method.chains, structure, warps)));

            DeviceBuffer<float> d_sums(threads);
            DeviceBuffer<Span> d_spans(threads);
            for (int run = 0; run < (measures ? 2 : 1);
                 ++run) {  // the first one fills caches
                d_sums.fill_bytes(0xFF);
                method.add_values<<<1, threads>>>(d_points.data(), d_sums.data(), rounds,
                                                  d_spans.data());
                warpwise::check_launch();
            }
            const auto sum = [&](std::size_t i) { return expected[i]; };
            lesson.expect(warpwise::compare_each(d_sums.download(), threads, sum,
                                                 {.absolute = tolerance})
                              .passed,
                          std::to_string(method.chains) + " chains: the sums are right");
            long long begin = std::numeric_limits<long long>::max(), end = 0;
            for (const Span& span : d_spans.download()) {
                begin = std::min(begin, span.begin);
                end = std::max(end, span.end);
            }
            const double operations =
                static_cast<double>(warps) * structure.operations * rounds;
            measured.back().push_back(
                text_of("%.2f", operations / static_cast<double>(end - begin)));
        }
    }
    const std::vector<std::string> header = {"warps per scheduler", "1 chain", "2 chains",
                                             "4 chains", "8 chains"};
    const std::string title = "Operations per cycle against warps per scheduler, ";
    lesson.table({"predicted_rates", title + "predicted"}, header, predicted);
    if (measures) {
        lesson.table({"measured_rates", title + "measured"}, header, measured);
    } else {
        lesson.show_recorded("measured_rates");
    }
}

// ---- the second problem: loads ----------------------------------------------------------

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

    // The terms are positive: an error of a few units in the last place for each
    // exponential, and that of a sum.
    warpwise::Comparison compare() {
        if (!sums_are_on_host) sums = d_sums.download();
        const double relative =
            4 * kEpsilon +
            warpwise::sum_tolerance(std::max<std::size_t>(rows, 1), kEpsilon, 1);
        return warpwise::compare(sums, expected, {.relative = relative});
    }

    // Each element is read once; an exponential and an addition.
    warpwise::Work work() const {
        const double elements = static_cast<double>(rows * cols);
        return {.bytes = sizeof(float) * elements, .operations = 2 * elements};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return sizeof(float) * (size.count() + size[1]);
    }
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

using Kernel = void (*)(const float*, float*, std::size_t, std::size_t);

template <Kernel kernel>
void run(ColumnSums& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.cols, kThreads);
    kernel<<<blocks, kThreads>>>(problem.d_values.data(), problem.d_sums.data(),
                                 problem.rows, problem.cols);
    warpwise::check_launch();
}

void run_parts(ColumnSums& problem) {
    check(cudaMemsetAsync(problem.d_sums.data(), 0, problem.d_sums.bytes()));
    const unsigned blocks = warpwise::blocks_for(problem.cols, kThreads);
    const unsigned parts =
        std::clamp(warpwise::blocks_that_fill(sum_parts<8>, kThreads) / blocks, 1u, 65535u);
    const dim3 grid(blocks, parts);
    sum_parts<8><<<grid, kThreads>>>(problem.d_values.data(), problem.d_sums.data(),
                                     problem.rows, problem.cols);
    warpwise::check_launch();
}

// What a step should have in flight on an H200, and the rate that this allows at most.
struct Predicted {
    const char* step;
    double loads;  // per thread, in flight when it waits
    unsigned threads_per_sm;
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
        const double bytes = step.loads * sizeof(float) * step.threads_per_sm;
        rows.push_back(
            {step.step, text_of("%.0f", step.loads), std::to_string(step.threads_per_sm),
             text_of("%.0f", bytes / 1024),
             text_of("%.0f", std::min(bandwidth, bytes * sms / latency) * 1e-9)});
    }
    lesson.table({"bytes_in_flight", "Predicted for an H200 and 33792 columns"},
                 {"step", "loads in flight per thread", "threads per SM",
                  "KiB in flight per SM", "GB/s at most"},
                 rows);
}

// All steps ask for the same: as many requests, as many sectors. Only their order differs.
void expect_same_loads(warpwise::Lesson& lesson) {
    constexpr std::size_t rows = 67, cols = 1024;
    ColumnSums problem({rows, cols});
    for (void (*const step)(ColumnSums&) :
         {run<sum_one_by_one>, run<sum_in_batches<2>>, run<sum_in_batches<4>>,
          run<sum_in_batches<8>>, run<sum_prefetched<8>>, run_parts}) {
        if (const auto counts = lesson.count([&] { step(problem); })) {
            lesson.expect(counts->global_load.requests == rows * cols / kLanes,
                          "every step has a load for each row");
            lesson.expect(counts->global_load.sectors_per_request() == 4,
                          "and each of them touches 4 sectors");
        }
    }
}

}  // namespace

void latency_hiding(warpwise::Lesson& lesson) {
    lesson.question(
        R"(The result of an operation is available some cycles after it was issued: about 4
for a multiply-add, hundreds for a load. A warp may issue its next instruction in the next
cycle, unless that needs the result. What else can it do while it waits, and how much of
that does it need?)");
    lesson.predict(
        {.question = R"(Horner's rule for 256 terms is one chain of 255 operations.
If the terms are dealt out to 8 chains, which are joined in the end, how many operations
must come one after the other? Within a factor of 1.5 is right.)",
         .answer =
             warpwise::Number{
                 .value = 45,
                 .unit = "operations",
                 .factor = 1.5,
                 .shown_by = warpwise::TableCell{"chains", {"8"}, "one after the other"}},
         .because = R"(31 for the terms of a chain, and 14 to make x^8 and to join
the chains.)"});
    show_structure(lesson);
    lesson.conclusion(
        R"(Eight chains take seven operations more than one chain, but only 45 instead of
255 come one after the other. They are not eight times as short, because x^8 has to be there
first, and in the end the chains are joined.)");

    lesson.question(
        R"(Little's law says what must be in flight: throughput times latency. One of an
SM's four schedulers can issue one operation per cycle, and an operation takes 4 cycles, so
4 must be in flight: from 4 warps with one chain, from one warp with 4 chains, or from 2
warps with 2.)");
    lesson.predict({.question = R"(An operation takes 4 cycles. A scheduler has 4 warps, and
each of them follows one chain. How many operations per cycle does it issue on a GPU?)",
                    .answer =
                        warpwise::Measured{
                            .by = warpwise::TableCell{"measured_rates", {"4"}, "1 chain"},
                            .factor = 1.1},
                    .because = R"(In the 4 cycles in which one operation is in flight, the 4
warps offer 4 independent ones.)"});
    show_chains(lesson);
    lesson.conclusion(
        R"(On the diagonal, a scheduler issues nearly one operation per cycle. One warp with
8 chains does worse than one with 4: making x^8 and joining the chains are 14 operations,
one after the other, with nothing else to do. From 4 warps on, chains add nothing, because
the warps hide each other's latency. An SM that cannot be filled needs them.)");

    lesson.question(
        R"(Loads follow the same law with larger numbers. The task is the sum of exp(x) over
each column of a matrix, one thread per column, so that an H200 has 256 threads per SM. A
warp does not wait where it loads, but where it first uses what it loaded.)");
    lesson.predict(
        {.question = R"(A thread has eight loads in flight instead of one. How many
times as fast as one_load is eight_loads on a GPU?)",
         .answer = warpwise::Measured{.by = warpwise::TimeRatio{"one_load", "eight_loads"},
                                      .unit = "times",
                                      .factor = 1.3},
         .because = R"(It stays below eight: all eight
loads are waited for before the next eight are issued, so they are not in flight all the
time.)"});
    predict_loads(lesson);
    lesson.steps<ColumnSums>(
        {.gpu = {8192, 33792},
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
         {"one_load", "one thread per column, row by row", run<sum_one_by_one>},
         {"two_loads", "2 loads before the first use", run<sum_in_batches<2>>},
         {"four_loads", "4 loads", run<sum_in_batches<4>>},
         {"eight_loads", "8 loads", run<sum_in_batches<8>>},
         {"eight_prefetched", "8 loads, issued a round ahead", run<sum_prefetched<8>>},
         {"eight_loads_more_threads", "rows dealt out to more threads", run_parts}});
    expect_same_loads(lesson);
    lesson.conclusion(
        R"(To the counters all steps but the last are the same: they do not show how long a
warp waits. The rate grows with the loads in flight, but less than predicted, because the
last of several loads arrives later than the first. Step 6 hides the exponentials and
nothing else: no more loads are in flight than in step 5. Step 7 has eight times as many
threads, and comes close to copy bandwidth.)");
}

}  // namespace optimization
