// Problem: y = p(x) for n floats x and a polynomial p of degree d. What should be changed
// first, and what is a change worth?
//
// A program is limited by the bytes it moves or by the operations it carries out, and only
// by one of the two at a time. For each x it moves 8 bytes, whatever the degree; the number
// of operations grows with the degree, and with the clumsiness of the code. So the same
// program can be put on either side. The way to make it fast is a circle: measure, find the
// limit, change one thing, measure again.
//
// How much a change is worth depends on how much of the time it touches. With a share f of
// the work that stays as it is, or stays serial, and the rest p times as fast, the whole is
//
//     s = 1 / (f + (1 - f) / p)
//
// times as fast (G. M. Amdahl, Validity of the single processor approach to achieving large
// scale computing capabilities, AFIPS 1967), and never more than 1 / f.
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

#include "chapters/3_optimization/strategy_and_amdahl/kernels.cuh"
#include "chapters/3_optimization/strategy_and_amdahl/roofline.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"
#include "common/lesson/memory.h"
#include "common/lesson/results.h"
#include "common/lesson/roofline.h"

namespace optimization {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr unsigned kThreads = 256;  // per block
constexpr int kDegree = 16;         // of the steps

Polynomial polynomial_of(int degree) {
    const std::vector<float> random =
        warpwise::uniform<float>(static_cast<std::size_t>(degree) + 1, 41);
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

// What an H200 has, for predictions where there is none: a copy's bandwidth as it was
// measured (docs/results, 2026-11-22), and the FP32 peak from its 132 SMs x 128 units x 2 x
// 1.98 GHz.
constexpr double kH200Bandwidth = 4.25e12;
constexpr double kH200Peak = 66.9e12;

// ---- the program ------------------------------------------------------------------------

struct Values {
    std::size_t count;
    Polynomial p, p_highest_first;
    std::vector<float> x;
    DeviceBuffer<float> d_x, d_y;
    double operations_per_value = 0;  // as the step carries them out

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
        const double tolerance =
            2 * (p.degree + 1) * std::numeric_limits<float>::epsilon() / 2 * magnitudes;
        const auto expected = [&](std::size_t i) {
            double y = 0;
            for (int k = p.degree; k >= 0; --k) y = y * x[i] + p.coefficient[k];
            return y;
        };
        return warpwise::compare_each(d_y.download(), count, expected,
                                      {.absolute = tolerance});
    }

    std::vector<warpwise::Figure> figures() const {
        return {{"operations/byte", operations_per_value / (2 * sizeof(float)), ""}};
    }

    // A multiplication and an addition for each coefficient but the first.
    warpwise::Work work() const {
        const double n = static_cast<double>(count);
        return {.bytes = 2 * sizeof(float) * n, .operations = 2.0 * p.degree * n};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return 2 * sizeof(float) * size[0];
    }
};

// `values`: of a thread. `operations`: for each value.
template <auto Kernel>
void run(Values& problem, unsigned values, double operations, const Polynomial& p) {
    problem.operations_per_value = operations;
    const unsigned blocks =
        warpwise::blocks_for(warpwise::ceil_div(problem.count, values), kThreads);
    Kernel<<<blocks, kThreads>>>(problem.d_x.data(), problem.d_y.data(), problem.count, p);
    warpwise::check_launch();
}

template <auto Kernel>
void run(Values& problem, unsigned values, double operations) {
    run<Kernel>(problem, values, operations, problem.p);
}

// ---- which of the two limits ------------------------------------------------------------

// Bytes a second of a copy on the device, both directions counted.
double measured_bandwidth(const DeviceBuffer<float>& from, DeviceBuffer<float>& to) {
    const auto copy = [&] {
        warpwise::check(cudaMemcpyAsync(to.data(), from.data(), from.bytes(),
                                        cudaMemcpyDeviceToDevice));
    };
    return 2.0 * static_cast<double>(from.bytes()) /
           warpwise::measure_in_turn({{copy}}, {.seconds = 0.1})[0].median;
}

// Where times are measured 2^28 values, or as many as fit.
std::size_t values_of_sweep(const warpwise::Lesson& lesson) {
    if (!lesson.measures()) return std::size_t{1} << 12;
    return warpwise::halve_to_fit(std::size_t{1} << 28, 1024, [](std::size_t count) {
        return 2 * sizeof(float) * count;
    });
}

// The same kernel with polynomials of degree 1 to 256: the bytes stay, the operations grow.
void sweep_degrees(warpwise::Lesson& lesson) {
    const bool measures = lesson.measures();
    const std::size_t count = values_of_sweep(lesson);
    const warpwise::Record& recorded = lesson.recorded();
    double bandwidth = kH200Bandwidth, peak = kH200Peak;
    std::vector<std::string> header = {"degree", "operations/byte", "the bytes",
                                       "the operations", "limiter"};
    if (measures) {
        Values sample({count}, 1);
        bandwidth = measured_bandwidth(sample.d_x, sample.d_y);
        const warpwise::DeviceInfo device = warpwise::query_device();
        peak = 1e9 * warpwise::peak_gop_per_s(device.major, device.minor, device.processors,
                                              device.clock.value_or(0));
        header.emplace_back("measured");
    } else {
        header.emplace_back("sectors/value, counted");
        if (recorded) header.push_back(recorded.label() + ", measured");
    }

    std::vector<std::vector<std::string>> rows;
    for (int degree = 1; degree <= kLargestDegree; degree *= 2) {
        Values problem({count}, degree);
        problem.poison();
        const auto counts =
            lesson.count([&] { run<horner_float4>(problem, 4, 2.0 * degree); });
        lesson.expect(problem.compare().passed,
                      "degree " + std::to_string(degree) + ": the values are right");
        const double values = measures ? static_cast<double>(count) : 0x1p28;
        const double bytes_time = 8 * values / bandwidth;
        const double operations_time = peak > 0 ? 2.0 * degree * values / peak : 0;
        rows.push_back({std::to_string(degree), text_of("%g", degree / 4.0),
                        text_of("%.2f ms", bytes_time * 1e3),
                        text_of("%.2f ms", operations_time * 1e3),
                        bytes_time >= operations_time ? "bytes" : "operations"});
        if (measures) {
            const auto timing = warpwise::measure_in_turn(
                {{[&] { run<horner_float4>(problem, 4, 2.0 * degree); }}},
                {.seconds = 0.1});
            rows.back().push_back(text_of("%.2f ms", timing[0].median * 1e3));
            continue;
        }
        if (counts) {
            const double sectors =
                counts->global_load.sectors + counts->global_store.sectors;
            lesson.expect(
                sectors == static_cast<double>(count) / 4,
                "degree " + std::to_string(degree) + ": 8 bytes are moved for each value");
            rows.back().push_back(text_of("%g", sectors / static_cast<double>(count)));
        } else {
            rows.back().push_back("-");
        }
        if (recorded)
            rows.back().push_back(
                recorded.cell("least_times", {std::to_string(degree)}, "measured"));
    }
    const std::string how =
        measures ? "by this GPU's copy and its peak, " + std::to_string(count) + " values"
                 : std::string("on an H200, for 2^28 values, worked out");
    lesson.table({"least_times", "The least time of each " + how,
                  recorded ? "times " + recorded.where() : ""},
                 header, rows);
}

// ---- Amdahl -----------------------------------------------------------------------------

constexpr unsigned kUnits = 12800;  // of work, in all

// A part of a program: `units` of work, evenly spread over as many blocks of one warp.
struct Part {
    unsigned units;
    unsigned blocks;
};

// How long the parts take, one after the other: on a GPU seconds; on the CPU device steps
// of a warp through its code, those of all blocks divided by their number, as if each block
// had a multiprocessor of its own. 0 where nothing is measured or counted.
double duration_of(warpwise::Lesson& lesson, const std::vector<Part>& parts) {
    DeviceBuffer<float> d_out(32 * 1024);
    const auto launch = [&](const Part& part, unsigned rounds_per_unit) {
        if (part.units == 0) return;
        work<<<part.blocks, 32>>>(part.units / part.blocks, rounds_per_unit, d_out.data());
        warpwise::check_launch();
    };
    if (lesson.measures()) {
        const auto all = [&] {
            for (const Part& part : parts) launch(part, 2048);
        };
        return warpwise::measure_in_turn(
                   {{all}}, {.samples = 5, .seconds = 0.05, .flush_l2 = false})[0]
            .median;
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

// On the CPU device nothing but the loop's beginning and end is in the way of the formula.
// On a GPU launches take time.
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
            const double duration =
                duration_of(lesson, {{serial, 1}, {kUnits - serial, blocks}});
            rows.back().push_back(duration > 0 ? text_of("%.2f", alone / duration) : "-");
            if (duration == 0) continue;
            lesson.expect(agrees(alone / duration, predicted),
                          std::to_string(share) + " % serial, " +
                              warpwise::counted(blocks, "block") + ": " + found);
        }
    }
    lesson.table(
        {"amdahl", "Speed-up against the number of blocks, for three serial shares"},
        header, rows);
}

