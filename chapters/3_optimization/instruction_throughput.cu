// Problem: what does an operation cost? `v + a` and `v / a` look alike in the source, and so do sinf and __sinf.
//
// A multiprocessor has units of several kinds, so many lanes of each. Every clock its four schedulers issue one
// instruction of a warp each, 128 lanes in all. An operation that is one instruction, with 128 lanes of units for it,
// yields 128 results a clock; with 16 lanes of units, 16. And many operations are no instruction at all, but a short
// program of 5, 10 or 100. This lesson measures the results per clock of many operations, shows the errors of the
// cheap functions beside those of the accurate ones, and then makes divisions cheaper in a kernel: for each of n
// whole numbers the sum of its decimal digits.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
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

// ---- the operations ----------------------------------------------------------------------------------------------

__host__ __device__ unsigned bits_of(float value) {
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

__host__ __device__ float float_of(unsigned bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

using Word = unsigned;
using Long = unsigned long long;

// The next value of a chain: from the last one `v`, that of the neighboring chain, `n`, and two numbers from memory.
// No compiler knows those, and none may exchange additions of floats, so each addition has to be done. Of integers it
// may: v + a + a + a would become v + 3 * a. With the neighbor's value nothing can be gathered up.
// Where a chain would run dry, an addition or a subtraction keeps it alive; the table counts it. Doubles get two
// different numbers and not three: an instruction with three takes six registers, more than are read in its two clocks.
__host__ __device__ float add_float(float v, float, float a, float) { return v + a; }
__host__ __device__ float multiply_float(float v, float, float, float b) { return v * b; }
__host__ __device__ float fma_float(float v, float, float a, float b) { return fmaf(v, a, b); }
__host__ __device__ double fma_double(double v, double, double a, double) { return fma(v, a, a); }

__host__ __device__ Word add_int(Word v, Word n, Word, Word) { return v + n; }
__host__ __device__ Word add_three(Word v, Word n, Word a, Word) { return v + n + a; }
__host__ __device__ Word multiply_int(Word v, Word n, Word, Word) { return v * n; }
__host__ __device__ Word multiply_high(Word v, Word, Word, Word b) {
    const Word large = b | 0xFFFFFF00;  // so that v shrinks slowly
#ifdef __CUDA_ARCH__
    return __umulhi(v, large);
#else
    return static_cast<Word>(Long{v} * large >> 32);
#endif
}
__host__ __device__ Word shift(Word v, Word, Word, Word b) { return b >> (v & 31); }
__host__ __device__ Long add_64(Long v, Long n, Long, Long) { return v + n; }
__host__ __device__ Long multiply_64(Long v, Long n, Long, Long) { return v * n; }

__host__ __device__ Word divide(Word v, Word n, Word, Word b) { return b - v / (n | 1); }
__host__ __device__ Word modulo(Word v, Word n, Word, Word b) { return b - v % (n | 1); }
__host__ __device__ Word divide_10(Word v, Word n, Word, Word) { return n - v / 10; }
__host__ __device__ Word modulo_10(Word v, Word n, Word, Word) { return n - v % 10; }
__host__ __device__ Word divide_8(Word v, Word n, Word, Word) { return n - v / 8; }
__host__ __device__ Word modulo_8(Word v, Word n, Word, Word) { return n - v % 8; }
__host__ __device__ int divide_int_8(int v, int n, int, int) { return n ^ (v / 8); }
__host__ __device__ Long divide_64(Long v, Long n, Long, Long b) { return b - v / (n | 1); }

__host__ __device__ float divide_float(float v, float, float a, float b) { return a / (v + b); }
__device__ float fast_divide(float v, float, float a, float b) { return __fdividef(a, v + b); }
__host__ __device__ float square_root(float v, float, float, float) { return sqrtf(v); }
__device__ float reciprocal_root(float v, float, float, float) { return rsqrtf(v); }
__device__ float sine(float v, float, float a, float) { return sinf(v) + a; }
__device__ float fast_sine(float v, float, float a, float) { return __sinf(v) + a; }
__device__ float exponential(float v, float, float, float) { return expf(-v); }
__device__ float fast_exponential(float v, float, float, float) { return __expf(-v); }
__device__ float logarithm(float v, float, float, float) { return logf(v) + 2; }
__device__ float fast_logarithm(float v, float, float, float) { return __logf(v) + 2; }

__host__ __device__ Word int_to_float(Word v, Word, Word, Word) { return bits_of(static_cast<float>(v)); }
__host__ __device__ float float_to_int(float v, float, float, float b) {
    return float_of(static_cast<Word>(v) ^ bits_of(b));
}
__host__ __device__ double double_to_int_and_back(double v, double, double, double) {
    return static_cast<double>(static_cast<int>(v));
}

constexpr unsigned kLanes = 32;
constexpr unsigned kThreads = 1024;  // of a block, one on each multiprocessor: 8 warps for each scheduler
constexpr unsigned kChains = 8;      // of a thread, so that no operation has to wait for the one before

// Every thread carries eight chains forward, and thread 0 says how many clocks its multiprocessor took for all of
// them. The loop is unrolled so far that counting rounds costs less than 2 %. Each lane has numbers of its own: if
// all had the same, nvcc might move work to the unit that computes one value for the whole warp.
template <class V, V (*next)(V, V, V, V), unsigned unroll>
__global__ void __launch_bounds__(kThreads) repeat(const V* in, V* out, unsigned rounds, long long* clocks) {
    const unsigned lane = threadIdx.x % kLanes;
    V v[kChains];
#pragma unroll
    for (unsigned k = 0; k < kChains; ++k) v[k] = in[k * kLanes + lane];
    const V a = in[kChains * kLanes + lane], b = in[(kChains + 1) * kLanes + lane];
    __syncthreads();
    const long long begin = clock64();
#pragma unroll 1
    for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
        for (unsigned i = 0; i < unroll; ++i) {
#pragma unroll
            for (unsigned k = 0; k < kChains; ++k) v[k] = next(v[k], v[(k + 1) % kChains], a, b);
        }
    }
    __syncthreads();
    const long long end = clock64();
    if (threadIdx.x == 0) clocks[blockIdx.x] = end - begin;
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
#pragma unroll
    for (unsigned k = 0; k < kChains; ++k) out[thread * kChains + k] = v[k];
}

// ---- measuring them ----------------------------------------------------------------------------------------------

// Lanes per clock and multiprocessor of native instructions, by compute capability. Source: CUDA C++ Programming
// Guide, "Arithmetic Instructions", throughput of native arithmetic instructions. Two prices are not there, and were
// measured on an H200: a product with its upper half (IMAD.WIDE, IMAD.HI) takes the multiplier twice as long as one of
// 32 bits, and the special function unit also converts floats to integers (F2I) and, for divisions, back (I2F).
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
constexpr double kIssued = 128;                     // lanes a clock: four schedulers, an instruction of a warp each

struct Outcome {
    bool right = false;
    double operations_per_clock = 0;  // of a multiprocessor; 0 where nothing is measured
};

struct Operation {
    const char* code;
    const char* instructions;  // what nvcc 13.0 makes of it for compute capability 9.0
    double count;              // so many of them
    Unit unit;                 // the one that limits it, if any does ...
    double uses;               // ... and how many instructions it has to carry out, a product of 64 bits counted twice
    Outcome (*run)(bool measures);
};

int attribute(cudaDeviceAttr which) {
    int device = 0, value = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&value, which, device));
    return value;
}

