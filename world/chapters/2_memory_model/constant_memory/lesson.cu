// Problem: y[i] = c[0] + c[1] x[i] + ... + c[31] x[i]^31 for n floats, all with the same 32
// coefficients.
//
// Every thread needs every coefficient, at the same time as all others. Constant memory is
// made for that: 64 KiB that kernels only read, behind a small cache of its own, which
// delivers one value to all lanes of a warp at once. Lanes that ask for different addresses
// are served one address after the other. The kernels differ only in where a coefficient
// comes from, and in which order. The end of the lesson is about a table that is larger
// than 64 KiB.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "chapters/2_memory_model/constant_memory/kernels.cuh"
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

using warpwise::counted;
using warpwise::DeviceBuffer;
using warpwise::text_of;

Coefficients all_coefficients() {
    Coefficients all{};
    for (unsigned k = 0; k < kCoefficients; ++k) all.of_power[k] = coefficient(k);
    return all;
}

// The points, in all the places where a kernel looks for coefficients, and room for the
// values.
struct Polynomial {
    std::size_t count;
    std::vector<float> x;
    DeviceBuffer<float> d_x, d_y, d_coefficients;

    explicit Polynomial(const warpwise::Size& size)
        : count(size[0]),
          x(warpwise::uniform<float>(count, 12)),
          d_x(x),
          d_y(count),
          d_coefficients(kCoefficients) {
        const Coefficients all = all_coefficients();
        warpwise::check(
            cudaMemcpy(d_coefficients.data(), &all, sizeof all, cudaMemcpyHostToDevice));
        warpwise::check(cudaMemcpyToSymbol(constant_coefficients, &all, sizeof all));
    }

    void poison() { d_y.fill_bytes(0xFF); }

    // |x| is at most 1. A term of degree k passes through at most 2 k + 1 roundings in
    // Horner's scheme, and through one power and a product more in step 2: less than 4 *
    // 32, each by at most half an epsilon of the term's size.
    warpwise::Comparison compare() {
        const double half_epsilon = std::numeric_limits<float>::epsilon() / 2.0;
        double magnitudes = 0;
        for (unsigned k = 0; k < kCoefficients; ++k)
            magnitudes += std::fabs(coefficient(k));
        const auto value = [&](std::size_t i) {
            double sum = 0;
            for (unsigned k = kCoefficients; k-- > 0;) sum = sum * x[i] + coefficient(k);
            return sum;
        };
        return warpwise::compare_each(
            d_y.download(), count, value,
            {.absolute = 4 * kCoefficients * half_epsilon * magnitudes});
    }

    // A multiplication and an addition for each coefficient; x is read, y is written.
    warpwise::Work work() const {
        return {.bytes = 2.0 * sizeof(float) * count,
                .operations = 2.0 * kCoefficients * count};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return 2 * sizeof(float) * size[0] + sizeof(Coefficients);
    }
};

// The launches of the steps.
void in_global(Polynomial& problem) {
    coefficients_in_global<<<warpwise::blocks_for(problem.count, kThreads), kThreads>>>(
        problem.d_x.data(), problem.d_y.data(), problem.d_coefficients.data(),
        problem.count);
    warpwise::check_launch();
}

void by_lane(Polynomial& problem) {
    coefficients_by_lane<<<warpwise::blocks_for(problem.count, kThreads), kThreads>>>(
        problem.d_x.data(), problem.d_y.data(), problem.count);
    warpwise::check_launch();
}

void in_turn(Polynomial& problem) {
    coefficients_in_turn<<<warpwise::blocks_for(problem.count, kThreads), kThreads>>>(
        problem.d_x.data(), problem.d_y.data(), problem.count);
    warpwise::check_launch();
}

void as_argument(Polynomial& problem) {
    coefficients_as_argument<<<warpwise::blocks_for(problem.count, kThreads), kThreads>>>(
        problem.d_x.data(), problem.d_y.data(), all_coefficients(), problem.count);
    warpwise::check_launch();
}

void as_literals(Polynomial& problem) {
    coefficients_as_literals<<<warpwise::blocks_for(problem.count, kThreads), kThreads>>>(
        problem.d_x.data(), problem.d_y.data(), problem.count);
    warpwise::check_launch();
}

void for_four(Polynomial& problem) {
    coefficients_for_four<<<
        warpwise::blocks_for(problem.count / 4 + problem.count % 4, kThreads), kThreads>>>(
        problem.d_x.data(), problem.d_y.data(), problem.count);
    warpwise::check_launch();
}