// A program of two parts on 16 blocks each: A has 20 % of the work, B has 80 %.
void show_80_20(warpwise::Lesson& lesson) {
    constexpr unsigned blocks = 16, a = kUnits / 5, b = kUnits - a;
    struct Change {
        const char* what;
        double predicted;
        unsigned a, b;  // units that are left
    };
    const std::array<Change, 5> changes = {
        {{"A 10 times as fast", 1 / (0.2 / 10 + 0.8), a / 10, b},
         {"A for nothing", 1 / 0.8, 0, b},
         {"B twice as fast", 1 / (0.2 + 0.8 / 2), a, b / 2},
         {"B twice, A 10 times as fast", 1 / (0.02 + 0.4), a / 10, b / 2},
         {"B 5 times as fast", 1 / (0.2 + 0.8 / 5), a, b / 5}}};
    const double before = duration_of(lesson, {{a, blocks}, {b, blocks}});
    std::vector<std::vector<std::string>> rows;
    for (const Change& change : changes) {
        const double after = duration_of(lesson, {{change.a, blocks}, {change.b, blocks}});
        if (after > 0)
            lesson.expect(agrees(before / after, change.predicted),
                          std::string("80/20: ") + change.what);
        rows.push_back({change.what, text_of("%.2f", change.predicted),
                        after > 0 ? text_of("%.2f", before / after) : "-"});
    }
    lesson.table({"whole_program", "The whole program, times as fast"},
                 {"change", "worked out", lesson.measures() ? "timed" : "counted"}, rows);
}

