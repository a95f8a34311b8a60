// Problem: y = p(x) for n floats x and a polynomial p of degree d. What to change first, and what is it worth?
//
// A program is limited by the bytes it moves or by the operations it carries out, and only one of the two at a time.
// For each x it moves 8 bytes, whatever the degree; the operations grow with the degree, and with the clumsiness of
// the code. So the same program can be made to stand on either side. The way to make it fast is a circle: measure,
// find the limiter, change one thing, measure again.
//
// How much a change is worth depends on how much of the time it touches. With a share f of the work that stays as it
// is, or stays serial, and the rest p times as fast, the whole is
//
//     s = 1 / (f + (1 - f) / p)
//
// times as fast (G. M. Amdahl, Validity of the single processor approach to achieving large scale computing
// capabilities, AFIPS 1967), and never more than 1 / f.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chapters/3_optimization/roofline.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"
#include "common/lesson/results.h"
#include "common/lesson/roofline.h"

namespace optimization {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr unsigned kThreads = 256;  // a block
constexpr int kDegree = 16;         // of the steps
constexpr int kLargestDegree = 256;

// Passed to kernels as an argument: all threads read the same coefficient at the same time (lesson constant_memory).
struct Polynomial {
    int degree;
    float coefficient[kLargestDegree + 1];  // of x^0, x^1 ...
};

Polynomial polynomial_of(int degree) {
    const std::vector<float> random = warpwise::uniform<float>(static_cast<std::size_t>(degree) + 1, 41);
    Polynomial p{degree, {}};
    std::copy(random.begin(), random.end(), p.coefficient);
    return p;
}

// The same polynomial with its coefficients stored the other way round, that of the highest
// power first.
Polynomial highest_first(const Polynomial& p) {
    Polynomial reversed = p;
    std::reverse(reversed.coefficient, reversed.coefficient + p.degree + 1);
    return reversed;
}

// What an H200 has, for predictions where there is none: a copy's bandwidth as it was measured (docs/results,
// 2026-11-22), and the FP32 peak from its 132 SMs x 128 lanes x 2 x 1.98 GHz.
constexpr double kH200Bandwidth = 4.25e12;
constexpr double kH200Peak = 66.9e12;

// ---- the program --------------------------------------------------------------------------------------------------

struct Values {
    std::size_t count;
    Polynomial p, p_highest_first;
    std::vector<float> x;
    DeviceBuffer<float> d_x, d_y;
    double operations_a_value = 0;  // as the step carries them out

    explicit Values(const warpwise::Size& size, int degree = kDegree)
        : count(size[0]),
          p(polynomial_of(degree)),
          p_highest_first(highest_first(p)),
          x(warpwise::uniform<float>(count, 40)),
          d_x(x),
          d_y(count) {}

    void poison() { d_y.fill_bytes(0xFF); }

    // Each of the terms goes through at most 2 (d + 1) roundings, and |x| <= 1.
    warpwise::Comparison compare() {
        double magnitudes = 0;
        for (int k = 0; k <= p.degree; ++k) magnitudes += std::fabs(p.coefficient[k]);
        const double tolerance = 2 * (p.degree + 1) * std::numeric_limits<float>::epsilon() / 2 * magnitudes;
        const auto expected = [&](std::size_t i) {
            double y = 0;
            for (int k = p.degree; k >= 0; --k) y = y * x[i] + p.coefficient[k];
            return y;
        };
        return warpwise::compare_each(d_y.download(), count, expected, {.absolute = tolerance});
    }

    std::vector<warpwise::Figure> figures() const {
        return {{"operations/byte", operations_a_value / (2 * sizeof(float)), ""}};
    }

    // A multiplication and an addition for each coefficient but the first.
    warpwise::Work work() const {
        const double n = static_cast<double>(count);
        return {.bytes = 2 * sizeof(float) * n, .operations = 2.0 * p.degree * n};
    }

    static std::size_t device_bytes(const warpwise::Size& size) { return 2 * sizeof(float) * size[0]; }
};

// Step 1, the formula as it stands: each power anew. For degree 16 that is 136 multiplications for the powers and 34
// operations more. Where the time goes: operations, 21 for each byte.
__global__ void each_power_anew(const float* x, float* y, std::size_t count, Polynomial p) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float value = x[i];
    float sum = 0;
    for (int k = 0; k <= p.degree; ++k) {
        float power = 1;
        for (int j = 0; j < k; ++j) power *= value;
        sum += p.coefficient[k] * power;
    }
    y[i] = sum;
}