// Numbers to begin with, for all chains and lanes, then those called `a`, then those called `b`.
template <class V>
std::vector<V> numbers() {
    std::vector<V> in;
    for (unsigned i = 0; i < (kChains + 2) * kLanes; ++i) {
        const unsigned lane = i % kLanes, row = i / kLanes;
        const float real = row == kChains ? 0.5f + lane / 128.0f : row > kChains ? 1.0f : 1.0f + i / 1024.0f;
        if constexpr (std::is_floating_point_v<V>) {
            in.push_back(real);
        } else {  // odd, so that products do not become 0; and large, so that 64 bits are needed where there are 64
            constexpr V highest = V(1) << (std::numeric_limits<V>::digits - 1);
            in.push_back(static_cast<V>(warpwise::random_bits(41, i)) | highest | 1);
        }
    }
    return in;
}

// Runs a kernel and checks its numbers: those of `next` against the same chain on the host, to the last bit. Chains
// of approximations are drawn together by their function, and have to end where `in_double` does.
template <class V, V (*next)(V, V, V, V), unsigned unroll, double (*in_double)(double, double, double) = nullptr>
Outcome run(bool measures) {
    const unsigned blocks = measures ? warpwise::multiprocessors() : 1;
    const unsigned threads = measures ? kThreads : kLanes;
    const unsigned rounds = measures ? 256 : 64 / unroll;
    const std::vector<V> in = numbers<V>();
    const DeviceBuffer<V> d_in(in);
    DeviceBuffer<V> d_out(std::size_t{blocks} * threads * kChains);
    DeviceBuffer<long long> d_clocks(blocks);
    for (int pass = 0; pass < (measures ? 2 : 1); ++pass) {  // the first one fetches the code
        repeat<V, next, unroll><<<blocks, threads>>>(d_in.data(), d_out.data(), rounds, d_clocks.data());
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
                for (unsigned k = 0; k < kChains; ++k) v[k] = next(v[k], v[(k + 1) % kChains], a, b);
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
        outcome.operations_per_clock =
            1.0 * kThreads * kChains * unroll * rounds / static_cast<double>(clocks[clocks.size() / 2]);
    }
    return outcome;
}

