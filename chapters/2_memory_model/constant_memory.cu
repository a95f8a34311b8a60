// Problem: y[i] = c[0] + c[1] x[i] + ... + c[31] x[i]^31 for n floats, all with the same 32 coefficients.
//
// Every thread needs every coefficient, at the same time as all others. Constant memory is made for that: 64 KB that
// kernels only read, behind a small cache of its own, which delivers one value to all lanes of a warp at once. One
// value: lanes that ask for different addresses are served one address after the other. The kernels below differ in
// nothing but where a coefficient comes from, and in which order. In the end there is a table that is larger than 64
// KB.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace memory_model {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr unsigned kThreads = 256;
constexpr unsigned kLanes = 32;

// ---- a polynomial -----------------------------------------------------------------------------------------------

// The Taylor polynomial of log(1 + x), as one coefficient after the other.
constexpr unsigned kCoefficients = 32;
__host__ __device__ constexpr float coefficient(unsigned k) {
    return k == 0 ? 0.0f : (k % 2 == 1 ? 1.0f : -1.0f) / static_cast<float>(k);
}

struct Coefficients {
    float of_power[kCoefficients];
};

Coefficients all_coefficients() {
    Coefficients all{};
    for (unsigned k = 0; k < kCoefficients; ++k) all.of_power[k] = coefficient(k);
    return all;
}

// In constant memory. Kernels only read it; the host writes it with cudaMemcpyToSymbol, which takes the variable itself
// and not a pointer. It lives as long as the program.
__constant__ float constant_coefficients[kCoefficients];

// The points, in all the places where a kernel looks for coefficients, and room for the values.
struct Polynomial {
    std::size_t count;
    std::vector<float> x;
    DeviceBuffer<float> d_x, d_y, d_coefficients;

    explicit Polynomial(const warpwise::Size& size)
        : count(size[0]), x(warpwise::uniform<float>(count, 12)), d_x(x), d_y(count), d_coefficients(kCoefficients) {
        const Coefficients all = all_coefficients();
        warpwise::check(cudaMemcpy(d_coefficients.data(), &all, sizeof all, cudaMemcpyHostToDevice));
        warpwise::check(cudaMemcpyToSymbol(constant_coefficients, &all, sizeof all));
    }

    void poison() { d_y.fill_bytes(0xFF); }

    // |x| is at most 1. A term of degree k passes through at most 2 k + 1 roundings in Horner's scheme, and through one
    // power and a product more in step 2: less than 4 * 32, each by at most half an epsilon of the term's size.
    warpwise::Comparison compare() {
        const double half_epsilon = std::numeric_limits<float>::epsilon() / 2.0;
        double magnitudes = 0;
        for (unsigned k = 0; k < kCoefficients; ++k) magnitudes += std::fabs(coefficient(k));
        const auto value = [&](std::size_t i) {
            double sum = 0;
            for (unsigned k = kCoefficients; k-- > 0;) sum = sum * x[i] + coefficient(k);
            return sum;
        };
        return warpwise::compare_each(d_y.download(), count, value,
                                      {.absolute = 4 * kCoefficients * half_epsilon * magnitudes});
    }

    // A multiplication and an addition for each coefficient; x is read, y is written.
    warpwise::Work work() const {
        return {.bytes = 2.0 * sizeof(float) * count, .operations = 2.0 * kCoefficients * count};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return 2 * sizeof(float) * size[0] + sizeof(Coefficients);
    }
};

// Step 1, coefficients in global memory like any other array. All lanes ask for the same one, so that a load touches
// one sector; after the first time it is in the L1 cache.
// Slow: 32 loads a thread, each with an address, a place in the queue of the load/store units, and the L1 cache's
// latency. The work itself is 32 multiply-adds.
__global__ void coefficients_in_global(const float* x, float* y, const float* coefficients, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    const float point = x[i];
    float value = 0;
#pragma unroll
    for (unsigned k = kCoefficients; k-- > 0;) value = value * point + coefficients[k];
    y[i] = value;
}

void in_global(Polynomial& problem) {
    coefficients_in_global<<<warpwise::blocks_for(problem.count, kThreads), kThreads>>>(
        problem.d_x.data(), problem.d_y.data(), problem.d_coefficients.data(), problem.count);
    warpwise::check_launch();
}

