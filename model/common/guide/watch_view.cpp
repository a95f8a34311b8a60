#include "common/guide/watch_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "common/guide/book_page.h"
#include "common/guide/exercise_files.h"
#include "common/helpers/utf8.h"
#include "common/lesson/terminal.h"

namespace guide {
namespace {

using warpwise::Cell;
using warpwise::Style;
using warpwise::Terminal;
using Lines = std::vector<std::string>;

constexpr std::size_t longest_bar = 80;
constexpr std::size_t longest_name = 30;           // in the list, before its other columns
constexpr std::size_t list_surroundings = 4;       // lines of the list's page besides the exercises
constexpr std::size_t longest_output = 512 << 10;  // bytes of a grader's or compiler's output that are shown
constexpr std::size_t fewest_body_lines = 2;       // that the block leaves to the body

// ---- widths of characters -----------------------------------------------------------------------------------------

struct Range {
    char32_t first;
    char32_t last;
};

/// Characters that join the one before them, or cannot be seen.
constexpr auto narrow_ranges = std::to_array<Range>({
    {0x0000, 0x001F}, {0x007F, 0x009F},   {0x00AD, 0x00AD},   {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},
    {0x0610, 0x061A}, {0x064B, 0x065F},   {0x06D6, 0x06DC},   {0x093A, 0x093A}, {0x093C, 0x093C}, {0x0941, 0x0948},
    {0x094D, 0x094D}, {0x0E31, 0x0E31},   {0x0E34, 0x0E3A},   {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
    {0x200B, 0x200F}, {0x2028, 0x202E},   {0x2060, 0x2064},   {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
    {0xFEFF, 0xFEFF}, {0x1F3FB, 0x1F3FF}, {0xE0100, 0xE01EF},
});

/// East Asian characters and emoji.
constexpr auto wide_ranges = std::to_array<Range>({
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x23E9, 0x23EC},   {0x25FD, 0x25FE},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x26A1, 0x26A1},   {0x26BD, 0x26BE},   {0x26D4, 0x26D4},   {0x2705, 0x2705},
    {0x270A, 0x270B},   {0x2728, 0x2728},   {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},
    {0x2757, 0x2757},   {0x2795, 0x2797},   {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},
    {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97F},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},
    {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF},
    {0x20000, 0x3FFFD},
});

template <std::size_t Count>
bool is_in(char32_t character, const std::array<Range, Count>& ranges) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [character](const Range& range) { return character >= range.first && character <= range.last; });
}

/// Something that the terminal takes as a whole: a character, or an escape sequence.
struct Piece {
    std::size_t bytes = 1;
    std::size_t width = 1;
    bool is_escape = false;
};

Piece escape_sequence(std::string_view text) {
    if (text.size() < 2) return {text.size(), 0, true};
    std::size_t bytes = 2;
    if (text[1] == '[') {  // ends with a letter or a sign from @ to ~
        while (bytes < text.size() && (text[bytes] < '@' || text[bytes] > '~')) ++bytes;
        bytes = std::min(bytes + 1, text.size());
    } else if (text[1] == ']') {  // ends with BEL or ESC backslash
        while (bytes < text.size() && text[bytes] != '\a' && text[bytes] != '\033') ++bytes;
        bytes = std::min(bytes + (bytes < text.size() && text[bytes] == '\033' ? 2 : 1), text.size());
    }
    return {bytes, 0, true};
}

Piece first_piece(std::string_view text) {
    if (text.front() == '\033') return escape_sequence(text);
    const warpwise::Utf8Character first = warpwise::decode_utf8(text);
    if (!first.valid) return {};
    const char32_t character = first.value;
    const std::size_t length = first.length;
    if (is_in(character, narrow_ranges)) return {length, 0, false};
    return {length, is_in(character, wide_ranges) ? 2U : 1U, false};
}

std::string padded(std::string_view text, std::size_t width) {
    std::string result = cut(text, width);
    const std::size_t used = display_width(result);
    return result + std::string(width - std::min(width, used), ' ');
}

