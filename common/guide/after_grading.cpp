#include "common/guide/after_grading.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/guide/exercise_files.h"
#include "common/helpers/counts.h"
#include "common/lesson/refusal.h"

namespace guide {
namespace {

using Json = nlohmann::json;
using Lines = std::vector<std::string>;

constexpr double worth_telling = 0.05;  // counts that differ by less are the same to a reader
constexpr std::size_t most_lines_of_an_error = 7;

Lines lines_of(std::string_view text) {
    Lines lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.emplace_back(text.substr(0, end));
        if (lines.back().ends_with('\r')) lines.back().pop_back();
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
    const std::size_t end = text.find_last_not_of(" \t");
    return end == std::string_view::npos ? std::string_view() : text.substr(begin, end + 1 - begin);
}

/// A literal from `begin` on, with its end.
std::size_t end_of_literal(std::string_view code, std::size_t begin) {
    std::size_t i = begin + 1;
    while (i < code.size() && code[i] != code[begin] && code[i] != '\n') i += code[i] == '\\' ? 2 : 1;
    return std::min(i + 1, code.size());
}

/// The text of a comment line, without its slashes; nothing when the line is none.
std::optional<std::string> comment(std::string_view line) {
    line = trimmed(line);
    if (!line.starts_with("//")) return std::nullopt;
    line.remove_prefix(2);
    return std::string(trimmed(line));
}

/// The paragraph below the title.
std::string first_paragraph(std::string_view markdown) {
    std::string text;
    for (const std::string& line : lines_of(markdown)) {
        if (line.starts_with('#')) continue;
        if (trimmed(line).empty()) {
            if (!text.empty()) break;
            continue;
        }
        text += line + "\n";
    }
    return text;
}

struct Counter {
    const char* key;  ///< in a grader's facts
    const char* name;
    bool more_is_better = false;
};
constexpr Counter counters[] = {{"launches", "launches"},
                                {"global_requests", "requests to global memory"},
                                {"global_sectors", "sectors of global memory"},
                                {"global_atomics", "atomic operations on global memory"},
                                {"shared_wavefronts", "shared-memory wavefronts"},
                                {"bank_conflicts", "bank conflicts"},
                                {"constant_wavefronts", "reads of constant memory, one address each"},
                                {"barriers_per_warp", "barriers per warp"},
                                {"active_lanes", "active lanes of 32, on average", true}};

/// Counts become fewer, and times and ratios less.
std::string change_text(double before, double after, bool is_count) {
    if (after == 0) return is_count ? "none left" : "nothing left";
    if (before == 0) return "new";
    const bool is_less = after < before;
    const double factor = is_less ? before / after : after / before;
    const char* const less = is_count ? "fewer" : "less";
    if (factor < 1.995) return fmt::format("{:.0f} % {}", 100 * std::fabs(after / before - 1), is_less ? less : "more");
    return fmt::format("{} times {}", warpwise::three_digits(factor),
                       is_less    ? less
                       : is_count ? "as many"
                                  : "as much");
}

bool is_about_the_same(double was, double is) {
    return std::fabs(was - is) <= worth_telling * std::max(std::fabs(was), std::fabs(is));
}

/// Figures of one test case, in their order.
struct FigureOfTest {
    std::string name;
    double value = 0;
};
std::vector<FigureOfTest> figures_of(const Json& facts, const std::string& test) {
    std::vector<FigureOfTest> figures;
    const auto all = facts.find("figures");
    if (all == facts.end() || !all->is_array()) return figures;
    for (const Json& figure : *all) {
        if (!figure.is_object() || figure.value("test", "") != test) continue;
        figures.push_back({figure.value("name", ""), figure.value("value", 0.0)});
    }
    return figures;
}

/// The test of the stub ends at its first figure that is too bad, so the last one of each name tells most. In the
/// answer's test the one that was taken at the same time stands at the same place among those of its name.
std::vector<Improvement> improved_figures(const std::vector<FigureOfTest>& before,
                                          const std::vector<FigureOfTest>& after) {
    std::vector<Improvement> found;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const std::string& name = before[i].name;
        const auto has_name = [&](const FigureOfTest& figure) { return figure.name == name; };
        if (std::any_of(before.begin() + static_cast<std::ptrdiff_t>(i) + 1, before.end(), has_name)) continue;
        auto place = std::count_if(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(i), has_name);
        const auto same = std::find_if(after.begin(), after.end(),
                                       [&](const FigureOfTest& figure) { return has_name(figure) && place-- == 0; });
        if (same == after.end() || is_about_the_same(before[i].value, same->value)) continue;
        found.push_back({name, before[i].value, same->value, change_text(before[i].value, same->value, false)});
    }
    return found;
}

const Json* call_named(const Json& facts, const std::string& name) {
    const auto counts = facts.find("counts");
    if (counts == facts.end() || !counts->is_array()) return nullptr;
    for (const Json& call : *counts) {
        if (call.is_object() && call.value("name", "") == name) return &call;
    }
    return nullptr;
}

bool begins_message(std::string_view line) {
    return line.find(": error: ") != std::string_view::npos || line.find(": fatal error: ") != std::string_view::npos ||
           line.find(": warning: ") != std::string_view::npos || line.find(": note: ") != std::string_view::npos ||
           line.find(": In ") != std::string_view::npos || line.find(": At ") != std::string_view::npos ||
           line.starts_with("In file included from");
}

/// "      |        ~~~^~~~"
bool is_marker(std::string_view line) {
    return line.find('^') != std::string_view::npos && line.find_first_not_of(" |~^") == std::string_view::npos;
}

bool is_error(std::string_view line) {
    return line.find(": error: ") != std::string_view::npos || line.find(": fatal error: ") != std::string_view::npos;
}

}  // namespace

