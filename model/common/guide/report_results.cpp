#include "common/guide/report_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>

#include "common/helpers/json.h"

namespace guide {
namespace {

constexpr unsigned warp_size = 32;

using Json = nlohmann::json;
using warpwise::Counts;
using warpwise::LaunchCounts;
using warpwise::LessonResult;
using warpwise::Size;
using warpwise::StepResult;

constexpr int known_layout = 1;

/// The value under a key; null where there is none.
const Json& member(const Json& json, const char* key) {
    static const Json null;
    const auto found = json.is_object() ? json.find(key) : json.end();
    return found == json.end() ? null : *found;
}

std::string text(const Json& json, const char* key) {
    const Json& value = member(json, key);
    return value.is_null() ? std::string() : value.get<std::string>();
}

std::optional<double> number(const Json& json, const char* key) {
    const Json& value = member(json, key);
    if (value.is_null()) return std::nullopt;
    return value.get<double>();
}

double number_or(const Json& json, const char* key, double otherwise) { return number(json, key).value_or(otherwise); }

template <class Integer>
Integer whole(const Json& json, const char* key) {
    const Json& value = member(json, key);
    return value.is_null() ? Integer{} : value.get<Integer>();
}

/// The elements of a list that may be missing or null.
template <class Read>
auto list(const Json& json, const char* key, const Read& read) {
    std::vector<decltype(read(json))> elements;
    const Json& value = member(json, key);
    if (value.is_null()) return elements;
    if (!value.is_array()) throw std::runtime_error(fmt::format("\"{}\" is no list", key));
    for (const Json& element : value) elements.push_back(read(element));
    return elements;
}

std::string as_text(const Json& json) { return json.get<std::string>(); }
std::vector<std::string> as_texts(const Json& json) { return json.get<std::vector<std::string>>(); }

Size size_of(const Json& json, const char* key) {
    return Size(list(json, key, [](const Json& extent) { return extent.get<std::size_t>(); }));
}

std::optional<warpwise::Timing> timing_of(const Json& json) {
    const Json& seconds = member(json, "seconds");
    if (seconds.is_null()) return std::nullopt;
    warpwise::Timing timing;
    timing.median = number_or(seconds, "median", 0);
    timing.minimum = number_or(seconds, "minimum", 0);
    timing.maximum = number_or(seconds, "maximum", 0);
    timing.p10 = number_or(seconds, "p10", 0);
    timing.p90 = number_or(seconds, "p90", 0);
    timing.samples = whole<int>(seconds, "samples");
    return timing;
}

Counts counts_of(const Json& json) {
    Counts counts;
    for (const warpwise::MemoryOperation& operation : warpwise::memory_operations) {
        const Json& from = member(json, operation.name);
        if (from.is_null()) continue;
        warpwise::RequestCounts& to = counts.*operation.counts;
        to.requests = number_or(from, "requests", 0);
        to.lanes = number_or(from, "lanes", 0);
        to.bytes = number_or(from, "bytes", 0);
        to.sectors = number_or(from, "sectors", 0);
        to.needed_sectors = number_or(from, "needed_sectors", 0);
        to.wavefronts = number_or(from, "wavefronts", 0);
        to.least_wavefronts = number_or(from, "least_wavefronts", 0);
        to.same_address = number_or(from, "same_address", 0);
        to.remote_lanes = number_or(from, "remote_lanes", 0);
    }
    counts.barriers = number_or(json, "barriers", 0);
    counts.steps = number_or(json, "steps", 0);
    counts.active_lanes = number_or(json, "active_lanes", 0);
    return counts;
}

std::array<unsigned, 3> extents_of(const Json& json, const char* key) {
    const Json& value = member(json, key);
    return value.is_null() ? std::array<unsigned, 3>{1, 1, 1} : value.get<std::array<unsigned, 3>>();
}

LaunchCounts launch_of(const Json& json) {
    LaunchCounts launch;
    launch.kernel = text(json, "kernel");
    launch.file = text(json, "file");
    launch.line = whole<int>(json, "line");
    launch.grid = extents_of(json, "grid");
    launch.block = extents_of(json, "block");
    launch.shared_bytes = whole<std::size_t>(json, "shared_bytes");
    launch.blocks = whole<std::uint64_t>(json, "blocks");
    launch.instrumented_blocks = whole<std::uint64_t>(json, "instrumented_blocks");
    launch.registers = whole<int>(json, "registers");
    launch.occupancy = number_or(json, "occupancy", 0);
    launch.total = counts_of(member(json, "counters"));
    launch.lines = list(json, "lines", [](const Json& line) {
        return warpwise::LineCounts{text(line, "file"), whole<int>(line, "line"), counts_of(member(line, "counters"))};
    });
    launch.arrays = list(json, "arrays", [](const Json& array) {
        return warpwise::ArrayCounts{text(array, "name"), counts_of(member(array, "counters"))};
    });
    return launch;
}

/// The launches of a step as one: docs/results has only their sum. The blocks, of a warp each, are as many as give its
/// barriers per warp.
LaunchCounts sum_of_launches(const Json& json) {
    LaunchCounts launch;
    launch.total = counts_of(json);
    launch.occupancy = number_or(json, "occupancy", 0);
    launch.registers = whole<int>(json, "registers");
    launch.block = {warp_size, 1, 1};
    const double per_warp = number_or(json, "barriers_per_warp", 0);
    const double warps = per_warp > 0 ? launch.total.barriers / per_warp : 1;
    launch.blocks = launch.instrumented_blocks = std::max<std::uint64_t>(1, std::llround(warps));
    return launch;
}

/// "pi.cu:173: partial[threadIdx.x] = sum;"
std::string place_of(const Json& site) {
    if (text(site, "file").empty()) return {};
    std::string place = fmt::format("{}:{}", text(site, "file"), whole<int>(site, "line"));
    if (!text(site, "source").empty()) place += ": " + text(site, "source");
    return place;
}

/// A diagnostic in a few lines: what, where, who else, and what to try.
warpwise::Diagnostic diagnostic_of(const Json& json) {
    warpwise::Diagnostic diagnostic;
    diagnostic.kind = text(json, "kind");
    const std::string name = text(json, "name").empty() ? diagnostic.kind : text(json, "name");
    diagnostic.text = name + ": " + text(json, "message");
    const auto add = [&](const std::string& before, const std::string& line) {
        if (!line.empty()) diagnostic.text += "\n    " + before + line;
    };
    add("", place_of(member(json, "site")));
    add("this thread ", text(json, "action"));
    add("another one: ", place_of(member(member(json, "other"), "site")));
    add("which ", text(member(json, "other"), "action"));
    add("in kernel ", text(json, "kernel"));
    add("hint: ", text(json, "hint"));
    diagnostic.is_note = json.value("severity", "") == "note";
    if (diagnostic.is_note) diagnostic.text = "note: " + diagnostic.text;
    return diagnostic;
}

warpwise::WrongAtSize& wrong_at(StepResult& step, const Size& size) {
    const auto found = std::find_if(step.wrong.begin(), step.wrong.end(),
                                    [&](const warpwise::WrongAtSize& wrong) { return wrong.size == size; });
    if (found != step.wrong.end()) return *found;
    step.wrong.push_back({size, {}, {}});
    return step.wrong.back();
}

void read_comparison(const Json& json, StepResult& step) {
    step.sizes_compared = whole<std::size_t>(json, "sizes_compared");
    if (!member(json, "tolerance").is_null() || !member(json, "largest_error").is_null()) {
        warpwise::Comparison& comparison = step.comparison.emplace();
        comparison.passed = true;
        comparison.compared = 1;
        comparison.largest_error = number_or(json, "largest_error", NAN);
        comparison.tolerance = number_or(json, "tolerance", NAN);
    }
    for (const Json& mismatch : list(json, "mismatches", [](const Json& one) { return one; })) {
        wrong_at(step, size_of(mismatch, "size"))
            .comparison.mismatches.push_back({whole<std::size_t>(mismatch, "index"), number_or(mismatch, "got", NAN),
                                              number_or(mismatch, "expected", NAN)});
    }
    for (const Json& failure : list(json, "failures", [](const Json& one) { return one; })) {
        wrong_at(step, size_of(failure, "size")).failure = text(failure, "message");
    }
    // Wrong without a word about where: still wrong.
    if (!member(json, "passed").get<bool>() && step.wrong.empty() && step.diagnostics.empty() && step.comparison) {
        wrong_at(step, step.size);
    }
}

warpwise::StepKind kind_of(const std::string& name) {
    if (name == "host") return warpwise::StepKind::host;
    return name == "vendor" ? warpwise::StepKind::vendor : warpwise::StepKind::device;
}

warpwise::RecordedStep recorded_of(const Json& json) {
    warpwise::RecordedStep step;
    step.name = text(json, "name");
    step.change = text(json, "change");
    step.on_host = json.value("on_host", false);
    step.seconds = number(json, "seconds");
    step.gb_per_s = number(json, "gb_per_s");
    step.gop_per_s = number(json, "gop_per_s");
    step.share_of_copy = number(json, "share_of_copy");
    return step;
}

warpwise::Recording recording_of(const Json& json) {
    warpwise::Recording recording{.label = text(json, "label"),
                                  .device = text(json, "device"),
                                  .cuda = text(json, "cuda"),
                                  .date = text(json, "date"),
                                  .file = text(json, "file"),
                                  .size = size_of(json, "size"),
                                  .copy = {},
                                  .vendors = list(json, "vendors", recorded_of)};
    if (const Json& copy = member(json, "copy"); !copy.is_null()) {
        recording.copy = warpwise::RecordedCopy{number_or(copy, "gb_per_s", 0), number(copy, "seconds")};
    }
    return recording;
}

StepResult step_of(const Json& json) {
    StepResult step;
    if (!member(json, "number").is_null()) step.number = whole<int>(json, "number");
    step.name = member(json, "name").get<std::string>();
    step.change = text(json, "change");
    step.kind = kind_of(text(json, "kind"));
    step.size = size_of(json, "size");
    step.work = {number_or(json, "bytes", 0), number_or(json, "operations", 0)};
    step.timing = timing_of(json);
    step.gb_per_s = number(json, "gb_per_s");
    step.gop_per_s = number(json, "gop_per_s");
    step.share_of_roof = number(json, "share_of_roof");
    step.share_of_vendor = number(json, "share_of_vendor");
    step.speed_up = number(json, "speed_up");
    step.figures = list(json, "figures", [](const Json& figure) {
        return warpwise::Figure{text(figure, "column"), number_or(figure, "value", NAN), text(figure, "unit")};
    });
    if (!member(json, "launches").is_null()) step.launches = list(json, "launches", launch_of);
    if (const Json& sum = member(json, "counted"); !sum.is_null()) step.launches = {sum_of_launches(sum)};
    if (const Json& recorded = member(json, "recorded"); !recorded.is_null()) step.recorded = recorded_of(recorded);
    step.diagnostics = list(json, "diagnostics", diagnostic_of);
    read_comparison(member(json, "comparison"), step);
    return step;
}

LessonResult lesson_of(const Json& json) {
    LessonResult lesson;
    lesson.name = member(json, "name").get<std::string>();
    lesson.story = list(json, "story", [](const Json& part) {
        return warpwise::StoryPart{text(part, "part"), text(part, "text")};
    });
    lesson.texts = list(json, "texts", as_text);
    lesson.drawings = list(json, "drawings", [](const Json& drawing) {
        return warpwise::Drawing{text(drawing, "name"), text(drawing, "text")};
    });
    lesson.steps = list(json, "steps", step_of);
    if (const Json& roof = member(json, "roof"); !roof.is_null()) {
        lesson.roof = warpwise::Roof{text(roof, "name"), number_or(roof, "bytes", 0),
                                     timing_of(roof).value_or(warpwise::Timing{}), number_or(roof, "gb_per_s", 0)};
    }
    if (const Json& recording = member(json, "recording"); !recording.is_null()) {
        lesson.recording = recording_of(recording);
    }
    lesson.tables = list(json, "tables", [](const Json& table) {
        return warpwise::TableResult{{text(table, "name"), text(table, "title"), text(table, "note")},
                                     list(table, "header", as_text),
                                     list(table, "rows", as_texts)};
    });
    lesson.expectations = list(json, "expectations", [](const Json& expectation) {
        return warpwise::Expectation{text(expectation, "what"), member(expectation, "passed").get<bool>()};
    });
    lesson.diagnostics = list(json, "diagnostics", diagnostic_of);
    lesson.failure = text(json, "failure");
    return lesson;
}

warpwise::DeviceInfo device_of(const Json& json) {
    warpwise::DeviceInfo device;
    device.name = member(json, "name").get<std::string>();
    device.on_gpu = text(json, "kind") == "cuda";
    const std::string capability = text(json, "compute_capability");
    const std::size_t dot = std::min(capability.find('.'), capability.size());
    try {
        device.major = std::stoi(capability.substr(0, dot));
        device.minor = std::stoi(capability.substr(std::min(dot + 1, capability.size())));
    } catch (const std::logic_error&) {
        throw std::runtime_error("the device's compute capability is '" + capability + "'");
    }
    device.driver_version = whole<int>(json, "driver_version");
    device.runtime_version = whole<int>(json, "runtime_version");
    device.processors = whole<int>(json, "processors");
    if (!member(json, "clock_mhz").is_null()) device.clock = whole<int>(json, "clock_mhz");
    device.l2_bytes = whole<std::size_t>(json, "l2_bytes");
    device.memory_bytes = whole<std::size_t>(json, "memory_bytes");
    return device;
}

/// "2026-01-31T12:00:00Z" -> "2026-01-31 12:00 UTC"; anything else as it is.
std::string readable_date(const std::string& date) {
    if (date.size() != 20 || date[10] != 'T' || date.back() != 'Z') return date;
    return date.substr(0, 10) + " " + date.substr(11, 5) + " UTC";
}

}  // namespace

ChapterResults parse_results(std::string_view json) {
    try {
        const Json document = warpwise::parse_json<Json>(json);
        const Json& layout = member(document, "warpwise");
        if (!layout.is_number_integer()) throw std::runtime_error("it does not hold results of a chapter");
        if (layout.get<int>() != known_layout) {
            throw std::runtime_error(fmt::format("it was written by another version of Warpwise (layout {}, not {})",
                                                 layout.get<int>(), known_layout));
        }
        ChapterResults results;
        const Json& chapter = member(document, "chapter");
        results.number = whole<int>(chapter, "number");
        results.title = text(chapter, "title");
        results.folder = text(chapter, "folder");
        results.date = readable_date(text(document, "date"));
        results.device = device_of(member(document, "device"));
        results.command = list(document, "command", as_text);
        results.lessons = list(document, "lessons", lesson_of);
        results.passed = member(document, "passed").get<bool>();
        return results;
    } catch (const Json::exception& error) {
        throw std::runtime_error(error.what());
    }
}

bool is_right(const StepResult& step) {
    return step.comparison.has_value() && step.wrong.empty() && !any_error(step.diagnostics);
}

bool is_right(const LessonResult& lesson) {
    return lesson.failure.empty() && !any_error(lesson.diagnostics) &&
           std::all_of(lesson.steps.begin(), lesson.steps.end(),
                       [](const StepResult& step) { return is_right(step); }) &&
           std::all_of(lesson.expectations.begin(), lesson.expectations.end(),
                       [](const warpwise::Expectation& expectation) { return expectation.passed; });
}

std::vector<std::string> shown_words(const std::vector<std::string>& command, const std::filesystem::path& root) {
    const std::string above = root.string() + "/";
    std::vector<std::string> shown;
    for (std::size_t i = 0; i < command.size(); ++i) {
        const std::string& argument = command[i];
        if (argument == "--json" || argument == "--trace") {
            ++i;  // its file, too
        } else if (argument != "--no-color" && argument != "--trace-brief" && !argument.ends_with("-pause") &&
                   !argument.starts_with("--json=") && !argument.starts_with("--trace=")) {
            shown.push_back(above.size() > 1 && argument.starts_with(above) ? argument.substr(above.size()) : argument);
        }
    }
    return shown;
}

std::string shown_command(const std::vector<std::string>& command, const std::filesystem::path& root) {
    return fmt::format("{}", fmt::join(shown_words(command, root), " "));
}

std::string times_as_json(const ChapterResults& results, const std::filesystem::path& root) {
    const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(); };
    const auto name_of = [](warpwise::StepKind kind) {
        if (kind == warpwise::StepKind::host) return "host";
        return kind == warpwise::StepKind::vendor ? "vendor" : "device";
    };
    const auto times_of = [&](const StepResult& step) {
        return Json{{"number", or_null(step.number)},
                    {"name", step.name},
                    {"kind", name_of(step.kind)},
                    {"bytes", step.work.bytes},
                    {"operations", step.work.operations},
                    {"seconds", step.timing ? Json{{"median", step.timing->median}} : Json()},
                    {"comparison", {{"passed", is_right(step)}}}};
    };
    Json lessons = Json::array();
    for (const LessonResult& lesson : results.lessons) {
        Json extents = Json::array();
        const Size size = lesson.steps.empty() ? Size() : lesson.steps.front().size;
        for (std::size_t i = 0; i < size.dimensions(); ++i) extents.push_back(size[i]);
        Json steps = Json::array();
        for (const StepResult& step : lesson.steps) steps.push_back(times_of(step));
        lessons.push_back({{"name", lesson.name},
                           {"size", std::move(extents)},
                           {"roof", lesson.roof ? Json{{"gb_per_s", lesson.roof->gb_per_s}} : Json()},
                           {"steps", std::move(steps)}});
    }
    const warpwise::DeviceInfo& device = results.device;
    return warpwise::json_text(Json{{"warpwise", known_layout},
                                    {"date", results.date},
                                    {"command", shown_words(results.command, root)},
                                    {"chapter", {{"number", results.number}, {"folder", results.folder}}},
                                    {"device",
                                     {{"name", device.name},
                                      {"kind", device.on_gpu ? "cuda" : "cpu"},
                                      {"compute_capability", fmt::format("{}.{}", device.major, device.minor)},
                                      {"processors", device.processors},
                                      {"clock_mhz", or_null(device.clock)}}},
                                    {"lessons", std::move(lessons)}});
}

std::string text_of(const Size& size) {
    std::string result;
    for (std::size_t i = 0; i < size.dimensions(); ++i) {
        result += (i == 0 ? "" : " x ") + std::to_string(size[i]);
    }
    return result;
}

}  // namespace guide