// ---- where the lessons lie --------------------------------------------------------------

// Made-up results with known answers: a step on each limit, and one without bytes.
void expect_roofline_is_right(warpwise::Lesson& lesson) {
    const std::string json = R"({
        "warpwise": 1, "date": "2000-01-01T00:00:00Z", "chapter": {"number": 1},
        "device": {"name": "made up", "kind": "cuda", "compute_capability": "9.0",
                   "processors": 1, "clock_mhz": 1000},
        "lessons": [
            {"name": "on_both_limits", "roof": {"gb_per_s": 64}, "steps": [
                {"name": "slow", "kind": "device", "bytes": 64e9, "operations": 256e9,
                 "seconds": {"median": 2}, "comparison": {"passed": true}},
                {"name": "half a percent faster", "kind": "device", "bytes": 64e9,
                 "operations": 256e9, "seconds": {"median": 0.995},
                 "comparison": {"passed": true}},
                {"name": "fast", "kind": "device", "bytes": 64e9, "operations": 256e9,
                 "seconds": {"median": 1}, "comparison": {"passed": true}},
                {"name": "wrong", "kind": "device", "bytes": 64e9, "operations": 256e9,
                 "seconds": {"median": 0.1}, "comparison": {"passed": false}}]},
            {"name": "half_of_the_copy", "roof": null, "steps": [
                {"name": "only", "kind": "device", "bytes": 32e9, "operations": 1e9,
                 "seconds": {"median": 1}, "comparison": {"passed": true}}]},
            {"name": "no_bytes", "date": "2000-01-02T00:00:00Z", "steps": [
                {"name": "never timed", "kind": "device"},
                {"name": "only", "kind": "device", "bytes": 0, "operations": 128e9,
                 "seconds": {"median": 1}, "comparison": {"passed": true}}]},
            {"name": "on_tensor_cores_too", "roof": null, "steps": [
                {"number": 1, "name": "fp32", "kind": "device", "bytes": 0,
                 "operations": 64e9, "seconds": {"median": 1},
                 "comparison": {"passed": true}},
                {"number": 1, "name": "slow on tensor cores", "kind": "device", "bytes": 0,
                 "operations": 96e9, "seconds": {"median": 1},
                 "comparison": {"passed": true}},
                {"number": 2, "name": "tensor cores", "kind": "device", "bytes": 0,
                 "operations": 999e9, "seconds": {"median": 1},
                 "comparison": {"passed": true}}]}]})";
    const std::optional<Roofline> roofline =
        roofline_of({{"made_up.json", json}, {"not_results.json", "[1, 2"}});
    const bool found = roofline && roofline->points.size() == 4;
    lesson.expect(found, "made-up results: four lessons are found");
    if (!found) return;
    lesson.expect(roofline->gop_per_s == 256 && roofline->ridge() == 4,
                  "made-up results: peak and ridge");
    lesson.expect(
        roofline->points[0].step == "fast" && roofline->share(roofline->points[0]) == 1,
        "made-up results: the fastest right step is the lesson's, the last of equals, and "
        "on the limit");
    lesson.expect(roofline->date == "2000-01-01 to 2000-01-02",
                  "made-up results: a lesson has a date of its own");
    lesson.expect(roofline->share(roofline->points[1]) == 0.5,
                  "made-up results: half of the bandwidth");
    lesson.expect(roofline->share(roofline->points[2]) == 0.5,
                  "made-up results: half of the peak");
    lesson.expect(
        roofline->points[3].step == "fp32" && roofline->on_tensor_cores.size() == 1,
        "made-up results: no step on tensor cores stands under the FP32 peak");
    const std::vector<std::string> plot = text_plot(*roofline);
    const auto no_bytes =
        std::find_if(plot.begin(), plot.end(),
                     [](const std::string& line) { return line.ends_with(" no bytes"); });
    const auto level = std::find_if(plot.begin(), plot.end(), [](const std::string& line) {
        return line.find('C') != std::string::npos;
    });
    lesson.expect(no_bytes != plot.end() && level != plot.end() &&
                      level->find('C') > level->rfind('|'),
                  "made-up results: a step without bytes stands beside the plot");
}

