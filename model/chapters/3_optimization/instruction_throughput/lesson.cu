// Problem: what does an operation cost? `v + a` and `v / a` look alike in the source, and
// so do sinf and __sinf.
//
// A multiprocessor (SM) has units of several kinds, and a certain number of each kind.
// Every clock its four schedulers issue one instruction of a warp each, for 128 lanes in
// all. An operation that is one instruction, with 128 units for it, yields 128
// results per clock; with 16 units, 16. And many operations are not one
// instruction, but a short program of 5, 10 or 100 instructions. This lesson measures the
// results per clock of many operations, shows the errors of the cheap functions beside
// those of the accurate ones, and then makes divisions cheaper in a kernel: for each of n
// integers, the sum of its decimal digits.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "chapters/3_optimization/instruction_throughput/digits.cuh"
#include "chapters/3_optimization/instruction_throughput/functions.cuh"
#include "chapters/3_optimization/instruction_throughput/operations.cuh"
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

// ---- measuring them ---------------------------------------------------------------------

// Lanes per clock and multiprocessor of native instructions, by compute capability. Source:
// CUDA C++ Programming Guide, "Arithmetic Instructions", throughput of native arithmetic
// instructions. Two prices are not there, and were measured on an H200: a product with its
// upper half (IMAD.WIDE, IMAD.HI) takes the multiplier twice as long as one of 32 bits, and
// the special function unit also converts floats to integers (F2I) and, for divisions, back
// (I2F).
enum class Unit { fp32, fp64, integer, special, convert, convert_64, none };
struct Documented {
    int major, minor;
    std::array<double, 6> rates;  // in the order of Unit
};
constexpr std::array<Documented, 5> kDocumented = {{{7, 5, {64, 2, 64, 16, 16, 2}},
                                                    {8, 0, {64, 32, 64, 16, 16, 16}},
                                                    {8, 6, {128, 2, 64, 16, 16, 2}},
                                                    {8, 9, {128, 2, 64, 16, 16, 2}},
                                                    {9, 0, {128, 64, 64, 16, 64, 16}}}};
constexpr Documented kHopper = kDocumented.back();  // shown where there is no GPU
constexpr double kIssued = 128;  // lanes per clock: four schedulers, a warp each

struct Outcome {
    bool right = false;
    double operations_per_clock = 0;  // of a multiprocessor; 0 where nothing is measured
};

struct Operation {
    const char* code;
    const char* instructions;  // what nvcc 13.0 makes of it for compute capability 9.0
    double count;              // so many of them
    Unit unit;                 // the one that limits it, if any does ...
    double uses;  // ... and its instructions, a product of 64 bits counted twice
    Outcome (*run)(bool measures);
};

int attribute(cudaDeviceAttr which) {
    int device = 0, value = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&value, which, device));
    return value;
}

// Numbers to begin with, for all chains and lanes, then those called `a`, then those called
// `b`.
template <class V>
std::vector<V> numbers() {
    std::vector<V> in;
    for (unsigned i = 0; i < (kChains + 2) * kLanes; ++i) {
        const unsigned lane = i % kLanes, row = i / kLanes;
        const float real = row == kChains  ? 0.5f + lane / 128.0f
                           : row > kChains ? 1.0f
                                           : 1.0f + i / 1024.0f;
        if constexpr (std::is_floating_point_v<V>) {
            in.push_back(real);
        } else {  // odd, so that products do not become 0; and large, so that 64 bits are
                  // needed where there are 64
            constexpr V highest = V(1) << (std::numeric_limits<V>::digits - 1);
            in.push_back(static_cast<V>(warpwise::random_bits(41, i)) | highest | 1);
        }
    }
    return in;
}

// Runs a kernel and checks its numbers: those of `next` against the same chain on the host,
// to the last bit. Chains of approximations are drawn together by their function, and have
// to end where `in_double` does.
template <class V, V (*next)(V, V, V, V), unsigned unroll,
          double (*in_double)(double, double, double) = nullptr>
