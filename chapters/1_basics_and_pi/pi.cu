// Problem: pi as the integral of 4 / (1 + x^2) over [0, 1], by the midpoint rule with n slices of width h = 1 / n:
//
//     pi ~ h * sum over i = 0 .. n-1 of 4 / (1 + x_i^2),    x_i = (i + 1/2) * h
//
// Nothing is read from memory: this lesson is about adding up what many threads computed (a reduction), first fast,
// then right. The rule itself is off by 1 / (12 n^2): Euler-Maclaurin for midpoints, -h^2/24 * (f'(1) - f'(0)), and
// here f'(1) = -2, f'(0) = 0. The next term, of order h^4, holds f'''(1) - f'''(0) = 0 and vanishes. From 2^20 slices
// on the rule is therefore right to 13 digits, and any larger error in the table is one of rounding.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace basics_and_pi {
namespace {

using std::uint64_t;
using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr unsigned kThreads = 256;  // threads a block; the sums inside a block count on it
constexpr double kFloatEpsilon = std::numeric_limits<float>::epsilon();
constexpr double kDoubleEpsilon = std::numeric_limits<double>::epsilon();

// Step 1, the loop as the formula has it, in double precision on one core: also the reference for few slices.
double serial_sum(uint64_t slices) {
    const double width = 1.0 / static_cast<double>(slices);
    double sum = 0;
    for (uint64_t i = 0; i < slices; ++i) {
        const double x = (static_cast<double>(i) + 0.5) * width;
        sum += 4 / (1 + x * x);
    }
    return slices == 0 ? 0 : sum * width;
}

// What the midpoint rule gives without any rounding: the formula above, wrong by less than 1e-20 from 1000 slices on.
double midpoint_rule(uint64_t slices) {
    if (slices < 1000) return serial_sum(slices);
    const double n = static_cast<double>(slices);
    return std::numbers::pi + 1 / (12 * n * n);
}

// The estimate of pi always ends in `d_pi`. Steps say with `rounds_like` what rounding may do to their way of adding.
struct Pi {
    uint64_t slices;
    double width;
    DeviceBuffer<double> d_pi{1};
    DeviceBuffer<float> d_sums;  // of the threads, or of the blocks
    double tolerance = 0;
    double estimate = 0;  // as of the last compare()

    explicit Pi(const warpwise::Size& size)
        : slices(size[0]), width(slices == 0 ? 0 : 1.0 / static_cast<double>(slices)), d_sums(largest_grid()) {}

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

    // What the formula asks for in each slice: + 1/2, times h, squared, + 1, 4 divided by it, added to the sum.
    warpwise::Work work() const { return {.bytes = 0, .operations = 6.0 * static_cast<double>(slices)}; }

    static std::size_t device_bytes(const warpwise::Size&) { return sizeof(double) + largest_grid() * sizeof(float); }

    // Blocks for a kernel whose threads stride over the slices: no more than fit on the device at once.
    template <class Kernel>
    unsigned blocks(Kernel kernel) const {
        const std::size_t needed = std::max<std::size_t>(1, warpwise::ceil_div(slices, kThreads));
        return static_cast<unsigned>(std::min<std::size_t>(needed, warpwise::blocks_that_fill(kernel, kThreads)));
    }

    // Longest chain of roundings behind a block's sum: the additions of a thread, then log2(256) = 8 rounds of a tree.
    std::size_t chain(unsigned blocks) const { return warpwise::ceil_div(slices, std::size_t{blocks} * kThreads) + 8; }

