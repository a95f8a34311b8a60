#include "common/guide/commands.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <system_error>
#include <utility>

#include "common/guide/after_grading.h"
#include "common/guide/answers.h"
#include "common/guide/book_page.h"
#include "common/guide/exercise_files.h"
#include "common/guide/guesses.h"
#include "common/guide/ideas.h"
#include "common/guide/review.h"
#include "common/guide/watch_mode.h"
#include "common/helpers/json.h"
#include "common/lesson/guess.h"
#include "common/lesson/reader.h"
#include "common/lesson/refusal.h"
#include "common/lesson/suggest.h"

namespace guide {
namespace {

using warpwise::Cell;
using warpwise::Style;
using warpwise::Terminal;
using Json = nlohmann::ordered_json;

// ---- small things --------------------------------------------------------------------------------------------------

/// For programs to read: text that is not UTF-8 must not cost the rest.
void print_json(const Json& json) { fmt::print("{}\n", warpwise::json_text(json, 2)); }

void print_with_newline(const std::string& text) {
    if (text.empty()) return;
    fmt::print("{}{}", text, text.back() == '\n' ? "" : "\n");
}

void complain(const std::string& text) {
    std::fflush(stdout);
    fmt::print(stderr, "warpwise: {}\n", text);
}

std::string seconds_text(double seconds) { return fmt::format("{:.1f} s", seconds); }

/// "3 attempts", "1 attempt"
std::string counted(std::size_t count, const std::string& what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string lower_case(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    return text;
}

bool contains(const std::string& text, const std::string& lower_case_word) {
    return lower_case(text).find(lower_case_word) != std::string::npos;
}

/// As `nproc` says: the cores that this process may use.
int usable_cores() {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    return sched_getaffinity(0, sizeof cores, &cores) == 0 ? std::max(1, CPU_COUNT(&cores)) : 1;
}

std::string text_of_file(const std::filesystem::path& file, const Project& project) {
    if (std::optional<std::string> text = read_file(file)) return *std::move(text);
    throw Refusal(
        fmt::format("{} is missing; git checkout -- {} brings it back", project.shown(file), project.shown(file)));
}

/// "Building pi [3/17]": in place on a terminal, where it vanishes in the end; elsewhere one line.
class Activity {
public:
    Activity(const Session& session, const std::string& text, bool shown = true)
        : in_place_(session.interactive()), shown_(shown) {
        change(text);
    }
    ~Activity() { end(); }
    Activity(const Activity&) = delete;
    Activity& operator=(const Activity&) = delete;

    /// On a terminal only: elsewhere one line has to do.
    void change(const std::string& text) {
        const bool first = std::exchange(text_, text).empty();
        if (shown_ && in_place_) draw("");
        if (shown_ && !in_place_ && first) fmt::print("{}\n", text_);
        std::fflush(stdout);
    }

    std::function<void(int, int)> counter() {
        return [this](int done, int of) {
            if (shown_ && in_place_) draw(fmt::format(" [{}/{}]", done, of));
        };
    }

    void end() {
        if (shown_ && in_place_) fmt::print("\r\033[K");
        std::fflush(stdout);
        shown_ = false;
    }

private:
    void draw(const std::string& counts) {
        fmt::print("\r\033[K{}{}", text_, counts);
        std::fflush(stdout);
    }

    bool in_place_;
    bool shown_;
    std::string text_;
};

/// Throws Refusal when it fails, after the compiler's messages. False: stopped by Ctrl-C.
bool build(Session& session, const std::vector<std::string>& targets, const std::string& what) {
    Activity activity(session, "Building " + what);
    const BuildResult built = session.tools().build(targets, activity.counter());
    activity.end();
    if (built.cancelled) return false;
    if (built.succeeded) return true;
    std::fflush(stdout);
    fmt::print(stderr, "{}{}", built.output, built.output.empty() || built.output.back() == '\n' ? "" : "\n");
    throw Refusal(fmt::format("{} could not be built (the messages are above)", what));
}

/// A program in the guide's own terminal. Returns its status.
int run_in_terminal(Session& session, const std::vector<std::string>& arguments,
                    std::vector<std::pair<std::string, std::string>> variables = {}) {
    std::fflush(stdout);
    const CommandResult result = session.tools().run(
        arguments, {.folder = session.project().root, .variables = std::move(variables), .owns_terminal = true});
    if (result.status == 127) throw Refusal(fmt::format("cannot run {}", session.project().shown(arguments.front())));
    return result.cancelled ? static_cast<int>(interrupted_status) : result.status;
}

/// What cannot be read or written must not cost the result that was just given.
void attempt(const std::function<void()>& action) {
    try {
        action();
    } catch (const Refusal& refusal) {
        complain(refusal.what());
    }
}

void mark(Session& session, const std::function<void(Progress&)>& change) {
    attempt([&] { session.progress().update(change); });
}

// ---- chapters ------------------------------------------------------------------------------------------------------

/// Options of the chapters' programs whose next word is their value, not a lesson (common/lesson/chapter.cpp).
constexpr std::array<std::string_view, 7> options_with_value = {"--step",      "--size",     "--repeat",   "--json",
                                                                "--registers", "--recorded", "--gpu-model"};

struct ChapterRun {
    std::vector<std::string> arguments;  ///< for the program, lessons by their full names
    std::vector<std::string> lessons;    ///< that are run; empty: all of the chapter
    bool whole = true;                   ///< all lessons with all steps: results worth keeping
    bool runs = true;                    ///< false for --help and --list
    bool says_whether_to_pause = false;
    bool writes_json = false;
    std::string json_file = {};  ///< the reader's own
};

/// The program runs in the project's folder; the reader's files are where the reader is.
std::string from_where_the_reader_is(const Project& project, const std::string& file) {
    return file == "-" || project.caller.empty() ? file : (project.caller / file).lexically_normal().string();
}

ChapterRun understand(const Project& project, const Chapter& chapter, const std::vector<std::string>& words) {
    ChapterRun run;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == "--") {
            run.arguments.insert(run.arguments.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
            run.whole = run.whole && i + 1 == words.size();
            break;
        }
        if (word.empty() || word.front() != '-') {
            run.lessons.push_back(Catalog::find_lesson(chapter, word).name);
            run.arguments.push_back(run.lessons.back());
            run.whole = false;
            continue;
        }
        const std::size_t equals = word.find('=');
        const std::string option = word.substr(0, equals);
        if (option == "--help" || option == "-h" || option == "--list") run.runs = false;
        if (option == "--pause" || option == "--no-pause" || option == "--all") run.says_whether_to_pause = true;
        if (option == "--step") run.whole = false;
        const bool is_json = option == "--json";
        run.writes_json = run.writes_json || is_json;
        const bool takes_next = equals == std::string::npos && i + 1 < words.size() &&
                                std::count(options_with_value.begin(), options_with_value.end(), option) > 0;
        if (is_json && equals != std::string::npos) {
            run.json_file = from_where_the_reader_is(project, word.substr(equals + 1));
            run.arguments.push_back("--json=" + run.json_file);
        } else {
            run.arguments.push_back(word);
        }
        if (takes_next) {
            ++i;
            if (is_json) run.json_file = from_where_the_reader_is(project, words[i]);
            run.arguments.push_back(is_json ? run.json_file : words[i]);
        }
    }
    return run;
}

/// In place of an exit status: the reader had enough before the end.
constexpr int left_by_reader = -1;

/// Where the results of a chapter go; empty when nothing can be written there.
std::filesystem::path results_file(const Project& project, const Chapter& chapter) {
    std::error_code error;
    std::filesystem::create_directories(project.results(), error);
    return error ? std::filesystem::path() : project.results() / (chapter.folder + ".json");
}

/// Returns the program's status, or left_by_reader.
int run_chapter(Session& session, const Chapter& chapter, const std::vector<std::string>& words) {
    const Project& project = session.project();
    const ChapterRun run = understand(project, chapter, words);
    if (!build(session, {chapter.program + "_programs"}, chapter.program)) return interrupted_status;
    std::vector<std::string> command = {(project.programs() / chapter.program).string(), "--device", project.device};
    if (run.runs && session.interactive() && !run.says_whether_to_pause) command.push_back("--pause");
    std::filesystem::path kept;
    if (run.runs && run.whole && !run.writes_json) kept = results_file(project, chapter);
    const RunResults results({.may_guess = run.runs && session.interactive(), .kept = kept, .theirs = run.json_file});
    const std::vector<std::string> options = results.options();
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), run.arguments.begin(), run.arguments.end());
    const int status =
        run_in_terminal(session, command, {{"WARPWISE_TYPED", session.typed(fmt::format("run {}", chapter.number))}});
    const Guesses guesses = results.take();
    if (!guesses.predictions.empty()) mark(session, [&](Progress& progress) { guesses.keep(progress); });
    if (run.runs && (status == all_right || status == something_wrong)) {
        std::vector<std::string> lessons = guesses.lessons;
        if (lessons.empty() && !guesses.left) lessons = run.lessons;
        if (lessons.empty() && !guesses.left) {
            for (const Lesson& lesson : chapter.lessons) lessons.push_back(lesson.name);
        }
        mark(session, [&](Progress& progress) { progress.note_run(chapter, lessons, session.tools().today()); });
    }
    return guesses.left && status == all_right ? left_by_reader : status;
}

