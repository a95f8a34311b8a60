#include "common/guide/commands.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "common/guide/answers.h"
#include "common/guide/exercise_files.h"
#include "common/guide/guesses.h"
#include "common/guide/watch_mode.h"
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
void print_json(const Json& json) { fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace)); }

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
constexpr std::array<std::string_view, 6> options_with_value = {"--step", "--size",      "--repeat",
                                                                "--json", "--registers", "--recorded"};

struct ChapterRun {
    std::vector<std::string> arguments;  ///< for the program, lessons by their full names
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
            run.arguments.push_back(Catalog::find_lesson(chapter, word).name);
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

/// The lessons of the chapter after its first, where `./warpwise` has shown that one while the guide was built, and
/// says so in this variable; else none.
std::vector<std::string> lessons_after_the_shown_one(const Chapter& chapter) {
    const char* const shown = std::getenv("WARPWISE_SHOWN_LESSON");
    std::vector<std::string> names;
    if (shown == nullptr || chapter.lessons.empty() || chapter.lessons.front().name != shown) return names;
    for (std::size_t i = 1; i < chapter.lessons.size(); ++i) names.push_back(chapter.lessons[i].name);
    return names;
}

/// Returns the program's status, or left_by_reader.
int run_chapter(Session& session, const Chapter& chapter, const std::vector<std::string>& words) {
    const Project& project = session.project();
    ChapterRun run = understand(project, chapter, words);
    if (words.empty()) run.arguments = lessons_after_the_shown_one(chapter);
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
    const bool ran = run.runs && !guesses.left && (status == all_right || status == something_wrong);
    if (ran) mark(session, [&](Progress& progress) { progress.chapters.try_emplace(chapter.folder, today()); });
    return guesses.left && status == all_right ? left_by_reader : status;
}

std::string chapters_text(const Catalog& catalog) {
    std::vector<std::string> texts;
    for (const Chapter& chapter : catalog.chapters()) {
        texts.push_back(fmt::format("{} ({})", chapter.number, chapter.title));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

/// The chapter, or Refusal, which says so when the word is a lesson.
const Chapter& find_chapter(Session& session, const std::string& word) {
    const Catalog& catalog = session.catalog();
    try {
        return catalog.find_chapter(word);
    } catch (const Refusal&) {
        for (const Chapter& chapter : catalog.chapters()) {
            for (const Lesson& lesson : chapter.lessons) {
                if (lesson.name != word) continue;
                throw Refusal(fmt::format("'{}' is a lesson: {}", word,
                                          session.typed(fmt::format("run {} {}", chapter.number, word))));
            }
        }
        throw;
    }
}

// ---- where the learner is ------------------------------------------------------------------------------------------

bool is_none(const Station& station) { return station.chapter == nullptr && station.exercise == nullptr; }

/// What to type next.
std::string next_step(Session& session) {
    const Station station = next_station(session.catalog(), session.progress().read());
    if (is_none(station)) {
        return fmt::format("All chapters were run and all exercises passed. {} shows them, {} makes a page of it all.",
                           session.typed("list"), session.typed("report"));
    }
    if (station.exercise != nullptr) {
        return fmt::format("Next: exercise {}. Edit {}, then {}", station.exercise->name,
                           session.project().shown(answer_to(*station.exercise).file),
                           session.typed("grade " + station.exercise->name));
    }
    return fmt::format("Next: chapter {}, {}: {}", station.chapter->number, station.chapter->title,
                       session.typed(fmt::format("run {}", station.chapter->number)));
}

void welcome(const Session& session) {
    const Terminal& terminal = session.terminal();
    const bool on_gpu = session.project().device == "cuda";
    const auto command = [&](std::string_view words, const char* what) {
        return fmt::format("    {:<36}  {}\n", session.typed(words), what);
    };
    fmt::print("{}\n\n", terminal.paint(Style::title, "Welcome to Warpwise: CUDA C++ step by step"));
    fmt::print(
        "{}\n",
        warpwise::wrap(
            fmt::format("A chapter is a program. Its lessons take kernels from naive to optimized; every step is "
                        "checked, and {}. Run it, then read its .cu files. Exercises follow: you edit a file, "
                        "and it is built and graded whenever you save it.",
                        on_gpu ? "measured on your GPU"
                               : "its memory accesses are counted (on the CPU device, which needs no GPU)"),
            terminal.width));
    fmt::print("{}{}{}{}{}\n", command("", "goes on from where you are"), command("list", "all chapters and exercises"),
               command("run 1", "a chapter, or some of its lessons"), command("doctor", "what this machine has"),
               command("--help", "all commands"));
    fmt::print("Keys: Enter goes on, q quits; during an exercise, h gives a hint and ? shows all keys.\n\n");
}

/// True at the first start.
bool greet(Session& session) {
    if (!session.progress().read().started.empty()) return false;
    welcome(session);
    mark(session, [](Progress& progress) { progress.started = today(); });
    return true;
}

/// Asks whether to go on. Nothing: go on; else the exit status.
std::optional<int> stop_before(Session& session, const std::string& question) {
    const Key pressed = session.tools().ask(question + ": Enter goes on, q quits ", {key::enter, 'q'});
    if (pressed == key::enter) return std::nullopt;
    if (pressed == key::interrupt) return interrupted_status;
    fmt::print("{} goes on from here.\n", session.typed(""));
    return all_right;
}

int start_quietly(Session& session, const Station& station) {
    if (station.exercise != nullptr) return grade_exercise(session, {.exercise = station.exercise->name});
    const int status = run_chapter(session, *station.chapter, {});
    if (status == all_right || status == something_wrong) fmt::print("\n{}\n", next_step(session));
    return status;
}

// ---- list ----------------------------------------------------------------------------------------------------------

/// The chapters as far as they have to do with the word.
std::vector<Chapter> filtered(const std::vector<Chapter>& chapters, const std::string& word) {
    const std::string wanted = lower_case(word);
    if (wanted.empty()) return chapters;
    std::vector<Chapter> result;
    for (Chapter chapter : chapters) {
        const bool whole = std::to_string(chapter.number) == wanted || contains(chapter.title, wanted) ||
                           contains(chapter.folder, wanted);
        if (!whole) {
            std::erase_if(chapter.lessons, [&](const Lesson& lesson) {
                return !contains(lesson.name, wanted) && !contains(lesson.title, wanted);
            });
            std::erase_if(chapter.exercises, [&](const Exercise& exercise) {
                return !contains(exercise.name, wanted) && !contains(exercise.title, wanted) && exercise.kind != wanted;
            });
        }
        if (whole || !chapter.lessons.empty() || !chapter.exercises.empty()) result.push_back(std::move(chapter));
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

Json list_as_json(const Catalog& all, const std::vector<Chapter>& chapters, const Progress& progress,
                  const Project& project) {
    const auto text_or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
    Json list = Json::array();
    for (const Chapter& chapter : chapters) {
        Json lessons = Json::array();
        for (const Lesson& lesson : chapter.lessons) {
            lessons.push_back({{"name", lesson.name}, {"title", text_or_null(lesson.title)}});
        }
        Json exercises = Json::array();
        for (const Exercise& exercise : chapter.exercises) {
            const ExerciseProgress marks = marks_of(progress, exercise.name);
            exercises.push_back({{"name", exercise.name},
                                 {"kind", exercise.kind},
                                 {"title", exercise.title},
                                 {"answer", project.shown(answer_to(exercise).file)},
                                 {"passed", text_or_null(marks.passed)},
                                 {"attempts", marks.attempts},
                                 {"hints", marks.hints},
                                 {"solution_seen", marks.solution_seen}});
        }
        list.push_back({{"number", chapter.number},
                        {"folder", chapter.folder},
                        {"title", chapter.title},
                        {"run", text_or_null(date_of(progress, chapter))},
                        {"lessons", lessons},
                        {"exercises", exercises}});
    }
    const Station station = next_station(all, progress);
    Json next = nullptr;
    if (station.exercise != nullptr) next = {{"exercise", station.exercise->name}};
    if (station.exercise == nullptr && station.chapter != nullptr) next = {{"chapter", station.chapter->folder}};
    return {{"chapters", list}, {"next", next}};
}

Cell state_of(const Progress& progress, const Exercise& exercise, const std::string& next) {
    const ExerciseProgress marks = marks_of(progress, exercise.name);
    if (!marks.passed.empty()) return {"passed", Style::good};
    std::string state = exercise.name == next ? "next" : "";
    if (marks.attempts > 0) {
        state += (state.empty() ? "" : ", ") + counted(static_cast<std::size_t>(marks.attempts), "attempt");
    }
    return {state, Style::title};
}

void print_chapter(const Chapter& chapter, const Catalog& all, const Progress& progress, const std::string& next,
                   const Terminal& terminal) {
    const std::string date = date_of(progress, chapter);
    fmt::print("{}{}\n\n", terminal.paint(Style::title, fmt::format("Chapter {}: {}", chapter.number, chapter.title)),
               date.empty() ? "" : terminal.paint(Style::faint, fmt::format(" (run on {})", date)));
    const Chapter& whole = all.find_chapter(chapter.folder);
    std::vector<std::vector<Cell>> rows;
    for (const Lesson& lesson : chapter.lessons) {
        const auto place = std::find_if(whole.lessons.begin(), whole.lessons.end(),
                                        [&](const Lesson& other) { return other.name == lesson.name; });
        rows.push_back(
            {{fmt::format("{}.{}", chapter.number, place - whole.lessons.begin() + 1)}, {lesson.name}, {lesson.title}});
    }
    if (!rows.empty()) fmt::print("{}\n", format_table({"", "lesson", "what it shows"}, rows, terminal));
    rows.clear();
    for (const Exercise& exercise : chapter.exercises) {
        rows.push_back({{exercise.name}, {exercise.kind}, state_of(progress, exercise, next), {exercise.title}});
    }
    if (!rows.empty())
        fmt::print("{}\n", format_table({"exercise", "kind", "state", "what it is about"}, rows, terminal));
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
    const Json facts = Json::parse(result.facts, nullptr, false);
    const auto fact = [&](const char* key, Json otherwise) {
        return facts.is_object() && facts.contains(key) ? facts[key] : std::move(otherwise);
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
            fmt::print("{}\n", next_step(session));
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
    for (const Exercise* exercise : catalog().exercises()) {
        if (!done.has_passed(exercise->name)) return exercise;
    }
    return nullptr;
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
            .ask = ask};
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
    throw Refusal(near.empty() ? fmt::format("unknown command '{}'; {} --help shows what there is", word, typed)
                               : fmt::format("unknown command '{}'; did you mean {}?", word, fmt::join(near, " or ")));
}

// ---- commands ------------------------------------------------------------------------------------------------------

int start(Session& session) {
    bool ask_first = greet(session);
    const Chapter* last = nullptr;
    while (true) {
        const Station station = next_station(session.catalog(), session.progress().read());
        if (is_none(station)) {
            fmt::print("{}\n", next_step(session));
            return all_right;
        }
        if (!session.interactive()) return start_quietly(session, station);
        if (station.exercise != nullptr) {
            const std::string question = fmt::format("Next: exercise {}", station.exercise->name);
            const std::optional<int> stop = ask_first ? stop_before(session, question) : std::nullopt;
            return stop ? *stop : session.tools().watch(session.catalog(), session.progress(), *station.exercise);
        }
        const Chapter& chapter = *station.chapter;
        if (&chapter == last) return something_wrong;  // its mark could not be kept, which was said
        last = &chapter;
        const std::string question = fmt::format("Next: chapter {}, {} ({})", chapter.number, chapter.title,
                                                 counted(chapter.lessons.size(), "lesson"));
        if (const std::optional<int> stop = stop_before(session, question)) return *stop;
        const int status = run_chapter(session, chapter, {});
        if (status == left_by_reader) {
            fmt::print("{} goes on from here.\n", session.typed(""));
            return all_right;
        }
        if (status != all_right && status != something_wrong) return status;
        if (status == something_wrong) complain(fmt::format("a step of chapter {} was wrong (above)", chapter.number));
        ask_first = true;
    }
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
    const Station station = next_station(catalog, progress);
    const std::string next = station.exercise == nullptr ? "" : station.exercise->name;
    for (const Chapter& chapter : chapters) print_chapter(chapter, catalog, progress, next, session.terminal());
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
    const int status =
        run_chapter(session, find_chapter(session, arguments.front()), {arguments.begin() + 1, arguments.end()});
    return status == left_by_reader ? static_cast<int>(all_right) : status;
}

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
        plain_text(without_learned(text_of_file(exercise->task(), session.project())), session.terminal().width));
    fmt::print("\nYour answer: {}\n", session.project().shown(answer_to(*exercise).file));
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