// The chains of approximations, in double.
double quotient(double v, double a, double b) { return a / (v + b); }
double root_chain(double v, double, double) { return 1 / std::sqrt(v); }
double sine_chain(double v, double a, double) { return std::sin(v) + a; }
double exponential_chain(double v, double, double) { return std::exp(-v); }
double logarithm_chain(double v, double, double) { return std::log(v) + 2; }

// Instructions are counted on the way that ordinary numbers take, without what counts the rounds of the loop.
constexpr std::array kOperations = {
    Operation{"float  v + a", "FADD", 1, Unit::fp32, 1, run<float, add_float, 32>},
    Operation{"float  v * b", "FMUL", 1, Unit::fp32, 1, run<float, multiply_float, 32>},
    Operation{"float  fmaf(v, a, b)", "FFMA", 1, Unit::fp32, 1, run<float, fma_float, 32>},
    Operation{"double fma(v, a, a)", "DFMA", 1, Unit::fp64, 1, run<double, fma_double, 32>},
    Operation{"32 bit v + n", "IADD3 or IMAD", 1, Unit::none, 1, run<Word, add_int, 32>},
    Operation{"32 bit v + n + a", "IADD3", 1, Unit::integer, 1, run<Word, add_three, 32>},
    Operation{"32 bit v * n", "IMAD", 1, Unit::integer, 1, run<Word, multiply_int, 32>},
    Operation{"32 bit __umulhi(v, b)", "IMAD.HI", 1, Unit::integer, 2, run<Word, multiply_high, 32>},
    Operation{"32 bit b >> (v & 31)", "SHF", 1, Unit::integer, 1, run<Word, shift, 32>},
    Operation{"64 bit v + n", "IADD3, IMAD.X", 2, Unit::integer, 1, run<Long, add_64, 16>},
    Operation{"64 bit v * n", "IMAD.WIDE, 2 IMAD ...", 4, Unit::integer, 4, run<Long, multiply_64, 16>},
    Operation{"32 bit b - v / (n | 1)", "I2F, MUFU.RCP, F2I ...", 19, Unit::special, 3, run<Word, divide, 4>},
    Operation{"32 bit b - v % (n | 1)", "I2F, MUFU.RCP, F2I ...", 18, Unit::special, 3, run<Word, modulo, 4>},
    Operation{"32 bit n - v / 10", "IMAD.WIDE ...", 3, Unit::integer, 2.5, run<Word, divide_10, 16>},
    Operation{"32 bit n - v % 10", "IMAD.WIDE, IMAD ...", 4, Unit::integer, 3, run<Word, modulo_10, 16>},
    Operation{"32 bit n - v / 8", "SHF, IMAD", 2, Unit::integer, 1, run<Word, divide_8, 16>},
    Operation{"32 bit n - v % 8", "LOP3, IMAD", 2, Unit::integer, 1, run<Word, modulo_8, 16>},
    Operation{"signed n ^ (v / 8)", "2 SHF, LEA, LOP3", 4, Unit::integer, 4, run<int, divide_int_8, 16>},
    Operation{"64 bit b - v / (n | 1)", "IMAD.WIDE, IMAD.HI ...", 82, Unit::integer, 54, run<Long, divide_64, 2>},
    Operation{"float  a / (v + b)", "MUFU.RCP, FCHK ...", 11, Unit::special, 2, run<float, divide_float, 4>},
    Operation{"__fdividef(a, v + b)", "MUFU.RCP ...", 5, Unit::special, 1, run<float, fast_divide, 8, quotient>},
    Operation{"sqrtf(v)", "MUFU.RSQ ...", 10, Unit::special, 1, run<float, square_root, 4>},
    Operation{"rsqrtf(v)", "MUFU.RSQ ...", 4, Unit::special, 1, run<float, reciprocal_root, 8, root_chain>},
    Operation{"sinf(v) + a", "8 FFMA ...", 27, Unit::none, 1, run<float, sine, 2, sine_chain>},
    Operation{"__sinf(v) + a", "MUFU.SIN, 2 more", 3, Unit::special, 1, run<float, fast_sine, 8, sine_chain>},
    Operation{"expf(-v)", "MUFU.EX2 ...", 8, Unit::special, 1, run<float, exponential, 8, exponential_chain>},
    Operation{"__expf(-v)", "MUFU.EX2 ...", 5, Unit::special, 1, run<float, fast_exponential, 8, exponential_chain>},
    Operation{"logf(v) + 2", "12 FFMA ...", 26, Unit::none, 1, run<float, logarithm, 4, logarithm_chain>},
    Operation{"__logf(v) + 2", "MUFU.LG2 ...", 5, Unit::special, 1, run<float, fast_logarithm, 8, logarithm_chain>},
    Operation{"32 bit to float", "I2FP", 1, Unit::convert, 1, run<Word, int_to_float, 32>},
    Operation{"float to 32 bit, ^ b", "F2I, LOP3", 2, Unit::special, 1, run<float, float_to_int, 16>},
    Operation{"double to int and back", "F2I, I2F (F64)", 2, Unit::convert_64, 2,
              run<double, double_to_int_and_back, 16>},
};