// Step 2, coefficients in constant memory, and each lane begins with another one, so that no two of them ask for the
// same. With banks of shared memory that would be clever. (Lane s takes the coefficients s - 1 to 0 first, then 31 to
// s, and puts the two parts of the polynomial together: low(x) + x^s high(x).)
// Slow, as slow as it can be: 32 lanes, 32 addresses, 32 passes for every coefficient. Nobody would write this for a
// polynomial; but it is what happens when the index comes from the data: a table by material, by color, by class.
__global__ void coefficients_by_lane(const float* x, float* y, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    const unsigned lane = threadIdx.x % kLanes;
    const float point = x[i];
    float value = 0, low = 0, power = 1;
    for (unsigned j = 1; j <= kCoefficients; ++j) {
        const unsigned k = (lane - j) % kCoefficients;
        power *= k < lane ? point : 1.0f;
        low = k == kCoefficients - 1 ? value : low;
        value = k == kCoefficients - 1 ? 0.0f : value;
        value = value * point + constant_coefficients[k];
    }
    y[i] = low + power * value;
}

void by_lane(Polynomial& problem) {
    coefficients_by_lane<<<warpwise::blocks_for(problem.count, kThreads), kThreads>>>(
        problem.d_x.data(), problem.d_y.data(), problem.count);
    warpwise::check_launch();
}

// Step 3, all lanes ask for the same coefficient, one after the other: one pass each. Where the compiler knows the
// address, as in this unrolled loop, there is not even a load: an instruction can name a place in constant memory as
// its operand, and the multiply-add fetches its coefficient itself. Better: 32 instructions for 32 coefficients.
// Slow: one float in, one float out, and so 4 bytes under way for each thread.
__global__ void coefficients_in_turn(const float* x, float* y, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    const float point = x[i];
    float value = 0;
#pragma unroll
    for (unsigned k = kCoefficients; k-- > 0;) value = value * point + constant_coefficients[k];
    y[i] = value;
}

void in_turn(Polynomial& problem) {
    coefficients_in_turn<<<warpwise::blocks_for(problem.count, kThreads), kThreads>>>(
        problem.d_x.data(), problem.d_y.data(), problem.count);
    warpwise::check_launch();
}

// Step 4, coefficients as an argument of the kernel, by value. Arguments travel with the launch and are read from
// constant memory, too, so the machine does the same as in step 3. Better: no variable that the whole program shares,
// no copy to forget, and every launch may have coefficients of its own. There is room for 4096 bytes (32764 since
// CUDA 12.1, on sm_70 and later).
__global__ void coefficients_as_argument(const float* x, float* y, const Coefficients coefficients, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    const float point = x[i];
    float value = 0;
#pragma unroll
    for (unsigned k = kCoefficients; k-- > 0;) value = value * point + coefficients.of_power[k];
    y[i] = value;
}

void as_argument(Polynomial& problem) {
    coefficients_as_argument<<<warpwise::blocks_for(problem.count, kThreads), kThreads>>>(
        problem.d_x.data(), problem.d_y.data(), all_coefficients(), problem.count);
    warpwise::check_launch();
}

// Step 5, literals: the coefficients are part of the code, and with it in the instruction cache. An instruction holds a
// literal as easily as a place in constant memory. Nothing is read; the compiler may even use that one is 0. But they
// are fixed when the program is built.
__global__ void coefficients_as_literals(const float* x, float* y, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    const float point = x[i];
    float value = 0;
#pragma unroll
    for (unsigned k = kCoefficients; k-- > 0;) value = value * point + coefficient(k);
    y[i] = value;
}

void as_literals(Polynomial& problem) {
    coefficients_as_literals<<<warpwise::blocks_for(problem.count, kThreads), kThreads>>>(
        problem.d_x.data(), problem.d_y.data(), problem.count);
    warpwise::check_launch();
}

// Step 6, four points a thread with the coefficients of step 3. A coefficient is asked for once and used four times,
// the four chains of multiply-adds need not wait for one another, and x and y move 16 bytes at a time. Better: 16 bytes
// under way for each thread, which the memory needs more than anything else. The points after the last multiple of four
// get a thread each.
__global__ void coefficients_for_four(const float* x, float* y, std::size_t count) {
    const std::size_t thread = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    const std::size_t fours = count / 4;
    if (thread < fours) {
        const float4 point = reinterpret_cast<const float4*>(x)[thread];
        float4 value = make_float4(0, 0, 0, 0);
#pragma unroll
        for (unsigned k = kCoefficients; k-- > 0;) {
            const float c = constant_coefficients[k];
            value =
                make_float4(value.x * point.x + c, value.y * point.y + c, value.z * point.z + c, value.w * point.w + c);
        }
        reinterpret_cast<float4*>(y)[thread] = value;
        return;
    }
    const std::size_t i = 4 * fours + (thread - fours);
    if (i >= count) return;
    const float point = x[i];
    float value = 0;
#pragma unroll
    for (unsigned k = kCoefficients; k-- > 0;) value = value * point + constant_coefficients[k];
    y[i] = value;
}