    static std::size_t largest_grid();  // threads of the largest grid that `blocks` gives to sum_per_thread
};

void serial(Pi& problem) {
    problem.d_pi.upload({serial_sum(problem.slices)});
    problem.rounds_like(problem.slices, kDoubleEpsilon);
}

// Step 2, fork and join: each core of the host adds a share of the slices, and OpenMP adds the shares.
// Better: as many times as there are cores. Slow: one division after the other on each of them.
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

// Step 3, fork without join: thread t of T takes the slices t, t + T, t + 2T ..., and leaves its sum in memory. The
// host copies all the sums and adds them up. Floats, because a GPU has at least twice as many lanes for them as for
// doubles. x = (i + 1/2) h is never added up from steps of h, which would gather an error at each step. Still, a float
// holds 24 bits: from i = 2^24 on, float(i) + 0.5f rounds to a neighbor. Relative to x that is no more than any float
// operation does, once a slice, to either side; it averages out. The sum is another matter: see the table after the
// steps. Slow: a quarter of a million sums cross the bus, and one core adds them. The 64-bit index is also slow to
// convert.
__global__ void sum_per_thread(uint64_t slices, float width, float* thread_sums) {
    const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
    const uint64_t thread = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    float sum = 0;
    for (uint64_t i = thread; i < slices; i += threads) {
        const float x = (static_cast<float>(i) + 0.5f) * width;
        sum += 4 / (1 + x * x);
    }
    thread_sums[thread] = sum;
}

std::size_t Pi::largest_grid() { return std::size_t{warpwise::blocks_that_fill(sum_per_thread, kThreads)} * kThreads; }

void add_on_host(Pi& problem) {
    const unsigned blocks = problem.blocks(sum_per_thread);
    sum_per_thread<<<blocks, kThreads>>>(problem.slices, static_cast<float>(problem.width), problem.d_sums.data());
    warpwise::check_launch();
    std::vector<float> thread_sums(std::size_t{blocks} * kThreads);
    warpwise::check(cudaMemcpy(thread_sums.data(), problem.d_sums.data(), thread_sums.size() * sizeof(float),
                               cudaMemcpyDeviceToHost));
    double sum = 0;
    for (const float thread_sum : thread_sums) sum += thread_sum;
    problem.d_pi.upload({sum * problem.width});
    problem.rounds_like(problem.chain(blocks), kFloatEpsilon);
}

// Step 4, a tree in each block: the threads put their sums into shared memory, then half of them add the other half's,
// then a quarter, until one sum is left after log2(256) = 8 rounds. All threads meet at the barrier before each round.
// Blocks cannot wait for each other inside a kernel; the end of the kernel is their barrier, and a second kernel of a
// single block adds the block sums the same way.
// Better: the host adds nothing, and 8 bytes leave the device. Slow: eight barriers a block, and in every round of the
// tree half of the working threads drop out; two launches.
__global__ void sum_by_tree(uint64_t slices, float width, float* block_sums) {
    __shared__ float partial[kThreads];
    const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
    float sum = 0;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < slices; i += threads) {
        const float x = (static_cast<float>(i) + 0.5f) * width;
        sum += 4 / (1 + x * x);
    }
    partial[threadIdx.x] = sum;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    if (threadIdx.x == 0) block_sums[blockIdx.x] = partial[0];
}

__global__ void add_block_sums(const float* block_sums, unsigned blocks, double width, double* pi) {
    __shared__ float partial[kThreads];
    float sum = 0;
    for (unsigned i = threadIdx.x; i < blocks; i += kThreads) sum += block_sums[i];
    partial[threadIdx.x] = sum;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    if (threadIdx.x == 0) *pi = width * partial[0];
}

// Step 5, warp shuffles: the lanes of a warp read each other's registers. Five shuffles add a warp without any barrier;
// one barrier later, the first warp adds the eight warp sums. The second kernel stays.
// Better: one barrier a block instead of nine. Slow: still two launches; and look at the table: the slices cost so
// much more than the sums that the gain is hard to see. It shows when there are few slices a thread (--size 64Ki).
template <class T>
__device__ T sum_of_block(T value) {  // the whole sum is in thread 0
    __shared__ T warp_sums[kThreads / 32];
    for (unsigned distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(~0u, value, distance);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x >= 32) return value;
    value = threadIdx.x < kThreads / 32 ? warp_sums[threadIdx.x] : T(0);
    for (unsigned distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(~0u, value, distance);
    return value;
}

__global__ void sum_by_shuffles(uint64_t slices, float width, float* block_sums) {
    const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
    float sum = 0;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < slices; i += threads) {
        const float x = (static_cast<float>(i) + 0.5f) * width;
        sum += 4 / (1 + x * x);
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) block_sums[blockIdx.x] = sum;
}

