#include "common/guide/watch_view.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace guide;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

/// A terminal that knows what the guide writes: cursor up, erase, home, lines that are too long, scrolling.
class FakeTerminal {
public:
    FakeTerminal(int columns, int lines) : columns_(columns), lines_(lines), screen_(1) {}

    void write(const std::string& text) {
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '\033') {
                i = escape(text, i);
            } else if (text[i] == '\r') {
                column_ = 0;
            } else if (text[i] == '\n') {
                line_feed();
            } else {
                if (column_ == columns_) {
                    column_ = 0;
                    line_feed();
                }
                std::string& line = screen_[row_];
                line.resize(std::max(line.size(), column_ + 1), ' ');
                line[column_++] = text[i];
            }
        }
    }

    /// The window, lines without spaces at their ends.
    std::vector<std::string> window() const {
        std::vector<std::string> lines(screen_.begin() + static_cast<std::ptrdiff_t>(top()), screen_.end());
        for (std::string& line : lines) line.erase(line.find_last_not_of(' ') + 1);
        return lines;
    }
    std::size_t scrolled_out() const { return top(); }

private:
    std::size_t top() const { return screen_.size() > lines_ ? screen_.size() - lines_ : 0; }

    void line_feed() {
        ++row_;
        if (row_ == screen_.size()) screen_.emplace_back();
    }

    std::size_t escape(const std::string& text, std::size_t begin) {
        REQUIRE(text[begin + 1] == '[');
        std::size_t end = begin + 2;
        while (text[end] < '@') ++end;
        const std::string number = text.substr(begin + 2, end - begin - 2);
        if (text[end] == 'A') {
            const std::size_t up = static_cast<std::size_t>(std::stoi(number));
            REQUIRE(row_ - top() >= up);  // a real one would stop at the window's edge
            row_ -= up;
        } else if (text[end] == 'K') {
            screen_[row_].resize(std::min(screen_[row_].size(), column_));
        } else if (text[end] == 'H') {
            row_ = top();
            column_ = 0;
        } else if (text[end] == 'J' && number.empty()) {
            screen_[row_].resize(std::min(screen_[row_].size(), column_));
            screen_.resize(row_ + 1);
        } else if (text[end] == 'J') {  // the window, or what has scrolled out
            screen_.assign(1, "");
            row_ = 0;
        } else {
            REQUIRE(text[end] == 'm');
        }
        return end;
    }

    std::size_t columns_;
    std::size_t lines_;
    std::vector<std::string> screen_;
    std::size_t row_ = 0;
    std::size_t column_ = 0;
};

Exercise exercise(const std::string& name, const std::string& kind, const std::string& title) {
    Exercise exercise;
    exercise.name = name;
    exercise.chapter = "1_basics";
    exercise.kind = kind;
    exercise.title = title;
    exercise.folder = "/copy/exercises/1_basics/" + name;
    exercise.solution = "/copy/solutions/1_basics/" + name + "/" + name + ".cu";
    return exercise;
}

/// One chapter of this many exercises ("exercise_0" ...), and a second one without any.
struct Scene {
    explicit Scene(std::size_t exercises = 3) {
        chapters.push_back({1, "1_basics", "basics", "Basics and pi", {{"pi", "adds up"}}, {}});
        chapters.push_back({2, "2_memory", "memory", "Memory model", {{"tiles", "shared memory"}}, {}});
        for (std::size_t i = 0; i < exercises; ++i) {
            chapters[0].exercises.push_back(exercise("exercise_" + std::to_string(i), "fix", "Title of it"));
        }
        for (const Chapter& chapter : chapters) {
            for (const Station& station : stations_of(chapter)) state.way.push_back(station);
        }
        state.exercise = &chapters[0].exercises[0];
        state.answer = "answers/1_basics/exercise_0/exercise_0.cu";
        state.progress.lessons["pi"].run = "2026-11-20";
        project.root = "/copy";
        project.caller = "/copy";
    }
    Scene(const Scene&) = delete;
    Scene& operator=(const Scene&) = delete;

