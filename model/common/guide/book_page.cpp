#include "common/guide/book_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/guide/exercise_files.h"
#include "common/guide/project.h"
#include "common/guide/report_results.h"
#include "common/lesson/reader.h"
#include "common/lesson/recorded_columns.h"
#include "common/lesson/step_table.h"
#include "common/lesson/suggest.h"

namespace guide {
namespace {

namespace fs = std::filesystem;
using warpwise::Cell;
using Lines = std::vector<std::string>;
using Rows = std::vector<std::vector<Cell>>;

constexpr std::size_t no_limit = 100'000;  // of a line that is not to be wrapped

// ---- finding it ----------------------------------------------------------------------------------------------------

/// Pages by name. Of two with one name, the first in the order of folders.
std::map<std::string, fs::path> all_pages(const fs::path& docs) {
    std::vector<fs::path> folders = {docs};
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(docs, error)) {
        const std::string name = entry.path().filename().string();
        if (entry.is_directory() && std::isdigit(static_cast<unsigned char>(name[0])) != 0) folders.push_back(entry);
    }
    std::sort(folders.begin() + 1, folders.end());
    std::map<std::string, fs::path> pages;
    for (const fs::path& folder : folders) {
        for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
            if (entry.path().extension() == ".md") pages.emplace(entry.path().stem().string(), entry.path());
        }
    }
    return pages;
}

std::string text_of_page(const fs::path& root, const std::string& wanted) {
    std::string name = fs::path(wanted).filename().string();
    if (name.ends_with(".md")) name.resize(name.size() - 3);
    const std::map<std::string, fs::path> pages = all_pages(root / "docs");
    const auto found = pages.find(name);
    if (found != pages.end()) {
        if (std::optional<std::string> text = read_file(found->second)) return std::move(*text);
    }
    std::vector<std::string> names;
    for (const auto& [each, file] : pages) names.push_back(each);
    const std::vector<std::string> near = warpwise::suggest(name, names);
    throw Refusal(near.empty()
                      ? fmt::format("the book has no page '{}'; docs/README.md lists its pages", name)
                      : fmt::format("the book has no page '{}'; did you mean {}?", name, fmt::join(near, " or ")));
}

// ---- text ----------------------------------------------------------------------------------------------------------

