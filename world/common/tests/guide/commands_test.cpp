// The commands with tools that only note what they were asked for, and the guide's own program where it was built.

#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "common/guide/commands.h"
#include "common/helpers/json.h"
#include "common/lesson/refusal.h"

using namespace guide;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
}

std::string read(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

bool holds(const Words& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

std::string after(const Words& words, const std::string& word) {
    const auto found = std::find(words.begin(), words.end(), word);
    return found == words.end() || found + 1 == words.end() ? "" : *(found + 1);
}

/// What is printed to a stream while it lives.
class Redirection {
public:
    explicit Redirection(std::FILE* stream) : stream_(stream), file_(std::tmpfile()) {
        std::fflush(stream_);
        saved_ = dup(fileno(stream_));
        dup2(fileno(file_), fileno(stream_));
    }
    ~Redirection() {
        std::fflush(stream_);
        dup2(saved_, fileno(stream_));
        close(saved_);
        std::fclose(file_);
    }
    Redirection(const Redirection&) = delete;
    Redirection& operator=(const Redirection&) = delete;

    std::string text() {
        std::fflush(stream_);
        std::string result;
        std::rewind(file_);
        for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) result += static_cast<char>(c);
        return result;
    }

private:
    std::FILE* stream_;
    std::FILE* file_;
    int saved_ = -1;
};

/// A copy of Warpwise with two chapters and three exercises, in a temporary folder.
class Place {
public:
    Place() {
        std::string name = (fs::temp_directory_path() / "commands_test_XXXXXX").string();
        project.root = mkdtemp(name.data());
        project.caller = project.root / "here";
        fs::create_directories(project.caller);
        write(project.root / "warpwise", "#!/bin/sh\n");
        write(project.build_folder() / "catalog.json", R"({"warpwise_catalog": 1, "chapters": [
            {"folder": "1_basics_and_pi", "program": "basics_and_pi", "lessons": ["vector_add", "matrix_add", "pi"],
             "exercises": [{"name": "grid_stride", "kind": "fill"}, {"name": "block_sum", "kind": "fix"}],
             "path": [{"kind": "lesson", "name": "vector_add", "idea": "loops", "about": "the five moves"},
                      {"kind": "exercise", "name": "grid_stride", "idea": "loops"},
                      {"kind": "lesson", "name": "matrix_add", "idea": "mapping"},
                      {"kind": "lesson", "name": "pi", "idea": "sums"},
                      {"kind": "exercise", "name": "block_sum", "idea": "sums"}]},
            {"folder": "2_memory", "program": "memory", "lessons": ["transpose"],
             "exercises": [{"name": "padding", "kind": "speed"}]}]})");
        for (const char* path : {"1_basics_and_pi/grid_stride", "1_basics_and_pi/block_sum", "2_memory/padding"}) {
            const fs::path folder = project.root / "exercises" / path;
            const std::string name_of_exercise = folder.filename().string();
            const std::string stub = "// Exercise: all of " + name_of_exercise +
                                     ". See README.md beside this file.\nint answer() { return 0; }\n";
            write(folder / (name_of_exercise + ".cu"), stub);
            write(folder / "README.md", "# The task\n\nDo " + name_of_exercise + ".\n");
            write(folder / "hints.md", "# Hints\n\n## Hint 1\n\nLook.\n\n## Hint 2\n\nLook closer.\n");
            write(project.root / "solutions" / path / (name_of_exercise + ".cu"), "int answer() { return 42; }\n");
        }
    }
    ~Place() { fs::remove_all(project.root); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    fs::path answer(const std::string& name) const {
        return project.root / "answers" / "1_basics_and_pi" / name / (name + ".cu");
    }

    Project project;
};

/// A session whose tools do nothing but note what they are asked for, and answer what the test says.
class Fake {
public:
    explicit Fake(bool interactive = false) : interactive_(interactive) {}

    struct Result {
        int status = -1;
        std::string out;
        std::string err;
        std::string refusal;
    };

    /// Each time with a new session, as each command has one.
    Result run(const std::function<int(Session&)>& command) {
        Session session(place.project, tools(), {}, interactive_);
        Redirection out(stdout);
        Redirection err(stderr);
        Result result;
        try {
            result.status = command(session);
        } catch (const Refusal& refusal) {
            result.refusal = refusal.what();
        }
        result.out = out.text();
        result.err = err.text();
        return result;
    }

    Progress progress() { return ProgressFile(place.project.progress_file(), Catalog::load(place.project)).read(); }
    void change(const std::function<void(Progress&)>& change) {
        ProgressFile(place.project.progress_file(), Catalog::load(place.project)).update(change);
    }
    void pass(const std::string& exercise, const std::string& date = "2026-01-02") {
        change([&](Progress& progress) { progress.exercises[exercise].passed = date; });
    }

    Place place;

    // What the tools answer.
    bool build_succeeds = true;
    bool build_is_cancelled = false;
    std::function<Outcome(const std::string& exercise)> outcome = [](const std::string&) { return Outcome::passed; };
    int program_status = 0;
    int watch_status = 0;
    std::vector<Key> keys;  ///< pressed one after another
    Words lines;            ///< typed one after another
    std::string date = today();

    // What they were asked for.
    std::vector<Words> built;
    std::vector<Words> programs;
    std::vector<CommandOptions> program_options;
    Words graded;
    Words watched;
    Words questions;
    std::function<void(GradeResult&, const GradeOptions&)> on_grade = [](GradeResult&, const GradeOptions&) {};
    std::function<void(const Words&)> on_program = [](const Words&) {};

private:
    Tools tools() {
        return {.build =
                    [this](const Words& targets, const std::function<void(int, int)>& progress) {
                        built.push_back(targets);
                        if (progress) progress(1, 2);
                        BuildResult result;
                        result.succeeded = build_succeeds && !build_is_cancelled;
                        result.cancelled = build_is_cancelled;
                        if (!build_succeeds) result.output = "pi.cu:3: error: expected ';'\n";
                        return result;
                    },
                .grade =
                    [this](const Exercise& exercise, const GradeOptions& options) {
                        graded.push_back(exercise.name);
                        if (options.on_build) options.on_build(1, 2);
                        GradeResult result{outcome(exercise.name), "the grader's words on " + exercise.name, 1.5, 0.25};
                        on_grade(result, options);
                        return result;
                    },
                .run =
                    [this](const Words& arguments, const CommandOptions& options) {
                        programs.push_back(arguments);
                        program_options.push_back(options);
                        on_program(arguments);
                        CommandResult result;
                        result.status = program_status;
                        return result;
                    },
                .watch =
                    [this](const Catalog&, ProgressFile&, const Exercise& first) {
                        watched.push_back(first.name);
                        return watch_status;
                    },
                .ask =
                    [this](const std::string& question, const std::vector<Key>&) {
                        questions.push_back(question);
                        if (keys.empty()) return key::closed;
                        const Key pressed = keys.front();
                        keys.erase(keys.begin());
                        return pressed;
                    },
                .read_line = [this](const std::string& question) -> std::optional<std::string> {
                    questions.push_back(question);
                    if (lines.empty()) return std::nullopt;
                    const std::string line = lines.front();
                    lines.erase(lines.begin());
                    return line;
                },
                .today = [this] { return date; }};
    }

    bool interactive_;
};

Fake::Result run_words(Fake& fake, const Words& words) {
    return fake.run([&](Session& session) { return run_chapter(session, words); });
}

Fake::Result grade_words(Fake& fake, const GradeRequest& request) {
    return fake.run([&](Session& session) { return grade_exercise(session, request); });
}

}  // namespace

// ---- names of commands ---------------------------------------------------------------------------------------------

TEST_CASE("a command may be shortened as long as only one begins so") {
    const Words names = {"list", "run", "grade", "report", "reset", "completion"};
    CHECK(resolve_command("grade", names, "./warpwise") == "grade");
    CHECK(resolve_command("l", names, "./warpwise") == "list");
    CHECK(resolve_command("rep", names, "./warpwise") == "report");
    CHECK_THROWS_WITH(resolve_command("re", names, "./warpwise"), "'re' could be report or reset");
}