// "one, two, three"
std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

void show_roofline(warpwise::Lesson& lesson) {
    expect_roofline_is_right(lesson);
    const std::optional<Roofline> roofline = find_roofline();
    if (!roofline) {
        lesson.conclusion(
            R"(There are no results of a GPU here to draw it from. On a machine with one,
each of these leaves its results in build/results:

    ./warpwise --device cuda run 1
    ./warpwise --device cuda run 2)");
        return;
    }
    std::string drawing =
        "From " + joined(roofline->files) +
        ". Dots: what the memory (rising) and the arithmetic (level) allow. Letters: the "
        "best step of each lesson, side by side where they would cover each other.";
    if (!roofline->on_tensor_cores.empty()) {
        drawing +=
            " Steps on tensor cores are left out, because the FP32 peak is no limit to "
            "them: " +
            joined(roofline->on_tensor_cores) + ".";
    }
    drawing += "\n\n";
    for (const std::string& line : text_plot(*roofline)) drawing += "    " + line + "\n";
    lesson.text(drawing);
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < roofline->points.size(); ++i) {
        const RooflinePoint& point = roofline->points[i];
        const bool counted = point.operations > 0, moves = point.bytes > 0;
        rows.push_back({counted ? std::string(1, mark_of(i)) : "-", point.lesson,
                        point.step,
                        counted && moves ? text_of("%.3g", point.intensity()) : "-",
                        counted ? text_of("%.4g", point.gop_per_s()) : "-",
                        moves ? text_of("%.4g", point.gb_per_s()) : "-",
                        text_of("%.2f", roofline->share(point))});
    }
    lesson.table({"best_steps",
                  "Best steps on " + roofline->machine + ", " + roofline->date + "; copy " +
                      text_of("%.0f GB/s", roofline->gb_per_s) + ", FP32 peak " +
                      text_of("%.1f Top/s", roofline->gop_per_s * 1e-3)},
                 {"mark", "lesson", "step", "op/byte", "Gop/s", "GB/s", "of its limit"},
                 rows);
    lesson.conclusion(
        R"(Below the rising line, look at bytes: fewer of them, better requests, more in
flight. Below the level line, look at operations. Far below both, threads wait. A point
above the rising line only reads, or a cache holds part of its bytes. Operations are what
each lesson counts, so compare the steps of one lesson, not lessons with each other.
`./warpwise report` draws the picture.)");
}

}  // namespace