// What the lesson predicts for the reads of coefficients, for 128 points.
struct PredictedReads {
    const char* step;
    void (*run)(Polynomial&);
    double from_global;      // requests, those for x left out
    double from_constant;    // requests
    double passes_per_read;  // of constant memory
};
constexpr std::array<PredictedReads, 6> predicted_reads = {
    {{"coefficients_in_global", in_global, 4 * 32, 0, 0},
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
        // x: a request of 4 bytes per lane touches 4 sectors, one of 16 bytes 16. What is
        // left are coefficients.
        const double loads_of_x = count * sizeof(float) / 32.0;
        lesson.expect(
            counts->global_load.sectors - loads_of_x == predicted.from_global * count / 128,
            step + ": as many sectors of coefficients from global memory as predicted");
        lesson.expect(
            counts->constant_load.requests == predicted.from_constant * count / 128,
            step + ": as many reads of constant memory as predicted");
        lesson.expect(
            counts->constant_load.wavefronts_per_request() == predicted.passes_per_read,
            step + ": each read takes as many wavefronts as predicted");
    }
}

struct Potential {
    std::size_t points, charges;
    std::vector<float4> all;
    DeviceBuffer<float4> d_charges;
    DeviceBuffer<float> d_potential;

    Potential(std::size_t points_, std::size_t charges_)
        : points(points_),
          charges(charges_),
          all(random_charges(charges)),
          d_charges(all),
          d_potential(points) {}

    void poison() { d_potential.fill_bytes(0xFF); }

