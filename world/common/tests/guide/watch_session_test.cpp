#include "common/guide/watch_session.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/lesson/refusal.h"

using namespace guide;
using Catch::Matchers::ContainsSubstring;

namespace {

Exercise exercise(const std::string& chapter, const std::string& name, const std::string& title) {
    Exercise exercise;
    exercise.name = name;
    exercise.chapter = chapter;
    exercise.kind = "fill";
    exercise.title = title;
    exercise.folder = "/root/exercises/" + chapter + "/" + name;
    return exercise;
}

/// Two chapters, of a lesson with two exercises, and of a lesson with one.
std::vector<Chapter> chapters() {
    return {{1,
             "1_basics",
             "basics",
             "Basics",
             {{"hello", "Who computes which element"}},
             {exercise("1_basics", "index_and_guard", "Which element belongs to a thread"),
              exercise("1_basics", "grid_stride", "Any number of elements")}},
            {2,
             "2_memory",
             "memory",
             "Memory model",
             {{"tiles", "Shared memory"}},
             {exercise("2_memory", "tile", "A tile in GRÖSSE")}}};
}

std::vector<Station> way_through(const std::vector<Chapter>& chapters) {
    std::vector<Station> way;
    for (const Chapter& chapter : chapters) {
        for (const Station& station : stations_of(chapter)) way.push_back(station);
    }
    return way;
}

class FakeSurroundings : public Surroundings {
public:
    double time = 100;
    Progress progress;
    int updates = 0;
    bool refuses = false;
    std::string kept = "grid_stride.cu.before_reset";
    std::map<std::string, std::vector<std::string>> hint_texts;
    std::string answer_folder = "answers/";

    double now() override { return time; }
    Progress update(const std::function<void(Progress&)>& change) override {
        if (refuses) throw Refusal(".warpwise.json cannot be written");
        ++updates;
        change(progress);
        return progress;
    }
    std::string answer(const Exercise& exercise) override { return answer_folder + exercise.name + ".cu"; }
    std::string task(const Exercise& exercise) override {
        if (refuses) throw Refusal("README.md is missing");
        return "the task of " + exercise.name;
    }
    std::vector<std::string> hints(const Exercise& exercise) override {
        if (refuses) throw Refusal("hints.md is missing");
        const auto own = hint_texts.find(exercise.name);
        return own == hint_texts.end() ? std::vector<std::string>{"think", "look", "write"} : own->second;
    }
    Solution solution(const Exercise& exercise) override {
        if (refuses) throw Refusal("the solution is missing");
        return {"the solution of " + exercise.name, "-yours\n+its"};
    }
    std::string map(const Progress& progress) override {
        return "the map after " + std::to_string(progress.lessons.size()) + " lessons";
    }
    std::string reset(const Exercise&) override {
        if (refuses) throw Refusal("the file cannot be written");
        return kept;
    }
};

/// A session on the first exercise, whose lesson was run.
struct Desk {
    explicit Desk(const Progress& before = {}) {
        surroundings.progress = before;
        surroundings.progress.lessons["hello"].run = "2026-11-01";
        session.emplace(way_through(all), surroundings.progress, all[0].exercises[0], surroundings);
    }

    const WatchState& state() const { return session->state(); }
    ExerciseProgress marks(const std::string& name) { return surroundings.progress.exercises[name]; }
    void press(const std::u32string& keys) {
        for (const Key key : keys) session->press(key);
    }
    /// The next job is done, with this end.
    void grade(Outcome outcome) {
        const std::optional<Job> job = session->take_job();
        REQUIRE(job);
        REQUIRE(job->exercise != nullptr);
        session->graded({outcome, "what the grader says", 2, 1});
    }

    std::vector<Chapter> all = chapters();
    FakeSurroundings surroundings;
    std::optional<WatchSession> session;
};

Progress passed(const std::vector<std::string>& names) {
    Progress progress;
    for (const std::string& name : names) progress.exercises[name].passed = "2026-11-02";
    return progress;
}

Progress with_all_lessons(Progress progress) {
    for (const char* lesson : {"hello", "tiles"}) progress.lessons[lesson].run = "2026-11-01";
    return progress;
}

}  // namespace

// ---- grading ------------------------------------------------------------------------------------------------------

TEST_CASE("watch: an exercise is graded once when it is opened, and again at every save") {
    Desk desk;
    const std::optional<Job> first = desk.session->take_job();
    REQUIRE(first);
    CHECK(first->exercise == &desk.all[0].exercises[0]);
    CHECK_FALSE(desk.session->take_job());  // one at a time
    desk.session->graded({Outcome::failed, "wrong", 2, 1});
    REQUIRE(desk.state().result);
    CHECK(desk.state().result->text == "wrong");
    CHECK_FALSE(desk.session->take_job());
    desk.session->saved();
    CHECK_FALSE(desk.state().result);  // it was about something else
    CHECK(desk.session->take_job());
}