    Frame frame(int columns = 80, int lines = 24, bool colors = false) const {
        return render(state, project, {{columns, lines}, colors});
    }
    std::string body() const { return frame().body; }
    std::string block(int columns = 80, int lines = 24, bool colors = false) const {
        std::string text;
        for (const std::string& line : frame(columns, lines, colors).block) text += line + "\n";
        return text;
    }
    void pass(std::size_t exercises) {
        for (std::size_t i = 0; i < exercises; ++i) {
            state.progress.exercises[chapters[0].exercises[i].name].passed = "2026-11-21";
        }
    }

    std::vector<Chapter> chapters;
    WatchState state;
    Project project;
};

}  // namespace

// ---- widths -------------------------------------------------------------------------------------------------------

TEST_CASE("view: knows how wide text is on a terminal") {
    CHECK(display_width("") == 0);
    CHECK(display_width("grid") == 4);
    CHECK(display_width("größer") == 6);
    CHECK(display_width("数") == 2);
    CHECK(display_width("한글") == 4);
    CHECK(display_width("😀!") == 3);
    CHECK(display_width("e\u0301") == 1);               // e and an accent that joins it
    CHECK(display_width("\033[1;31mred\033[0m") == 3);  // colors
    CHECK(display_width("\033]8;;file:///x\033\\link\033]8;;\a") == 4);
    CHECK(display_width("\xff\xfe") == 2);  // not UTF-8
    CHECK(display_width("\xe6\x95") == 2);  // broken off
    CHECK(display_width("\xe6xx") == 3);
    CHECK(display_width("\033[") == 0);
}

TEST_CASE("view: text that is too wide is cut between characters") {
    CHECK(cut("grid_stride", 11) == "grid_stride");
    CHECK(cut("grid_stride", 10) == "grid_st...");
    CHECK(cut("数数数数", 7) == "数数...");
    CHECK(cut("数数数数", 6) == "数...");
    CHECK(cut("grid", 2) == "..");
    CHECK(cut("grid", 0).empty());
    CHECK(cut("\033[1mgrid_stride\033[0m", 6) == "\033[1mgri...\033[0m");
}

TEST_CASE("view: the bar shows how far it is") {
    CHECK(progress_bar(0, 33, 21, false) == "[>-------------] 0/33");
    CHECK(progress_bar(16, 33, 22, false) == "[######>-------] 16/33");
    CHECK(progress_bar(32, 33, 22, false) == "[#############>] 32/33");
    CHECK(progress_bar(33, 33, 22, false) == "[##############] 33/33");
    CHECK(progress_bar(3, 33, 8, false) == "3/33");
    CHECK(progress_bar(0, 0, 40, false) == "0/0");
    CHECK(display_width(progress_bar(3, 33, 50, true)) == 50);
    CHECK_THAT(progress_bar(3, 33, 50, true), ContainsSubstring("\033["));
}

// ---- the exercise's page ------------------------------------------------------------------------------------------

TEST_CASE("view: a new exercise is introduced until it was saved") {
    Scene scene;
    CHECK_THAT(scene.body(), StartsWith("exercise_0: Title of it\nFix: find the mistake.\n"));
    CHECK_THAT(scene.body(), ContainsSubstring("\n    answers/1_basics/exercise_0/exercise_0.cu\n"));
    CHECK_THAT(scene.body(), ContainsSubstring("t shows the task"));
    scene.state.was_saved = true;
    CHECK(scene.body().empty());
}

TEST_CASE("view: the result stands untouched, with what it means below") {
    Scene scene;
    scene.state.was_saved = true;
    const std::string messages = "pi.cu:3:1: error:   expected ';'\n\n\tat the end";
    scene.state.result = GradeResult{Outcome::build_failed, messages, 2, 0};
    CHECK_THAT(scene.body(), StartsWith(messages + "\n\nIt could not be built"));
    scene.state.result = GradeResult{Outcome::failed, "element 3 is 4\n", 2.5, 0.02};
    scene.state.progress.exercises["exercise_0"].attempts = 4;
    CHECK_THAT(scene.body(), StartsWith("element 3 is 4\n\nNot yet"));
    CHECK_THAT(scene.body(), EndsWith("Built in 2.50 s, graded in 20.0 ms. Attempt 4.\n"));
    scene.state.result->outcome = Outcome::never_ended;
    CHECK_THAT(scene.body(), ContainsSubstring("Stopped: it did not end"));
    scene.state.result->outcome = Outcome::broken;
    CHECK_THAT(scene.body(), ContainsSubstring("Not graded"));
    scene.pass(1);
    scene.state.result->outcome = Outcome::failed;
    CHECK_THAT(scene.body(), ContainsSubstring("it keeps its mark"));
}