std::string chapters_text(const Catalog& catalog) {
    std::vector<std::string> texts;
    for (const Chapter& chapter : catalog.chapters()) {
        texts.push_back(fmt::format("{} ({})", chapter.number, chapter.title));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

// ---- where the learner is ------------------------------------------------------------------------------------------

Station station_of(const Catalog& catalog, const Exercise& exercise) {
    return {&catalog.find_chapter(exercise.chapter), &exercise, nullptr, nullptr};
}

/// What to type next, from this stop of the path on.
std::string next_step(Session& session, const Station& after = {}) {
    const Station station = next_station(session.catalog().way(), session.progress().read(), after);
    if (station.exercise != nullptr) {
        return fmt::format("Next: {}. Edit {}, then {}", station.text(),
                           session.project().shown(answer_to(*station.exercise).file),
                           session.typed("grade " + station.exercise->name));
    }
    if (station.lesson != nullptr) {
        return fmt::format("Next: {}: {}", station.text(),
                           session.typed(fmt::format("run {} {}", station.chapter->number, station.name())));
    }
    if (station.page != nullptr) {
        return fmt::format("Next: {}: {}. Then {}", station.text(), session.typed("docs " + station.name()),
                           session.typed(""));
    }
    return fmt::format("All lessons were run and all exercises passed. {} shows them, {} makes a page of it all.",
                       session.typed("list"), session.typed("report"));
}

void welcome(Session& session) {
    const Terminal& terminal = session.terminal();
    const std::vector<Station> way = session.catalog().way();
    const auto first_lesson =
        std::find_if(way.begin(), way.end(), [](const Station& station) { return station.lesson != nullptr; });
    const bool has_seen_first =
        first_lesson != way.end() && session.progress().read().has_run(first_lesson->lesson->name);
    const auto command = [&](std::string_view words, const char* what) {
        return fmt::format("    {:<36}  {}\n", session.typed(words), what);
    };
    fmt::print("{}\n\n", terminal.paint(Style::title, "Welcome to Warpwise: CUDA C++ step by step"));
    fmt::print(
        "{}\n",
        warpwise::wrap(
            fmt::format("{} An exercise follows each lesson: you edit a file in your own editor, and the "
                        "guide builds and grades it whenever you save it. Lessons and exercises go on "
                        "like this. q leaves, and your marks are kept. These commands are for later:",
                        has_seen_first ? "You have seen the first lesson, and this is the guide, which leads on."
                                       : "This is the guide. A lesson is a program that explains an idea, asks what "
                                         "you expect, and shows what happens."),
            terminal.width));
    fmt::print("{}{}{}{}{}\n", command("", "comes back to where you are"),
               command("map", "the path, and where you are"), command("list", "all lessons and exercises"),
               command("doctor", "what this machine has"), command("--help", "all commands"));
    fmt::print(
        "Keys: Enter goes on, n skips, b goes back, q leaves; during an exercise, h gives a hint and ? shows all "
        "keys.\n\n");
}

/// "Last time (2026-11-21): exercise grid_stride. Next: lesson 1.4, matrix_add. 2 predictions are due: ..."
std::string resume_line(Session& session, const Progress& progress, const std::string& today) {
    const LastDone last = last_done(session.catalog().way(), progress);
    const Station next = next_station(session.catalog(), progress);
    std::string text;
    if (last.station) text += fmt::format("Last time ({}): {}. ", last.date, last.station.text());
    text += next ? fmt::format("Next: {}.", next.text()) : "All stops of the path are done.";
    const std::size_t due = count_due(progress, today);
    if (due > 0) {
        text += fmt::format(" {} {} due again: {}.", counted(due, "prediction"), due == 1 ? "is" : "are",
                            session.typed("review"));
    }
    return text;
}

/// At the first start a welcome, on a new day where the learner is. True when there was something to read.
bool greet(Session& session) {
    const Progress progress = session.progress().read();
    const std::string today = session.tools().today();
    const bool is_first = progress.started.empty();
    const bool is_new_day = !is_first && progress.last_start != today;
    if (is_first) welcome(session);
    if (is_new_day) {
        fmt::print("{}\n", warpwise::wrap(resume_line(session, progress, today), session.terminal().width));
    }
    if (is_first || is_new_day) {
        mark(session, [&](Progress& changed) {
            if (changed.started.empty()) changed.started = today;
            changed.last_start = today;
        });
    }
    return is_first || is_new_day;
}

/// Where `./warpwise` has shown a lesson while the guide was built, it says so in this variable.
void note_shown_lesson(Session& session) {
    const char* const shown = std::getenv("WARPWISE_SHOWN_LESSON");
    if (shown == nullptr) return;
    for (const Station& station : session.catalog().way()) {
        if (station.lesson == nullptr || station.name() != shown) continue;
        mark(session, [&](Progress& progress) {
            progress.note_run(*station.chapter, {station.name()}, session.tools().today());
        });
    }
}

void mark_page(Session& session, const Station& station) {
    mark(session, [&](Progress& progress) { progress.pages.try_emplace(station.name(), session.tools().today()); });
}

int run_lesson(Session& session, const Station& station) {
    return run_chapter(session, *station.chapter, {station.name()});
}

/// "Next: lesson 1.2, hello_threads: grids, blocks ..."
std::string question_before(const Station& station, bool is_done) {
    std::string text = station.text();
    if (is_done) {
        text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    } else {
        text = "Next: " + text;
    }
    const std::string title = station.page != nullptr ? "" : station.title();  // a page's stands in its text
    return title.empty() ? text : fmt::format("{}: {}", text, title);
}

const char* keys_before(const Station& station) {
    if (station.lesson != nullptr) return "Enter runs it, n skips it, b goes back, m shows the map, q quits ";
    if (station.page != nullptr) return "Enter shows it here, n skips it, b goes back, m shows the map, q quits ";
    return "Enter opens it, n skips it, b goes back, m shows the map, q quits ";
}

int start_quietly(Session& session, const Station& station) {
    if (station.exercise != nullptr) return grade_exercise(session, {.exercise = station.exercise->name});
    if (station.page != nullptr) {
        fmt::print("{}\n", next_step(session));
        mark_page(session, station);
        return all_right;
    }
    const int status = run_lesson(session, station);
    if (status == left_by_reader) return all_right;
    if (status == all_right || status == something_wrong) fmt::print("\n{}\n", next_step(session, station));
    return status;
}

int leave(const Session& session) {
    fmt::print("{} goes on from here.\n", session.typed(""));
    return all_right;
}

/// From stop to stop, as the learner's keys say.
class Guiding {
public:
    explicit Guiding(Session& session) : session_(session) {}

    int run(bool ask_first) {
        Station station = next({});
        while (station) {
            if (station.exercise != nullptr && !ask_first) return watch(station);
            ask_first = true;
            const bool is_done = guide::is_done(station, session_.progress().read());
            const std::string question = question_before(station, is_done);
            const Key pressed =
                session_.tools().ask(warpwise::wrap(question, session_.terminal().width) + keys_before(station),
                                     {key::enter, 'n', 'b', 'm', 'q'});
            if (pressed == key::interrupt) return interrupted_status;
            if (pressed == 'm') {
                show_map(session_, {});
                fmt::print("\n");
            } else if (pressed == 'b') {
                const Station before = station_before(session_.catalog().way(), station);
                if (!before) fmt::print("This is the first stop of the path.\n");
                if (before) take_back_skip(before);
                if (before) station = before;
            } else if (pressed == 'n') {
                if (!is_done) skip(station);
                station = next(station);
            } else if (pressed != key::enter) {
                return leave(session_);
            } else if (station.exercise != nullptr) {
                return watch(station);
            } else if (const std::optional<int> status = visit(station)) {
                return *status;
            } else {
                station = next(station);
            }
        }
        fmt::print("{}\n", next_step(session_));
        return all_right;
    }

private:
    Session& session_;

    Station next(const Station& after) {
        return next_station(session_.catalog().way(), session_.progress().read(), after);
    }

    int watch(const Station& station) {
        return session_.tools().watch(session_.catalog(), session_.progress(), *station.exercise);
    }

    void skip(const Station& station) {
        mark(session_,
             [&](Progress& progress) { progress.skipped.try_emplace(station.key(), session_.tools().today()); });
    }

    /// Who goes back to a stop wants what follows, too, and not only when all else is done.
    void take_back_skip(const Station& station) {
        mark(session_, [&](Progress& progress) { progress.skipped.erase(station.key()); });
    }

    /// Nothing: go on; else the exit status.
    std::optional<int> visit(const Station& station) {
        if (station.page != nullptr) {
            const warpwise::Terminal& terminal = session_.terminal();
            if (!show_page(session_.project().root, station.name(), terminal, warpwise::Reader::at_terminal())) {
                return leave(session_);
            }
            mark_page(session_, station);
            return std::nullopt;
        }
        const int status = run_lesson(session_, station);
        if (status == left_by_reader) return leave(session_);
        if (status != all_right && status != something_wrong) return status;
        if (status == something_wrong) complain(fmt::format("a step of {} was wrong (above)", station.text()));
        return std::nullopt;
    }
};

// ---- list ----------------------------------------------------------------------------------------------------------

/// The chapters as far as they have to do with the word.
std::vector<Chapter> filtered(const std::vector<Chapter>& chapters, const std::string& word) {
    const std::string wanted = lower_case(word);
    if (wanted.empty()) return chapters;
    std::vector<Chapter> result;
    std::copy_if(chapters.begin(), chapters.end(), std::back_inserter(result),
                 [&](const Chapter& chapter) { return std::to_string(chapter.number) == wanted; });
    if (!result.empty()) return result;
    for (Chapter chapter : chapters) {
        const bool whole = contains(chapter.title, wanted) || contains(chapter.folder, wanted);
        if (!whole) {
            chapter.path.clear();  // it has the places of what is left out now
            std::erase_if(chapter.lessons, [&](const Lesson& lesson) {
                return !contains(lesson.name, wanted) && !contains(lesson.title, wanted) &&
                       !contains(lesson.idea, wanted) && wanted != "lesson";
            });
            std::erase_if(chapter.exercises, [&](const Exercise& exercise) {
                return !contains(exercise.name, wanted) && !contains(exercise.title, wanted) &&
                       !contains(exercise.idea, wanted) && exercise.kind != wanted;
            });
            std::erase_if(chapter.pages, [&](const BookPage& page) {
                return !contains(page.name, wanted) && !contains(page.idea, wanted) && wanted != "page";
            });
        }
        const bool is_empty = chapter.lessons.empty() && chapter.exercises.empty() && chapter.pages.empty();
        if (whole || !is_empty) result.push_back(std::move(chapter));
    }
    return result;
}

[[noreturn]] void refuse_filter(const Catalog& catalog, const std::string& word) {
    std::vector<std::string> names;
    for (const Chapter& chapter : catalog.chapters()) {
        names.push_back(chapter.program);
        for (const Lesson& lesson : chapter.lessons) names.push_back(lesson.name);
        for (const Exercise& exercise : chapter.exercises) names.push_back(exercise.name);
    }
    const std::vector<std::string> near = warpwise::suggest(word, names);
    throw Refusal(near.empty()
                      ? fmt::format("nothing has to do with '{}'", word)
                      : fmt::format("nothing has to do with '{}'; did you mean {}?", word, fmt::join(near, " or ")));
}

ExerciseProgress marks_of(const Progress& progress, const std::string& exercise) {
    const auto found = progress.exercises.find(exercise);
    return found == progress.exercises.end() ? ExerciseProgress{} : found->second;
}

std::string date_of(const Progress& progress, const Chapter& chapter) {
    const auto found = progress.chapters.find(chapter.folder);
    return found == progress.chapters.end() ? std::string() : found->second;
}

/// {"lesson": "vector_add"}
Json stop_as_json(const Station& station) {
    if (!station) return nullptr;
    const std::string key = station.key();
    Json json = Json::object();
    json[key.substr(0, key.find('/'))] = station.name();
    return json;
}

Json list_as_json(const Catalog& all, const std::vector<Chapter>& chapters, const Progress& progress,
                  const Project& project) {
    const auto text_or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
    Json list = Json::array();
    for (const Chapter& chapter : chapters) {
        Json lessons = Json::array();
        for (const Lesson& lesson : chapter.lessons) {
            const auto found = progress.lessons.find(lesson.name);
            lessons.push_back({{"name", lesson.name},
                               {"title", text_or_null(lesson.title)},
                               {"idea", text_or_null(lesson.idea)},
                               {"run", text_or_null(found == progress.lessons.end() ? "" : found->second.run)}});
        }
        Json exercises = Json::array();
        for (const Exercise& exercise : chapter.exercises) {
            const ExerciseProgress marks = marks_of(progress, exercise.name);
            exercises.push_back({{"name", exercise.name},
                                 {"kind", exercise.kind},
                                 {"title", exercise.title},
                                 {"idea", text_or_null(exercise.idea)},
                                 {"answer", project.shown(answer_to(exercise).file)},
                                 {"passed", text_or_null(marks.passed)},
                                 {"attempts", marks.attempts},
                                 {"hints", marks.hints},
                                 {"solution_seen", marks.solution_seen}});
        }
        Json path = Json::array();
        for (const Station& station : stations_of(chapter)) path.push_back(stop_as_json(station));
        list.push_back({{"number", chapter.number},
                        {"folder", chapter.folder},
                        {"title", chapter.title},
                        {"run", text_or_null(date_of(progress, chapter))},
                        {"lessons", lessons},
                        {"exercises", exercises},
                        {"path", path}});
    }
    return {{"chapters", list}, {"next", stop_as_json(next_station(all, progress))}};
}

Cell state_of(const Progress& progress, const Station& station, const Station& next) {
    if (is_done(station, progress)) {
        if (station.exercise != nullptr) return {"passed", Style::good};
        const bool was_run = station.lesson != nullptr && progress.has_run(station.name());
        return {was_run ? "run" : station.page != nullptr ? "read" : "done", Style::good};
    }
    std::string state = station.key() == next.key()                ? "next"
                        : progress.skipped.contains(station.key()) ? "left out"
                                                                   : "";
    const int attempts = station.exercise == nullptr ? 0 : marks_of(progress, station.name()).attempts;
    if (attempts > 0) state += (state.empty() ? "" : ", ") + counted(static_cast<std::size_t>(attempts), "attempt");
    return {state, Style::title};
}

/// Its stops in the order of the path. `chapter` holds those that are shown, `all` has the path and the numbers.
void print_chapter(const Chapter& chapter, const Catalog& all, const Progress& progress, const Station& next,
                   bool with_ideas, const Terminal& terminal) {
    const std::string date = date_of(progress, chapter);
    fmt::print("{}{}\n\n", terminal.paint(Style::title, fmt::format("Chapter {}: {}", chapter.number, chapter.title)),
               date.empty() ? "" : terminal.paint(Style::faint, fmt::format(" (run on {})", date)));
    std::vector<std::vector<Cell>> rows;
    for (const Station& whole : stations_of(all.find_chapter(chapter.folder))) {
        const auto is_this = [&](const auto& item) { return item.name == whole.name(); };
        const auto is_shown = [&](const auto& items) { return std::any_of(items.begin(), items.end(), is_this); };
        const bool is_wanted = whole.lesson != nullptr     ? is_shown(chapter.lessons)
                               : whole.exercise != nullptr ? is_shown(chapter.exercises)
                                                           : is_shown(chapter.pages);
        if (!is_wanted) continue;
        rows.push_back({{whole.number()},
                        {whole.name()},
                        {whole.exercise != nullptr ? whole.exercise->kind
                         : whole.page != nullptr   ? "page"
                                                   : "lesson"},
                        state_of(progress, whole, next)});
        if (with_ideas) rows.back().push_back({whole.idea()});
        rows.back().push_back({whole.title()});
    }
    std::vector<std::string> header = {"", "stop", "kind", "state"};
    if (with_ideas) header.emplace_back("idea");
    header.emplace_back("what it is about");
    if (!rows.empty()) fmt::print("{}\n", format_table(header, rows, terminal));
}

// ---- grade ---------------------------------------------------------------------------------------------------------

const char* name_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::passed:
            return "passed";
        case Outcome::failed:
            return "failed";
        case Outcome::build_failed:
            return "build_failed";
        case Outcome::never_ended:
            return "never_ended";
        case Outcome::cancelled:
            return "cancelled";
        case Outcome::broken:
            return "broken";
    }
    return "";
}