// Step 2, one thing changed: x^k is x^(k-1) times x. Three operations for each coefficient, 6 for each byte.
__global__ void power_by_power(const float* x, float* y, std::size_t count, Polynomial p) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float value = x[i];
    float sum = 0, power = 1;
    for (int k = 0; k <= p.degree; ++k) {
        sum += p.coefficient[k] * power;
        power *= value;
    }
    y[i] = sum;
}

// Step 3, one thing changed: Horner's rule, p(x) = c0 + x (c1 + x (c2 ...)). It needs the
// coefficient of the highest power first, so the host has stored the coefficients in that
// order, and the kernel reads them at rising addresses, as in step 2.
// Faster because there is one fused multiply-add for each coefficient, 4 operations per
// byte. Fewer are hardly possible. Still slow, probably because a thread has 4 bytes in flight.
__global__ void horner_highest_first(const float* x, float* y, std::size_t count, Polynomial p) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float value = x[i];
    float sum = p.coefficient[0];
    for (int k = 1; k <= p.degree; ++k) sum = sum * value + p.coefficient[k];
    y[i] = sum;
}

// Step 4, one thing changed: the coefficients are stored as in steps 1 and 2, that of the
// lowest power first, so Horner's rule reads them backwards. This is how most people would
// write it.
// Slower, on an H200 by half: the formula is that of step 3, but for falling addresses nvcc
// fetches the coefficients one by one (LDC), and for rising ones two at a time for a whole
// warp (ULDC.64).
__global__ void horner(const float* x, float* y, std::size_t count, Polynomial p) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float value = x[i];
    float sum = p.coefficient[p.degree];
    for (int k = p.degree - 1; k >= 0; --k) sum = sum * value + p.coefficient[k];
    y[i] = sum;
}

// Step 5, one thing changed: four values per thread. They are 256 values apart, so that a
// load of a warp still reads 32 neighbors, 4 bytes per lane.
// Faster because one turn of the loop and one fetch of a coefficient serve four values.
// Each thread also has four loads in flight: that comes with the four values. Still slow
// because a warp makes four requests where one would do.
constexpr unsigned kValues = 4;  // of a thread

__global__ void horner_four_values(const float* x, float* y, std::size_t count, Polynomial p) {
    const std::size_t first = std::size_t{kValues} * blockIdx.x * blockDim.x + threadIdx.x;
    float value[kValues], sum[kValues];
#pragma unroll
    for (unsigned j = 0; j < kValues; ++j) {
        const std::size_t i = first + j * blockDim.x;
        value[j] = i < count ? x[i] : 0;
        sum[j] = p.coefficient[p.degree];
    }
    for (int k = p.degree - 1; k >= 0; --k) {
        const float next = p.coefficient[k];
#pragma unroll
        for (unsigned j = 0; j < kValues; ++j) sum[j] = sum[j] * value[j] + next;
    }
#pragma unroll
    for (unsigned j = 0; j < kValues; ++j) {
        const std::size_t i = first + j * blockDim.x;
        if (i < count) y[i] = sum[j];
    }
}