TEST_CASE("a command that others begin with is still itself") {
    CHECK(resolve_command("run", {"run", "runs"}, "./warpwise") == "run");
}

TEST_CASE("a misspelled command gets the nearest, a strange one the way to the help") {
    const Words names = {"list", "run", "grade", "report"};
    CHECK_THROWS_WITH(resolve_command("garde", names, "./warpwise"), ContainsSubstring("did you mean grade?"));
    CHECK_THROWS_WITH(resolve_command("frobnicate", names, "./warpwise"), ContainsSubstring("./warpwise --help"));
    CHECK_THROWS_AS(resolve_command("", names, "./warpwise"), Refusal);
}

// ---- list ----------------------------------------------------------------------------------------------------------

TEST_CASE("list shows the stops of the path with their marks, and what is next") {
    Fake fake;
    fake.pass("grid_stride");
    fake.change([](Progress& progress) {
        progress.exercises["block_sum"].attempts = 3;
        for (const char* lesson : {"vector_add", "matrix_add", "pi"}) progress.lessons[lesson].run = "2026-01-02";
        progress.chapters["1_basics_and_pi"] = "2026-01-02";
    });
    const auto listed = fake.run([](Session& session) { return list(session, {}); });
    CHECK(listed.status == 0);
    CHECK_THAT(listed.out, ContainsSubstring("1.1  vector_add   lesson  run               the five moves\n"
                                             "     grid_stride  fill    passed            all of grid_stride\n"));
    CHECK_THAT(listed.out, ContainsSubstring("1.3  pi"));
    CHECK_THAT(listed.out, ContainsSubstring("all of block_sum"));
    CHECK_THAT(listed.out, ContainsSubstring("next, 3 attempts"));
    CHECK_THAT(listed.out, ContainsSubstring("run on 2026-01-02"));
    CHECK_THAT(listed.out, ContainsSubstring("1 of 3 exercises passed. Next: exercise block_sum"));
}

TEST_CASE("list keeps to what has to do with a word, and lessons keep their numbers") {
    Fake fake;
    const auto listed = fake.run([](Session& session) { return list(session, {.word = "PI"}); });
    CHECK_THAT(listed.out, ContainsSubstring("Chapter 1"));  // whose folder holds the word: all of it
    CHECK_THAT(listed.out, ContainsSubstring("1.1  vector_add"));
    CHECK_THAT(listed.out, !ContainsSubstring("transpose"));
    const auto one = fake.run([](Session& session) { return list(session, {.word = "matrix"}); });
    CHECK_THAT(one.out, ContainsSubstring("1.2  matrix_add"));
    CHECK_THAT(one.out, !ContainsSubstring("1.1  vector_add"));
    CHECK_THAT(one.out, ContainsSubstring("mapping"));  // ideas are shown where the list is short
    const auto idea = fake.run([](Session& session) { return list(session, {.word = "sums"}); });
    CHECK_THAT(idea.out, ContainsSubstring("1.3  pi"));
    CHECK_THAT(idea.out, ContainsSubstring("block_sum"));
    CHECK_THAT(idea.out, !ContainsSubstring("grid_stride  "));
    const auto number = fake.run([](Session& session) { return list(session, {.word = "2"}); });
    CHECK_THAT(number.out, ContainsSubstring("transpose"));
    CHECK_THAT(number.out, !ContainsSubstring("Chapter 1"));
    const auto kind = fake.run([](Session& session) { return list(session, {.word = "fix"}); });
    CHECK_THAT(kind.out, ContainsSubstring("block_sum"));
    CHECK_THAT(kind.out, !ContainsSubstring("padding  "));
}

TEST_CASE("list refuses a word that nothing has to do with, and names what is near") {
    Fake fake;
    CHECK_THAT(fake.run([](Session& session) { return list(session, {.word = "grid_strode"}); }).refusal,
               ContainsSubstring("did you mean grid_stride?"));
}

TEST_CASE("list as JSON is all there is on standard output") {
    Fake fake;
    fake.pass("grid_stride");
    fake.change([](Progress& progress) { progress.lessons["vector_add"].run = "2026-01-02"; });
    const auto listed = fake.run([](Session& session) { return list(session, {.json = true}); });
    const Json json = warpwise::parse_json<Json>(listed.out);
    REQUIRE(json["chapters"].size() == 2);
    CHECK(json["chapters"][0]["lessons"][2]["name"] == "pi");
    CHECK(json["chapters"][0]["lessons"][2]["title"].is_null());
    CHECK(json["chapters"][0]["lessons"][0]["idea"] == "loops");
    CHECK(json["chapters"][0]["lessons"][0]["run"] == "2026-01-02");
    CHECK(json["chapters"][0]["path"][1] == Json{{"exercise", "grid_stride"}});
    CHECK(json["chapters"][0]["exercises"][0]["passed"] == "2026-01-02");
    CHECK(json["chapters"][0]["exercises"][1]["passed"].is_null());
    CHECK(json["chapters"][0]["exercises"][1]["answer"] == "answers/1_basics_and_pi/block_sum/block_sum.cu");
    CHECK(json["next"]["lesson"] == "matrix_add");
}

// ---- run -----------------------------------------------------------------------------------------------------------

TEST_CASE("a whole chapter is built, run with its results kept, and marked") {
    Fake fake;
    const auto ran = run_words(fake, {"basics"});
    CHECK(ran.status == 0);
    CHECK(fake.built == std::vector<Words>{{"basics_and_pi_programs"}});
    REQUIRE(fake.programs.size() == 1);
    const Words& command = fake.programs[0];
    CHECK(command[0] == fake.place.project.programs() / "basics_and_pi");
    CHECK(after(command, "--device") == "cpu");
    CHECK(after(command, "--json") == fake.place.project.results() / "1_basics_and_pi.json");
    CHECK(fs::is_directory(fake.place.project.results()));
    CHECK_FALSE(holds(command, "--pause"));
    CHECK(fake.program_options[0].owns_terminal);
    CHECK(fake.program_options[0].variables[0].second == "./warpwise run 1");
    CHECK(fake.progress().chapters["1_basics_and_pi"] == today());
    for (const char* lesson : {"vector_add", "matrix_add", "pi"}) CHECK(fake.progress().has_run(lesson));
}

TEST_CASE("a lesson is run by its name alone, and marked alone") {
    Fake fake;
    CHECK(run_words(fake, {"vector_add", "--size", "1Mi"}).status == 0);
    const Words& command = fake.programs[0];
    CHECK(fs::path(command[0]).filename() == "basics_and_pi");
    CHECK(Words(command.end() - 3, command.end()) == Words{"vector_add", "--size", "1Mi"});
    CHECK(fake.progress().lessons["vector_add"].run == today());
    CHECK_FALSE(fake.progress().has_run("pi"));
    CHECK(fake.progress().chapters.empty());
    run_words(fake, {"matrix", "pi"});
    CHECK(fake.progress().has_run("pi"));
    CHECK(fake.progress().chapters.count("1_basics_and_pi") == 1);  // with the last of its lessons
    run_words(fake, {"transpose"});
    CHECK(fs::path(fake.programs.back()[0]).filename() == "memory");
}

TEST_CASE("a chapter with a wrong step counts as run, and keeps its first date") {
    Fake fake;
    fake.program_status = 1;
    CHECK(run_words(fake, {"1"}).status == 1);
    CHECK(fake.progress().chapters["1_basics_and_pi"] == today());
    fake.change([](Progress& progress) { progress.chapters["1_basics_and_pi"] = "2020-01-01"; });
    run_words(fake, {"1"});
    CHECK(fake.progress().chapters["1_basics_and_pi"] == "2020-01-01");
}