void strategy_and_amdahl(warpwise::Lesson& lesson) {
    lesson.question(
        R"(A kernel moves bytes and carries out operations at the same time, so the slower
of the two decides how long it takes, and work on the other one gains nothing. Here it
evaluates a polynomial: 8 bytes per value, and 2 operations per coefficient. From which
degree on do the operations decide?)");
    lesson.predict(
        {.question = R"(An H200 can carry out 15.7 operations in the time in which
it copies a byte. A value is 4 bytes read and 4 written, and degree d takes d
multiply-adds of two operations. At which degree do bytes and operations take the same
time?)",
         .answer = warpwise::Number{.value = 62.8, .factor = 1.1},
         .because = R"(2 d operations against 8 bytes: d = 15.7 * 8 / 2. Up to
there a higher degree should cost nothing.)"});
    sweep_degrees(lesson);
    lesson.conclusion(
        lesson.measures()
            ? R"(Up to the degree at which the limiter changes, a higher degree should cost
nothing, because the arithmetic is done while threads wait for memory. Beyond it the time
should double with the degree. Where the measured time is longer than both limits, the loop
has instructions that neither of them counts: each coefficient has to be fetched.)"
            : R"(The bytes are the same for every degree: a quarter of a sector per value.
By these two limits, degree 32 should cost no more than degree 4, and from degree 63 on the
operations decide. An H200 was slower than that from degree 32 on: the loop also has to
fetch each coefficient, an instruction that the peak does not count.)");

    lesson.question(
        R"(Now degree 16, written in eight ways, with one change at a time. The first way
computes each power anew, 21 operations per byte, so the operations are the limit. The next
two need 6 and 4. Then only the way to the data changes: the order of the coefficients,
values per thread, and the width of accesses.)");
    lesson.predict(
        {.question = R"(Four steps compute the same polynomial: each power anew,
power by power, by Horner's rule, and by Horner's rule for four values per thread. Which
is the fastest on a GPU?)",
         .answer = warpwise::Fastest{{"each_power_anew", "power_by_power", "horner",
                                      "horner_four_values"}},
         .because = R"(Horner's rule has the fewest operations, and four values per
thread are four independent chains of them.)"});
    constexpr double d = kDegree;
    const std::vector<warpwise::Size> awkward = {
        {0}, {1}, {2}, {3}, {4}, {5}, {31}, {32}, {33}, {1009}, {1023}, {1025}, {4099}};
    const std::vector<warpwise::Step<Values>> steps = {
        {"each_power_anew", "the formula as it stands",
         [](Values& v) { run<each_power_anew>(v, 1, d * (d + 1) / 2 + 2 * (d + 1)); }},
        {"power_by_power", "x^k from x^(k-1)",
         [](Values& v) { run<power_by_power>(v, 1, 3 * (d + 1)); }},
        {"horner_highest_first", "a multiply-add for each coefficient",
         [](Values& v) { run<horner_highest_first>(v, 1, 2 * d, v.p_highest_first); }},
        {"horner", "coefficients read backwards",
         [](Values& v) { run<horner>(v, 1, 2 * d); }},
        {"horner_four_values", "four values per thread",
         [](Values& v) { run<horner_four_values>(v, 4, 2 * d); }},
        {"horner_float4", "four values in one access",
         [](Values& v) { run<horner_float4>(v, 4, 2 * d); }},
        {"even_and_odd_together", "two chains of half the length",
         [](Values& v) { run<even_and_odd_together>(v, 4, 2 * (d + 1) + 3); }},
        {"even_and_odd", "one value after the other",
         [](Values& v) { run<even_and_odd>(v, 4, 2 * (d + 1) + 3); }},
    };
    lesson.steps<Values>(
        {.gpu = {std::size_t{1} << 28}, .cpu = {std::size_t{1} << 14}, .awkward = awkward},
        steps);
    lesson.conclusion(
        lesson.measures()
            ? R"(A step that is near its limit is done, whatever else could be improved. One
that is far from it is limited by its operations, or by waiting. Steps 3 and 4 have the same
formula: if step 4 is slower, the cause is the order in which it reads the coefficients, and
no column shows that.)"
            : R"(Steps 1 to 5 make the same requests, and step 6 makes a quarter of them. On