Lines lines_of(const std::string& text) {
    Lines lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == text.npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

bool is_number(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string readable_formula(std::string_view formula);

/// "(a + b)" of "a + b", and "a" of "a".
std::string as_operand(const std::string& text) {
    const bool is_simple = text.find_first_of(" +-/") == text.npos && text.find("·") == text.npos;
    return is_simple ? text : "(" + text + ")";
}

/// The argument that begins at `at`, "{a + b}" or a single character, made readable. Moves `at` past it.
std::string argument_of_formula(std::string_view formula, std::size_t& at) {
    while (at < formula.size() && formula[at] == ' ') ++at;
    if (at == formula.size()) return {};
    if (formula[at] != '{') return readable_formula(formula.substr(at++, 1));
    const std::size_t begin = at + 1;
    int depth = 0;
    for (; at < formula.size(); ++at) {
        depth += formula[at] == '{' ? 1 : formula[at] == '}' ? -1 : 0;
        if (depth == 0) break;
    }
    const std::size_t end = std::min(at, formula.size());
    at = std::min(end + 1, formula.size());
    return readable_formula(formula.substr(begin, end - begin));
}

/// What a command of a formula looks like in a terminal; commands that are not here show their name: "max".
std::string_view text_of_command(std::string_view command) {
    static const std::map<std::string_view, std::string_view> texts = {
        {"cdot", "·"},   {"times", "×"},  {"le", "≤"},    {"leq", "≤"},   {"ge", "≥"},         {"geq", "≥"},
        {"ne", "≠"},     {"approx", "≈"}, {"pi", "π"},    {"sum", "Σ"},   {"int", "∫"},        {"infty", "∞"},
        {"bmod", "mod"}, {"dots", "…"},   {"cdots", "…"}, {"ldots", "…"}, {"quad", "  "},      {"qquad", "  "},
        {"left", ""},    {"right", ""},   {"text", ""},   {"lceil", "⌈"}, {"rceil", "⌉"},      {"lfloor", "⌊"},
        {"rfloor", "⌋"}, {"lvert", "|"},  {"rvert", "|"}, {"lVert", "‖"}, {"rVert", "‖"},      {"varepsilon", "ε"},
        {"to", "→"},     {"in", "∈"},     {"mathrm", ""}, {"mathbf", ""}, {"displaystyle", ""}};
    const auto found = texts.find(command);
    return found == texts.end() ? command : found->second;
}

/// "i = 2 · 256" of "i = 2 \cdot 256", and "4 / (1 + x^2)" of "\frac{4}{1 + x^2}".
std::string readable_formula(std::string_view formula) {
    std::string result;
    std::size_t at = 0;
    while (at < formula.size()) {
        const char c = formula[at];
        if (c == '\\' && at + 1 < formula.size() && std::isalpha(static_cast<unsigned char>(formula[at + 1])) != 0) {
            const std::size_t begin = ++at;
            while (at < formula.size() && std::isalpha(static_cast<unsigned char>(formula[at])) != 0) ++at;
            const std::string_view command = formula.substr(begin, at - begin);
            if (command.ends_with("frac")) {
                const std::string above = argument_of_formula(formula, at);
                const std::string below = argument_of_formula(formula, at);
                const bool is_number_alone = is_number(above) && is_number(below);
                if (is_number_alone && !result.empty() &&
                    std::isdigit(static_cast<unsigned char>(result.back())) != 0) {
                    result += ' ';  // "4 7/8"
                }
                result += is_number_alone ? above + "/" + below : as_operand(above) + " / " + as_operand(below);
            } else if (command == "sqrt") {
                result += "√(" + argument_of_formula(formula, at) + ")";
            } else {
                result += text_of_command(command);
            }
        } else if (c == '\\' && at + 1 < formula.size()) {  // \, is a space, \\ begins a line, \% is a %
            const char next = formula[at + 1];
            result += next == ',' || next == ';' || next == ' ' || next == '\\' ? " "
                      : next == '!'                                             ? ""
                                                                                : std::string(1, next);
            at += 2;
        } else if ((c == '^' || c == '_') && at + 1 < formula.size() && formula[at + 1] == '{') {
            result += c;
            result += as_operand(argument_of_formula(formula, ++at));
        } else if (c == '{') {
            result += argument_of_formula(formula, at);
        } else {
            if (c != '&' && c != '}') result += c;
            ++at;
        }
    }
    return result;
}

/// A paragraph's text without the marks of formulas. What stands between backticks stays as it is.
std::string without_formulas(std::string_view text) {
    std::string result;
    bool in_code = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        in_code ^= text[at] == '`';
        const std::size_t marks = text.substr(at).starts_with("$$") ? 2 : 1;
        const std::size_t end = text[at] == '$' && !in_code ? text.find(text.substr(at, marks), at + marks) : text.npos;
        if (end == text.npos) {
            result += text[at];
            continue;
        }
        result += readable_formula(text.substr(at + marks, end - at - marks));
        at = end + marks - 1;
    }
    return result;
}

/// Where the tag that begins at `at` ends, at its >; one between quotes is a part of the tag.
std::size_t end_of_tag(std::string_view text, std::size_t at) {
    bool in_quotes = false;
    for (; at < text.size(); ++at) {
        in_quotes ^= text[at] == '"';
        if (text[at] == '>' && !in_quotes) return at;
    }
    return text.npos;
}

/// Without the tags of the site's components: "<Measured source="...">139.8</Measured>" is 139.8, and "<WarpView ...
/// />" says where the view is to be seen.
std::string without_components(std::string_view text) {
    std::string result;
    bool in_code = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        in_code ^= text[at] == '`';
        const std::size_t name = at + (text.substr(at).starts_with("</") ? 2 : 1);
        const bool is_tag = !in_code && text[at] == '<' && name < text.size() &&
                            std::isupper(static_cast<unsigned char>(text[name])) != 0;
        const std::size_t end = is_tag ? end_of_tag(text, at) : text.npos;
        if (end == text.npos) {
            result += text[at];
        } else {
            if (text[end - 1] == '/')
                result += "*(In the browser, `./warpwise docs`, an interactive view stands here.)*";
            at = end;
        }
    }
    return result;
}

std::string plain_cell(std::string_view markdown) {
    std::string text = plain_text(without_formulas(markdown), no_limit);
    std::replace(text.begin(), text.end(), '\n', ' ');
    return std::string(trimmed(text));
}

// ---- tables --------------------------------------------------------------------------------------------------------