// Steps 4 and 5: `Kernel` leaves the block sums, a second kernel adds them.
template <auto Kernel>
void two_launches(Pi& problem) {
    const unsigned blocks = problem.blocks(Kernel);
    Kernel<<<blocks, kThreads>>>(problem.slices, static_cast<float>(problem.width), problem.d_sums.data());
    warpwise::check_launch();
    add_block_sums<<<1, kThreads>>>(problem.d_sums.data(), blocks, problem.width, problem.d_pi.data());
    warpwise::check_launch();
    problem.rounds_like(problem.chain(blocks) + warpwise::ceil_div(blocks, kThreads) + 8, kFloatEpsilon);
}

// Step 6, one pass: each block adds its sum to the result by an atomic operation, which nobody can interrupt halfway.
// The result must be 0 before, so a memset takes the second kernel's place. Blocks come in any order and rounding
// depends on the order: the last digits may differ from run to run. The result is a double, so that they hardly do.
// Better: no second kernel. Slow: the division and the 64-bit index. A division is an approximate reciprocal by the
// special-function units, of which an SM has 16 for its 128 float lanes, then a dozen instructions to refine and check.
__global__ void sum_with_atomics(uint64_t slices, double width, double* pi) {
    const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
    const float float_width = static_cast<float>(width);
    float sum = 0;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < slices; i += threads) {
        const float x = (static_cast<float>(i) + 0.5f) * float_width;
        sum += 4 / (1 + x * x);
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) atomicAdd(pi, width * sum);
}

// Step 7, double precision throughout. Better: an error near 1e-14 in the place of 1e-8. Slow: a double division is
// a long sequence on units of which a GPU for computing centers has half as many as float lanes, others 1/32 or 1/64.
__global__ void sum_in_double(uint64_t slices, double width, double* pi) {
    const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
    double sum = 0;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < slices; i += threads) {
        const double x = (static_cast<double>(i) + 0.5) * width;
        sum += 4 / (1 + x * x);
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) atomicAdd(pi, width * sum);
}

// Step 8, compensated (Kahan) summation, for GPUs with few double units: `lost` is what the last addition rounded away,
// and is put into the next one. Four dependent additions in the place of one, and the sum of a thread is right to its
// last bit however many slices there are. It repairs the additions, not the terms: each is still a rounded float.
// Algebra says that `lost` is 0. The compiler may not use algebra on floating-point numbers unless it is told to
// (-ffast-math on hosts; nvcc's --use_fast_math does not reorder additions): leave it untold.
__global__ void sum_compensated(uint64_t slices, double width, double* pi) {
    const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
    const float float_width = static_cast<float>(width);
    float sum = 0, lost = 0;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < slices; i += threads) {
        const float x = (static_cast<float>(i) + 0.5f) * float_width;
        const float term = 4 / (1 + x * x) - lost;
        const float new_sum = sum + term;
        lost = (new_sum - sum) - term;
        sum = new_sum;
    }
    const double block_total = sum_of_block(static_cast<double>(sum) - lost);  // a few doubles a thread cost nothing
    if (threadIdx.x == 0) atomicAdd(pi, width * block_total);
}