Outcome run(bool measures) {
    const unsigned blocks = measures ? warpwise::multiprocessors() : 1;
    const unsigned threads = measures ? kThreads : kLanes;
    const unsigned rounds = measures ? 256 : 64 / unroll;
    const std::vector<V> in = numbers<V>();
    const DeviceBuffer<V> d_in(in);
    DeviceBuffer<V> d_out(std::size_t{blocks} * threads * kChains);
    DeviceBuffer<long long> d_clocks(blocks);
    for (int pass = 0; pass < (measures ? 2 : 1);
         ++pass) {  // the first one fetches the code
        repeat<V, next, unroll>
            <<<blocks, threads>>>(d_in.data(), d_out.data(), rounds, d_clocks.data());
        warpwise::check_launch();
    }
    const std::vector<V> out = d_out.download();

    Outcome outcome{true};
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        std::array<V, kChains> v;
        for (unsigned k = 0; k < kChains; ++k) v[k] = in[k * kLanes + lane];
        const V a = in[kChains * kLanes + lane], b = in[(kChains + 1) * kLanes + lane];
        [[maybe_unused]] double settled = 1;
        for (unsigned i = 0; i < rounds * unroll; ++i) {
            if constexpr (in_double == nullptr) {
                for (unsigned k = 0; k < kChains; ++k)
                    v[k] = next(v[k], v[(k + 1) % kChains], a, b);
            } else {
                settled = in_double(settled, a, b);
            }
        }
        for (std::size_t thread = lane; thread < out.size() / kChains; thread += kLanes) {
            for (unsigned k = 0; k < kChains; ++k) {
                const V got = out[thread * kChains + k];
                if constexpr (in_double == nullptr) {
                    outcome.right &= got == v[k];
                } else {
                    outcome.right &= std::fabs(got - settled) <= 1e-5;
                }
            }
        }
    }
    if (measures) {
        std::vector<long long> clocks = d_clocks.download();
        std::sort(clocks.begin(), clocks.end());
        outcome.operations_per_clock = 1.0 * kThreads * kChains * unroll * rounds /
                                       static_cast<double>(clocks[clocks.size() / 2]);
    }
    return outcome;
}

// The chains of approximations, in double.
double quotient(double v, double a, double b) { return a / (v + b); }
double root_chain(double v, double, double) { return 1 / std::sqrt(v); }
double sine_chain(double v, double a, double) { return std::sin(v) + a; }
double exponential_chain(double v, double, double) { return std::exp(-v); }
double logarithm_chain(double v, double, double) { return std::log(v) + 2; }

