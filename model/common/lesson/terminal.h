// Text for the terminal: colors, wrapped paragraphs, aligned tables.
//
//     Terminal terminal = Terminal::detect(true);
//     fmt::print("{}", format_table({{"step"}, {"time"}}, rows, terminal));
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpwise {

enum class Style { plain, title, heading, good, bad, faint };

/// What standard output can show.
struct Terminal {
    std::size_t width = 80;         ///< characters in a line of text
    std::size_t table_width = 120;  ///< characters in a line of a table
    bool colors = false;

    /// Colors only when stdout is a terminal that is not dumb, NO_COLOR is unset or empty, and `colors_wanted`.
    /// Text is as wide as the terminal, but at least 60 and at most 100 characters; tables have no upper limit.
    /// Where stdout is not a terminal, the widths are those above.
    static Terminal detect(bool colors_wanted);

    /// `text` between the escape sequences of the style, or as it is where there are no colors.
    std::string paint(Style style, std::string_view text) const;
};

/// One cell of a table.
struct Cell {
    std::string text;
    Style style = Style::plain;
};

/// Wraps paragraphs to the width, each line ended by a newline. Lines that follow each other belong to one paragraph;
/// blank lines separate paragraphs; lines that start with four spaces are kept as they are.
std::string wrap(std::string_view paragraphs, std::size_t width);

/// A heading, a rule and one line or more for each row. Columns that hold only numbers are right-aligned. When the
/// table is too wide, its widest text columns are wrapped, but not the first one; where that is not enough, it becomes
/// several tables, one below the other, each with the first column. Rows may be shorter than the header.
std::string format_table(const std::vector<std::string>& header, const std::vector<std::vector<Cell>>& rows,
                         const Terminal& terminal);

/// Three significant digits without an exponent where that is readable: 0.123, 1.23, 12.3, 123, 1234; else 1.2e-07.
std::string three_digits(double value);

/// "1.23 ms", with the unit that fits.
std::string time_text(double seconds);

}  // namespace warpwise