TEST_CASE("a chapter that was refused, stopped or crashed is not marked, and leaves no empty results") {
    for (const int status : {2, 130, 139}) {
        Fake fake;
        fake.program_status = status;
        fake.on_program = [](const Words& command) { write(after(command, "--json"), ""); };
        CHECK(run_words(fake, {"1"}).status == status);
        CHECK(fake.progress().chapters.empty());
        CHECK(fake.progress().lessons.empty());
        CHECK_FALSE(fs::exists(fake.place.project.results() / "1_basics_and_pi.json"));
    }
}

TEST_CASE("old results outlive a chapter that was stopped") {
    Fake fake;
    const fs::path results = fake.place.project.results() / "1_basics_and_pi.json";
    write(results, "{}");
    fake.program_status = 130;
    run_words(fake, {"1"});
    CHECK(read(results) == "{}");
}

TEST_CASE("names of lessons may be shortened, and some lessons are no results of a chapter") {
    Fake fake;
    run_words(fake, {"1", "vec", "pi"});
    const Words& command = fake.programs[0];
    CHECK(Words(command.end() - 2, command.end()) == Words{"vector_add", "pi"});
    CHECK_FALSE(holds(command, "--json"));
    CHECK(fake.progress().has_run("pi"));
    CHECK(fake.progress().chapters.empty());
}

TEST_CASE("values of options are not taken for lessons") {
    Fake fake;
    run_words(fake, {"1", "--size", "16", "pi", "--repeat=5", "--lines"});
    const Words& command = fake.programs[0];
    CHECK(Words(command.end() - 5, command.end()) == Words{"--size", "16", "pi", "--repeat=5", "--lines"});
}

TEST_CASE("the reader's own file of results lies where the reader is") {
    Fake fake;
    const std::string expected = (fake.place.project.caller / "mine.json").string();
    run_words(fake, {"1", "--json", "mine.json"});
    CHECK(after(fake.programs[0], "--json") == expected);
    CHECK(std::count(fake.programs[0].begin(), fake.programs[0].end(), "--json") == 1);
    run_words(fake, {"1", "--json=mine.json"});
    CHECK(holds(fake.programs[1], "--json=" + expected));
    CHECK_FALSE(holds(fake.programs[1], "--json"));
    run_words(fake, {"1", "--json", "/tmp/mine.json"});
    CHECK(after(fake.programs[2], "--json") == "/tmp/mine.json");
}

TEST_CASE("steps alone are no results of a chapter") {
    Fake fake;
    run_words(fake, {"1", "--step", "naive"});
    CHECK_FALSE(holds(fake.programs[0], "--json"));
    CHECK(after(fake.programs[0], "--step") == "naive");
}

TEST_CASE("asking a chapter for its options or lessons is not running it") {
    for (const char* option : {"--help", "-h", "--list"}) {
        Fake fake(true);
        CHECK(run_words(fake, {"1", option}).status == 0);
        CHECK(holds(fake.programs[0], option));
        CHECK_FALSE(holds(fake.programs[0], "--pause"));
        CHECK_FALSE(holds(fake.programs[0], "--json"));
        CHECK(fake.progress().chapters.empty());
    }
}

TEST_CASE("a chapter pauses between lessons where somebody is there, unless told otherwise") {
    Fake fake(true);
    run_words(fake, {"1"});
    CHECK(holds(fake.programs[0], "--pause"));
    run_words(fake, {"1", "--no-pause"});
    CHECK_FALSE(holds(fake.programs[1], "--pause"));
}

const std::string results_with_a_guess = R"({"warpwise": 1, "lessons": [{"name": "pi", "idea": "sums", "predictions": [
    {"question": "How many?", "answer": "4", "because": "So it is.", "guess": "4", "right": true}]}]})";

TEST_CASE("guesses are kept, of a whole chapter and of one lesson") {
    for (const Words& words : {Words{"1"}, Words{"1", "pi"}, Words{"1", "--json", "mine.json"}}) {
        Fake fake(true);
        fake.on_program = [](const Words& command) { write(after(command, "--json"), results_with_a_guess); };
        CHECK(run_words(fake, words).status == 0);
        const Progress progress = fake.progress();
        REQUIRE(progress.predictions.size() == 1);
        const PredictionProgress& prediction = progress.predictions.at("pi/1");
        CHECK(prediction.question == "How many?");
        CHECK(prediction.idea == "sums");
        CHECK(prediction.right);
        CHECK(prediction.date == today());
        CHECK(fs::exists(fake.place.project.results() / "1_basics_and_pi.json") == (words.size() == 1));
    }
}

TEST_CASE("all is printed at once where the reader asks for that") {
    Fake fake(true);
    run_words(fake, {"1", "--all"});
    CHECK(holds(fake.programs[0], "--all"));
    CHECK_FALSE(holds(fake.programs[0], "--pause"));
}

TEST_CASE("a chapter that the reader left is not marked, keeps the guesses, and leaves the results as they were") {
    Fake fake(true);
    const fs::path results = fake.place.project.results() / "1_basics_and_pi.json";
    write(results, "{}");
    std::string left = results_with_a_guess;
    left.replace(left.rfind('}'), 1, R"(, "left": true})");
    fake.on_program = [&](const Words& command) { write(after(command, "--json"), left); };
    CHECK(run_words(fake, {"1"}).status == 0);
    CHECK(fake.progress().chapters.empty());
    CHECK(fake.progress().predictions.size() == 1);
    CHECK(read(results) == "{}");

    fake.keys = {key::enter};
    const auto started = fake.run(start);
    CHECK(started.status == 0);
    CHECK_THAT(started.out, ContainsSubstring("./warpwise goes on from here."));
    CHECK(fake.watched.empty());
}

TEST_CASE("unknown chapters and lessons are refused with what is near") {
    Fake fake;
    CHECK_THAT(run_words(fake, {}).refusal, ContainsSubstring("1 (Basics and pi), 2 (Memory)"));
    CHECK_THAT(run_words(fake, {"memry"}).refusal, ContainsSubstring("memory"));
    CHECK_THAT(run_words(fake, {"1", "vectoradd"}).refusal, ContainsSubstring("vector_add"));
    CHECK_THAT(run_words(fake, {"vectoradd"}).refusal, ContainsSubstring("did you mean vector_add?"));
    CHECK(fake.built.empty());
}

TEST_CASE("a chapter that cannot be built is not run, and the compiler is heard") {
    Fake fake;
    fake.build_succeeds = false;
    const auto ran = run_words(fake, {"1"});
    CHECK_THAT(ran.refusal, ContainsSubstring("basics_and_pi could not be built"));
    CHECK_THAT(ran.err, ContainsSubstring("expected ';'"));
    CHECK(fake.programs.empty());
    fake.build_is_cancelled = true;
    CHECK(run_words(fake, {"1"}).status == 130);
}

TEST_CASE("a build says one line where its output goes to a file") {
    Fake fake;
    CHECK(run_words(fake, {"1"}).out == "Building basics_and_pi\n");
}

// ---- grade ---------------------------------------------------------------------------------------------------------

TEST_CASE("grade takes the first exercise that is not passed, marks it, and names the next") {
    Fake fake;
    fake.pass("grid_stride");
    const auto graded = grade_words(fake, {});
    CHECK(graded.status == 0);
    CHECK(fake.graded == Words{"block_sum"});
    CHECK(fake.progress().exercises["block_sum"].passed == today());
    CHECK_THAT(graded.out, ContainsSubstring("the grader's words on block_sum\n"));
    CHECK_THAT(graded.out, ContainsSubstring("Next: lesson 2.1, transpose: ./warpwise run 2 transpose\n"));
}

TEST_CASE("after an exercise comes what follows it on the path, whatever was left open before it") {
    Fake fake;
    const auto graded = grade_words(fake, {.exercise = "grid_stride"});
    CHECK_THAT(graded.out, ContainsSubstring("Next: lesson 1.2, matrix_add"));
}

TEST_CASE("without a name the exercise is the first that was neither passed nor skipped") {
    Fake fake;
    fake.change([](Progress& progress) { progress.skipped["exercise/grid_stride"] = "2026-01-02"; });
    grade_words(fake, {});
    CHECK(fake.graded == Words{"block_sum"});
}