// Instructions are counted on the way that ordinary numbers take, without what counts the
// rounds of the loop.
constexpr std::array kOperations = {
    Operation{"float  v + a", "FADD", 1, Unit::fp32, 1, run<float, add_float, 32>},
    Operation{"float  v * b", "FMUL", 1, Unit::fp32, 1, run<float, multiply_float, 32>},
    Operation{"float  fmaf(v, a, b)", "FFMA", 1, Unit::fp32, 1, run<float, fma_float, 32>},
    Operation{"double fma(v, a, a)", "DFMA", 1, Unit::fp64, 1, run<double, fma_double, 32>},
    Operation{"32 bit v + n", "IADD3 or IMAD", 1, Unit::none, 1, run<Word, add_int, 32>},
    Operation{"32 bit v + n + a", "IADD3", 1, Unit::integer, 1, run<Word, add_three, 32>},
    Operation{"32 bit v * n", "IMAD", 1, Unit::integer, 1, run<Word, multiply_int, 32>},
    Operation{"32 bit __umulhi(v, b)", "IMAD.HI", 1, Unit::integer, 2,
              run<Word, multiply_high, 32>},
    Operation{"32 bit b >> (v & 31)", "SHF", 1, Unit::integer, 1, run<Word, shift, 32>},
    Operation{"64 bit v + n", "IADD3, IMAD.X", 2, Unit::integer, 1, run<Long, add_64, 16>},
    Operation{"64 bit v * n", "IMAD.WIDE, 2 IMAD ...", 4, Unit::integer, 4,
              run<Long, multiply_64, 16>},
    Operation{"32 bit b - v / (n | 1)", "I2F, MUFU.RCP, F2I ...", 19, Unit::special, 3,
              run<Word, divide, 4>},
    Operation{"32 bit b - v % (n | 1)", "I2F, MUFU.RCP, F2I ...", 18, Unit::special, 3,
              run<Word, modulo, 4>},
    Operation{"32 bit n - v / 10", "IMAD.WIDE ...", 3, Unit::integer, 2.5,
              run<Word, divide_10, 16>},
    Operation{"32 bit n - v % 10", "IMAD.WIDE, IMAD ...", 4, Unit::integer, 3,
              run<Word, modulo_10, 16>},
    Operation{"32 bit n - v / 8", "SHF, IMAD", 2, Unit::integer, 1,
              run<Word, divide_8, 16>},
    Operation{"32 bit n - v % 8", "LOP3, IMAD", 2, Unit::integer, 1,
              run<Word, modulo_8, 16>},
    Operation{"signed n ^ (v / 8)", "2 SHF, LEA, LOP3", 4, Unit::integer, 4,
              run<int, divide_int_8, 16>},
    Operation{"64 bit b - v / (n | 1)", "IMAD.WIDE, IMAD.HI ...", 82, Unit::integer, 54,
              run<Long, divide_64, 2>},
    Operation{"float  a / (v + b)", "MUFU.RCP, FCHK ...", 11, Unit::special, 2,
              run<float, divide_float, 4>},
    Operation{"__fdividef(a, v + b)", "MUFU.RCP ...", 5, Unit::special, 1,
              run<float, fast_divide, 8, quotient>},
    Operation{"sqrtf(v)", "MUFU.RSQ ...", 10, Unit::special, 1, run<float, square_root, 4>},
    Operation{"rsqrtf(v)", "MUFU.RSQ ...", 4, Unit::special, 1,
              run<float, reciprocal_root, 8, root_chain>},
    Operation{"sinf(v) + a", "8 FFMA ...", 27, Unit::none, 1,
              run<float, sine, 2, sine_chain>},
    Operation{"__sinf(v) + a", "MUFU.SIN, 2 more", 3, Unit::special, 1,
              run<float, fast_sine, 8, sine_chain>},
    Operation{"expf(-v)", "MUFU.EX2 ...", 8, Unit::special, 1,
              run<float, exponential, 8, exponential_chain>},
    Operation{"__expf(-v)", "MUFU.EX2 ...", 5, Unit::special, 1,
              run<float, fast_exponential, 8, exponential_chain>},
    Operation{"logf(v) + 2", "12 FFMA ...", 26, Unit::none, 1,
              run<float, logarithm, 4, logarithm_chain>},
    Operation{"__logf(v) + 2", "MUFU.LG2 ...", 5, Unit::special, 1,
              run<float, fast_logarithm, 8, logarithm_chain>},
    Operation{"32 bit to float", "I2FP", 1, Unit::convert, 1, run<Word, int_to_float, 32>},
    Operation{"float to 32 bit, ^ b", "F2I, LOP3", 2, Unit::special, 1,
              run<float, float_to_int, 16>},
    Operation{"double to int and back", "F2I, I2F (F64)", 2, Unit::convert_64, 2,
              run<double, double_to_int_and_back, 16>},
};

// Operations per clock that an operation's instructions allow: as many as are issued, as
// many as its unit takes.
double at_most(const Operation& operation, const Documented& chip) {
    const double issued = kIssued / operation.count;
    if (operation.unit == Unit::none) return issued;
    return std::min(issued,
                    chip.rates[static_cast<std::size_t>(operation.unit)] / operation.uses);
}