// Operations per clock that an operation's instructions allow: as many as are issued, as many as its unit takes.
double at_most(const Operation& operation, const Documented& chip) {
    const double issued = kIssued / operation.count;
    if (operation.unit == Unit::none) return issued;
    return std::min(issued, chip.rates[static_cast<std::size_t>(operation.unit)] / operation.uses);
}

void show_operations(warpwise::Lesson& lesson) {
    const bool measures = lesson.measures();
    const std::string title = "Operations per clock and multiprocessor";
    const Documented* chip = measures ? nullptr : &kHopper;
    if (measures) {
        const int major = attribute(cudaDevAttrComputeCapabilityMajor);
        const int minor = attribute(cudaDevAttrComputeCapabilityMinor);
        for (const Documented& known : kDocumented) {
            if (known.major == major && known.minor == minor) chip = &known;
        }
    }
    const warpwise::Record& recorded = lesson.recorded();
    std::vector<std::string> header = {"operation", "machine code", "instructions", "at most a clock"};
    if (measures) header.insert(header.end(), {"measured", "share"});
    if (recorded) header.push_back("measured on an H200");
    std::vector<std::vector<std::string>> rows;
    for (const Operation& operation : kOperations) {
        const Outcome outcome = operation.run(measures);
        lesson.expect(outcome.right, std::string(operation.code) + ": the chains end where they should");
        const double limit = chip == nullptr ? 0 : at_most(operation, *chip);
        rows.push_back({operation.code, operation.instructions, text_of("%.0f", operation.count),
                        chip == nullptr ? "-" : text_of("%.3g", limit)});
        if (measures) {
            rows.back().push_back(text_of("%.3g", outcome.operations_per_clock));
            rows.back().push_back(chip == nullptr ? "-" : text_of("%.2f", outcome.operations_per_clock / limit));
        }
        if (recorded) rows.back().push_back(recorded.cell(title, {operation.code}, "measured"));
    }
    std::string where;
    if (recorded) {
        where = ", " + recorded.where();
    } else if (!measures) {
        where = " of compute capability 9.0: documented, not measured";
    }
    lesson.table(title + where, header, rows);
}