// Step 6, one thing changed: the four values of a thread are neighbors, and it loads and
// stores them in one access of 16 bytes.
// Faster because a warp makes a quarter of the requests, for the same bytes. On an H200 it
// takes the time of a copy, so nothing is left to gain.
__global__ void horner_float4(const float* x, float* y, std::size_t count, Polynomial p) {
    const std::size_t first = 4 * (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
    if (first + 4 <= count) {
        const float4 value = *reinterpret_cast<const float4*>(x + first);
        const float c = p.coefficient[p.degree];
        float4 sum = {c, c, c, c};
        for (int k = p.degree - 1; k >= 0; --k) {
            const float next = p.coefficient[k];
            sum.x = sum.x * value.x + next;
            sum.y = sum.y * value.y + next;
            sum.z = sum.z * value.z + next;
            sum.w = sum.w * value.w + next;
        }
        *reinterpret_cast<float4*>(y + first) = sum;
    } else {
        for (std::size_t i = first; i < count; ++i) {
            float sum = p.coefficient[p.degree];
            for (int k = p.degree - 1; k >= 0; --k) sum = sum * x[i] + p.coefficient[k];
            y[i] = sum;
        }
    }
}

// Step 7, one thing changed: even and odd powers apart, p = even(x^2) + x odd(x^2). So
// there are two chains of half the length for each value, and the four values still share
// each fetch of a coefficient.
// This is a good move where a thread waits for its own last result. Here it gains nothing, and
// costs 8 % on an H200: each thread has four independent chains, and the bytes are the limit.
__global__ void even_and_odd_together(const float* x, float* y, std::size_t count, Polynomial p) {
    const std::size_t first = 4 * (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
    if (first + 4 <= count) {
        const float4 value = *reinterpret_cast<const float4*>(x + first);
        const float4 square = {value.x * value.x, value.y * value.y, value.z * value.z, value.w * value.w};
        float4 even = {0, 0, 0, 0}, odd = {0, 0, 0, 0};
        for (int k = p.degree / 2; k >= 0; --k) {
            const float next = p.coefficient[2 * k];
            even.x = even.x * square.x + next;
            even.y = even.y * square.y + next;
            even.z = even.z * square.z + next;
            even.w = even.w * square.w + next;
            if (2 * k + 1 > p.degree) continue;
            const float next_odd = p.coefficient[2 * k + 1];
            odd.x = odd.x * square.x + next_odd;
            odd.y = odd.y * square.y + next_odd;
            odd.z = odd.z * square.z + next_odd;
            odd.w = odd.w * square.w + next_odd;
        }
        *reinterpret_cast<float4*>(y + first) = {odd.x * value.x + even.x, odd.y * value.y + even.y,
                                                 odd.z * value.z + even.z, odd.w * value.w + even.w};
    } else {
        for (std::size_t i = first; i < count; ++i) {
            const float square = x[i] * x[i];
            float even = 0, odd = 0;
            for (int k = p.degree / 2; k >= 0; --k) {
                even = even * square + p.coefficient[2 * k];
                if (2 * k + 1 <= p.degree) odd = odd * square + p.coefficient[2 * k + 1];
            }
            y[i] = odd * x[i] + even;
        }
    }
}

// Step 8, one thing changed: the formula is a function of one value, which is called four
// times. It is shorter to read, and slower: the compiler works out the four values one
// after the other and fetches each coefficient four times, once for each value.
__global__ void even_and_odd(const float* x, float* y, std::size_t count, Polynomial p) {
    const std::size_t first = 4 * (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
    const auto at = [&p](float value) {
        const float square = value * value;
        float even = 0, odd = 0;
        for (int k = p.degree / 2; k >= 0; --k) {
            even = even * square + p.coefficient[2 * k];
            if (2 * k + 1 <= p.degree) odd = odd * square + p.coefficient[2 * k + 1];
        }
        return odd * value + even;
    };
    if (first + 4 <= count) {
        float4 value = *reinterpret_cast<const float4*>(x + first);
        value = float4{at(value.x), at(value.y), at(value.z), at(value.w)};
        *reinterpret_cast<float4*>(y + first) = value;
    } else {
        for (std::size_t i = first; i < count; ++i) y[i] = at(x[i]);
    }
}

// `values`: of a thread. `operations`: for each value.
template <auto Kernel>
void run(Values& problem, unsigned values, double operations, const Polynomial& p) {
    problem.operations_a_value = operations;
    const unsigned blocks = warpwise::blocks_for(warpwise::ceil_div(problem.count, values), kThreads);
    Kernel<<<blocks, kThreads>>>(problem.d_x.data(), problem.d_y.data(), problem.count, p);
    warpwise::check_launch();
}

template <auto Kernel>
void run(Values& problem, unsigned values, double operations) {
    run<Kernel>(problem, values, operations, problem.p);
}

// ---- which of the two limits --------------------------------------------------------------------------------------

// Bytes a second of a copy on the device, both directions counted.
double measured_bandwidth(const DeviceBuffer<float>& from, DeviceBuffer<float>& to) {
    const auto copy = [&] {
        warpwise::check(cudaMemcpyAsync(to.data(), from.data(), from.bytes(), cudaMemcpyDeviceToDevice));
    };
    return 2.0 * static_cast<double>(from.bytes()) / warpwise::measure_in_turn({{copy}}, {.seconds = 0.1})[0].median;
}

// Where times are measured 2^28 values, or as many as fit.
std::size_t values_of_sweep(const warpwise::Lesson& lesson) {
    if (!lesson.measures()) return std::size_t{1} << 12;
    std::size_t free_bytes = 0, all_bytes = 0;
    warpwise::check(cudaMemGetInfo(&free_bytes, &all_bytes));
    std::size_t count = std::size_t{1} << 28;
    while (count > 1024 && 2 * sizeof(float) * count > free_bytes / 2) count /= 2;
    return count;
}

// The same kernel with polynomials of degree 1 to 256: the bytes stay, the operations grow.
void sweep_degrees(warpwise::Lesson& lesson) {
    const bool measures = lesson.measures();
    const std::size_t count = values_of_sweep(lesson);
    const std::string title = "The least time of each ";
    const warpwise::Record& recorded = lesson.recorded();
    double bandwidth = kH200Bandwidth, peak = kH200Peak;
    std::vector<std::string> header = {"degree", "operations/byte", "the bytes", "the operations", "limiter"};
    if (measures) {
        Values sample({count}, 1);
        bandwidth = measured_bandwidth(sample.d_x, sample.d_y);
        const warpwise::DeviceInfo device = warpwise::query_device();
        peak = 1e9 * warpwise::peak_gop_per_s(device.major, device.minor, device.processors, device.clock.value_or(0));
        header.emplace_back("measured");
    } else {
        header.emplace_back("sectors/value, counted");
        if (recorded) header.emplace_back("measured on an H200");
    }

    std::vector<std::vector<std::string>> rows;
    for (int degree = 1; degree <= kLargestDegree; degree *= 2) {
        Values problem({count}, degree);
        problem.poison();
        const auto counts = lesson.count([&] { run<horner_float4>(problem, 4, 2.0 * degree); });
        lesson.expect(problem.compare().passed, "degree " + std::to_string(degree) + ": the values are right");
        const double values = measures ? static_cast<double>(count) : 0x1p28;
        const double bytes_time = 8 * values / bandwidth;
        const double operations_time = peak > 0 ? 2.0 * degree * values / peak : 0;
        rows.push_back({std::to_string(degree), text_of("%g", degree / 4.0), text_of("%.2f ms", bytes_time * 1e3),
                        text_of("%.2f ms", operations_time * 1e3),
                        bytes_time >= operations_time ? "bytes" : "operations"});
        if (measures) {
            const auto timing =
                warpwise::measure_in_turn({{[&] { run<horner_float4>(problem, 4, 2.0 * degree); }}}, {.seconds = 0.1});
            rows.back().push_back(text_of("%.2f ms", timing[0].median * 1e3));
            continue;
        }
        if (counts) {
            const double sectors = counts->global_load.sectors + counts->global_store.sectors;
            lesson.expect(sectors == static_cast<double>(count) / 4,
                          "degree " + std::to_string(degree) + ": 8 bytes are moved for each value");
            rows.back().push_back(text_of("%g", sectors / static_cast<double>(count)));
        } else {
            rows.back().push_back("-");
        }
        if (recorded) rows.back().push_back(recorded.cell(title + "by", {std::to_string(degree)}, "measured"));
    }
    const std::string how = measures ? "by this GPU's copy and its peak, " + std::to_string(count) + " values"
                                     : std::string("on an H200, for 2^28 values, worked out");
    lesson.table(title + how + (recorded ? "; times " + recorded.where() : ""), header, rows);
}

// ---- Amdahl -------------------------------------------------------------------------------------------------------

constexpr unsigned kUnits = 12800;  // of work, in all

// Work that depends on nothing but its own last result: each warp does `units` of it.
__global__ void work(unsigned units, unsigned rounds_a_unit, float* out) {
    float value = static_cast<float>(threadIdx.x);
    for (unsigned round = 0; round < units * rounds_a_unit; ++round) value = value * 0.5f + 1;
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

// A part of a program: `units` of work, evenly spread over as many blocks of one warp.
struct Part {
    unsigned units;
    unsigned blocks;
};

// How long the parts take, one after the other: on a GPU seconds; on the CPU device steps of a warp through its code,
// those of all blocks divided by their number, as if each block had a multiprocessor of its own. 0 where nothing is
// measured or counted.
double duration_of(warpwise::Lesson& lesson, const std::vector<Part>& parts) {
    DeviceBuffer<float> d_out(32 * 1024);
    const auto launch = [&](const Part& part, unsigned rounds_a_unit) {
        if (part.units == 0) return;
        work<<<part.blocks, 32>>>(part.units / part.blocks, rounds_a_unit, d_out.data());
        warpwise::check_launch();
    };
    if (lesson.measures()) {
        const auto all = [&] {
            for (const Part& part : parts) launch(part, 2048);
        };
        return warpwise::measure_in_turn({{all}}, {.samples = 5, .seconds = 0.05, .flush_l2 = false})[0].median;
    }
    double steps = 0;
    for (const Part& part : parts) {
        const auto counts = lesson.count([&] { launch(part, 2); });
        if (!counts) return 0;
        steps += counts->steps / part.blocks;
    }
    return steps;
}

double amdahl(double serial_share, double speed_up_of_the_rest) {
    return 1 / (serial_share + (1 - serial_share) / speed_up_of_the_rest);
}

// On the CPU device nothing but the loop's beginning and end is in the way of the formula. On a GPU launches take
// time.
bool agrees(double measured, double predicted) {
    return std::fabs(measured / predicted - 1) <= (warpwise::Lesson::on_gpu() ? 0.2 : 0.02);
}

void show_amdahl(warpwise::Lesson& lesson) {
    const double alone = duration_of(lesson, {{kUnits, 1}});
    const std::string found = lesson.measures() ? "timed" : "counted";
    std::vector<std::string> header = {"blocks"};
    const std::array<unsigned, 3> shares = {0, 5, 20};  // in percent
    for (const unsigned share : shares) {
        header.push_back(std::to_string(share) + " %, Amdahl");
        header.push_back(found);
    }
    std::vector<std::vector<std::string>> rows;
    for (const unsigned blocks : {1, 2, 8, 32, 128}) {
        rows.push_back({std::to_string(blocks)});
        for (const unsigned share : shares) {
            const unsigned serial = kUnits * share / 100;
            const double predicted = amdahl(share / 100.0, blocks);
            rows.back().push_back(text_of("%.2f", predicted));
            const double duration = duration_of(lesson, {{serial, 1}, {kUnits - serial, blocks}});
            rows.back().push_back(duration > 0 ? text_of("%.2f", alone / duration) : "-");
            if (duration == 0) continue;
            lesson.expect(agrees(alone / duration, predicted),
                          std::to_string(share) + " % serial, " + std::to_string(blocks) + " blocks: " + found);
        }
    }
    lesson.table("Speed-up against the number of blocks, for three serial shares", header, rows);
}

// A program of two parts on 16 blocks each: A has 20 % of the work, B has 80 %.
void show_80_20(warpwise::Lesson& lesson) {
    constexpr unsigned blocks = 16, a = kUnits / 5, b = kUnits - a;
    struct Change {
        const char* what;
        double predicted;
        unsigned a, b;  // units that are left
    };
    const std::array<Change, 5> changes = {{{"A 10 times as fast", 1 / (0.2 / 10 + 0.8), a / 10, b},
                                            {"A for nothing", 1 / 0.8, 0, b},
                                            {"B twice as fast", 1 / (0.2 + 0.8 / 2), a, b / 2},
                                            {"B twice, A 10 times as fast", 1 / (0.02 + 0.4), a / 10, b / 2},
                                            {"B 5 times as fast", 1 / (0.2 + 0.8 / 5), a, b / 5}}};
    const double before = duration_of(lesson, {{a, blocks}, {b, blocks}});
    std::vector<std::vector<std::string>> rows;
    for (const Change& change : changes) {
        const double after = duration_of(lesson, {{change.a, blocks}, {change.b, blocks}});
        if (after > 0) lesson.expect(agrees(before / after, change.predicted), std::string("80/20: ") + change.what);
        rows.push_back(
            {change.what, text_of("%.2f", change.predicted), after > 0 ? text_of("%.2f", before / after) : "-"});
    }
    lesson.table("The whole program, times as fast", {"change", "worked out", lesson.measures() ? "timed" : "counted"},
                 rows);
}

// ---- where the lessons lie ----------------------------------------------------------------------------------------

// Made-up results with known answers: a step on each limit, and one without bytes.
void expect_roofline_is_right(warpwise::Lesson& lesson) {
    const std::string json = R"({"warpwise": 1, "date": "2000-01-01T00:00:00Z", "chapter": {"number": 1},
        "device": {"name": "made up", "kind": "cuda", "compute_capability": "9.0", "processors": 1, "clock_mhz": 1000},
        "lessons": [{"name": "on_both_limits", "roof": {"gb_per_s": 64}, "steps": [
            {"name": "slow", "kind": "device", "bytes": 64e9, "operations": 256e9, "seconds": {"median": 2},
             "check": {"passed": true}},
            {"name": "half a percent faster", "kind": "device", "bytes": 64e9, "operations": 256e9,
             "seconds": {"median": 0.995}, "check": {"passed": true}},
            {"name": "fast", "kind": "device", "bytes": 64e9, "operations": 256e9, "seconds": {"median": 1},
             "check": {"passed": true}},
            {"name": "wrong", "kind": "device", "bytes": 64e9, "operations": 256e9, "seconds": {"median": 0.1},
             "check": {"passed": false}}]},
        {"name": "half_of_the_copy", "roof": null, "steps": [
            {"name": "only", "kind": "device", "bytes": 32e9, "operations": 1e9, "seconds": {"median": 1},
             "check": {"passed": true}}]},
        {"name": "no_bytes", "date": "2000-01-02T00:00:00Z", "steps": [{"name": "never timed", "kind": "device"},
            {"name": "only", "kind": "device", "bytes": 0, "operations": 128e9, "seconds": {"median": 1},
             "check": {"passed": true}}]},
        {"name": "on_tensor_cores_too", "roof": null, "steps": [
            {"number": 1, "name": "fp32", "kind": "device", "bytes": 0, "operations": 64e9, "seconds": {"median": 1},
             "check": {"passed": true}},
            {"number": 1, "name": "slow on tensor cores", "kind": "device", "bytes": 0, "operations": 96e9,
             "seconds": {"median": 1}, "check": {"passed": true}},
            {"number": 2, "name": "tensor cores", "kind": "device", "bytes": 0, "operations": 999e9,
             "seconds": {"median": 1}, "check": {"passed": true}}]}]})";
    const std::optional<Roofline> roofline = roofline_of({{"made_up.json", json}, {"not_results.json", "[1, 2"}});
    const bool found = roofline && roofline->points.size() == 4;
    lesson.expect(found, "made-up results: four lessons are found");
    if (!found) return;
    lesson.expect(roofline->gop_per_s == 256 && roofline->ridge() == 4, "made-up results: peak and ridge");
    lesson.expect(roofline->points[0].step == "fast" && roofline->share(roofline->points[0]) == 1,
                  "made-up results: the fastest right step is the lesson's, the last of equals, and on the roof");
    lesson.expect(roofline->date == "2000-01-01 to 2000-01-02", "made-up results: a lesson has a date of its own");
    lesson.expect(roofline->share(roofline->points[1]) == 0.5, "made-up results: half of the bandwidth");
    lesson.expect(roofline->share(roofline->points[2]) == 0.5, "made-up results: half of the peak");
    lesson.expect(roofline->points[3].step == "fp32" && roofline->on_tensor_cores.size() == 1,
                  "made-up results: no step on tensor cores stands under the FP32 peak");
    const std::vector<std::string> plot = text_plot(*roofline);
    const auto no_bytes =
        std::find_if(plot.begin(), plot.end(), [](const std::string& line) { return line.ends_with(" no bytes"); });
    const auto level = std::find_if(plot.begin(), plot.end(),
                                    [](const std::string& line) { return line.find('C') != std::string::npos; });
    lesson.expect(no_bytes != plot.end() && level != plot.end() && level->find('C') > level->rfind('|'),
                  "made-up results: a step without bytes stands beside the plot");
}

void show_roofline(warpwise::Lesson& lesson) {
    expect_roofline_is_right(lesson);
    const std::optional<Roofline> roofline = find_roofline();
    if (!roofline) {
        lesson.text(
            R"(There are no results of a GPU here to draw it from. On a machine with one, each of these leaves its
results in build/results:

    ./warpwise --device cuda run 1
    ./warpwise --device cuda run 2)");
        return;
    }
    std::string plot =
        "Upward operations per second, to the right operations per byte, both logarithmic. Dots: what the memory "
        "(rising) and the arithmetic (level) allow. Letters: the best step of each lesson, see the table; side by side "
        "where they would cover each other. Lessons that count no bytes have no place on the axis: they stand in the "
        "strip on the right.\n\n";
    for (const std::string& line : text_plot(*roofline)) plot += "    " + line + "\n";
    lesson.text(plot);
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < roofline->points.size(); ++i) {
        const RooflinePoint& point = roofline->points[i];
        const bool counted = point.operations > 0, moves = point.bytes > 0;
        rows.push_back({counted ? std::string(1, mark_of(i)) : "-", point.lesson, point.step,
                        counted && moves ? text_of("%.3g", point.intensity()) : "-",
                        counted ? text_of("%.4g", point.gop_per_s()) : "-",
                        moves ? text_of("%.4g", point.gb_per_s()) : "-", text_of("%.2f", roofline->share(point))});
    }
    lesson.table("Best steps on " + roofline->machine + ", " + roofline->date + "; copy " +
                     text_of("%.0f GB/s", roofline->gb_per_s) + ", FP32 peak " +
                     text_of("%.1f Top/s", roofline->gop_per_s * 1e-3),
                 {"mark", "lesson", "step", "op/byte", "Gop/s", "GB/s", "of its roof"}, rows);

    std::string files;
    for (const std::string& file : roofline->files) files += (files.empty() ? "" : ", ") + file;
    std::string left_out;
    for (const std::string& name : roofline->on_tensor_cores) left_out += (left_out.empty() ? "" : ", ") + name;
    if (!left_out.empty()) {
        left_out = " Steps on tensor cores are left out, because the FP32 peak is no limit to them: " + left_out + ".";
    }
    lesson.text("From " + files + "." + left_out + R"( As a picture, after a run on a GPU:

    ./warpwise report)");
}

}  // namespace

