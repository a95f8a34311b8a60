#include "common/lesson/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

#include "common/lesson/refusal.h"

namespace warpwise {
namespace {

// Parsed here, not by common/helpers/json.h: a learner waits for the first lesson, which needs nothing else of that.
using Json = nlohmann::json;

constexpr const char* nothing = "-";

std::optional<double> number_in(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (!object.is_object() || found == object.end() || !found->is_number()) return std::nullopt;
    return found->get<double>();
}

/// A member of the lesson, which may have been recorded on its own, else of the whole file.
const Json& own_or_shared(const Json& lesson, const Json& document, const char* key) {
    return lesson.contains(key) ? lesson.at(key) : document.at(key);
}

std::string program_of(const Json& lesson, const Json& document) {
    const auto command = own_or_shared(lesson, document, "command").get<std::vector<std::string>>();
    return std::filesystem::path(command.at(0)).filename();
}

/// 13000 -> "13.0"; empty where it is not known.
std::string cuda_version_of(const Json& device) {
    const int version = device.value("runtime_version", 0);
    return version > 0 ? fmt::format("{}.{}", version / 1000, version % 1000 / 10) : std::string();
}

RecordedStep step_of(const Json& step) {
    RecordedStep result;
    result.name = step.at("name");
    result.change = step.value("change", "");
    const std::string kind = step.value("kind", "device");
    result.on_host = kind == "host";
    result.is_vendor = kind == "vendor";
    if (const auto number = number_in(step, "number")) result.number = static_cast<int>(*number);
    result.seconds = number_in(step.value("seconds", Json()), "median");
    result.gb_per_s = number_in(step, "gb_per_s");
    result.gop_per_s = number_in(step, "gop_per_s");
    result.share_of_copy = number_in(step, "share_of_roof");
    return result;
}

std::optional<RecordedCopy> copy_of(const Json& lesson) {
    const Json roof = lesson.value("roof", Json());
    const std::optional<double> rate = number_in(roof, "gb_per_s");
    if (!rate) return std::nullopt;
    return RecordedCopy{*rate, number_in(roof.value("seconds", Json()), "median")};
}

constexpr std::string_view usual_recording = "h200";

std::string file_name(const std::string& recording, int chapter) {
    return fmt::format("{}_chapter_{}.json", recording, chapter);
}

std::size_t column_of(const RecordedTable& table, std::string_view column) {
    const auto found = std::find(table.header.begin(), table.header.end(), column);
    return static_cast<std::size_t>(found - table.header.begin());
}

}  // namespace

Record Record::read(const std::string& file, std::string_view lesson_name) {
    std::ifstream stream(file);
    if (!stream) return {};
    Record record;
    try {
        const Json document = Json::parse(stream);
        for (const Json& lesson : document.at("lessons")) {
            if (lesson.at("name") != lesson_name) continue;
            for (const Json& step : lesson.at("steps")) {
                record.steps_.push_back(step_of(step));
            }
            for (const Json& table : lesson.at("tables")) {
                record.tables_.push_back({table.at("name"), table.at("title"), table.at("header"), table.at("rows")});
            }
            const Json& device = own_or_shared(lesson, document, "device");
            record.device_ = device.at("name");
            record.cuda_ = cuda_version_of(device);
            record.date_ = own_or_shared(lesson, document, "date").get<std::string>().substr(0, 10);
            constexpr std::string_view sources = WARPWISE_RECORDED_RUNS "/";
            record.file_ = file.starts_with(sources) ? "docs/results/" + file.substr(sources.size()) : file;
            if (lesson.contains("size") && !lesson.at("size").is_null()) {
                record.size_ = lesson.at("size").get<std::vector<std::size_t>>();
            }
            record.copy_ = copy_of(lesson);
            record.where_ = fmt::format("recorded on one {} ({} --device cuda, {})", record.device_,
                                        program_of(lesson, document), record.date_);
        }
    } catch (const Json::exception& error) {
        throw std::runtime_error(fmt::format("{}: not the results of a chapter: {}", file, error.what()));
    }
    return record;
}

const RecordedStep* Record::step(std::string_view name) const {
    const auto found = std::find_if(steps_.begin(), steps_.end(), [&](const auto& each) { return each.name == name; });
    return found == steps_.end() ? nullptr : &*found;
}

std::vector<RecordedStep> Record::list_with(const std::vector<std::string>& names) const {
    std::vector<RecordedStep> best;
    std::ptrdiff_t most = 0;
    std::vector<RecordedStep> list;
    const auto finish_list = [&] {
        const std::ptrdiff_t has = std::count_if(list.begin(), list.end(), [&](const RecordedStep& step) {
            return !step.is_vendor && std::find(names.begin(), names.end(), step.name) != names.end();
        });
        if (has > most) {
            most = has;
            best = list;
        }
        list.clear();
    };
    int last = 0;
    for (const RecordedStep& step : steps_) {
        if (step.number && *step.number <= last) finish_list();
        if (step.number) last = *step.number;
        list.push_back(step);
    }
    finish_list();
    return best;
}

const RecordedTable* Record::table(std::string_view name) const {
    const auto found =
        std::find_if(tables_.begin(), tables_.end(), [&](const auto& each) { return each.name == name; });
    return found == tables_.end() ? nullptr : &*found;
}

std::string Record::cell(std::string_view table_name, const std::vector<std::string>& row,
                         std::string_view column) const {
    const RecordedTable* const found = table(table_name);
    if (found == nullptr) return nothing;
    const std::size_t place = column_of(*found, column);
    for (const std::vector<std::string>& cells : found->rows) {
        if (place < cells.size() && row.size() <= cells.size() && std::equal(row.begin(), row.end(), cells.begin())) {
            return cells[place];
        }
    }
    return nothing;
}

std::optional<double> Record::number(std::string_view table_name, const std::vector<std::string>& row,
                                     std::string_view column) const {
    const std::string text = cell(table_name, row, column);
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    return end == text.c_str() ? std::nullopt : std::optional(value);
}

std::string short_device_name(const std::string& device) {
    std::string_view name = device;
    for (const std::string_view maker : {"NVIDIA ", "GeForce ", "Tesla ", "Quadro "}) {
        if (name.starts_with(maker)) name.remove_prefix(maker.size());
    }
    return std::string(name.substr(0, name.find('-')));
}

std::string recorded_folder() {
    const char* const folder = std::getenv("WARPWISE_RECORDINGS");
    return folder != nullptr && *folder != '\0' ? folder : WARPWISE_RECORDED_RUNS;
}

std::vector<std::string> recordings(const std::string& folder, int chapter) {
    std::vector<std::string> names;
    const std::string end = "_" + file_name({}, chapter).substr(1);
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
        const std::string name = entry.path().filename();
        if (!name.ends_with(end) || name.size() == end.size()) continue;
        std::ifstream stream(entry.path());
        const Json document = Json::parse(stream, nullptr, false);
        const Json device = document.is_object() ? document.value("device", Json()) : Json();
        if (device.is_object() && device.value("kind", "") == "cuda") {
            names.push_back(name.substr(0, name.size() - end.size()));
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string recorded_file(const std::string& folder, int chapter, const std::string& name) {
    if (name == "none") return {};
    const auto file_of = [&](const std::string& recording) { return folder + "/" + file_name(recording, chapter); };
    const std::vector<std::string> names = recordings(folder, chapter);
    if (!name.empty()) {
        if (std::find(names.begin(), names.end(), name) != names.end()) return file_of(name);
        throw Refusal(fmt::format("no recording '{}' of chapter {}; there are {}{}none", name, chapter,
                                  fmt::join(names, ", "), names.empty() ? "" : ", "));
    }
    if (names.empty()) return {};
    if (std::find(names.begin(), names.end(), usual_recording) != names.end()) {
        return file_of(std::string(usual_recording));
    }
    const auto date_of = [&](const std::string& recording) {
        std::ifstream stream(file_of(recording));
        return Json::parse(stream, nullptr, false).value("date", "");
    };
    return file_of(*std::max_element(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
        return date_of(a) < date_of(b);
    }));
}

}  // namespace warpwise
