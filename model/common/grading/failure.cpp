#include "common/grading/failure.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <set>
#include <utility>

#include "common/grading/activity.h"
#include "common/grading/instrumented.h"
#include "common/helpers/lines.h"

namespace grading {
namespace {

constexpr std::size_t strip_width = 64;  ///< characters of a picture's line
constexpr std::size_t map_width = 48;
constexpr std::size_t map_height = 5;
constexpr std::size_t rows_alone = 6;         ///< of a table
constexpr std::size_t rows_with_picture = 3;  ///< of a table below a picture
constexpr std::size_t details_shown = 7;
constexpr std::size_t context_shown = 3;

std::optional<FailedMatch> last_failed_match;
std::optional<Failure> the_first_failure;

std::string element_name(std::size_t index, std::size_t row_length) {
    if (row_length == 0) return std::to_string(index);
    return "(" + std::to_string(index / row_length) + ", " + std::to_string(index % row_length) + ")";
}

// ---- pictures ----

enum class State { right, wrong, missing };

/// Cells for n elements: each stands for equally many (the last one for fewer), and at most `most` are needed.
std::size_t elements_per_cell(std::size_t n, std::size_t most) { return (n + most - 1) / most; }

Span span_of(State state) {
    switch (state) {
        case State::right:
            return {".", Tone::good};
        case State::wrong:
            return {"x", Tone::bad};
        case State::missing:
            return {"_", Tone::missing};
    }
    return {};
}

void add(Line& line, Span span) {
    if (!line.empty() && line.back().tone == span.tone) {
        line.back().text += span.text;
    } else {
        line.push_back(std::move(span));
    }
}

struct Elements {
    explicit Elements(const MismatchedArray& mismatch) : states(mismatch.got.size(), State::right) {
        for (const std::size_t i : mismatch.wrong) {
            states[i] = is_never_written(mismatch.got[i]) ? State::missing : State::wrong;
            ++(states[i] == State::missing ? missing : wrong);
        }
    }
    std::size_t right() const { return states.size() - wrong - missing; }