an H200 steps 2, 3, 5, and 6 paid, and step 6 reached copy bandwidth. Steps 4, 7, and 8 cost
time. Steps 3 and 4 differ in the order of the coefficients only, so this order is why
step 4 is slower, and no column shows it.)");

    lesson.question(
        warpwise::Lesson::on_gpu()
            ? R"(Amdahl's law: a program does a share f of its work on one warp and spreads
the rest over p blocks. It is 1 / (f + (1 - f) / p) times as fast as with one block.)"
            : R"(Amdahl's law: a program does a share f of its work on one warp and spreads
the rest over p blocks. It is 1 / (f + (1 - f) / p) times as fast as with one block. The
column `counted` is no time: it counts the steps of a warp through its code, those of the
serial part and those of one parallel block.)");
    lesson.predict(
        {.question = R"(5 % of a program are serial, and the other 95 % are divided
among 128 blocks. How many times as fast does it become?)",
         .answer =
             warpwise::Number{
                 .value = 17.41,
                 .unit = "times",
                 .factor = 1.05,
                 .shown_by = warpwise::TableCell{"amdahl", {"128"}, "5 %, Amdahl"}},
         .because = R"(1 / (0.05 + 0.95 / 128). No number of blocks makes it 20
times as fast.)"});
    show_amdahl(lesson);
    lesson.conclusion(
        R"(With 5 % serial work 128 blocks make the program 17 times as fast, and no number
of blocks makes it 20 times as fast. With 20 % the limit is 5. The serial share of a GPU
program is everything that is not in kernels or not parallel in them: reading files, copies,
launches, atomics to one address.)");

    lesson.question(
        R"(The same law says where to work. Part A of a program takes 20 % of the time, and
part B takes 80 %.)");
    lesson.predict(
        {.question = R"(Part A takes 20 % of a program's time, and part B 80 %. How
many times as fast is the program when B becomes twice as fast?)",
         .answer = warpwise::Number{.value = 1.67,
                                    .unit = "times",
                                    .factor = 1.02,
                                    .shown_by = warpwise::TableCell{"whole_program",
                                                                    {"B twice as fast"},
                                                                    "worked out"}},
         .because = R"(1 / (0.2 + 0.4). Ten times as fast, A would bring only 1.22.)"});
    show_80_20(lesson);
    lesson.conclusion(
        R"(B twice as fast is worth 1.67. A ten times as fast is worth 1.22, and A could
never bring more than 1.25. But once B is done, A is a third of what is left. So measure
again after each change: shares move.)");

    lesson.question(
        R"(A roofline puts both limits into one picture: operations per byte to the right,
operations per second upward, both logarithmic. The rising line is the memory, the level
line the arithmetic. Lessons that count no bytes stand in a strip on the right. How close to
the lines are the best steps of this book?)");
    lesson.predict(
        {.question = R"(A GPU copies 4000 GB/s, and its units do 60,000 Gop/s at most. From
how many operations per byte on is a kernel limited by the operations?)",
         .answer = warpwise::Number{.value = 15, .unit = "operations per byte"},
         .because = R"(There the two lines meet: 60,000 / 4000 = 15. Kernels with fewer
operations per byte lie below the rising line.)"});
    show_roofline(lesson);
}

}  // namespace optimization
