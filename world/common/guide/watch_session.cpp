#include "common/guide/watch_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <sstream>
#include <utility>

#include "common/helpers/utf8.h"

namespace guide {
namespace {

constexpr Key delete_character = 8;  // what some terminals send for the backspace key

std::string lower(std::string text) {
    for (char& c : text) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return text;
}

/// Letters work with caps lock, too.
Key as_command(Key key) { return key >= U'A' && key <= U'Z' ? key - U'A' + U'a' : key; }

bool is_printable(Key key) {
    return key >= 32 && key < 0x110000 && key != key::backspace && !(key >= 128 && key < 160);
}

std::string without_last_character(std::string text) {
    while (!text.empty() && warpwise::continues_utf8(text.back())) text.pop_back();
    if (!text.empty()) text.pop_back();
    return text;
}

bool is_about_lesson(Page page) { return page == Page::lesson || page == Page::lesson_ran; }

/// The key that opened the page closes it, too.
Key key_of(Page page) {
    switch (page) {
        case Page::task:
            return U't';
        case Page::solution:
            return U's';
        case Page::help:
            return U'?';
        case Page::map:
            return U'm';
        default:
            return key::none;
    }
}

/// Pages with something to read, which any of these keys leave.
bool leaves(Page page, Key key) {
    const bool is_read = page == Page::task || page == Page::solution || page == Page::help || page == Page::map ||
                         page == Page::graded_all || page == Page::closing;
    return is_read && (key == key::escape || key == key::enter || key == U' ' || key == key_of(page));
}

}  // namespace

std::vector<const Exercise*> WatchState::exercises() const {
    std::vector<const Exercise*> exercises;
    for (const Station& station : way) {
        if (station.exercise != nullptr) exercises.push_back(station.exercise);
    }
    return exercises;
}

const Chapter* WatchState::chapter_of(const Exercise& wanted) const {
    for (const Station& station : way) {
        if (station.chapter != nullptr && station.chapter->folder == wanted.chapter) return station.chapter;
    }
    return nullptr;
}

int WatchState::hints_seen() const {
    const auto entry = progress.exercises.find(exercise->name);
    return std::max(hints_visible, entry == progress.exercises.end() ? 0 : entry->second.hints);
}

std::vector<const Exercise*> matches(const WatchState& state) {
    std::vector<const Exercise*> found;
    for (const Exercise* exercise : state.exercises()) {
        const Chapter* chapter = state.chapter_of(*exercise);
        const std::string text = lower(fmt::format("{} {} {} {}", exercise->name, exercise->title, exercise->chapter,
                                                   chapter == nullptr ? "" : chapter->title));
        std::istringstream words(lower(state.filter));
        bool has_all = true;
        for (std::string word; words >> word;) has_all = has_all && text.find(word) != std::string::npos;
        if (has_all) found.push_back(exercise);
    }
    return found;
}

Station current_stop(const WatchState& state) {
    if (is_about_lesson(state.page) || state.page == Page::background) return state.stop;
    for (const Station& station : state.way) {
        if (station.exercise == state.exercise) return station;
    }
    return {};
}

Station next_undone(const WatchState& state) { return next_station(state.way, state.progress, current_stop(state)); }

WatchSession::WatchSession(std::vector<Station> way, Progress progress, const Exercise& first,
                           Surroundings& surroundings)
    : surroundings_(surroundings) {
    state_.way = std::move(way);
    state_.progress = std::move(progress);
    open(first);
}

void WatchSession::open(const Exercise& exercise) {
    state_.exercise = &exercise;
    state_.page = Page::exercise;
    state_.question = Question::none;
    state_.was_saved = false;
    state_.hints_visible = 0;
    state_.hints_are_latest = false;
    try {
        state_.hints = surroundings_.hints(exercise);
    } catch (const std::exception&) {
        state_.hints.clear();  // who asks for one is told why
    }
    want_grade();
}

void WatchSession::look_up_answer() {
    attempt([&] { state_.answer = surroundings_.answer(*state_.exercise); });
}

/// Each save may have changed which file counts.
void WatchSession::want_grade() {
    look_up_answer();
    state_.result.reset();
    wants_grade_ = true;
    if (is_grading()) is_unwanted_ = true;
}

/// A lesson, a page of the book, or a grading of all goes on only as long as its place is on the screen.
void WatchSession::drop_unwanted_job() {
    if (state_.page != Page::lesson && state_.page != Page::background) wants_lesson_ = false;
    if (!job_) return;
    if (ended_ || (grades_all_ && state_.page != Page::grading_all)) is_unwanted_ = true;
    const Page own_page = job_->lesson.page != nullptr ? Page::background : Page::lesson;
    if (job_->lesson && state_.page != own_page) is_unwanted_ = true;
}

void WatchSession::tell(const std::string& message, bool is_bad) { state_.notice = {message, is_bad, is_bad}; }

/// What goes wrong is told, and the session goes on.
void WatchSession::attempt(const std::function<void()>& action) {
    try {
        action();
    } catch (const std::exception& error) {
        tell(error.what(), true);
    }
}

// ---- keys ---------------------------------------------------------------------------------------------------------

void WatchSession::press(Key key) {
    if (key == key::none || key == key::resized || ended_) return;
    state_.notice = {};
    if (key == key::closed) {
        ended_ = 0;
    } else if (state_.page == Page::grading_all) {
        state_.page = Page::graded_all;
        state_.grading_was_cancelled = true;
    } else if (key == key::interrupt) {
        ended_ = 130;
    } else if (state_.question != Question::none) {
        answer(key);
    } else if (state_.page == Page::list) {
        press_in_list(key);
    } else if (is_about_lesson(state_.page)) {
        press_in_lesson(key);
    } else if (state_.page == Page::background) {
        press_in_background(key);
    } else {
        press_command(key);
    }
    drop_unwanted_job();
}

void WatchSession::press_command(Key key) {
    if (leaves(state_.page, as_command(key))) {
        state_.page = Page::exercise;
        return;
    }
    switch (as_command(key)) {
        case U'n':
            return go_on();
        case U'b':
            return go_back();
        case U'm':
            return show_map();
        case U'h':
            return show_hint();
        case U'l':
            return show_list();
        case U'g':
        case U'c':  // its key in earlier versions
            return grade_all();
        case U'x':
            state_.page = Page::exercise;
            state_.question = Question::reset;
            return;
        case U's':
            if (state_.has_passed()) return show_solution();
            state_.page = Page::exercise;
            state_.question = Question::solution;
            return;
        case U't':
            return show_task();
        case U'r':
            state_.page = Page::exercise;
            return want_grade();
        case U'v':
            state_.page = Page::exercise;
            if (!state_.result || state_.result->details.empty()) return tell("There is no more to show.");
            state_.shows_details = !state_.shows_details;
            return;
        case U'q':
            ended_ = 0;
            return;
        case U'?':
            state_.page = Page::help;
            return;
        default:
            return;
    }
}

void WatchSession::answer(Key key) {
    const Question question = std::exchange(state_.question, Question::none);
    if (as_command(key) == U'q') {
        ended_ = 0;
    } else if (as_command(key) != U'y') {
        tell(question == Question::reset  ? "The answer was left as it is."
             : question == Question::skip ? "Then it goes on with this exercise. h gives a hint."
                                          : "The solution was not shown.");
    } else if (question == Question::reset) {
        reset();
    } else if (question == Question::skip) {
        skip();
    } else {
        show_solution();
    }
}

void WatchSession::press_in_list(Key key) {
    const std::vector<const Exercise*> shown = matches(state_);
    const std::size_t last = shown.empty() ? 0 : shown.size() - 1;
    const std::size_t page = std::max<std::size_t>(1, state_.list_lines);
    std::size_t& selected = state_.selected;
    if (key == key::escape) {
        state_.page = Page::exercise;
    } else if (key == key::enter) {
        if (shown.empty()) return tell("No exercise matches. Backspace takes letters away, Esc goes back.");
        state_.page = Page::exercise;
        if (shown[selected] != state_.exercise) open(*shown[selected]);
    } else if (key == key::up) {
        selected -= std::min<std::size_t>(1, selected);
    } else if (key == key::down) {
        selected = std::min(selected + 1, last);
    } else if (key == key::page_up) {
        selected -= std::min(page, selected);
    } else if (key == key::page_down) {
        selected = std::min(selected + page, last);
    } else if (key == key::home) {
        selected = 0;
    } else if (key == key::end) {
        selected = last;
    } else if (key == key::backspace || key == delete_character) {
        set_filter(without_last_character(state_.filter));
    } else if (is_printable(key)) {
        set_filter(state_.filter + warpwise::encode_utf8(key));
    }
}

/// The selected exercise stays selected where the new filter leaves it in.
void WatchSession::set_filter(const std::string& filter) {
    const std::vector<const Exercise*> before = matches(state_);
    const Exercise* selected = before.empty() ? state_.exercise : before[state_.selected];
    state_.filter = filter;
    const std::vector<const Exercise*> after = matches(state_);
    const auto found = std::find(after.begin(), after.end(), selected);
    state_.selected = found == after.end() ? 0 : static_cast<std::size_t>(found - after.begin());
}

void WatchSession::press_in_lesson(Key key) {
    const bool has_run = state_.page == Page::lesson_ran;
    if (key == key::enter && has_run && state_.has_lesson_run()) {
        go_on();
    } else if (key == key::enter && has_run) {
        state_.page = Page::lesson;
    } else if (key == key::enter) {
        state_.lesson_output.clear();
        wants_lesson_ = !job_ || !job_->lesson || is_unwanted_;
        if (is_grading()) {
            is_unwanted_ = true;
            wants_grade_ = true;
        }
    } else if (as_command(key) == U'r' && has_run) {
        state_.page = Page::lesson;
        press_in_lesson(key::enter);
    } else if (as_command(key) == U'n') {
        if (is_done(state_.stop, state_.progress)) {
            go_on();
        } else {
            skip();
        }
    } else if (key == key::escape) {
        const bool is_being_built = wants_lesson_ || (job_ && job_->lesson && !is_unwanted_);
        if (is_being_built) {
            wants_lesson_ = false;
            is_unwanted_ = true;
        } else {
            state_.page = Page::exercise;
        }
    } else {
        press_command(key);
    }
}

void WatchSession::press_in_background(Key key) {
    const bool shows = as_command(key) == U'r' || (key == key::enter && !state_.page_was_shown);
    if (shows) {
        wants_lesson_ = !job_ || !job_->lesson || is_unwanted_;
        if (is_grading()) {
            is_unwanted_ = true;
            wants_grade_ = true;
        }
    } else if (key == key::enter || as_command(key) == U'n') {
        change_progress([name = state_.stop.name()](Progress& progress) { progress.pages.try_emplace(name, today()); });
        go_on();
    } else if (key == key::escape) {
        state_.page = Page::exercise;
    } else {
        press_command(key);
    }
}

// ---- what the keys do ---------------------------------------------------------------------------------------------

void WatchSession::go_on() {
    const bool is_at_exercise = current_stop(state_).exercise != nullptr;
    if (is_at_exercise && !state_.has_passed()) {
        state_.page = Page::exercise;
        state_.question = Question::skip;
        return;
    }
    open_stop(next_undone(state_));
}

void WatchSession::go_back() {
    const Station before = station_before(state_.way, current_stop(state_));
    if (!before) return tell("This is the first stop of the path.");
    if (state_.progress.skipped.contains(before.key())) {
        change_progress([key = before.key()](Progress& progress) { progress.skipped.erase(key); });
    }
    open_stop(before);
}

void WatchSession::open_stop(const Station& stop) {
    if (stop.exercise != nullptr) return open(*stop.exercise);
    state_.question = Question::none;
    if (!stop) {
        state_.page = Page::closing;
        return;
    }
    state_.stop = stop;
    state_.lesson_output.clear();
    state_.page = stop.page != nullptr ? Page::background : Page::lesson;
    state_.page_was_shown = false;
    wants_lesson_ = false;
}

/// Goes on without what is on the screen; it stays open, and comes again when all else is done.
void WatchSession::skip() {
    const std::string key = current_stop(state_).key();
    change_progress([&](Progress& progress) { progress.skipped.try_emplace(key, today()); });
    const Station next = next_undone(state_);
    if (next.key() == key) return tell("Nothing else is left to do.");
    open_stop(next);
}

void WatchSession::show_map() {
    attempt([&] {
        state_.map = surroundings_.map(state_.progress);
        state_.page = Page::map;
    });
}

void WatchSession::show_hint() {
    state_.page = Page::exercise;
    if (state_.hints.empty()) attempt([&] { state_.hints = surroundings_.hints(*state_.exercise); });
    const int all = static_cast<int>(state_.hints.size());
    if (all == 0) {
        if (state_.notice.text.empty()) tell("This exercise has no hints. t shows the task, s the solution.");
        return;
    }
    if (state_.hints_visible >= all) {
        state_.hints_are_latest = true;
        return tell(fmt::format("These are all {} hints. s shows the solution.", all));
    }
    // Those of earlier days come back together, a new one comes alone.
    const int seen = std::min(state_.hints_seen(), all);
    state_.hints_visible = state_.hints_visible < seen ? seen : state_.hints_visible + 1;
    state_.hints_are_latest = true;
    if (state_.hints_visible <= seen) return;
    const std::string name = state_.exercise->name;
    change_progress([name, visible = state_.hints_visible](Progress& progress) {
        int& hints = progress.exercises[name].hints;
        hints = std::max(hints, visible);
    });
}

void WatchSession::show_list() {
    state_.page = Page::list;
    state_.filter.clear();
    const std::vector<const Exercise*> all = matches(state_);
    const auto here = std::find(all.begin(), all.end(), state_.exercise);
    state_.selected = here == all.end() ? 0 : static_cast<std::size_t>(here - all.begin());
}

void WatchSession::show_task() {
    attempt([&] {
        state_.task = surroundings_.task(*state_.exercise);
        state_.page = Page::task;
    });
}

void WatchSession::show_solution() {
    attempt([&] {
        state_.solution = surroundings_.solution(*state_.exercise);
        state_.page = Page::solution;
    });
    if (state_.page != Page::solution || state_.has_passed()) return;
    const std::string name = state_.exercise->name;
    const auto entry = state_.progress.exercises.find(name);
    if (entry != state_.progress.exercises.end() && entry->second.solution_seen) return;
    change_progress([name](Progress& progress) {
        ExerciseProgress& exercise = progress.exercises[name];
        if (exercise.passed.empty()) exercise.solution_seen = true;
    });
}

void WatchSession::reset() {
    attempt([&] {
        const std::string kept = surroundings_.reset(*state_.exercise);
        if (kept.empty()) return tell("There was nothing to reset: the file is as it was handed out.");
        state_.was_saved = false;
        want_grade();
        state_.notice = {fmt::format("The exercise is as it was handed out. Your answer is kept in {}", kept), false,
                         true};
    });
}

void WatchSession::grade_all() {
    state_.graded.clear();
    state_.grading_was_cancelled = false;
    state_.page = state_.exercises().empty() ? Page::graded_all : Page::grading_all;
    if (is_grading()) {
        is_unwanted_ = true;
        wants_grade_ = true;  // afterwards
    }
}

void WatchSession::mark_lesson() {
    const Station stop = state_.stop;
    change_progress([stop](Progress& progress) { progress.note_run(*stop.chapter, {stop.name()}, today()); });
}

/// A mark that cannot be written counts until the session ends, and the learner is told.
void WatchSession::change_progress(const std::function<void(Progress&)>& change) {
    try {
        state_.progress = surroundings_.update(change);
        own_marks_ = false;
    } catch (const std::exception& error) {
        change(state_.progress);
        own_marks_ = true;
        tell(error.what(), true);
    }
}

/// Marks that could not be written are in this session only, and are not given up for those in the file.
void WatchSession::marks_read(const Progress& progress) {
    if (own_marks_ || progress == state_.progress) return;
    state_.progress = progress;
    if (state_.page == Page::map) attempt([&] { state_.map = surroundings_.map(state_.progress); });
}

// ---- saves and jobs -----------------------------------------------------------------------------------------------

void WatchSession::saved() {
    const bool is_lesson_on_its_way = state_.page == Page::lesson && (wants_lesson_ || (job_ && job_->lesson));
    const bool is_busy = state_.page == Page::list || state_.page == Page::grading_all ||
                         state_.page == Page::graded_all || is_lesson_on_its_way;
    if (!is_busy) state_.page = Page::exercise;
    state_.was_saved = true;
    want_grade();
    drop_unwanted_job();
}

std::optional<Job> WatchSession::take_job() {
    if (job_ || ended_) return std::nullopt;
    const std::vector<const Exercise*> exercises = state_.exercises();
    grades_all_ = state_.page == Page::grading_all;
    if (grades_all_) {
        job_ = Job{exercises[state_.graded.size()], {}};
    } else if (wants_lesson_) {
        wants_lesson_ = false;
        job_ = Job{nullptr, state_.stop};
    } else if (wants_grade_) {
        wants_grade_ = false;
        job_ = Job{state_.exercise, {}};
    } else {
        return std::nullopt;
    }
    is_unwanted_ = false;
    job_started_ = surroundings_.now();
    state_.work = {};
    state_.work.is_running = true;
    return job_;
}

void WatchSession::built(int done, int of) {
    const bool was_built = state_.work.is_built();
    state_.work.done = done;
    state_.work.of = of;
    if (state_.work.is_built() && !was_built) job_started_ = surroundings_.now();
    tick();
}

void WatchSession::tick() {
    if (state_.work.is_running) state_.work.seconds = surroundings_.now() - job_started_;
}

/// Returns whether the job's result is wanted.
bool WatchSession::finish_job() {
    const bool is_wanted = job_.has_value() && !is_unwanted_ && !ended_;
    job_.reset();
    is_unwanted_ = false;
    state_.work = {};
    return is_wanted;
}

void WatchSession::graded(const GradeResult& result) {
    if (!finish_job() || result.outcome == Outcome::cancelled) return;
    if (grades_all_) {
        note_graded(result);
    } else {
        note_result(result);
    }
}

void WatchSession::note_result(const GradeResult& result) {
    if (!state_.notice.outlives_result) state_.notice = {};
    state_.result = result;
    state_.shows_details = false;
    state_.hints_are_latest = false;
    if (state_.has_passed() || result.is_untouched) return;
    const std::string name = state_.exercise->name;
    if (result.outcome == Outcome::passed) {
        change_progress([name](Progress& progress) {
            std::string& passed = progress.exercises[name].passed;
            if (passed.empty()) passed = today();
        });
    } else if (result.outcome == Outcome::failed || result.outcome == Outcome::never_ended) {
        change_progress([name](Progress& progress) {
            ExerciseProgress& exercise = progress.exercises[name];
            if (exercise.passed.empty()) ++exercise.attempts;
        });
    }
}

/// Failures are no attempts here: most exercises may not even be begun.
void WatchSession::note_graded(const GradeResult& result) {
    const Exercise& exercise = *state_.exercises()[state_.graded.size()];
    const bool had_passed = state_.progress.has_passed(exercise.name);
    state_.graded.push_back({&exercise, result.outcome, result.build_seconds + result.grade_seconds, had_passed});
    if (result.outcome == Outcome::passed && !had_passed) {
        change_progress([name = exercise.name](Progress& progress) {
            std::string& passed = progress.exercises[name].passed;
            if (passed.empty()) passed = today();
        });
    }
    if (state_.graded.size() == state_.exercises().size()) state_.page = Page::graded_all;
}

void WatchSession::lesson_not_built(const std::string& output) {
    if (!finish_job()) return;
    state_.lesson_output = output;
    tell("The lesson could not be built: the compiler's messages are above.", true);
}

void WatchSession::page_shown(bool to_its_end) {
    if (finish_job()) state_.page_was_shown = to_its_end;
}

void WatchSession::lesson_ran(int status) {
    finish_job();
    state_.page = Page::lesson_ran;
    state_.lesson_status = status;
    if (state_.has_lesson_run()) mark_lesson();
}

}  // namespace guide