// ---- what the cheap functions get wrong ------------------------------------------------------------------------

__device__ float sinf_of(float x) { return sinf(x); }
__device__ float fast_sinf_of(float x) { return __sinf(x); }
__device__ float expf_of(float x) { return expf(x); }
__device__ float fast_expf_of(float x) { return __expf(x); }
__device__ float exp2f_of(float x) { return exp2f(x * 1.44269504f); }
__device__ float logf_of(float x) { return logf(x); }
__device__ float fast_logf_of(float x) { return __logf(x); }
__device__ float inverse_of(float x) { return 1 / x; }
__device__ float fast_inverse_of(float x) { return __fdividef(1, x); }
__device__ float rsqrtf_of(float x) { return rsqrtf(x); }
double inverse(double x) { return 1 / x; }
double inverse_root(double x) { return 1 / std::sqrt(x); }

template <float (*function)(float)>
__global__ void apply(const float* x, float* y, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) y[i] = function(x[i]);
}

struct Function {
    const char* code;
    void (*kernel)(const float*, float*, std::size_t);
    double (*exact)(double);
    float low, high;         // of x
    const char* documented;  // CUDA C++ Programming Guide, "Mathematical Functions"
    double most;             // units in the last place, held on every device; 0: only a GPU's is of interest
};
constexpr std::array kFunctions = {
    Function{"sinf(x)", apply<sinf_of>, std::sin, -3.14159f, 3.14159f, "2 ulp", 2.5},
    Function{"__sinf(x)", apply<fast_sinf_of>, std::sin, -3.14159f, 3.14159f, "absolute 2^-21.41 = 3.6e-07", 0},
    Function{"sinf(x)", apply<sinf_of>, std::sin, -1000, 1000, "2 ulp", 2.5},
    Function{"__sinf(x)", apply<fast_sinf_of>, std::sin, -1000, 1000, "larger", 0},
    Function{"expf(x)", apply<expf_of>, std::exp, -80, 80, "2 ulp", 2.5},
    Function{"__expf(x)", apply<fast_expf_of>, std::exp, -80, 80, "2 + floor(1.173 |x|) ulp", 0},
    Function{"exp2f(x * 1.44269504f)", apply<exp2f_of>, std::exp, -80, 80, "(that is how __expf does it)", 97},
    Function{"logf(x)", apply<logf_of>, std::log, 0.5f, 2, "1 ulp", 1.5},
    Function{"__logf(x)", apply<fast_logf_of>, std::log, 0.5f, 2, "absolute 2^-21.41 = 3.6e-07", 0},
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
        const std::vector<float> x = warpwise::uniform<float>(count, 42, function.low, function.high);
        const DeviceBuffer<float> d_x(x);
        DeviceBuffer<float> d_y(count);
        d_y.fill_bytes(0xFF);
        function.kernel<<<warpwise::blocks_for(count, 256), 256>>>(d_x.data(), d_y.data(), count);
        warpwise::check_launch();
        const std::vector<float> y = d_y.download();
        double absolute = 0, ulps = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const double exact = function.exact(x[i]), error = std::fabs(y[i] - exact);
            absolute = std::max(absolute, error);
            ulps = std::max(ulps, error / unit_in_the_last_place(exact));
        }
        const bool huge = absolute > 1;  // then only the relative error says something
        rows.push_back({function.code, text_of("%g", function.low) + " to " + text_of("%g", function.high),
                        huge ? "-" : text_of("%.2g", absolute), text_of("%.3g", ulps), function.documented});
        if (function.most == 0) continue;
        lesson.expect(ulps <= function.most, std::string(function.code) + ": no worse than documented");
    }
    lesson.table("Largest errors of " + std::to_string(count) + " random x, against double",
                 {"function", "x", "absolute", "in ulp", "documented for a GPU"}, rows);
}