void show_operations(warpwise::Lesson& lesson) {
    const bool measures = lesson.measures();
    const Documented* chip = measures ? nullptr : &kHopper;
    if (measures) {
        const int major = attribute(cudaDevAttrComputeCapabilityMajor);
        const int minor = attribute(cudaDevAttrComputeCapabilityMinor);
        for (const Documented& known : kDocumented) {
            if (known.major == major && known.minor == minor) chip = &known;
        }
    }
    const warpwise::Record& recorded = lesson.recorded();
    std::vector<std::string> header = {"operation", "machine code", "instructions",
                                       "at most per clock"};
    if (measures) header.insert(header.end(), {"measured", "share"});
    if (recorded) header.push_back(recorded.label() + ", measured");
    std::vector<std::vector<std::string>> rows;
    for (const Operation& operation : kOperations) {
        const Outcome outcome = operation.run(measures);
        lesson.expect(outcome.right,
                      std::string(operation.code) + ": the chains end where they should");
        const double limit = chip == nullptr ? 0 : at_most(operation, *chip);
        rows.push_back({operation.code, operation.instructions,
                        text_of("%.0f", operation.count),
                        chip == nullptr ? "-" : text_of("%.3g", limit)});
        if (measures) {
            rows.back().push_back(text_of("%.3g", outcome.operations_per_clock));
            rows.back().push_back(
                chip == nullptr ? "-"
                                : text_of("%.2f", outcome.operations_per_clock / limit));
        }
        if (recorded)
            rows.back().push_back(recorded.cell("rates", {operation.code}, "measured"));
    }
    std::string where;
    if (recorded) {
        where = recorded.where();
    } else if (!measures) {
        where = "compute capability 9.0: documented, not measured";
    }
    lesson.table({"rates", "Operations per clock and multiprocessor", where}, header, rows);
}

// ---- what the cheap functions get wrong -------------------------------------------------

double inverse(double x) { return 1 / x; }
double inverse_root(double x) { return 1 / std::sqrt(x); }

struct Function {
    const char* code;
    void (*kernel)(const float*, float*, std::size_t);
    double (*exact)(double);
    float low, high;         // of x
    const char* documented;  // CUDA C++ Programming Guide, "Mathematical Functions"
    double most;             // ulp, held on every device; 0: only a GPU's is of interest
};
constexpr std::array kFunctions = {
    Function{"sinf(x)", apply<sinf_of>, std::sin, -3.14159f, 3.14159f, "2 ulp", 2.5},
    Function{"__sinf(x)", apply<fast_sinf_of>, std::sin, -3.14159f, 3.14159f,
             "absolute 2^-21.41 = 3.6e-07", 0},
    Function{"sinf(x)", apply<sinf_of>, std::sin, -1000, 1000, "2 ulp", 2.5},
    Function{"__sinf(x)", apply<fast_sinf_of>, std::sin, -1000, 1000, "larger", 0},
    Function{"expf(x)", apply<expf_of>, std::exp, -80, 80, "2 ulp", 2.5},
    Function{"__expf(x)", apply<fast_expf_of>, std::exp, -80, 80,
             "2 + floor(1.173 |x|) ulp", 0},
    Function{"exp2f(x * 1.44269504f)", apply<exp2f_of>, std::exp, -80, 80,
             "(that is how __expf does it)", 97},
    Function{"logf(x)", apply<logf_of>, std::log, 0.5f, 2, "1 ulp", 1.5},
    Function{"__logf(x)", apply<fast_logf_of>, std::log, 0.5f, 2,
             "absolute 2^-21.41 = 3.6e-07", 0},
    Function{"1 / x", apply<inverse_of>, inverse, 1, 2, "0 ulp (rounded)", 0.501},
    Function{"__fdividef(1, x)", apply<fast_inverse_of>, inverse, 1, 2, "2 ulp", 0},
    Function{"rsqrtf(x)", apply<rsqrtf_of>, inverse_root, 1, 4, "2 ulp", 2.5},
};

// Distance from a float of this size to the next.
double unit_in_the_last_place(double y) { return std::ldexp(1.0, std::ilogb(y) - 23); }