// Steps 9 (float) and 10 (double), fewer operations: with a, b, c, d for 1 + x^2 of four slices of a thread,
//     1/a + 1/b + 1/c + 1/d = ((a + b) c d + (c + d) a b) / (a b c d)
// so that one division serves four slices. The index never is converted: x = k * stride + x_of_slice_0 with a counter k
// in floating point (exact up to 2^24 rounds of a thread), one multiply-add for each x.
// Better: 25 double instructions for four slices, 8 of them the division, where step 7 spends 12 and more on each.
// Slow: nothing is waiting any more; the double units are busy. Only fewer operations would help: see the last table.
template <class T>
__global__ void sum_fours(uint64_t slices, double width, double* pi) {
    const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
    const uint64_t thread = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const uint64_t rounds = slices / (4 * threads);  // in which every thread has four slices
    const T stride = static_cast<T>(static_cast<double>(threads) * width);
    const T x0 = static_cast<T>((static_cast<double>(thread) + 0.5) * width);
    const T x1 = x0 + stride, x2 = x0 + 2 * stride, x3 = x0 + 3 * stride;
    T sum = 0, k = 0;
    for (uint64_t round = 0; round < rounds; ++round, k += 4) {
        const T xa = k * stride + x0, xb = k * stride + x1, xc = k * stride + x2, xd = k * stride + x3;
        const T a = 1 + xa * xa, b = 1 + xb * xb, c = 1 + xc * xc, d = 1 + xd * xd;
        const T ab = a * b, cd = c * d;
        sum += ((a + b) * cd + (c + d) * ab) / (ab * cd);
    }
    for (uint64_t i = 4 * threads * rounds + thread; i < slices; i += threads) {  // up to four are left
        const T x = static_cast<T>((static_cast<double>(i) + 0.5) * width);
        sum += 1 / (1 + x * x);
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) atomicAdd(pi, 4 * width * sum);
}

// Steps 6 to 10: one memset, one launch. The atomic additions are double in all of them. A compensated sum rounds as if
// it were a single addition.
template <auto Kernel>
void one_pass(Pi& problem, double epsilon, bool compensated = false) {
    const unsigned blocks = problem.blocks(Kernel);
    warpwise::check(cudaMemsetAsync(problem.d_pi.data(), 0, problem.d_pi.bytes()));
    Kernel<<<blocks, kThreads>>>(problem.slices, problem.width, problem.d_pi.data());
    warpwise::check_launch();
    const std::size_t chain = problem.chain(blocks) + (epsilon == kDoubleEpsilon ? blocks : 0);
    problem.rounds_like(compensated ? 1 : chain, epsilon);
}

// ---- the error against the number of slices a thread adds up ----------------------------------------------------

// Block b adds 32 * 2^(8 + 2b) slices: each of its 32 threads a range of its own, in three ways at once. The terms are
// computed in double for all three, so that nothing but the adding differs.
__global__ void sum_three_ways(double* plain, double* compensated, double* in_double) {
    const uint64_t slices = uint64_t{1} << (8 + 2 * blockIdx.x);
    const double width = 1 / (32 * static_cast<double>(slices));
    float plain_sum = 0, sum = 0, lost = 0;
    double double_sum = 0;
    for (uint64_t i = threadIdx.x * slices; i < (threadIdx.x + 1) * slices; ++i) {
        const double x = (static_cast<double>(i) + 0.5) * width;
        const double term = 4 / (1 + x * x);
        const float rounded = static_cast<float>(term);
        plain_sum += rounded;
        const float corrected = rounded - lost;
        const float new_sum = sum + corrected;
        lost = (new_sum - sum) - corrected;
        sum = new_sum;
        double_sum += term;
    }
    const unsigned thread = blockIdx.x * 32 + threadIdx.x;
    plain[thread] = width * plain_sum;
    compensated[thread] = width * (static_cast<double>(sum) - lost);
    in_double[thread] = width * double_sum;
}

std::string scientific(double value) { return text_of("%.1e", value); }