Cell result_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::passed:
            return {"passed", Style::good};
        case Outcome::failed:
            return {"not yet", Style::bad};
        case Outcome::build_failed:
            return {"does not compile", Style::bad};
        case Outcome::never_ended:
            return {"never ends", Style::bad};
        case Outcome::cancelled:
            return {"stopped", Style::faint};
        case Outcome::broken:
            return {"grader broke", Style::bad};
    }
    return {};
}

Json json_of(const Exercise& exercise, const GradeResult& result, const std::string& answer) {
    const Json facts = warpwise::json_or_discarded<Json>(result.facts);
    const auto fact = [&](const char* key, const Json& otherwise) {
        return facts.is_object() && facts.contains(key) ? facts[key] : otherwise;
    };
    Json failure = fact("failure", nullptr);
    if (result.outcome == Outcome::build_failed) failure = {{"observation", result.text}};
    Json improvement = Json::array();
    for (const Improvement& row : result.improvement) {
        improvement.push_back(
            {{"counted", row.name}, {"stub", row.before}, {"answer", row.after}, {"change", row.change}});
    }
    return {{"exercise", exercise.name},
            {"answer", answer},
            {"outcome", name_of(result.outcome)},
            {"is_untouched", result.is_untouched},
            {"build_seconds", result.build_seconds},
            {"grade_seconds", result.grade_seconds},
            {"failure", std::move(failure)},
            {"more_failing", fact("more_failing", Json::array())},
            {"not_run", fact("not_run", 0)},
            {"learned", result.learned},
            {"improvement", std::move(improvement)},
            {"text", result.text},
            {"details", result.details}};
}