TEST_CASE("view: an answer that nobody has edited is invited, not judged") {
    Scene scene;
    scene.state.was_saved = true;
    scene.state.result = GradeResult{Outcome::failed, "The task.\n", 2, 1};
    scene.state.result->is_untouched = true;
    CHECK_THAT(scene.body(), StartsWith("The task.\n\nEvery save is graded."));
    CHECK_THAT(scene.body(), !ContainsSubstring("Not yet") && !ContainsSubstring("Attempt"));
}

TEST_CASE("view: Catch2's own output takes the place of the grader's words on request") {
    Scene scene;
    scene.state.was_saved = true;
    scene.state.result = GradeResult{Outcome::failed, "short\n", 2, 1};
    CHECK_THAT(scene.block(), !ContainsSubstring("v all of it"));
    scene.state.result->details = "CHECK( long )\n";
    CHECK_THAT(scene.block(), ContainsSubstring("v all of it"));
    CHECK_THAT(scene.body(), StartsWith("short\n"));
    scene.state.shows_details = true;
    CHECK_THAT(scene.body(), StartsWith("CHECK( long )\n") && !ContainsSubstring("short"));
    CHECK_THAT(scene.block(), ContainsSubstring("v less"));
}

TEST_CASE("view: after passing it says what was learned and what it saved") {
    Scene scene;
    scene.pass(1);
    scene.state.result = GradeResult{Outcome::passed, "solved\n", 2, 1};
    scene.state.result->learned = "Blocks wait.";
    scene.state.result->improvement = {{"bank conflicts", 96, 0, "none left"}};
    CHECK_THAT(scene.body(), ContainsSubstring("\nWhat you have learned: Blocks wait.\n"));
    CHECK_THAT(scene.body(), ContainsSubstring("bank conflicts        96            0  none left\n"));
    CHECK(scene.body().find("none left") < scene.body().find("n goes on with exercise_1."));
}

TEST_CASE("view: colors that others left on end before the block") {
    Scene scene;
    scene.state.result = GradeResult{Outcome::failed, "\033[31mred", 2, 1};
    CHECK_THAT(scene.body(), ContainsSubstring("\033[31mred\n\033[0m"));
}

TEST_CASE("view: of megabytes of messages the beginning and the end are shown") {
    Scene scene;
    scene.state.was_saved = true;
    std::string text;
    for (int i = 0; i < 100000; ++i) text += "message number " + std::to_string(i) + "\n";
    scene.state.result = GradeResult{Outcome::build_failed, text, 2, 0};
    const std::string body = scene.body();
    CHECK(body.size() < text.size() / 2);
    CHECK_THAT(body, StartsWith("message number 0\n"));
    CHECK_THAT(body, ContainsSubstring("\nmessage number 99999\n"));
    CHECK_THAT(body, ContainsSubstring("lines left out"));
    scene.state.result->text.assign(3000000, 'x');  // a single line
    CHECK(scene.body().size() < 1000000);
}

TEST_CASE("view: after passing it says how n goes on") {
    Scene scene;
    scene.pass(1);
    scene.state.result = GradeResult{Outcome::passed, "solved\n", 2, 1};
    CHECK_THAT(scene.body(), ContainsSubstring("Passed: exercise_0. Built in 2.00 s, graded in 1.00 s."));
    CHECK_THAT(scene.body(), ContainsSubstring("n goes on with exercise exercise_1."));
    scene.pass(3);
    CHECK_THAT(scene.body(), ContainsSubstring("n goes on with lesson 2.1, tiles."));
    scene.state.progress.lessons["tiles"].run = "2026-11-21";
    CHECK_THAT(scene.body(), ContainsSubstring("n ends the way"));
}