TEST_CASE("watch: each save may change which file is graded") {
    Desk desk;
    CHECK(desk.state().answer == "answers/index_and_guard.cu");
    desk.surroundings.answer_folder = "exercises/";
    desk.session->saved();
    CHECK(desk.state().answer == "exercises/index_and_guard.cu");
}

TEST_CASE("watch: a save while a job runs cancels it and starts anew, and the old result is dropped") {
    Desk desk;
    REQUIRE(desk.session->take_job());
    CHECK_FALSE(desk.session->is_job_unwanted());
    desk.session->saved();
    CHECK(desk.session->is_job_unwanted());
    desk.session->graded({Outcome::passed, "too late", 2, 1});  // it was done before the cancellation came
    CHECK_FALSE(desk.state().result);
    CHECK(desk.marks("index_and_guard").passed.empty());
    desk.grade(Outcome::failed);
    CHECK(desk.state().result);
}

TEST_CASE("watch: an answer that nobody has edited is no attempt") {
    Desk desk;
    REQUIRE(desk.session->take_job());
    GradeResult untouched{Outcome::failed, "the task", 2, 1};
    untouched.is_untouched = true;
    desk.session->graded(untouched);
    CHECK(desk.marks("index_and_guard").attempts == 0);
    CHECK(desk.state().result->is_untouched);
    desk.session->saved();
    desk.grade(Outcome::failed);
    CHECK(desk.marks("index_and_guard").attempts == 1);
}

TEST_CASE("watch: v shows all that there is, and less again") {
    Desk desk;
    desk.press(U"v");
    CHECK_THAT(desk.state().notice.text, ContainsSubstring("no more to show"));
    REQUIRE(desk.session->take_job());
    GradeResult result{Outcome::failed, "short", 2, 1};
    result.details = "long";
    desk.session->graded(result);
    CHECK_FALSE(desk.state().shows_details);
    desk.press(U"v");
    CHECK(desk.state().shows_details);
    desk.press(U"v");
    CHECK_FALSE(desk.state().shows_details);
    desk.press(U"v");
    desk.session->saved();
    REQUIRE(desk.session->take_job());
    desk.session->graded(result);
    CHECK_FALSE(desk.state().shows_details);  // the next verdict is short again
}

TEST_CASE("watch: counts graded failures before passing as attempts, but not builds that failed") {
    Desk desk;
    desk.grade(Outcome::build_failed);
    CHECK(desk.marks("index_and_guard").attempts == 0);
    for (const Outcome outcome : {Outcome::failed, Outcome::never_ended, Outcome::broken, Outcome::failed}) {
        desk.session->saved();
        desk.grade(outcome);
    }
    CHECK(desk.marks("index_and_guard").attempts == 3);
    desk.press(U"r");
    desk.grade(Outcome::passed);
    CHECK(desk.marks("index_and_guard").passed == today());
    desk.press(U"r");
    desk.grade(Outcome::failed);
    CHECK(desk.marks("index_and_guard").attempts == 3);
    CHECK(desk.marks("index_and_guard").passed == today());  // a mark once earned stays
}

TEST_CASE("watch: the date of the first pass stays") {
    Desk desk(passed({"index_and_guard"}));
    desk.grade(Outcome::passed);
    CHECK(desk.marks("index_and_guard").passed == "2026-11-02");
    CHECK(desk.surroundings.updates == 0);
}

TEST_CASE("watch: never goes on by itself") {
    Desk desk;
    desk.grade(Outcome::passed);
    CHECK(desk.state().exercise->name == "index_and_guard");
    CHECK_FALSE(desk.session->take_job());
}

TEST_CASE("watch: the timer starts anew when the build is done") {
    Desk desk;
    REQUIRE(desk.session->take_job());
    desk.surroundings.time += 7;
    desk.session->built(3, 12);
    CHECK(desk.state().work.seconds == 7);
    CHECK_FALSE(desk.state().work.is_built());
    desk.session->built(12, 12);
    CHECK(desk.state().work.is_built());
    CHECK(desk.state().work.seconds == 0);
    desk.surroundings.time += 2;
    desk.session->built(12, 12);  // said twice
    CHECK(desk.state().work.seconds == 2);
}

