// Problem: add up n floats, and say how far the result is from the exact sum.
//
// An addition of two floats is right to half a unit in its last place: a relative error of
// at most u = 2^-24. A sum makes one such error at every addition, and what becomes of them
// depends on how the terms are added. The bounds below are for terms that go through h
// additions each, with S the sum of the magnitudes and s the exact sum:
//
//     one after the other, h = n; pairwise, h = log2(n)    h u S
//     Kahan's compensated sum                              3 u S
//     Neumaier's, and Sum2 of Ogita, Rump and Oishi        u |s| + 4 h^2 u^2 S
//     in double                                            h 2^-53 S
//
// Kahan's bound leaves out what is of the order of h u^2 S.
// (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 2002, sections
// 4.2 and 4.3; T. Ogita, S. M. Rump, S. Oishi, Accurate sum and dot product, SIAM J. Sci.
// Comput. 26, 2005. One u of the three and the factor 4 pay for putting threads together.)
// S / |s| is the condition number of the sum: 1 for terms of one sign, large where terms
// cancel. Relative to s, a bound with S in it grows with the condition number.
//
// Compilers: a compensation is (a + b) - a - b, which is 0 in algebra. nvcc and g++ keep to
// the order that is written, unless told otherwise (g++ -ffast-math or -Ofast; nvcc's
// --use_fast_math replaces divisions and functions, flushes subnormals to 0, and reorders
// no addition). What nvcc does by itself is to fuse a * b + c into one rounding. Terms that
// are only added have no product to fuse; in a compensated dot product it matters, and
// fma() says what is meant.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#ifndef __CPU_DEVICE__
#include <cub/device/device_reduce.cuh>
#endif

#include "chapters/3_optimization/accuracy/exact_sum.h"
#include "chapters/3_optimization/accuracy/kernels.cuh"
#include "chapters/3_optimization/accuracy/sums.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace optimization {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr double kFloatRoundoff = 0x1p-24;  // u
constexpr double kDoubleRoundoff = 0x1p-53;

// ---- inputs -----------------------------------------------------------------------------

// 1 - 1/2 + 1/3 - 1/4 ..., whose sum comes near ln 2.
std::vector<float> alternating(std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        const double term = 1 / static_cast<double>(i + 1);
        values[i] = static_cast<float>(i % 2 == 0 ? term : -term);
    }
    return values;
}

// Terms that cancel, with a condition number of choice: random numbers, each with its
// negative, which add up to exactly 0, and one small number more, which then is the exact
// sum. Shuffled. `count` is odd.
std::vector<float> cancelling(std::size_t count, double condition) {
    std::vector<float> values = warpwise::uniform<float>(count / 2, 31, 0, 1);
    const auto sum = static_cast<float>(2 * magnitudes_of(values) / (condition - 1));
    for (std::size_t i = 0; i < count / 2; ++i) values.push_back(-values[i]);
    values.push_back(sum);
    for (std::size_t i = count - 1; i > 0; --i)
        std::swap(values[i], values[warpwise::random_bits(32, i) % (i + 1)]);
    return values;
}

// ---- the pairwise sum -------------------------------------------------------------------

// Launches until one sum is left, in `d_total`. `d_partial`: room for the sums of a launch,
// and of the next.
void sum_pairwise(const float* d_values, std::size_t count,
                  std::array<DeviceBuffer<float>, 2>& d_partial, double* d_total) {
    for (int launch = 0; count > kChunk; ++launch) {
        float* const d_sums = d_partial[launch % 2].data();
        const unsigned blocks = warpwise::blocks_for(count, kChunk);
        sum_chunks<<<blocks, kThreads>>>(d_values, count, d_sums);
        warpwise::check_launch();
        d_values = d_sums;
        count = blocks;
    }
    sum_chunks<<<1, kThreads>>>(d_values, count, d_total);
    warpwise::check_launch();
}

std::array<DeviceBuffer<float>, 2> room_for_pairwise(std::size_t count) {
    const std::size_t sums = warpwise::ceil_div(count, kChunk);
    return {DeviceBuffer<float>(sums),
            DeviceBuffer<float>(warpwise::ceil_div(sums, kChunk))};
}

// Additions on the way of a term: 12 in each launch.
std::size_t pairwise_depth(std::size_t count) {
    std::size_t depth = 12;
    for (; count > kChunk; count = warpwise::ceil_div(count, kChunk)) depth += 12;
    return depth;
}

