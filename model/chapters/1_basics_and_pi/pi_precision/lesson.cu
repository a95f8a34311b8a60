// Problem: the sum of the lesson pi once more, by the midpoint rule with n slices of width
// h = 1 / n:
//
//     pi ~ h * sum over i = 0 .. n-1 of 4 / (1 + x_i^2),    x_i = (i + 1/2) * h
//
// From 2^20 slices on, the rule is right to 13 digits (problem.h says why), so any larger
// error in the tables is one of rounding. Which digits of a sum are right, and what do more
// of them cost?
#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include "chapters/1_basics_and_pi/pi/problem.h"
#include "chapters/1_basics_and_pi/pi_precision/kernels.cuh"
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

// All steps are one memset and one launch, and add the sums of the blocks in double. A
// compensated sum rounds as if it were a single addition.
template <auto Kernel>
void one_launch(Pi& problem, double epsilon, bool compensated = false) {
    const unsigned blocks = problem.blocks(Kernel, kThreads);
    warpwise::check(cudaMemsetAsync(problem.d_pi.data(), 0, problem.d_pi.bytes()));
    Kernel<<<blocks, kThreads>>>(problem.slices, problem.width, problem.d_pi.data());
    warpwise::check_launch();
    const std::size_t chain =
        problem.chain(blocks, kThreads) + (epsilon == kDoubleEpsilon ? blocks : 0);
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

constexpr char kLimit[] = "limit";  // a table

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
         {[&] { one_launch<sum_fours<double>>(problem, kDoubleEpsilon); }, false}});
    const double limit = timings[0].median, step = timings[1].median;
    lesson.table(
        {"limit", "The limit of the double units: 25 instructions for four slices"},
        {"what", "time", "share of the limit"},
        {{"as many multiply-adds and nothing else", text_of("%.3f ms", limit * 1e3), "1"},
         {"sum_fours_double", text_of("%.3f ms", step * 1e3),
          text_of("%.2f", limit / step)}});
}

}  // namespace

void pi_precision(warpwise::Lesson& lesson) {
    lesson.question(
        R"(The formula of the lesson pi takes each slice at its middle. From 2^20 slices on,
it is right to 13 digits, and any larger error comes from rounding. How does the error of a
sum depend on the number of slices that one thread adds up?)");
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
        R"(The float sum gets worse: once it has reached 2^22, neighboring floats are
0.5 apart, and every term is rounded to a multiple of that. The compensated sum stays as
good as a single float, however long it is.)");

    lesson.question(
        R"(What do more digits cost, and what limits the kernels? Step 1 is the last step
of the lesson pi. In steps 2 and 3 it gets more digits, and in steps 4 and 5 fewer
operations.)");
    lesson.predict(
        {.question = R"(Step 2 does everything in double. A GPU for computing centers, such
as an H200, has half as many units for double as for float, other GPUs have 1/32 or 1/64.
How many times as long as step 1 does step 2 take, on the GPU whose times this lesson
shows?)",
         .answer =
             warpwise::Measured{.by = warpwise::TimeRatio{"sum_in_double", "sum_in_float"},
                                .unit = "times"},
         .because = R"(The FP32 units are not what limits step 1: the division and the
conversion of the index take most of its time.)"});

    using Run = void (*)(Pi&);
    const Run in_float = [](Pi& problem) {
        one_launch<sum_in_float>(problem, kFloatEpsilon);
    };
    const Run in_double = [](Pi& problem) {
        one_launch<sum_in_double>(problem, kDoubleEpsilon);
    };
    const Run compensated = [](Pi& problem) {
        one_launch<sum_compensated>(problem, kFloatEpsilon, true);
    };
    const Run fours_float = [](Pi& problem) {
        one_launch<sum_fours<float>>(problem, kFloatEpsilon);
    };
    const Run fours_double = [](Pi& problem) {
        one_launch<sum_fours<double>>(problem, kDoubleEpsilon);
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
        {{"sum_in_float", "float, as in the lesson pi", in_float},
         {"sum_in_double", "double everywhere", in_double},
         {"sum_compensated", "float, lost digits put back (Kahan)", compensated},
         {"sum_fours_float", "float, one division for four slices", fours_float},
         {"sum_fours_double", "double, one division for four slices", fours_double}});

    lesson.conclusion(
        R"(Here a thread adds a few thousand slices at most, so the float sums stay good.
Nothing is read from memory, so arithmetic is the limit. What helps most on a GPU is one
division for four slices, and no 64-bit index to convert (steps 4 and 5).)");

    if (!lesson.measures() && !lesson.recorded()) return;
    lesson.question(R"(How far is step 5 from the limit of the double units?)");
    lesson.text(
        R"(Step 5 is limited by the double units: four of its slices take 25 of their
instructions. An H200 has 132 SMs with 64 such units each. A unit executes one of them per
clock, up to 1.98 billion per second. This gives the least time for 2^30 slices.)");
    lesson.predict(
        {.question = R"(What share of the time of step 5 is this least time, as a number
from 0 to 1? (The lesson measures the least time, with a kernel of as many double
multiply-adds and nothing else.))",
         .answer = warpwise::Measured{.by = warpwise::TableCell{kLimit,
                                                                {"sum_fours_double"},
                                                                "share of the limit"},
                                      .factor = 1.2},
         .because = R"(Nearly all its instructions use these units, so only fewer
operations can make it much faster.)"});
    if (lesson.measures())
        show_limit(lesson);
    else
        lesson.show_recorded(kLimit);
    lesson.conclusion(
        R"(Even if step 5 kept the double units busy all the time, its time would shrink
only to this share of what it is. To become faster than that, it needs fewer operations.)");
}

}  // namespace basics_and_pi
