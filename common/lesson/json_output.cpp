#include "common/lesson/json_output.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <optional>

#include "common/helpers/json.h"
#include "common/model/json.h"

namespace warpwise {
namespace {

using Json = nlohmann::ordered_json;

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json finite(const std::optional<double>& value) { return value ? finite(*value) : Json(nullptr); }

Json whole(double count) { return static_cast<std::uint64_t>(count); }

Json json_of(const Size& size) {
    Json extents = Json::array();
    for (std::size_t i = 0; i < size.dimensions(); ++i) extents.push_back(size[i]);
    return extents;
}

Json json_of(const Timing& timing) {
    return {{"median", timing.median}, {"minimum", timing.minimum}, {"maximum", timing.maximum},
            {"p10", timing.p10},       {"p90", timing.p90},         {"samples", timing.samples}};
}

const char* name_of(StepKind kind) {
    switch (kind) {
        case StepKind::device:
            return "device";
        case StepKind::host:
            return "host";
        case StepKind::vendor:
            return "vendor";
    }
    return "";
}

Json json_of(const Counts& counts) {
    Json json;
    for (const MemoryOperation& operation : memory_operations) {
        const RequestCounts& requests = counts.*operation.counts;
        if (requests.requests == 0) continue;
        json[operation.name] = {{"requests", whole(requests.requests)},
                                {"lanes", whole(requests.lanes)},
                                {"bytes", whole(requests.bytes)},
                                {"sectors", whole(requests.sectors)},
                                {"needed_sectors", whole(requests.needed_sectors)},
                                {"wavefronts", whole(requests.wavefronts)},
                                {"least_wavefronts", whole(requests.least_wavefronts)},
                                {"same_address", whole(requests.same_address)}};
        if (requests.remote_lanes > 0) json[operation.name]["remote_lanes"] = whole(requests.remote_lanes);
    }
    json["barriers"] = whole(counts.barriers);
    json["steps"] = whole(counts.steps);
    json["active_lanes"] = whole(counts.active_lanes);
    return json;
}

Json json_of(const LaunchCounts& launch) {
    Json lines = Json::array();
    for (const LineCounts& line : launch.lines) {
        lines.push_back({{"file", line.file}, {"line", line.line}, {"counters", json_of(line.counts)}});
    }
    Json arrays = Json::array();
    for (const ArrayCounts& array : launch.arrays) {
        arrays.push_back({{"name", array.name}, {"counters", json_of(array.counts)}});
    }
    Json json = {{"kernel", launch.kernel},
                 {"file", launch.file},
                 {"line", launch.line},
                 {"grid", launch.grid},
                 {"block", launch.block},
                 {"shared_bytes", launch.shared_bytes},
                 {"blocks", launch.blocks},
                 {"instrumented_blocks", launch.instrumented_blocks},
                 {"registers", launch.registers > 0 ? Json(launch.registers) : Json(nullptr)},
                 {"occupancy", finite(launch.occupancy)},
                 {"counters", json_of(launch.total)},
                 {"lines", lines},
                 {"arrays", arrays}};
    if (model::chosen_gpu() != nullptr && launch.facts.known) {
        const model::LaunchFacts facts = model::with_machine_code(launch.facts);
        json["model"] = model::json_of(model::estimate(facts, *model::chosen_gpu()), *model::chosen_gpu());
        json["model"]["facts"] = model::json_of(facts);
    }
    return json;
}

Json json_of(const std::vector<Diagnostic>& diagnostics) {
    Json list = Json::array();
    for (const Diagnostic& diagnostic : diagnostics) {
        const Json parsed = json_or_discarded<Json>(diagnostic.json);
        list.push_back(parsed.is_discarded() ? Json{{"kind", diagnostic.kind}, {"message", diagnostic.text}} : parsed);
    }
    return list;
}

Json comparison_of(const StepResult& step) {
    Json mismatches = Json::array();
    Json failures = Json::array();
    for (const WrongAtSize& wrong : step.wrong) {
        for (const Mismatch& mismatch : wrong.comparison.mismatches) {
            mismatches.push_back({{"size", json_of(wrong.size)},
                                  {"index", mismatch.index},
                                  {"got", finite(mismatch.got)},
                                  {"expected", finite(mismatch.expected)}});
        }
        const std::string& message = wrong.failure.empty() ? wrong.comparison.note : wrong.failure;
        if (!message.empty()) failures.push_back({{"size", json_of(wrong.size)}, {"message", message}});
    }
    return {{"passed", step.passed()},
            {"largest_error", step.comparison ? finite(step.comparison->largest_error) : Json(nullptr)},
            {"tolerance", step.comparison ? finite(step.comparison->tolerance) : Json(nullptr)},
            {"sizes_compared", step.sizes_compared},
            {"mismatches", mismatches},
            {"failures", failures}};
}

/// What a GPU took; never this machine.
Json json_of(const RecordedStep& step) {
    return {{"seconds", finite(step.seconds)},
            {"gb_per_s", finite(step.gb_per_s)},
            {"gop_per_s", finite(step.gop_per_s)},
            {"share_of_copy", finite(step.share_of_copy)},
            {"on_host", step.on_host}};
}

Json json_of(const Recording& recording) {
    Json copy = nullptr;
    if (recording.copy) {
        copy = {{"gb_per_s", finite(recording.copy->gb_per_s)}, {"seconds", finite(recording.copy->seconds)}};
    }
    Json vendors = Json::array();
    for (const RecordedStep& vendor : recording.vendors) {
        Json json = {{"name", vendor.name}, {"change", vendor.change}};
        json.update(json_of(vendor));
        vendors.push_back(json);
    }
    return {{"label", recording.label},
            {"device", recording.device},
            {"cuda", recording.cuda},
            {"date", recording.date},
            {"file", recording.file},
            {"size", json_of(recording.size)},
            {"copy", copy},
            {"vendors", vendors}};
}

Json json_of(const StepResult& step) {
    Json figures = Json::array();
    for (const Figure& figure : step.figures) {
        figures.push_back({{"column", figure.column}, {"value", finite(figure.value)}, {"unit", figure.unit}});
    }
    Json launches = nullptr;
    if (step.launches) {
        launches = Json::array();
        for (const LaunchCounts& launch : *step.launches) launches.push_back(json_of(launch));
    }
    return {{"number", step.number ? Json(*step.number) : Json(nullptr)},
            {"name", step.name},
            {"change", step.change},
            {"kind", name_of(step.kind)},
            {"size", json_of(step.size)},
            {"comparison", comparison_of(step)},
            {"seconds", step.timing ? json_of(*step.timing) : Json(nullptr)},
            {"bytes", finite(step.work.bytes)},
            {"operations", finite(step.work.operations)},
            {"gb_per_s", finite(step.gb_per_s)},
            {"gop_per_s", finite(step.gop_per_s)},
            {"share_of_roof", finite(step.share_of_roof)},
            {"share_of_vendor", finite(step.share_of_vendor)},
            {"speed_up", finite(step.speed_up)},
            {"figures", figures},
            {"launches", launches},
            {"recorded", step.recorded ? json_of(*step.recorded) : Json(nullptr)},
            {"diagnostics", json_of(step.diagnostics)}};
}

Json json_of(const PredictionResult& prediction) {
    Json json = {{"question", prediction.question}};
    if (!prediction.choices.empty()) json["choices"] = prediction.choices;
    if (!prediction.unit.empty()) json["unit"] = prediction.unit;
    json["answer"] = prediction.answer.empty() ? Json(nullptr) : Json(prediction.answer);
    if (prediction.factor != 1) json["factor"] = prediction.factor;
    json["because"] = prediction.because;
    if (!prediction.idea.empty()) json["idea"] = prediction.idea;
    if (!prediction.recorded.empty()) json["recorded"] = prediction.recorded;
    if (prediction.has_guess()) json["guess"] = prediction.guess();
    if (prediction.right) json["right"] = *prediction.right;
    return json;
}

Json json_of(const LessonResult& lesson) {
    Json steps = Json::array();
    for (const StepResult& step : lesson.steps) steps.push_back(json_of(step));
    Json tables = Json::array();
    for (const TableResult& table : lesson.tables) {
        Json& written = tables.emplace_back(Json{{"name", table.title.name}, {"title", table.title.text}});
        if (!table.title.note.empty()) written["note"] = table.title.note;
        written["header"] = table.header;
        written["rows"] = table.rows;
    }
    Json story = Json::array();
    for (const StoryPart& told : lesson.story) story.push_back({{"part", told.part}, {"text", told.text}});
    Json predictions = Json::array();
    for (const PredictionResult& prediction : lesson.predictions) predictions.push_back(json_of(prediction));
    Json expectations = Json::array();
    for (const Expectation& expectation : lesson.expectations) {
        expectations.push_back({{"what", expectation.what}, {"passed", expectation.passed}});
    }
    Json drawings = Json::array();
    for (const Drawing& drawing : lesson.drawings) drawings.push_back({{"name", drawing.name}, {"text", drawing.text}});
    Json roof = nullptr;
    if (lesson.roof) {
        roof = {{"name", lesson.roof->name},
                {"bytes", lesson.roof->bytes},
                {"gb_per_s", finite(lesson.roof->gb_per_s)},
                {"seconds", json_of(lesson.roof->timing)}};
    }
    Json json = {{"name", lesson.name}};
    if (!lesson.idea.empty()) json["idea"] = lesson.idea;
    if (lesson.left) json["left"] = true;
    const Json rest = {{"size", lesson.steps.empty() ? Json(nullptr) : json_of(lesson.steps.front().size)},
                       {"story", story},
                       {"predictions", predictions},
                       {"texts", lesson.texts},
                       {"drawings", drawings},
                       {"steps", steps},
                       {"roof", roof},
                       {"recording", lesson.recording ? json_of(*lesson.recording) : Json(nullptr)},
                       {"tables", tables},
                       {"expectations", expectations},
                       {"diagnostics", json_of(lesson.diagnostics)},
                       {"failure", lesson.failure.empty() ? Json(nullptr) : Json(lesson.failure)},
                       {"passed", lesson.passed()}};
    json.update(rest);
    return json;
}

Json json_of(const DeviceInfo& device) {
    return {{"name", device.name},
            {"kind", device.on_gpu ? "cuda" : "cpu"},
            {"compute_capability", fmt::format("{}.{}", device.major, device.minor)},
            {"driver_version", device.driver_version},
            {"runtime_version", device.runtime_version},
            {"processors", device.processors},
            {"clock_mhz", device.clock ? Json(*device.clock) : Json(nullptr)},
            {"l2_bytes", device.l2_bytes},
            {"memory_bytes", device.memory_bytes}};
}

[[noreturn]] void refuse(const std::string& option, const std::string& file) {
    throw Refusal(option + " " + file + ": cannot write this file");
}

void write(const std::string& file, const Json& document) {
    // Text of a lesson that is not UTF-8 must not cost the results.
    const std::string text = json_text(document, 2) + "\n";
    if (file == "-") {
        std::fputs(text.c_str(), stdout);
        return;
    }
    std::ofstream stream(file);
    stream << text;
    stream.close();
    if (!stream) refuse("--json", file);
}

}  // namespace

std::string launch_json(const LaunchCounts& launch) { return json_text(json_of(launch)); }

void require_writable(const std::string& option, const std::string& file) {
    if (file == "-") return;
    if (!std::ofstream(file, std::ios::app)) refuse(option, file);
}

void write_json(const std::string& file, const ChapterReport& report) {
    Json lessons = Json::array();
    for (const LessonResult& lesson : report.lessons) lessons.push_back(json_of(lesson));
    Json document = {
        {"warpwise", 1},
        {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
        {"chapter",
         {{"number", report.chapter.number}, {"title", report.chapter.title}, {"folder", report.chapter.folder}}},
        {"device", json_of(report.device)},
        {"command", report.command},
        {"lessons", lessons},
        {"passed", report.passed}};
    if (report.left) document["left"] = true;
    write(file, document);
}

void write_json(const std::string& file, const Chapter& chapter) {
    Json lessons = Json::array();
    for (const LessonEntry& lesson : chapter.lessons) {
        lessons.push_back({{"name", lesson.name}, {"title", lesson.summary}});
    }
    write(file, {{"warpwise", 1},
                 {"chapter", {{"number", chapter.number}, {"title", chapter.title}, {"folder", chapter.folder}}},
                 {"lessons", lessons}});
}

}  // namespace warpwise