TEST_CASE("watch: marks that cannot be written count until the end, and the learner is told") {
    Desk desk;
    desk.surroundings.refuses = true;
    desk.grade(Outcome::passed);
    CHECK(desk.state().has_passed());
    CHECK_THAT(desk.state().notice.text, ContainsSubstring("cannot be written"));
    CHECK(desk.state().notice.is_bad);
    desk.press(U"n");
    CHECK(desk.state().exercise->name == "grid_stride");
}

// ---- going on -----------------------------------------------------------------------------------------------------

TEST_CASE("watch: n asks before it leaves an exercise that has not passed") {
    Desk desk;
    desk.grade(Outcome::failed);
    desk.press(U"n");
    CHECK(desk.state().question == Question::skip);
    desk.press(U"n");
    CHECK(desk.state().question == Question::none);
    CHECK(desk.state().exercise->name == "index_and_guard");
    CHECK(desk.surroundings.progress.skipped.empty());
    desk.press(U"r");
    desk.grade(Outcome::passed);
    CHECK(desk.state().notice.text.empty());
    desk.press(U"n");
    CHECK(desk.state().exercise->name == "grid_stride");
    const std::optional<Job> job = desk.session->take_job();
    REQUIRE(job);
    CHECK(job->exercise->name == "grid_stride");
}

TEST_CASE("watch: capital letters are keys, too") {
    Desk desk(passed({"index_and_guard"}));
    desk.press(U"N");
    CHECK(desk.state().exercise->name == "grid_stride");
}

TEST_CASE("watch: n passes over what is done, and comes back to what was left out") {
    Desk desk(with_all_lessons(passed({"index_and_guard", "grid_stride", "tile"})));
    CHECK_FALSE(next_undone(desk.state()));
    Desk left_out(with_all_lessons(passed({"tile"})));
    left_out.press(U"l");
    left_out.session->press(key::end);
    left_out.session->press(key::enter);
    REQUIRE(left_out.state().exercise->name == "tile");
    left_out.press(U"n");
    CHECK(left_out.state().exercise->name == "index_and_guard");
}

TEST_CASE("watch: what was skipped comes again when all else is done") {
    Desk desk;
    desk.press(U"ny");
    CHECK(desk.state().exercise->name == "grid_stride");
    CHECK(desk.surroundings.progress.skipped.count("exercise/index_and_guard") == 1);
    desk.press(U"ny");
    REQUIRE(desk.state().page == Page::lesson);
    desk.press(U"n");
    CHECK(desk.surroundings.progress.skipped.count("lesson/tiles") == 1);
    CHECK_FALSE(desk.surroundings.progress.has_run("tiles"));
    CHECK(desk.state().exercise->name == "tile");
    desk.press(U"ny");
    CHECK(desk.state().exercise->name == "index_and_guard");
}

TEST_CASE("watch: the only exercise that is left cannot be skipped") {
    Desk desk(with_all_lessons(passed({"grid_stride", "tile"})));
    desk.press(U"ny");
    CHECK(desk.state().exercise->name == "index_and_guard");
    CHECK_THAT(desk.state().notice.text, ContainsSubstring("Nothing else is left"));
}

TEST_CASE("watch: b goes back through lessons and exercises, and n returns to what is not done") {
    Desk desk(passed({"index_and_guard"}));
    desk.press(U"n");
    REQUIRE(desk.state().exercise->name == "grid_stride");
    desk.press(U"b");
    CHECK(desk.state().exercise->name == "index_and_guard");
    desk.press(U"b");
    CHECK(desk.state().page == Page::lesson);
    CHECK(desk.state().stop.lesson == &desk.all[0].lessons[0]);
    desk.press(U"b");
    CHECK(desk.state().page == Page::lesson);
    CHECK_THAT(desk.state().notice.text, ContainsSubstring("first stop"));
    desk.press(U"n");
    CHECK(desk.state().exercise->name == "grid_stride");
    CHECK(desk.surroundings.progress.skipped.empty());  // the lesson was run before
}

TEST_CASE("watch: marks from another terminal are shown, also on a map that is on the screen") {
    Desk desk;
    desk.press(U"m");
    Progress progress = desk.surroundings.progress;
    progress.lessons["tiles"].run = "2026-11-03";
    progress.exercises["index_and_guard"].passed = "2026-11-03";
    desk.session->marks_read(progress);
    CHECK(desk.state().map == "the map after 2 lessons");
    CHECK(desk.state().has_passed());
    CHECK(desk.state().page == Page::map);
}

TEST_CASE("watch: a mark that could not be written outlives what is read from the file") {
    Desk desk;
    desk.surroundings.refuses = true;
    desk.grade(Outcome::passed);
    desk.session->marks_read(desk.surroundings.progress);
    CHECK(desk.state().has_passed());
}