TEST_CASE("failures count until the exercise is passed, and never after") {
    Fake fake;
    fake.outcome = [](const std::string&) { return Outcome::failed; };
    const auto failed = grade_words(fake, {.exercise = "grid"});
    CHECK(failed.status == 1);
    CHECK_THAT(failed.out, ContainsSubstring("./warpwise hint grid_stride"));
    fake.outcome = [](const std::string&) { return Outcome::never_ended; };
    CHECK(grade_words(fake, {.exercise = "grid"}).status == 1);
    CHECK(fake.progress().exercises["grid_stride"].attempts == 2);
    fake.outcome = [](const std::string&) { return Outcome::passed; };
    CHECK(grade_words(fake, {.exercise = "grid"}).status == 0);
    fake.outcome = [](const std::string&) { return Outcome::failed; };
    CHECK(grade_words(fake, {.exercise = "grid"}).status == 1);
    CHECK(fake.progress().exercises["grid_stride"].attempts == 2);
    CHECK(fake.progress().exercises["grid_stride"].passed == today());
}

TEST_CASE("what was not graded is no attempt") {
    Fake fake;
    for (const auto& [outcome, status] :
         {std::pair(Outcome::build_failed, 1), std::pair(Outcome::cancelled, 130), std::pair(Outcome::broken, 2)}) {
        fake.outcome = [outcome = outcome](const std::string&) { return outcome; };
        CHECK(grade_words(fake, {.exercise = "grid"}).status == status);
    }
    CHECK(fake.progress().exercises.empty());
}

TEST_CASE("what nobody has edited yet is no attempt, and the whole task is a command away") {
    Fake fake;
    fake.outcome = [](const std::string&) { return Outcome::failed; };
    fake.on_grade = [](GradeResult& result, const GradeOptions&) { result.is_untouched = true; };
    const auto graded = grade_words(fake, {.exercise = "grid"});
    CHECK(graded.status == 1);
    CHECK_THAT(graded.out, ContainsSubstring("./warpwise task grid_stride"));
    CHECK_THAT(graded.out, !ContainsSubstring("not yet"));
    CHECK(fake.progress().exercises["grid_stride"].attempts == 0);
}

TEST_CASE("after success stands what was learned, how much cheaper the answer is, and what is next") {
    Fake fake;
    fake.on_grade = [](GradeResult& result, const GradeOptions& options) {
        CHECK_FALSE(options.is_brief);
        result.learned = "Neighbors read neighbors, as in `a[i]`.";
        result.improvement = {{"sectors of global memory", 4096, 1024, "4.00 times fewer"}};
        result.facts = R"({"failure": null, "more_failing": [], "not_run": 0})";
    };
    const std::string text = grade_words(fake, {.exercise = "grid"}).out;
    CHECK_THAT(text, ContainsSubstring("What you have learned: Neighbors read neighbors, as in `a[i]`.\n"));
    CHECK_THAT(text, ContainsSubstring("sectors of global memory      4096         1024  4.00 times fewer\n"));
    CHECK(text.find("What you have learned") < text.find("sectors of"));
    CHECK(text.find("sectors of") < text.find("Next: exercise block_sum"));
    const Json json = warpwise::parse_json<Json>(grade_words(fake, {.exercise = "grid", .json = true}).out);
    CHECK(json["learned"] == "Neighbors read neighbors, as in `a[i]`.");
    CHECK(json["improvement"][0] == Json{{"counted", "sectors of global memory"},
                                         {"stub", 4096.0},
                                         {"answer", 1024.0},
                                         {"change", "4.00 times fewer"}});
    CHECK(json["failure"].is_null());
}

TEST_CASE("Catch2's own output is shown on request, and JSON has what is wrong as fields") {
    Fake fake;
    fake.outcome = [](const std::string&) { return Outcome::failed; };
    fake.on_grade = [](GradeResult& result, const GradeOptions&) {
        result.details = "CHECK_THAT( ... )\n";
        result.facts = R"({"failure": {"observation": "d_out: wrong", "question": "Why?"}, "more_failing": ["b"],
                           "not_run": 1})";
    };
    const std::string brief = grade_words(fake, {.exercise = "grid"}).out;
    CHECK_THAT(brief, ContainsSubstring("the grader's words") && !ContainsSubstring("CHECK_THAT"));
    CHECK_THAT(brief, ContainsSubstring("./warpwise grade grid_stride --catch2"));
    const std::string all = grade_words(fake, {.exercise = "grid", .catch2 = true}).out;
    CHECK_THAT(all, ContainsSubstring("CHECK_THAT( ... )") && !ContainsSubstring("the grader's words"));
    const Json json = warpwise::parse_json<Json>(grade_words(fake, {.exercise = "grid", .json = true}).out);
    CHECK(json["failure"]["question"] == "Why?");
    CHECK(json["more_failing"] == Json{"b"});
    CHECK(json["not_run"] == 1);
    CHECK(json["details"] == "CHECK_THAT( ... )\n");
    CHECK(json["is_untouched"] == false);
}

TEST_CASE("the date of the first time is kept") {
    Fake fake;
    fake.pass("grid_stride", "2020-02-02");
    grade_words(fake, {.exercise = "grid_stride"});
    CHECK(fake.progress().exercises["grid_stride"].passed == "2020-02-02");
}

TEST_CASE("grade as JSON prints the result and nothing else") {
    Fake fake;
    fake.outcome = [](const std::string&) { return Outcome::never_ended; };
    const auto graded = grade_words(fake, {.exercise = "grid", .json = true});
    CHECK(graded.status == 1);
    const Json json = warpwise::parse_json<Json>(graded.out);
    CHECK(json["exercise"] == "grid_stride");
    CHECK(json["outcome"] == "never_ended");
    CHECK(json["build_seconds"] == 1.5);
    CHECK(json["text"] == "the grader's words on grid_stride");
}

TEST_CASE("grade all makes a table, and one that fails makes the status") {
    Fake fake;
    fake.outcome = [](const std::string& name) { return name == "block_sum" ? Outcome::failed : Outcome::passed; };
    const auto graded = grade_words(fake, {.exercise = "all"});
    CHECK(graded.status == 1);
    CHECK(fake.graded == Words{"grid_stride", "block_sum", "padding"});
    CHECK_THAT(graded.out, ContainsSubstring("block_sum    not yet"));
    CHECK_THAT(graded.out, ContainsSubstring("2 of 3 passed"));
    CHECK(fake.progress().exercises["padding"].passed == today());
    CHECK(fake.progress().exercises["block_sum"].attempts == 0);  // perhaps it was not even begun
}

TEST_CASE("grade all as JSON is an array") {
    Fake fake;
    const auto graded = grade_words(fake, {.exercise = "all", .json = true});
    CHECK(graded.status == 0);
    const Json json = warpwise::parse_json<Json>(graded.out);
    REQUIRE(json.size() == 3);
    CHECK(json[2]["exercise"] == "padding");
    CHECK(json[2]["outcome"] == "passed");
}

TEST_CASE("Ctrl-C ends a grading of all") {
    Fake fake;
    fake.outcome = [](const std::string& name) { return name == "block_sum" ? Outcome::cancelled : Outcome::failed; };
    CHECK(grade_words(fake, {.exercise = "all"}).status == 130);
    CHECK(fake.graded == Words{"grid_stride", "block_sum"});
}

TEST_CASE("options for the grader run it as it is, and mark nothing") {
    Fake fake;
    fake.program_status = 1;
    const auto ran = grade_words(fake, {.exercise = "grid", .grader_options = Words{"-x", "1000"}});
    CHECK(ran.status == 1);
    CHECK(fake.built == std::vector<Words>{{"grid_stride_cpu"}});
    CHECK(fake.programs[0] ==
          Words{(fake.place.project.programs() / "exercises" / "grid_stride").string(), "-x", "1000"});
    CHECK(fake.progress().exercises.empty());
    CHECK_FALSE(grade_words(fake, {.exercise = "all", .grader_options = Words{}}).refusal.empty());
}