TEST_CASE("view: hints stand below the result when they are newer, else above it") {
    Scene scene;
    scene.state.hints = {"think *hard*", "look", "write"};
    scene.state.hints_visible = 2;
    scene.state.result = GradeResult{Outcome::failed, "wrong\n", 2, 1};
    CHECK(scene.body().find("wrong") > scene.body().find("Hint 2 of 3"));
    scene.state.hints_are_latest = true;
    CHECK(scene.body().find("wrong") < scene.body().find("Hint 1 of 3"));
    CHECK_THAT(scene.body(), ContainsSubstring("think hard"));
    CHECK(scene.body().find("write") == std::string::npos);
    CHECK(scene.body().find("\n\n\n") == std::string::npos);
    CHECK_THAT(scene.block(), ContainsSubstring("h hint (2 of 3 shown)"));
}

TEST_CASE("view: the block holds bar, path, title and keys, and says what n does") {
    Scene scene;
    CHECK_THAT(scene.block(), ContainsSubstring("Exercises [>"));
    CHECK_THAT(scene.block(),
               ContainsSubstring("] 0/3\nanswers/1_basics/exercise_0/exercise_0.cu\nTitle of it\nn skip   h hint"));
    CHECK(scene.block().find("n next") == std::string::npos);
    scene.pass(1);
    CHECK_THAT(scene.block(), ContainsSubstring("n next   h hint   b back   m map   l list"));
    CHECK_THAT(scene.block(), ContainsSubstring("] 1/3\n"));
    CHECK(scene.block().find('\033') == std::string::npos);
    CHECK_THAT(scene.block(80, 24, true), ContainsSubstring("\033["));
}

TEST_CASE("view: says what is going on") {
    Scene scene;
    scene.state.work.is_running = true;
    CHECK_THAT(scene.block(), ContainsSubstring("\nGrading ...\n"));
    scene.state.work = {true, 3, 12, 0.4};
    CHECK_THAT(scene.block(), ContainsSubstring("\nBuilding 3 of 12 ...\n"));
    scene.state.work = {true, 12, 12, 5.9};
    CHECK_THAT(scene.block(), ContainsSubstring("\nGrading ... 5 s\n"));
}

TEST_CASE("view: a question takes the place of the keys") {
    Scene scene;
    scene.state.question = Question::reset;
    CHECK_THAT(scene.block(), ContainsSubstring("Put exercise_0 back"));
    CHECK_THAT(scene.block(), ContainsSubstring("y yes   n no"));
    CHECK(scene.block().find("h hint") == std::string::npos);
    scene.state.question = Question::solution;
    CHECK_THAT(scene.block(30, 4), ContainsSubstring("It will be noted. y/n"));  // even in a low window
}

TEST_CASE("view: the solution stands with its path and the difference") {
    Scene scene;
    scene.state.page = Page::solution;
    scene.state.solution = {"int main() {}\n", "--- yours\n+++ its\n-a\n+b\n"};
    CHECK_THAT(scene.body(), StartsWith("Solution: solutions/1_basics/exercise_0/exercise_0.cu\n\nint main() {}\n"));
    CHECK_THAT(scene.body(), ContainsSubstring("\n-a\n+b\n"));
    CHECK_THAT(scene.frame(80, 24, true).body, ContainsSubstring("\033[32m+b\033[0m"));
    CHECK_THAT(scene.block(), ContainsSubstring("Esc back"));
    scene.state.solution.difference.clear();
    CHECK_THAT(scene.body(), ContainsSubstring("Your answer is the same"));
}

// ---- other pages --------------------------------------------------------------------------------------------------

TEST_CASE("view: a lesson is named with its idea and the command that runs it") {
    Scene scene;
    scene.state.page = Page::lesson;
    scene.chapters[1].lessons[0].idea = "tiles in shared memory";
    scene.state.stop = scene.state.way.back();
    CHECK_THAT(scene.body(), StartsWith("Next: lesson 2.1, tiles: shared memory\n"));
    CHECK_THAT(scene.body(), ContainsSubstring("Idea: tiles in shared memory."));
    CHECK_THAT(scene.body(), ContainsSubstring("\n    ./warpwise run 2 tiles\n"));
    CHECK_THAT(scene.body(), ContainsSubstring("chapters/2_memory/tiles.cu"));
    CHECK_THAT(scene.block(), ContainsSubstring("Enter run it   n go on without it   b back"));
    scene.state.lesson_output = "error: no";
    CHECK_THAT(scene.body(), EndsWith("error: no\n"));
    scene.state.progress.lessons["tiles"].run = "2026-11-21";
    CHECK_THAT(scene.body(), StartsWith("Lesson 2.1, tiles: shared memory\n"));
    CHECK_THAT(scene.block(), ContainsSubstring("Enter run it   n go on   b back"));
}