/// Attempts are counted where one exercise was asked for: of all, most may not even be begun.
void mark_result(Session& session, const Exercise& exercise, const GradeResult& result, bool is_attempt) {
    const Outcome outcome = result.outcome;
    if (result.is_untouched) is_attempt = false;
    const bool passed = outcome == Outcome::passed;
    const bool counts = passed || (is_attempt && (outcome == Outcome::failed || outcome == Outcome::never_ended));
    if (!counts || session.progress().read().has_passed(exercise.name)) return;
    mark(session, [&](Progress& progress) {
        ExerciseProgress& marks = progress.exercises[exercise.name];
        if (!marks.passed.empty()) return;  // by another guide, meanwhile
        if (passed) {
            marks.passed = today();
        } else {
            ++marks.attempts;
        }
    });
}

/// "answers/1_basics_and_pi/pi/pi.cu", and why where it is the stub.
std::string graded_text(const Project& project, const Exercise& exercise, const Answer& answer) {
    const std::string file = project.shown(answer.file);
    if (!answer.in_place) return file;
    return fmt::format("{} (edited in place after {})", file, project.shown(exercise.own_answer()));
}

/// What the grader cannot say itself.
void print_after_grade(Session& session, const Exercise& exercise, const GradeResult& result, const Answer& graded,
                       double limit_seconds) {
    const Terminal& terminal = session.terminal();
    const std::string answer = graded_text(session.project(), exercise, graded);
    switch (result.outcome) {
        case Outcome::passed:
            fmt::print("{}\n\n", terminal.paint(Style::good, fmt::format("{}: solved. Compare with {}", exercise.name,
                                                                         session.typed("solution " + exercise.name))));
            if (!result.learned.empty()) {
                fmt::print("{}\n", plain_text("What you have learned: " + result.learned, terminal.width));
            }
            if (!result.improvement.empty()) fmt::print("{}\n", improvement_table(result.improvement, terminal));
            fmt::print("{}\n", terminal.paint(Style::faint, fmt::format("Built in {}, graded in {}: {}",
                                                                        seconds_text(result.build_seconds),
                                                                        seconds_text(result.grade_seconds), answer)));
            fmt::print("{}\n", next_step(session, station_of(session.catalog(), exercise)));
            return;
        case Outcome::build_failed:
            fmt::print("{} Your answer: {}\nAll messages: {}\n",
                       terminal.paint(Style::bad, exercise.name + " does not compile."), answer,
                       session.typed("grade " + exercise.name + " --catch2"));
            return;
        case Outcome::never_ended:
            fmt::print(
                "{} Your answer: {}\nA hint: {}\n",
                terminal.paint(Style::bad, fmt::format("{} was stopped after {:g} s.", exercise.name, limit_seconds)),
                answer, session.typed("hint " + exercise.name));
            return;
        case Outcome::failed:
            if (result.is_untouched) {
                fmt::print("The whole task: {}   A hint: {}\n", session.typed("task " + exercise.name),
                           session.typed("hint " + exercise.name));
                return;
            }
            fmt::print("{} Your answer: {}\n", terminal.paint(Style::bad, exercise.name + ": not yet."), answer);
            fmt::print("A hint: {}   All of it: {}\n", session.typed("hint " + exercise.name),
                       session.typed("grade " + exercise.name + " --catch2"));
            return;
        case Outcome::broken:
            fmt::print("A hint: {}\n", session.typed("hint " + exercise.name));
            return;
        case Outcome::cancelled:
            complain(exercise.name + " was not graded to the end");
            return;
    }
}