// ---- bounds -----------------------------------------------------------------------------

// h roundings in a row: h u / (1 - h u), which stands for h u with the higher orders
// included (Higham, section 3.1).
double gamma(double h, double roundoff) { return h * roundoff / (1 - h * roundoff); }

// h: additions on the way of a term; S: sum of the magnitudes; s: the sum.
double plain_bound(double h, double S, double) { return gamma(h, kFloatRoundoff) * S; }
double kahan_bound(double h, double S, double) {
    return (3 + 8 * h * kFloatRoundoff) * kFloatRoundoff * S;
}
double neumaier_bound(double h, double S, double s) {
    return kFloatRoundoff * std::fabs(s) + std::pow(gamma(2 * h, kFloatRoundoff), 2) * S;
}
double double_bound(double h, double S, double) { return gamma(h, kDoubleRoundoff) * S; }
using Bound = double (*)(double h, double S, double s);

// ---- steps ------------------------------------------------------------------------------

struct Sum {
    std::size_t count;
    std::vector<float> values;
    double magnitudes;
    ExactSum exact;
    DeviceBuffer<float> d_values;
    DeviceBuffer<double2> d_block_sums;  // room for any method's
    std::array<DeviceBuffer<float>, 2> d_partial;
    DeviceBuffer<double> d_total{1};
#ifndef __CPU_DEVICE__
    DeviceBuffer<float> d_vendor_total{1};
    DeviceBuffer<unsigned char> d_vendor_storage;
#endif
    double tolerance = 0;  // set by the steps
    double total = 0;      // as of the last compare()

    explicit Sum(const warpwise::Size& size)
        : count(size[0]),
          values(warpwise::uniform<float>(count, 30, 0, 1)),
          magnitudes(magnitudes_of(values)),
          exact(exact_sum_of(values)),
          d_values(values),
          d_block_sums(most_blocks()),
          d_partial(room_for_pairwise(count)) {}

    void poison() {
        d_total.fill_bytes(0xFF);
        d_block_sums.fill_bytes(0xFF);
        for (DeviceBuffer<float>& sums : d_partial) sums.fill_bytes(0xFF);
        tolerance = 0;
    }

    warpwise::Comparison compare() {
        const std::vector<double> result = d_total.download();
        total = result[0];
        return warpwise::compare(result, {exact.value()}, {.absolute = tolerance});
    }

    std::vector<warpwise::Figure> figures() const {
        const double sum = exact.value();
        return {{"error in u",
                 sum == 0 ? 0 : exact.error_of(total) / (kFloatRoundoff * sum), ""}};
    }

    warpwise::Work work() const {
        return {.bytes = sizeof(float) * static_cast<double>(count),
                .operations = static_cast<double>(count)};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return size[0] * sizeof(float) + size[0] / 512 + most_blocks() * sizeof(double2) +
               (std::size_t{1} << 20);
    }

    // As many as fit on the device, or fewer if there is not a vector for each thread.
    template <class Kernel>
    unsigned blocks(Kernel kernel) const {
        const unsigned most =
            std::min(warpwise::blocks_that_fill(kernel, kThreads), most_blocks());
        return std::min(most, warpwise::blocks_for(warpwise::ceil_div(count, 4), kThreads));
    }

    static unsigned most_blocks() {
        return warpwise::blocks_that_fill(sum_blocks<Plain<float>>, kThreads);
    }
};

void serial(Sum& problem) {
    double sum = 0;
    for (const float value : problem.values) sum += value;
    problem.d_total.upload({sum});
    problem.tolerance =
        double_bound(static_cast<double>(problem.count), problem.magnitudes, 0) +
        0x1p-53 * sum;
}

// Two launches: the block sums, then their sum. Additions on the way of a term: those of
// its thread, 8 rounds in its block, and the same again for the block sums.
template <class Method, Bound bound>
void run(Sum& problem) {
    const unsigned blocks = problem.blocks(sum_blocks<Method>);
    auto* const d_block_sums = reinterpret_cast<Method*>(problem.d_block_sums.data());
    sum_blocks<<<blocks, kThreads>>>(problem.d_values.data(), problem.count, d_block_sums);
    warpwise::check_launch();
    add_blocks<<<1, kThreads>>>(d_block_sums, blocks, problem.d_total.data());
    warpwise::check_launch();
    const std::size_t own =
        4 * warpwise::ceil_div(problem.count / 4, std::size_t{blocks} * kThreads) + 1;
    const std::size_t depth = own + 8 + warpwise::ceil_div(blocks, kThreads) + 8;
    const double s = problem.exact.value();
    problem.tolerance =
        bound(static_cast<double>(depth), problem.magnitudes, s) + 0x1p-52 * s;
}