TEST_CASE("grade says so when nothing is left to grade") {
    Fake fake;
    for (const char* name : {"grid_stride", "block_sum", "padding"}) fake.pass(name);
    const auto graded = grade_words(fake, {});
    CHECK(graded.status == 0);
    CHECK(fake.graded.empty());
    CHECK_THAT(graded.out, ContainsSubstring("All exercises are passed"));
}

TEST_CASE("a result is shown even when it cannot be marked") {
    Fake fake;
    fake.outcome = [&](const std::string&) {
        fs::create_directory(fake.place.project.progress_file());  // which can neither be read nor written now
        return Outcome::failed;
    };
    const auto graded = grade_words(fake, {.exercise = "grid"});
    CHECK(graded.status == 1);
    CHECK_THAT(graded.out, ContainsSubstring("the grader's words"));
    CHECK_THAT(graded.err, ContainsSubstring(".warpwise.json"));
}

// ---- hints, task, reset, solution ----------------------------------------------------------------------------------

TEST_CASE("hints come one at a time, and the last one again") {
    Fake fake;
    const auto next = [&] { return fake.run([](Session& session) { return show_hint(session, {}); }).out; };
    const std::string first = next();
    CHECK_THAT(first, StartsWith("grid_stride: hint 1 of 2"));
    CHECK_THAT(first, ContainsSubstring("Look."));
    CHECK_THAT(first, ContainsSubstring("1 hint left: ./warpwise hint grid_stride"));
    CHECK(fake.progress().exercises["grid_stride"].hints == 1);
    CHECK_THAT(next(), ContainsSubstring("Look closer."));
    const std::string last = next();
    CHECK_THAT(last, StartsWith("grid_stride: hint 2 of 2"));
    CHECK_THAT(last, ContainsSubstring("the last one"));
    CHECK(fake.progress().exercises["grid_stride"].hints == 2);
}

TEST_CASE("a hint that was asked for by number never takes others back") {
    Fake fake;
    const auto level = [&](int number) {
        return fake.run([&](Session& session) { return show_hint(session, {.level = number, .json = true}); });
    };
    CHECK(warpwise::parse_json<Json>(level(2).out)["of"] == 2);
    CHECK(fake.progress().exercises["grid_stride"].hints == 2);
    CHECK(warpwise::parse_json<Json>(level(1).out)["level"] == 1);
    CHECK(fake.progress().exercises["grid_stride"].hints == 2);
    CHECK_THAT(level(3).refusal, ContainsSubstring("hints 1 to 2"));
    CHECK_THAT(level(0).refusal, ContainsSubstring("hints 1 to 2"));
}

TEST_CASE("the task is the exercise's README") {
    Fake fake;
    const auto shown = fake.run([](Session& session) { return show_task(session, "padd"); });
    CHECK_THAT(shown.out, ContainsSubstring("Do padding."));
    CHECK_THAT(shown.out, ContainsSubstring("answers/2_memory/padding/padding.cu"));
    fs::remove(fake.place.project.root / "exercises/2_memory/padding/README.md");
    CHECK_THAT(fake.run([](Session& session) { return show_task(session, "padd"); }).refusal,
               ContainsSubstring("git checkout"));
}

TEST_CASE("the first command makes all answers, and later ones leave them alone") {
    Fake fake;
    const fs::path answers = fake.place.project.root / "answers";
    fake.run([](Session& session) { return list(session, {}); });
    for (const char* file : {"1_basics_and_pi/grid_stride/grid_stride.cu", "1_basics_and_pi/block_sum/block_sum.cu",
                             "2_memory/padding/padding.cu"}) {
        CHECK_THAT(read(answers / file), StartsWith("// Exercise"));
    }
    write(fake.place.answer("grid_stride"), "mine\n");
    fake.run([](Session& session) { return list(session, {}); });
    CHECK(read(fake.place.answer("grid_stride")) == "mine\n");
}

TEST_CASE("a result names the file that was graded") {
    Fake fake;
    const auto graded = [&] {
        return fake.run([](Session& session) { return grade_exercise(session, {.exercise = "grid_stride"}); }).out;
    };
    CHECK_THAT(graded(), ContainsSubstring(": answers/1_basics_and_pi/grid_stride/grid_stride.cu\n"));
    write(fake.place.project.root / "exercises/1_basics_and_pi/grid_stride/grid_stride.cu", "in place\n");
    for (const Outcome outcome : {Outcome::passed, Outcome::failed, Outcome::build_failed, Outcome::never_ended}) {
        fake.outcome = [outcome](const std::string&) { return outcome; };
        CHECK_THAT(graded(), ContainsSubstring("exercises/1_basics_and_pi/grid_stride/grid_stride.cu (edited in place "
                                               "after answers/1_basics_and_pi/grid_stride/grid_stride.cu)"));
    }
    const auto json =
        fake.run([](Session& session) { return grade_exercise(session, {.exercise = "grid_stride", .json = true}); });
    CHECK(warpwise::parse_json<Json>(json.out)["answer"] == "exercises/1_basics_and_pi/grid_stride/grid_stride.cu");
}

TEST_CASE("reset asks, and keeps the answer for who says no") {
    Fake fake(true);
    write(fake.place.answer("grid_stride"), "mine\n");
    fake.keys = {'n', key::escape, key::enter, key::interrupt, 'y'};
    const auto reset = [&] { return fake.run([](Session& session) { return reset_answer(session, "grid", false); }); };
    for (int i = 0; i < 3; ++i) {
        CHECK(reset().status == 1);
        CHECK(read(fake.place.answer("grid_stride")) == "mine\n");
    }
    CHECK(reset().status == 130);
    const auto done = reset();
    CHECK(done.status == 0);
    CHECK_THAT(read(fake.place.answer("grid_stride")), StartsWith("// Exercise"));
    CHECK_THAT(done.out, ContainsSubstring("before_reset"));
}

TEST_CASE("reset never asks where nobody is there") {
    Fake fake;
    write(fake.place.answer("grid_stride"), "mine\n");
    const auto refused = fake.run([](Session& session) { return reset_answer(session, "grid", false); });
    CHECK_THAT(refused.refusal, ContainsSubstring("./warpwise reset grid_stride --yes"));
    CHECK(read(fake.place.answer("grid_stride")) == "mine\n");
    CHECK(fake.run([](Session& session) { return reset_answer(session, "grid", true); }).status == 0);
    CHECK(read(fake.place.answer("grid_stride")) != "mine\n");
    CHECK_FALSE(fake.run([](Session& session) { return reset_answer(session, "", true); }).refusal.empty());
}

TEST_CASE("a solution is not shown by mistake before the exercise is passed") {
    Fake fake;
    const auto refused = fake.run([](Session& session) { return show_solution(session, "grid", false); });
    CHECK_THAT(refused.refusal, ContainsSubstring("./warpwise solution grid_stride --yes"));
    CHECK(refused.out.empty());
    CHECK(fake.progress().exercises.empty());
    const auto shown = fake.run([](Session& session) { return show_solution(session, "grid", true); });
    CHECK_THAT(shown.out, ContainsSubstring("return 42;"));
    CHECK(fake.progress().exercises["grid_stride"].solution_seen);
}

TEST_CASE("who is asked before a solution and says no sees none") {
    Fake fake(true);
    fake.keys = {'n', 'y'};
    const auto no = fake.run([](Session& session) { return show_solution(session, "grid", false); });
    CHECK(no.status == 1);
    CHECK_THAT(no.out, !ContainsSubstring("42"));
    CHECK_FALSE(fake.progress().exercises["grid_stride"].solution_seen);
    const auto yes = fake.run([](Session& session) { return show_solution(session, "grid", false); });
    CHECK_THAT(yes.out, ContainsSubstring("42"));
    CHECK(fake.progress().exercises["grid_stride"].solution_seen);
}