// ---- sums of digits ----------------------------------------------------------------------------------------------

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
                if (i < 33) numbers[i] = i < 32 ? 0xFFFFFFFFu >> i : 0;  // all lengths, and none
            }
        });
        d_numbers.upload(numbers);
    }

    void poison() {
        std::fill(sums.begin(), sums.end(), 1000);
        d_sums.fill_bytes(0xFF);
        sums_are_on_host = false;
    }

    // Whole numbers, so they have to be exact. The reference takes the digits as the C library prints them.
    warpwise::Comparison compare() {
        if (!sums_are_on_host) sums = d_sums.download();
        return warpwise::compare_each(sums, count, [&](std::size_t i) {
            char digits[16];
            double sum = 0;
            for (int k = std::snprintf(digits, sizeof digits, "%u", numbers[i]) - 1; k >= 0; --k)
                sum += digits[k] - '0';
            return sum;
        });
    }

    // A number in and a sum out; nearly all random numbers have ten digits or nine, a division each.
    warpwise::Work work() const { return {.bytes = 2.0 * sizeof(unsigned) * count, .operations = 10.0 * count}; }

    static std::size_t device_bytes(const warpwise::Size& size) { return 2 * sizeof(unsigned) * size[0]; }
};

// Step 1, one core of the host. The base is in the code, so that its compiler does what step 4 is about.
void serial(DigitSums& problem) {
    for (std::size_t i = 0; i < problem.count; ++i) {
        unsigned sum = 0;
        for (unsigned rest = problem.numbers[i]; rest != 0; rest /= 10) sum += rest % 10;
        problem.sums[i] = sum;
    }
    problem.sums_are_on_host = true;
}

constexpr unsigned kBlock = 256;

// Launches a kernel with a thread for each number; the base is an argument, if it takes one.
template <auto kernel, auto... base>
void launch(DigitSums& problem) {
    kernel<<<warpwise::blocks_for(problem.count, kBlock), kBlock>>>(problem.d_numbers.data(), problem.d_sums.data(),
                                                                    problem.count, base...);
    warpwise::check_launch();
}

// Step 2, a number a thread, 64 bits to be on the safe side, and the base comes as an argument.
// Slow: a GPU divides by multiplying, and has multipliers for 32 bits only. A division of 64 bits is a program of 82
// instructions; where both numbers happen to fit in 32 bits, as they do here, it takes a shortcut, and has to ask
// first.
__global__ void digits_of_64_bits(const unsigned* numbers, unsigned* sums, std::size_t count, Long base) {
    const std::size_t i = std::size_t{blockIdx.x} * kBlock + threadIdx.x;
    if (i >= count) return;
    unsigned long long sum = 0;
    for (unsigned long long rest = numbers[i]; rest != 0; rest /= base) sum += rest % base;
    sums[i] = static_cast<unsigned>(sum);
}

// Step 3, numbers of 32 bits are divided as such. nvcc works out the reciprocal of the base once, before the loop.
// Better: a digit costs some multiplications and corrections. Slow: the corrections, since that reciprocal is not
// exact.
__global__ void digits_of_32_bits(const unsigned* numbers, unsigned* sums, std::size_t count, unsigned base) {
    const std::size_t i = std::size_t{blockIdx.x} * kBlock + threadIdx.x;
    if (i >= count) return;
    unsigned sum = 0;
    for (unsigned rest = numbers[i]; rest != 0; rest /= base) sum += rest % base;
    sums[i] = sum;
}

// Step 4, the base is a constant. rest / 10 is the high half of rest * 0xCCCCCCCD, shifted right by 3, for every
// 32-bit number, exactly: the compiler knows such a pair for each constant.
// Better: no corrections, and 7 instructions. Slow: a round for each digit, of which only three divide.
__global__ void digits_of_base_10(const unsigned* numbers, unsigned* sums, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kBlock + threadIdx.x;
    if (i >= count) return;
    unsigned sum = 0;
    for (unsigned rest = numbers[i]; rest != 0; rest /= 10) sum += rest % 10;
    sums[i] = sum;
}

