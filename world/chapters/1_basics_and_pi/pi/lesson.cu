// Problem: pi as the integral of 4 / (1 + x^2) over [0, 1], by the midpoint rule with n
// slices of width h = 1 / n:
//
//     pi ~ h * sum over i = 0 .. n-1 of 4 / (1 + x_i^2),    x_i = (i + 1/2) * h
//
// Nothing is read from memory. This lesson is about adding what many threads computed (a
// reduction). The next one, pi_precision, is about the digits of the result.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "chapters/1_basics_and_pi/pi/kernels.cuh"
#include "chapters/1_basics_and_pi/pi/problem.h"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/launch_shape.h"
#include "common/lesson/lesson.h"

namespace basics_and_pi {
namespace {

using warpwise::DeviceBuffer;

// With memory for the sums of the threads, or of the blocks.
struct PiFromSums : Pi {
    DeviceBuffer<float> d_sums;

    explicit PiFromSums(const warpwise::Size& size) : Pi(size), d_sums(largest_grid()) {}

    void poison() {
        Pi::poison();
        d_sums.fill_bytes(0xFF);
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return Pi::device_bytes(size) + largest_grid() * sizeof(float);
    }

    // Threads of the largest grid that sum_per_thread is launched with.
    static std::size_t largest_grid() {
        return std::size_t{warpwise::blocks_that_fill(sum_per_thread, kThreads)} * kThreads;
    }
};

// Step 1, the loop of the formula on one core of the host: serial_sum in problem.h.
void serial(PiFromSums& problem) {
    problem.d_pi.upload({serial_sum(problem.slices)});
    problem.rounds_like(problem.slices, kDoubleEpsilon);
}

// Step 2, fork and join: each core of the host adds the terms of its share of the slices,
// and OpenMP adds the sums of the cores.
// Faster because all cores work.
// Still slow because each of them has to do one division after the other.
void openmp(PiFromSums& problem) {
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

// Step 3, the host copies the sums of all threads and adds them.
void add_on_host(PiFromSums& problem) {
    const unsigned blocks = problem.blocks(sum_per_thread, kThreads);
    sum_per_thread<<<blocks, kThreads>>>(problem.slices, static_cast<float>(problem.width),
                                         problem.d_sums.data());
    warpwise::check_launch();
    std::vector<float> thread_sums(std::size_t{blocks} * kThreads);
    warpwise::check(cudaMemcpy(thread_sums.data(), problem.d_sums.data(),
                               thread_sums.size() * sizeof(float), cudaMemcpyDeviceToHost));
    double sum = 0;
    for (const float thread_sum : thread_sums) sum += thread_sum;
    problem.d_pi.upload({sum * problem.width});
    problem.rounds_like(problem.chain(blocks, kThreads), kFloatEpsilon);
}

// Step 4, one kernel leaves the sums of the blocks, and a second one adds them.
void two_launches(PiFromSums& problem) {
    const unsigned blocks = problem.blocks(sum_by_tree, kThreads);
    sum_by_tree<<<blocks, kThreads>>>(problem.slices, static_cast<float>(problem.width),
                                      problem.d_sums.data());
    warpwise::check_launch();
    add_block_sums<<<1, kThreads>>>(problem.d_sums.data(), blocks, problem.width,
                                    problem.d_pi.data());
    warpwise::check_launch();
    problem.rounds_like(
        problem.chain(blocks, kThreads) + warpwise::ceil_div(blocks, kThreads) + 8,
        kFloatEpsilon);
}

// Step 5, one memset and one launch. The atomic additions are in double.
void one_launch(PiFromSums& problem) {
    const unsigned blocks = problem.blocks(sum_with_atomics, kThreads);
    warpwise::check(cudaMemsetAsync(problem.d_pi.data(), 0, problem.d_pi.bytes()));
    sum_with_atomics<<<blocks, kThreads>>>(problem.slices, problem.width,
                                           problem.d_pi.data());
    warpwise::check_launch();
    problem.rounds_like(problem.chain(blocks, kThreads), kFloatEpsilon);
}

}  // namespace

void pi(warpwise::Lesson& lesson) {
    lesson.question(
        R"(Every thread adds up its slices of the integral, and then the sums of all
threads have to become one number. How do threads add up together?)");
    lesson.predict(
        {.question = R"(In step 4, the 256 threads of a block add up 256 numbers by a
tree: after a barrier, each round adds half of the numbers to the other half. A second
kernel, of one block, then does the same with the sums of the blocks. How many barriers does
one warp of each kernel pass, added up?)",
         .answer = warpwise::Number{.value = 16,
                                    .unit = "barriers",
                                    .shown_by = warpwise::barriers_per_warp("sum_by_tree")},
         .because = R"(Each round halves the numbers, so 256 numbers take 8 rounds. Each of
the two kernels has 8 rounds.)"});
    lesson.predict(
        {.question = R"(Each thread adds up thousands of slices. After that, step 4 launches
a second kernel, and step 5 needs none: each block adds its sum by an atomic operation. How
many times as fast is step 5 on a GPU?)",
         .answer = warpwise::Measured{.by = warpwise::TimeRatio{"sum_by_tree",
                                                                "sum_with_atomics"},
                                      .unit = "times",
                                      .factor = 1.1},
         .because = R"(The few additions at the end hardly count beside the
thousands before them. First make fast what takes long.)"});

#ifdef _OPENMP
    const char* const openmp_change = "the same loop, all cores";
#else
    const char* const openmp_change = "the same loop (no OpenMP: one core)";
#endif
    lesson.steps<PiFromSums>(
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
         {"sum_by_tree", "a tree in each block, two launches", two_launches},
         {"sum_with_atomics", "one launch, one atomic per block", one_launch}});

    lesson.conclusion(
        warpwise::Lesson::on_gpu()
            ? R"(Adding on the host costs time: all sums cross the bus. Steps 4 and 5 take
the same time when each thread has thousands of slices, because only a few additions follow.
Nothing is read from memory, so what limits them is the arithmetic on each slice. The next
lesson reduces that.)"
            : R"(Steps 4 and 5 differ in barriers and launches. On a GPU they take the same
time when each thread has thousands of slices, because only a few additions follow. Nothing
is read from memory, so what limits them is the arithmetic on each slice. The next lesson
reduces that.)");
}

}  // namespace basics_and_pi