TEST_CASE("after an exercise is passed its solution comes with the difference from the answer") {
    Fake fake;
    write(fake.place.answer("grid_stride"), "int answer() { return 41 + 1; }\n");
    fake.pass("grid_stride");
    const auto shown = fake.run([](Session& session) { return show_solution(session, "grid", false); });
    CHECK(shown.status == 0);
    CHECK_THAT(shown.out, ContainsSubstring("solutions/1_basics_and_pi/grid_stride/grid_stride.cu"));
    CHECK_THAT(shown.out, ContainsSubstring("-int answer() { return 41 + 1; }"));
    CHECK_THAT(shown.out, ContainsSubstring("+int answer() { return 42; }"));
    CHECK_FALSE(fake.progress().exercises["grid_stride"].solution_seen);
    write(fake.place.answer("grid_stride"), "int answer() { return 42; }\n");
    CHECK_THAT(fake.run([](Session& session) { return show_solution(session, "grid", false); }).out,
               ContainsSubstring("Your answer is the same"));
}

// ---- start ---------------------------------------------------------------------------------------------------------

TEST_CASE("without a terminal the start does the next stop of the path") {
    Fake fake;
    const auto next = [&] { return fake.run(start); };
    const auto lesson_of_last = [&] { return fake.programs.back().back(); };
    const auto first = next();
    CHECK(first.status == 0);
    CHECK_THAT(first.out, StartsWith("Welcome to Warpwise"));
    CHECK_THAT(first.out, ContainsSubstring("Next: exercise grid_stride"));
    REQUIRE(fake.programs.size() == 1);
    CHECK(lesson_of_last() == "vector_add");
    CHECK(fake.progress().started == today());
    const auto second = next();
    CHECK_THAT(second.out, !ContainsSubstring("Welcome"));
    CHECK(fake.graded == Words{"grid_stride"});
    next();
    CHECK(lesson_of_last() == "matrix_add");
    next();
    CHECK(lesson_of_last() == "pi");
    next();
    next();
    CHECK(fs::path(fake.programs.back()[0]).filename() == "memory");
    next();
    CHECK_THAT(next().out, ContainsSubstring("all exercises passed"));
    CHECK(fake.graded == Words{"grid_stride", "block_sum", "padding"});
    CHECK(fake.questions.empty());
}

TEST_CASE("on a terminal the start leads from the lesson to its exercise, and asks before both") {
    Fake fake(true);
    fake.keys = {key::enter, key::enter};
    fake.watch_status = 7;
    CHECK(fake.run(start).status == 7);
    CHECK(fake.watched == Words{"grid_stride"});
    CHECK(fake.programs[0].back() == "vector_add");
    REQUIRE(fake.questions.size() == 2);
    CHECK_THAT(fake.questions[0],
               StartsWith("Next: lesson 1.1, vector_add: the five moves\nEnter runs it, n skips it"));
    CHECK_THAT(fake.questions[1], StartsWith("Next: exercise grid_stride: all of grid_stride\nEnter opens it"));
    CHECK(fake.run(start).status == 7);  // the next start on that day goes there without a question
    CHECK(fake.questions.size() == 2);
}

TEST_CASE("at the start n skips a stop, b goes back, and m shows the map") {
    Fake fake(true);
    fake.keys = {'n', 'b', 'm', 'n', 'n', 'q'};
    const auto started = fake.run(start);
    CHECK(started.status == 0);
    CHECK(fake.programs.empty());
    REQUIRE(fake.questions.size() == 6);
    CHECK_THAT(fake.questions[1], StartsWith("Next: exercise grid_stride"));
    CHECK_THAT(fake.questions[2], StartsWith("Next: lesson 1.1"));
    CHECK_THAT(fake.questions[4], StartsWith("Next: exercise grid_stride"));
    CHECK_THAT(fake.questions[5], StartsWith("Next: lesson 1.2"));
    CHECK_THAT(started.out, ContainsSubstring("# done   > here"));
    CHECK(fake.progress().skipped.size() == 2);
    CHECK(fake.progress().lessons.empty());
    fake.keys = {'b', 'b', 'b', 'q'};  // and again from where it was left
    fake.questions.clear();
    CHECK_THAT(fake.run(start).out, ContainsSubstring("This is the first stop"));
    CHECK_THAT(fake.questions[0], StartsWith("Next: lesson 1.2"));
    CHECK_THAT(fake.questions[2], StartsWith("Next: lesson 1.1"));
}

TEST_CASE("a lesson whose mark cannot be kept is passed by, and does not come again at once") {
    Fake fake(true);
    fake.change([](Progress& progress) { progress.started = progress.last_start = today(); });
    const fs::path file = fake.place.project.progress_file();
    fs::remove(file);
    fs::create_directory(file);
    fake.keys = {key::enter, 'q'};
    const auto started = fake.run(start);
    REQUIRE(fake.questions.size() == 2);
    CHECK_THAT(fake.questions[1], StartsWith("Next: exercise grid_stride"));
}

TEST_CASE("on a new day the start says what was done last, what comes next, and what is due, once") {
    Fake fake(true);
    fake.change([](Progress& progress) {
        progress.started = progress.last_start = "2026-11-20";
        progress.lessons["vector_add"].run = "2026-11-20";
        progress.predictions["vector_add/1"].date = "2026-11-20";
    });
    fake.date = "2026-11-21";
    fake.keys = {'q'};
    const auto first = fake.run(start);
    CHECK_THAT(first.out, StartsWith("Last time (2026-11-20): lesson 1.1, vector_add. Next: exercise grid_stride. 1\n"
                                     "prediction is due again: ./warpwise review.\n"));
    CHECK(fake.questions.size() == 1);  // watch mode would clear the line away
    CHECK(fake.progress().last_start == "2026-11-21");
    CHECK(fake.progress().started == "2026-11-20");
    CHECK(fake.run(start).out.empty());
    CHECK(fake.watched == Words{"grid_stride"});
}

TEST_CASE("a lesson that was shown while the guide was built is not shown again") {
    setenv("WARPWISE_SHOWN_LESSON", "vector_add", 1);
    Fake fake(true);
    fake.keys = {'q'};
    fake.run(start);
    setenv("WARPWISE_SHOWN_LESSON", "of_another_version", 1);
    Fake other(true);
    other.keys = {'q'};
    other.run(start);
    unsetenv("WARPWISE_SHOWN_LESSON");
    CHECK(fake.progress().has_run("vector_add"));
    CHECK_THAT(fake.questions.at(0), StartsWith("Next: exercise grid_stride"));
    CHECK(other.progress().lessons.empty());
}

TEST_CASE("who quits at the start has run nothing") {
    for (const auto& [pressed, status] : {std::pair<Key, int>('q', 0), std::pair(key::escape, 0),
                                          std::pair(key::closed, 0), std::pair(key::interrupt, 130)}) {
        Fake fake(true);
        fake.keys = {pressed};
        CHECK(fake.run(start).status == status);
        CHECK(fake.programs.empty());
        CHECK(fake.progress().lessons.empty());
        CHECK(fake.progress().skipped.empty());
    }
}

TEST_CASE("a lesson that was stopped ends the start") {
    Fake fake(true);
    fake.keys = {key::enter, key::enter};
    fake.program_status = 130;
    CHECK(fake.run(start).status == 130);
    CHECK(fake.watched.empty());
    CHECK(fake.progress().lessons.empty());
}

// ---- map and review ------------------------------------------------------------------------------------------------

TEST_CASE("the map shows the path, and where to go on") {
    Fake fake;
    fake.pass("grid_stride");
    const auto shown = fake.run([](Session& session) { return show_map(session, {}); });
    CHECK(shown.status == 0);
    CHECK_THAT(shown.out, ContainsSubstring("1.1  ##"));
    CHECK_THAT(shown.out, ContainsSubstring("mastered"));
    CHECK_THAT(shown.out, ContainsSubstring("Next: lesson 1.2, matrix_add"));
    const auto second = fake.run([](Session& session) { return show_map(session, {.chapter = "2"}); });
    CHECK_THAT(second.out, !ContainsSubstring("Chapter 1"));
    const Json json =
        warpwise::parse_json<Json>(fake.run([](Session& session) { return show_map(session, {.json = true}); }).out);
    CHECK(json["here"]["name"] == "matrix_add");
    CHECK_THAT(fake.run([](Session& session) { return show_map(session, {.chapter = "9"}); }).refusal,
               ContainsSubstring("no chapter '9'"));
}