void show_errors(warpwise::Lesson& lesson) {
    const std::size_t count = std::size_t{1} << (lesson.measures() ? 24 : 13);
    std::vector<std::vector<std::string>> rows;
    for (const Function& function : kFunctions) {
        const std::vector<float> x =
            warpwise::uniform<float>(count, 42, function.low, function.high);
        const DeviceBuffer<float> d_x(x);
        DeviceBuffer<float> d_y(count);
        d_y.fill_bytes(0xFF);
        function.kernel<<<warpwise::blocks_for(count, 256), 256>>>(d_x.data(), d_y.data(),
                                                                   count);
        warpwise::check_launch();
        const std::vector<float> y = d_y.download();
        double absolute = 0, ulps = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const double exact = function.exact(x[i]), error = std::fabs(y[i] - exact);
            absolute = std::max(absolute, error);
            ulps = std::max(ulps, error / unit_in_the_last_place(exact));
        }
        const bool huge = absolute > 1;  // then only the relative error says something
        rows.push_back({function.code,
                        text_of("%g", function.low) + " to " + text_of("%g", function.high),
                        huge ? "-" : text_of("%.2g", absolute), text_of("%.3g", ulps),
                        function.documented});
        if (function.most == 0) continue;
        lesson.expect(ulps <= function.most,
                      std::string(function.code) + ": no worse than documented");
    }
    lesson.table({"errors", "Largest errors of " + std::to_string(count) +
                                " random x, against double"},
                 {"function", "x", "absolute", "in ulp", "documented for a GPU"}, rows);
}

// ---- sums of digits ---------------------------------------------------------------------

// `count` numbers of 32 bits, and room for the sum of the decimal digits of each.
struct DigitSums {
    std::size_t count;
    std::vector<unsigned> numbers, sums;
    DeviceBuffer<unsigned> d_numbers, d_sums;
    bool sums_are_on_host = false;  // set by the step that leaves its result in `sums`

    explicit DigitSums(const warpwise::Size& size)
        : count(size[0]), numbers(count), sums(count), d_numbers(count), d_sums(count) {
        warpwise::parallel_for(count, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                numbers[i] = static_cast<unsigned>(warpwise::random_bits(43, i));
                if (i < 33)
                    numbers[i] = i < 32 ? 0xFFFFFFFFu >> i : 0;  // all lengths, and none
            }
        });
        d_numbers.upload(numbers);
    }

    void poison() {
        std::fill(sums.begin(), sums.end(), 1000);
        d_sums.fill_bytes(0xFF);
        sums_are_on_host = false;
    }

    // Whole numbers, so they have to be exact. The reference takes the digits as the C
    // library prints them.
    warpwise::Comparison compare() {
        if (!sums_are_on_host) sums = d_sums.download();
        return warpwise::compare_each(sums, count, [&](std::size_t i) {
            char digits[16];
            double sum = 0;
            for (int k = std::snprintf(digits, sizeof digits, "%u", numbers[i]) - 1; k >= 0;
                 --k)
                sum += digits[k] - '0';
            return sum;
        });
    }

    // A number in and a sum out; nearly all random numbers have ten digits or nine, a
    // division each.
    warpwise::Work work() const {
        return {.bytes = 2.0 * sizeof(unsigned) * count, .operations = 10.0 * count};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return 2 * sizeof(unsigned) * size[0];
    }
};

// Step 1, one core of the host. The base is in the code, so that its compiler does what
// step 4 is about.
void serial(DigitSums& problem) {
    for (std::size_t i = 0; i < problem.count; ++i) {
        unsigned sum = 0;
        for (unsigned rest = problem.numbers[i]; rest != 0; rest /= 10) sum += rest % 10;
        problem.sums[i] = sum;
    }
    problem.sums_are_on_host = true;
}

// Launches a kernel with a thread for each number; the base is an argument, if it takes
// one.
template <auto kernel, auto... base>
void launch(DigitSums& problem) {
    kernel<<<warpwise::blocks_for(problem.count, kBlock), kBlock>>>(
        problem.d_numbers.data(), problem.d_sums.data(), problem.count, base...);
    warpwise::check_launch();
}

}  // namespace