std::string bare_code(std::string_view code) {
    std::string text;
    const auto add_space = [&] {
        if (!text.empty() && text.back() != ' ') text += ' ';
    };
    for (std::size_t i = 0; i < code.size();) {
        if (code.substr(i, 2) == "//") {
            i = std::min(code.find('\n', i), code.size());
        } else if (code.substr(i, 2) == "/*") {
            const std::size_t end = code.find("*/", i + 2);
            i = end == std::string_view::npos ? code.size() : end + 2;
            add_space();
        } else if (code[i] == '"' || code[i] == '\'') {
            const std::size_t end = end_of_literal(code, i);
            text += code.substr(i, end - i);
            i = end;
        } else if (std::isspace(static_cast<unsigned char>(code[i])) != 0) {
            add_space();
            ++i;
        } else {
            text += code[i++];
        }
    }
    while (text.ends_with(' ')) text.pop_back();
    return text;
}

bool is_untouched(const Exercise& exercise) {
    try {
        const std::optional<std::string> answer = read_file(answer_to(exercise).file);
        return answer && bare_code(*answer) == bare_code(handed_out_to(exercise));
    } catch (const Refusal&) {
        return false;
    }
}

Todo first_todo(std::string_view code) {
    Todo todo;
    int number = 0;
    for (const std::string& line : lines_of(code)) {
        ++number;
        const std::optional<std::string> text = comment(line);
        if (todo.line == 0) {
            const std::size_t begin = line.find("TODO");
            if (begin == std::string::npos) continue;
            todo = {number, std::string(trimmed(std::string_view(line).substr(begin)))};
        } else if (text && !text->empty() && !text->starts_with("TODO")) {
            todo.text += " " + *text;
        } else {
            break;
        }
    }
    return todo;
}