void pairwise(Sum& problem) {
    sum_pairwise(problem.d_values.data(), problem.count, problem.d_partial,
                 problem.d_total.data());
    problem.tolerance = plain_bound(static_cast<double>(pairwise_depth(problem.count)),
                                    problem.magnitudes, 0);
}

#ifndef __CPU_DEVICE__
void vendor(Sum& problem) {
    std::size_t bytes = 0;
    const auto sum = [&](void* storage) {
        warpwise::check(cub::DeviceReduce::Sum(storage, bytes, problem.d_values.data(),
                                               problem.d_vendor_total.data(),
                                               problem.count));
    };
    sum(nullptr);
    if (problem.d_vendor_storage.size() < bytes)
        problem.d_vendor_storage = DeviceBuffer<unsigned char>(bytes);
    sum(problem.d_vendor_storage.data());
    to_double<<<1, 1>>>(problem.d_vendor_total.data(), problem.d_total.data());
    warpwise::check_launch();
    problem.tolerance =
        warpwise::sum_tolerance(problem.count, 2 * kFloatRoundoff, problem.magnitudes);
}
#endif

// ---- the methods beside each other ------------------------------------------------------

// One thread's sum of values that are on the device already, and of those that are not.
template <class Method>
double in_a_row(const DeviceBuffer<float>& d_values) {
    DeviceBuffer<double> d_total(1);
    add_in_a_row<Method><<<1, 1>>>(d_values.data(), d_values.size(), d_total.data());
    warpwise::check_launch();
    return d_total.download()[0];
}

double in_pairs(const DeviceBuffer<float>& d_values) {
    DeviceBuffer<double> d_total(1);
    std::array<DeviceBuffer<float>, 2> d_partial = room_for_pairwise(d_values.size());
    sum_pairwise(d_values.data(), d_values.size(), d_partial, d_total.data());
    return d_total.download()[0];
}

// A float that counts what is done with it.
struct Counted {
    float value = 0;
    static inline int additions = 0, comparisons = 0;

    __host__ __device__ static void count([[maybe_unused]] bool is_addition) {
#ifndef __CUDA_ARCH__  // on the host only
        ++(is_addition ? additions : comparisons);
#endif
    }
    __host__ __device__ friend Counted operator+(Counted a, Counted b) {
        return count(true), Counted{a.value + b.value};
    }
    __host__ __device__ friend Counted operator-(Counted a, Counted b) {
        return count(true), Counted{a.value - b.value};
    }
    __host__ __device__ friend bool operator>=(Counted a, Counted b) {
        return count(false), a.value >= b.value;
    }
    __host__ __device__ friend Counted fabs(Counted a) {
        return {a.value < 0 ? -a.value : a.value};
    }
};

// "4", or "4 + 1 comparison".
template <template <class> class Method>
std::string operations_per_term() {
    Method<Counted> sum{};
    Counted::additions = Counted::comparisons = 0;
    for (int i = 0; i < 100; ++i) sum.add(Counted{1});
    std::string text = std::to_string(Counted::additions / 100);
    if (Counted::comparisons > 0)
        text += " + " + std::to_string(Counted::comparisons / 100) + " comparison";
    return text;
}

struct Method {
    const char* name;
    double (*sum)(const DeviceBuffer<float>&);
    Bound bound;
    std::string (*operations)();
    bool is_pairwise = false;
};
const std::array<Method, 7> methods = {
    {{"float", in_a_row<Plain<float>>, plain_bound, operations_per_term<Plain>},
     {"never recomputed (wrong)", in_a_row<NeverRecomputed<float>>, plain_bound,
      operations_per_term<NeverRecomputed>},
     {"pairwise", in_pairs, plain_bound, operations_per_term<Plain>, true},
     {"Kahan", in_a_row<Kahan<float>>, kahan_bound, operations_per_term<Kahan>},
     {"Neumaier", in_a_row<Neumaier<float>>, neumaier_bound, operations_per_term<Neumaier>},
     {"Sum2", in_a_row<Sum2<float>>, neumaier_bound, operations_per_term<Sum2>},
     {"double", in_a_row<Plain<double>>, double_bound, operations_per_term<Plain>}}};