TEST_CASE("view: after a lesson's run its output stays on the screen") {
    Scene scene;
    scene.state.page = Page::lesson_ran;
    scene.state.stop = scene.state.way.back();
    scene.state.progress.lessons["tiles"].run = "2026-11-21";
    CHECK(scene.frame().keeps_above);
    CHECK_THAT(scene.block(), ContainsSubstring("Lesson 2.1, tiles, is run. Enter goes on with exercise exercise_0."));
    CHECK(drawing(std::nullopt, scene.frame()).find("\033[2J") == std::string::npos);
    scene.state.lesson_status = 130;
    CHECK_THAT(scene.block(), ContainsSubstring("was not run to its end (exit status 130)"));
    CHECK_THAT(scene.block(), ContainsSubstring("n go on without it"));
}

TEST_CASE("view: a page of the book is named, and with it how to read it") {
    Scene scene;
    scene.chapters[1].pages = {{"execution_model", "warps"}};
    scene.state.page = Page::background;
    scene.state.stop = {&scene.chapters[1], nullptr, nullptr, &scene.chapters[1].pages[0]};
    CHECK_THAT(scene.body(), StartsWith("Next: the page execution_model of the book\n"));
    CHECK_THAT(scene.body(), ContainsSubstring("Enter shows it here"));
    CHECK_THAT(scene.body(), ContainsSubstring("'./warpwise docs execution_model' does so in another"));
    CHECK_THAT(scene.block(), ContainsSubstring("Enter read it   n go on   b back"));
    scene.state.page_was_shown = true;
    CHECK_THAT(scene.body(), ContainsSubstring("Enter goes on, r shows the page again."));
    CHECK_THAT(scene.block(), ContainsSubstring("Enter go on   r read again"));
}

TEST_CASE("view: the question before an exercise is skipped says what becomes of it") {
    Scene scene;
    scene.state.question = Question::skip;
    CHECK_THAT(scene.block(), ContainsSubstring("It stays open on the map. y/n"));
}

TEST_CASE("view: the map stands alone above the keys") {
    Scene scene;
    scene.state.page = Page::map;
    scene.state.map = "Chapter 1\n  1.1  #>  grids\n";
    CHECK(scene.body() == scene.state.map);
    CHECK(scene.block().find("exercise_0.cu") == std::string::npos);
    CHECK_THAT(scene.block(), ContainsSubstring("Esc back"));
}

TEST_CASE("view: the table of a grading of all says what has passed before and what is new") {
    Scene scene;
    scene.state.page = Page::graded_all;
    scene.state.graded = {{&scene.chapters[0].exercises[0], Outcome::passed, 2, false},
                          {&scene.chapters[0].exercises[1], Outcome::build_failed, 2, true},
                          {&scene.chapters[0].exercises[2], Outcome::failed, 2, false}};
    CHECK_THAT(scene.body(), ContainsSubstring("exercise_0  passed     2.00 s  new\n"));
    CHECK_THAT(scene.body(), ContainsSubstring("exercise_1  not built  2.00 s  passed before\n"));
    CHECK_THAT(scene.body(), ContainsSubstring("exercise_2  wrong      2.00 s\n"));
    CHECK_THAT(scene.body(), ContainsSubstring("1 of 3 pass."));
    CHECK_THAT(scene.body(), ContainsSubstring("Passed before, but not now: exercise_1."));
    scene.state.graded.clear();
    scene.state.grading_was_cancelled = true;
    CHECK_THAT(scene.body(), StartsWith("Stopped: 0 of 3 exercises graded"));
}

TEST_CASE("view: the closing page sums up") {
    Scene scene;
    scene.pass(3);
    scene.state.page = Page::closing;
    scene.state.progress.exercises["exercise_1"].hints = 2;
    scene.state.progress.exercises["exercise_2"].attempts = 7;
    CHECK_THAT(scene.body(), StartsWith("All done: 2 lessons and 3 exercises.\n"));
    CHECK_THAT(scene.body(), ContainsSubstring("passed without hints or the solution  2\n"));
    CHECK_THAT(scene.body(), ContainsSubstring("./warpwise report"));
    CHECK_THAT(scene.block(), ContainsSubstring("[####"));
}