TEST_CASE("watch: m shows the map, and any key to read on leaves it") {
    Desk desk;
    desk.press(U"m");
    CHECK(desk.state().page == Page::map);
    CHECK(desk.state().map == "the map after 1 lessons");
    desk.press(U"m");
    CHECK(desk.state().page == Page::exercise);
}

TEST_CASE("watch: a page of the book is read before what follows it") {
    Desk desk(passed({"index_and_guard"}));
    desk.all[0].pages = {{"execution_model", "warps"}};
    desk.all[0].path = {{StopKind::lesson, 0}, {StopKind::exercise, 0}, {StopKind::page, 0}, {StopKind::exercise, 1}};
    WatchSession session(way_through(desk.all), desk.surroundings.progress, desk.all[0].exercises[0],
                         desk.surroundings);
    session.press(U'n');
    REQUIRE(session.state().page == Page::background);
    CHECK(session.state().stop.name() == "execution_model");
    REQUIRE(session.take_job());  // the exercise's grading, which was still to come
    session.press(key::enter);
    CHECK(session.is_job_unwanted());
    session.graded({Outcome::cancelled, "", 0, 0});
    const std::optional<Job> job = session.take_job();
    REQUIRE(job);
    CHECK(job->lesson.page == &desk.all[0].pages[0]);
    SECTION("Enter shows it again while it was not read to its end") {
        session.page_shown(false);
        REQUIRE(session.state().page == Page::background);
        CHECK(desk.surroundings.progress.pages.empty());
        session.press(key::enter);
        (void)session.take_job();
    }
    session.page_shown(true);
    CHECK(session.state().page == Page::background);
    session.press(key::enter);
    CHECK(desk.surroundings.progress.pages.count("execution_model") == 1);
    CHECK(session.state().exercise->name == "grid_stride");
    session.press(U'b');
    CHECK(session.state().page == Page::background);
    session.press(key::escape);
    CHECK(session.state().page == Page::exercise);
}

TEST_CASE("watch: after a chapter's exercises comes the next chapter's lesson, which Enter runs") {
    Desk desk(passed({"index_and_guard", "grid_stride"}));
    desk.press(U"n");
    REQUIRE(desk.state().page == Page::lesson);
    CHECK(desk.state().stop.lesson == &desk.all[1].lessons[0]);
    REQUIRE(desk.session->take_job());  // the exercise's own grading, which was still to come
    desk.session->press(key::enter);
    CHECK(desk.session->is_job_unwanted());
    desk.session->graded({Outcome::cancelled, "", 0, 0});
    const std::optional<Job> job = desk.session->take_job();
    REQUIRE(job);
    CHECK(job->lesson.lesson == &desk.all[1].lessons[0]);
    desk.session->press(key::enter);  // once is enough
    desk.session->lesson_ran(0);
    CHECK(desk.state().page == Page::lesson_ran);
    CHECK(desk.surroundings.progress.lessons["tiles"].run == today());
    CHECK(desk.surroundings.progress.chapters["2_memory"] == today());
    desk.session->press(key::enter);
    CHECK(desk.state().page == Page::exercise);
    CHECK(desk.state().exercise->name == "tile");
}

TEST_CASE("watch: a lesson that was run can be run again at once") {
    Desk desk(passed({"index_and_guard", "grid_stride"}));
    desk.grade(Outcome::passed);
    desk.press(U"n\n");
    REQUIRE(desk.session->take_job());
    desk.session->lesson_ran(0);
    desk.press(U"r");
    const std::optional<Job> job = desk.session->take_job();
    REQUIRE(job);
    CHECK(job->lesson.name() == "tiles");
}

TEST_CASE("watch: a lesson that was stopped is not marked, and can be run again or left out") {
    Desk desk(passed({"index_and_guard", "grid_stride"}));
    desk.grade(Outcome::passed);
    desk.press(U"n");
    desk.session->press(key::enter);
    REQUIRE(desk.session->take_job());
    desk.session->lesson_ran(130);
    CHECK_FALSE(desk.surroundings.progress.has_run("tiles"));
    desk.session->press(key::enter);
    CHECK(desk.state().page == Page::lesson);
    CHECK_FALSE(desk.session->take_job());
    desk.press(U"n");
    CHECK_FALSE(desk.surroundings.progress.has_run("tiles"));
    CHECK(desk.state().exercise->name == "tile");
}

TEST_CASE("watch: a lesson that found something wrong was run all the same") {
    Desk desk(passed({"index_and_guard", "grid_stride"}));
    desk.grade(Outcome::passed);
    desk.press(U"n\n");
    REQUIRE(desk.session->take_job());
    desk.session->lesson_ran(1);
    CHECK(desk.surroundings.progress.has_run("tiles"));
}

