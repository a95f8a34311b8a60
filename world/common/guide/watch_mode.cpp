#include "common/guide/watch_mode.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "common/guide/after_grading.h"
#include "common/guide/answers.h"
#include "common/guide/book_page.h"
#include "common/guide/builder.h"
#include "common/guide/command.h"
#include "common/guide/console.h"
#include "common/guide/exercise_files.h"
#include "common/guide/file_watcher.h"
#include "common/guide/grader.h"
#include "common/guide/guesses.h"
#include "common/guide/ideas.h"
#include "common/guide/watch_session.h"
#include "common/guide/watch_view.h"
#include "common/lesson/reader.h"
#include "common/lesson/refusal.h"
#include "common/lesson/terminal.h"

namespace guide {
namespace {

constexpr double idle_seconds = 1;       // between two looks around while nothing happens
constexpr double polling_seconds = 0.2;  // where nothing tells of a save

/// The files, the clock and the marks.
class RealSurroundings : public Surroundings {
public:
    RealSurroundings(const Project& project, const Catalog& catalog, ProgressFile& progress, bool colors)
        : project_(project), catalog_(catalog), progress_(progress), colors_(colors) {}

    double now() override {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }
    Progress update(const std::function<void(Progress&)>& change) override { return progress_.update(change); }
    std::string answer(const Exercise& exercise) override { return project_.shown(answer_to(exercise).file); }
    std::vector<std::string> hints(const Exercise& exercise) override { return hints_of(exercise); }
    std::string task(const Exercise& exercise) override {
        if (std::optional<std::string> text = read_file(exercise.task())) return without_learned(*text);
        const std::string file = project_.shown(exercise.task());
        throw Refusal(fmt::format("{} is missing; git checkout -- {} brings it back", file, file));
    }
    Solution solution(const Exercise& exercise) override {
        std::string text = solution_text(exercise);
        return {std::move(text), difference(answer_to(exercise).file, exercise.solution)};
    }
    std::string map(const Progress& progress) override {
        warpwise::Terminal terminal;
        terminal.colors = colors_;
        return map_text(catalog_, progress, {.typed = project_.typed, .today = today()}, terminal);
    }
    std::string reset(const Exercise& exercise) override {
        std::string kept;
        for (const std::filesystem::path& file : guide::reset(exercise)) {
            kept += (kept.empty() ? "" : " and ") + project_.shown(file);
        }
        return kept;
    }

private:
    const Project& project_;
    const Catalog& catalog_;
    ProgressFile& progress_;
    bool colors_;
};

/// The station's exercise of this name: whoever started watch mode may have a copy.
const Exercise& on_the_way(const std::vector<Station>& way, const Exercise& wanted) {
    const auto found = std::find_if(way.begin(), way.end(), [&](const Station& station) {
        return station.exercise != nullptr && station.exercise->name == wanted.name;
    });
    return found == way.end() ? wanted : *found->exercise;
}

/// Carries out what the session wants, on one thread: while a compiler or grader runs, it asks 20 times a second
/// whether it is to be stopped, and that is when keys and saves are looked for.
class Watch {
public:
    Watch(const Project& project, const Catalog& catalog, ProgressFile& progress, const Exercise& first)
        : project_(project),
          progress_(progress),
          colors_(warpwise::Terminal::detect(true).colors),
          surroundings_(project, catalog, progress, colors_),
          way_(catalog.way()),
          session_(way_, progress.read(), on_the_way(way_, first), surroundings_) {}

    int run() {
        console_.emplace();
        console_->show_cursor(false);
        while (!session_.ended()) {
            follow_exercise();
            if (const std::optional<Job> job = session_.take_job()) {
                draw();
                carry_out(*job);
                continue;
            }
            draw();
            const int descriptor = watcher_->descriptor();
            take(console_->read_key_or(descriptor, descriptor == -1 ? polling_seconds : idle_seconds));
            look_for_saves();
            look_for_marks();
        }
        say_goodbye();
        console_.reset();
        return *session_.ended();
    }

private:
    const Project& project_;
    ProgressFile& progress_;
    bool colors_;
    RealSurroundings surroundings_;
    std::vector<Station> way_;
    WatchSession session_;
    std::optional<Console> console_;
    std::unique_ptr<FileWatcher> watcher_;
    const Exercise* watched_ = nullptr;
    std::optional<Frame> on_screen_;

    /// Before its first result, so that no save is missed.
    void follow_exercise() {
        const Exercise* current = session_.state().exercise;
        if (watched_ == current) return;
        watcher_ = std::make_unique<FileWatcher>(std::vector{current->answers, current->folder});
        watched_ = current;
        console_->set_title("Warpwise: " + current->name);
    }

    void look_for_saves() {
        if (watched_ == session_.state().exercise && watcher_->changed()) session_.saved();
    }

    void look_for_marks() {
        if (progress_.may_have_changed()) session_.marks_read(progress_.read());
    }

    void take(Key key) {
        if (key == key::resized && on_screen_) {
            // The same size: the guide was stopped, and something else stands on the screen.
            const ConsoleSize size = console_->size();
            if (size.columns == on_screen_->columns && size.lines == on_screen_->lines) on_screen_.reset();
        }
        session_.press(key);
    }