/// "| a | `b \| c` |" as its cells.
std::vector<std::string> cells_of(std::string_view line) {
    line = trimmed(line);
    line.remove_prefix(1);
    std::vector<std::string> cells(1);
    for (std::size_t at = 0; at < line.size(); ++at) {
        if (line[at] == '\\' && at + 1 < line.size() && line[at + 1] == '|') {
            cells.back() += line[++at];
        } else if (line[at] == '|') {
            cells.emplace_back();
        } else {
            cells.back() += line[at];
        }
    }
    if (trimmed(cells.back()).empty()) cells.pop_back();
    return cells;
}

/// The glossary's Chinese terms are left out: they are for the Chinese pages, and meanings need the room.
std::string markdown_table(const Lines& lines, const warpwise::Terminal& terminal) {
    std::vector<std::string> header = cells_of(lines[0]);
    for (std::string& cell : header) cell = plain_cell(cell);
    const auto chinese = static_cast<std::size_t>(std::find(header.begin(), header.end(), "Chinese") - header.begin());
    Rows rows;
    for (std::size_t i = 2; i < lines.size(); ++i) {  // below |---|---|
        const std::vector<std::string> cells = cells_of(lines[i]);
        rows.emplace_back();
        for (std::size_t column = 0; column < cells.size(); ++column) {
            if (column != chinese) rows.back().push_back({plain_cell(cells[column])});
        }
    }
    if (chinese < header.size()) header.erase(header.begin() + static_cast<std::ptrdiff_t>(chinese));
    return warpwise::format_table(header, rows, terminal);
}

std::string step_table(const warpwise::LessonResult& lesson, bool on_gpu, const warpwise::Terminal& terminal) {
    warpwise::StepTable table = warpwise::make_step_table(lesson.steps, lesson.roof, on_gpu);
    const warpwise::RecordedColumns recorded =
        warpwise::recorded_columns(lesson.steps, lesson.recording, lesson.steps.at(0).size);
    warpwise::add_rows(table, recorded);
    warpwise::append(table, recorded.columns);
    warpwise::append(table, warpwise::counter_columns(lesson.steps));
    std::string text = warpwise::format_table(table.header, table.rows, terminal);
    if (!recorded.note.empty()) text += warpwise::wrap(recorded.note, terminal.width);
    return text;
}

/// The words of `h200_chapter_2 memory_spaces "One load after the other"`.
std::vector<std::string> words_of(std::string_view line) {
    std::vector<std::string> words;
    while (!(line = trimmed(line)).empty()) {
        const bool is_quoted = line[0] == '"';
        const std::size_t end = std::min(line.find(is_quoted ? '"' : ' ', 1), line.size());
        words.emplace_back(line.substr(is_quoted ? 1 : 0, end - (is_quoted ? 1 : 0)));
        line.remove_prefix(std::min(end + 1, line.size()));
    }
    return words;
}

/// The steps of a fence `bars`, each with the rate that its bar stands for, or with its time where it has no rate.
std::string bars_of_steps(const warpwise::LessonResult& lesson, const warpwise::Terminal& terminal) {
    const auto& steps = lesson.steps;
    const bool are_rates = std::all_of(steps.begin(), steps.end(), [](const auto& step) { return step.gb_per_s; });
    const auto value_of = [&](const warpwise::StepResult& step) {
        return are_rates ? *step.gb_per_s : step.timing ? step.timing->median : 0;
    };
    double most = 0;
    for (const warpwise::StepResult& step : steps) most = std::max(most, value_of(step));
    if (most <= 0) throw std::runtime_error("the lesson has no times");
    Rows rows;
    constexpr double longest = 40;
    for (const warpwise::StepResult& step : steps) {
        const double value = value_of(step);
        if (value <= 0) continue;
        const auto length = std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(longest * value / most)));
        rows.push_back({{step.name},
                        {are_rates ? warpwise::three_digits(value) : warpwise::time_text(value)},
                        {std::string(length, '#')}});
    }
    return warpwise::format_table({"step", are_rates ? "GB/s" : "time", ""}, rows, terminal);
}

