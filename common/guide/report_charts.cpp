#include "common/guide/report_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "common/helpers/counts.h"
#include "common/lesson/terminal.h"

namespace guide {
namespace {

using warpwise::Counts;
using warpwise::DeviceInfo;
using warpwise::LessonResult;
using warpwise::RequestCounts;
using warpwise::StepKind;
using warpwise::StepResult;
using warpwise::three_digits;

std::string name_of(const StepResult& step) {
    return step.number ? fmt::format("{} {}", *step.number, step.name) : step.name;
}

std::string label_of(const StepResult& step) {
    std::string label = name_of(step);
    if (step.kind == StepKind::host) label += " (host)";
    if (step.kind == StepKind::vendor && step.name != "vendor") label += " (vendor)";
    return is_right(step) ? label : label + " WRONG";
}

BarKind kind_of(const StepResult& step) {
    if (!is_right(step)) return BarKind::wrong;
    switch (step.kind) {
        case StepKind::host:
            return BarKind::host;
        case StepKind::vendor:
            return BarKind::vendor;
        case StepKind::device:
            break;
    }
    return BarKind::device;
}

/// A power of 1000 with its prefix, so that the largest value has one to three digits before its point.
struct Scale {
    double factor = 1;
    const char* prefix = "";
};
Scale scale_for(double largest) {
    constexpr std::array<Scale, 5> scales = {{{1e-12, "T"}, {1e-9, "G"}, {1e-6, "M"}, {1e-3, "k"}, {1, ""}}};
    for (const Scale& scale : scales) {
        if (largest * scale.factor >= 0.9995) return scale;
    }
    return {};
}

std::string described(const BarChart& chart) {
    std::vector<std::string> parts;
    for (const Bar& bar : chart.bars) parts.push_back(bar.label + ": " + bar.value_text);
    for (const Mark& mark : chart.marks) parts.push_back(mark.label);
    return fmt::format("{}.", fmt::join(parts, "; "));
}

/// One value for each step, absent where it has none.
using ValueOf = std::function<std::optional<double>(const StepResult&)>;

struct Measured {
    const StepResult* step = nullptr;
    double value = 0;
};

std::vector<Measured> values_of(const LessonResult& lesson, const ValueOf& value_of) {
    std::vector<Measured> values;
    for (const StepResult& step : lesson.steps) {
        const std::optional<double> value = value_of(step);
        if (value && std::isfinite(*value) && *value >= 0) values.push_back({&step, *value});
    }
    return values;
}

const Measured& smallest(const std::vector<Measured>& values) {
    return *std::min_element(values.begin(), values.end(),
                             [](const Measured& a, const Measured& b) { return a.value < b.value; });
}
const Measured& largest(const std::vector<Measured>& values) {
    return *std::max_element(values.begin(), values.end(),
                             [](const Measured& a, const Measured& b) { return a.value < b.value; });
}

/// Those steps of the lesson's own that gave right values: a wrong step has no rank.
std::vector<Measured> ranked(const std::vector<Measured>& values) {
    std::vector<Measured> own;
    std::copy_if(values.begin(), values.end(), std::back_inserter(own), [](const Measured& measured) {
        return measured.step->kind != StepKind::vendor && is_right(*measured.step);
    });
    return own;
}

// ---- on a GPU -------------------------------------------------------------------------------------------------------

/// Of the fastest vendor routine.
std::optional<double> vendor_value(const std::vector<Measured>& values, bool more_is_better) {
    std::optional<double> best;
    for (const Measured& measured : values) {
        if (measured.step->kind != StepKind::vendor) continue;
        if (!best || (measured.value > *best) == more_is_better) best = measured.value;
    }
    return best;
}

Chart rate_chart(const LessonResult& lesson, const std::vector<Measured>& values, const char* quantity,
                 const char* unit, bool has_roof) {
    BarChart chart;
    chart.title = fmt::format("{} of the steps of {}", quantity, lesson.name);
    chart.axis = unit;
    for (const Measured& measured : values) {
        chart.bars.push_back({label_of(*measured.step), three_digits(measured.value) + " " + unit, measured.value,
                              kind_of(*measured.step)});
    }
    const bool roof = has_roof && lesson.roof && lesson.roof->gb_per_s > 0;
    const std::optional<double> vendor = vendor_value(values, true);
    if (roof) {
        chart.marks.push_back({fmt::format("{}: {} {}", lesson.roof->name, three_digits(lesson.roof->gb_per_s), unit),
                               lesson.roof->gb_per_s});
    }
    if (vendor) chart.marks.push_back({fmt::format("vendor: {} {}", three_digits(*vendor), unit), *vendor, false});
    chart.description = described(chart);

    std::string caption = fmt::format("{} of each step; longer is better.", quantity);
    if (const std::vector<Measured> own = ranked(values); !own.empty()) {
        const Measured& best = largest(own);
        caption += fmt::format(" {} is the fastest with {} {}", best.step->name, three_digits(best.value), unit);
        if (roof) {
            caption += fmt::format(", {:.2f} of the roof (a device-to-device copy: {} {})",
                                   best.value / lesson.roof->gb_per_s, three_digits(lesson.roof->gb_per_s), unit);
        }
        if (vendor)
            caption += fmt::format("{} {:.2f} of the vendor's routine", roof ? " and" : ",", best.value / *vendor);
        caption += ".";
        if (own.size() > 1 && smallest(own).value < best.value) {
            const Measured& worst = smallest(own);
            caption += fmt::format(" {} is the slowest with {} {}.", worst.step->name, three_digits(worst.value), unit);
        }
    }
    return {chart, caption};
}

Chart time_chart(const LessonResult& lesson, const std::vector<Measured>& values) {
    BarChart chart;
    chart.title = "Time of the steps of " + lesson.name;
    const double longest = largest(values).value;
    const double factor = longest >= 1 ? 1 : longest >= 1e-3 ? 1e3 : 1e6;
    chart.axis = longest >= 1 ? "s" : longest >= 1e-3 ? "ms" : "us";
    for (const Measured& measured : values) {
        chart.bars.push_back({label_of(*measured.step), warpwise::time_text(measured.value), measured.value * factor,
                              kind_of(*measured.step)});
    }
    if (const std::optional<double> vendor = vendor_value(values, false)) {
        chart.marks.push_back({"vendor: " + warpwise::time_text(*vendor), *vendor * factor, false});
    }
    chart.description = described(chart);
    std::string caption = "Time of each step; shorter is better.";
    if (const std::vector<Measured> own = ranked(values); own.size() > 1 && smallest(own).value > 0) {
        caption += fmt::format(" {} is the fastest with {}, {} times as fast as {}.", smallest(own).step->name,
                               warpwise::time_text(smallest(own).value),
                               three_digits(largest(own).value / smallest(own).value), largest(own).step->name);
    }
    return {chart, caption};
}

std::vector<Chart> charts_on_gpu(const LessonResult& lesson) {
    if (const auto rates = values_of(lesson, [](const StepResult& step) { return step.gb_per_s; }); !rates.empty()) {
        return {rate_chart(lesson, rates, "Bandwidth", "GB/s", true)};
    }
    if (const auto rates = values_of(lesson, [](const StepResult& step) { return step.gop_per_s; }); !rates.empty()) {
        return {rate_chart(lesson, rates, "Operations a second", "Gop/s", false)};
    }
    const auto times = values_of(lesson, [](const StepResult& step) -> std::optional<double> {
        if (!step.timing) return std::nullopt;
        return step.timing->median;
    });
    if (times.empty()) return {};
    return {time_chart(lesson, times)};
}

// ---- on the CPU device ----------------------------------------------------------------------------------------------

std::optional<Counts> counts_of(const StepResult& step) {
    if (!step.launches || step.launches->empty()) return std::nullopt;
    return warpwise::sum_of(*step.launches);
}

RequestCounts loads_and_stores(const Counts& counts) {
    RequestCounts sum = counts.global_load;
    return sum += counts.global_store;
}

/// A counter that may be worth a plot.
struct Counter {
    const char* quantity;  ///< begins a sentence
    const char* axis;
    const char* explanation;
    bool less_is_better;
    double (*value)(const Counts&);
    std::string (*text)(double);
};

std::string lanes_text(double lanes) { return fmt::format("{:.1f}", lanes); }

constexpr std::array<Counter, 7> counters = {{
    {"Bytes moved", "B moved by global loads and stores",
     "32 for each sector that a warp's global loads and stores touch", true,
     [](const Counts& counts) { return loads_and_stores(counts).bytes_moved(); }, warpwise::bytes_moved_text},
    {"Bank conflicts", "passes over shared memory beyond those needed",
     "passes over shared memory beyond those that its accesses need", true,
     [](const Counts& counts) { return counts.shared().conflicts(); }, warpwise::count_text},
    {"Queued lanes", "lanes that wait at an atomic",
     "lanes that wait at an atomic because another lane of the warp has the same address", true,
     [](const Counts& counts) { return counts.global_atomic.same_address + counts.shared_atomic.same_address; },
     warpwise::count_text},
    {"Requests", "global loads and stores carried out by warps", "global loads and stores that warps carry out", true,
     [](const Counts& counts) { return loads_and_stores(counts).requests; }, warpwise::count_text},
    {"Shared memory passes", "passes over shared memory",
     "passes over shared memory that loads, stores and atomics take", true,
     [](const Counts& counts) { return counts.shared().wavefronts; }, warpwise::count_text},
    {"Barriers", "barriers passed by warps", "__syncthreads() and the like, counted for each warp", true,
     [](const Counts& counts) { return counts.barriers; }, warpwise::count_text},
    {"Active lanes", "active lanes of a warp, at most 32", "threads of a warp that are active on average, at most 32",
     false, [](const Counts& counts) { return counts.active_lanes_per_step(); }, lanes_text},
}};

/// How far apart the steps are: 0 when they are all the same, above 1 for ever.
double contrast(const std::vector<Measured>& values) {
    if (values.size() < 2) return 0;
    const double least = smallest(values).value;
    const double most = largest(values).value;
    if (most <= 0) return 0;
    return least <= 0 ? std::numeric_limits<double>::infinity() : most / least - 1;
}

Chart counter_chart(const LessonResult& lesson, const Counter& counter, const std::vector<Measured>& values) {
    const bool bytes = &counter == &counters[0];
    // The least that the problem has to move, as a line to compare with.
    std::optional<double> least;
    if (bytes && values.front().step->work.bytes > 0) {
        const double work = values.front().step->work.bytes;
        const bool same = std::all_of(values.begin(), values.end(),
                                      [&](const Measured& measured) { return measured.step->work.bytes == work; });
        if (same) least = work;
    }
    const Scale scale = scale_for(std::max(largest(values).value, least.value_or(0)));
    BarChart chart;
    chart.title = fmt::format("{} in the steps of {}", counter.quantity, lesson.name);
    chart.axis = bytes || *scale.prefix == '\0' ? fmt::format("{}{}", scale.prefix, counter.axis)
                                                : fmt::format("{} ({})", counter.axis, scale.prefix);
    for (const Measured& measured : values) {
        chart.bars.push_back({label_of(*measured.step), counter.text(measured.value), measured.value * scale.factor,
                              kind_of(*measured.step)});
    }
    if (least) {
        chart.marks.push_back({"the problem needs " + warpwise::bytes_moved_text(*least), *least * scale.factor});
    }
    chart.description = described(chart);

    std::string caption =
        fmt::format("{}: {}, in one run of each step; {} is better. Counted, not timed.", counter.quantity,
                    counter.explanation, counter.less_is_better ? "shorter" : "longer");
    if (const std::vector<Measured> own = ranked(values); own.size() > 1) {
        const Measured& low = smallest(own);
        const Measured& high = largest(own);
        if (low.value == high.value) {
            caption += fmt::format(" All steps have the same: {}.", counter.text(low.value));
        } else {
            caption += fmt::format(" {} has the most, {}; {} has the least, {}", high.step->name,
                                   counter.text(high.value), low.step->name, counter.text(low.value));
            if (low.value > 0) caption += fmt::format(" ({} times less)", three_digits(high.value / low.value));
            caption += ".";
        }
    }
    if (least)
        caption += fmt::format(" Reading and writing everything once takes {}.", warpwise::bytes_moved_text(*least));
    return {chart, caption};
}

std::vector<Chart> charts_on_cpu_device(const LessonResult& lesson) {
    struct Candidate {
        const Counter* counter = nullptr;
        std::vector<Measured> values;
        double contrast = 0;
    };
    std::vector<Candidate> candidates;
    for (const Counter& counter : counters) {
        Candidate candidate{&counter,
                            values_of(lesson,
                                      [&](const StepResult& step) -> std::optional<double> {
                                          const std::optional<Counts> counts = counts_of(step);
                                          if (!counts) return std::nullopt;
                                          return counter.value(*counts);
                                      }),
                            0};
        candidate.contrast = contrast(candidate.values);
        if (!candidate.values.empty() && largest(candidate.values).value > 0)
            candidates.push_back(std::move(candidate));
    }
    if (candidates.empty()) return {};
    // What a counter costs comes before what it merely counts: the list is in that order.
    constexpr double worth_showing = 0.05;
    constexpr std::size_t most_charts = 2;
    std::vector<Chart> charts;
    for (const Candidate& candidate : candidates) {
        if (charts.size() < most_charts && candidate.contrast > worth_showing) {
            charts.push_back(counter_chart(lesson, *candidate.counter, candidate.values));
        }
    }
    if (charts.empty()) charts.push_back(counter_chart(lesson, *candidates.front().counter, candidates.front().values));
    return charts;
}

// ---- rooflines ------------------------------------------------------------------------------------------------------

/// The GPU under whose roofline steps that were only counted are placed.
struct ReferenceGpu {
    const char* name = "NVIDIA H200";
    double gb_per_s = 4800;     // datasheet: 4.8 TB/s
    double gop_per_s = 66'900;  // datasheet: 66.9 Tflop/s in single precision
};

/// FP32 lanes of a multiprocessor, from the tables of throughput in NVIDIA's programming guide.
std::optional<int> fp32_lanes(int major, int minor) {
    if (major == 7 || (major == 8 && minor == 0)) return 64;
    if (major == 8 || (major >= 9 && major <= 12)) return 128;
    return std::nullopt;
}

Roofline roofline_on_gpu(const ChapterResults& results, std::string& caption) {
    Roofline roofline;
    const warpwise::Roof* roof =
        nullptr;  // of the largest copy: small ones stay in the cache or cost mostly the launch
    for (const LessonResult& lesson : results.lessons) {
        if (lesson.roof && lesson.roof->gb_per_s > 0 && (roof == nullptr || lesson.roof->bytes > roof->bytes)) {
            roof = &*lesson.roof;
        }
    }
    if (roof == nullptr) return roofline;
    roofline.gb_per_s = roof->gb_per_s;
    roofline.bandwidth_name = fmt::format("measured copy: {} GB/s", three_digits(roof->gb_per_s));
    for (const LessonResult& lesson : results.lessons) {
        Series series{lesson.name, {}};
        for (const StepResult& step : lesson.steps) {
            if (step.kind == StepKind::host || !is_right(step) || !step.gop_per_s) continue;
            if (*step.gop_per_s <= 0 || step.work.bytes <= 0 || step.work.operations <= 0) continue;
            series.points.emplace_back(step.work.operations / step.work.bytes, *step.gop_per_s);
        }
        if (!series.points.empty()) roofline.series.push_back(std::move(series));
    }
    roofline.gop_per_s = peak_gop_per_s(results.device);
    if (roofline.gop_per_s) {
        roofline.ceiling_name = fmt::format("FP32 peak: {} Tflop/s", three_digits(*roofline.gop_per_s * 1e-3));
    }
    roofline.title = "Measured steps under the roofline of " + results.device.name;
    caption = fmt::format(
        "Measured. Each point is a step on the device (vendor routines too): to the right more operations for each "
        "byte that "
        "the problem has to move, upward more operations a second. Dashed, the most that memory allows: operations for "
        "each "
        "byte times the bandwidth of the chapter's largest device-to-device copy, {} GB/s.",
        three_digits(roof->gb_per_s));
    if (roofline.gop_per_s) {
        caption += fmt::format(
            " Dotted, the most that arithmetic allows: {} SMs x {} lanes x 2 x {} MHz = {} Tflop/s in single "
            "precision.",
            results.device.processors, *fp32_lanes(results.device.major, results.device.minor), *results.device.clock,
            three_digits(*roofline.gop_per_s * 1e-3));
    }
    caption +=
        " A step above the dashed line reads more than it writes, or finds its data in the cache. Operations are those "
        "that the lesson counts.";
    return roofline;
}

Roofline roofline_on_cpu_device(const ChapterResults& results, std::string& caption) {
    constexpr ReferenceGpu reference;
    Roofline roofline;
    roofline.gb_per_s = reference.gb_per_s;
    roofline.bandwidth_name = fmt::format("{}, datasheet: 4.8 TB/s", reference.name);
    roofline.gop_per_s = reference.gop_per_s;
    roofline.ceiling_name = fmt::format("{}, datasheet: 66.9 Tflop/s FP32", reference.name);
    for (const LessonResult& lesson : results.lessons) {
        Series series{lesson.name, {}};
        for (const StepResult& step : lesson.steps) {
            const std::optional<Counts> counts = counts_of(step);
            if (!counts || !is_right(step) || step.work.operations <= 0) continue;
            const double bytes = counts->global().bytes_moved();
            if (bytes <= 0) continue;
            const double intensity = step.work.operations / bytes;
            series.points.emplace_back(intensity, std::min(reference.gop_per_s, intensity * reference.gb_per_s));
        }
        if (!series.points.empty()) roofline.series.push_back(std::move(series));
    }
    roofline.title = fmt::format("Attainable, not measured: steps under the roofline of one {}", reference.name);
    caption = fmt::format(
        "Attainable, not measured: the CPU device gives no times. Each point is a step; to the right more operations "
        "for each "
        "byte that its global loads, stores and atomics moved, as counted here. Its height is the most that one {} "
        "could reach "
        "with so many bytes if no cache saved any: 4.8 TB/s and 66.9 Tflop/s in single precision, by its datasheet. "
        "Operations "
        "are those that the lesson counts.",
        reference.name);
    return roofline;
}

std::string described(const Roofline& roofline) {
    std::vector<std::string> parts = {roofline.bandwidth_name};
    if (roofline.gop_per_s) parts.push_back(roofline.ceiling_name);
    for (const Series& series : roofline.series) {
        std::vector<std::string> points;
        for (const auto& [x, y] : series.points) {
            points.push_back(fmt::format("{} at {} operations a byte", three_digits(y), three_digits(x)));
        }
        parts.push_back(fmt::format("{}: {}", series.name, fmt::join(points, ", ")));
    }
    return fmt::format("{}.", fmt::join(parts, "; "));
}

std::string capitalized(std::string text) {
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
        text.front() = static_cast<char>(text.front() - 'a' + 'A');
    return text;
}

}  // namespace

std::vector<Chart> step_charts(const LessonResult& lesson, const DeviceInfo& device) {
    return device.on_gpu ? charts_on_gpu(lesson) : charts_on_cpu_device(lesson);
}

std::optional<Chart> curves_of(const warpwise::TableResult& table) {
    constexpr std::string_view against = " against ";
    constexpr std::size_t most_series = 7;
    const std::size_t at = table.title.find(against);
    if (at == std::string::npos || table.header.size() < 2 || table.header.size() > most_series + 1)
        return std::nullopt;
    Curves curves;
    curves.title = table.title;
    curves.x_axis = table.header.front();
    curves.y_axis = table.title.substr(0, at);
    for (std::size_t column = 1; column < table.header.size(); ++column)
        curves.series.push_back({table.header[column], {}});
    std::size_t points = 0;
    for (const std::vector<std::string>& row : table.rows) {
        const std::optional<double> x = row.empty() ? std::nullopt : number_in(row.front());
        if (!x) return std::nullopt;
        for (std::size_t column = 1; column < std::min(row.size(), table.header.size()); ++column) {
            if (const std::optional<double> y = number_in(row[column])) {
                curves.series[column - 1].points.emplace_back(*x, *y);
                ++points;
            } else if (row[column] != "-" && !row[column].empty()) {
                return std::nullopt;
            }
        }
    }
    if (points < 2) return std::nullopt;
    std::vector<std::string> parts;
    for (const Series& series : curves.series) {
        if (series.points.empty()) continue;
        parts.push_back(fmt::format("{}: {} at {} to {} at {}", series.name, three_digits(series.points.front().second),
                                    three_digits(series.points.front().first),
                                    three_digits(series.points.back().second),
                                    three_digits(series.points.back().first)));
    }
    curves.description = fmt::format("{}.", fmt::join(parts, "; "));
    return Chart{curves, capitalized(table.title) + ": the table above as curves."};
}

std::optional<Chart> roofline_of(const ChapterResults& results) {
    std::string caption;
    Roofline roofline =
        results.device.on_gpu ? roofline_on_gpu(results, caption) : roofline_on_cpu_device(results, caption);
    if (roofline.series.empty()) return std::nullopt;
    roofline.description = described(roofline);
    return Chart{roofline, caption};
}

std::optional<double> peak_gop_per_s(const DeviceInfo& device) {
    const std::optional<int> lanes = fp32_lanes(device.major, device.minor);
    if (!device.on_gpu || !lanes || !device.clock || device.processors <= 0) return std::nullopt;
    constexpr double operations_of_an_fma = 2;
    return device.processors * static_cast<double>(*lanes) * operations_of_an_fma * *device.clock * 1e-3;
}

std::optional<double> number_in(const std::string& cell) {
    static const std::map<std::string_view, double> units = {
        {"", 1},      {"x", 1},      {"%", 1},        {"B", 1},        {"kB", 1e3},  {"MB", 1e6},    {"GB", 1e9},
        {"TB", 1e12}, {"KiB", 1024}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"Ki", 1024}, {"Mi", 0x1p20}, {"Gi", 0x1p30},
        {"k", 1e3},   {"K", 1e3},    {"M", 1e6},      {"G", 1e9},      {"s", 1},     {"ms", 1e-3},   {"us", 1e-6},
        {"ns", 1e-9}, {"GB/s", 1},   {"Gop/s", 1},    {"MHz", 1}};
    if (cell.empty() || std::string_view("+-.0123456789").find(cell.front()) == std::string_view::npos)
        return std::nullopt;
    char* end = nullptr;
    const double number = std::strtod(cell.c_str(), &end);
    if (end == cell.c_str() || !std::isfinite(number)) return std::nullopt;
    std::string_view unit = end;
    if (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
    const auto found = units.find(unit);
    if (found == units.end()) return std::nullopt;
    return number * found->second;
}

}  // namespace guide