TEST_CASE("watch: a lesson that cannot be built says why, and stays") {
    Desk desk(passed({"index_and_guard", "grid_stride"}));
    desk.grade(Outcome::passed);
    desk.press(U"n\n");
    REQUIRE(desk.session->take_job());
    desk.session->lesson_not_built("error: expected ';'");
    CHECK(desk.state().page == Page::lesson);
    CHECK(desk.state().lesson_output == "error: expected ';'");
    CHECK(desk.state().notice.is_bad);
    desk.session->press(key::enter);
    CHECK(desk.state().lesson_output.empty());
    CHECK(desk.session->take_job()->lesson.name() == "tiles");
}

TEST_CASE("watch: Esc stops a lesson's build, then leads back to the exercise") {
    Desk desk(passed({"index_and_guard", "grid_stride"}));
    desk.grade(Outcome::passed);
    desk.press(U"n\n");
    REQUIRE(desk.session->take_job());
    desk.session->saved();
    CHECK_FALSE(desk.session->is_job_unwanted());  // a save does not stop it
    desk.session->press(key::escape);
    CHECK(desk.session->is_job_unwanted());
    desk.session->lesson_not_built("");
    CHECK(desk.state().page == Page::lesson);
    CHECK(desk.state().notice.text.empty());
    desk.session->press(key::escape);
    CHECK(desk.state().page == Page::exercise);
}

TEST_CASE("watch: leaving a lesson's page stops its build") {
    Desk desk(passed({"index_and_guard", "grid_stride"}));
    desk.grade(Outcome::passed);
    desk.press(U"n\n");
    REQUIRE(desk.session->take_job());
    desk.press(U"l");
    CHECK(desk.session->is_job_unwanted());
    Desk waiting(passed({"index_and_guard", "grid_stride"}));
    waiting.grade(Outcome::passed);
    waiting.press(U"n\nl");
    CHECK_FALSE(waiting.session->take_job());
}

TEST_CASE("watch: when all is done n leads to the closing page, and Esc back") {
    Desk desk(with_all_lessons(passed({"grid_stride", "tile"})));
    desk.grade(Outcome::passed);
    desk.press(U"n");
    CHECK(desk.state().page == Page::closing);
    desk.press(U"n");
    CHECK(desk.state().page == Page::closing);
    desk.session->press(key::escape);
    CHECK(desk.state().page == Page::exercise);
}

// ---- hints, task, solution, reset ---------------------------------------------------------------------------------

TEST_CASE("watch: hints come one at a time, and the most that were shown are kept") {
    Desk desk;
    desk.press(U"h");
    CHECK(desk.state().hints_visible == 1);
    CHECK(desk.marks("index_and_guard").hints == 1);
    desk.press(U"hh");
    CHECK(desk.state().hints_visible == 3);
    CHECK(desk.marks("index_and_guard").hints == 3);
    desk.press(U"h");
    CHECK(desk.state().hints_visible == 3);
    CHECK_THAT(desk.state().notice.text, ContainsSubstring("all 3 hints"));
}

TEST_CASE("watch: hints of earlier days come back together and count once") {
    Progress before;
    before.exercises["index_and_guard"].hints = 2;
    Desk desk(before);
    CHECK(desk.state().hints_visible == 0);
    CHECK(desk.state().hints_seen() == 2);
    desk.press(U"h");
    CHECK(desk.state().hints_visible == 2);
    CHECK(desk.surroundings.updates == 0);
    desk.press(U"h");
    CHECK(desk.state().hints_visible == 3);
    CHECK(desk.marks("index_and_guard").hints == 3);
}

TEST_CASE("watch: more hints marked than there are is no harm") {
    Progress before;
    before.exercises["index_and_guard"].hints = 30;
    Desk desk(before);
    desk.press(U"hh");
    CHECK(desk.state().hints_visible == 3);
    CHECK(desk.marks("index_and_guard").hints == 30);
}

TEST_CASE("watch: hints that cannot be read are explained when they are asked for") {
    Desk desk;
    desk.surroundings.refuses = true;
    desk.session.emplace(way_through(desk.all), Progress{}, desk.all[0].exercises[0], desk.surroundings);
    CHECK(desk.state().notice.text.empty());
    desk.press(U"h");
    CHECK(desk.state().notice.text == "hints.md is missing");
    desk.surroundings.refuses = false;
    desk.surroundings.hint_texts["index_and_guard"] = {};
    desk.press(U"h");
    CHECK_THAT(desk.state().notice.text, ContainsSubstring("no hints"));
}