/// What a fence `results` or `bars` names, a table, a drawing, or bars, with what it was recorded on. Throws
/// std::runtime_error.
std::string recorded_results(const fs::path& root, const std::string& line, bool as_bars,
                             const warpwise::Terminal& terminal) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() < 2) throw std::runtime_error("no run and lesson are named");
    const std::optional<std::string> json = read_file(root / "docs" / "results" / (words[0] + ".json"));
    if (!json) throw std::runtime_error("there is no such run");
    const ChapterResults run = parse_results(*json);
    const auto lesson = std::find_if(run.lessons.begin(), run.lessons.end(),
                                     [&](const warpwise::LessonResult& each) { return each.name == words[1]; });
    if (lesson == run.lessons.end()) throw std::runtime_error("the run has no such lesson");
    const auto drawing = std::find_if(lesson->drawings.begin(), lesson->drawings.end(),
                                      [&](const auto& each) { return words.size() > 2 && each.name == words[2]; });
    std::string text;
    if (as_bars) {
        text = bars_of_steps(*lesson, terminal);
    } else if (drawing != lesson->drawings.end()) {
        text = drawing->text + "\n";
    } else if (words.size() == 2 || words[2] == "steps") {
        if (lesson->steps.empty()) throw std::runtime_error("the lesson has no steps");
        text = step_table(*lesson, run.device.on_gpu, terminal);
    } else {
        const auto table = std::find_if(lesson->tables.begin(), lesson->tables.end(), [&](const auto& each) {
            return is_number(words[2]) ? std::to_string(&each - lesson->tables.data() + 1) == words[2]
                                       : each.title.name == words[2];
        });
        if (table == lesson->tables.end()) throw std::runtime_error("the lesson has no such table");
        Rows rows;
        for (const std::vector<std::string>& row : table->rows) {
            rows.emplace_back();
            for (const std::string& cell : row) rows.back().push_back({cell});
        }
        text = warpwise::wrap(table->title.heading(), terminal.width) + "\n" +
               warpwise::format_table(table->header, rows, terminal);
    }
    return text + fmt::format("(recorded on {}, {})\n", run.device.name, run.date.substr(0, 10));
}

// ---- code ----------------------------------------------------------------------------------------------------------

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Whether the line is the beginning of a definition of `name`: a type stands before it, and what follows is "(", "=",
/// "[", "{", ";", or ":", as in no sentence of a text.
bool defines(std::string_view line, std::string_view name) {
    for (std::size_t at = line.find(name); at != line.npos; at = line.find(name, at + 1)) {
        const std::size_t end = at + name.size();
        if (at == 0 || is_word_character(line[at - 1]) || (end < line.size() && is_word_character(line[end]))) continue;
        const std::string_view after = trimmed(line.substr(end));
        const std::string_view before = trimmed(line.substr(0, at));
        const bool is_type =
            !before.empty() && (is_word_character(before.back()) || before.ends_with('>') || before.ends_with('*') ||
                                before.ends_with('&') || before.ends_with(')'));
        if (is_type && (after.empty() || std::string_view("(=[{;:").find(after[0]) != after.npos)) return true;
    }
    return false;
}

/// "int a = 1;" of "int a = 1;  // one".
std::string_view without_comment(std::string_view line) { return trimmed(line.substr(0, line.find("//"))); }

bool begins_at_margin(std::string_view line) {
    return line.starts_with("[[") ||
           (!line.empty() && (std::isalpha(static_cast<unsigned char>(line[0])) != 0 || line[0] == '_'));
}

/// What is defined in line `at`, from the comment above it to the line that closes it; empty where none does.
std::string whole_definition(const Lines& lines, std::size_t at) {
    std::size_t begin = at;
    while (begin > 0 && (lines[begin - 1].starts_with("//") || lines[begin - 1].starts_with("template"))) --begin;
    std::string text;
    for (std::size_t i = begin; i < lines.size(); ++i) {
        text += lines[i] + "\n";
        const std::string_view code = without_comment(lines[i]);
        const bool closes = lines[i].starts_with("}") || (i == at && code.ends_with("}")) ||
                            (!lines[i].starts_with(" ") && code.ends_with(";"));
        if (i >= at && closes) return text;
    }
    return {};
}

/// Of the text of a class the member of this name, with the comment above it, at the margin. Empty when there is none.
std::string member_of(const std::string& text, std::string_view name) {
    constexpr std::size_t indent = 4;
    Lines lines;
    for (const std::string& line : lines_of(text)) {
        const bool is_inside = line.size() > indent && line.starts_with(std::string(indent, ' '));
        lines.push_back(is_inside ? line.substr(indent) : line.starts_with('#') ? line : "");
    }
    for (std::size_t at = 0; at < lines.size(); ++at) {
        if (!begins_at_margin(lines[at]) || !defines(lines[at], name)) continue;
        if (std::string found = whole_definition(lines, at); !found.empty()) return found;
    }
    return {};
}