std::string invitation(const Project& project, const Exercise& exercise, const Answer& answer, std::size_t width) {
    std::string text = "You have not edited anything yet, so this does not count as an attempt. The task:\n\n";
    if (const std::optional<std::string> task = read_file(exercise.task())) {
        text += plain_text(first_paragraph(*task), width) + "\n";
    }
    const std::string file = project.shown(answer.file);
    const Todo todo = first_todo(read_file(answer.file).value_or(""));
    if (todo.line == 0) {
        text += fmt::format("Edit {} and save it.\n", file);
    } else {
        text += fmt::format("Begin at {}:{}\n", file, todo.line);
        for (const std::string& line : lines_of(warpwise::wrap(todo.text, width - 4))) text += "    " + line + "\n";
    }
    return text;
}

std::string learned_from(std::string_view task) {
    std::string text;
    bool is_in = false;
    for (const std::string& line : lines_of(task)) {
        if (line.starts_with("## ")) {
            is_in = trimmed(line) == learned_heading;
        } else if (is_in && !trimmed(line).empty()) {
            text += (text.empty() ? "" : " ") + std::string(trimmed(line));
        } else if (is_in && !text.empty()) {
            break;
        }
    }
    return text;
}

std::string without_learned(std::string_view task) {
    std::string text;
    bool is_in = false;
    for (const std::string& line : lines_of(task)) {
        if (line.starts_with("## ")) is_in = trimmed(line) == learned_heading;
        if (!is_in) text += line + "\n";
    }
    while (text.ends_with("\n\n")) text.pop_back();
    return text;
}

std::vector<Improvement> improvements(std::string_view stub, std::string_view answer) {
    const Json before = Json::parse(stub, nullptr, false);
    const Json after = Json::parse(answer, nullptr, false);
    if (!before.is_object() || !after.is_object()) return {};
    const auto failure = before.find("failure");
    if (failure == before.end() || !failure->is_object()) return {};
    const std::string test = failure->value("test", "");
    std::vector<Improvement> found = improved_figures(figures_of(before, test), figures_of(after, test));
    const std::string name = failure->value("call", "");
    const Json* const stub_call = name.empty() ? nullptr : call_named(before, name);
    const Json* const answer_call = name.empty() ? nullptr : call_named(after, name);
    if (stub_call == nullptr || answer_call == nullptr) return found;
    for (const Counter& counter : counters) {
        const double was = stub_call->value(counter.key, 0.0);
        const double is = answer_call->value(counter.key, 0.0);
        if (is_about_the_same(was, is)) continue;
        found.push_back({counter.name, was, is, change_text(was, is, true)});
    }
    return found;
}

std::string improvement_table(const std::vector<Improvement>& improvements, const warpwise::Terminal& terminal) {
    const auto number = [](double value) {
        return value == std::floor(value) ? warpwise::count_text(value) : warpwise::ratio_text(value);
    };
    std::vector<std::vector<warpwise::Cell>> rows;
    for (const Improvement& row : improvements) {
        rows.push_back({{row.name}, {number(row.before)}, {number(row.after)}, {row.change}});
    }
    return format_table({"counted", "the stub", "your answer", "that is"}, rows, terminal);
}

std::string first_error(std::string_view messages) {
    const Lines lines = lines_of(messages);
    const auto first = std::find_if(lines.begin(), lines.end(), is_error);
    if (first == lines.end()) return std::string(messages);
    std::string text = *first + "\n";
    std::size_t shown = 1;
    for (auto line = first + 1; line != lines.end() && !begins_message(*line) && shown < most_lines_of_an_error;
         ++line) {
        text += *line + "\n";
        ++shown;
        if (is_marker(*line)) break;  // below it stand types of operands and the like
    }
    const auto others = std::count_if(first + 1, lines.end(), is_error);
    // Threads and blocks have their numbers in three dimensions; in expressions people forget which one they mean.
    if (first->find("ConstantDim3") != std::string::npos && first->find("no match for") != std::string::npos) {
        text += "threadIdx, blockIdx, blockDim, and gridDim have three members. Is .x missing?\n";
    }
    if (others > 0)
        text += fmt::format("and {} more error{}, which may follow from it\n", others, others == 1 ? "" : "s");
    return text;
}

}  // namespace guide