void for_four(Polynomial& problem) {
    coefficients_for_four<<<warpwise::blocks_for(problem.count / 4 + problem.count % 4, kThreads), kThreads>>>(
        problem.d_x.data(), problem.d_y.data(), problem.count);
    warpwise::check_launch();
}

// What the text predicts for the reads of coefficients, for 128 points.
struct PredictedReads {
    const char* step;
    void (*run)(Polynomial&);
    double from_global;      // requests, those for x left out
    double from_constant;    // requests
    double passes_per_read;  // of constant memory
};
constexpr std::array<PredictedReads, 6> predicted_reads = {{{"coefficients_in_global", in_global, 4 * 32, 0, 0},
                                                            {"coefficients_by_lane", by_lane, 0, 4 * 32, 32},
                                                            {"coefficients_in_turn", in_turn, 0, 4 * 32, 1},
                                                            {"coefficients_as_argument", as_argument, 0, 0, 0},
                                                            {"coefficients_as_literals", as_literals, 0, 0, 0},
                                                            {"coefficients_for_four", for_four, 0, 32, 1}}};

void expect_predicted_reads(warpwise::Lesson& lesson) {
    constexpr std::size_t count = 4096;
    Polynomial problem({count});
    for (const PredictedReads& predicted : predicted_reads) {
        const auto counts = lesson.count([&] { predicted.run(problem); });
        if (!counts) continue;
        const std::string step = predicted.step;
        // x: a request of 4 bytes a lane touches 4 sectors, one of 16 bytes 16. What is left are coefficients.
        const double loads_of_x = count * sizeof(float) / 32.0;
        lesson.expect(counts->global_load.sectors - loads_of_x == predicted.from_global * count / 128,
                      step + ": as many sectors of coefficients from global memory as predicted");
        lesson.expect(counts->constant_load.requests == predicted.from_constant * count / 128,
                      step + ": as many reads of constant memory as predicted");
        lesson.expect(counts->constant_load.wavefronts_per_request() == predicted.passes_per_read,
                      step + ": each read takes as many passes as predicted");
    }
}

// ---- more than 64 KB --------------------------------------------------------------------------------------------

// The potential of m charges at n points on the line y = z = 0: the sum of q / distance. All points need all charges.
// 16 bytes a charge: 4096 of them would fill the 64 KB, which all constants that are compiled together share. 4000
// leave room for the coefficients above.
constexpr std::size_t kBatch = 4000;
__constant__ float4 charges_in_batch[kBatch];  // x, y, z, q

// Points stand on a line, 1 / 1024 apart; beyond the thousandth they begin anew at its start.
constexpr std::size_t kPlaces = 1000;
constexpr float kLineStep = 1.0f / 1024;

struct Potential {
    std::size_t points, charges;
    std::vector<float4> all;
    DeviceBuffer<float4> d_charges;
    DeviceBuffer<float> d_potential;

    Potential(std::size_t points_, std::size_t charges_)
        : points(points_), charges(charges_), all(random_charges(charges)), d_charges(all), d_potential(points) {}

    void poison() { d_potential.fill_bytes(0xFF); }

    // The reference in double precision, of every point or, where there are many, of a thousand or two spread evenly.
    // Each term is wrong by at most 8 half epsilons (the reciprocal root of a GPU has 2 units in the last place), each
    // addition by half an epsilon of the sum so far. Other points than the first have other sums: twice is allowed.
    warpwise::Comparison compare() {
        const std::vector<float> potential = d_potential.download();
        const std::size_t stride = std::max<std::size_t>(1, points / 1024);
        std::vector<float> got;
        for (std::size_t i = 0; i < points; i += stride) got.push_back(potential[i]);
        double magnitudes = 0, sum_so_far = 0, largest_sum = 0;
        for (const float4& charge : all) {
            const double term = exact_term(charge, 0);
            magnitudes += std::fabs(term);
            sum_so_far += term;
            largest_sum = std::max(largest_sum, std::fabs(sum_so_far));
        }
        const double epsilon = std::numeric_limits<float>::epsilon();
        const double absolute = 4 * epsilon * magnitudes + warpwise::sum_tolerance(charges + 1, epsilon, largest_sum);
        const auto value = [&](std::size_t i) {
            const double x = static_cast<double>(i * stride % kPlaces) * kLineStep;
            return std::accumulate(all.begin(), all.end(), 0.0,
                                   [x](double sum, const float4& charge) { return sum + exact_term(charge, x); });
        };
        return warpwise::compare_each(got, got.size(), value, {.absolute = 2 * absolute});
    }

private:
    static double exact_term(const float4& charge, double x) {
        const double dx = x - charge.x, dy = charge.y, dz = charge.z;
        return charge.w / std::sqrt(dx * dx + dy * dy + dz * dz);
    }