void print_title(const Terminal& terminal, const Exercise& exercise) {
    const std::string title = exercise.title.empty() ? "" : ": " + exercise.title;
    fmt::print("{}\n\n", terminal.paint(Style::title, exercise.name + title));
}

int grade_one(Session& session, const Exercise& exercise, bool json, bool catch2) {
    GradeOptions options;
    options.width = session.terminal().width;
    options.colors = session.terminal().colors && !json;
    Activity activity(session, "Building " + exercise.name, !json);
    options.on_build = [&, count = activity.counter()](int done, int of) {
        count(done, of);
        if (done >= of) activity.change("Grading " + exercise.name);
    };
    const Answer graded = answer_to(exercise);
    const GradeResult result = session.tools().grade(exercise, options);
    activity.end();
    if (json) {
        print_json(json_of(exercise, result, session.project().shown(graded.file)));
    } else {
        if (session.interactive()) print_title(session.terminal(), exercise);
        print_with_newline(catch2 && !result.details.empty() ? result.details : result.text);
    }
    attempt([&] {
        mark_result(session, exercise, result, true);
        if (!json) print_after_grade(session, exercise, result, graded, options.limit_seconds);
    });
    return exit_status(result.outcome);
}

/// Of several: stopped, else wrong, else broken, else all right.
int status_of_all(const std::vector<Outcome>& outcomes) {
    const auto any = [&](int status) {
        return std::any_of(outcomes.begin(), outcomes.end(),
                           [status](Outcome outcome) { return exit_status(outcome) == status; });
    };
    for (const int status : {interrupted_status, something_wrong, request_not_met}) {
        if (any(status)) return status;
    }
    return all_right;
}

int grade_all(Session& session, bool json) {
    const std::vector<const Exercise*> exercises = session.catalog().exercises();
    Json results = Json::array();
    std::vector<Outcome> outcomes;
    std::vector<std::vector<Cell>> rows;
    Activity activity(session, "Building and grading " + counted(exercises.size(), "exercise"), !json);
    for (const Exercise* exercise : exercises) {
        activity.change(fmt::format("{} of {}: {}", outcomes.size() + 1, exercises.size(), exercise->name));
        GradeOptions options;
        options.on_build = activity.counter();
        options.is_brief = true;
        const std::string answer = session.project().shown(answer_to(*exercise).file);
        const GradeResult result = session.tools().grade(*exercise, options);
        attempt([&] { mark_result(session, *exercise, result, false); });
        outcomes.push_back(result.outcome);
        results.push_back(json_of(*exercise, result, answer));
        rows.push_back({{exercise->name},
                        result_of(result.outcome),
                        {result.build_seconds > 0 ? seconds_text(result.build_seconds) : "-"},
                        {result.grade_seconds > 0 ? seconds_text(result.grade_seconds) : "-"}});
        if (result.outcome == Outcome::cancelled) break;
    }
    activity.end();
    if (json) {
        print_json(results);
        return status_of_all(outcomes);
    }
    const auto passed = std::count(outcomes.begin(), outcomes.end(), Outcome::passed);
    fmt::print("{}\n{} of {} passed. {}\n",
               format_table({"exercise", "result", "built in", "graded in"}, rows, session.terminal()), passed,
               exercises.size(), next_step(session));
    return status_of_all(outcomes);
}

