#include "common/guide/answers.h"

#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "common/guide/command.h"
#include "common/guide/project.h"
#include "common/lesson/refusal.h"

using namespace guide;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
namespace fs = std::filesystem;

namespace {

/// An exercise in a project of its own, which git knows or not.
class Place {
public:
    Place() {
        std::string name = (fs::temp_directory_path() / "answers_test_XXXXXX").string();
        root = fs::canonical(::mkdtemp(name.data()));
        exercise.name = "grid";
        exercise.folder = root / "exercises/1_basics/grid";
        exercise.answers = root / "answers/1_basics/grid";
        fs::create_directories(exercise.folder);
        save(exercise.stub(), "stub\n");
    }
    ~Place() { fs::remove_all(root); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    /// Each save is a second later than the one before, as far as the file's time can tell.
    void save(const fs::path& file, const std::string& text) {
        std::ofstream(file) << text;
        fs::last_write_time(file, fs::file_time_type::clock::now() + std::chrono::seconds(++saves_));
    }
    void git(const std::vector<std::string>& words) const {
        std::vector<std::string> command = {
            "git", "-C", root.string(), "-c", "user.name=n", "-c", "user.email=n@n", "-c", "init.defaultBranch=main"};
        command.insert(command.end(), words.begin(), words.end());
        const CommandResult result = run_command(command);
        INFO(result.output);
        REQUIRE(result.status == 0);
    }
    void commit() const {
        if (!fs::exists(root / ".git")) git({"init"});
        git({"add", "exercises"});
        git({"commit", "-m", "what is handed out"});
    }

    fs::path root;
    Exercise exercise;

private:
    int saves_ = 0;
};

std::size_t entries(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

std::string text_of(const fs::path& file) { return read_file(file).value_or("(nothing)"); }

}  // namespace

TEST_CASE("the answer is made from the stub, once", "[guide]") {
    Place place;
    const Exercise& exercise = place.exercise;
    prepare_answer(exercise);
    CHECK(text_of(exercise.own_answer()) == "stub\n");
    CHECK(exercise.own_answer() == place.root / "answers/1_basics/grid/grid.cu");
    CHECK_FALSE(is_edited(exercise));
    place.save(exercise.own_answer(), "mine\n");
    prepare_answer(exercise);
    CHECK(text_of(exercise.own_answer()) == "mine\n");
    CHECK(text_of(exercise.stub()) == "stub\n");
    CHECK(is_edited(exercise));
    CHECK(answer_to(exercise).file == exercise.own_answer());
    CHECK(answer_to(exercise).program == "grid");
    CHECK_FALSE(answer_to(exercise).in_place);
}

TEST_CASE("the stub is the answer where there is no other", "[guide]") {
    Place place;
    CHECK(answer_to(place.exercise).file == place.exercise.stub());
    CHECK(answer_to(place.exercise).program == "grid_original");
    CHECK_FALSE(is_edited(place.exercise));
    fs::remove(place.exercise.stub());
    CHECK(answer_to(place.exercise).file == place.exercise.own_answer());
    CHECK_FALSE(is_edited(place.exercise));
}

TEST_CASE("of two edited files the one saved last is the answer", "[guide]") {
    Place place;
    const Exercise& exercise = place.exercise;
    const bool with_git = has_program("git");
    for (const bool in_git : {false, true}) {
        if (in_git && !with_git) continue;
        INFO("in git: " << in_git);
        place.save(exercise.stub(), "stub\n");
        if (in_git) place.commit();
        fs::remove_all(place.root / "answers");
        prepare_answer(exercise);

        // The stub, while the file in answers/ is untouched: even with an older time.
        place.save(exercise.stub(), "edited in place\n");
        fs::last_write_time(exercise.stub(), fs::file_time_type::clock::now() - std::chrono::hours(1));
        CHECK(answer_to(exercise).in_place);
        CHECK(is_edited(exercise));

        place.save(exercise.own_answer(), "mine\n");
        CHECK(answer_to(exercise).file == exercise.own_answer());
        place.save(exercise.stub(), "edited in place again\n");
        CHECK(answer_to(exercise).file == exercise.stub());
        prepare_answer(exercise);  // changes neither
        CHECK(text_of(exercise.own_answer()) == "mine\n");
        CHECK(text_of(exercise.stub()) == "edited in place again\n");

        place.save(exercise.stub(), "stub\n");  // no edit any more
        CHECK(answer_to(exercise).file == exercise.own_answer());
    }
}

TEST_CASE("what was edited in place before the answer was made goes into it", "[guide]") {
    if (!has_program("git")) SKIP("no git here");
    Place place;
    place.commit();
    place.save(place.exercise.stub(), "edited in place\n");
    prepare_answer(place.exercise);
    CHECK(text_of(place.exercise.own_answer()) == "edited in place\n");
    CHECK(is_edited(place.exercise));
    reset(place.exercise);
    CHECK(text_of(place.exercise.own_answer()) == "stub\n");
    CHECK(text_of(place.exercise.stub()) == "stub\n");
}

TEST_CASE("a stub that is handed out anew never counts as edited, and reaches an answer that nobody has edited",
          "[guide]") {
    if (!has_program("git")) SKIP("no git here");
    Place place;
    const Exercise& exercise = place.exercise;
    place.commit();
    prepare_answer(exercise);
    place.save(exercise.stub(), "better stub\n");
    place.commit();
    CHECK(answer_to(exercise).file == exercise.own_answer());
    prepare_answer(exercise);
    CHECK(text_of(exercise.own_answer()) == "better stub\n");
    CHECK_FALSE(is_edited(exercise));

    place.save(exercise.own_answer(), "mine\n");
    place.save(exercise.stub(), "best stub\n");
    place.commit();
    CHECK(answer_to(exercise).file == exercise.own_answer());
    prepare_answer(exercise);
    CHECK(text_of(exercise.own_answer()) == "mine\n");
    reset(exercise);
    CHECK(text_of(exercise.own_answer()) == "best stub\n");
}

TEST_CASE("other line ends are no edit", "[guide]") {
    if (!has_program("git")) SKIP("no git here");
    Place place;
    place.commit();
    place.save(place.exercise.stub(), "stub\r\n");
    prepare_answer(place.exercise);
    CHECK(text_of(place.exercise.own_answer()) == "stub\r\n");
    CHECK_FALSE(is_edited(place.exercise));
    CHECK_FALSE(answer_to(place.exercise).in_place);
}

TEST_CASE("a reset puts back what was handed out and keeps what was there, each time", "[guide]") {
    Place place;
    const Exercise& exercise = place.exercise;
    const fs::path answer = exercise.own_answer();
    const std::string kept = answer.string() + ".before_reset";
    prepare_answer(exercise);
    for (const char* attempt : {"first", "second", "third"}) {
        place.save(answer, attempt);
        CHECK(reset(exercise) == std::vector<fs::path>{kept});
        CHECK(text_of(answer) == "stub\n");
        CHECK(text_of(kept) == attempt);
        CHECK_FALSE(is_edited(exercise));
    }
    CHECK(text_of(kept + ".1") == "first");
    CHECK(text_of(kept + ".2") == "second");
    CHECK(entries(exercise.answers) == 5);
    CHECK(entries(exercise.folder) == 1);

    CHECK(reset(exercise).empty());  // nothing to do
    CHECK(entries(exercise.answers) == 5);
}

TEST_CASE("a reset puts back both files, and keeps both", "[guide]") {
    Place place;
    const Exercise& exercise = place.exercise;
    prepare_answer(exercise);
    place.save(exercise.own_answer(), "mine\n");
    place.save(exercise.stub(), "in place\n");
    CHECK(reset(exercise) == std::vector<fs::path>{exercise.stub().string() + ".before_reset",
                                                   exercise.own_answer().string() + ".before_reset"});
    CHECK(text_of(exercise.own_answer()) == "stub\n");
    CHECK(text_of(exercise.stub()) == "stub\n");
    CHECK(text_of(exercise.stub().string() + ".before_reset") == "in place\n");
    CHECK(text_of(exercise.own_answer().string() + ".before_reset") == "mine\n");
    CHECK(answer_to(exercise).file == exercise.own_answer());
}

TEST_CASE("a reset keeps the answer's permissions and a link to it", "[guide]") {
    Place place;
    prepare_answer(place.exercise);
    place.save(place.root / "mine.cu", "mine");
    fs::permissions(place.root / "mine.cu", fs::perms(0640));
    fs::remove(place.exercise.own_answer());
    fs::create_symlink(place.root / "mine.cu", place.exercise.own_answer());
    reset(place.exercise);
    CHECK(fs::is_symlink(place.exercise.own_answer()));
    CHECK(text_of(place.root / "mine.cu") == "stub\n");
    CHECK(fs::status(place.root / "mine.cu").permissions() == fs::perms(0640));
}

TEST_CASE("a lost answer, stub or note of what was handed out comes back", "[guide]") {
    Place place;
    const Exercise& exercise = place.exercise;
    CHECK(reset(exercise).empty());
    CHECK(text_of(exercise.own_answer()) == "stub\n");
    fs::remove(exercise.own_answer());
    prepare_answer(exercise);
    CHECK(text_of(exercise.own_answer()) == "stub\n");
    fs::remove(exercise.handed_out());
    place.save(exercise.own_answer(), "mine\n");
    prepare_answer(exercise);
    CHECK(is_edited(exercise));
    fs::remove(exercise.stub());
    reset(exercise);
    CHECK(text_of(exercise.stub()) == "stub\n");
}

TEST_CASE("a reset is refused and changes nothing when nobody knows what was handed out", "[guide]") {
    Place place;
    fs::remove(place.exercise.stub());
    fs::create_directories(place.exercise.answers);
    place.save(place.exercise.own_answer(), "mine");
    CHECK_THROWS_MATCHES(reset(place.exercise), Refusal,
                         MessageMatches(ContainsSubstring("grid.cu") && ContainsSubstring("git checkout")));
    CHECK(text_of(place.exercise.own_answer()) == "mine");
    CHECK(entries(place.exercise.answers) == 1);
}
