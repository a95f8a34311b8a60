// Problem: pi as the integral of 4 / (1 + x^2) over [0, 1], by the midpoint rule with n
// slices of width h = 1 / n:
//
//     pi ~ h * sum over i = 0 .. n-1 of 4 / (1 + x_i^2),    x_i = (i + 1/2) * h
//
// Nothing is read from memory. This lesson is about adding what many threads computed (a
// reduction), first fast, then right. The rule itself is off by 1 / (12 n^2):
// Euler-Maclaurin for midpoints gives -h^2/24 * (f'(1) - f'(0)), and here f'(1) = -2, f'(0)
// = 0. The next term, of order h^4, contains f'''(1) - f'''(0) = 0 and vanishes. From 2^20
// slices on, the rule is therefore right to 13 digits, and any larger error in the table is
// one of rounding.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "chapters/1_basics_and_pi/pi/kernels.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace basics_and_pi {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr double kFloatEpsilon = std::numeric_limits<float>::epsilon();
constexpr double kDoubleEpsilon = std::numeric_limits<double>::epsilon();

// Step 1, the loop as the formula has it, in double precision on one core: also the
// reference for few slices.
double serial_sum(uint64_t slices) {
    const double width = 1.0 / static_cast<double>(slices);
    double sum = 0;
    for (uint64_t i = 0; i < slices; ++i) {
        const double x = (static_cast<double>(i) + 0.5) * width;
        sum += 4 / (1 + x * x);
    }
    return slices == 0 ? 0 : sum * width;
}

// What the midpoint rule gives without any rounding: the formula above, wrong by less than
// 1e-20 from 1000 slices on.
double midpoint_rule(uint64_t slices) {
    if (slices < 1000) return serial_sum(slices);
    const double n = static_cast<double>(slices);
    return std::numbers::pi + 1 / (12 * n * n);
}

// The estimate of pi always ends in `d_pi`. Steps say with `rounds_like` what rounding may
// do to their way of adding.
struct Pi {
    uint64_t slices;
    double width;
    DeviceBuffer<double> d_pi{1};
    DeviceBuffer<float> d_sums;  // of the threads, or of the blocks
    double tolerance = 0;
    double estimate = 0;  // as of the last compare()

    explicit Pi(const warpwise::Size& size)
        : slices(size[0]),
          width(slices == 0 ? 0 : 1.0 / static_cast<double>(slices)),
          d_sums(largest_grid()) {}

    void poison() {
        d_pi.fill_bytes(0xFF);
        d_sums.fill_bytes(0xFF);
        tolerance = 0;
    }

    void rounds_like(std::size_t chain, double epsilon) {
        tolerance = warpwise::sum_tolerance(chain, epsilon, std::numbers::pi);
    }

    warpwise::Comparison compare() {
        const std::vector<double> result = d_pi.download();
        estimate = result[0];
        return warpwise::compare(result, {midpoint_rule(slices)}, {.absolute = tolerance});
    }

    std::vector<warpwise::Figure> figures() const {
        return {{"error against pi", std::fabs(estimate - std::numbers::pi), ""}};
    }

    // What the formula asks for in each slice: + 1/2, times h, squared, + 1, 4 divided by
    // it, added to the sum.
    warpwise::Work work() const {
        return {.bytes = 0, .operations = 6.0 * static_cast<double>(slices)};
    }

    static std::size_t device_bytes(const warpwise::Size&) {
        return sizeof(double) + largest_grid() * sizeof(float);
    }

    // Blocks for a kernel whose threads stride over the slices: no more than fit on the
    // device at once.
    template <class Kernel>
    unsigned blocks(Kernel kernel) const {
        const std::size_t needed =
            std::max<std::size_t>(1, warpwise::ceil_div(slices, kThreads));
        return static_cast<unsigned>(
            std::min<std::size_t>(needed, warpwise::blocks_that_fill(kernel, kThreads)));
    }