// Step 5, two digits at a time. Below 100, the tens are pair * 103 / 1024, and the digits' sum is pair - 9 * tens: no
// high half is needed, and the pairs wait for nobody but the division by 100.
// Better: half of the rounds, and 10 instructions for two digits instead of 14.
__global__ void digits_in_pairs(const unsigned* numbers, unsigned* sums, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kBlock + threadIdx.x;
    if (i >= count) return;
    unsigned sum = 0;
    for (unsigned rest = numbers[i]; rest != 0; rest /= 100) {
        const unsigned pair = rest % 100;
        sum += pair - 9 * (pair * 103 / 1024);
    }
    sums[i] = sum;
}

}  // namespace

void instruction_throughput(warpwise::Lesson& lesson) {
    lesson.text(
        R"(Every clock a multiprocessor issues four instructions, each for the 32 lanes of a warp: at most 128
results. That is the price list's first line. The others follow from two questions: of how many instructions is an
operation made, and how many lanes do the units have that carry them out?

What you will see: the price list, then the errors of functions that are cheap, then a kernel full of divisions that
gets rid of them step by step.

Before you look, sort these by price: a product of two integers, a division of two integers, a division by 10, a
division by 8, a product of two doubles, a sine. Is the last one ten times as expensive as the first, or a hundred
times?)");
    show_operations(lesson);
    lesson.text(
        R"(The sine: 13 times as expensive as a product. `at most a clock` is the smaller of two numbers: 128
divided by the number of instructions, and what the busiest unit takes, by NVIDIA's table. `v`, `n`, `a` and `b` are
registers of which the compiler knows nothing. Instructions were read from the machine code that nvcc 13.0 makes for
compute capability 9.0; they differ from compiler to compiler and from chip to chip, and slow paths, for huge or tiny
numbers, are not in it.

Addition of integers is a surprise: the table of NVIDIA says 64. But nvcc does every other addition as v * 1 + n on
the multiplier (IMAD), so that two units share the work. Where an addition takes three numbers, only one unit can do
it.

Two things are not in that table; an H200 told them. A product of which you want the upper half (IMAD.WIDE, IMAD.HI)
keeps the multiplier twice as long as one of 32 bits: 32 a clock. And a conversion from float to integer (F2I) is done
by the special function unit, 16 lanes, though the table gives 64 to such conversions; from integer to float (I2FP) it
has them. `at most a clock` counts with both.

Division has no unit. Floats: the reciprocal of a special function unit (16 lanes), fused multiply-adds that mend its
last bits, and a check for numbers that need a longer way (FCHK, which seems to be for the same unit). Integers: to
float, the same reciprocal, and back, all on that unit, so at most 16 / 3 a clock; with products and corrections 18 or
19 instructions for 32 bits. With 64 bits it is 82, of which 15 are products with an upper half. By a constant it is one
such product and a shift; by a power of two a shift or a mask, if the number is unsigned. A signed one is rounded toward
zero, which takes two instructions more. So write the shift only where you mean one: for unsigned numbers and a
constant, v / 8 and v % 8 are a shift and a mask already.

And expf is not what makes programs slow. It is 8 instructions and __expf 5, but both need one of the special function
unit, 16 lanes: alone they should be about equally fast. What __expf saves are issue slots, for the other instructions
of your kernel. The sine is another matter: 27 against 3.)");
    if (lesson.measures()) {
        lesson.text(
            R"(`measured` are operations per clock: a block of 1024 threads on each multiprocessor, eight independent
chains a thread, clocks by clock64() around a loop that is unrolled so far that counting its rounds is less than 2 % of
it. A share near 1 says that the price is understood. Where it is 0.8 or 0.9, several limits are close to each other, as
in expf, which needs as many issue slots as time of the special function unit; or the program branches, as sqrtf does,
and the divisions of floats and of 64 bits. Instructions were counted for compute capability 9.0; on another chip judge
the single instructions only.)");
    } else if (!warpwise::Lesson::on_gpu()) {
        lesson.text(
            R"(None of these figures was measured here: the CPU device has no clocks. What it did was run every chain
and check the results, bit by bit where they are defined to the last bit. On a GPU the table has what was measured,
and its share of the limit.)");
    }

    lesson.text(
        R"(Now what cheap functions get wrong. An ulp, unit in the last place, is the distance from a float to the
next one. Predict: how does the error of __expf(x) grow with x? It is 2^(x * 1.4427), and the product is a float,
rounded to 24 bits.)");
    show_errors(lesson);
    if (!warpwise::Lesson::on_gpu()) {
        lesson.text(
            R"(On the CPU device sinf, expf and logf are those of the host, and so are __sinf, __expf, __logf and
__fdividef: the accurate function. So their rows show nothing here, and you need a GPU to see what they lose. The row
exp2f(x * 1.44269504f) is plain arithmetic, and true everywhere.)");
    }
    lesson.text(
        R"(The product x * 1.4427 of up to 115 keeps no more than 17 bits behind the point, and what it loses
there is a factor in the result: tens of ulp at |x| = 80, one or two near 0. The errors of __sinf and __logf are
bounded absolutely, not relatively: near a zero of the function, few of the bits may be right. Beyond [-pi, pi] __sinf
gets worse with x, since it, too, only multiplies, by 1 / (2 pi). So: __expf of small numbers and __sinf of angles in
[-pi, pi] where a few millionths are enough; otherwise the accurate ones. And -use_fast_math replaces all of them in
all of a file, together with divisions and square roots: decide line by line instead.)");

    lesson.text(
        R"(Last, divisions in a kernel. The sum of the decimal digits takes a division a digit. The remainder
comes with it, rest - 10 * quotient, if the compiler sees both. Step by step: 64 bits, 32 bits, a base that the
compiler knows, and two digits a division.)");
    lesson.steps<DigitSums>({.gpu = {std::size_t{1} << 26},
                             .cpu = {std::size_t{1} << 15},
                             .awkward = {{0}, {1}, {31}, {32}, {33}, {255}, {257}, {1009}, {4099}}},
                            {{"serial", "one core of the host", serial, warpwise::StepKind::host},
                             {"digits_of_64_bits", "64 bits, the base an argument", launch<digits_of_64_bits, 10>},
                             {"digits_of_32_bits", "32 bits", launch<digits_of_32_bits, 10>},
                             {"digits_of_base_10", "the base a constant", launch<digits_of_base_10>},
                             {"digits_in_pairs", "two digits a division", launch<digits_in_pairs>}});
    lesson.text(
        R"(The CPU device counts nearly the same for all of them: the memory has the same to do, 8 bytes a number. The
difference is in the instructions of a round of the loop, again for compute capability 9.0: 34 with 64 bits, although
all numbers fit in 32; 15 with 32 bits; 7 with a constant; and 10 for two digits at a time. Ten digits are about 340,
150, 70 and 50. Is that worth as much in time? Ask the second question, too: which unit? In steps 4 and 5 it is the
multiplier. nvcc lets it add and move as well, so a round takes 5 and 6 of the 64 results that it has a clock (an upper
half counts as two), ten digits 50 and 30: the time of 100 and 60 instructions. The memory delivers a number in the time
of some 60. Only step 5 could keep up with it, if no thread had to wait: but each begins with a load, and goes through
one chain of divisions.

The rule to take along: unsigned 32-bit numbers where they suffice; constants as constants (template parameters,
constexpr), so that the compiler knows them; and divisions out of the innermost loop.

Mistakes to avoid: constants like 1.0 and M_PI among floats: they are double, and make double
what they touch; x / y in a loop where y does not change (a
product with 1 / y is one instruction, if its other rounding does not hurt); a 64-bit index divided by a 64-bit width
in every thread; powf(x, 2) for x * x; and saving instructions in a kernel that waits for memory.

Try next: a base of your own in step 4, 16 for example, and the machine code of both:

    optimization instruction_throughput --size 1000003 --check
    nvcc -std=c++20 -I. -arch=native -cubin -o it.cubin chapters/3_optimization/instruction_throughput.cu
    cuobjdump -sass it.cubin)");
}

}  // namespace optimization
