#include "common/guide/after_grading.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "common/guide/exercise_files.h"
#include "common/lesson/refusal.h"
#include "common/lesson/terminal.h"

namespace guide {
namespace {

using Lines = std::vector<std::string>;

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
    std::string text =
        "This is the stub as it was handed out, so this grade does not count as an attempt. The task:\n\n";
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