int run_grader(Session& session, const Exercise& exercise, const std::vector<std::string>& options) {
    const Project& project = session.project();
    const Answer answer = answer_to(exercise);
    if (!build(session, {answer.program + "_" + project.device}, exercise.name)) return interrupted_status;
    std::vector<std::string> command = {(project.programs() / "exercises" / answer.program).string()};
    command.insert(command.end(), options.begin(), options.end());
    return run_in_terminal(session, command, answer_variables(project, answer));
}

int say_all_passed(Session& session) {
    fmt::print("All exercises are passed. {} shows them.\n", session.typed("list"));
    return all_right;
}

// ---- texts of an exercise ------------------------------------------------------------------------------------------

/// Additions and removals stand out.
std::string painted_difference(const std::string& difference, const Terminal& terminal) {
    std::string result;
    std::size_t begin = 0;
    while (begin < difference.size()) {
        const std::size_t end = std::min(difference.find('\n', begin), difference.size());
        const std::string line = difference.substr(begin, end - begin);
        const char first = line.empty() ? ' ' : line.front();
        result += terminal.paint(first == '+' ? Style::good : first == '-' ? Style::bad : Style::plain, line) + "\n";
        begin = end + 1;
    }
    return result;
}

/// Asks a question whose answer is y for yes. Nothing: yes; else the exit status. Throws Refusal where nobody can
/// answer.
std::optional<int> stop_unless_confirmed(Session& session, const std::string& question,
                                         const std::string& without_asking) {
    if (!session.interactive()) {
        throw Refusal(fmt::format("{} To do it without being asked: {}", question, without_asking));
    }
    const Key pressed = session.tools().ask(question + " [y/N] ", {'y', 'n', key::enter});
    if (pressed == 'y') return std::nullopt;
    return pressed == key::interrupt ? interrupted_status : something_wrong;
}

// ---- review --------------------------------------------------------------------------------------------------------

class Reviewing {
public:
    Reviewing(Session& session, const ReviewRequest& request)
        : session_(session), all_(request.all), today_(session.tools().today()), progress_(session.progress().read()) {
        if (!request.lesson.empty()) lesson_ = session.catalog().find_lesson(request.lesson).name();
    }

    int run() {
        std::vector<Review> asked;
        for (const Review& review : wanted()) {
            if (all_ || review.due <= today_) asked.push_back(review);
        }
        if (asked.empty()) {
            fmt::print("{}{}\n", wanted().empty() ? none_text() : "No prediction is due today. ", when_next());
            return all_right;
        }
        fmt::print("{} to make again. Type a number or a choice, or q to end, then Enter. Enter alone skips.\n",
                   counted(asked.size(), "prediction"));
        for (std::size_t i = 0; i < asked.size(); ++i) {
            const bool goes_on = ask(asked[i], i + 1, asked.size());
            if (!goes_on && i == 0 && !session_.interactive() && answered_ == 0) refuse_silence();
            if (!goes_on) break;
        }
        progress_ = session_.progress().read();
        fmt::print("\n{}{}\n", score_text(), when_next());
        return all_right;
    }

private:
    Session& session_;
    bool all_;
    std::string today_;
    std::string lesson_;  ///< empty: of all lessons
    Progress progress_;
    std::size_t answered_ = 0;
    std::size_t right_ = 0;

    [[noreturn]] void refuse_silence() const {
        throw Refusal(
            fmt::format("review asks questions: run it in a terminal, or give the answers on standard input, "
                        "one per line: printf '32\\n\\n' | {}",
                        session_.typed("review")));
    }

    std::vector<Review> wanted() const {
        std::vector<Review> found = reviews(progress_);
        std::erase_if(found,
                      [&](const Review& review) { return !lesson_.empty() && review.prediction->lesson != lesson_; });
        return found;
    }

    std::string none_text() const {
        if (!lesson_.empty()) return fmt::format("You have made no predictions in {} so far. ", lesson_);
        return "You have made no predictions so far: lessons ask for them before they show their tables. ";
    }

    /// "The next one is due on 2026-11-30, in 7 days. ..."
    std::string when_next() const {
        const std::vector<Review> left = wanted();
        if (left.empty()) return next_step(session_);
        const auto due =
            std::count_if(left.begin(), left.end(), [&](const Review& each) { return each.due <= today_; });
        if (due > 0) {
            return fmt::format("{} {} still due.", counted(static_cast<std::size_t>(due), "prediction"),
                               due == 1 ? "is" : "are");
        }
        const std::optional<int> days = days_between(today_, left.front().due);
        std::string text = fmt::format("The next one is due on {}", left.front().due);
        if (days) text += fmt::format(", in {}", counted(static_cast<std::size_t>(std::max(*days, 0)), "day"));
        const std::string lesson = lesson_.empty() ? "" : " --lesson " + lesson_;
        if (answered_ == 0) {
            text += fmt::format(". '{}' asks all {} now", session_.typed("review --all" + lesson), left.size());
        }
        return text + ".";
    }

    std::string score_text() const {
        return answered_ == 0 ? "" : fmt::format("{} of {} right. ", right_, counted(answered_, "answer"));
    }

    /// False: the learner wants to stop, or there is no more input.
    bool ask(const Review& review, std::size_t number, std::size_t of) {
        const PredictionProgress& prediction = *review.prediction;
        const Terminal& terminal = session_.terminal();
        const std::string heading = fmt::format("{} of {}, from lesson {}", number, of, prediction.lesson);
        fmt::print("\n{}\n{}", terminal.paint(Style::title, heading),
                   warpwise::wrap(prediction.question, terminal.width));
        for (std::size_t i = 0; i < prediction.choices.size(); ++i) {
            fmt::print("    {}\n", warpwise::choice_text(prediction.choices, i));
        }
        const std::string unit = prediction.unit.empty() || !prediction.choices.empty() ? "" : " in " + prediction.unit;
        while (true) {
            const std::optional<std::string> line = session_.tools().read_line(fmt::format("Your answer{}: ", unit));
            if (!line || *line == "q") return false;
            if (line->find_first_not_of(" \t\r") == std::string::npos) {
                fmt::print("Skipped.\n");
                return true;
            }
            const Judgement judgement = judge(prediction, *line);
            if (judgement.why_not.empty()) {
                note(review, judgement);
                return true;
            }
            fmt::print("{} Enter alone skips.\n", judgement.why_not);
        }
    }