/// The definition that begins at the margin, with the comment above it. As clang-format lays out the sources, a line
/// that begins with } or ends it with ; closes it. "row_of/2" is the second one of that name, and "Roots::copy_in" is a
/// member. Empty when there is none.
std::string definition(const std::string& source, std::string_view name) {
    const Lines lines = lines_of(source);
    if (const std::size_t colons = name.find("::"); colons != name.npos) {
        const std::string whole = definition(source, name.substr(0, colons));
        const std::string member = member_of(whole, name.substr(colons + 2));
        return member.empty() ? whole : member;
    }
    std::size_t before = 0;  // so many of that name come first
    if (const std::size_t slash = name.find('/'); slash != name.npos) {
        before = static_cast<std::size_t>(std::max(1, std::atoi(std::string(name.substr(slash + 1)).c_str()))) - 1;
        name = name.substr(0, slash);
    }
    bool in_text = false;  // of a raw string
    for (std::size_t at = 0; at < lines.size(); ++at) {
        const std::string& line = lines[at];
        const std::size_t opens = line.find("R\"("), ends = line.find(")\"", opens == line.npos ? 0 : opens);
        const bool is_text = in_text;
        if (in_text || opens != line.npos) in_text = ends == line.npos;
        if (is_text) continue;
        // The name may stand in the second line: "__global__ void __launch_bounds__(256)", "    name(...".
        const bool goes_on = at + 1 < lines.size() && lines[at + 1].starts_with("    ") &&
                             trimmed(lines[at + 1]).starts_with(std::string(name) + "(") &&
                             without_comment(line).find_first_of(";{}") == line.npos;
        if (!begins_at_margin(line) || !(defines(line, name) || goes_on)) continue;
        if (before > 0) {
            --before;
            continue;
        }
        if (std::string found = whole_definition(lines, at); !found.empty()) return found;
    }
    return {};
}

/// What stands in the fence "FILE: one, two" or, of a change, "FILE: before -> after". Where it is not found, the file
/// and the names. Bare code has no comment above it.
std::string code_of(const fs::path& root, const std::string& line, bool is_change, bool is_bare) {
    const std::size_t colon = line.find(": ");
    std::string file = line.substr(0, colon);
    std::string names = colon == line.npos ? "" : line.substr(colon + 2);
    std::string text;
    if (is_change) {
        const std::size_t arrow = names.find("->");
        if (arrow != names.npos) names = std::string(trimmed(names.substr(arrow + 2)));
        if (const std::size_t other = names.find(": "); other != names.npos) {  // the changed one is in another file
            file = names.substr(0, other);
            names = names.substr(other + 2);
        }
    }
    const std::optional<std::string> source = read_file(root / file);
    std::replace(names.begin(), names.end(), ',', ' ');
    for (const std::string& name : words_of(names)) {
        std::string found = source ? definition(*source, name) : "";
        while (is_bare && found.starts_with("//")) found.erase(0, found.find('\n') + 1);
        if (!found.empty() && text.find(found) == text.npos) text += (text.empty() ? "" : "\n") + found;
    }
    std::string result;
    for (const std::string& each : lines_of(text)) result += each.empty() ? "\n" : "    " + each + "\n";
    if (!result.empty()) result += "\n";
    return result + fmt::format("    ({})\n", line);
}

// ---- the page ------------------------------------------------------------------------------------------------------

class PageReader {
public:
    PageReader(fs::path root, const warpwise::Terminal& terminal)
        : root_(std::move(root)), terminal_(terminal), parts_(1) {}

    std::vector<PagePart> read(const std::string& page) {
        lines_ = lines_of(page);
        if (!lines_.empty() && lines_[0] == "---") {  // title and description, for the site
            while (++next_ < lines_.size() && lines_[next_] != "---") {
            }
            ++next_;
        }
        for (; next_ < lines_.size(); ++next_) take(lines_[next_]);
        flush();
        std::erase_if(parts_, [](const PagePart& part) { return part.text.empty(); });
        return std::move(parts_);
    }

private:
    fs::path root_;
    const warpwise::Terminal& terminal_;
    Lines lines_;
    std::size_t next_ = 0;
    std::string markdown_;  ///< that was not laid out yet
    std::vector<PagePart> parts_;

