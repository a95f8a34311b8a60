// Watch mode without its terminal: what is shown, and what each key, save and result does to it.
//
//     WatchSession session(catalog.way(), progress, exercise, surroundings);
//     if (const auto job = session.take_job()) ...        // build and grade it, then session.graded(result)
//     session.press('h');                                 // session.state().hints_visible is 1 now
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/guide/catalog.h"
#include "common/guide/console.h"
#include "common/guide/grader.h"
#include "common/guide/progress.h"

namespace guide {

struct Solution {
    std::string text;
    std::string difference;  ///< from the learner's answer to the solution; empty when they are the same
};

/// What a session asks of the world outside. Functions may throw std::exception: its text is shown.
class Surroundings {
public:
    Surroundings() = default;
    Surroundings(const Surroundings&) = delete;
    Surroundings& operator=(const Surroundings&) = delete;
    virtual ~Surroundings() = default;

    virtual double now() = 0;  ///< seconds since some fixed moment
    virtual Progress update(const std::function<void(Progress&)>& change) = 0;
    virtual std::string answer(const Exercise& exercise) = 0;              ///< the file, as the learner would write it
    virtual std::string task(const Exercise& exercise) = 0;                ///< Markdown
    virtual std::vector<std::string> hints(const Exercise& exercise) = 0;  ///< Markdown
    virtual Solution solution(const Exercise& exercise) = 0;
    virtual std::string map(const Progress& progress) = 0;  ///< of the whole path, with colors where there are any
    /// Puts back what was handed out. Returns where the old answer is kept, as the learner would write it; empty: there
    /// was nothing to put back.
    virtual std::string reset(const Exercise& exercise) = 0;
};

enum class Page {
    exercise,
    task,
    solution,
    help,
    list,         ///< of all exercises, to choose from
    grading_all,  ///< all exercises, one after another
    graded_all,   ///< the table of results
    lesson,       ///< of the path, which waits to be run
    lesson_ran,   ///< its output stands above
    background,   ///< a page of the book that comes next on the path
    map,          ///< of the whole path
    closing,      ///< all is done
};

enum class Question { none, reset, solution, skip };

/// What a session wants done: one of the two.
struct Job {
    const Exercise* exercise = nullptr;  ///< to build and grade
    Station lesson = {};                 ///< to build and run; or a page of the book, to be shown
};

/// The job that is running.
struct Work {
    bool is_running = false;
    int done = 0;        ///< steps of the build
    int of = 0;          ///< 0: not known (yet)
    double seconds = 0;  ///< since the job was started, or since its build was finished
    bool is_built() const { return of > 0 && done >= of; }
};

/// A line that is shown until the next key.
struct Notice {
    std::string text;
    bool is_bad = false;
    bool outlives_result = false;
};

/// A row of the table that `c` makes.
struct Graded {
    const Exercise* exercise = nullptr;
    Outcome outcome = Outcome::broken;
    double seconds = 0;
    bool had_passed = false;  ///< before this grading
};

/// All that is to be seen.
struct WatchState {
    std::vector<Station> way;
    Progress progress;
    const Exercise* exercise = nullptr;  ///< the current one, never null
    std::string answer;                  ///< the file that is graded for it
    Page page = Page::exercise;
    Question question = Question::none;
    Work work;
    Notice notice;

    std::optional<GradeResult> result;  ///< on the current exercise as it was saved last
    bool shows_details = false;         ///< of a result: Catch2's own output, or all that the compiler says
    bool was_saved = false;             ///< since the exercise was opened: it needs no introduction any more
    std::vector<std::string> hints;     ///< of the current exercise
    int hints_visible = 0;              ///< how many of them stand on the page
    bool hints_are_latest = false;      ///< they were asked for after the result came

    std::string task;
    Solution solution;

    std::string filter;
    std::size_t selected = 0;     ///< in matches(state)
    std::size_t list_lines = 10;  ///< a page up or down: exercises that the window shows

    std::vector<Graded> graded;
    bool grading_was_cancelled = false;

    bool page_was_shown = false;  ///< on the page `background`: that page of the book
    Station stop;                 ///< on the pages `lesson`, `lesson_ran`, and `background`
    std::string lesson_output;    ///< why it could not be built
    int lesson_status = 0;        ///< that it ended with
    bool has_lesson_run() const { return lesson_status == 0 || lesson_status == 1; }  ///< 1: something in it is wrong

    std::string map;

    std::vector<const Exercise*> exercises() const;
    const Chapter* chapter_of(const Exercise& exercise) const;  ///< null when the way does not hold it
    bool has_passed() const { return progress.has_passed(exercise->name); }
    int hints_seen() const;  ///< of the current exercise, today or earlier
};

/// The exercises in whose name, title or chapter each word of the filter occurs, in any case of letters.
std::vector<const Exercise*> matches(const WatchState& state);

/// The stop that is on the screen: the lesson or page of its own page, else the current exercise.
Station current_stop(const WatchState& state);

/// What comes after it (`next_station`). None: all is done.
Station next_undone(const WatchState& state);

class WatchSession {
public:
    WatchSession(std::vector<Station> way, Progress progress, const Exercise& first, Surroundings& surroundings);

    const WatchState& state() const { return state_; }

    void press(Key key);
    void saved();  ///< a source of the current exercise has changed
    /// The file of marks may have others by now: somebody graded, or went on, in another terminal.
    void marks_read(const Progress& progress);
    void tell(const std::string& message, bool is_bad = false);
    void set_list_lines(std::size_t lines) { state_.list_lines = lines; }

    /// What is to be done now, if anything; it counts as running until `graded`, `lesson_not_built` or `lesson_ran`.
    std::optional<Job> take_job();
    /// Whether the running job is not wanted any more. Stays so until the job ends.
    bool is_job_unwanted() const { return job_.has_value() && is_unwanted_; }
    void built(int done, int of);
    void tick();  ///< moves the timer on

    void graded(const GradeResult& result);
    void lesson_not_built(const std::string& output);
    void lesson_ran(int status);
    void page_shown(bool to_its_end);

    /// The exit status once the learner has left: 0, or 130 after Ctrl-C.
    std::optional<int> ended() const { return ended_; }

private:
    void open(const Exercise& exercise);
    void look_up_answer();
    void want_grade();
    void drop_unwanted_job();
    bool is_grading() const { return job_.has_value() && !grades_all_ && job_->exercise != nullptr; }

    void press_command(Key key);
    void press_in_list(Key key);
    void press_in_lesson(Key key);
    void press_in_background(Key key);
    void answer(Key key);

    void go_on();
    void go_back();
    void open_stop(const Station& stop);
    void skip();
    void show_map();
    void show_hint();
    void show_list();
    void show_task();
    void show_solution();
    void reset();
    void grade_all();
    void set_filter(const std::string& filter);
    void mark_lesson();

    void note_result(const GradeResult& result);
    void note_graded(const GradeResult& result);
    void change_progress(const std::function<void(Progress&)>& change);
    void attempt(const std::function<void()>& action);
    bool finish_job();

    Surroundings& surroundings_;
    WatchState state_;
    std::optional<Job> job_;     ///< that runs
    bool grades_all_ = false;    ///< it belongs to `c`
    bool is_unwanted_ = false;   ///< it is to stop
    bool wants_grade_ = false;   ///< on the current exercise
    bool wants_lesson_ = false;  ///< to be run, or a page of the book to be shown
    bool own_marks_ = false;     ///< that could not be written
    double job_started_ = 0;
    std::optional<int> ended_;
};

}  // namespace guide