TEST_CASE("view: the list shows marks, the current exercise and the selected one") {
    Scene scene;
    scene.pass(2);
    scene.state.progress.exercises["exercise_1"].solution_seen = true;
    scene.state.progress.exercises["exercise_2"].solution_seen = true;
    scene.state.page = Page::list;
    scene.state.selected = 2;
    CHECK_THAT(scene.block(), ContainsSubstring("\n done  * exercise_0  fix    1  Title of it\n"));
    CHECK_THAT(scene.block(), ContainsSubstring("\n done+   exercise_1"));
    CHECK_THAT(scene.block(), ContainsSubstring("\n>seen    exercise_2"));
    CHECK_THAT(scene.block(80, 24, true), ContainsSubstring("\033[7m>seen    exercise_2"));
    scene.state.filter = "nothing of that";
    CHECK_THAT(scene.block(), ContainsSubstring("Search: nothing of that_"));
    CHECK_THAT(scene.block(), ContainsSubstring("Nothing matches"));
}

TEST_CASE("view: the list scrolls, so that the selected exercise is always seen") {
    Scene scene(50);
    scene.state.page = Page::list;
    for (const int lines : {1, 2, 3, 5, 7, 8, 9, 24, 60}) {
        for (std::size_t selected = 0; selected < 50; ++selected) {
            scene.state.selected = selected;
            const Frame frame = scene.frame(40, lines);
            CAPTURE(lines, selected);
            CHECK(frame.block.size() <= static_cast<std::size_t>(lines));
            const bool is_seen = scene.block(40, lines).find(">") != std::string::npos;
            CHECK(is_seen == (lines > 1));
        }
    }
    CHECK(list_rows({80, 24}) == 20);
    CHECK(list_rows({80, 3}) == 1);
    CHECK(list_rows({80, 1}) == 1);
}

TEST_CASE("view: while all are graded the latest results are seen") {
    Scene scene(50);
    scene.state.page = Page::grading_all;
    for (std::size_t i = 0; i < 40; ++i) {
        scene.state.graded.push_back({&scene.chapters[0].exercises[i], Outcome::failed, 1, i == 39});
    }
    scene.state.work = {true, 1, 9, 0};
    const Frame frame = scene.frame(60, 10);
    CHECK(frame.block.size() == 10);
    CHECK_THAT(scene.block(60, 10), ContainsSubstring("exercise_39: wrong, but passed before\n"));
    CHECK_THAT(scene.block(60, 10), ContainsSubstring("exercise_40: Building 1 of 9 ...\n"));
    CHECK_THAT(scene.block(60, 10), ContainsSubstring("40/50"));
    CHECK_THAT(scene.block(60, 3), ContainsSubstring("Any key stops."));
}

// ---- windows ------------------------------------------------------------------------------------------------------

TEST_CASE("view: the block fits into every window on every page") {
    Scene scene(12);
    scene.chapters[0].exercises[0].title =
        "Elemente größer als 数数数数数数数数数数数数数数数数数数数数数数数数数数数数";
    scene.state.notice.text = "Something to be told, which takes several lines in a window that is narrow.";
    scene.state.work = {true, 1, 9, 3};
    scene.state.stop = scene.state.way.back();
    scene.state.map = "the map";
    scene.state.graded = {{&scene.chapters[0].exercises[0], Outcome::passed, 2, false}};
    scene.state.hints = {"think"};
    scene.state.hints_visible = 1;
    for (const Page page : {Page::exercise, Page::task, Page::solution, Page::help, Page::list, Page::grading_all,
                            Page::graded_all, Page::lesson, Page::lesson_ran, Page::map, Page::closing}) {
        scene.state.page = page;
        for (const int columns : {1, 2, 5, 10, 20, 39, 80, 300}) {
            for (const int lines : {1, 2, 3, 5, 7, 8, 24, 100}) {
                CAPTURE(static_cast<int>(page), columns, lines);
                const Frame frame = scene.frame(columns, lines, lines % 2 == 0);
                CHECK_FALSE(frame.block.empty());
                CHECK(frame.block.size() <= static_cast<std::size_t>(lines));
                for (const std::string& line : frame.block) {
                    CHECK(display_width(line) < static_cast<std::size_t>(std::max(columns, 2)));
                    CHECK(line.find('\n') == std::string::npos);
                }
            }
        }
    }
}