void show_error_curve(warpwise::Lesson& lesson) {
    const unsigned rows = warpwise::Lesson::on_gpu() ? 9 : 7;  // up to 2^24 slices a thread, or 2^20
    DeviceBuffer<double> d_sums[3] = {DeviceBuffer<double>(32 * rows), DeviceBuffer<double>(32 * rows),
                                      DeviceBuffer<double>(32 * rows)};
    sum_three_ways<<<rows, 32>>>(d_sums[0].data(), d_sums[1].data(), d_sums[2].data());
    warpwise::check_launch();
    warpwise::check_finished();
    const std::vector<double> sums[3] = {d_sums[0].download(), d_sums[1].download(), d_sums[2].download()};

    std::vector<std::vector<std::string>> cells;
    bool compensated_holds = true, double_holds = true;
    for (unsigned row = 0; row < rows; ++row) {
        const uint64_t slices = uint64_t{1} << (8 + 2 * row);
        double error[3];
        for (int way = 0; way < 3; ++way) {
            double sum = 0;
            for (unsigned thread = 0; thread < 32; ++thread) sum += sums[way][32 * row + thread];
            error[way] = std::fabs(sum - midpoint_rule(32 * slices));
        }
        compensated_holds &= error[1] <= warpwise::sum_tolerance(1, kFloatEpsilon, std::numbers::pi);
        double_holds &= error[2] <= warpwise::sum_tolerance(slices, kDoubleEpsilon, std::numbers::pi);
        cells.push_back(
            {"2^" + std::to_string(8 + 2 * row), scientific(error[0]), scientific(error[1]), scientific(error[2])});
    }
    lesson.table("Error of the sum against the slices that one thread adds up",
                 {"slices a thread", "float", "float, compensated", "double"}, cells);
    lesson.expect(compensated_holds, "a compensated float sum stays as good as one float, however long it is");
    lesson.expect(double_holds, "a double sum stays within its rounding bound");
}

// ---- how far the last step is from the limit of the double units -------------------------------------------------

// Instructions on the double units that nvcc makes of one round of sum_fours<double>, by the machine code for sm_90:
// k 1, x 4, 1 + x^2 4, products and sums 7, division 8, sum 1.
constexpr double kDoubleInstructionsForFour = 25;

// Nothing but double multiply-adds: eight independent chains a thread, so that none waits for the one before.
__global__ void multiply_add_only(uint64_t rounds, double factor, double* out) {
    double chain[8];
    for (int k = 0; k < 8; ++k) chain[k] = threadIdx.x + k;
    for (uint64_t round = 0; round < rounds; ++round) {
#pragma unroll
        for (int k = 0; k < 8; ++k) chain[k] = chain[k] * factor + factor;
    }
    double sum = 0;
    for (int k = 0; k < 8; ++k) sum += chain[k];
    if (sum == -1) *out = sum;  // never true; keeps the compiler from dropping the chains
}

void show_limit(warpwise::Lesson& lesson) {
    Pi problem(lesson.size({std::size_t{1} << 30}, {std::size_t{1} << 20}));
    const unsigned blocks = warpwise::blocks_that_fill(multiply_add_only, kThreads);
    const double instructions = kDoubleInstructionsForFour * static_cast<double>(problem.slices) / 4;
    const auto rounds = static_cast<uint64_t>(instructions / (8.0 * blocks * kThreads));
    const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
        {{[&] { multiply_add_only<<<blocks, kThreads>>>(rounds, 0.5, problem.d_pi.data()); }, false},
         {[&] { one_pass<sum_fours<double>>(problem, kDoubleEpsilon); }, false}});
    const double limit = timings[0].median, step = timings[1].median;
    lesson.table("The limit of the double units: 25 instructions for four slices",
                 {"what", "time", "share of the limit"},
                 {{"as many multiply-adds and nothing else", text_of("%.3f ms", limit * 1e3), "1"},
                  {"sum_fours_double", text_of("%.3f ms", step * 1e3), text_of("%.2f", limit / step)}});
}

}  // namespace