TEST_CASE("watch: what came last, result or hint, stands last") {
    Desk desk;
    desk.grade(Outcome::failed);
    desk.press(U"h");
    CHECK(desk.state().hints_are_latest);
    desk.session->saved();
    desk.grade(Outcome::failed);
    CHECK_FALSE(desk.state().hints_are_latest);
    CHECK(desk.state().hints_visible == 1);
}

TEST_CASE("watch: the solution is shown at once after passing, without a mark") {
    Desk desk;
    desk.grade(Outcome::passed);
    desk.press(U"s");
    CHECK(desk.state().page == Page::solution);
    CHECK(desk.state().solution.text == "the solution of index_and_guard");
    CHECK_FALSE(desk.marks("index_and_guard").solution_seen);
    desk.press(U"s");
    CHECK(desk.state().page == Page::exercise);
}

TEST_CASE("watch: before passing the solution needs a yes, and is noted") {
    Desk desk;
    desk.press(U"s");
    CHECK(desk.state().question == Question::solution);
    desk.press(U"n");
    CHECK(desk.state().page == Page::exercise);
    CHECK(desk.state().question == Question::none);
    CHECK_FALSE(desk.marks("index_and_guard").solution_seen);
    desk.press(U"sy");
    CHECK(desk.state().page == Page::solution);
    CHECK(desk.marks("index_and_guard").solution_seen);
    const int updates = desk.surroundings.updates;
    desk.session->press(key::escape);
    desk.press(U"sY");
    CHECK(desk.surroundings.updates == updates);
}

TEST_CASE("watch: a solution that cannot be shown is not noted as seen") {
    Desk desk;
    desk.surroundings.refuses = true;
    desk.press(U"sy");
    CHECK(desk.state().page == Page::exercise);
    CHECK(desk.state().notice.text == "the solution is missing");
    desk.surroundings.refuses = false;
    CHECK_FALSE(desk.marks("index_and_guard").solution_seen);
}

TEST_CASE("watch: reset asks first, then says where the old answer is and grades anew") {
    Desk desk;
    desk.session->saved();
    desk.grade(Outcome::failed);
    desk.press(U"x");
    CHECK(desk.state().question == Question::reset);
    desk.press(U"k");
    CHECK_THAT(desk.state().notice.text, ContainsSubstring("left as it is"));
    CHECK_FALSE(desk.session->take_job());
    desk.press(U"xy");
    CHECK_THAT(desk.state().notice.text, ContainsSubstring("kept in grid_stride.cu.before_reset"));
    CHECK_FALSE(desk.state().was_saved);
    desk.session->saved();  // the watcher has noticed it
    desk.grade(Outcome::failed);
    CHECK_THAT(desk.state().notice.text, ContainsSubstring("grid_stride.cu.before_reset"));  // until a key
}

TEST_CASE("watch: resetting what was not changed says so, and grades nothing") {
    Desk desk;
    desk.grade(Outcome::failed);
    desk.surroundings.kept = "";
    desk.press(U"xy");
    CHECK_THAT(desk.state().notice.text, ContainsSubstring("nothing to reset"));
    CHECK_FALSE(desk.session->take_job());
    desk.surroundings.refuses = true;
    desk.press(U"xy");
    CHECK(desk.state().notice.text == "the file cannot be written");
}

TEST_CASE("watch: a page is left by its own key, Esc, or Enter; other keys do what they always do") {
    Desk desk;
    for (const Key leaving : {Key{U't'}, key::escape, key::enter, Key{U' '}}) {
        desk.press(U"t");
        CHECK(desk.state().page == Page::task);
        CHECK(desk.state().task == "the task of index_and_guard");
        desk.session->press(leaving);
        CHECK(desk.state().page == Page::exercise);
    }
    desk.press(U"?t");
    CHECK(desk.state().page == Page::task);
    desk.session->press(key::down);
    CHECK(desk.state().page == Page::task);
    desk.press(U"h");
    CHECK(desk.state().page == Page::exercise);
    CHECK(desk.state().hints_visible == 1);
}

TEST_CASE("watch: a save leads back from a text to the exercise") {
    Desk desk;
    desk.grade(Outcome::failed);
    desk.press(U"t");
    desk.session->saved();
    CHECK(desk.state().page == Page::exercise);
}

// ---- the list -----------------------------------------------------------------------------------------------------

