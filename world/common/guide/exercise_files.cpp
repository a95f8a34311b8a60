#include "common/guide/exercise_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/guide/command.h"
#include "common/guide/project.h"
#include "common/lesson/refusal.h"
#include "common/lesson/terminal.h"

namespace guide {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

constexpr std::size_t narrowest_text = 20;  // in deeply nested lists, text rather sticks out than become a column
constexpr std::size_t code_indent = 4;
constexpr std::string_view item_indent = "  ";
constexpr char kept_space = '\x01';  // in place of a space at which a line must not be broken
constexpr double diff_limit_seconds = 10;

// ---- lines --------------------------------------------------------------------------------------------------------

Lines lines_of(std::string_view text) {
    Lines lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        lines.emplace_back(line);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t") == std::string_view::npos; }

void drop_blank_ends(Lines& lines) {
    while (!lines.empty() && is_blank(lines.back())) lines.pop_back();
    const auto first = std::find_if_not(lines.begin(), lines.end(), is_blank);
    lines.erase(lines.begin(), first);
}

/// Spaces at the beginning of a line in which tabs have become spaces.
std::size_t indent_of(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

/// Tabs at the beginning go on to the next multiple of four, as Markdown says.
std::string without_tabs_in_front(std::string_view line) {
    std::size_t column = 0;
    std::size_t i = 0;
    for (; i < line.size() && (line[i] == ' ' || line[i] == '\t'); ++i) {
        column += line[i] == ' ' ? 1 : code_indent - column % code_indent;
    }
    return std::string(column, ' ').append(line.substr(i));
}

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
    return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

std::string_view without_indent(std::string_view line, std::size_t most) {
    return line.substr(std::min(indent_of(line), most));
}

// ---- inside a paragraph -------------------------------------------------------------------------------------------

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n'; }

bool is_punctuation(char c) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

/// A letter, a digit, or a part of a character beyond ASCII.
bool is_word(char c) { return !is_space(c) && !is_punctuation(c); }

/// Where the character is that closes what opens at `begin`, code and escaped characters aside; npos when none does.
std::size_t closing(std::string_view text, std::size_t begin, char opens, char closes);

/// The length of the run of equal characters that begins at `begin`.
std::size_t run_at(std::string_view text, std::size_t begin) {
    return std::min(text.find_first_not_of(text[begin], begin), text.size()) - begin;
}

/// The end of the code that begins with the backticks at `begin`; `begin` when nothing closes it.
std::size_t end_of_code(std::string_view text, std::size_t begin) {
    const std::size_t ticks = run_at(text, begin);
    for (std::size_t i = text.find('`', begin + ticks); i != std::string_view::npos; i = text.find('`', i)) {
        const std::size_t run = run_at(text, i);
        i += run;
        if (run == ticks) return i;
    }
    return begin;
}

std::size_t closing(std::string_view text, std::size_t begin, char opens, char closes) {
    int open = 0;
    for (std::size_t i = begin; i < text.size(); ++i) {
        if (text[i] == '\\') {
            ++i;
        } else if (text[i] == '`') {
            const std::size_t end = end_of_code(text, i);
            i = (end == i ? i + run_at(text, i) : end) - 1;
        } else if (text[i] == opens) {
            ++open;
        } else if (text[i] == closes && --open == 0) {
            return i;
        }
    }
    return std::string_view::npos;
}

/// A run of * or _, which may be emphasis.
struct Marks {
    char mark = 0;
    std::size_t count = 0;
    bool can_open = false;
    bool can_close = false;
};

/// A piece of text as it will be shown, or marks.
struct Piece {
    std::string text;
    Marks marks;
};

/// Marks open before a word and close after one, as in Markdown. Two things are no marks here, though Markdown would
/// take them for some: * inside of a word, so that rows*cols stays what it is, and __, with which CUDA's keywords
/// begin.
Marks marks_at(std::string_view text, std::size_t begin) {
    Marks marks;
    marks.mark = text[begin];
    marks.count = run_at(text, begin);
    if (marks.mark == '_' && marks.count > 1) return marks;
    const char before = begin == 0 ? ' ' : text[begin - 1];
    const char after = begin + marks.count == text.size() ? ' ' : text[begin + marks.count];
    marks.can_open = !is_space(after) && !is_word(before);
    marks.can_close = !is_space(before) && !is_word(after);
    return marks;
}

/// Removes the marks that belong together: those of one kind and length.
void match_marks(std::vector<Piece>& pieces) {
    std::vector<Marks*> open;
    for (Piece& piece : pieces) {
        Marks& marks = piece.marks;
        const auto same = [&](const Marks* other) { return other->mark == marks.mark && other->count == marks.count; };
        const auto opening = marks.can_close ? std::find_if(open.rbegin(), open.rend(), same) : open.rend();
        if (opening != open.rend()) {
            (*opening)->count = 0;
            marks.count = 0;
            open.erase(std::prev(opening.base()), open.end());  // those in between can no longer be closed
        } else if (marks.can_open) {
            open.push_back(&marks);
        }
    }
}

struct Link {
    std::string_view text;
    std::string_view address;
    std::size_t end = 0;  ///< behind it
};

/// "[text](address)" or "[text](<address> "title")" at `begin`.
std::optional<Link> link_at(std::string_view text, std::size_t begin) {
    const std::size_t bracket = closing(text, begin, '[', ']');
    if (bracket == std::string_view::npos || bracket + 1 == text.size() || text[bracket + 1] != '(')
        return std::nullopt;
    const std::size_t end = closing(text, bracket + 1, '(', ')');
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view address = trimmed(text.substr(bracket + 2, end - bracket - 2));
    if (address.starts_with('<') && address.find('>') != std::string_view::npos) {
        address = address.substr(1, address.find('>') - 1);
    } else {
        address = address.substr(0, address.find_first_of(" \t\n"));  // a title may follow
    }
    return Link{text.substr(begin + 1, bracket - begin - 1), address, end + 1};
}

/// Whether the address says no more than the text: it is the same, a file of that name, or a place in the same text.
bool goes_without_saying(std::string_view address, std::string text) {
    text.erase(std::remove(text.begin(), text.end(), '`'), text.end());
    if (address.empty() || address.front() == '#' || address == text) return true;
    if (address.starts_with("mailto:") && address.substr(7) == text) return true;
    if (address.find("://") != std::string_view::npos) return false;
    std::string_view file = address.substr(0, address.find('#'));
    while (file.ends_with('/')) file.remove_suffix(1);
    return file == text || file.substr(file.rfind('/') + 1) == text;
}

/// "<https://...>" at `begin`: its end; `begin` when it is something else.
std::size_t end_of_address(std::string_view text, std::size_t begin) {
    const std::size_t end = text.find_first_of("> \t\n<", begin + 1);
    if (end == std::string_view::npos || text[end] != '>') return begin;
    const std::string_view inside = text.substr(begin + 1, end - begin - 1);
    return inside.find("://") == std::string_view::npos ? begin : end + 1;
}

std::string inline_text(std::string_view text);

/// The link or image at `begin` as it is shown, with its end; nothing when it is none.
std::optional<std::pair<std::string, std::size_t>> shown_link(std::string_view text, std::size_t begin) {
    const bool is_image = text[begin] == '!';
    const std::optional<Link> link = link_at(text, begin + (is_image ? 1 : 0));
    if (!link) return std::nullopt;
    std::string shown = inline_text(link->text);
    if (!is_image && !goes_without_saying(link->address, shown)) shown += fmt::format(" ({})", link->address);
    return std::pair(std::move(shown), link->end);
}

/// Text without the marks of emphasis and links. Code stays as it is.
std::string inline_text(std::string_view text) {
    std::vector<Piece> pieces(1);
    const auto append = [&](std::string_view shown) {
        if (pieces.back().marks.mark != 0) pieces.emplace_back();
        pieces.back().text.append(shown);
    };
    std::size_t i = 0;
    while (i < text.size()) {
        const char c = text[i];
        std::size_t end = i + 1;
        if (c == '\\' && end < text.size() && is_punctuation(text[end])) {
            append(text.substr(end++, 1));
        } else if (c == '`') {
            end = std::max(end_of_code(text, i), i + run_at(text, i));
            append(text.substr(i, end - i));
        } else if (c == '*' || c == '_') {
            pieces.push_back({"", marks_at(text, i)});
            end = i + pieces.back().marks.count;
        } else if (c == '[' || text.substr(i, 2) == "![") {
            if (auto link = shown_link(text, i)) {
                append(link->first);
                end = link->second;
            } else {
                append(text.substr(i, 1));
            }
        } else if (c == '<' && end_of_address(text, i) != i) {
            end = end_of_address(text, i);
            append(text.substr(i + 1, end - i - 2));
        } else {
            append(text.substr(i, 1));
        }
        i = end;
    }
    match_marks(pieces);
    std::string result;
    for (const Piece& piece : pieces) result.append(piece.text).append(piece.marks.count, piece.marks.mark);
    return result;
}

/// Wraps, but not inside of short pieces of code.
Lines wrapped(std::string text, std::size_t width) {
    for (std::size_t i = text.find('`'); i != std::string::npos; i = text.find('`', i)) {
        const std::size_t end = end_of_code(text, i);
        if (end != i && end - i <= width / 2) {
            std::replace(text.begin() + static_cast<std::ptrdiff_t>(i), text.begin() + static_cast<std::ptrdiff_t>(end),
                         ' ', kept_space);
        }
        i = end == i ? i + run_at(text, i) : end;
    }
    std::string lines = warpwise::wrap(text, width);
    std::replace(lines.begin(), lines.end(), kept_space, ' ');
    return lines_of(lines);
}

// ---- paragraphs, lists, code --------------------------------------------------------------------------------------

/// "- ", "2. ": where the text of the item begins, and the mark as it is shown.
struct ItemMark {
    std::string shown;
    std::size_t text_column = 0;
    bool interrupts_paragraph = false;
};

std::optional<ItemMark> item_mark(std::string_view line) {
    const std::size_t indent = indent_of(line);
    if (indent >= code_indent || indent == line.size()) return std::nullopt;
    std::size_t end = indent;
    ItemMark mark;
    if (std::string_view("-*+").find(line[indent]) != std::string_view::npos) {
        mark.shown = "-";
        end += 1;
        mark.interrupts_paragraph = true;
    } else {
        while (end < line.size() && line[end] >= '0' && line[end] <= '9') ++end;
        const std::string_view number = line.substr(indent, end - indent);
        if (number.empty() || number.size() > 9 || end == line.size()) return std::nullopt;
        if (line[end] != '.' && line[end] != ')') return std::nullopt;
        mark.interrupts_paragraph = number == "1";  // else a sentence may just go on with a number
        end += 1;
        mark.shown = line.substr(indent, end - indent);
    }
    if (end != line.size() && line[end] != ' ') return std::nullopt;
    const std::size_t text = line.find_first_not_of(' ', end);
    if (text == std::string_view::npos) {
        mark.text_column = end + 1;
        mark.interrupts_paragraph = false;
    } else {
        mark.text_column = text - end > code_indent ? end + 1 : text;
    }
    return mark;
}

/// "```" or "~~~", three or more of them; empty when the line is no fence.
std::string_view fence_of(std::string_view line) {
    const std::string_view text = without_indent(line, code_indent - 1);
    if (!text.starts_with("```") && !text.starts_with("~~~")) return "";
    const std::string_view fence = text.substr(0, run_at(text, 0));
    const bool is_code_in_a_line = fence[0] == '`' && text.find('`', fence.size()) != std::string_view::npos;
    return is_code_in_a_line ? "" : fence;
}

bool closes_fence(std::string_view line, std::string_view fence) {
    const std::string_view text = trimmed(without_indent(line, code_indent - 1));
    return text.size() >= fence.size() && text[0] == fence[0] && run_at(text, 0) == text.size();
}

/// 1 to 6 for "# title" to "###### title", else 0.
std::size_t heading_level(std::string_view line) {
    const std::string_view text = without_indent(line, code_indent - 1);
    if (!text.starts_with('#')) return 0;
    const std::size_t level = run_at(text, 0);
    return level <= 6 && (level == text.size() || text[level] == ' ') ? level : 0;
}

std::string_view heading_text(std::string_view line) {
    std::string_view text = trimmed(without_indent(line, code_indent - 1).substr(heading_level(line)));
    // "# title #" is the same as "# title".
    const std::size_t end = text.find_last_not_of('#') + 1;
    if (end == 0 || text[end - 1] == ' ') text = trimmed(text.substr(0, end));
    return text;
}

/// A line across the page: three or more of one of these.
bool is_rule(std::string_view line) {
    if (indent_of(line) >= code_indent) return false;
    std::string marks(line);
    marks.erase(std::remove(marks.begin(), marks.end(), ' '), marks.end());
    return marks.size() >= 3 && std::string_view("-*_").find(marks[0]) != std::string_view::npos &&
           run_at(marks, 0) == marks.size();
}

/// What stands under a heading in place of # before it.
bool is_underline(std::string_view line) {
    const std::string_view text = trimmed(line);
    return !text.empty() && indent_of(line) < code_indent && (text[0] == '=' || text[0] == '-') &&
           run_at(text, 0) == text.size();
}

bool is_table(std::string_view line) { return without_indent(line, code_indent - 1).starts_with('|'); }

bool is_quote(std::string_view line) { return without_indent(line, code_indent - 1).starts_with('>'); }

bool ends_paragraph(std::string_view line) {
    if (is_blank(line) || heading_level(line) != 0 || !fence_of(line).empty() || is_rule(line)) return true;
    if (is_table(line) || is_quote(line)) return true;
    const std::optional<ItemMark> mark = item_mark(line);
    return mark && mark->interrupts_paragraph;
}

std::size_t less(std::size_t width, std::size_t taken) {
    return width > taken + narrowest_text ? width - taken : narrowest_text;
}

/// Turns blocks of Markdown into lines for the terminal.
class BlockReader {
public:
    BlockReader(Lines lines, std::size_t width) : lines_(std::move(lines)), width_(width) {}

    Lines read() {
        while (next_ < lines_.size()) {
            if (is_blank(line())) {
                if (!shown_.empty() && !shown_.back().empty()) shown_.emplace_back();
                ++next_;
            } else {
                read_block();
            }
        }
        drop_blank_ends(shown_);
        return std::move(shown_);
    }

private:
    const std::string& line() const { return lines_[next_]; }

    void read_block() {
        if (indent_of(line()) >= code_indent) {
            read_indented_code();
        } else if (!fence_of(line()).empty()) {
            read_fenced_code();
        } else if (heading_level(line()) != 0) {
            show(wrapped(inline_text(heading_text(line())), width_));
            ++next_;
        } else if (is_rule(line())) {
            shown_.emplace_back(trimmed(line()));
            ++next_;
        } else if (is_table(line())) {
            while (next_ < lines_.size() && is_table(line())) shown_.push_back(lines_[next_++]);
        } else if (is_quote(line())) {
            read_quote();
        } else if (const std::optional<ItemMark> mark = item_mark(line())) {
            read_item(*mark);
        } else {
            read_paragraph();
        }
    }

    void read_indented_code() {
        Lines code;
        while (next_ < lines_.size() && (is_blank(line()) || indent_of(line()) >= code_indent)) {
            code.push_back(is_blank(line()) ? "" : line());
            ++next_;
        }
        while (code.back().empty()) {
            code.pop_back();
            --next_;
        }
        show(code);
    }

    void read_fenced_code() {
        const std::string fence(fence_of(line()));
        const std::size_t indent = indent_of(line());
        ++next_;
        for (; next_ < lines_.size() && !closes_fence(line(), fence); ++next_) {
            const std::string_view code = without_indent(line(), indent);
            shown_.push_back(is_blank(code) ? "" : std::string(code_indent, ' ').append(code));
        }
        if (next_ < lines_.size()) ++next_;
    }

    void read_quote() {
        Lines quote;
        while (next_ < lines_.size() && is_quote(line())) {
            std::string_view text = without_indent(line(), code_indent - 1).substr(1);
            if (text.starts_with(' ')) text.remove_prefix(1);
            quote.push_back(without_tabs_in_front(text));
            ++next_;
        }
        for (const std::string& shown : BlockReader(std::move(quote), less(width_, 2)).read()) {
            shown_.push_back(shown.empty() ? ">" : "> " + shown);
        }
    }

    void read_item(const ItemMark& mark) {
        Lines item = {line().substr(std::min(mark.text_column, line().size()))};
        ++next_;
        while (next_ < lines_.size()) {
            const bool belongs = is_blank(line()) || indent_of(line()) >= mark.text_column;
            // A paragraph may go on in a line that is not indented.
            const bool goes_on = !belongs && !is_blank(item.back()) && !ends_paragraph(line()) && !item_mark(line());
            if (!belongs && !goes_on) break;
            item.emplace_back(without_indent(line(), mark.text_column));
            ++next_;
        }
        while (item.size() > 1 && is_blank(item.back())) {  // they stand behind the item, not in it
            item.pop_back();
            --next_;
        }
        const std::string first = fmt::format("{}{} ", item_indent, mark.shown);
        const std::string rest(first.size(), ' ');
        Lines shown = BlockReader(std::move(item), less(width_, first.size())).read();
        if (shown.empty()) shown.emplace_back();
        for (std::size_t i = 0; i < shown.size(); ++i) {
            std::string text = (i == 0 ? first : rest) + shown[i];
            text.erase(text.find_last_not_of(' ') + 1);
            shown_.push_back(std::move(text));
        }
    }

    void read_paragraph() {
        std::vector<std::string> parts(1);  // between line breaks that the author wants
        bool is_heading = false;
        for (bool first = true; next_ < lines_.size(); first = false, ++next_) {
            if (!first && is_underline(line())) {
                is_heading = true;
                ++next_;
                break;
            }
            if (!first && ends_paragraph(line())) break;
            std::string_view text = without_indent(line(), line().size());
            const bool breaks = text.ends_with("  ") || text.ends_with('\\');
            if (text.ends_with('\\')) text.remove_suffix(1);
            if (!parts.back().empty()) parts.back() += ' ';
            parts.back() += trimmed(text);
            if (breaks) parts.emplace_back();
        }
        for (const std::string& part : parts) {
            if (!part.empty()) show(wrapped(inline_text(part), width_));
        }
        if (is_heading && next_ < lines_.size() && !is_blank(line())) shown_.emplace_back();
    }

    void show(const Lines& lines) { shown_.insert(shown_.end(), lines.begin(), lines.end()); }

    Lines lines_;
    std::size_t width_;
    std::size_t next_ = 0;
    Lines shown_;
};

// ---- files --------------------------------------------------------------------------------------------------------

std::string required(const fs::path& file) {
    std::optional<std::string> text = read_file(file);
    if (!text) throw Refusal(fmt::format("there is no {}", file.string()));
    return std::move(*text);
}

/// Both paths from the first folder on that is not the same.
std::pair<std::string, std::string> short_names(const fs::path& before, const fs::path& after) {
    const auto [in_before, in_after] = std::mismatch(before.begin(), before.end(), after.begin(), after.end());
    const auto joined = [](fs::path::const_iterator begin, fs::path::const_iterator end) {
        fs::path path;
        for (; begin != end; ++begin) path /= *begin;
        return path.string();
    };
    return {joined(in_before, before.end()), joined(in_after, after.end())};
}

}  // namespace

std::vector<std::string> hints_of(const Exercise& exercise) {
    std::vector<Lines> sections;
    bool in_hint = false;
    std::string fence;
    for (const std::string& line : lines_of(read_file(exercise.hints()).value_or(""))) {
        const bool in_code = !fence.empty();
        if (in_code && closes_fence(line, fence)) {
            fence.clear();
        } else if (!in_code) {
            fence = fence_of(line);
        }
        const std::size_t level = in_code ? 0 : heading_level(line);
        if (level == 1 || level == 2) {
            in_hint = level == 2 && heading_text(line).starts_with("Hint");
            if (in_hint) sections.emplace_back();
        } else if (in_hint) {
            sections.back().push_back(line);
        }
    }
    std::vector<std::string> hints;
    for (Lines& section : sections) {
        drop_blank_ends(section);
        std::string hint;
        for (const std::string& line : section) hint.append(line).append("\n");
        if (!hint.empty()) hints.push_back(std::move(hint));
    }
    return hints;
}

std::string plain_text(const std::string& markdown, std::size_t width) {
    Lines lines = lines_of(markdown);
    for (std::string& line : lines) line = without_tabs_in_front(line);
    std::string text;
    for (const std::string& line : BlockReader(std::move(lines), std::max(width, narrowest_text)).read()) {
        text.append(line).append("\n");
    }
    return text;
}

std::string solution_text(const Exercise& exercise) { return required(exercise.solution); }

std::string difference(const fs::path& before, const fs::path& after) {
    if (required(before) == required(after)) return "";
    const auto [name_before, name_after] = short_names(before, after);
    const CommandResult result = run_command({"diff", "--unified", "--text", "--label", name_before, "--label",
                                              name_after, "--", before.string(), after.string()},
                                             {.variables = {{"LC_ALL", "C"}}, .limit_seconds = diff_limit_seconds});
    if (result.status == 0 || result.status == 1) return result.output;
    if (!has_program("diff")) {
        throw Refusal("there is no program 'diff' here, which shows differences; install the package diffutils");
    }
    throw Refusal(fmt::format("'diff' failed with status {}: {}", result.status, result.output));
}

}  // namespace guide