std::string scientific(double value) { return text_of("%.1e", value); }

// Relative errors of all methods on all inputs, one thread adding (the pairwise sum aside),
// with what theory promises.
void compare_methods(warpwise::Lesson& lesson) {
    const std::vector<std::pair<std::string, std::vector<float>>> inputs = {
        {"uniform", warpwise::uniform<float>(262144, 1, 0, 1)},
        {"alternating", alternating(65536)},
        {"cancelling", cancelling(2049, 1e7)}};
    std::vector<std::string> header = {"method", "additions per term"};
    std::vector<std::vector<std::string>> rows;
    for (const Method& method : methods) rows.push_back({method.name, method.operations()});
    for (const auto& [input, values] : inputs) {
        header.insert(header.end(), {input, "bound"});
        const DeviceBuffer<float> d_values(values);
        const ExactSum exact = exact_sum_of(values);
        const double s = exact.value(), S = magnitudes_of(values);
        std::vector<double> sums;
        for (std::size_t k = 0; k < methods.size(); ++k) {
            const std::size_t count = values.size();
            const double h =
                static_cast<double>(methods[k].is_pairwise ? pairwise_depth(count) : count);
            sums.push_back(methods[k].sum(d_values));
            const double error = exact.error_of(sums.back()),
                         bound = methods[k].bound(h, S, s);
            lesson.expect(error <= bound, input + ", " + methods[k].name +
                                              ": the error is within the bound");
            rows[k].push_back(scientific(error / std::fabs(s)));
            rows[k].push_back(scientific(bound / std::fabs(s)));
        }
        lesson.expect(sums[0] == sums[1],
                      input + ": the one that is never recomputed is the plain float sum");
        lesson.expect(sums[4] == sums[5],
                      input + ": Neumaier and Sum2 lose the same, and nothing");
        lesson.expect(exact.error_of(sums[3]) < exact.error_of(sums[0]),
                      input + ": Kahan beats the plain sum");
    }
    lesson.table({"terms", "Relative error of one thread's sum, and what theory promises"},
                 header, rows);
}

// The price in memory traffic is the same for all: one load of 16 bytes for four terms.
void expect_same_loads(warpwise::Lesson& lesson) {
    Sum problem({std::size_t{1} << 16});
    const auto loads = [&](void (*step)(Sum&)) {
        const auto counts = lesson.count([&] { step(problem); });
        return counts ? counts->global_load.requests : 0;
    };
    const double plain = loads(run<Plain<float>, plain_bound>);
    lesson.expect(loads(run<Kahan<float>, kahan_bound>) == plain &&
                      loads(run<Sum2<float>, neumaier_bound>) == plain &&
                      loads(run<Neumaier<float>, neumaier_bound>) == plain &&
                      loads(run<Plain<double>, double_bound>) == plain,
                  "compensated and double sums load as often as the plain one");
}

void show_condition_curve(warpwise::Lesson& lesson) {
    const std::vector<std::pair<const char*, double (*)(const DeviceBuffer<float>&)>>
        curves = {{"float", in_a_row<Plain<float>>},
                  {"Kahan", in_a_row<Kahan<float>>},
                  {"Neumaier", in_a_row<Neumaier<float>>},
                  {"double", in_a_row<Plain<double>>},
                  {"Neumaier in double", in_a_row<Neumaier<double>>}};
    constexpr std::size_t count = 2049;
    std::vector<std::string> header = {"condition number"};
    for (const auto& curve : curves) header.emplace_back(curve.first);
    std::vector<std::vector<std::string>> rows;
    for (const double power : {1, 3, 5, 7, 9, 11, 13, 15, 17, 19}) {
        const double condition = std::pow(10, power);
        const std::vector<float> values = cancelling(count, condition);
        const DeviceBuffer<float> d_values(values);
        const ExactSum exact = exact_sum_of(values);
        const double s = exact.value(), S = magnitudes_of(values), h = count;
        lesson.expect(std::fabs(S / s / condition - 1) < 1e-2,
                      scientific(condition) + ": is the condition number");
        rows.push_back({scientific(condition)});
        std::vector<double> errors;
        for (const auto& curve : curves) {
            errors.push_back(exact.error_of(curve.second(d_values)));
            rows.back().push_back(scientific(errors.back() / s));
        }
        lesson.expect(
            errors[0] <= plain_bound(h, S, s) && errors[1] <= kahan_bound(h, S, s) &&
                errors[2] <= neumaier_bound(h, S, s) && errors[3] <= double_bound(h, S, s),
            scientific(condition) + ": errors are within their bounds");
        lesson.expect(condition > 1e8 || errors[2] <= 2 * kFloatRoundoff * s,
                      scientific(condition) +
                          ": Neumaier's sum of floats has every digit of a float");
    }
    lesson.table({"condition", "Relative error of the sum against its condition number"},
                 header, rows);
}