    // At least 1 away from the line in z, so that no distance is below 1.
    static std::vector<float4> random_charges(std::size_t count) {
        const std::vector<float> values = warpwise::uniform<float>(4 * count, 13);
        std::vector<float4> charges(count);
        for (std::size_t i = 0; i < count; ++i) {
            const float* v = &values[4 * i];
            charges[i] = make_float4(v[0], v[1], v[2] + 2.0f, v[3]);
        }
        return charges;
    }
};

__device__ float place_on_line(std::size_t point) { return static_cast<float>(point % kPlaces) * kLineStep; }

__device__ float potential_of(float4 charge, float x) {
    const float dx = x - charge.x;
    return charge.w * rsqrtf(dx * dx + charge.y * charge.y + charge.z * charge.z);
}

// Step 1, charges in global memory. All lanes read the same charge, one sector, from the cache. Any number of charges.
// Slow: a load for each charge, of 16 bytes, through the load/store units.
__global__ void charges_in_global(const float4* charges, float* potential, std::size_t points, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= points) return;
    const float x = place_on_line(i);
    float sum = 0;
    for (std::size_t k = 0; k < count; ++k) sum += potential_of(charges[k], x);
    potential[i] = sum;
}

void from_global(Potential& problem) {
    charges_in_global<<<warpwise::blocks_for(problem.points, kThreads), kThreads>>>(
        problem.d_charges.data(), problem.d_potential.data(), problem.points, problem.charges);
    warpwise::check_launch();
}

// Step 2, charges in constant memory, a batch at a time: copy a batch there, let a kernel add its share to the sums,
// copy the next one. Copies and kernels are in one stream and so keep their order: a batch is not overwritten before
// the kernel that reads it has ended. The charges are on the device already, so the copy does not go through the host.
// Better, one would think: one address a warp, and reads that leave the load/store units alone. But an H200 is faster
// with step 1: there one load brings a whole charge, from a cache that is fast, too. Slow: the sums are read and
// written once a batch, which is nothing beside thousands of charges, and would be everything beside a few.
__global__ void add_charges_of_batch(float* potential, std::size_t points, unsigned count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= points) return;
    const float x = place_on_line(i);
    float sum = potential[i];
    for (unsigned k = 0; k < count; ++k) sum += potential_of(charges_in_batch[k], x);
    potential[i] = sum;
}

void in_batches(Potential& problem) {
    if (problem.points == 0) return;
    warpwise::check(cudaMemsetAsync(problem.d_potential.data(), 0, problem.d_potential.bytes()));
    for (std::size_t first = 0; first < problem.charges; first += kBatch) {
        const std::size_t count = std::min(kBatch, problem.charges - first);
        warpwise::check(cudaMemcpyToSymbolAsync(charges_in_batch, problem.d_charges.data() + first,
                                                count * sizeof(float4), 0, cudaMemcpyDeviceToDevice));
        add_charges_of_batch<<<warpwise::blocks_for(problem.points, kThreads), kThreads>>>(
            problem.d_potential.data(), problem.points, static_cast<unsigned>(count));
        warpwise::check_launch();
    }
}

struct PotentialStep {
    const char* name;
    const char* change;
    void (*run)(Potential&);
};
constexpr std::array<PotentialStep, 2> potential_steps = {
    {{"charges_in_global", "one kernel, charges in global memory", from_global},
     {"charges_in_batches", "4000 at a time in constant memory", in_batches}}};