Lines split_lines(std::string_view text) {
    Lines lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

/// What another program has written, as it is; of megabytes the beginning and the end.
std::string untouched(std::string_view text) {
    std::string result;
    if (text.size() <= longest_output) {
        result = text;
    } else {
        const std::size_t half = longest_output / 2;
        const std::string_view head = text.substr(0, text.substr(0, half).find_last_of('\n') + 1);
        std::string_view tail = text.substr(text.size() - half);
        tail.remove_prefix(tail.find('\n') + 1);  // npos + 1: nothing
        const auto lines_of = [](std::string_view part) { return std::count(part.begin(), part.end(), '\n'); };
        result = fmt::format("{}[... {} lines left out ...]\n{}", head,
                             lines_of(text) - lines_of(head) - lines_of(tail), tail);
    }
    if (!result.empty() && result.back() != '\n') result += '\n';
    if (result.find('\033') != std::string::npos) result += "\033[0m";
    return result;
}

std::string without_blank_end(std::string text) {
    while (text.ends_with("\n\n")) text.pop_back();
    return text;
}

// ---- words --------------------------------------------------------------------------------------------------------

std::string seconds_text(double seconds) { return warpwise::time_text(std::max(seconds, 0.0)); }

std::string kind_text(const std::string& kind) {
    if (kind == "fill") return "Fill: write the missing part.";
    if (kind == "fix") return "Fix: find the mistake.";
    if (kind == "speed") return "Speed: reach the target of its counters.";
    return {};
}

std::string outcome_text(Outcome outcome) {
    switch (outcome) {
        case Outcome::passed:
            return "passed";
        case Outcome::failed:
            return "wrong";
        case Outcome::build_failed:
            return "not built";
        case Outcome::never_ended:
            return "did not end";
        case Outcome::cancelled:
            return "cancelled";
        case Outcome::broken:
            return "not graded";
    }
    return {};
}

std::size_t count_passed(const WatchState& state) {
    const std::vector<const Exercise*> exercises = state.exercises();
    return static_cast<std::size_t>(std::count_if(exercises.begin(), exercises.end(), [&](const Exercise* exercise) {
        return state.progress.has_passed(exercise->name);
    }));
}

ExerciseProgress marks_of(const WatchState& state, const Exercise& exercise) {
    const auto entry = state.progress.exercises.find(exercise.name);
    return entry == state.progress.exercises.end() ? ExerciseProgress{} : entry->second;
}

std::string plural(std::size_t count, std::string_view one) {
    return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

// ---- the view -----------------------------------------------------------------------------------------------------

/// A line of the block. When the window is low, the least important lines are left out.
struct BlockLine {
    std::string text;
    int importance = 0;
};
namespace importance {
constexpr int blank = 0, title = 1, more_keys = 2, path = 3, bar = 4, keys = 5, notice = 6, work = 7, question = 8;
}  // namespace importance

struct KeyLabel {
    std::string key;
    std::string label;
};

class View {
public:
    View(const WatchState& state, const Project& project, const ViewOptions& options)
        : state_(state),
          project_(project),
          columns_(static_cast<std::size_t>(std::max(options.size.columns, 2))),
          lines_(static_cast<std::size_t>(std::max(options.size.lines, 1))) {
        terminal_.colors = options.colors;
        terminal_.width = std::clamp<std::size_t>(columns_ - 1, 20, 100);
        terminal_.table_width = std::max<std::size_t>(columns_ - 1, 20);
    }

    Frame frame() const {
        Frame frame;
        frame.columns = static_cast<int>(columns_);
        frame.lines = static_cast<int>(lines_);
        frame.body = without_blank_end(body());  // the block begins with a blank line
        frame.keeps_above = state_.page == Page::lesson_ran;
        if (state_.page == Page::list) {
            frame.block = list_block();
        } else if (state_.page == Page::grading_all) {
            frame.block = grading_all_block();
        } else {
            // A question has to be read to its end.
            const bool leaves_room = state_.question == Question::none && lines_ > fewest_body_lines;
            frame.block = fitting(common_block(), leaves_room ? lines_ - fewest_body_lines : lines_);
        }
        return frame;
    }

private:
    const WatchState& state_;
    const Project& project_;
    std::size_t columns_;
    std::size_t lines_;
    Terminal terminal_;

    const Exercise& exercise() const { return *state_.exercise; }
    std::string paint(Style style, std::string_view text) const { return terminal_.paint(style, text); }

    /// Each line by itself, so that colors do not run into line ends.
    std::string paragraph(std::string_view text, Style style = Style::plain) const {
        std::string result;
        for (const std::string& line : split_lines(warpwise::wrap(text, terminal_.width))) {
            result += paint(style, line) + "\n";
        }
        return result;
    }

    std::string typed(std::string_view command) const { return fmt::format("{} {}", project_.typed, command); }

    // ---- bodies ----

    std::string body() const {
        switch (state_.page) {
            case Page::exercise:
                return exercise_body();
            case Page::task:
                return text_with_tables(state_.task, terminal_) + "\n";
            case Page::solution:
                return solution_body();
            case Page::help:
                return help_body();
            case Page::graded_all:
                return graded_all_body();
            case Page::lesson:
                return lesson_body();
            case Page::background:
                return background_body();
            case Page::map:
                return state_.map;
            case Page::closing:
                return closing_body();
            case Page::list:
            case Page::grading_all:
            case Page::lesson_ran:
                return {};
        }
        return {};
    }

    std::string exercise_body() const {
        std::string text = state_.was_saved ? std::string() : introduction_text();
        const std::string hints = hints_text();
        const std::string result = result_text();
        for (const std::string& part :
             {state_.hints_are_latest ? result : hints, state_.hints_are_latest ? hints : result}) {
            if (!text.empty() && !part.empty()) text = without_blank_end(text) + "\n";
            text += part;
        }
        return text;
    }

    std::string introduction_text() const {
        std::string text = paragraph(fmt::format("{}: {}", exercise().name, exercise().title), Style::title);
        if (const std::string kind = kind_text(exercise().kind); !kind.empty()) text += paragraph(kind);
        text += "\n    " + state_.answer + "\n\n";
        return text + paragraph("Edit this file and save it: every save is built and graded. t shows the task.") + "\n";
    }

    std::string hints_text() const {
        std::string text;
        for (int hint = 0; hint < state_.hints_visible; ++hint) {
            const std::string heading = fmt::format("Hint {} of {}", hint + 1, state_.hints.size());
            text += paint(Style::heading, heading) + "\n\n" +
                    plain_text(state_.hints[static_cast<std::size_t>(hint)], terminal_.width) + "\n";
        }
        return text;
    }

    std::string result_text() const {
        if (!state_.result) return {};
        const GradeResult& result = *state_.result;
        const bool shows_details = state_.shows_details && !result.details.empty();
        std::string text = untouched(shows_details ? result.details : result.text);
        if (!text.empty()) text = without_blank_end(text) + "\n";
        const std::string times = fmt::format("Built in {}, graded in {}.", seconds_text(result.build_seconds),
                                              seconds_text(result.grade_seconds));
        switch (result.outcome) {
            case Outcome::passed:
                return text + paragraph(fmt::format("Passed: {}. {}", exercise().name, times), Style::good) +
                       learned_text(result) + paragraph(after_passing_text());
            case Outcome::failed:
                if (result.is_untouched) return text + paragraph("Every save is graded. t shows the whole task.");
                return text + paragraph("Not yet: what is wrong stands above.", Style::bad) +
                       paragraph(times + attempts_text());
            case Outcome::build_failed:
                return text + paragraph("It could not be built: the messages stand above.", Style::bad) +
                       paragraph("The first one counts most; later ones often follow from it.");
            case Outcome::never_ended:
                return text + paragraph("Stopped: it did not end in time.", Style::bad) +
                       paragraph(times + attempts_text());
            case Outcome::broken:
                return text + paragraph("Not graded: what happened stands above.", Style::bad) +
                       paragraph("r tries again.");
            case Outcome::cancelled:
                return text;
        }
        return text;
    }

    std::string learned_text(const GradeResult& result) const {
        std::string text;
        if (!result.learned.empty()) {
            text += "\n" + plain_text("What you have learned: " + result.learned, terminal_.width) + "\n";
        }
        if (!result.improvement.empty()) text += improvement_table(result.improvement, terminal_) + "\n";
        return text;
    }

    std::string attempts_text() const {
        const int attempts = marks_of(state_, exercise()).attempts;
        if (state_.has_passed()) return " It has passed before, so it keeps its mark.";
        return attempts < 1 ? "" : fmt::format(" Attempt {}.", attempts);
    }

    std::string after_passing_text() const {
        const Station next = next_undone(state_);
        const std::string solution = "s shows the solution and how it differs from your answer.";
        if (next) return fmt::format("n goes on with {}. {}", next.text(), solution);
        return "That was the last one: n ends the way. " + solution;
    }

    std::string solution_body() const {
        std::string text = paragraph("Solution: " + project_.shown(exercise().solution), Style::title) + "\n" +
                           untouched(state_.solution.text) + "\n";
        if (state_.solution.difference.empty()) return text + paragraph("Your answer is the same, line by line.");
        text += paragraph("From your answer (-) to the solution (+)", Style::title) + "\n";
        for (const std::string& line : split_lines(state_.solution.difference)) {
            const char first = line.empty() ? ' ' : line.front();
            text += paint(first == '+'   ? Style::good
                          : first == '-' ? Style::bad
                          : first == '@' ? Style::faint
                                         : Style::plain,
                          line) +
                    "\n";
        }
        return text + "\n";
    }

    std::string help_body() const {
        const std::vector<std::vector<Cell>> rows{
            {{"n"}, {"go on to the next stop of the path; before the exercise has passed it asks whether to skip it"}},
            {{"b"}, {"go back to the stop before this one: a lesson, an exercise, or a page"}},
            {{"m"}, {"show the map: what is done, and which ideas are mastered or shaky"}},
            {{"h"}, {"show a hint; each further h shows one more, closer to the answer"}},
            {{"l"}, {"list all exercises and choose one"}},
            {{"g"}, {"grade all exercises; any key stops that"}},
            {{"x"}, {"reset: the file as it was handed out; your answer is kept beside it"}},
            {{"s"}, {"show the solution and how it differs from your answer; before passing it asks first"}},
            {{"t"}, {"show the task"}},
            {{"r"}, {"build and grade again"}},
            {{"v"}, {"show what is wrong in full: Catch2's own output, or all messages of the compiler; again: less"}},
            {{"q"}, {"quit; the marks are kept. So does Ctrl-C, with exit status 130"}},
            {{"Esc"}, {"go back to the exercise, from any page"}},
        };
        return paragraph("Watch mode", Style::title) + "\n" +
               paragraph(
                   "The current exercise is built and graded at every save. The compiler's messages and the grader's "
                   "diagnostics are shown as they are; what is longer than the window can be scrolled back to. Nothing "
                   "goes on by itself: n does.") +
               "\n" + format_table({"key", "what it does"}, rows, terminal_) + "\n";
    }

    std::string graded_all_body() const {
        std::string text = paragraph("All exercises graded", Style::title) + "\n";
        if (state_.grading_was_cancelled) {
            text = paragraph(fmt::format("Stopped: {} of {} exercises graded", state_.graded.size(),
                                         state_.exercises().size()),
                             Style::title) +
                   "\n";
        }
        if (state_.graded.empty()) return text;
        std::vector<std::vector<Cell>> rows;
        Lines lost;
        std::size_t passed = 0;
        for (const Graded& graded : state_.graded) {
            const bool passes = graded.outcome == Outcome::passed;
            passed += passes ? 1 : 0;
            if (!passes && graded.had_passed) lost.push_back(graded.exercise->name);
            const std::string remark = passes == graded.had_passed ? "" : passes ? "new" : "passed before";
            rows.push_back({{graded.exercise->name},
                            {outcome_text(graded.outcome), passes ? Style::good : Style::plain},
                            {seconds_text(graded.seconds)},
                            {remark, passes ? Style::good : Style::bad}});
        }
        text += format_table({"exercise", "result", "time", ""}, rows, terminal_) + "\n";
        text += paragraph(fmt::format("{} of {} pass.", passed, state_.graded.size()));
        if (!lost.empty()) {
            text += paragraph(
                fmt::format("Passed before, but not now: {}. The marks stay. l leads there.", fmt::join(lost, ", ")),
                Style::bad);
        }
        return text;
    }

    std::string lesson_body() const {
        const Station& stop = state_.stop;
        const Lesson& lesson = *stop.lesson;
        const bool was_run = state_.progress.has_run(lesson.name);
        const std::string about = lesson.title.empty() ? "" : fmt::format(": {}", lesson.title);
        std::string text =
            paragraph(fmt::format("{}{}{}", was_run ? "L" : "Next: l", stop.text().substr(1), about), Style::title) +
            "\n";
        if (!lesson.idea.empty()) text += paragraph(fmt::format("Idea: {}.", lesson.idea));
        const std::string without = was_run ? "n goes on." : "n goes on without it.";
        text += fmt::format("\n    {}\n\n", typed(fmt::format("run {} {}", stop.chapter->number, lesson.name)));
        text += paragraph(fmt::format("Enter runs it now. {} Its source is in {}.", without, source_of(stop))) + "\n";
        return text + untouched(state_.lesson_output);
    }

    /// The folder of the lesson, or its file.
    std::string source_of(const Station& lesson) const {
        const std::filesystem::path place = project_.root / "chapters" / lesson.chapter->folder / lesson.lesson->name;
        std::error_code error;
        return project_.shown(std::filesystem::is_directory(place, error) ? place.string() : place.string() + ".cu");
    }

    std::string background_body() const {
        std::string text = paragraph(fmt::format("Next: {} of the book", state_.stop.text()), Style::title) + "\n";
        if (!state_.stop.idea().empty()) text += paragraph(fmt::format("Idea: {}.", state_.stop.idea()));
        text += "\n";
        if (state_.page_was_shown) return text + paragraph("Enter goes on, r shows the page again.") + "\n";
        return text +
               paragraph(fmt::format("It explains what the next stops need. Enter shows it here, one screen at a "
                                     "time; '{}' does so in another terminal. n goes on.",
                                     typed("docs " + state_.stop.name()))) +
               "\n";
    }

    std::string closing_body() const {
        const std::vector<const Exercise*> exercises = state_.exercises();
        std::size_t attempts = 0, hints = 0, alone = 0, seen = 0;
        for (const Exercise* exercise : exercises) {
            const ExerciseProgress marks = marks_of(state_, *exercise);
            attempts += static_cast<std::size_t>(std::max(marks.attempts, 0));
            hints += static_cast<std::size_t>(std::max(marks.hints, 0));
            seen += marks.solution_seen ? 1 : 0;
            alone += marks.hints == 0 && !marks.solution_seen ? 1 : 0;
        }
        const auto lessons = std::count_if(state_.way.begin(), state_.way.end(),
                                           [](const Station& station) { return station.lesson != nullptr; });
        std::string text =
            paragraph(fmt::format("All done: {} and {}.", plural(static_cast<std::size_t>(lessons), "lesson"),
                                  plural(exercises.size(), "exercise")),
                      Style::good) +
            "\n";
        std::vector<std::vector<Cell>> rows{
            {{"passed without hints or the solution"}, {std::to_string(alone)}},
            {{"hints shown"}, {std::to_string(hints)}},
            {{"solutions seen before passing"}, {std::to_string(seen)}},
            {{"answers that were not right yet"}, {std::to_string(attempts)}},
        };
        if (!state_.progress.started.empty()) rows.push_back({{"started"}, {state_.progress.started}});
        text += format_table({"on the way", ""}, rows, terminal_) + "\n";
        const std::vector<std::vector<Cell>> next{
            {{typed("report")}, {"all that was run and done, as one HTML page"}},
            {{typed("try FILE.cu")}, {"your own programs, with counters and a search for errors"}},
            {{"g"}, {"grade all answers again"}},
            {{"l"}, {"go back to any exercise; s compares your answer with its solution"}},
        };
        return text + format_table({"what to do now", ""}, next, terminal_);
    }

    // ---- blocks ----

    std::string line(std::string_view text) const { return cut(text, columns_ - 1); }

    /// The lines that fit into the window: the least important are left out, of these the last ones first.
    Lines fitting(std::vector<BlockLine> lines, std::size_t most) const {
        while (lines.size() > std::max<std::size_t>(most, 1)) {
            const auto least =
                std::min_element(lines.rbegin(), lines.rend(),
                                 [](const BlockLine& a, const BlockLine& b) { return a.importance < b.importance; });
            lines.erase(std::next(least).base());
        }
        Lines texts;
        for (const BlockLine& block_line : lines) texts.push_back(line(block_line.text));
        return texts;
    }

    std::vector<BlockLine> common_block() const {
        std::vector<BlockLine> lines{{"", importance::blank}};
        add_messages(lines);
        const std::size_t bar_width = columns_ - 1 - std::min<std::size_t>(columns_ - 1, 10);
        lines.push_back(
            {"Exercises " + progress_bar(count_passed(state_), state_.exercises().size(), bar_width, terminal_.colors),
             importance::bar});
        const bool is_about_exercise =
            current_stop(state_).exercise != nullptr && state_.page != Page::closing && state_.page != Page::map;
        if (is_about_exercise) {
            lines.push_back({paint(Style::heading, state_.answer), importance::path});
            lines.push_back({exercise().title, importance::title});
        }
        add_keys(lines, keys());
        return lines;
    }

    /// What the learner is told, asked, and what is going on.
    void add_messages(std::vector<BlockLine>& lines) const {
        const auto add = [&](const std::string& text, Style style, int importance) {
            for (const std::string& wrapped : split_lines(warpwise::wrap(text, columns_ - 1))) {
                lines.push_back({paint(style, wrapped), importance});
            }
        };
        if (state_.page == Page::lesson_ran) {
            add(lesson_ran_text(), state_.lesson_status == 0 ? Style::good : Style::bad, importance::notice);
        }
        if (!state_.notice.text.empty()) {
            add(state_.notice.text, state_.notice.is_bad ? Style::bad : Style::heading, importance::notice);
        }
        if (state_.work.is_running) lines.push_back({work_text(), importance::work});
        if (state_.question == Question::reset) {
            add(fmt::format("Put {} back as it was handed out? Your answer is kept beside it. y/n", exercise().name),
                Style::heading, importance::question);
        } else if (state_.question == Question::solution) {
            add("It has not passed yet. Look at the solution all the same? It will be noted. y/n", Style::heading,
                importance::question);
        } else if (state_.question == Question::skip) {
            add("It has not passed yet. Go on without it? It stays open on the map. y/n", Style::heading,
                importance::question);
        }
    }

    std::string lesson_ran_text() const {
        std::string name = state_.stop.text();
        name.front() = 'L';
        if (!state_.has_lesson_run()) {
            return fmt::format("{}, was not run to its end (exit status {}).", name, state_.lesson_status);
        }
        const Station next = next_undone(state_);
        const std::string goes_on = next ? fmt::format(" Enter goes on with {}.", next.text()) : " Enter ends the way.";
        return name + (state_.lesson_status == 0 ? ", is run." : ", is run; something in it was wrong: see above.") +
               goes_on;
    }

    std::string work_text() const {
        const Work& work = state_.work;
        const std::string timer = work.seconds < 1 ? "" : fmt::format(" {} s", static_cast<long>(work.seconds));
        if (state_.page == Page::lesson && work.of <= 0) return "Building ..." + timer;
        if (work.of <= 0) return "Grading ..." + timer;
        if (!work.is_built()) return fmt::format("Building {} of {} ...{}", work.done, work.of, timer);
        return "Grading ..." + timer;
    }

    std::vector<KeyLabel> keys() const {
        if (state_.question != Question::none) return {{"y", "yes"}, {"n", "no"}, {"q", "quit"}};
        switch (state_.page) {
            case Page::lesson:
                if (state_.work.is_running) return {{"Esc", "stop"}, {"q", "quit"}};
                return {{"Enter", "run it"},
                        {"n", state_.progress.has_run(state_.stop.name()) ? "go on" : "go on without it"},
                        {"b", "back"},
                        {"Esc", "exercise"},
                        {"m", "map"},
                        {"l", "list"},
                        {"q", "quit"},
                        {"?", "help"}};
            case Page::lesson_ran:
                if (state_.has_lesson_run()) {
                    return {{"Enter", "go on"}, {"r", "run again"}, {"b", "back"}, {"m", "map"},
                            {"l", "list"},      {"q", "quit"},      {"?", "help"}};
                }
                return {{"Enter", "back"}, {"n", "go on without it"}, {"l", "list"}, {"q", "quit"}, {"?", "help"}};
            case Page::background:
                return {{"Enter", state_.page_was_shown ? "go on" : "read it"},
                        {state_.page_was_shown ? "r" : "n", state_.page_was_shown ? "read again" : "go on"},
                        {"b", "back"},
                        {"m", "map"},
                        {"l", "list"},
                        {"q", "quit"},
                        {"?", "help"}};
            case Page::closing:
                return {{"Esc", "back"}, {"l", "list"}, {"g", "grade all"}, {"q", "quit"}, {"?", "help"}};
            default:
                break;
        }
        std::vector<KeyLabel> keys;
        if (state_.page != Page::exercise) keys.push_back({"Esc", "back"});
        keys.push_back({"n", state_.has_passed() ? "next" : "skip"});
        const int seen = std::min(state_.hints_seen(), static_cast<int>(state_.hints.size()));
        keys.push_back({"h", seen == 0 ? "hint" : fmt::format("hint ({} of {} shown)", seen, state_.hints.size())});
        if (state_.result && !state_.has_passed() && !state_.result->details.empty()) {
            keys.push_back({"v", state_.shows_details ? "less" : "all of it"});
        }
        for (const auto& [key, label] :
             {std::pair("b", "back"), std::pair("m", "map"), std::pair("l", "list"), std::pair("g", "grade all"),
              std::pair("x", "reset"), std::pair("s", "solution"), std::pair("t", "task"), std::pair("r", "run again"),
              std::pair("q", "quit"), std::pair("?", "help")}) {
            keys.push_back({key, label});
        }
        return keys;
    }

    /// As many keys in a line as fit.
    void add_keys(std::vector<BlockLine>& lines, const std::vector<KeyLabel>& keys) const {
        std::string text;
        std::size_t used = 0;
        bool is_first = true;
        const auto finish = [&] {
            lines.push_back({std::exchange(text, {}), is_first ? importance::keys : importance::more_keys});
            is_first = false;
            used = 0;
        };
        for (const KeyLabel& key : keys) {
            const std::size_t width = key.key.size() + 1 + key.label.size();
            if (used != 0 && used + 3 + width > columns_ - 1) finish();
            if (used != 0) text += "   ";
            used += width + (used != 0 ? 3 : 0);
            text += paint(Style::title, key.key) + " " + key.label;
        }
        finish();
    }

    // ---- the list ----

    Lines list_block() const {
        const std::vector<const Exercise*> shown = matches(state_);
        Lines lines;
        lines.push_back(line(list_heading(shown.size())));
        const std::size_t rows = list_rows({static_cast<int>(columns_), static_cast<int>(lines_)});
        const std::size_t most = shown.size() > rows ? shown.size() - rows : 0;
        const std::size_t first = std::min(state_.selected - std::min(state_.selected, rows / 2), most);
        for (std::size_t i = first; i < std::min(shown.size(), first + rows); ++i) {
            lines.push_back(list_row(*shown[i], i == state_.selected));
        }
        if (shown.empty()) lines.push_back(line("Nothing matches: Backspace takes letters away."));
        if (lines_ >= rows + list_surroundings) {
            lines.insert(lines.begin() + 1, "");
            lines.push_back("");
        }
        if (lines_ > lines.size()) lines.push_back(list_footer(first, shown.size(), rows));
        return lines;
    }

    std::string list_heading(std::size_t found) const {
        const std::size_t all = state_.exercises().size();
        if (state_.filter.empty()) {
            return paint(Style::title, fmt::format("Exercises, {} of {} passed", count_passed(state_), all)) +
                   paint(Style::faint, "   type to search");
        }
        return paint(Style::title, "Search: ") + state_.filter + "_" +
               paint(Style::faint, fmt::format("   {} of {}", found, all));
    }

    std::string list_row(const Exercise& shown, bool is_selected) const {
        const ExerciseProgress marks = marks_of(state_, shown);
        const bool has_passed = !marks.passed.empty();
        const std::string mark = has_passed            ? (marks.solution_seen ? "done+" : "done")
                                 : marks.solution_seen ? "seen"
                                                       : "";
        std::size_t name_width = 0;
        for (const Exercise* each : state_.exercises()) {
            name_width = std::max(name_width, std::min(each->name.size(), longest_name));
        }
        const bool is_current = &shown == state_.exercise;
        const Chapter* chapter = state_.chapter_of(shown);
        const std::string name = padded(shown.name, name_width);
        const std::string rest =
            fmt::format("  {:<5}  {}  {}", shown.kind, chapter == nullptr ? 0 : chapter->number, shown.title);
        const std::string start = is_selected ? ">" : " ";
        const std::string here = is_current ? "* " : "  ";
        if (is_selected && terminal_.colors) {
            return "\033[7m" + padded(fmt::format("{}{:<5} {}{}{}", start, mark, here, name, rest), columns_ - 1) +
                   "\033[0m";
        }
        return line(start + paint(has_passed ? Style::good : Style::plain, fmt::format("{:<5}", mark)) + " " + here +
                    paint(is_current ? Style::heading : Style::plain, name) + rest);
    }

    std::string list_footer(std::size_t first, std::size_t found, std::size_t rows) const {
        if (state_.work.is_running && columns_ >= 60) {
            return line(fmt::format("{}: {}   Enter choose   Esc back", exercise().name, work_text()));
        }
        if (!state_.notice.text.empty()) return line(paint(Style::bad, state_.notice.text));
        const std::string place =
            found > rows ? fmt::format("{}-{} of {}   ", first + 1, std::min(found, first + rows), found) : "";
        return line(paint(Style::title, "Enter") + " choose   " + paint(Style::title, "Esc") + " back   " + place +
                    paint(Style::faint, "* current, seen: solution seen, done+: passed after that"));
    }

    // ---- grading all ----

    Lines grading_all_block() const {
        const std::vector<const Exercise*> exercises = state_.exercises();
        const std::size_t bar_width = columns_ - 1 - std::min<std::size_t>(columns_ - 1, 9);
        std::vector<BlockLine> lines;
        for (const Graded& graded : state_.graded) {
            const bool passes = graded.outcome == Outcome::passed;
            const std::string result =
                outcome_text(graded.outcome) + (graded.had_passed && !passes ? ", but passed before" : "");
            const Style style = passes ? Style::good : graded.had_passed ? Style::bad : Style::plain;
            lines.push_back({fmt::format("{}: {}", graded.exercise->name, paint(style, result)), importance::blank});
        }
        const std::size_t next = state_.graded.size();
        const std::string name = next < exercises.size() ? exercises[next]->name : "";
        lines.push_back({fmt::format("{}: {}", name, work_text()), importance::work});
        lines.push_back(
            {"Grading " + progress_bar(next, exercises.size(), bar_width, terminal_.colors), importance::bar});
        lines.push_back({"Any key stops.", importance::keys});
        return latest_fitting(lines);
    }

    /// Of results the last ones are kept.
    Lines latest_fitting(std::vector<BlockLine> lines) const {
        const auto is_result = [](const BlockLine& block_line) { return block_line.importance == importance::blank; };
        while (lines.size() > lines_ && is_result(lines.front())) lines.erase(lines.begin());
        return fitting(std::move(lines), lines_);
    }
};

}  // namespace

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    while (!text.empty()) {
        const Piece piece = first_piece(text);
        width += piece.width;
        text.remove_prefix(piece.bytes);
    }
    return width;
}