    // The reference in double precision, of every point or, where there are many, of a
    // thousand or two spread evenly. Each term is wrong by at most 8 half epsilons (the
    // reciprocal root of a GPU has 2 units in the last place), each addition by half an
    // epsilon of the sum so far. Other points than the first have other sums: twice is
    // allowed.
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
        const double absolute = 4 * epsilon * magnitudes +
                                warpwise::sum_tolerance(charges + 1, epsilon, largest_sum);
        const auto value = [&](std::size_t i) {
            const double x = static_cast<double>(i * stride % kPlaces) * kLineStep;
            return std::accumulate(all.begin(), all.end(), 0.0,
                                   [x](double sum, const float4& charge) {
                                       return sum + exact_term(charge, x);
                                   });
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

void from_global(Potential& problem) {
    charges_in_global<<<warpwise::blocks_for(problem.points, kThreads), kThreads>>>(
        problem.d_charges.data(), problem.d_potential.data(), problem.points,
        problem.charges);
    warpwise::check_launch();
}

// Copies and kernels are in one stream and so keep their order: a batch is not overwritten
// before the kernel that reads it has ended. The charges are on the device already, so the
// copy does not go through the host.
void in_batches(Potential& problem) {
    if (problem.points == 0) return;
    warpwise::check(
        cudaMemsetAsync(problem.d_potential.data(), 0, problem.d_potential.bytes()));
    for (std::size_t first = 0; first < problem.charges; first += kBatch) {
        const std::size_t count = std::min(kBatch, problem.charges - first);
        warpwise::check(
            cudaMemcpyToSymbolAsync(charges_in_batch, problem.d_charges.data() + first,
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

// Both steps around the sizes of a warp, a block and a batch; then, at the main size,
// counted or timed.
void compute_potentials(warpwise::Lesson& lesson, std::size_t points, std::size_t charges) {
    const std::vector<std::array<std::size_t, 2>> awkward = {
        {0, 0},       {0, 5},          {5, 0},          {1, 1},
        {31, 33},     {33, 31},        {257, 9},        {7, kBatch - 1},
        {33, kBatch}, {7, kBatch + 1}, {2, 2 * kBatch}, {1, 3 * kBatch + 1}};
    for (const auto& [some_points, some_charges] : awkward) {
        Potential problem(some_points, some_charges);
        for (const PotentialStep& step : potential_steps) {
            problem.poison();
            step.run(problem);
            lesson.expect(problem.compare().passed, std::string(step.name) + ": right at " +
                                                        counted(some_points, "point") +
                                                        ", " +
                                                        counted(some_charges, "charge"));
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
        lesson.expect(comparison.passed,
                      std::string(step.name) + ": " + comparison.summary());
        rows.push_back({step.name, step.change, "-", "-", "-"});
        if (counts) {
            const warpwise::RequestCounts& constants = counts->constant_load;
            rows.back()[2] = warpwise::count_text(counts->global().requests);
            rows.back()[3] = warpwise::count_text(constants.requests);
            rows.back()[4] = constants.requests > 0
                                 ? warpwise::ratio_text(constants.wavefronts_per_request())
                                 : "-";
            const bool in_global = step.run == from_global;
            const double warps = std::ceil(static_cast<double>(points) / kLanes);
            const double reads = warps * static_cast<double>(charges);
            const double kernels = std::ceil(static_cast<double>(charges) / kBatch);
            lesson.expect(counts->global().requests ==
                              (in_global ? reads + warps : 2 * kernels * warps),
                          std::string(step.name) +
                              ": as many requests to global memory as predicted");
            lesson.expect(
                constants.requests == (in_global ? 0 : reads) &&
                    constants.wavefronts == constants.requests,
                std::string(step.name) +
                    ": as many reads of constant memory as predicted, a wavefront each");
        }
        candidates.push_back({[&problem, run = step.run] { run(problem); }, false});
    }
    if (measures) {
        // Three differences, three squares added, a reciprocal root, a product and an
        // addition: 10 for each pair.
        const double operations =
            10.0 * static_cast<double>(points) * static_cast<double>(charges);
        const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(candidates);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i] = {rows[i][0], rows[i][1],
                       text_of("%.0f", operations / timings[i].median * 1e-9)};
        }
    }
    std::vector<std::string> header = {"step", "what changed"};
    const std::vector<std::string> seen =
        measures ? std::vector<std::string>{"Gop/s"}
                 : std::vector<std::string>{"global requests", "constant reads",
                                            "wavefronts per read"};
    header.insert(header.end(), seen.begin(), seen.end());
    lesson.table({measures ? "potentials" : "counts",
                  counted(points, "point") + ", " + counted(charges, "charge")},
                 header, rows);
}

}  // namespace

void constant_memory(warpwise::Lesson& lesson) {
    int constant_bytes = 0;
    warpwise::check(
        cudaDeviceGetAttribute(&constant_bytes, cudaDevAttrTotalConstantMemory, 0));
    lesson.expect(constant_bytes == 64 * 1024, "constant memory has 64 KiB");
    lesson.question(
        R"(Constant memory is 64 KiB that kernels only read, behind a cache of its own. In
one wavefront, the cache delivers the value at a single address, to all lanes of a warp that
ask for it. Each other address takes a wavefront of its own. What is it good for, and what
is it bad for? The steps take the 32 coefficients of a polynomial from different places.)");
    lesson.predict(
        {.question = R"(Each lane of a warp reads all 32 coefficients, but every lane
begins with another one, so no two lanes read the same coefficient at the same time. How
many wavefronts do the 32 reads of the warp take together?)",
         .answer = warpwise::Number{.value = 1024, .unit = "wavefronts"},
         .because = R"(Each of the 32 reads asks for 32 addresses, and so takes 32
wavefronts, as the table counts for one read. Where all lanes go through the coefficients in
the same order, each read takes one wavefront, and all of them take 32.)"});
    lesson.predict(
        {.question = R"(In one kernel, the lanes of a warp read 32 different constants
at once. In another one, all lanes read the same constant. How many times as long does the
first kernel take on a GPU? The wavefronts tell only part of it, so a guess within a factor
of 4 is right.)",
         .answer = warpwise::Measured{.by = warpwise::TimeRatio{"coefficients_by_lane",
                                                                "coefficients_in_turn"},
                                      .unit = "times",
                                      .factor = 4},
         .because = R"(Each read takes 32 wavefronts instead of one, but on an H200 the
factor is larger than 32. So a constant that all lanes use probably costs less than a
read, because a multiply-add can take it as an operand. We did not check that.)"});
    lesson.steps<Polynomial>(
        {.gpu = {std::size_t{1} << 28},
         .cpu = {std::size_t{1} << 14},
         .awkward =
             {{0}, {1}, {2}, {3}, {31}, {32}, {33}, {127}, {255}, {257}, {1009}, {4099}}},
        {{"coefficients_in_global", "an array in global memory", in_global},
         {"coefficients_by_lane", "constant memory; lanes read different coefficients",
          by_lane},
         {"coefficients_in_turn", "constant memory; all lanes read the same one", in_turn},
         {"coefficients_as_argument", "a structure among the kernel's arguments",
          as_argument},
         {"coefficients_as_literals", "numbers in the code", as_literals},
         {"coefficients_for_four", "step 3, four points per thread", for_four}});
    expect_predicted_reads(lesson);
    lesson.conclusion(
        R"(In the same order: 32 reads of one wavefront. When each lane begins with
another coefficient: 32 reads of 32 wavefronts, 1024. Spreading addresses, which suits the
banks of shared memory, is the worst order for constant memory. On a GPU, steps 3 to 5
take nearly the same time, probably because a multiply-add can take an operand from
constant memory. What they lack is bytes in flight, and step 6 has four times as many.)");

    lesson.question(
        R"(What can be done with a table that is larger than 64 KiB? The potential at each
of n points is a sum over all charges, 16 bytes each, and 64 KiB hold 4096 of them. So
the charges are copied to constant memory 4000 at a time, with a kernel after each copy.)");
    lesson.predict(
        {.question = R"(Constant memory has room for 4000 charges at a time. With
9001 charges, how many kernels are launched?)",
         .answer = warpwise::Number{.value = 3, .unit = "launches"},
         .because = R"(Two batches of 4000, and one of 1001. Each launch reads and
writes every sum once.)"});
    if (lesson.measures()) {
        compute_potentials(lesson, std::size_t{1} << 20, 40000);
    } else {
        compute_potentials(lesson, 256, 9001);
    }
    lesson.show_recorded("potentials");
    lesson.conclusion(
        R"(Three kernels, and each sum is read and written three times, which is little
beside 9001 charges. No synchronization is needed, because copies and kernels of one
stream keep their order. But on an H200 global memory is faster, mainly because a batch
is larger than the constant cache nearest to the arithmetic units. So measure before you
move a table to constant memory.)");
}

}  // namespace memory_model