// Both steps around the sizes of a warp, a block and a batch; then, at the main size, counted or timed.
void compute_potentials(warpwise::Lesson& lesson, std::size_t points, std::size_t charges) {
    const std::vector<std::array<std::size_t, 2>> awkward = {
        {0, 0},   {0, 5},          {5, 0},       {1, 1},          {31, 33},        {33, 31},
        {257, 9}, {7, kBatch - 1}, {33, kBatch}, {7, kBatch + 1}, {2, 2 * kBatch}, {1, 3 * kBatch + 1}};
    for (const auto& [some_points, some_charges] : awkward) {
        Potential problem(some_points, some_charges);
        for (const PotentialStep& step : potential_steps) {
            problem.poison();
            step.run(problem);
            lesson.expect(problem.compare().passed, std::string(step.name) + ": right at " +
                                                        std::to_string(some_points) + " points, " +
                                                        std::to_string(some_charges) + " charges");
        }
    }

    const bool measures = lesson.measures();
    Potential problem(points, charges);
    std::vector<std::vector<std::string>> rows;
    std::vector<warpwise::Candidate> candidates;
    for (const PotentialStep& step : potential_steps) {
        problem.poison();
        const auto counts = lesson.count([&] { step.run(problem); });
        const warpwise::Comparison comparison = problem.compare();
        lesson.expect(comparison.passed, std::string(step.name) + ": " + comparison.summary());
        rows.push_back({step.name, step.change, "-", "-", "-"});
        if (counts) {
            const warpwise::RequestCounts& constants = counts->constant_load;
            rows.back()[2] = warpwise::count_text(counts->global().requests);
            rows.back()[3] = warpwise::count_text(constants.requests);
            rows.back()[4] = constants.requests > 0 ? warpwise::ratio_text(constants.wavefronts_per_request()) : "-";
            const bool in_global = step.run == from_global;
            const double warps = std::ceil(static_cast<double>(points) / kLanes);
            const double reads = warps * static_cast<double>(charges);
            const double kernels = std::ceil(static_cast<double>(charges) / kBatch);
            lesson.expect(counts->global().requests == (in_global ? reads + warps : 2 * kernels * warps),
                          std::string(step.name) + ": as many requests to global memory as predicted");
            lesson.expect(constants.requests == (in_global ? 0 : reads) && constants.wavefronts == constants.requests,
                          std::string(step.name) + ": as many reads of constant memory as predicted, a pass each");
        }
        candidates.push_back({[&problem, run = step.run] { run(problem); }, false});
    }
    if (measures) {
        // Three differences, three squares added, a reciprocal root, a product and an addition: 10 for each pair.
        const double operations = 10.0 * static_cast<double>(points) * static_cast<double>(charges);
        const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(candidates);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i] = {rows[i][0], rows[i][1], text_of("%.0f", operations / timings[i].median * 1e-9)};
        }
    }
    std::vector<std::string> header = {"step", "what changed"};
    const std::vector<std::string> seen =
        measures ? std::vector<std::string>{"Gop/s"}
                 : std::vector<std::string>{"global requests", "constant reads", "passes a read"};
    header.insert(header.end(), seen.begin(), seen.end());
    lesson.table(std::to_string(points) + " points, " + std::to_string(charges) + " charges", header, rows);
}

}  // namespace