void pi(warpwise::Lesson& lesson) {
    lesson.text(
        R"(An integral by many threads: every thread adds up its slices, then the threads' sums have to become one
number.

What you will see: four ways of adding up the sums (on the host, by a tree in shared memory, by warp shuffles, by
atomic operations), then three ways of adding up the slices (float, double, compensated float), then a cheaper way to
compute them. The table has two columns to look at: the time, and the error against pi.

Predict: does the float version get better with ever more slices? The rule does: twice the slices, a quarter of its
error.)");

    using Run = void (*)(Pi&);
#ifdef _OPENMP
    const char* const openmp_change = "the same loop, all cores";
#else
    const char* const openmp_change = "the same loop (built without OpenMP)";
#endif
    const Run atomics = [](Pi& problem) { one_pass<sum_with_atomics>(problem, kFloatEpsilon); };
    const Run in_double = [](Pi& problem) { one_pass<sum_in_double>(problem, kDoubleEpsilon); };
    const Run compensated = [](Pi& problem) { one_pass<sum_compensated>(problem, kFloatEpsilon, true); };
    const Run fours_float = [](Pi& problem) { one_pass<sum_fours<float>>(problem, kFloatEpsilon); };
    const Run fours_double = [](Pi& problem) { one_pass<sum_fours<double>>(problem, kDoubleEpsilon); };
    lesson.steps<Pi>(
        {.gpu = {std::size_t{1} << 30},
         .cpu = {std::size_t{1} << 20},
         .awkward = {{0}, {1}, {2}, {31}, {32}, {33}, {255}, {257}, {1009}, {4096 + 3}, {100003}, {1234567}}},
        {{"serial", "a loop in double, one core", serial, warpwise::StepKind::host},
         {"openmp", openmp_change, openmp, warpwise::StepKind::host},
         {"sum_per_thread", "float; the host adds the sums", add_on_host},
         {"sum_by_tree", "a tree in each block, two launches", two_launches<sum_by_tree>},
         {"sum_by_shuffles", "warps add by shuffles", two_launches<sum_by_shuffles>},
         {"sum_with_atomics", "one launch, an atomic a block", atomics},
         {"sum_in_double", "double everywhere", in_double},
         {"sum_compensated", "float, lost digits put back (Kahan)", compensated},
         {"sum_fours_float", "float, one division for four slices", fours_float},
         {"sum_fours_double", "double, one division for four slices", fours_double}});

    show_error_curve(lesson);
    lesson.text(
        R"(Why the float sum gets worse. A float has 24 bits. When a thread's sum has grown to 2^22, neighboring
floats are 0.5 apart and every term is rounded to a multiple of that; at 2^25 they are 4 apart, and 3.1 becomes 4. In
the ladder above that does not show, because each thread adds a few thousand slices at most and the rest is a tree:
many short sums are better than one long one. The compensated sum keeps what each addition lost and stays as good as
a single float. Double has 53 bits, and its curve starts to rise only where yours will not go.)");
    if (warpwise::Lesson::on_gpu()) {
        show_limit(lesson);
        lesson.text(
            R"(What limits the steps. Nothing is read, so it is not the memory. In the float steps it is the
division (reciprocals from the 16 special-function units of an SM, and the instructions that refine and check them) and
the conversion of a 64-bit index; in the double steps it is the double units, which the last table measures with a
kernel that does nothing else. Step 9 has a quarter of the divisions and no conversion, and is three times as fast. Both
changes count, fewer divisions more than no conversion (docs/results/causes_h200.md). How the sums of the threads
are added matters little when each thread has thousands of slices, and a lot when it has few.)");
    } else {
        lesson.text(
            R"(On a GPU the steps are limited by arithmetic, not by memory, since nothing is read. One division for
four slices, without converting a 64-bit index, is what helps most, and the way of adding up the threads' sums matters
only when each thread has few slices.)");
    }
    lesson.text(
        R"(Mistakes to avoid: adding h to x over and over; a float counter of slices, which stops growing at 2^24; a
tree without its barriers; forgetting to clear the result before an atomic addition; trusting the last digits of a
float sum whose order changes from run to run.

Try next: few slices, where adding up is all there is to do; and as many as 2^32.

    basics_and_pi pi --size 64Ki
    basics_and_pi pi --size 4Gi --step sum_fours_double)");
}

}  // namespace basics_and_pi