std::string cut(std::string_view text, std::size_t width) {
    if (display_width(text) <= width) return std::string(text);
    const std::string_view mark = std::string_view("...").substr(0, std::min<std::size_t>(3, width));
    std::string result;
    std::size_t used = mark.size();
    bool has_escapes = false;
    while (!text.empty()) {
        const Piece piece = first_piece(text);
        if (used + piece.width > width) break;
        has_escapes = has_escapes || piece.is_escape;
        result += text.substr(0, piece.bytes);
        used += piece.width;
        text.remove_prefix(piece.bytes);
    }
    result += mark;
    return has_escapes ? result + "\033[0m" : result;
}

std::string progress_bar(std::size_t done, std::size_t of, std::size_t width, bool colors) {
    const Terminal terminal{.colors = colors};
    const std::string count = fmt::format("{}/{}", done, of);
    constexpr std::size_t frame = 3;  // two brackets and a space
    constexpr std::size_t fewest = 5;
    if (of == 0 || width < count.size() + frame + fewest) return count;
    const std::size_t inside = std::min(width - count.size() - frame, longest_bar);
    const std::size_t filled = inside * std::min(done, of) / of;
    const std::string front = std::string(filled, '#') + (filled < inside ? ">" : "");
    const std::string rest(inside - front.size(), '-');
    return fmt::format("[{}{}] {}", terminal.paint(Style::good, front), terminal.paint(Style::faint, rest), count);
}