void constant_memory(warpwise::Lesson& lesson) {
    int constant_bytes = 0;
    warpwise::check(cudaDeviceGetAttribute(&constant_bytes, cudaDevAttrTotalConstantMemory, 0));
    lesson.expect(constant_bytes == 64 * 1024, "constant memory has 64 KB");
    lesson.text(
        R"(Constant memory is 64 KB that kernels can read and only the host can write, behind a cache of its own. It
has one talent: it gives one value to all lanes of a warp, at once and nearly for free. A table of coefficients, a
transformation, the weights of a filter: what all threads need at the same time.

What you will see: a polynomial with 32 coefficients, which come from global memory, from constant memory in two
orders, from the kernel's arguments, and from the code itself.

A warp's read of constant memory takes a pass for each different address. Predict: how many passes does a warp need
for its 32 coefficients when all lanes go through them in the same order? And when lane k begins with coefficient k?)");
    lesson.steps<Polynomial>({.gpu = {std::size_t{1} << 28},
                              .cpu = {std::size_t{1} << 14},
                              .awkward = {{0}, {1}, {2}, {3}, {31}, {32}, {33}, {127}, {255}, {257}, {1009}, {4099}}},
                             {{"coefficients_in_global", "an array in global memory", in_global},
                              {"coefficients_by_lane", "constant memory; lanes read different coefficients", by_lane},
                              {"coefficients_in_turn", "constant memory; all lanes read the same one", in_turn},
                              {"coefficients_as_argument", "a structure among the kernel's arguments", as_argument},
                              {"coefficients_as_literals", "numbers in the code", as_literals},
                              {"coefficients_for_four", "step 3, four points a thread", for_four}});
    expect_predicted_reads(lesson);
    lesson.show_recorded_steps(
        "The same steps, 268435456 points",
        {"coefficients_in_global", "coefficients_by_lane", "coefficients_in_turn", "coefficients_as_argument",
         "coefficients_as_literals", "coefficients_for_four"},
        "Gop/s", [](const warpwise::RecordedStep& step) { return warpwise::text_or_dash("%.0f", step.gop_per_s); });
    lesson.text(
        R"(In the same order: 32 reads, 32 passes. Each lane with another one: 32 reads of 32 passes, 1024. Spreading
addresses, which is what banks of shared memory want, is the worst that can be done to constant memory; there, sharing
is free.

The counters follow the source. On a GPU, steps 3, 4 and 5 are nearly the same program: a multiply-add can take one of
its operands from constant memory, where the address is known when the program is built, and kernel arguments lie in
constant memory, too. So there is no load, no register and no queue. Step 1 pays for all three, although the
coefficients are in the L1 cache after the first warp. Step 6 asks for each coefficient once for 128 points instead of
for 32, and moves x and y in pieces of 16 bytes.)");
    lesson.text(
        R"(How near do they come to a copy? On an H200 step 1 reaches 0.40 of it, steps 3 to 5 reach 0.58 to 0.60, and
step 6 0.97. One would blame the 32 multiply-adds for 8 bytes; but step 6 makes as many for each point. And 0.58 is what
a bare copy reaches with one load of 4 bytes a thread (lesson coalescing, stride 1). So steps 3 to 5 have come to the
end of what constant memory can do for them, and wait for x; what was missing is bytes under way, and step 6 has four
times as many. Step 2 waits for its passes: 2 cycles for each of the 1024, 75 times as long as step 3.)");

    lesson.text(
        R"(Now a table that does not fit. The potential at each of n points is a sum over all charges, 16 bytes each;
64 KB hold 4096. A __constant__ array that is larger is refused when the program is built ("File uses too much global
constant data"), because all constants that are compiled together share the 64 KB. So the charges are copied there
4000 at a time, with a kernel after each copy.

Predict: with 9001 charges, how many kernels are launched, and how often is each sum read and written?)");
    if (lesson.measures()) {
        compute_potentials(lesson, std::size_t{1} << 20, 40000);
    } else {
        compute_potentials(lesson, 256, 9001);
    }
    lesson.show_recorded("1048576 points, 40000 charges");
    lesson.text(
        R"(Three launches, and three times 4 bytes read and written a point, beside 9001 charges. The batch is safe
without a cudaDeviceSynchronize, because a copy to constant memory waits its turn in the stream as a kernel does. In
two streams it would not be: there is one batch only, and the second stream would overwrite it while the first one
reads.

What to put where: literals for what never changes; arguments for a few values that change from launch to launch;
constant memory for tables that all lanes walk through together; shared or global memory for tables in which each lane
looks up something else. How much constant memory helps differs from chip to chip, since the L1 cache has become fast:
measure. On an H200 the polynomial gains by it and the charges lose: 18215 Gop/s from global memory, 13370 in batches.
The ten copies and launches are not to blame: a batch is 4.2e10 operations, some 3 ms, and a copy of 64 KB is
short beside that. So the kernel is slower at reading its charges from constant memory. The main reason is that a batch
is larger than the constant cache nearest to the SM: in an experiment (docs/results/causes_h200.md) small batches were
nearly as fast as global memory. Two reasons for what remains were not separated: what a load from constant memory costs
an SM, and the 16 bytes that one load from global memory brings.

Mistakes to avoid: an index that differs from lane to lane; cudaMemcpyToSymbol with the variable's name as a string
(gone since CUDA 5); cudaMemcpy to the variable's address on the host; coefficients of the last call, because a copy
was left out; a copy in one stream and the kernel in another.

Try next: --lines shows passes a read beside the source. Then let pairs of lanes begin with the same coefficient, with
lane / 2 for lane in step 2: how many passes?

    memory_model constant_memory --lines
    memory_model constant_memory --size 1000003 --step coefficients_for_four)");
}

}  // namespace memory_model