    void take(const std::string& line) {
        const std::string_view text = trimmed(line);
        if (line.starts_with("```")) {
            take_fence(line);
        } else if (begins_table()) {
            Lines table;
            while (next_ < lines_.size() && trimmed(lines_[next_]).starts_with('|')) table.push_back(lines_[next_++]);
            --next_;
            add(markdown_table(table, terminal_));
        } else if (text.starts_with("::: predict")) {
            flush();
            add(terminal_.paint(warpwise::Style::heading, "Predict first") + "\n");
        } else if (text.starts_with("<details>")) {
            flush();
            const bool is_answer =
                next_ + 1 < lines_.size() && trimmed(lines_[next_ + 1]).starts_with("<summary>Answer");
            parts_.push_back({"", is_answer});
        } else if (text.starts_with("</details>")) {
            flush();
            parts_.push_back({"", false});
        } else if (text.starts_with("<summary>")) {
            const std::size_t begin = std::string_view("<summary>").size();
            std::string title(text.substr(begin, text.find("</summary>") - begin));
            for (const std::string tag : {"<code>", "</code>"}) {  // a title is no Markdown
                for (std::size_t at = 0; (at = title.find(tag)) != title.npos;) title.replace(at, tag.size(), "`");
            }
            markdown_ += "**" + title + (title.ends_with('?') ? "" : ":") + "**\n";
        } else if (!text.starts_with(":::") && !text.starts_with("<!--")) {
            markdown_ += line + "\n";
        }
    }

    /// A table may belong to an item of a list, and is then indented. A drawing has no line of dashes below its first.
    bool begins_table() const {
        const std::string& line = lines_[next_];
        if (line.starts_with('|')) return true;
        const bool is_indented = trimmed(line).starts_with('|') && !line.starts_with("    ");
        return is_indented && next_ + 1 < lines_.size() && trimmed(lines_[next_ + 1]).starts_with("|--");
    }

    void take_fence(const std::string& opening) {
        const std::vector<std::string> words = words_of(opening.substr(3));
        const std::string kind = words.empty() ? "" : words[0];
        const bool is_bare = std::find(words.begin(), words.end(), "bare") != words.end();
        Lines inside;
        while (++next_ < lines_.size() && !lines_[next_].starts_with("```")) inside.push_back(lines_[next_]);
        if (kind == "results") {
            for (const std::string& line : inside) add_results(line, false);
        } else if (kind == "bars") {
            for (const std::string& line : inside) add_results(line, true);
        } else if (kind == "code" || kind == "change") {
            for (const std::string& line : inside) add(code_of(root_, line, kind == "change", is_bare));
        } else {
            std::string text;
            for (const std::string& line : inside) text += "    " + line + "\n";
            add(text);
        }
    }

    void add_results(const std::string& line, bool as_bars) {
        try {
            add(recorded_results(root_, line, as_bars, terminal_));
        } catch (const std::runtime_error& error) {
            add(fmt::format("    (recorded results, {}: {})\n", line, error.what()));
        }
    }

    /// Text that is laid out already.
    void add(const std::string& text) {
        flush();
        parts_.back().text += text + "\n";
    }

    void flush() {
        std::string text = plain_text(with_formulas_readable(), terminal_.width);
        while (text.starts_with('\n')) text.erase(0, 1);
        while (text.ends_with('\n')) text.pop_back();
        if (!text.empty()) parts_.back().text += text + "\n\n";
        markdown_.clear();
    }

    /// Formulas in code blocks are none.
    std::string with_formulas_readable() const {
        std::string result, paragraph;
        const auto end_paragraph = [&] {
            result += without_formulas(paragraph);
            paragraph.clear();
        };
        for (const std::string& line : lines_of(markdown_)) {
            const bool is_code = line.starts_with("    ");
            if (is_code || line.empty()) end_paragraph();
            (is_code ? result : paragraph) += line + "\n";
        }
        end_paragraph();
        return result;
    }
};

}  // namespace

std::vector<PagePart> page_parts(const fs::path& root, const std::string& name, const warpwise::Terminal& terminal) {
    return PageReader(root, terminal).read(without_components(text_of_page(root, name)));
}

std::string text_with_tables(const std::string& markdown, const warpwise::Terminal& terminal) {
    std::string text;
    for (const PagePart& part : PageReader({}, terminal).read(markdown)) text += part.text;
    while (text.ends_with("\n\n")) text.pop_back();
    return text;
}

bool show_page(const fs::path& root, const std::string& name, const warpwise::Terminal& terminal, bool reads_along) {
    warpwise::Reader reader(reads_along);
    try {
        for (const PagePart& part : page_parts(root, name, terminal)) {
            if (part.is_answer) {
                const std::optional<std::string> typed = reader.ask("Enter shows the answer, q and Enter leaves ");
                if (typed && warpwise::Reader::leaves(*typed)) return false;
            }
            reader.show(part.text);
        }
    } catch (const warpwise::ReaderLeft&) {
        return false;
    }
    return true;
}

}  // namespace guide