    void note(const Review& review, const Judgement& judgement) {
        const PredictionProgress& prediction = *review.prediction;
        const Terminal& terminal = session_.terminal();
        const ReviewProgress after = after_review(review, judgement, today_);
        mark(session_, [&](Progress& progress) { progress.reviews[review.key] = after; });
        ++answered_;
        right_ += judgement.right ? 1 : 0;
        const std::string answer =
            prediction.choices.empty() ? warpwise::with_unit(prediction.answer, prediction.unit) : prediction.answer;
        fmt::print("{} ",
                   terminal.paint(judgement.right ? Style::good : Style::bad, judgement.right ? "Right." : "No."));
        fmt::print("{}",
                   warpwise::wrap(fmt::format("The answer is {}. {}", answer, prediction.because), terminal.width));
        if (!judgement.right) {
            fmt::print("To see it again: {}\n", session_.typed("run " + prediction.lesson));
        }
        fmt::print("Due again on {}.\n", add_days(today_, days_until_review(after.right, after.in_a_row)));
    }
};

}  // namespace

// ---- session -------------------------------------------------------------------------------------------------------

Session::Session(const Project& project, Tools tools, const warpwise::Terminal& terminal, bool interactive)
    : project_(project), tools_(std::move(tools)), terminal_(terminal), interactive_(interactive) {}

const Catalog& Session::catalog() {
    if (!catalog_) {
        catalog_ = Catalog::load(project_);
        attempt([this] { prepare_answers(*catalog_); });  // where nothing can be written, the stubs can still be read
    }
    return *catalog_;
}

ProgressFile& Session::progress() {
    if (!progress_) progress_.emplace(project_.progress_file(), catalog());
    return *progress_;
}

std::string Session::typed(std::string_view command) const {
    return command.empty() ? project_.typed : fmt::format("{} {}", project_.typed, command);
}

const Exercise* Session::exercise(const std::string& word) {
    if (!word.empty()) return &catalog().find_exercise(word);
    const Progress done = progress().read();
    std::vector<Station> way = catalog().way();
    std::erase_if(way, [](const Station& station) { return station.exercise == nullptr; });
    return next_station(way, done).exercise;
}

Tools real_tools(const Project& project) {
    const auto ask = [](const std::string& question, const std::vector<Key>& keys) {
        fmt::print("{}", question);
        std::fflush(stdout);
        Key pressed = key::none;
        {
            Console console;
            while (true) {
                pressed = console.read_key(3600);
                if (pressed >= 'A' && pressed <= 'Z') pressed += 'a' - 'A';
                if (pressed == '\r') pressed = key::enter;
                const bool ends = pressed == key::escape || pressed == key::interrupt || pressed == key::closed;
                if (ends || std::count(keys.begin(), keys.end(), pressed) > 0) break;
            }
        }
        fmt::print("\n");
        return pressed;
    };
    return {.build =
                [&project](const std::vector<std::string>& targets, const std::function<void(int, int)>& progress) {
                    return Builder(project).build(targets, progress);
                },
            .grade = [&project](const Exercise& exercise,
                                const GradeOptions& options) { return grade(project, exercise, options); },
            .run = [](const std::vector<std::string>& arguments,
                      const CommandOptions& options) { return run_command(arguments, options); },
            .watch = [&project](const Catalog& catalog, ProgressFile& progress,
                                const Exercise& first) { return watch(project, catalog, progress, first); },
            .ask = ask,
            .read_line = [](const std::string& question) -> std::optional<std::string> {
                fmt::print("{}", question);
                std::fflush(stdout);
                std::string line;
                if (!std::getline(std::cin, line)) return std::nullopt;
                if (isatty(STDIN_FILENO) == 0) fmt::print("{}\n", line);
                return line;
            }};
}

std::string resolve_command(const std::string& word, const std::vector<std::string>& names, const std::string& typed) {
    if (std::count(names.begin(), names.end(), word) > 0) return word;
    std::vector<std::string> found;
    for (const std::string& name : names) {
        if (!word.empty() && name.compare(0, word.size(), word) == 0) found.push_back(name);
    }
    if (found.size() == 1) return found.front();
    if (!found.empty()) throw Refusal(fmt::format("'{}' could be {}", word, fmt::join(found, " or ")));
    const std::vector<std::string> near = warpwise::suggest(word, names);
    throw Refusal(near.empty() ? fmt::format("unknown command '{}'; {} --help lists all commands", word, typed)
                               : fmt::format("unknown command '{}'; did you mean {}?", word, fmt::join(near, " or ")));
}

// ---- commands ------------------------------------------------------------------------------------------------------

int start(Session& session) {
    note_shown_lesson(session);
    const bool ask_first = greet(session);
    if (session.interactive()) return Guiding(session).run(ask_first);
    const Station station = next_station(session.catalog(), session.progress().read());
    if (station) return start_quietly(session, station);
    fmt::print("{}\n", next_step(session));
    return all_right;
}

int list(Session& session, const ListRequest& request) {
    Catalog catalog = session.catalog();
    catalog.add_lesson_titles(session.project());
    const std::vector<Chapter> chapters = filtered(catalog.chapters(), request.word);
    if (chapters.empty() && !request.word.empty()) refuse_filter(catalog, request.word);
    const Progress progress = session.progress().read();
    if (request.json) {
        print_json(list_as_json(catalog, chapters, progress, session.project()));
        return all_right;
    }
    const Station next = next_station(catalog, progress);
    for (const Chapter& chapter : chapters) {
        print_chapter(chapter, catalog, progress, next, !request.word.empty(), session.terminal());
    }
    const std::vector<const Exercise*> exercises = catalog.exercises();
    const auto passed = std::count_if(exercises.begin(), exercises.end(),
                                      [&](const Exercise* exercise) { return progress.has_passed(exercise->name); });
    fmt::print("{} of {} passed. {}\n", passed, counted(exercises.size(), "exercise"), next_step(session));
    return all_right;
}

int run_chapter(Session& session, const std::vector<std::string>& arguments) {
    if (arguments.empty()) {
        throw Refusal(fmt::format("which chapter? There are: {}", chapters_text(session.catalog())));
    }
    const Station found = session.catalog().find_chapter_or_lesson(arguments.front());
    std::vector<std::string> words(arguments.begin() + 1, arguments.end());
    if (found.lesson != nullptr) words.insert(words.begin(), found.lesson->name);
    const int status = run_chapter(session, *found.chapter, words);
    return status == left_by_reader ? static_cast<int>(all_right) : status;
}

int show_map(Session& session, const MapRequest& request) {
    const Catalog& catalog = session.catalog();
    const Progress progress = session.progress().read();
    MapOptions options{.typed = session.typed(""), .today = session.tools().today(), .all = request.all};
    if (!request.chapter.empty()) options.chapter = catalog.find_chapter(request.chapter).folder;
    if (request.json) {
        print_json(map_json(catalog, progress, options));
        return all_right;
    }
    fmt::print("{}\n{}\n", map_text(catalog, progress, options, session.terminal()), next_step(session));
    const std::size_t due = count_due(progress, options.today);
    if (due > 0) {
        fmt::print("{} {} due again: {}\n", counted(due, "prediction"), due == 1 ? "is" : "are",
                   session.typed("review"));
    }
    return all_right;
}