    // Longest chain of roundings behind a block's sum: the additions of a thread, then
    // log2(256) = 8 rounds of a tree.
    std::size_t chain(unsigned blocks) const {
        return warpwise::ceil_div(slices, std::size_t{blocks} * kThreads) + 8;
    }

    // Threads of the largest grid that `blocks` gives to sum_per_thread.
    static std::size_t largest_grid();
};

void serial(Pi& problem) {
    problem.d_pi.upload({serial_sum(problem.slices)});
    problem.rounds_like(problem.slices, kDoubleEpsilon);
}

// Step 2, fork and join: each core of the host adds the terms of its share of the slices,
// and OpenMP adds the sums of the cores.
// Better: all cores work.
// Still slow: on each of them, one division follows the other.
void openmp(Pi& problem) {
    double sum = 0;
#ifdef _OPENMP
#pragma omp parallel for reduction(+ : sum)
#endif
    for (uint64_t i = 0; i < problem.slices; ++i) {
        const double x = (static_cast<double>(i) + 0.5) * problem.width;
        sum += 4 / (1 + x * x);
    }
    problem.d_pi.upload({sum * problem.width});
    problem.rounds_like(problem.slices, kDoubleEpsilon);
}

std::size_t Pi::largest_grid() {
    return std::size_t{warpwise::blocks_that_fill(sum_per_thread, kThreads)} * kThreads;
}

// Step 3, the host copies the sums of all threads and adds them.
void add_on_host(Pi& problem) {
    const unsigned blocks = problem.blocks(sum_per_thread);
    sum_per_thread<<<blocks, kThreads>>>(problem.slices, static_cast<float>(problem.width),
                                         problem.d_sums.data());
    warpwise::check_launch();
    std::vector<float> thread_sums(std::size_t{blocks} * kThreads);
    warpwise::check(cudaMemcpy(thread_sums.data(), problem.d_sums.data(),
                               thread_sums.size() * sizeof(float), cudaMemcpyDeviceToHost));
    double sum = 0;
    for (const float thread_sum : thread_sums) sum += thread_sum;
    problem.d_pi.upload({sum * problem.width});
    problem.rounds_like(problem.chain(blocks), kFloatEpsilon);
}

// Steps 4 and 5: `Kernel` leaves the block sums, a second kernel adds them.
template <auto Kernel>
void two_launches(Pi& problem) {
    const unsigned blocks = problem.blocks(Kernel);
    Kernel<<<blocks, kThreads>>>(problem.slices, static_cast<float>(problem.width),
                                 problem.d_sums.data());
    warpwise::check_launch();
    add_block_sums<<<1, kThreads>>>(problem.d_sums.data(), blocks, problem.width,
                                    problem.d_pi.data());
    warpwise::check_launch();
    problem.rounds_like(problem.chain(blocks) + warpwise::ceil_div(blocks, kThreads) + 8,
                        kFloatEpsilon);
}

// Steps 6 to 10: one memset, one launch. The atomic additions are double in all of them. A
// compensated sum rounds as if it were a single addition.
template <auto Kernel>
void one_pass(Pi& problem, double epsilon, bool compensated = false) {
    const unsigned blocks = problem.blocks(Kernel);
    warpwise::check(cudaMemsetAsync(problem.d_pi.data(), 0, problem.d_pi.bytes()));
    Kernel<<<blocks, kThreads>>>(problem.slices, problem.width, problem.d_pi.data());
    warpwise::check_launch();
    const std::size_t chain =
        problem.chain(blocks) + (epsilon == kDoubleEpsilon ? blocks : 0);
    problem.rounds_like(compensated ? 1 : chain, epsilon);
}

// ---- the error against the number of slices that a thread adds up ----------------------

std::string scientific(double value) { return text_of("%.1e", value); }