    std::vector<State> states;
    std::size_t wrong = 0;
    std::size_t missing = 0;
};

/// One wrong element among the right ones has to show.
State worse(State a, State b) {
    if (a == State::wrong || b == State::wrong) return State::wrong;
    return a == State::missing || b == State::missing ? State::missing : State::right;
}

std::string legend_of(const Elements& elements, const std::string& cell) {
    std::string text;
    if (elements.right() > 0) text += ". right   ";
    if (elements.wrong > 0) text += "x wrong   ";
    if (elements.missing > 0) text += "_ never written   ";
    return text + (cell.empty() ? "" : "(" + cell + ", which shows the worst)");
}

std::vector<Line> strip_of(const Elements& elements) {
    const std::size_t n = elements.states.size();
    const std::size_t per_cell = elements_per_cell(n, strip_width);
    Line strip = {{"0 [", Tone::plain}};
    for (std::size_t begin = 0; begin < n; begin += per_cell) {
        State state = State::right;
        for (std::size_t i = begin; i < std::min(n, begin + per_cell); ++i) state = worse(state, elements.states[i]);
        add(strip, span_of(state));
    }
    add(strip, {"] " + std::to_string(n - 1), Tone::plain});
    const std::string cell = per_cell == 1 ? "" : std::to_string(per_cell) + " elements per character";
    return {std::move(strip), {{"  " + legend_of(elements, cell), Tone::faint}}};
}

std::vector<Line> map_of(const Elements& elements, std::size_t cols) {
    const std::size_t rows = (elements.states.size() + cols - 1) / cols;
    const std::size_t high = elements_per_cell(rows, map_height);
    const std::size_t wide = elements_per_cell(cols, map_width);
    const std::size_t margin = std::to_string(rows - 1).size();
    const auto right_aligned = [margin](const std::string& text) {
        return std::string(margin - std::min(margin, text.size()), ' ') + text;
    };
    std::vector<Line> lines;
    for (std::size_t top = 0; top < rows; top += high) {
        const std::string end = top + high >= rows && top > 0 ? std::to_string(rows - 1) : std::to_string(top);
        Line line = {{right_aligned(high > 1 && top > 0 && top + high < rows ? "" : end) + " [", Tone::plain}};
        for (std::size_t left = 0; left < cols; left += wide) {
            State state = State::right;
            for (std::size_t row = top; row < std::min(rows, top + high); ++row) {
                for (std::size_t col = left; col < std::min(cols, left + wide); ++col) {
                    const std::size_t i = row * cols + col;
                    if (i < elements.states.size()) state = worse(state, elements.states[i]);
                }
            }
            add(line, span_of(state));
        }
        add(line, {"]", Tone::plain});
        lines.push_back(std::move(line));
    }
    const std::string cell =
        high == 1 && wide == 1 ? "" : counted(high, "row") + " x " + counted(wide, "column") + " per character";
    const std::string indent(margin + 2, ' ');
    lines.push_back({{indent + "downwards: rows 0 to " + std::to_string(rows - 1) + ", to the right: columns 0 to " +
                          std::to_string(cols - 1),
                      Tone::faint}});
    lines.push_back({{indent + legend_of(elements, cell), Tone::faint}});
    return lines;
}

// ---- places ----

std::string shown_file(const std::string& file) {
    std::error_code error;
    const std::filesystem::path path(file);
    if (path.is_absolute()) {
        const std::filesystem::path here = std::filesystem::current_path(error);
        const std::filesystem::path relative = path.lexically_relative(here);
        if (!error && !relative.empty() && *relative.begin() != "..") return relative.string();
    }
    return path.filename().string();
}

std::string shape_text(const std::array<unsigned, 3>& sides) {
    if (sides[1] == 1 && sides[2] == 1) return std::to_string(sides[0]);
    std::string text = "(" + std::to_string(sides[0]) + ", " + std::to_string(sides[1]);
    if (sides[2] != 1) text += ", " + std::to_string(sides[2]);
    return text + ")";
}

/// Number `linear` of a grid or block of this shape: "3", "(3, 1)".
std::string place_in_shape(std::uint64_t linear, const std::array<unsigned, 3>& sides) {
    if (sides[1] <= 1 && sides[2] <= 1) return std::to_string(linear);
    const std::uint64_t x = std::max(1U, sides[0]), y = std::max(1U, sides[1]);
    return "(" + std::to_string(linear % x) + ", " + std::to_string(linear / x % y) +
           (sides[2] <= 1 ? "" : ", " + std::to_string(linear / (x * y))) + ")";
}

std::string launch_text(const warpwise::LaunchCounts& launch) {
    return launch.kernel + "<<<" + shape_text(launch.grid) + ", " + shape_text(launch.block) + ">>>";
}

/// The lines that store to global memory, when there are one or two: ", by kernel.cu:14".
std::string storing_lines(const warpwise::LaunchCounts& launch) {
    std::set<std::pair<std::string, int>> lines;
    for (const warpwise::LineCounts& line : launch.lines) {
        if (line.counts.global_store.requests + line.counts.global_atomic.requests > 0) {
            lines.emplace(shown_file(line.file), line.line);
        }
    }
    if (lines.empty() || lines.size() > 2) return {};
    std::string text;
    for (const auto& [file, line] : lines) {
        text += (text.empty() ? "" : " or ") + file + ":" + std::to_string(line);
    }
    return text;
}

// ---- text ----

bool asks(const std::string& line) { return line.ends_with('?'); }

/// What a hint of the CPU device begins with.
constexpr std::string_view hint_mark = "hint: ";

/// The CPU device writes hints in lower case: "let only threads ...", "does some loop never end?".
std::string as_advice(std::string hint) {
    if (hint.find('?') == std::string::npos) return "Try: " + hint;
    if (hint[0] >= 'a' && hint[0] <= 'z') hint[0] = static_cast<char>(hint[0] - 'a' + 'A');
    return hint;
}

void remove_indent(std::string& line) { line.erase(0, std::min(line.find_first_not_of(' '), line.size())); }

}  // namespace

std::string text_of(const Line& line) {
    std::string text;
    for (const Span& span : line) text += span.text;
    return text;
}

std::string number_text(double value) {
    if (std::isnan(value)) return "nan";  // its sign says nothing
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

bool is_never_written(double value) {
    if (!std::isnan(value)) return is_poison(value);
    // The poison 0x7FFD in every two bytes, read as double, float, bfloat16 and half, as a double.
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return bits == 0x7FFD7FFD7FFD7FFDu || bits == 0x7FFFAFFFA0000000u || bits == 0x7FFFA00000000000u ||
           bits == 0x7FFFF40000000000u;
}

std::vector<ValueRow> value_rows(const MismatchedArray& mismatch, std::size_t most) {
    std::vector<ValueRow> rows;
    for (std::size_t k = 0; k < std::min(most, mismatch.wrong.size()); ++k) {
        const std::size_t i = mismatch.wrong[k];
        rows.push_back({element_name(i, mismatch.row_length),
                        is_never_written(mismatch.got[i]) ? "never written" : number_text(mismatch.got[i]),
                        number_text(mismatch.expected[i])});
    }
    return rows;
}

std::vector<Line> picture_of(const MismatchedArray& mismatch) {
    const Elements elements(mismatch);
    const std::size_t n = elements.states.size();
    if (elements.wrong == n || elements.missing == n) return {};
    const bool is_few = mismatch.wrong.size() <= rows_alone && elements.missing == 0;
    if (n <= rows_alone || is_few) return {};
    const bool is_matrix = mismatch.row_length > 1 && n > mismatch.row_length;
    return is_matrix ? map_of(elements, mismatch.row_length) : strip_of(elements);
}

std::string sentence_about(const MismatchedArray& mismatch, bool has_writer) {
    const Elements elements(mismatch);
    if (has_writer && elements.missing > 0 && elements.wrong == 0) {
        return "what its elements hold was computed from memory that nobody has written";
    }
    const std::size_t n = elements.states.size();
    const std::size_t bad = mismatch.wrong.size();
    if (n == 1 && elements.missing == 1) return "it was never written";
    if (n == 1) return "it is " + number_text(mismatch.got[0]) + ", and should be " + number_text(mismatch.expected[0]);
    if (elements.missing == n) return "none of the " + std::to_string(n) + " elements was ever written";
    const std::string of_all =
        bad == n ? "all " + std::to_string(n) + " elements are"
                 : std::to_string(bad) + " of " + std::to_string(n) + " elements " + (bad == 1 ? "is" : "are");
    const std::string which = bad == n ? "" : ": " + name_elements(mismatch.wrong, mismatch.row_length);
    if (elements.wrong == 0) {
        return std::to_string(bad) + " of " + std::to_string(n) + " elements " + (bad == 1 ? "was" : "were") +
               " never written" + which;
    }
    if (elements.missing == 0) return of_all + " wrong" + which;
    return of_all + " wrong, " + std::to_string(elements.missing) + " of them because no thread wrote them" + which;
}

void note_failed_match(FailedMatch failed) { last_failed_match = std::move(failed); }

std::optional<FailedMatch> take_failed_match() { return std::exchange(last_failed_match, std::nullopt); }

bool was_written_by_kernel(const GuardedMemory& buffer, std::size_t index) {
    const std::vector<ElementActivity> elements = activity_of(buffer);
    return index < elements.size() && elements[index].writer == warpwise::Writer::kernel;
}

std::string place_of_element(const GuardedMemory& buffer, std::size_t index) {
    const std::vector<warpwise::LaunchCounts>& launches = last_launches();
    const std::vector<ElementActivity> elements = activity_of(buffer);
    if (index >= elements.size()) return {};
    const std::string name = "element " + element_name(index, buffer.row_length());
    switch (elements[index].writer) {
        case warpwise::Writer::host_copy:
            return name + " was copied there by the host";
        case warpwise::Writer::fill:
            return name + " was set by cudaMemset, and by no kernel after that";
        case warpwise::Writer::nobody:
            if (launches.empty()) return "no kernel was launched";
            if (launches.size() > 1) return "no thread of the " + counted(launches.size(), "launch") + " wrote " + name;
            return shown_file(launches.front().file) + ":" + std::to_string(launches.front().line) + ": no thread of " +
                   launch_text(launches.front()) + " wrote " + name;
        case warpwise::Writer::kernel:
            break;
    }
    const warpwise::KernelThread thread = elements[index].written_by;
    if (thread.launch == 0 || thread.launch > launches.size()) return {};
    const warpwise::LaunchCounts& launch = launches[thread.launch - 1];
    const std::string lines = storing_lines(launch);
    return (lines.empty() ? "" : lines + ": ") + "thread " + place_in_shape(thread.thread, launch.block) +
           " of block " + place_in_shape(thread.block, launch.grid) + " wrote " + name + ", in " + launch_text(launch);
}

Failure make_failure(const std::string& subject, const std::string& text, const std::vector<std::string>& infos,
                     const std::optional<FailedMatch>& match) {
    Failure failure;
    for (const std::string& info : infos) {
        for (const std::string& line : warpwise::text_lines(info)) {
            failure.full.push_back(line);
            (asks(line) ? failure.question : failure.context.emplace_back()) = line;
        }
    }
    for (const std::string& line : warpwise::text_lines(text)) failure.full.push_back(line);

    const MismatchedArray* mismatch = match && match->judgement.mismatch ? match->judgement.mismatch.get() : nullptr;
    if (mismatch != nullptr && mismatch->wrong.empty()) mismatch = nullptr;
    if (match) {
        failure.place = match->place;
        failure.call = match->call;
        if (!match->hint.empty()) failure.question = match->hint;
    }
    if (mismatch != nullptr) {
        const std::string sentence = sentence_about(*mismatch, match->has_writer);
        const bool needs_noun = subject.empty() && sentence.starts_with("it ");
        failure.observation = needs_noun        ? "the value " + sentence.substr(3)
                              : subject.empty() ? sentence
                                                : subject + ": " + sentence;
        if (!failure.observation.ends_with('.')) failure.observation += '.';
        failure.picture = picture_of(*mismatch);
        const bool is_one_number = mismatch->got.size() == 1;
        const bool is_all_missing = std::all_of(mismatch->wrong.begin(), mismatch->wrong.end(),
                                                [&](std::size_t i) { return is_never_written(mismatch->got[i]); });
        if (!is_one_number && !is_all_missing) {
            failure.values = value_rows(*mismatch, failure.picture.empty() ? rows_alone : rows_with_picture);
            const std::size_t more = mismatch->wrong.size() - failure.values.size();
            if (more > 0) failure.after_values = "and " + std::to_string(more) + " more";
        }
        for (const std::string& line : warpwise::text_lines(match->judgement.text)) {
            if (!line.starts_with("largest error ") || line.find("nan") != std::string::npos) continue;
            failure.after_values += (failure.after_values.empty() ? "" : "; ") + line;
        }
        const std::string first = "element " + element_name(mismatch->wrong.front(), mismatch->row_length);
        if (failure.question.empty() && match->has_writer && is_never_written(mismatch->got[mismatch->wrong.front()])) {
            failure.question = "What does the kernel read, and which line of yours fills that?";
        } else if (failure.question.empty() && is_never_written(mismatch->got[mismatch->wrong.front()])) {
            failure.question = "Which thread should write " + (is_one_number ? "it" : first) + "?";
        } else if (failure.question.empty() && !is_one_number) {
            failure.question = "Work out " + first + " by hand: which line of yours gives another value?";
        } else if (failure.question.empty()) {
            failure.question = "Work it out by hand for a small case: which line of yours gives another value?";
        }
        return failure;
    }

    // The first of several diagnostics says enough; in it, a hint is what to try.
    std::string told = match && !match->judgement.text.empty() ? match->judgement.text : text;
    // The hint, which may have several lines, is shown as the question.
    if (match && !match->hint.empty() && told.ends_with("\n" + match->hint)) {
        told.erase(told.size() - match->hint.size() - 1);
    }
    std::vector<std::string> lines = warpwise::text_lines(told);
    const auto end = std::find(lines.begin(), lines.end(), "");
    const bool has_more = end != lines.end();
    lines.erase(end, lines.end());
    if (lines.empty()) lines = {"A requirement is not met."};
    failure.observation = lines.front();
    const bool is_plain = match && !match->judgement.text.empty();
    if (is_plain && !subject.empty()) failure.observation.insert(0, subject + ": ");
    for (std::size_t i = 1; i < lines.size(); ++i) {
        std::string line = lines[i];
        std::string bare = line;
        remove_indent(bare);
        if (bare.starts_with(hint_mark)) {
            if (failure.question.empty()) failure.question = as_advice(bare.substr(hint_mark.size()));
        } else if (asks(bare)) {
            failure.question = bare;
        } else if (bare != failure.question) {
            failure.details.push_back(line);
        }
    }
    if (match && failure.question.empty()) failure.question = match->judgement.question;
    if (has_more) failure.details.emplace_back("(and more, which may have the same cause)");
    return failure;
}

std::vector<Line> lines_of(const Failure& failure) {
    std::vector<Line> lines;
    const auto show = [&](const std::string& text, Tone tone = Tone::plain) { lines.push_back({{"  " + text, tone}}); };
    const auto separate = [&] {
        if (!lines.back().empty()) lines.emplace_back();
    };
    lines.push_back({{failure.observation, Tone::bad}});
    const std::size_t skipped = failure.context.size() > context_shown ? failure.context.size() - context_shown : 0;
    for (std::size_t i = skipped; i < failure.context.size(); ++i) show(failure.context[i]);

    std::size_t shown = 0;
    for (const std::string& line : failure.details) {
        if (shown++ < details_shown) show(line);
    }
    if (shown > details_shown) show("... (" + counted(shown - details_shown, "more line") + " with --full)");

    if (!failure.values.empty()) {
        separate();
        const bool of_matrix = failure.values.front().index.starts_with('(');
        ValueRow widest{of_matrix ? "(row, column)" : "index", "got", "expected"};
        const auto widen = [](std::string& most, const std::string& text) {
            if (text.size() > most.size()) most.resize(text.size(), ' ');
        };
        ValueRow widths = widest;
        for (const ValueRow& row : failure.values) {
            widen(widths.index, row.index);
            widen(widths.got, row.got);
            widen(widths.expected, row.expected);
        }
        const auto right_aligned = [](const std::string& text, std::size_t width) {
            return std::string(width - text.size(), ' ') + text;
        };
        const auto row_line = [&](const ValueRow& row, Tone tone) {
            return Line{{"  " + right_aligned(row.index, widths.index.size()) + "   ", Tone::plain},
                        {right_aligned(row.got, widths.got.size()), tone},
                        {"   " + right_aligned(row.expected, widths.expected.size()), Tone::plain}};
        };
        lines.push_back({{text_of(row_line(widest, Tone::plain)), Tone::faint}});
        for (const ValueRow& row : failure.values) lines.push_back(row_line(row, Tone::bad));
    }
    if (!failure.after_values.empty()) show(failure.after_values);
    if (!failure.picture.empty()) {
        separate();
        for (Line line : failure.picture) {
            line.insert(line.begin(), {"  ", Tone::plain});
            lines.push_back(std::move(line));
        }
    }
    if (!failure.place.empty() || !failure.question.empty()) separate();
    if (!failure.place.empty()) show(failure.place);
    for (const std::string& line : warpwise::text_lines(failure.question)) show(line, Tone::question);
    return lines;
}

const std::optional<Failure>& first_failure() { return the_first_failure; }

void set_first_failure(Failure failure) {
    if (!the_first_failure) the_first_failure = std::move(failure);
}

}  // namespace grading