TEST_CASE("watch: the list opens on the current exercise and stays within its ends") {
    Desk desk(passed({"index_and_guard"}));
    desk.press(U"nl");
    REQUIRE(desk.state().page == Page::list);
    CHECK(desk.state().selected == 1);
    desk.session->press(key::down);
    desk.session->press(key::down);
    CHECK(desk.state().selected == 2);
    desk.session->press(key::home);
    desk.session->press(key::up);
    CHECK(desk.state().selected == 0);
    desk.session->set_list_lines(2);
    desk.session->press(key::page_down);
    CHECK(desk.state().selected == 2);
    desk.session->press(key::page_up);
    desk.session->press(key::page_up);
    CHECK(desk.state().selected == 0);
    desk.session->set_list_lines(0);  // no window is too low
    desk.session->press(key::page_down);
    CHECK(desk.state().selected == 1);
}

TEST_CASE("watch: letters in the list search name, title and chapter, all words in any case") {
    Desk desk;
    const auto found = [&] {
        std::vector<std::string> names;
        for (const Exercise* exercise : matches(desk.state())) names.push_back(exercise->name);
        return names;
    };
    desk.press(U"l");
    CHECK(found().size() == 3);
    desk.press(U"ELEMENT");
    CHECK(found() == std::vector<std::string>{"index_and_guard", "grid_stride"});
    desk.press(U" any");
    CHECK(found() == std::vector<std::string>{"grid_stride"});
    for (int i = 0; i < 20; ++i) desk.session->press(key::backspace);
    CHECK(desk.state().filter.empty());
    desk.press(U"memory");
    CHECK(found() == std::vector<std::string>{"tile"});
    desk.press(U"qq");  // letters, not commands
    CHECK(found().empty());
    CHECK_FALSE(desk.session->ended());
    desk.session->press(key::enter);
    CHECK(desk.state().page == Page::list);
    desk.session->press(key::down);
    CHECK(desk.state().selected == 0);
}

TEST_CASE("watch: characters beyond ASCII can be searched for, and taken away whole") {
    Desk desk;
    desk.press(U"lgrÖ");
    REQUIRE(matches(desk.state()).size() == 1);
    CHECK(matches(desk.state())[0]->name == "tile");
    desk.session->press(key::backspace);
    CHECK(desk.state().filter == "gr");
    desk.press(U"数😀");
    CHECK(desk.state().filter == "gr数😀");
    desk.session->press(key::backspace);
    CHECK(desk.state().filter == "gr数");
}

TEST_CASE("watch: the selected exercise stays selected while the search leaves it in") {
    Desk desk;
    desk.press(U"l");
    desk.session->press(key::down);
    desk.press(U"any");
    CHECK(matches(desk.state())[desk.state().selected]->name == "grid_stride");
    for (int i = 0; i < 3; ++i) desk.session->press(key::backspace);
    CHECK(desk.state().selected == 1);
}

TEST_CASE("watch: Enter in the list opens another exercise; the current one goes on as it was") {
    Desk desk;
    REQUIRE(desk.session->take_job());
    desk.press(U"l\n");
    CHECK(desk.state().page == Page::exercise);
    CHECK_FALSE(desk.session->is_job_unwanted());
    desk.press(U"ltile\n");
    CHECK(desk.state().exercise->name == "tile");
    CHECK(desk.session->is_job_unwanted());
    desk.session->graded({Outcome::failed, "of the other one", 0, 0});
    CHECK(desk.marks("index_and_guard").attempts == 0);
    CHECK(desk.session->take_job()->exercise->name == "tile");
}

TEST_CASE("watch: a save while the list is open is graded without closing it") {
    Desk desk;
    desk.grade(Outcome::failed);
    desk.press(U"l");
    desk.session->saved();
    CHECK(desk.state().page == Page::list);
    desk.grade(Outcome::passed);
    CHECK(desk.state().page == Page::list);
    CHECK(desk.state().has_passed());
}

// ---- grading all -------------------------------------------------------------------------------------------------

TEST_CASE("watch: g grades all exercises in their order and says which earlier ones fail now") {
    Desk desk(passed({"grid_stride"}));
    desk.grade(Outcome::failed);
    desk.press(U"g");
    desk.grade(Outcome::passed);
    desk.grade(Outcome::build_failed);
    CHECK(desk.state().page == Page::grading_all);
    desk.grade(Outcome::failed);
    REQUIRE(desk.state().page == Page::graded_all);
    REQUIRE(desk.state().graded.size() == 3);
    CHECK_FALSE(desk.state().graded[0].had_passed);
    CHECK(desk.state().graded[1].had_passed);
    CHECK(desk.state().graded[1].outcome == Outcome::build_failed);
    CHECK(desk.state().graded[2].exercise->name == "tile");
    CHECK(desk.state().graded[2].seconds == 3);
    CHECK(desk.marks("index_and_guard").passed == today());
    CHECK(desk.marks("grid_stride").passed == "2026-11-02");  // the mark stays
    CHECK(desk.marks("tile").attempts == 0);                  // it may not even be begun
    CHECK_FALSE(desk.session->take_job());
}