void show_error_curve(warpwise::Lesson& lesson) {
    // Up to 2^24 slices per thread, or 2^20.
    const unsigned rows = warpwise::Lesson::on_gpu() ? 9 : 7;
    DeviceBuffer<double> d_sums[3] = {DeviceBuffer<double>(32 * rows),
                                      DeviceBuffer<double>(32 * rows),
                                      DeviceBuffer<double>(32 * rows)};
    sum_three_ways<<<rows, 32>>>(d_sums[0].data(), d_sums[1].data(), d_sums[2].data());
    warpwise::check_launch();
    warpwise::check_finished();
    const std::vector<double> sums[3] = {d_sums[0].download(), d_sums[1].download(),
                                         d_sums[2].download()};

    std::vector<std::vector<std::string>> cells;
    bool compensated_holds = true, double_holds = true;
    for (unsigned row = 0; row < rows; ++row) {
        const uint64_t slices = uint64_t{1} << (8 + 2 * row);
        double error[3];
        for (int way = 0; way < 3; ++way) {
            double sum = 0;
            for (unsigned thread = 0; thread < 32; ++thread)
                sum += sums[way][32 * row + thread];
            error[way] = std::fabs(sum - midpoint_rule(32 * slices));
        }
        compensated_holds &=
            error[1] <= warpwise::sum_tolerance(1, kFloatEpsilon, std::numbers::pi);
        double_holds &=
            error[2] <= warpwise::sum_tolerance(slices, kDoubleEpsilon, std::numbers::pi);
        cells.push_back({"2^" + std::to_string(8 + 2 * row), scientific(error[0]),
                         scientific(error[1]), scientific(error[2])});
    }
    lesson.table({"error", "Error of the sum against the slices that one thread adds up"},
                 {"slices per thread", "float", "float, compensated", "double"}, cells);
    lesson.expect(compensated_holds,
                  "a compensated float sum stays as good as one float, however long it is");
    lesson.expect(double_holds, "a double sum stays within its rounding bound");
}

// ---- how far the last step is from the limit of the double units -----------------------

// Instructions on the double units that nvcc makes of one round of sum_fours<double>, by
// the machine code for sm_90: k 1, x 4, 1 + x^2 4, products and sums 7, division 8, sum 1.
constexpr double kDoubleInstructionsForFour = 25;

void show_limit(warpwise::Lesson& lesson) {
    Pi problem(lesson.size({std::size_t{1} << 30}, {std::size_t{1} << 20}));
    const unsigned blocks = warpwise::blocks_that_fill(multiply_add_only, kThreads);
    const double instructions =
        kDoubleInstructionsForFour * static_cast<double>(problem.slices) / 4;
    const auto rounds = static_cast<uint64_t>(instructions / (8.0 * blocks * kThreads));
    const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
        {{[&] {
              multiply_add_only<<<blocks, kThreads>>>(rounds, 0.5, problem.d_pi.data());
          },
          false},
         {[&] { one_pass<sum_fours<double>>(problem, kDoubleEpsilon); }, false}});
    const double limit = timings[0].median, step = timings[1].median;
    lesson.table(
        {"limit", "The limit of the double units: 25 instructions for four slices"},
        {"what", "time", "share of the limit"},
        {{"as many multiply-adds and nothing else", text_of("%.3f ms", limit * 1e3), "1"},
         {"sum_fours_double", text_of("%.3f ms", step * 1e3),
          text_of("%.2f", limit / step)}});
}

}  // namespace