// ---- the price, with the memory out of the way ------------------------------------------

template <class Sum>
warpwise::Candidate in_registers(const DeviceBuffer<float>& d_values,
                                 DeviceBuffer<double>& d_totals) {
    constexpr unsigned rounds = 2000;
    return {[&] {
        add_from_registers<Sum>
            <<<static_cast<unsigned>(d_totals.size() / kThreads), kThreads>>>(
                d_values.data(), rounds, d_totals.data());
        warpwise::check_launch();
    }};
}

void show_price(warpwise::Lesson& lesson) {
    if (!lesson.measures()) {
        lesson.show_recorded("price");
        return;
    }
    const unsigned blocks =
        warpwise::blocks_that_fill(add_from_registers<Sum2<double>>, kThreads);
    const DeviceBuffer<float> d_values(
        warpwise::uniform<float>(kTermsInRegisters, 33, 0, 1));
    DeviceBuffer<double> d_totals(std::size_t{blocks} * kThreads);
    const std::vector<warpwise::Timing> timings =
        warpwise::measure_in_turn({in_registers<Plain<float>>(d_values, d_totals),
                                   in_registers<NeverRecomputed<float>>(d_values, d_totals),
                                   in_registers<Kahan<float>>(d_values, d_totals),
                                   in_registers<Neumaier<float>>(d_values, d_totals),
                                   in_registers<Sum2<float>>(d_values, d_totals),
                                   in_registers<Plain<double>>(d_values, d_totals)},
                                  {.seconds = 0.1, .flush_l2 = false});
    const char* const names[] = {
        "float", "never recomputed (wrong)", "Kahan", "Neumaier", "Sum2", "double"};
    std::vector<std::vector<std::string>> rows;
    for (std::size_t k = 0; k < timings.size(); ++k) {
        rows.push_back({names[k], text_of("%.2f", timings[k].median / timings[0].median)});
    }
    lesson.table({"price", "Time of an addition to a sum in registers, plain float = 1"},
                 {"method", "time"}, rows);
}

}  // namespace