TEST_CASE("watch: any key stops grading all, and what was graded is shown") {
    for (const Key stopping : {Key{U'g'}, key::interrupt, key::down}) {
        Desk desk;
        desk.grade(Outcome::failed);
        desk.press(U"g");
        desk.grade(Outcome::failed);
        REQUIRE(desk.session->take_job());
        desk.session->press(stopping);
        CHECK(desk.session->is_job_unwanted());
        CHECK_FALSE(desk.session->ended());
        desk.session->graded({Outcome::passed, "", 0, 0});
        CHECK(desk.state().page == Page::graded_all);
        CHECK(desk.state().grading_was_cancelled);
        CHECK(desk.state().graded.size() == 1);
        CHECK(desk.marks("grid_stride").passed.empty());
    }
}

TEST_CASE("watch: grading all that was stopped can be begun anew at once") {
    Desk desk;
    desk.grade(Outcome::failed);
    desk.press(U"g");
    REQUIRE(desk.session->take_job());
    desk.press(U"ac");
    CHECK(desk.session->is_job_unwanted());  // the old one is still ending
    desk.session->graded({Outcome::cancelled, "", 0, 0});
    desk.grade(Outcome::failed);
    CHECK(desk.state().graded.size() == 1);
    CHECK_FALSE(desk.state().grading_was_cancelled);
}

TEST_CASE("watch: a grading that grading all has pushed aside is made up for") {
    Desk desk;
    REQUIRE(desk.session->take_job());
    desk.press(U"g");
    CHECK(desk.session->is_job_unwanted());
    desk.session->graded({Outcome::cancelled, "", 0, 0});
    for (int i = 0; i < 3; ++i) desk.grade(Outcome::failed);
    desk.session->press(key::escape);
    CHECK(desk.state().page == Page::exercise);
    desk.grade(Outcome::failed);
    CHECK(desk.state().result);
    CHECK(desk.marks("index_and_guard").attempts == 1);
}

TEST_CASE("watch: a save during grading all is graded after it") {
    Desk desk;
    desk.grade(Outcome::failed);
    desk.press(U"g");
    REQUIRE(desk.session->take_job());
    desk.session->saved();
    CHECK_FALSE(desk.session->is_job_unwanted());
    desk.session->graded({Outcome::failed, "", 0, 0});
    desk.grade(Outcome::failed);
    desk.grade(Outcome::failed);
    CHECK(desk.state().page == Page::graded_all);
    CHECK(desk.session->take_job()->exercise->name == "index_and_guard");
}

// ---- leaving ------------------------------------------------------------------------------------------------------

TEST_CASE("watch: q ends with 0, Ctrl-C with 130, a closed input with 0, whatever is shown") {
    for (const std::u32string before : {U"", U"t", U"?", U"x", U"s", U"h"}) {
        Desk desk;
        REQUIRE(desk.session->take_job());
        desk.press(before + U"q");
        CHECK(desk.session->ended() == 0);
        CHECK(desk.session->is_job_unwanted());
        CHECK_FALSE(desk.session->take_job());
    }
    for (const std::u32string before : {U"", U"l", U"x"}) {
        Desk interrupted;
        interrupted.press(before);
        interrupted.session->press(key::interrupt);
        CHECK(interrupted.session->ended() == 130);
        Desk closed;
        closed.press(before);
        closed.session->press(key::closed);
        CHECK(closed.session->ended() == 0);
    }
    Desk grading;
    grading.grade(Outcome::failed);
    grading.press(U"g");
    REQUIRE(grading.session->take_job());
    grading.session->press(key::closed);
    CHECK(grading.session->ended() == 0);
    CHECK(grading.session->is_job_unwanted());
}

TEST_CASE("watch: a result that comes after q changes no marks") {
    Desk desk;
    REQUIRE(desk.session->take_job());
    desk.press(U"q");
    desk.session->graded({Outcome::passed, "", 0, 0});
    CHECK(desk.marks("index_and_guard").passed.empty());
}

TEST_CASE("watch: a resize or nothing at all is no key") {
    Desk desk;
    desk.session->tell("a message");
    desk.session->press(key::resized);
    desk.session->press(key::none);
    CHECK(desk.state().notice.text == "a message");
    desk.session->press(key::down);
    CHECK(desk.state().notice.text.empty());
}