void pi(warpwise::Lesson& lesson) {
    lesson.question(
        R"(Every thread adds up its slices of the integral, and then the sums of all
threads have to become one number. How do threads add up together fast, and how many
digits of the result are right?)");
    lesson.predict(
        {.question = R"(Each thread adds up thousands of slices. Then step 4 adds
the sums of a block by a tree in shared memory with 8 barriers, and step 5 by warp
shuffles with one barrier. How many times as fast is step 5 on a GPU?)",
         .answer =
             warpwise::Measured{.by = warpwise::TimeRatio{"sum_by_tree", "sum_by_shuffles"},
                                .unit = "times",
                                .factor = 1.1},
         .because = R"(The few additions at the end hardly count beside the
thousands before them. First make fast what takes long.)"});

    using Run = void (*)(Pi&);
#ifdef _OPENMP
    const char* const openmp_change = "the same loop, all cores";
#else
    const char* const openmp_change = "the same loop (built without OpenMP)";
#endif
    const Run atomics = [](Pi& problem) {
        one_pass<sum_with_atomics>(problem, kFloatEpsilon);
    };
    const Run in_double = [](Pi& problem) {
        one_pass<sum_in_double>(problem, kDoubleEpsilon);
    };
    const Run compensated = [](Pi& problem) {
        one_pass<sum_compensated>(problem, kFloatEpsilon, true);
    };
    const Run fours_float = [](Pi& problem) {
        one_pass<sum_fours<float>>(problem, kFloatEpsilon);
    };
    const Run fours_double = [](Pi& problem) {
        one_pass<sum_fours<double>>(problem, kDoubleEpsilon);
    };
    lesson.steps<Pi>(
        {.gpu = {std::size_t{1} << 30},
         .cpu = {std::size_t{1} << 20},
         .awkward = {{0},
                     {1},
                     {2},
                     {31},
                     {32},
                     {33},
                     {255},
                     {257},
                     {1009},
                     {4096 + 3},
                     {100003},
                     {1234567}}},
        {{"serial", "a loop in double, one core", serial, warpwise::StepKind::host},
         {"openmp", openmp_change, openmp, warpwise::StepKind::host},
         {"sum_per_thread", "float; the host adds the sums", add_on_host},
         {"sum_by_tree", "a tree in each block, two launches", two_launches<sum_by_tree>},
         {"sum_by_shuffles", "warps add by shuffles", two_launches<sum_by_shuffles>},
         {"sum_with_atomics", "one launch, one atomic per block", atomics},
         {"sum_in_double", "double everywhere", in_double},
         {"sum_compensated", "float, lost digits put back (Kahan)", compensated},
         {"sum_fours_float", "float, one division for four slices", fours_float},
         {"sum_fours_double", "double, one division for four slices", fours_double}});

    lesson.conclusion(
        warpwise::Lesson::on_gpu()
            ? R"(With thousands of slices per thread, steps 4, 5, and 6 take the same
time, because only a few additions follow. Nothing is read from memory, so arithmetic is
the limit. Steps 9 and 10 help: they have one division for four slices, and no 64-bit
index to convert.)"
            : R"(Steps 4, 5, and 6 differ in barriers and launches, but on a GPU they
take the same time when each thread has thousands of slices. Nothing is read from
memory, so arithmetic is the limit. What helps most on a GPU is one division for four
slices, and no 64-bit index to convert (steps 9 and 10).)");

    lesson.question(
        R"(The midpoint rule is right to 13 digits from 2^20 slices on. Any larger error
comes from rounding. How does the error of a sum depend on the number of slices that one
thread adds up?)");
    lesson.predict(
        {.question = R"(A float has 24 bits. What happens to the error of a sum of
floats when one thread adds up more and more slices?)",
         .answer = warpwise::Choice{{"it becomes smaller and smaller", "it stays the same",
                                     "it becomes larger"},
                                    2},
         .because = R"(The larger the sum is beside its terms, the more bits of
each term are rounded away.)"});
    show_error_curve(lesson);
    lesson.conclusion(
        R"(The float sum gets worse: at 2^22, neighboring floats are 0.5 apart, and
every term is rounded to a multiple of that. The compensated sum stays as good as a
single float, however long it is. In the steps above the problem does not show, because
many short sums lose less than one long sum.)");
    if (warpwise::Lesson::on_gpu()) {
        lesson.predict(
            {.question = R"(Step 10 is bound by the double units. What share of the rate
of a kernel that does nothing but double multiply-adds does it reach?)",
             .answer = warpwise::Measured{.by = warpwise::TableCell{"limit",
                                                                    {"sum_fours_double"},
                                                                    "share of the limit"},
                                          .factor = 1.2},
             .because = R"(Nearly all its instructions use these units, so only fewer
operations can make it much faster.)"});
        show_limit(lesson);
        lesson.conclusion(
            R"(Where the share of the limit is close to 1, only fewer operations can
make step 10 faster.)");
    }
}

}  // namespace basics_and_pi