namespace {

/// Two predictions of 2026-11-20: a wrong one, due the next day, and a right one, due a week later.
void predict(Fake& fake) {
    fake.date = "2026-11-21";
    fake.change([](Progress& progress) {
        PredictionProgress& number = progress.predictions["vector_add/1"];
        number.lesson = "vector_add";
        number.question = "How many sectors?";
        number.unit = "sectors";
        number.answer = "4";
        number.because = "A sector has 32 bytes.";
        number.guess = "32";
        number.date = "2026-11-20";
        PredictionProgress& choice = progress.predictions["pi/1"];
        choice.lesson = "pi";
        choice.question = "Which sum is nearer?";
        choice.choices = {"the tree", "one after another"};
        choice.answer = "the tree";
        choice.guess = "the tree";
        choice.right = true;
        choice.date = "2026-11-20";
    });
}

Fake::Result review_with(Fake& fake, const ReviewRequest& request) {
    return fake.run([&](Session& session) { return review(session, request); });
}

}  // namespace

TEST_CASE("a review asks what is due, shows the answer with its reason, and keeps it") {
    Fake fake;
    predict(fake);
    fake.lines = {"many", "4"};
    const auto reviewed = review_with(fake, {});
    CHECK(reviewed.status == 0);
    CHECK(fake.questions == Words{"Your answer in sectors: ", "Your answer in sectors: "});
    CHECK_THAT(reviewed.out, ContainsSubstring("How many sectors?"));
    CHECK_THAT(reviewed.out, ContainsSubstring("Right. The answer is 4 sectors. A sector has 32 bytes.\n"));
    CHECK_THAT(reviewed.out, ContainsSubstring("Due again on 2026-11-28."));
    CHECK_THAT(reviewed.out, ContainsSubstring("1 of 1 answer right. The next one is due on 2026-11-27, in 6 days."));
    CHECK(fake.progress().reviews["vector_add/1"] == ReviewProgress{"2026-11-21", true, 1, "4"});
    CHECK_FALSE(fake.progress().predictions["vector_add/1"].right);  // the first guess stays what it was
}

TEST_CASE("a wrong answer names the lesson to look at, and comes again sooner") {
    Fake fake;
    predict(fake);
    fake.lines = {"8"};
    const auto reviewed = review_with(fake, {});
    CHECK_THAT(reviewed.out, ContainsSubstring("No. The answer is 4 sectors."));
    CHECK_THAT(reviewed.out, ContainsSubstring("To see it again: ./warpwise run vector_add\n"));
    CHECK_THAT(reviewed.out, ContainsSubstring("Due again on 2026-11-24."));
}

TEST_CASE("Enter skips a question, and q ends the review") {
    Fake fake;
    predict(fake);
    fake.lines = {"", "q"};
    const auto reviewed = review_with(fake, {.all = true});
    CHECK(reviewed.status == 0);
    CHECK(fake.questions.size() == 2);
    CHECK_THAT(reviewed.out, ContainsSubstring("    a) the tree\n    b) one after another\n"));
    CHECK(fake.progress().reviews.empty());
}

TEST_CASE("when nothing is due a review says when something is, and how to go on all the same") {
    Fake fake;
    predict(fake);
    fake.date = "2026-11-20";
    const auto reviewed = review_with(fake, {});
    CHECK(reviewed.status == 0);
    CHECK(reviewed.out ==
          "No prediction is due today. The next one is due on 2026-11-21, in 1 day. './warpwise review "
          "--all' asks all 2 now.\n");
    Fake nothing;
    CHECK_THAT(review_with(nothing, {}).out, StartsWith("You have made no predictions so far"));
}

TEST_CASE("a review can be of one lesson") {
    Fake fake;
    predict(fake);
    fake.lines = {"a"};
    const auto reviewed = review_with(fake, {.lesson = "pi", .all = true});
    CHECK(fake.questions.size() == 1);
    CHECK(fake.progress().reviews["pi/1"] == ReviewProgress{"2026-11-21", true, 2, "the tree"});
    CHECK_THAT(review_with(fake, {.lesson = "nothing_like_it"}).refusal, ContainsSubstring("no lesson"));
    CHECK_THAT(review_with(fake, {.lesson = "transpose"}).out,
               StartsWith("You have made no predictions in transpose so far."));
}

TEST_CASE("a review without a terminal and without answers says what it needs") {
    Fake fake;
    predict(fake);
    CHECK_THAT(review_with(fake, {}).refusal, ContainsSubstring("answers on standard input"));
    Fake there(true);
    predict(there);
    CHECK(review_with(there, {}).status == 0);  // Ctrl-D
}

TEST_CASE("watch mode is refused without a terminal") {
    Fake fake;
    CHECK_THAT(fake.run([](Session& session) { return watch_exercise(session, ""); }).refusal,
               ContainsSubstring("./warpwise grade grid_stride"));
    Fake there(true);
    there.run([](Session& session) { return watch_exercise(session, "padd"); });
    CHECK(there.watched == Words{"padding"});
}

// ---- test ----------------------------------------------------------------------------------------------------------

TEST_CASE("test builds everything and hands its options and status on") {
    Fake fake;
    fake.program_status = 8;
    const auto tested = fake.run([](Session& session) { return run_tests(session, {"-R", "grid stride"}); });
    CHECK(tested.status == 8);
    CHECK(fake.built == std::vector<Words>{{"all"}});
    const Words& command = fake.programs[0];
    CHECK(command[0] == "ctest");
    CHECK(after(command, "--test-dir") == fake.place.project.build_folder());
    CHECK(std::stoi(after(command, "--parallel")) >= 1);
    CHECK(Words(command.end() - 2, command.end()) == Words{"-R", "grid stride"});
}

TEST_CASE("a program that cannot be started is named") {
    Fake fake;
    fake.program_status = 127;
    CHECK_THAT(fake.run([](Session& session) { return run_tests(session, {}); }).refusal, ContainsSubstring("ctest"));
}

// ---- the guide's program -------------------------------------------------------------------------------------------

namespace {

/// WARPWISE_GUIDE, or the guide that was built beside the tests.
std::optional<fs::path> guide_program() {
    if (const char* program = std::getenv("WARPWISE_GUIDE"); program != nullptr) return program;
    const fs::path beside = fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "guide";
    return fs::exists(beside) ? std::optional(beside) : std::nullopt;
}

/// The whole guide, with its command line.
class Guide {
public:
    Guide() {
        const std::optional<fs::path> program = guide_program();
        if (!program) SKIP("the guide is not built");
        program_ = *program;
    }

    CommandResult run(Words words) const {
        words.insert(words.begin(), program_.string());
        return run_words(words);
    }

    CommandResult run_in_shell(const std::string& line) const {
        return run_words({"sh", "-c", "'" + program_.string() + "' " + line});
    }

    Place place;

private:
    CommandResult run_words(const Words& words) const {
        return run_command(words, {.folder = place.project.caller,
                                   .variables = {{"WARPWISE_ROOT", place.project.root.string()},
                                                 {"WARPWISE_CALLER", place.project.caller.string()},
                                                 {"WARPWISE_DEVICE", "cpu"},
                                                 {"WARPWISE_TYPED", "./warpwise"}},
                                   .limit_seconds = 60});
    }

    fs::path program_;
};

}  // namespace

