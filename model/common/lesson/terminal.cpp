#include "common/lesson/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace warpwise {
namespace {

constexpr std::size_t gap = 2;                // spaces between two columns
constexpr std::size_t narrowest_column = 16;  // what wrapping leaves a text column at least

bool is_set(const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr && *value != '\0';
}

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (true) {
        const std::size_t begin = text.find_first_not_of(" \t\n");
        if (begin == std::string_view::npos) return words;
        text.remove_prefix(begin);
        const std::size_t end = std::min(text.find_first_of(" \t\n"), text.size());
        words.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
}

/// Fills lines with words; a word longer than the width gets a line of its own.
std::vector<std::string> fill_lines(std::string_view text, std::size_t width) {
    std::vector<std::string> lines;
    for (const std::string_view word : words_of(text)) {
        if (lines.empty() || lines.back().size() + 1 + word.size() > width) {
            lines.emplace_back(word);
        } else {
            lines.back().append(" ").append(word);
        }
    }
    if (lines.empty()) lines.emplace_back();
    return lines;
}

/// "-", "12", "1.2e-07", "0.97!", "3.4x", "12.3 us", "32 of 4": starts like a number and has at most one more word, the
/// unit.
bool looks_like_a_number(std::string_view text) {
    if (text.empty() || text == "-" || text == "nan" || text == "inf" || text == "-inf") return true;
    if (text.front() == '-' || text.front() == '+') text.remove_prefix(1);
    if (text.empty() || text.front() < '0' || text.front() > '9') return false;
    if (const std::size_t of = text.find(" of "); of != std::string_view::npos) {
        return looks_like_a_number(text.substr(0, of)) && looks_like_a_number(text.substr(of + 4));
    }
    return std::count(text.begin(), text.end(), ' ') <= 1;
}

std::size_t longest_word(std::string_view text) {
    std::size_t longest = 0;
    for (const std::string_view word : words_of(text)) longest = std::max(longest, word.size());
    return longest;
}

}  // namespace

Terminal Terminal::detect(bool colors_wanted) {
    Terminal terminal;
    if (isatty(STDOUT_FILENO) == 0) return terminal;
    const char* kind = std::getenv("TERM");
    const bool dumb = kind != nullptr && std::string_view(kind) == "dumb";
    terminal.colors = colors_wanted && !dumb && !is_set("NO_COLOR");
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) {
        terminal.table_width = std::max<std::size_t>(size.ws_col, 60);
        terminal.width = std::min<std::size_t>(terminal.table_width, 100);
    }
    return terminal;
}

std::string Terminal::paint(Style style, std::string_view text) const {
    const char* code = "";
    switch (style) {
        case Style::plain:
            break;
        case Style::title:
            code = "1;36";
            break;
        case Style::heading:
            code = "1";
            break;
        case Style::good:
            code = "32";
            break;
        case Style::bad:
            code = "1;31";
            break;
        case Style::faint:
            code = "2";
            break;
    }
    if (!colors || *code == '\0' || text.empty()) return std::string(text);
    return fmt::format("\033[{}m{}\033[0m", code, text);
}

std::string wrap(std::string_view paragraphs, std::size_t width) {
    std::string result;
    std::string paragraph;
    const auto finish_paragraph = [&] {
        if (paragraph.empty()) return;
        for (const std::string& line : fill_lines(paragraph, width)) result.append(line).append("\n");
        paragraph.clear();
    };
    while (!paragraphs.empty()) {
        const std::size_t end = std::min(paragraphs.find('\n'), paragraphs.size());
        const std::string_view line = paragraphs.substr(0, end);
        paragraphs.remove_prefix(std::min(end + 1, paragraphs.size()));
        if (line.find_first_not_of(" \t") == std::string_view::npos) {
            finish_paragraph();
            result.append("\n");
        } else if (line.substr(0, 4) == "    ") {
            finish_paragraph();
            result.append(line).append("\n");
        } else {
            paragraph.append(line).append("\n");
        }
    }
    finish_paragraph();
    return result;
}

// The parts of a table have the form of a table.
static std::string format_in_parts(const std::vector<std::string>& header, const std::vector<std::vector<Cell>>& rows,
                                   const std::vector<std::size_t>& widths, const Terminal& terminal);