void accuracy(warpwise::Lesson& lesson) {
    lesson.question(
        R"(Seven ways to add up floats, each compared with the exact sum: plain float, a
tree (pairwise), double, three that keep what an addition rounds away (Kahan, Neumaier,
Sum2), and one from print that never recomputes its compensation. The terms are uniform in
[0, 1], the alternating series 1 - 1/2 + 1/3 ..., or terms that nearly cancel. How wrong is
each sum?)");
    lesson.predict(
        {.question = R"(One thread adds 262,144 terms. Which of these methods gives
bit for bit the same result as a plain sum of floats?)",
         .answer = warpwise::Choice{{"Kahan's sum",
                                     "the loop that never recomputes its compensation",
                                     "the pairwise sum"},
                                    1},
         .because = R"(A compensation that is not computed anew after each addition
corrects nothing.)"});
    compare_methods(lesson);
    lesson.conclusion(
        R"(Plain float has five digits left. Its bound is far above that, because roundings
go up and down. The loop that never recomputes its compensation is the plain sum, bit for
bit; only the comparison with the exact sum shows it. Where terms cancel, Neumaier, Sum2,
and double are right. Kahan is not: it adds what was lost to the next term, and the result
of this addition is rounded again.)");

    lesson.question(
        R"(How hard a sum is depends on its condition number: the sum of the magnitudes over
the magnitude of the sum. It is 1 for terms of one sign, and large where terms cancel. Here
it is chosen, for 2049 terms.)");
    lesson.predict({.question = R"(The bound of the relative error of a plain float sum is
n * u times its condition number. Here n is 2049, and u is 6e-8. At which condition
number does the bound reach 1, so that it promises no digit at all? A guess
within a factor of 3 is right.)",
                    .answer = warpwise::Number{.value = 8.2e3, .factor = 3},
                    .because = R"(1 / (n * u) = 2^24 / 2049 is about 8e3. For double it is
2^53 / 2049, about 4e12.)"});
    show_condition_curve(lesson);
    lesson.conclusion(
        R"(The bounds of the plain sums reach 1 at 1 / (n * u): at 8e3 for float and at 4e12
for double. The measured errors stay below 1 up to 1e7 for float and up to 1e17 for double,
because shuffled terms cancel on the way and partial sums stay small. Neumaier's sum of
floats stays below 1 up to 1e15, as if it had about twice the bits. A compensated sum in
double is exact in all rows.)");

    lesson.question(
        R"(Now a whole grid adds the terms. Every step reads the same bytes, and all but the
pairwise one in the same way. They differ in what they do with each float: 1 addition, 4, or
7. `error in u` is the relative error in units of u = 2^-24, which is what one rounding may
cost.)");
    lesson.predict(
        {.question = R"(An H200 can carry out about thirty instructions in the time
in which it reads one float. sum_sum2 makes seven additions per term instead of one. How
many times as long as sum_float does it take on a GPU?)",
         .answer = warpwise::Measured{.by = warpwise::TimeRatio{"sum_sum2", "sum_float"},
                                      .unit = "times",
                                      .factor = 1.1},
         .because = R"(Both wait for the memory, and the additional additions take
place in this time.)"});
    std::vector<warpwise::Step<Sum>> steps = {
        {"serial", "one core of the host, double", serial, warpwise::StepKind::host},
        {"sum_float", "float, a grid of threads", run<Plain<float>, plain_bound>},
        {"sum_never_recomputed", "a compensation that stays 0 (wrong)",
         run<NeverRecomputed<float>, plain_bound>},
        {"sum_pairwise", "a tree over all terms", pairwise},
        {"sum_kahan", "compensated, into the next term", run<Kahan<float>, kahan_bound>},
        {"sum_neumaier", "losses gathered, asking who is larger",
         run<Neumaier<float>, neumaier_bound>},
        {"sum_sum2", "losses gathered, without asking", run<Sum2<float>, neumaier_bound>},
        {"sum_double", "double from the first addition on",
         run<Plain<double>, double_bound>}};
#ifndef __CPU_DEVICE__
    steps.push_back(
        {"vendor", "cub::DeviceReduce::Sum, float", vendor, warpwise::StepKind::vendor});
#endif
    const std::vector<warpwise::Size> awkward = {
        {0},  {1},  {2},    {3},    {4},    {5},         {31},
        {32}, {33}, {1009}, {4095}, {4097}, {65536 + 3}, {100003}};
    lesson.steps<Sum>(
        {.gpu = {std::size_t{1} << 28}, .cpu = {std::size_t{1} << 18}, .awkward = awkward},
        steps);
    expect_same_loads(lesson);
    lesson.conclusion(
        lesson.measures()
            ? R"(Steps of the same bandwidth have the same limit, the memory: their
additions are done while threads wait for it. A compensated sum costs nothing then, and
there is no reason to do without. The plain sum is hardly worse, because a grid adds many
short sums and puts them together in a tree: a parallel sum is half way to a pairwise
one.)"
            : R"(All steps but the pairwise one make the same requests, so a GPU that waits
for the memory should do seven additions in the time of one. On an H200 it does. The plain
sum is hardly worse than the others, because a grid adds many short sums and puts them
together in a tree: a parallel sum is half way to a pairwise one.)");

    lesson.question(
        R"(Where terms are in registers or in shared memory already, as in a matrix product,
the memory is out of the way. What does a compensation cost there?)");
    lesson.predict(
        {.question = R"(Terms are in registers, so nothing waits for the memory. How
many times as long as a plain addition does a term of Sum2 take, with its seven
additions, on a GPU?)",
         .answer = warpwise::Measured{.by = warpwise::TableCell{"price", {"Sum2"}, "time"},
                                      .unit = "times",
                                      .factor = 1.3},
         .because = R"(Where only arithmetic is left, each addition counts.)"});
    show_price(lesson);
    lesson.conclusion(
        R"(Each addition counts: four take more than three times as long as one, and seven
more than six times. Neumaier's comparison costs what it saves, because nvcc computes both
answers. Double is the cheaper way on a chip with many double units, but most chips have
few. The wrong loop seems free, because its terms are the same in every round and nvcc adds
the 0 only once.)");
}

}  // namespace optimization