TEST_CASE("the command line: help for all and for each command names options, examples and statuses") {
    const Guide guide;
    const CommandResult all = guide.run({"--help"});
    CHECK(all.status == 0);
    for (const char* text : {"--device", "--yes", "--no-color", "grade [EXERCISE|all]", "130"}) {
        CHECK_THAT(all.output, ContainsSubstring(text));
    }
    for (const char* command : {"map", "list", "run", "review", "grade", "watch", "hint", "task", "reset", "solution",
                                "try", "report", "docs", "doctor", "test", "setup", "completion", "help"}) {
        INFO(command);
        const CommandResult one = guide.run({command, "--help"});
        CHECK(one.status == 0);
        CHECK_THAT(one.output, ContainsSubstring("Examples:"));
        CHECK_THAT(one.output, ContainsSubstring("Exit status:"));
        CHECK(guide.run({"help", command}).output == one.output);
    }
}

TEST_CASE("the command line: complaints go to standard error with status 2") {
    const Guide guide;
    for (const Words& words : std::vector<Words>{{"garde"},
                                                 {"re"},
                                                 {""},
                                                 {"--frob"},
                                                 {"list", "--jsno"},
                                                 {"list", "a", "b"},
                                                 {"hint", "--level", "one"},
                                                 {"grade", "nothing_like_it"},
                                                 {"--device", "gpu", "list"},
                                                 {"list", "--device"},
                                                 {"list", "--device", "cuda"},
                                                 {"completion"},
                                                 {"completion", "tcsh"},
                                                 {"try"},
                                                 {"report", "--no-run", "--run-all"},
                                                 {"map", "9"},
                                                 {"review", "--lesson", "nothing_like_it"},
                                                 {"run", "nothing_like_it"},
                                                 {"watch"}}) {
        INFO(Catch::StringMaker<Words>::convert(words));
        const CommandResult result = guide.run(words);
        CHECK(result.status == 2);
        CHECK_THAT(result.output, StartsWith("warpwise: "));
    }
}

TEST_CASE("the command line: a name where a command is wanted is understood, and the command told") {
    const Guide guide;
    CHECK_THAT(guide.run({"grid_stride"}).output, ContainsSubstring("./warpwise grade grid_stride"));
    CHECK_THAT(guide.run({"transpose"}).output, ContainsSubstring("./warpwise run transpose"));
}

TEST_CASE("the command line: options that fit everywhere may stand everywhere") {
    const Guide guide;
    for (const Words& words : std::vector<Words>{{"--no-color", "--device", "cpu", "li", "grid"},
                                                 {"list", "grid", "--device=auto", "--no-color"},
                                                 {"--yes", "list", "grid"},
                                                 {"list", "grid", "-y"}}) {
        const CommandResult result = guide.run(words);
        CHECK(result.status == 0);
        CHECK_THAT(result.output, ContainsSubstring("grid_stride"));
    }
}

TEST_CASE("the command line: each command takes the options for all in any position") {
    const Guide guide;
    for (const char* command : {"map", "list", "grade", "watch", "hint", "task", "reset", "solution", "review", "try",
                                "report", "docs", "doctor", "test", "new", "setup", "completion", "help"}) {
        INFO(command);
        const std::string expected = guide.run({"help", command}).output;
        for (const Words& words : std::vector<Words>{{"--help", command},
                                                     {command, "--help"},
                                                     {command, "word", "--help"},
                                                     {command, "-h", "word"},
                                                     {"--yes", command, "--help", "--device", "cpu"},
                                                     {command, "--device=cpu", "word", "-y", "--help", "--no-color"},
                                                     {"--device", "cpu", "--help", command, "word"}}) {
            INFO(Catch::StringMaker<Words>::convert(words));
            const CommandResult result = guide.run(words);
            CHECK(result.status == 0);
            CHECK(result.output == expected);
        }
        CHECK_THAT(guide.run({command, "word", "--version"}).output, StartsWith("warpwise "));
    }
    CHECK(guide.run({"run", "--help", "1"}).output == guide.run({"help", "run"}).output);
}

TEST_CASE("the command line: run takes the options for all in any position, and hands on its own") {
    const Guide guide;
    const fs::path bin = guide.place.project.programs();
    write(bin / "basics_and_pi", "#!/bin/sh\necho \"ran $*\"\n");
    fs::permissions(bin / "basics_and_pi", fs::perms::all);
    write(guide.place.project.build_folder() / "build.ninja",
          "rule nothing\n  command = true\nbuild basics_and_pi_programs: nothing\n");
    for (const Words& words : std::vector<Words>{{"run", "1", "pi", "--size", "16", "--yes"},
                                                 {"--yes", "run", "1", "pi", "--size", "16"},
                                                 {"run", "--yes", "pi", "--device", "cpu", "--size", "16"},
                                                 {"run", "1", "--device=auto", "pi", "-y", "--size", "16"}}) {
        INFO(Catch::StringMaker<Words>::convert(words));
        const CommandResult result = guide.run(words);
        CHECK(result.status == 0);
        CHECK_THAT(result.output, ContainsSubstring("ran --device cpu pi --size 16\n"));
    }
}

TEST_CASE("the command line: names of earlier versions go on working, with a note") {
    const Guide guide;
    for (const char* word : {"check", "chec", "ch"}) {
        const CommandResult result = guide.run({word, "--help"});
        CHECK(result.status == 0);
        CHECK_THAT(result.output, ContainsSubstring("note: 'check' is called 'grade' now\n") &&
                                      ContainsSubstring("Build your answer and grade it."));
    }
    const CommandResult tried = guide.run({"try", "no_such_file.cu", "--no-check"});
    CHECK_THAT(tried.output, ContainsSubstring("note: --no-check is called --no-diagnose now\n"));
    CHECK_THAT(guide.run({"try", "--help"}).output, !ContainsSubstring("--check"));
}

TEST_CASE("the command line: yes before the command is a yes to its question") {
    const Guide guide;
    write(guide.place.answer("grid_stride"), "mine\n");
    CHECK(guide.run({"--yes", "reset", "grid_stride"}).status == 0);
    CHECK(read(guide.place.answer("grid_stride")) != "mine\n");
}

TEST_CASE("the command line: an output that cannot be written is no success") {
    if (!fs::exists("/dev/full")) SKIP("no /dev/full here");
    const Guide guide;
    const CommandResult result = guide.run_in_shell("list > /dev/full");
    CHECK(result.status == 2);
    CHECK(result.output == "warpwise: cannot write the output\n");
}

TEST_CASE("the command line: answers of JSON can be read") {
    const Guide guide;
    CHECK(warpwise::parse_json<Json>(guide.run({"list", "--json"}).output)["chapters"].size() == 2);
    CHECK(warpwise::parse_json<Json>(guide.run({"hint", "padding", "--json", "--level", "2"}).output)["level"] == 2);
}

TEST_CASE("the command line: a copy without a catalog still helps, and says what is missing") {
    const Guide guide;
    fs::remove_all(guide.place.project.build_folder());
    CHECK(guide.run({"--help"}).status == 0);
    CHECK(guide.run({"--version"}).output.substr(0, 9) == "warpwise ");
    CHECK(guide.run({"completion", "bash"}).status == 0);
    CHECK_THAT(guide.run({"complete", "--", "gra"}).output, StartsWith("grade\t"));
    const CommandResult listed = guide.run({"list"});
    CHECK(listed.status == 2);
    CHECK_THAT(listed.output, ContainsSubstring("catalog.json"));
}

TEST_CASE("the command line: completion knows commands, options, chapters, lessons and exercises") {
    const Guide guide;
    CHECK_THAT(guide.run({"complete", "--", "grade", "gri"}).output, StartsWith("grid_stride\tfill"));
    CHECK(guide.run({"complete", "--", "run", "1", "vec"}).output == "vector_add\tthe five moves\n");
    CHECK(guide.run({"complete", "--", "run", "vec"}).output == "vector_add\tthe five moves\n");
    CHECK(guide.run({"complete", "--", "review", "--lesson", "vec"}).output == "vector_add\tthe five moves\n");
    CHECK_THAT(guide.run({"complete", "--", "map", "bas"}).output, StartsWith("basics_and_pi\t"));
    CHECK_THAT(guide.run({"complete", "--", "hint", "--le"}).output, StartsWith("--level\t"));
    CHECK_THAT(guide.run({"complete", "--", "--device", "cu"}).output, StartsWith("cuda\t"));
}