std::string format_table(const std::vector<std::string>& header, const std::vector<std::vector<Cell>>& rows,
                         const Terminal& terminal) {
    const std::size_t columns = header.size();
    std::vector<std::size_t> widths(columns);
    std::vector<std::size_t> narrowest(columns);
    std::vector<bool> numeric(columns, !rows.empty());
    for (std::size_t column = 0; column < columns; ++column) {
        widths[column] = header[column].size();
        narrowest[column] = std::max(header[column].size(), narrowest_column);
        for (const std::vector<Cell>& row : rows) {
            if (column >= row.size()) continue;
            const std::string& text = row[column].text;
            widths[column] = std::max(widths[column], text.size());
            narrowest[column] = std::max(narrowest[column], longest_word(text));
            if (!looks_like_a_number(text)) numeric[column] = false;
        }
    }

    std::size_t total = std::accumulate(widths.begin(), widths.end(), gap * (columns == 0 ? 0 : columns - 1));
    while (total > terminal.table_width) {
        std::size_t widest = columns;
        for (std::size_t column = 1; column < columns; ++column) {
            if (numeric[column] || widths[column] <= narrowest[column]) continue;
            if (widest == columns || widths[column] > widths[widest]) widest = column;
        }
        if (widest == columns) break;  // nothing left to wrap
        --widths[widest];
        --total;
    }
    if (total > terminal.table_width && columns > 2) return format_in_parts(header, rows, widths, terminal);

    std::string result;
    const auto append_line = [&](const std::vector<Cell>& cells) {
        std::string line;
        for (std::size_t column = 0; column < columns; ++column) {
            const Cell cell = column < cells.size() ? cells[column] : Cell{};
            const std::string padding(widths[column] - std::min(widths[column], cell.text.size()), ' ');
            const std::string painted = terminal.paint(cell.style, cell.text);
            if (column != 0) line.append(gap, ' ');
            line += numeric[column] ? padding + painted : painted + padding;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        result += line + "\n";
    };
    std::vector<Cell> heading;
    std::vector<Cell> rule;
    for (std::size_t column = 0; column < columns; ++column) {
        heading.push_back({header[column], Style::heading});
        rule.push_back({std::string(widths[column], '-'), Style::faint});
    }
    append_line(heading);
    append_line(rule);
    for (const std::vector<Cell>& row : rows) {
        std::vector<std::vector<std::string>> lines_of_cells;
        std::size_t lines = 1;
        for (std::size_t column = 0; column < std::min(columns, row.size()); ++column) {
            const std::string& text = row[column].text;
            lines_of_cells.push_back(text.size() <= widths[column] ? std::vector<std::string>{text}
                                                                   : fill_lines(text, widths[column]));
            lines = std::max(lines, lines_of_cells.back().size());
        }
        for (std::size_t line = 0; line < lines; ++line) {
            std::vector<Cell> cells;
            for (std::size_t column = 0; column < lines_of_cells.size(); ++column) {
                const auto& parts = lines_of_cells[column];
                cells.push_back({line < parts.size() ? parts[line] : "", row[column].style});
            }
            append_line(cells);
        }
    }
    return result;
}

/// Tables one below the other, each with the first column and as many of the others as there is room for, at least one.
static std::string format_in_parts(const std::vector<std::string>& header, const std::vector<std::vector<Cell>>& rows,
                                   const std::vector<std::size_t>& widths, const Terminal& terminal) {
    std::string result;
    for (std::size_t begin = 1; begin < header.size();) {
        std::size_t end = begin + 1;
        std::size_t width = widths[0] + gap + widths[begin];
        while (end < header.size() && width + gap + widths[end] <= terminal.table_width) width += gap + widths[end++];
        const auto part_of = [&](const auto& row) {
            auto part = row;
            part.clear();
            for (std::size_t column = 0; column < std::min(row.size(), end); ++column) {
                if (column == 0 || column >= begin) part.push_back(row[column]);
            }
            return part;
        };
        std::vector<std::vector<Cell>> part;
        for (const std::vector<Cell>& row : rows) part.push_back(part_of(row));
        if (!result.empty()) result += "\n";
        result += format_table(part_of(header), part, terminal);
        begin = end;
    }
    return result;
}

std::string three_digits(double value) {
    const double magnitude = std::fabs(value);
    if (!std::isfinite(value) || magnitude == 0) return fmt::format("{:g}", value);
    if (magnitude < 0.001 || magnitude >= 1e7) return fmt::format("{:.2g}", value);
    if (magnitude < 0.9995) return fmt::format("{:.3f}", value);
    if (magnitude < 9.995) return fmt::format("{:.2f}", value);
    if (magnitude < 99.95) return fmt::format("{:.1f}", value);
    return fmt::format("{:.0f}", value);
}

std::string time_text(double seconds) {
    if (seconds >= 0.9995) return three_digits(seconds) + " s";
    if (seconds >= 0.9995e-3) return three_digits(seconds * 1e3) + " ms";
    return three_digits(seconds * 1e6) + " us";
}

}  // namespace warpwise
