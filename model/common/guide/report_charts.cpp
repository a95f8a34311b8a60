#include "common/guide/report_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "common/helpers/counts.h"
#include "common/lesson/roofline.h"
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

    std::string caption = fmt::format("{} of each step; longer is better.", quantity);
    if (const std::vector<Measured> own = ranked(values); !own.empty()) {
        const Measured& best = largest(own);
        caption += fmt::format(" {} is the fastest with {} {}", best.step->name, three_digits(best.value), unit);
        if (roof) {
            caption += fmt::format(", {:.2f} of copy bandwidth ({} {}, a device-to-device copy)",
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
    {"Bank conflicts", "wavefronts of shared memory beyond those needed",
     "wavefronts of shared memory beyond those that its requests need", true,
     [](const Counts& counts) { return counts.shared().conflicts(); }, warpwise::count_text},
    {"Serialized lanes", "lanes that wait at an atomic",
     "lanes that wait at an atomic because another lane of the warp has the same address", true,
     [](const Counts& counts) { return counts.global_atomic.same_address + counts.shared_atomic.same_address; },
     warpwise::count_text},
    {"Requests", "global loads and stores carried out by warps", "global loads and stores that warps carry out", true,
     [](const Counts& counts) { return loads_and_stores(counts).requests; }, warpwise::count_text},
    {"Shared memory wavefronts", "wavefronts of shared memory",
     "wavefronts that loads, stores, and atomics in shared memory take", true,
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

/// The steps that an FP32 roofline can show.
struct Measurable {
    std::vector<const StepResult*> steps;
    std::vector<std::string> left_out;  ///< names of those that only tensor cores can have done
};
Measurable measurable_steps(const LessonResult& lesson, std::optional<double> peak) {
    std::vector<warpwise::StepRate> rates;
    for (const StepResult& step : lesson.steps)
        rates.push_back({step.number, is_right(step) ? step.gop_per_s.value_or(0) : 0});
    const std::vector<bool> below =
        warpwise::are_below_fp32_peak(rates, peak.value_or(std::numeric_limits<double>::infinity()));
    Measurable measurable;
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
        const StepResult& step = lesson.steps[i];
        if (step.kind == StepKind::host || rates[i].gop_per_s <= 0) continue;
        if (below[i]) {
            measurable.steps.push_back(&step);
        } else if (std::find(measurable.left_out.begin(), measurable.left_out.end(), step.name) ==
                   measurable.left_out.end()) {
            measurable.left_out.push_back(step.name);
        }
    }
    return measurable;
}

const StepResult* fastest(const std::vector<const StepResult*>& steps) {
    const StepResult* best = nullptr;
    for (const StepResult* step : steps) {
        if (step->kind != StepKind::vendor && (best == nullptr || *step->gop_per_s > *best->gop_per_s)) best = step;
    }
    return best;
}

/// Of chapters that ran on the same GPU. `only_best`: one point for each lesson, its own fastest step.
std::optional<Chart> measured_roofline(const std::vector<const ChapterResults*>& chapters, bool only_best) {
    const DeviceInfo& device = chapters.front()->device;
    Roofline roofline;
    roofline.gop_per_s = peak_gop_per_s(device);
    // Small copies stay in the cache, or their time is mostly that of the launch.
    const warpwise::Roof* roof = nullptr;
    std::vector<std::string> left_out;
    std::vector<std::string> without_bytes;  // which have no place on the axis of operations per byte
    for (const ChapterResults* chapter : chapters) {
        for (const LessonResult& lesson : chapter->lessons) {
            if (lesson.roof && lesson.roof->gb_per_s > 0 && (roof == nullptr || lesson.roof->bytes > roof->bytes)) {
                roof = &*lesson.roof;
            }
            Measurable measurable = measurable_steps(lesson, roofline.gop_per_s);
            if (!measurable.left_out.empty()) {
                left_out.push_back(only_best
                                       ? "steps of " + lesson.name
                                       : fmt::format("{} ({})", lesson.name, fmt::join(measurable.left_out, ", ")));
            }
            if (only_best) {
                const StepResult* best = fastest(measurable.steps);
                measurable.steps = best == nullptr ? std::vector<const StepResult*>{} : std::vector{best};
            }
            Series<RooflinePoint> series{lesson.name, {}};
            for (const StepResult* step : measurable.steps) {
                if (step->work.bytes > 0) {
                    series.points.push_back({step->work.operations / step->work.bytes, *step->gop_per_s});
                }
            }
            if (series.points.size() < measurable.steps.size()) without_bytes.push_back(lesson.name);
            if (!series.points.empty()) roofline.series.push_back(std::move(series));
        }
    }
    if (roof == nullptr || roofline.series.empty()) return std::nullopt;
    roofline.gb_per_s = roof->gb_per_s;
    roofline.bandwidth_name = fmt::format("measured copy: {} GB/s", three_digits(roof->gb_per_s));
    roofline.title = fmt::format("{} under the roofline of {}",
                                 only_best ? "The fastest step of each lesson" : "Measured steps", device.name);
    std::string caption = fmt::format(
        "Measured. {}: to the right more operations per byte that the problem has to move, upward more operations per "
        "second. Dashed: operations per byte times the bandwidth of the largest device-to-device copy, {} GB/s, the "
        "most "
        "that memory allows.",
        only_best ? "Each point is the fastest step of a lesson"
                  : "Each point is a step on the device (vendor routines too), and the fastest step of each lesson has "
                    "its name beside it",
        three_digits(roof->gb_per_s));
    if (roofline.gop_per_s) {
        roofline.ceiling_name = fmt::format("FP32 peak: {} Tflop/s", three_digits(*roofline.gop_per_s * 1e-3));
        caption += fmt::format(
            " Dotted: {} SMs x {} lanes x 2 x {} MHz = {} Tflop/s in single precision, the most that arithmetic "
            "allows.",
            device.processors, warpwise::fp32_lanes(device.major, device.minor), *device.clock,
            three_digits(*roofline.gop_per_s * 1e-3));
    }
    caption +=
        " A step above the dashed line reads more than it writes, or finds its data in the cache. Operations are those "
        "that the lesson counts.";
    if (!without_bytes.empty()) {
        caption += fmt::format(" Not drawn, because no bytes are counted and arithmetic alone is a limit: {}.",
                               fmt::join(without_bytes, ", "));
    }
    if (!left_out.empty()) {
        caption += fmt::format(" Not drawn, because the FP32 peak is no limit to tensor cores: {}.",
                               fmt::join(left_out, "; "));
    }
    return Chart{roofline, caption};
}

std::optional<Chart> attainable_roofline(const ChapterResults& results) {
    constexpr ReferenceGpu reference;
    Roofline roofline;
    roofline.gb_per_s = reference.gb_per_s;
    roofline.bandwidth_name = fmt::format("{}, datasheet: 4.8 TB/s", reference.name);
    roofline.gop_per_s = reference.gop_per_s;
    roofline.ceiling_name = fmt::format("{}, datasheet: 66.9 Tflop/s FP32", reference.name);
    for (const LessonResult& lesson : results.lessons) {
        Series<RooflinePoint> series{lesson.name, {}};
        for (const StepResult& step : lesson.steps) {
            const std::optional<Counts> counts = counts_of(step);
            if (!counts || !is_right(step) || step.work.operations <= 0) continue;
            const double bytes = counts->global().bytes_moved();
            if (bytes <= 0) continue;
            const double intensity = step.work.operations / bytes;
            series.points.push_back({intensity, std::min(reference.gop_per_s, intensity * reference.gb_per_s)});
        }
        if (!series.points.empty()) roofline.series.push_back(std::move(series));
    }
    if (roofline.series.empty()) return std::nullopt;
    roofline.title = fmt::format("Attainable, not measured: steps under the roofline of one {}", reference.name);
    return Chart{
        roofline,
        fmt::format("Attainable, not measured: the CPU device gives no times. Each point is a step, and the "
                    "highest one of each lesson has its name beside it; to the right more operations per byte "
                    "that its global loads, stores and atomics moved, as counted here. Its height is the most "
                    "that one {} could reach with so many bytes if no cache saved any: 4.8 TB/s and 66.9 Tflop/s "
                    "in single precision, by its datasheet. Operations are those that the lesson counts.",
                    reference.name)};
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
    const std::size_t at = table.title.text.find(against);
    if (at == std::string::npos || table.header.size() < 2 || table.header.size() > most_series + 1)
        return std::nullopt;
    Curves curves;
    curves.title = table.title.heading();
    curves.x_axis = table.header.front();
    curves.y_axis = table.title.text.substr(0, at);
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
    return Chart{curves, capitalized(table.title.heading()) + ": the table above as curves."};
}

std::optional<Chart> roofline_of(const ChapterResults& results) {
    return results.device.on_gpu ? measured_roofline({&results}, false) : attainable_roofline(results);
}

std::optional<Chart> roofline_of_all(const std::vector<const ChapterResults*>& chapters) {
    const ChapterResults* latest = nullptr;
    for (const ChapterResults* chapter : chapters) {
        if (chapter->device.on_gpu && (latest == nullptr || chapter->date > latest->date)) latest = chapter;
    }
    if (latest == nullptr) return std::nullopt;
    std::vector<const ChapterResults*> same;
    std::copy_if(chapters.begin(), chapters.end(), std::back_inserter(same), [&](const ChapterResults* chapter) {
        return chapter->device.on_gpu && chapter->device.name == latest->device.name;
    });
    return measured_roofline(same, true);
}

std::optional<double> peak_gop_per_s(const DeviceInfo& device) {
    if (!device.on_gpu || !device.clock) return std::nullopt;
    const double peak = warpwise::peak_gop_per_s(device.major, device.minor, device.processors, *device.clock);
    return peak > 0 ? std::optional(peak) : std::nullopt;
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