std::size_t list_rows(ConsoleSize size) {
    const std::size_t lines = static_cast<std::size_t>(std::max(size.lines, 1));
    if (lines >= 8) return lines - list_surroundings;
    return lines > 2 ? lines - 2 : 1;
}

Frame render(const WatchState& state, const Project& project, const ViewOptions& options) {
    Frame frame = View(state, project, options).frame();
    const std::size_t most = static_cast<std::size_t>(frame.lines);
    if (frame.block.size() > most) frame.block.resize(most);
    return frame;
}

std::string drawing(const std::optional<Frame>& before, const Frame& after) {
    if (before == after) return {};
    std::string text;
    const bool has_body = before && before->body == after.body && before->keeps_above == after.keeps_above &&
                          before->columns == after.columns && before->lines == after.lines;
    if (has_body || (before && before->keeps_above && after.keeps_above)) {
        if (before->block.size() > 1) text += fmt::format("\033[{}A", before->block.size() - 1);
        text += "\r";
    } else if (after.keeps_above) {
        text += "\r\n";
    } else {
        text += "\033[H\033[2J\033[3J" + after.body;
    }
    for (std::size_t i = 0; i < after.block.size(); ++i) {
        text += (i == 0 ? "" : "\n") + after.block[i] + "\033[K";
    }
    text += "\033[J";
    // In raw mode a line feed alone does not lead to the line's start.
    std::string result;
    for (const char c : text) {
        if (c == '\n' && (result.empty() || result.back() != '\r')) result += '\r';
        result += c;
    }
    return result;
}

}  // namespace guide