    /// All that has happened in the meantime. Returns whether the job is to be stopped.
    bool look_around() {
        while (!session_.ended()) {
            const Key key = console_->read_key(0);
            if (key == key::none) break;
            take(key);
        }
        look_for_saves();
        look_for_marks();
        session_.tick();
        draw();
        return session_.is_job_unwanted();
    }

    void draw() {
        if (session_.ended()) return;
        if (const std::string message = progress_.take_message(); !message.empty()) session_.tell(message, true);
        const ConsoleSize size = console_->size();
        session_.set_list_lines(list_rows(size));
        Frame frame = render(session_.state(), project_, {size, colors_});
        const std::string text = drawing(on_screen_, frame);
        if (!text.empty()) console_->write(text);
        on_screen_ = std::move(frame);
    }

    void note_build(int done, int of) {
        session_.built(done, of);
        draw();
    }

    void carry_out(const Job& job) {
        if (job.exercise != nullptr) {
            session_.graded(grade(*job.exercise));
        } else if (job.lesson.page != nullptr) {
            show(job.lesson);
        } else {
            run_lesson(job.lesson);
        }
    }

    GradeResult grade(const Exercise& exercise) {
        try {
            GradeOptions options;
            options.on_build = [this](int done, int of) { note_build(done, of); };
            options.cancelled = [this] { return look_around(); };
            options.colors = colors_;
            options.width = static_cast<std::size_t>(std::clamp(console_->size().columns - 1, 20, 100));
            options.is_brief = session_.state().page == Page::grading_all;
            return guide::grade(project_, exercise, options);
        } catch (const std::exception& error) {
            return {Outcome::broken, error.what(), 0, 0};
        }
    }

    void run_lesson(const Station& lesson) {
        BuildResult built;
        try {
            built = Builder(project_).build(
                {lesson.chapter->program + "_programs"}, [this](int done, int of) { note_build(done, of); },
                [this] { return look_around(); });
        } catch (const std::exception& error) {
            built.output = error.what();
        }
        if (session_.is_job_unwanted() || !built.succeeded) return session_.lesson_not_built(built.output);
        const int status = run_program(lesson);
        on_screen_.reset();
        for (Key key = key::resized; key != key::none && key != key::closed;) key = console_->read_key(0);
        session_.lesson_ran(status);
    }

    /// A page of the book, on the whole terminal.
    void show(const Station& page) {
        bool to_its_end = false;
        console_->clear();
        console_->show_cursor(true);
        try {
            const Console::Released released(*console_);
            warpwise::Terminal terminal = warpwise::Terminal::detect(true);
            terminal.colors = colors_;
            to_its_end = show_page(project_.root, page.name(), terminal, true);
            if (to_its_end) warpwise::Reader(true).ask_key("Enter goes back to the guide ", "q");
        } catch (const warpwise::ReaderLeft&) {
        } catch (const std::exception& error) {
            session_.tell(error.what(), true);
        }
        console_->show_cursor(false);
        on_screen_.reset();
        for (Key key = key::resized; key != key::none && key != key::closed;) key = console_->read_key(0);
        session_.page_shown(to_its_end);
    }

    /// As `warpwise run` does, on the whole terminal. Returns its exit status.
    int run_program(const Station& lesson) {
        const Chapter& chapter = *lesson.chapter;
        std::vector<std::string> command{(project_.programs() / chapter.program).string(), lesson.name(), "--device",
                                         project_.device, "--pause"};
        const RunResults results({.may_guess = true});
        const std::vector<std::string> options = results.options();
        command.insert(command.end(), options.begin(), options.end());
        console_->clear();
        console_->show_cursor(true);
        CommandResult result;
        {
            const Console::Released released(*console_);
            result = run_command(
                command, {.folder = project_.root,
                          .variables = {{"WARPWISE_TYPED", fmt::format("{} run {}", project_.typed, chapter.number)}},
                          .owns_terminal = true});
        }
        console_->show_cursor(false);
        if (!result.output.empty()) console_->write(result.output + "\r\n");  // why it could not be started
        const Guesses guesses = results.take();
        if (!guesses.predictions.empty()) {
            try {
                progress_.update([&](Progress& progress) { guesses.keep(progress); });
            } catch (const Refusal& refusal) {
                console_->write(std::string(refusal.what()) + "\r\n");
            }
        }
        constexpr int stopped = 130;  // as after Ctrl-C: it was not read to its end
        return guesses.left && result.status == 0 ? stopped : result.status;
    }

    void say_goodbye() {
        std::string text = "\r\n";
        if (*session_.ended() == 0) {
            text += fmt::format("Your marks are kept: {} goes on with what is not done yet.\r\n", project_.typed);
        }
        console_->write(text);
    }
};

}  // namespace

int watch(const Project& project, const Catalog& catalog, ProgressFile& progress, const Exercise& first) {
    return Watch(project, catalog, progress, first).run();
}

}  // namespace guide