void strategy_and_amdahl(warpwise::Lesson& lesson) {
    lesson.text(
        R"(How to make a program fast: measure, find what limits it, change one thing, measure again. There are two
limits, the bytes it moves and the operations it carries out, and the slower one is the time. Work on the other one is
lost.

The program here is a polynomial, y = p(x). For each value it moves 8 bytes and carries out 2 operations for each
coefficient. The degree decides which limit it meets.

Predict: an H200 copies 4.25e12 bytes a second and carries out 66.9e12 operations, an addition fused to a
multiplication counting as two. At which degree do both take the same time? (That is at 66.9 / 4.25 = 15.7 operations
for each byte.))");
    sweep_degrees(lesson);
    if (lesson.measures()) {
        lesson.text(
            R"(Up to the degree at which the limiter changes, a higher degree should cost nothing: the arithmetic is
done while the memory is waited for. Beyond it, the time should grow with the degree. Compare the last column with
the larger of the two before it: it is never less. It is more near the place where both limits meet, and where the
loop itself takes instructions that neither limit knows.)");
    } else {
        lesson.text(
            R"(The bytes are the same for every degree, as the counters say: a quarter of a sector for each value. Up
to degree 62 they are the limiter on an H200, and a higher degree should cost nothing; beyond, the operations are.)");
    }
    lesson.text(
        R"(On an H200 degrees 1 to 16 did take the same time. But 32 took 0.65 ms for 0.50, and from 64 on the time is
more than twice that of the operations. The loop has an instruction that the peak does not know: each coefficient has
to be fetched before four multiply-adds can use it. The time grows as if an SM needed two cycles for each fetch of a
warp, so that this loop meets its limit near degree 31, and not at 63.)");
    lesson.text(
        R"(Now the circle, for degree 16. The first version raises x to each power anew: 21
operations for each byte, on the far side of the ridge. Limiter: operations. Change the
formula, and they become 6, then 4. The limiter should be the bytes then, or rather how many
are in flight. From then on the formula stays, and the way to the data changes: the order in
which coefficients are read, how many values a thread has, and how wide its accesses are.
Then one change too many: shorter chains of operations, when nobody waits for operations any
more. And last the same, as a function that is called for each value. Predict which of the
seven changes pay, and which cost.)");
    constexpr double d = kDegree;
    lesson.steps<Values>(
        {.gpu = {std::size_t{1} << 28},
         .cpu = {std::size_t{1} << 14},
         .awkward = {{0}, {1}, {2}, {3}, {4}, {5}, {31}, {32}, {33}, {1009}, {1023}, {1025}, {4099}}},
        {{"each_power_anew", "the formula as it stands",
          [](Values& v) { run<each_power_anew>(v, 1, d * (d + 1) / 2 + 2 * (d + 1)); }},
         {"power_by_power", "x^k from x^(k-1)", [](Values& v) { run<power_by_power>(v, 1, 3 * (d + 1)); }},
         {"horner_highest_first", "a multiply-add for each coefficient",
          [](Values& v) { run<horner_highest_first>(v, 1, 2 * d, v.p_highest_first); }},
         {"horner", "coefficients read backwards", [](Values& v) { run<horner>(v, 1, 2 * d); }},
         {"horner_four_values", "four values per thread", [](Values& v) { run<horner_four_values>(v, 4, 2 * d); }},
         {"horner_float4", "four values in one access", [](Values& v) { run<horner_float4>(v, 4, 2 * d); }},
         {"even_and_odd_together", "two chains of half the length",
          [](Values& v) { run<even_and_odd_together>(v, 4, 2 * (d + 1) + 3); }},
         {"even_and_odd", "one value after the other", [](Values& v) { run<even_and_odd>(v, 4, 2 * (d + 1) + 3); }}});
    lesson.text(
        lesson.measures()
            ? R"(GB/s against the roof says how far it is to the limit of the bytes. A step that is near it is done,
whatever else could be improved. One that is far from it is limited by its operations, or by waiting: too few bytes
under way.)"
            : R"(No times here. What the counters show is that steps 1 to 5 make the same
requests for each value, and that steps 6 to 8 make a quarter of them. So steps 2 and 3
should pay until the bytes are the limiter, steps 5 and 6 should bring the program to the
roof, and step 7 should bring nothing.)");
    lesson.text(
        R"(On an H200 step 2 took 1.11 ms after 5.94 ms, step 5 took 552 us, and step 6 took
515 us, which is the roof. Step 7 was to bring nothing, and cost 8 %. Step 4 took 1.44 ms,
longer than step 2, with fewer operations. No column shows why. But step 3 has the formula
of step 4 and the order of step 2, and took 929 us: so the order of the coefficients is the
cause. In rising order nvcc 13.0 fetches two at a time for a whole warp, in falling order
one for each multiply-add. Steps 5 to 7 use each fetch four times. Step 8 works the four
values out one after the other and fetches everything four times, which is probably why it
took 1.35 ms.)");

    lesson.text(
        R"(Amdahl's law. A program does a share f of its work on a single warp, and spreads the rest over p blocks. It
is 1 / (f + (1 - f) / p) times as fast as one block alone. Predict before you look: with 5 % serial work, what do 128
blocks bring? And with 20 %?)");
    if (!warpwise::Lesson::on_gpu()) {
        lesson.text(
            R"(The column `counted` is no time. It is the number of steps of a warp through its code: those of the
serial part, and those of the parallel part divided by the number of its blocks, as if each had a multiprocessor of
its own. It shows that the law is arithmetic, and what the loop around the work adds. On a GPU it is times: those of
an H200 were within 1.5 % of the law.)");
    }
    show_amdahl(lesson);
    lesson.text(
        R"(With 5 % of serial work 128 blocks are worth 17, and no number of them is worth more than 20. With 20 % it
is 5. The serial share of a GPU program is what is not in kernels, or not in parallel in them: reading files, copies
over the bus, launches, a last block that finishes alone, an atomic that all wait for. (Larger problems often have
smaller serial shares: J. L. Gustafson, Reevaluating Amdahl's law, 1988. For a problem of fixed size Amdahl is
right.)

The same law says where to work. Many programs spend 80 % of the time in 20 % of the code. Here part A takes 20 % of
the time, part B takes 80 %. Predict: which is worth more, A ten times as fast, or B twice as fast?)");
    show_80_20(lesson);
    lesson.text(
        R"(Ten times on the 20 % is 1.22, and even infinitely fast it is 1.25. Twice on the 80 % is 1.67. After that,
A is a third of what is left, and worth a look. So measure again after each change: shares move.

A roofline puts both limits into one picture (S. Williams, A. Waterman, D. Patterson, Roofline, CACM 2009). A program
with few operations for each byte can be no higher than the rising line, the memory's; one with many no higher than
the level one. Where do this book's lessons stand?)");
    show_roofline(lesson);
    lesson.text(
        R"(How to read it: below the rising roof, look at bytes: fewer of them, better requests, more under way.
Below the level one, look at operations: fewer, cheaper, all lanes busy. Far below both, threads wait: for a result
of their own, for each other, for a turn at an atomic. A point above the rising roof is no record: a step that only
reads is faster than a copy, and a cache may hold what is counted as moved.

Operations are what each lesson counts: multiplications here, increments of a histogram there. So compare steps of one
lesson, not one lesson with another.

Mistakes to avoid: improving what is easy to improve instead of what takes the time; changing two things at once;
believing a change without measuring; a peak from the datasheet where a measured roof is to be had.

Try next: set kDegree to 100, and predict which of the seven changes pay now. Then let the
roofline take your own results, or those of another folder:

    optimization strategy_and_amdahl --lines --step horner
    WARPWISE_RESULTS=docs/results optimization strategy_and_amdahl)");
}

}  // namespace optimization