int review(Session& session, const ReviewRequest& request) { return Reviewing(session, request).run(); }

int grade_exercise(Session& session, const GradeRequest& request) {
    if (request.exercise == "all") {
        if (request.grader_options) throw Refusal("options after '--' are for the grader of one exercise, not of all");
        return grade_all(session, request.json);
    }
    const Exercise* exercise = session.exercise(request.exercise);
    if (exercise == nullptr && request.json) throw Refusal("all exercises are passed; name the one to grade, or 'all'");
    if (exercise == nullptr) return say_all_passed(session);
    if (request.grader_options && request.json) throw Refusal("--json cannot go with options of the grader's own");
    if (request.grader_options) return run_grader(session, *exercise, *request.grader_options);
    return grade_one(session, *exercise, request.json, request.catch2);
}

int watch_exercise(Session& session, const std::string& word) {
    const Exercise* exercise = session.exercise(word);
    if (exercise == nullptr) return say_all_passed(session);
    if (!session.interactive()) {
        throw Refusal(
            fmt::format("watch mode needs a terminal; without one: {}", session.typed("grade " + exercise->name)));
    }
    return session.tools().watch(session.catalog(), session.progress(), *exercise);
}

int show_hint(Session& session, const HintRequest& request) {
    const Exercise* exercise = session.exercise(request.exercise);
    if (exercise == nullptr) return say_all_passed(session);
    const std::vector<std::string> hints = hints_of(*exercise);
    const int count = static_cast<int>(hints.size());
    if (count == 0) throw Refusal(fmt::format("{} has no hints", exercise->name));
    const int shown = marks_of(session.progress().read(), exercise->name).hints;
    const int level = request.level.value_or(std::min(shown + 1, count));
    if (level < 1 || level > count) {
        throw Refusal(fmt::format("no hint {} for {}: there are hints 1 to {}", level, exercise->name, count));
    }
    const std::string& text = hints[static_cast<std::size_t>(level - 1)];
    if (request.json) {
        print_json({{"exercise", exercise->name}, {"level", level}, {"of", count}, {"text", text}});
    } else {
        fmt::print("{}\n\n", session.terminal().paint(Style::title,
                                                      fmt::format("{}: hint {} of {}", exercise->name, level, count)));
        print_with_newline(plain_text(text, session.terminal().width));
        const std::string more = session.typed("hint " + exercise->name);
        const int left = count - level;
        fmt::print("\n{}\n", left > 0
                                 ? fmt::format("{} left: {}", counted(static_cast<std::size_t>(left), "hint"), more)
                                 : fmt::format("That was the last one. '{} --level 1' shows the first again.", more));
    }
    if (level > shown) {
        mark(session, [&](Progress& progress) {
            int& hints_shown = progress.exercises[exercise->name].hints;
            hints_shown = std::max(hints_shown, level);
        });
    }
    return all_right;
}

int show_task(Session& session, const std::string& word) {
    const Exercise* exercise = session.exercise(word);
    if (exercise == nullptr) return say_all_passed(session);
    print_with_newline(
        text_with_tables(without_learned(text_of_file(exercise->task(), session.project())), session.terminal()));
    fmt::print("\nYour answer: {}\n", session.project().shown(answer_to(*exercise).file));
    return all_right;
}

int show_page_of_book(Session& session, const std::string& page) {
    if (!show_page(session.project().root, page, session.terminal(), warpwise::Reader::at_terminal())) return all_right;
    for (const Station& station : session.catalog().way()) {
        if (station.page != nullptr && station.name() == page) mark_page(session, station);
    }
    return all_right;
}

int reset_answer(Session& session, const std::string& word, bool yes) {
    if (word.empty()) throw Refusal("which exercise? " + session.typed("list") + " shows them");
    const Exercise& exercise = session.catalog().find_exercise(word);
    const std::string answer = session.project().shown(answer_to(exercise).file);
    if (!is_edited(exercise)) {
        fmt::print("{} is as it was handed out.\n", answer);
        return all_right;
    }
    const std::string question = fmt::format("Put {} back to what it was? Your version is kept beside it.", answer);
    const std::string without_asking = session.typed(fmt::format("reset {} --yes", exercise.name));
    if (const auto stop = yes ? std::nullopt : stop_unless_confirmed(session, question, without_asking)) {
        fmt::print("Nothing was changed.\n");
        return *stop;
    }
    const std::vector<std::filesystem::path> kept = reset(exercise);
    fmt::print("{} is as it was handed out.\n", session.project().shown(answer_to(exercise).file));
    for (const std::filesystem::path& file : kept) {
        fmt::print("What was there is in {}\n", session.project().shown(file));
    }
    return all_right;
}

int show_solution(Session& session, const std::string& word, bool yes) {
    const Exercise* exercise = session.exercise(word);
    if (exercise == nullptr) throw Refusal("which exercise? All are passed; " + session.typed("list") + " shows them");
    const std::string text = solution_text(*exercise);
    if (!session.progress().read().has_passed(exercise->name)) {
        const std::string question = fmt::format(
            "{} is not passed yet, and a solution that was read is soon forgotten. Show it?", exercise->name);
        const std::string without_asking = session.typed(fmt::format("solution {} --yes", exercise->name));
        if (const auto stop = yes ? std::nullopt : stop_unless_confirmed(session, question, without_asking)) {
            fmt::print("A hint may do: {}\n", session.typed("hint " + exercise->name));
            return *stop;
        }
        mark(session, [&](Progress& progress) { progress.exercises[exercise->name].solution_seen = true; });
    }
    const Terminal& terminal = session.terminal();
    fmt::print("{}\n\n", terminal.paint(Style::title, session.project().shown(exercise->solution)));
    print_with_newline(text);
    if (!is_edited(*exercise)) return all_right;
    const std::string changes = difference(answer_to(*exercise).file, exercise->solution);
    if (changes.empty()) {
        fmt::print("\nYour answer is the same.\n");
    } else {
        fmt::print("\n{}\n\n{}", terminal.paint(Style::title, "From your answer to the solution"),
                   painted_difference(changes, terminal));
    }
    return all_right;
}

int run_tests(Session& session, const std::vector<std::string>& ctest_options) {
    if (!build(session, {"all"}, "everything")) return interrupted_status;
    std::vector<std::string> command = {"ctest",
                                        "--test-dir",
                                        session.project().build_folder().string(),
                                        "--output-on-failure",
                                        "--parallel",
                                        std::to_string(usable_cores())};
    command.insert(command.end(), ctest_options.begin(), ctest_options.end());
    return run_in_terminal(session, command);
}

}  // namespace guide