TEST_CASE("view: in a low window the keys stay longer than title and path") {
    Scene scene;
    CHECK_THAT(scene.block(80, 5), ContainsSubstring("h hint"));
    CHECK(scene.block(80, 5).find("Title of it") == std::string::npos);
    CHECK_THAT(scene.block(80, 24), ContainsSubstring("Title of it"));
}

// ---- drawing ------------------------------------------------------------------------------------------------------

TEST_CASE("drawing: what is on the screen already is not drawn again") {
    Scene scene;
    CHECK(drawing(scene.frame(), scene.frame()).empty());
    CHECK_FALSE(drawing(std::nullopt, scene.frame()).empty());
}

TEST_CASE("drawing: only the block is drawn anew while the body stays") {
    Scene scene;
    FakeTerminal terminal(60, 12);
    const Frame idle = scene.frame(60, 12);
    terminal.write(drawing(std::nullopt, idle));
    const std::vector<std::string> before = terminal.window();
    scene.state.work = {true, 3, 12, 0};
    scene.state.notice.text = "A message";
    const Frame busy = scene.frame(60, 12);
    const std::string text = drawing(idle, busy);
    CHECK(text.find("\033[2J") == std::string::npos);
    terminal.write(text);
    const std::vector<std::string> during = terminal.window();
    CHECK(std::count(during.begin(), during.end(), "Building 3 of 12 ...") == 1);
    terminal.write(drawing(busy, idle));
    // Two lines fewer than before: nothing of them is left at the end.
    const std::vector<std::string> after = terminal.window();
    REQUIRE(after.size() >= idle.block.size());
    CHECK(std::equal(idle.block.rbegin(), idle.block.rend(), after.rbegin()));
    CHECK(std::count(after.begin(), after.end(), "Building 3 of 12 ...") == 0);
    CHECK(before.back() == after.back());
}

TEST_CASE("drawing: a body longer than the window scrolls out, and the block is the last thing") {
    Scene scene;
    std::string text;
    for (int i = 0; i < 100; ++i) text += "message " + std::to_string(i) + "\n";
    scene.state.result = GradeResult{Outcome::build_failed, text, 2, 0};
    FakeTerminal terminal(60, 12);
    Frame shown = scene.frame(60, 12);
    terminal.write(drawing(std::nullopt, shown));
    CHECK(terminal.scrolled_out() > 90);
    for (int done = 0; done < 12; ++done) {
        scene.state.work = {true, done, 12, 0};
        Frame next = scene.frame(60, 12);
        terminal.write(drawing(shown, next));
        const std::vector<std::string> window = terminal.window();
        CHECK(std::count_if(window.begin(), window.end(),
                            [](const std::string& line) { return line.starts_with("Building"); }) == 1);
        CHECK(std::equal(next.block.rbegin(), next.block.rend(), window.rbegin()));
        shown = std::move(next);
    }
}

TEST_CASE("drawing: another size or another body clears the window first") {
    Scene scene;
    const Frame before = scene.frame(80, 24);
    CHECK_THAT(drawing(before, scene.frame(81, 24)), StartsWith("\033[H\033[2J\033[3J"));
    CHECK_THAT(drawing(before, scene.frame(80, 25)), StartsWith("\033[H\033[2J\033[3J"));
    scene.state.page = Page::help;
    CHECK_THAT(drawing(before, scene.frame(80, 24)), StartsWith("\033[H\033[2J\033[3J"));
}

TEST_CASE("drawing: every line feed leads to the line's start") {
    Scene scene;
    scene.state.result = GradeResult{Outcome::failed, "one\r\ntwo\n", 2, 1};
    const std::string text = drawing(std::nullopt, scene.frame());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\n') CHECK(text[i - 1] == '\r');
    }
    CHECK(text.find("\r\r") == std::string::npos);
}
