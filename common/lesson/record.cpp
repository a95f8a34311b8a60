#include "common/lesson/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace warpwise {
namespace {

using Json = nlohmann::json;

constexpr const char* nothing = "-";

std::optional<double> number_in(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number()) return std::nullopt;
    return found->get<double>();
}

/// A member of the lesson, which may have been recorded on its own, else of the whole file.
const Json& own_or_shared(const Json& lesson, const Json& document, const char* key) {
    return lesson.contains(key) ? lesson.at(key) : document.at(key);
}

std::string where_of(const Json& lesson, const Json& document) {
    const std::string machine = own_or_shared(lesson, document, "device").at("name");
    const auto command = own_or_shared(lesson, document, "command").get<std::vector<std::string>>();
    const std::string date = own_or_shared(lesson, document, "date");
    const std::string program = std::filesystem::path(command.at(0)).filename();
    return fmt::format("recorded on one {} ({} --device cuda, {})", machine, program, date.substr(0, 10));
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
                record.steps_.push_back({step.at("name"), number_in(step.value("seconds", Json()), "median"),
                                         number_in(step, "gb_per_s"), number_in(step, "gop_per_s")});
            }
            for (const Json& table : lesson.at("tables")) {
                record.tables_.push_back({table.at("title"), table.at("header"), table.at("rows")});
            }
            record.where_ = where_of(lesson, document);
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

const RecordedTable* Record::table(std::string_view title) const {
    const auto find = [&](const auto& matches) {
        const auto found = std::find_if(tables_.begin(), tables_.end(), matches);
        return found == tables_.end() ? nullptr : &*found;
    };
    const RecordedTable* const same = find([&](const RecordedTable& each) { return each.title == title; });
    if (same != nullptr) return same;
    return find([&](const RecordedTable& each) { return each.title.substr(0, title.size()) == title; });
}

std::string Record::cell(std::string_view title, const std::vector<std::string>& row, std::string_view column) const {
    const RecordedTable* const found = table(title);
    if (found == nullptr) return nothing;
    const std::size_t place = column_of(*found, column);
    for (const std::vector<std::string>& cells : found->rows) {
        if (place < cells.size() && row.size() <= cells.size() && std::equal(row.begin(), row.end(), cells.begin())) {
            return cells[place];
        }
    }
    return nothing;
}

std::optional<double> Record::number(std::string_view title, const std::vector<std::string>& row,
                                     std::string_view column) const {
    const std::string text = cell(title, row, column);
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    return end == text.c_str() ? std::nullopt : std::optional(value);
}

std::string recorded_file(int chapter) {
    return fmt::format("{}/h200_chapter_{}.json", WARPWISE_RECORDED_RUNS, chapter);
}

}  // namespace warpwise