void instruction_throughput(warpwise::Lesson& lesson) {
    lesson.question(
        R"(Every clock an SM issues four instructions, each for the 32 lanes of a warp: at
most 128 results. What an operation costs follows from two questions: of how many
instructions does it consist, and how many units that execute them has an SM?)");
    lesson.predict(
        {.question = R"(An SM carries out so many products of two integers per clock
cycle, and fewer sines, sinf(x). How many times as many products as sines is it on a
GPU? A guess within a factor of 3 is right.)",
         .answer =
             warpwise::Measured{
                 .by =
                     warpwise::CellRatio{
                         warpwise::TableCell{"rates", {"32 bit v * n"}, "measured"},
                         warpwise::TableCell{"rates", {"sinf(v) + a"}, "measured"}},
                 .unit = "times",
                 .factor = 3},
         .because = R"(A product is one instruction. A sine first reduces its
argument, and then evaluates a polynomial.)"});
    show_operations(lesson);
    lesson.conclusion(
        R"(Of these, the sine is the most expensive: 13 times as expensive as a product. `at
most a clock` is the smaller of 128 divided by the number of instructions, and of what the
busiest unit allows. No unit divides: a division is a reciprocal with corrections; by a
constant it is a product and a shift, and by a power of two a shift or a mask. The CPU
device checks the results, but it has no clocks.)");

    lesson.question(
        R"(Cheap functions such as __expf and __sinf are less accurate. An ulp, unit in the
last place, is the distance from a float to the next one. How many ulp are the functions
off?)");
    lesson.predict(
        {.question = R"(__expf(x) is 2^(x * 1.4427), and the product is rounded to
the 24 bits of a float. How does its relative error depend on x?)",
         .answer = warpwise::Choice{{"it is the same for all x", "it grows with |x|",
                                     "it grows towards x = 0"},
                                    1},
         .because = R"(The larger the product is, the fewer of its bits are left
after the binary point, and what is lost there is a factor of the result.)"});
    show_errors(lesson);
    lesson.conclusion(
        R"(It grows with |x|: a product of up to 115 keeps 17 bits after the binary point,
and what it loses there is a factor of the result. The errors of __sinf and __logf are
bounded absolutely, so near a zero of the function few bits may be right. (On the CPU
device, the functions with underscores are the host's accurate ones; exp2f(x * 1.44269504f)
shows the loss everywhere.))");

    lesson.question(
        R"(The sum of the decimal digits of a number takes one division per digit. What does
a division cost in 64 bits, in 32 bits, with a base that the compiler knows, and with two
digits per division?)");
    lesson.predict(
        {.question = R"(digits_of_32_bits gets the base as an argument. In
digits_of_base_10 it is the constant 10. How many times as fast does that make the
kernel on a GPU?)",
         .answer = warpwise::Measured{.by = warpwise::TimeRatio{"digits_of_32_bits",
                                                                "digits_of_base_10"},
                                      .unit = "times",
                                      .factor = 1.2},
         .because = R"(No unit divides. By a constant, a division becomes a product
and a shift.)"});
    lesson.steps<DigitSums>(
        {.gpu = {std::size_t{1} << 26},
         .cpu = {std::size_t{1} << 15},
         .awkward = {{0}, {1}, {31}, {32}, {33}, {255}, {257}, {1009}, {4099}}},
        {{"serial", "one core of the host", serial, warpwise::StepKind::host},
         {"digits_of_64_bits", "64 bits, the base an argument",
          launch<digits_of_64_bits, 10>},
         {"digits_of_32_bits", "32 bits", launch<digits_of_32_bits, 10>},
         {"digits_of_base_10", "the base a constant", launch<digits_of_base_10>},
         {"digits_in_pairs", "two digits a division", launch<digits_in_pairs>}});
    lesson.conclusion(
        R"(The counters hardly differ. The instructions of a round do, for compute
capability 9.0: 34 with 64 bits, 15 with 32 bits, 7 with a constant, and 10 for two digits
at a time. Only step 5 could keep up with the memory of an H200, if no thread had to wait.
So use unsigned 32-bit integers where they suffice, constants that the compiler knows, and
no divisions in the innermost loop.)");
}

}  // namespace optimization
