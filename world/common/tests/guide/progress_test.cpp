#include "common/guide/progress.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/guide/project.h"
#include "common/helpers/json.h"
#include "common/lesson/refusal.h"

using namespace guide;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;
using nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {

Catalog catalog_of(const std::string& exercises) {
    return Catalog::from_json(R"({"warpwise_catalog": 1, "chapters": [
        {"folder": "1_basics_and_pi", "program": "basics_and_pi", "lessons": [], "exercises": [)" +
                                  exercises + R"(]},
        {"folder": "2_memory_model", "program": "memory_model", "lessons": [], "exercises": [
            {"name": "tiles", "kind": "fill"}]}]})",
                              "/copy");
}

const std::string as_ever = R"({"name": "guard", "kind": "fill"}, {"name": "grid", "kind": "fill"})";

/// A progress file in a folder of its own.
class Place {
public:
    explicit Place(const std::string& exercises = as_ever) : catalog(catalog_of(exercises)) {
        std::string name = (fs::temp_directory_path() / "progress_test_XXXXXX").string();
        folder = fs::canonical(::mkdtemp(name.data()));
        fs::permissions(folder, fs::perms::all);
        file = folder / ".warpwise.json";
    }
    ~Place() {
        fs::permissions(folder, fs::perms::all);
        fs::remove_all(folder);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    ProgressFile open() const { return ProgressFile(file, catalog); }
    void write(const std::string& text) const { replace_file(file, text); }
    std::string text() const { return read_file(file).value_or("there is no file"); }
    ordered_json json() const { return warpwise::parse_json<ordered_json>(text()); }
    std::vector<std::string> names() const {
        std::vector<std::string> found;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
            found.push_back(entry.path().filename().string());
        }
        std::sort(found.begin(), found.end());
        return found;
    }

    Catalog catalog;
    fs::path folder;
    fs::path file;
};

void no_change(Progress&) {}

/// Runs `action` in another process, which ends with its return value.
pid_t in_another_process(const std::function<int()>& action) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child != 0) return child;
    int status = 99;
    try {
        status = action();
    } catch (...) {
    }
    ::_exit(status);
}

int status_of(pid_t child) {
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Whether `check` is true for a process without root's rights.
bool holds_for_others(const std::function<bool()>& check) {
    return status_of(in_another_process([&] {
               if (::geteuid() == 0 && (::setegid(65534) != 0 || ::seteuid(65534) != 0)) return 2;
               return check() ? 0 : 1;
           })) == 0;
}

std::string refusal_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const Refusal& refusal) {
        return refusal.what();
    }
    return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("without a file nothing is done, and nothing is written", "[guide]") {
    const Place place;
    ProgressFile file = place.open();
    CHECK(file.read() == Progress{});
    CHECK(file.take_message().empty());
    CHECK(place.names().empty());
}

TEST_CASE("keeps marks, in a file that people can read", "[guide]") {
    const Place place;
    const Progress written = place.open().update([](Progress& progress) {
        progress.started = "2026-11-20";
        progress.chapters["1_basics_and_pi"] = "2026-11-21";
        progress.exercises["guard"] = {.passed = "2026-11-21", .attempts = 3, .hints = 2, .solution_seen = true};
    });
    CHECK(place.open().read() == written);
    CHECK(written.has_passed("guard"));
    CHECK_FALSE(written.has_passed("grid"));
    CHECK(place.text() == R"({
  "warpwise_progress": 1,
  "started": "2026-11-20",
  "chapters": {
    "1_basics_and_pi": "2026-11-21"
  },
  "exercises": {
    "guard": {
      "passed": "2026-11-21",
      "attempts": 3,
      "hints": 2,
      "solution_seen": true
    }
  }
}
)");
    CHECK(place.names() == std::vector<std::string>{".warpwise.json"});
}

TEST_CASE("an update changes what it changes, and removes what it removes", "[guide]") {
    const Place place;
    ProgressFile file = place.open();
    file.update([](Progress& progress) {
        progress.exercises["guard"].attempts = 1;
        progress.exercises["grid"].hints = 1;
        progress.chapters["1_basics_and_pi"] = "2026-11-21";
    });
    const Progress after = file.update([](Progress& progress) {
        progress.exercises.erase("guard");
        progress.exercises["grid"].attempts = 5;
        progress.chapters.clear();
    });
    CHECK(after.exercises.size() == 1);
    CHECK(after.exercises.at("grid").attempts == 5);
    CHECK(after.exercises.at("grid").hints == 1);
    CHECK(file.read() == after);
}

TEST_CASE("an update that changes nothing leaves the file alone, and one that throws as well", "[guide]") {
    const Place place;
    ProgressFile file = place.open();
    file.update([](Progress& progress) { progress.started = "2026-11-20"; });
    struct stat before {};
    struct stat after {};
    REQUIRE(::stat(place.file.c_str(), &before) == 0);
    file.update(no_change);
    CHECK_THROWS_AS(file.update([](Progress& progress) {
        progress.started = "2026-11-21";
        throw std::runtime_error("Ctrl-C");
    }),
                    std::runtime_error);
    REQUIRE(::stat(place.file.c_str(), &after) == 0);
    CHECK(before.st_ino == after.st_ino);
    // The lock is free again.
    CHECK(file.update([](Progress& progress) { progress.started = "2026-11-22"; }).started == "2026-11-22");
}

TEST_CASE("keeps the marks of a renamed exercise", "[guide]") {
    const Place place(R"({"name": "index_and_guard", "kind": "fill", "formerly": ["first", "guard"]})");
    place.write(
        R"({"exercises": {"guard": {"passed": "2026-11-01", "attempts": 4, "note": "hard"}, "gone": {"hints": 1}}})");
    ProgressFile file = place.open();
    const Progress progress = file.read();
    CHECK(progress.exercises.at("index_and_guard").passed == "2026-11-01");
    CHECK(progress.exercises.at("index_and_guard").attempts == 4);
    CHECK_FALSE(progress.exercises.contains("guard"));
    CHECK(progress.exercises.at("gone").hints == 1);

    file.update(no_change);
    CHECK_FALSE(place.json()["exercises"].contains("guard"));
    CHECK(place.json()["exercises"]["index_and_guard"]["note"] == "hard");
    CHECK(place.json()["exercises"]["gone"]["hints"] == 1);
}

TEST_CASE("merges the marks under an old and a new name: passed wins, and the larger counts", "[guide]") {
    const Place place(R"({"name": "new", "kind": "fill", "formerly": ["old", "older"]})");
    place.write(R"({"exercises": {
        "older": {"passed": "2026-10-01", "attempts": 1, "a": 1},
        "new": {"passed": "", "attempts": 2, "hints": 3, "b": 2},
        "old": {"passed": "2026-09-01", "attempts": 7, "solution_seen": true, "b": 1}}})");
    ProgressFile file = place.open();
    const ExerciseProgress merged{.passed = "2026-09-01", .attempts = 7, .hints = 3, .solution_seen = true};
    CHECK(file.read().exercises == std::map<std::string, ExerciseProgress>{{"new", merged}});
    file.update([](Progress& progress) { progress.exercises["new"].attempts = 8; });
    CHECK(place.json()["exercises"].dump() ==
          R"({"new":{"passed":"2026-09-01","attempts":8,"hints":3,"b":2,"solution_seen":true,"a":1}})");
}

TEST_CASE("a former name that another exercise has now belongs to that one", "[guide]") {
    const Place place(R"({"name": "a", "kind": "fill", "formerly": ["b"]}, {"name": "b", "kind": "fill"})");
    place.write(R"({"exercises": {"b": {"attempts": 1}}})");
    CHECK(place.open().read().exercises.at("b").attempts == 1);
    CHECK_FALSE(place.open().read().exercises.contains("a"));
}

TEST_CASE("marks do not depend on the order of the exercises", "[guide]") {
    const Place place;
    place.open().update([](Progress& progress) { progress.exercises["grid"].passed = "2026-11-21"; });
    const Catalog reordered = catalog_of(R"({"name": "grid", "kind": "fill"}, {"name": "guard", "kind": "fill"})");
    CHECK(ProgressFile(place.file, reordered).read().has_passed("grid"));
}

TEST_CASE("keeps what a newer version has written, also where it cannot understand it", "[guide]") {
    const Place place;
    place.write(R"({"warpwise_progress": 2, "streak": [1, 2], "started": {"day": 1}, "chapters": {"x": {"read": true}},
        "exercises": {"guard": {"attempts": 1, "seconds": 17.5}, "tiles": "done", "grid": {"attempts": {"cpu": 2}}}})");
    ProgressFile file = place.open();
    const Progress after = file.update([](Progress& progress) {
        progress.exercises["guard"].attempts += 1;
        progress.exercises["tiles"];  // only looked at
        progress.chapters["1_basics_and_pi"] = "2026-11-21";
    });
    CHECK(file.take_message().empty());
    CHECK(after.exercises.at("guard").attempts == 2);
    const ordered_json json = place.json();
    CHECK(json["warpwise_progress"] == 2);
    CHECK(json["streak"] == warpwise::parse_json<ordered_json>("[1, 2]"));
    CHECK(json["started"]["day"] == 1);
    CHECK(json["chapters"]["x"]["read"] == true);
    CHECK(json["chapters"]["1_basics_and_pi"] == "2026-11-21");
    CHECK(json["exercises"]["guard"]["seconds"] == 17.5);
    CHECK(json["exercises"]["tiles"] == "done");
    CHECK(json["exercises"]["grid"]["attempts"]["cpu"] == 2);
    CHECK(json.begin().key() == "warpwise_progress");
}

TEST_CASE("does not write marks where a newer version keeps something else", "[guide]") {
    const Place place;
    const std::string text = R"({"warpwise_progress": 2, "exercises": [], "chapters": []})";
    place.write(text);
    ProgressFile file = place.open();
    CHECK(file.read() == Progress{});
    CHECK_THROWS_MATCHES(file.update([](Progress& progress) { progress.exercises["guard"].hints = 1; }), Refusal,
                         MessageMatches(ContainsSubstring("newer version") && ContainsSubstring("git pull")));
    CHECK(place.text() == text);
}

TEST_CASE("a file that makes no sense is moved aside, and a new one is begun", "[guide]") {
    const Place place;
    const std::string aside = ".warpwise.json.broken-" + today();
    const std::string deep(100000, '[');
    const std::vector<std::string> broken = {"{\"exercises\": {",
                                             "<<<<<<< HEAD",
                                             "[]",
                                             "7",
                                             R"({"exercises": []})",
                                             R"({"chapters": null})",
                                             R"({"warpwise_progress": "1"})",
                                             "{\"started\": \"\xff\"}",
                                             "{\"x\": " + deep + std::string(100000, ']') + "}",
                                             deep};
    for (const std::string& text : broken) {
        INFO(text.substr(0, 60));
        place.write(text);
        ProgressFile file = place.open();
        CHECK(file.read() == Progress{});
        const std::string message = file.take_message();
        CHECK_THAT(message, StartsWith(place.file.string()) && ContainsSubstring((place.folder / aside).string()) &&
                                !ContainsSubstring("json.exception"));
        CHECK(file.take_message().empty());
        CHECK(read_file(place.folder / aside) == text);
        CHECK_FALSE(fs::exists(place.file));
        fs::remove(place.folder / aside);

        place.write(text);
        ProgressFile writer = place.open();
        writer.update([](Progress& progress) { progress.exercises["guard"].attempts = 1; });
        CHECK(writer.take_message() == message);
        CHECK(read_file(place.folder / aside) == text);
        CHECK(place.open().read().exercises.at("guard").attempts == 1);
        fs::remove(place.folder / aside);
    }
}

TEST_CASE("what was moved aside on the same day before is not overwritten", "[guide]") {
    const Place place;
    const std::string aside = ".warpwise.json.broken-" + today();
    for (const char* text : {"one", "two", "three"}) {
        place.write(text);
        CHECK(place.open().read() == Progress{});
    }
    CHECK(place.names() == std::vector<std::string>{aside, aside + ".2", aside + ".3"});
    CHECK(read_file(place.folder / aside) == "one");
    CHECK(read_file(place.folder / (aside + ".3")) == "three");
}

TEST_CASE("a file that somebody else has written, or removed, is noticed", "[guide]") {
    const Place place;
    ProgressFile file = place.open();
    CHECK(file.read() == Progress{});
    CHECK_FALSE(file.may_have_changed());
    ProgressFile other = place.open();
    other.update([](Progress& progress) { progress.exercises["guard"].passed = "2026-11-21"; });
    CHECK(file.may_have_changed());
    CHECK(file.read().has_passed("guard"));
    CHECK_FALSE(file.may_have_changed());
    fs::remove(place.file);
    CHECK(file.may_have_changed());
    CHECK_FALSE(file.read().has_passed("guard"));
}

TEST_CASE("an empty file is as good as none", "[guide]") {
    const Place place;
    place.write(" \n");
    ProgressFile file = place.open();
    CHECK(file.read() == Progress{});
    CHECK(file.take_message().empty());
    file.update([](Progress& progress) { progress.started = "2026-11-21"; });
    CHECK(place.open().read().started == "2026-11-21");
}

TEST_CASE("an entry that makes no sense costs that entry, and is told once", "[guide]") {
    const Place place;
    for (const char* entry : {"7", "[]", "null", R"({"passed": true})", R"({"attempts": -1})", R"({"attempts": 1.5})",
                              R"({"attempts": 4294967296})", R"({"hints": "3"})", R"({"solution_seen": "no"})"}) {
        INFO(entry);
        place.write(R"({"started": 7, "chapters": {"a": 1, "b": "2026-11-20"}, "exercises": {"guard": )" +
                    std::string(entry) + R"(, "grid": {"attempts": 2147483647}}})");
        ProgressFile file = place.open();
        const Progress progress = file.read();
        CHECK(progress.exercises.size() == 1);
        CHECK(progress.exercises.at("grid").attempts == 2147483647);
        CHECK(progress.chapters == std::map<std::string, std::string>{{"b", "2026-11-20"}});
        CHECK(progress.started.empty());
        const std::string message = file.take_message();
        CHECK_THAT(message, ContainsSubstring("guard") && ContainsSubstring(place.file.string()) &&
                                ContainsSubstring("'started'"));
        CHECK(has(place.text(), entry));  // reading does not write
        CHECK(file.read() == progress);
        CHECK(file.take_message().empty());
        file.update([](Progress& changed) { changed.exercises["grid"].hints = 1; });
        CHECK(file.take_message().empty());
        CHECK_FALSE(place.json()["exercises"].contains("guard"));
        CHECK(place.json()["exercises"]["grid"]["hints"] == 1);
    }
}

TEST_CASE("keeps predictions, in a file that people can read", "[guide]") {
    const Place place;
    const Progress written = place.open().update([](Progress& progress) {
        progress.keep_prediction("coalescing/1", {.lesson = "coalescing",
                                                  .idea = "coalesced loads",
                                                  .question = "How many sectors?",
                                                  .choices = {},
                                                  .unit = "sectors",
                                                  .answer = "32",
                                                  .factor = 1.2,
                                                  .because = "Each lane touches a sector of its own.",
                                                  .guess = "8",
                                                  .right = false,
                                                  .date = "2026-11-21"});
        progress.keep_prediction("vector_add/1", {.lesson = "vector_add",
                                                  .idea = {},
                                                  .question = "Which is right?",
                                                  .choices = {"all", "none"},
                                                  .unit = {},
                                                  .answer = "none",
                                                  .because = {},
                                                  .guess = "none",
                                                  .right = true,
                                                  .date = "2026-11-22"});
    });
    CHECK(written.predictions.size() == 2);
    CHECK(place.open().read() == written);
    CHECK(place.text() == R"({
  "warpwise_progress": 1,
  "predictions": {
    "coalescing/1": {
      "lesson": "coalescing",
      "idea": "coalesced loads",
      "question": "How many sectors?",
      "unit": "sectors",
      "answer": "32",
      "because": "Each lane touches a sector of its own.",
      "guess": "8",
      "date": "2026-11-21",
      "factor": 1.2,
      "right": false
    },
    "vector_add/1": {
      "lesson": "vector_add",
      "question": "Which is right?",
      "answer": "none",
      "guess": "none",
      "date": "2026-11-22",
      "choices": [
        "all",
        "none"
      ],
      "right": true
    }
  }
}
)");
}

TEST_CASE("of several guesses at one question the first counts, and a new question is a new one", "[guide]") {
    const Place place;
    const auto guess = [&](const char* question, const char* text, bool right) {
        return place.open()
            .update([&](Progress& progress) {
                PredictionProgress prediction;
                prediction.question = question;
                prediction.guess = text;
                prediction.right = right;
                progress.keep_prediction("tiles/1", prediction);
            })
            .predictions.at("tiles/1");
    };
    CHECK_FALSE(guess("How many conflicts?", "1", false).right);
    const PredictionProgress second = guess("How many conflicts?", "32", true);
    CHECK_FALSE(second.right);
    CHECK(second.guess == "1");
    CHECK(guess("How many sectors?", "4", true).right);
}

TEST_CASE("a prediction that makes no sense costs that prediction", "[guide]") {
    const Place place;
    for (const char* entry : {"7", "[]", R"({"question": 1})", R"({"choices": "a"})", R"({"choices": [1]})",
                              R"({"right": "yes"})", R"({"factor": 0.5})", R"({"factor": "2"})"}) {
        INFO(entry);
        place.write(R"({"predictions": {"a/1": )" + std::string(entry) + R"(, "b/1": {"guess": "4", "asked": 2}}})");
        ProgressFile file = place.open();
        const Progress progress = file.read();
        CHECK(progress.predictions.size() == 1);
        CHECK(progress.predictions.at("b/1").guess == "4");
        CHECK_THAT(file.take_message(), ContainsSubstring("a/1"));
        file.update([](Progress& changed) { changed.predictions["b/1"].right = true; });
        CHECK_FALSE(place.json()["predictions"].contains("a/1"));
        CHECK(place.json()["predictions"]["b/1"]["right"] == true);
        CHECK(place.json()["predictions"]["b/1"]["asked"] == 2);  // what this version does not know stays
    }
}

TEST_CASE("names that are not UTF-8 do not cost the marks", "[guide]") {
    const Place place;
    ProgressFile file = place.open();
    file.update([](Progress& progress) {
        progress.exercises["grid"].attempts = 1;
        progress.exercises["\xff"].attempts = 1;
    });
    CHECK(place.open().read().exercises.at("grid").attempts == 1);
}

TEST_CASE("two processes that write at the same time lose nothing", "[guide]") {
    const Place place;
    constexpr int updates = 200;
    const auto many_updates = [&](const std::string& name) {
        ProgressFile file = place.open();
        for (int i = 0; i < updates; ++i) {
            file.update([&](Progress& progress) {
                progress.exercises[name].attempts += 1;
                progress.exercises["of_both"].attempts += 1;
            });
            // A lock is not a queue: without a pause the same process may get it again and again.
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return file.take_message().empty() ? 0 : 1;
    };
    const pid_t one = in_another_process([&] { return many_updates("guard"); });
    const pid_t other = in_another_process([&] { return many_updates("grid"); });
    CHECK(status_of(one) == 0);
    CHECK(status_of(other) == 0);
    const Progress progress = place.open().read();
    CHECK(progress.exercises.at("guard").attempts == updates);
    CHECK(progress.exercises.at("grid").attempts == updates);
    CHECK(progress.exercises.at("of_both").attempts == 2 * updates);
    CHECK(place.names() == std::vector<std::string>{".warpwise.json"});
}

TEST_CASE("a process that is killed while it writes leaves the old file or the new one", "[guide]") {
    const Place place;
    std::mt19937 random(1);
    int last = 0;
    for (int round = 0; round < 20; ++round) {
        int ends[2];
        REQUIRE(::pipe(ends) == 0);
        const pid_t child = in_another_process([&]() -> int {
            ProgressFile file = place.open();
            while (true) {
                const int done = file.update([](Progress& progress) {
                                         progress.exercises["grid"].attempts += 1;
                                         progress.exercises["grid"].passed.resize(20000, 'x');  // takes a while
                                     })
                                     .exercises.at("grid")
                                     .attempts;
                if (::write(ends[1], &done, sizeof done) != sizeof done) return 1;
            }
        });
        ::close(ends[1]);
        int done = 0;
        REQUIRE(::read(ends[0], &done, sizeof done) == sizeof done);
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 10000));
        ::kill(child, SIGKILL);
        CHECK(status_of(child) == 128 + SIGKILL);
        for (int next; ::read(ends[0], &next, sizeof next) == sizeof next;) done = next;
        ::close(ends[0]);

        ProgressFile file = place.open();
        const int found = file.read().exercises["grid"].attempts;
        CHECK(file.take_message().empty());
        CHECK(found > last);
        CHECK((found == done || found == done + 1));  // killed after it was written and before it was said
        last = found;
    }
    // Nothing that was left lying about stays for good.
    place.open().update([](Progress& progress) { progress.started = "2026-11-21"; });
    CHECK(place.names() == std::vector<std::string>{".warpwise.json"});
}

TEST_CASE("waits for a lock, and names the problem when it is not given back", "[guide]") {
    const Place place;
    const int folder = ::open(place.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    REQUIRE(folder >= 0);
    REQUIRE(::flock(folder, LOCK_EX) == 0);
    ProgressFile file = place.open();
    const auto begin = std::chrono::steady_clock::now();
    CHECK_THROWS_MATCHES(file.update([](Progress& progress) { progress.started = "2026-11-21"; }), Refusal,
                         MessageMatches(ContainsSubstring(place.file.string()) && ContainsSubstring("locked")));
    const auto waited = std::chrono::steady_clock::now() - begin;
    CHECK(waited >= std::chrono::seconds(5));
    CHECK(waited < std::chrono::seconds(15));
    CHECK(file.read() == Progress{});  // needs no lock

    std::thread([folder] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        ::close(folder);
    }).detach();
    CHECK(file.update([](Progress& progress) { progress.started = "2026-11-21"; }).started == "2026-11-21");
}

TEST_CASE("a symbolic link to the file stays one", "[guide]") {
    const Place place;
    fs::create_directory(place.folder / "home");
    fs::create_symlink("home/marks.json", place.file);
    ProgressFile file = place.open();
    CHECK(file.read() == Progress{});
    file.update([](Progress& progress) { progress.started = "2026-11-20"; });
    file.update([](Progress& progress) { progress.started = "2026-11-21"; });
    CHECK(fs::is_symlink(place.file));
    CHECK(file.read().started == "2026-11-21");
    CHECK(has(read_file(place.folder / "home/marks.json").value_or(""), "2026-11-21"));

    // What makes no sense is moved aside where it is.
    replace_file(place.file, "{");
    CHECK(file.read() == Progress{});
    CHECK(fs::is_symlink(place.file));
    CHECK(fs::exists(place.folder / ("home/marks.json.broken-" + today())));
}

TEST_CASE("keeps the permissions of the file", "[guide]") {
    const Place place;
    place.write("{}");
    fs::permissions(place.file, fs::perms(0600));
    place.open().update([](Progress& progress) { progress.started = "2026-11-20"; });
    CHECK(fs::status(place.file).permissions() == fs::perms(0600));
}

TEST_CASE("a folder in place of the file is no reason to stop, but nothing can be written", "[guide]") {
    const Place place;
    fs::create_directory(place.file);
    ProgressFile file = place.open();
    CHECK(file.read() == Progress{});
    CHECK_THAT(file.take_message(), ContainsSubstring(place.file.string()) && ContainsSubstring("folder"));
    CHECK_THROWS_MATCHES(file.update([](Progress& progress) { progress.started = "2026-11-21"; }), Refusal,
                         MessageMatches(ContainsSubstring(place.file.string()) && ContainsSubstring("folder")));
    CHECK(fs::is_directory(place.file));
}

TEST_CASE("a file or folder without the rights for it is refused by name when it is written", "[guide]") {
    const Place place;
    place.write(R"({"started": "2026-11-20"})");
    const auto update_is_refused = [&] {
        return refusal_of([&] { place.open().update([](Progress& progress) { progress.started = "2026-11-21"; }); });
    };
    fs::permissions(place.file, fs::perms::none);
    CHECK(holds_for_others([&] {
        ProgressFile file = place.open();
        const bool empty = file.read() == Progress{};
        const std::string message = file.take_message();
        return empty && has(message, "cannot read " + place.file.string()) && has(message, "chmod") &&
               has(update_is_refused(), "cannot read " + place.file.string());
    }));

    fs::permissions(place.file, fs::perms(0444));
    CHECK(holds_for_others([&] {
        return place.open().read().started == "2026-11-20" &&
               has(update_is_refused(), "cannot write " + place.file.string());
    }));

    fs::permissions(place.file, fs::perms(0666));
    fs::permissions(place.folder, fs::perms(0555));
    CHECK(holds_for_others([&] {
        return place.open().read().started == "2026-11-20" &&
               has(update_is_refused(), "cannot write " + place.file.string());
    }));

    // It makes no sense, and it cannot be moved aside.
    fs::permissions(place.folder, fs::perms(0777));
    place.write("{");
    fs::permissions(place.folder, fs::perms(0555));
    CHECK(holds_for_others([&] {
        ProgressFile file = place.open();
        const bool empty = file.read() == Progress{};
        return empty && has(file.take_message(), "could not be moved") &&
               has(update_is_refused(), "could not be moved");
    }));
    CHECK(place.text() == "{");
}

TEST_CASE("a folder that is not there is refused when the file is written", "[guide]") {
    const Place place;
    ProgressFile file(place.folder / "gone/.warpwise.json", place.catalog);
    CHECK(file.read() == Progress{});
    CHECK(file.take_message().empty());
    CHECK_THROWS_MATCHES(file.update([](Progress& progress) { progress.started = "2026-11-21"; }), Refusal,
                         MessageMatches(ContainsSubstring("gone/.warpwise.json")));
}

TEST_CASE("a file in the current folder may be named without a folder", "[guide]") {
    const Place place;
    const fs::path before = fs::current_path();
    fs::current_path(place.folder);
    ProgressFile file("marks.json", place.catalog);
    file.update([](Progress& progress) { progress.started = "2026-11-21"; });
    CHECK(file.read().started == "2026-11-21");
    fs::current_path(before);
    CHECK(place.names() == std::vector<std::string>{"marks.json"});
}

TEST_CASE("dates are written year first", "[guide]") {
    const std::string date = today();
    REQUIRE(date.size() == 10);
    CHECK(date[4] == '-');
    CHECK(date[7] == '-');
    CHECK(date.substr(0, 2) == "20");
}

namespace {

/// A chapter of two lessons and two exercises, one after another, and one of a page and a lesson.
Catalog catalog_with_path() {
    return Catalog::from_json(R"({"warpwise_catalog": 1, "chapters": [
        {"folder": "1_basics", "program": "basics", "lessons": ["hello", "add"],
         "exercises": [{"name": "guard", "kind": "fill"}, {"name": "stride", "kind": "fix"}],
         "path": [{"kind": "lesson", "name": "hello", "idea": "indices"},
                  {"kind": "exercise", "name": "guard", "idea": "indices"},
                  {"kind": "lesson", "name": "add", "idea": "loops"},
                  {"kind": "exercise", "name": "stride", "idea": "loops"}]},
        {"folder": "2_memory", "program": "memory", "lessons": ["tiles"], "exercises": [],
         "path": [{"kind": "page", "name": "execution_model"}, {"kind": "lesson", "name": "tiles"}]}]})",
                              "/copy");
}

}  // namespace

TEST_CASE("the next station is the first on the path that is not done", "[guide]") {
    const Catalog catalog = catalog_with_path();
    Progress progress;
    const auto next = [&] { return next_station(catalog, progress).key(); };
    CHECK(next() == "lesson/hello");

    // Neither a hint nor an attempt is an end.
    progress.exercises["guard"].hints = 1;
    progress.exercises["guard"].attempts = 1;
    CHECK(next() == "lesson/hello");
    progress.lessons["hello"].run = "2026-11-21";
    CHECK(next() == "exercise/guard");
    progress.exercises["guard"].passed = "2026-11-21";
    CHECK(next() == "lesson/add");

    // Whoever has passed an exercise needs no lesson about its idea any more.
    progress.exercises["stride"].passed = "2026-11-21";
    CHECK(next() == "page/execution_model");
    progress.pages["execution_model"] = "2026-11-22";
    CHECK(next() == "lesson/tiles");
    progress.lessons["tiles"].run = "2026-11-22";
    CHECK(next().empty());
    CHECK_FALSE(next_station(catalog, progress));
    CHECK_FALSE(next_station(Catalog(), Progress{}));
}

TEST_CASE("a page that leads up to a lesson is done once that lesson was run", "[guide]") {
    const Catalog catalog = Catalog::from_json(R"({"warpwise_catalog": 1, "chapters": [
        {"folder": "1_basics", "program": "basics", "lessons": ["hello"], "exercises": [],
         "path": [{"kind": "page", "name": "hierarchy", "idea": "indices"},
                  {"kind": "lesson", "name": "hello", "idea": "indices"}]}]})",
                                               "/copy");
    Progress progress;
    CHECK(next_station(catalog, progress).key() == "page/hierarchy");
    progress.lessons["hello"].run = "2026-11-21";
    CHECK_FALSE(next_station(catalog, progress));
}

TEST_CASE("what was skipped comes after all else, and the search goes round from where the learner is", "[guide]") {
    const Catalog catalog = catalog_with_path();
    const std::vector<Station> way = catalog.way();
    Progress progress;
    progress.lessons["hello"].run = "2026-11-21";
    progress.skipped["exercise/guard"] = "2026-11-21";
    CHECK(next_station(way, progress).key() == "lesson/add");
    CHECK(next_station(way, progress, way[3]).key() == "page/execution_model");
    CHECK(next_station(way, progress, way.back()).key() == "lesson/add");
    progress.exercises["stride"].passed = "2026-11-21";
    progress.pages["execution_model"] = "2026-11-21";
    progress.lessons["tiles"].run = "2026-11-21";
    CHECK(next_station(way, progress).key() == "exercise/guard");
    progress.exercises["guard"].passed = "2026-11-22";
    CHECK_FALSE(next_station(way, progress));
}

TEST_CASE("a file from before lessons had marks: all lessons of a chapter that was run count as run", "[guide]") {
    const Place place;
    const Catalog catalog = catalog_with_path();
    place.write(R"({"warpwise_progress": 1, "started": "2026-11-20",
                    "chapters": {"1_basics": "2026-11-21", "9_unknown": "2026-11-21"},
                    "exercises": {"guard": {"passed": "2026-11-21", "attempts": 2}}})");
    ProgressFile file(place.file, catalog);
    const Progress progress = file.read();
    CHECK(progress.lessons ==
          std::map<std::string, LessonProgress>{{"hello", {"2026-11-21", ""}}, {"add", {"2026-11-21", ""}}});
    CHECK(progress.exercises.at("guard").attempts == 2);
    CHECK(next_station(catalog, progress).key() == "exercise/stride");
    CHECK(file.take_message().empty());

    // From the first change on the file says so itself; a lesson that is new in the chapter is not taken for run.
    file.update([](Progress& changed) { changed.last_start = "2026-11-22"; });
    CHECK(place.json()["lessons"]["add"]["run"] == "2026-11-21");
    place.write(R"({"warpwise_progress": 1, "chapters": {"1_basics": "2026-11-21"},
                    "lessons": {"hello": {"run": "2026-11-21"}}})");
    CHECK(file.read().lessons.count("add") == 0);
}

TEST_CASE("lessons, pages, skipped stops, and reviews are kept", "[guide]") {
    const Place place;
    const Progress written = place.open().update([](Progress& progress) {
        progress.lessons["hello"] = {"2026-11-20", "2026-11-24"};
        progress.pages["execution_model"] = "2026-11-21";
        progress.skipped["exercise/grid"] = "2026-11-22";
        progress.reviews["hello/1"] = {"2026-11-23", true, 2, "32"};
        progress.last_start = "2026-11-24";
    });
    CHECK(place.open().read() == written);
    CHECK(place.json()["lessons"]["hello"]["again"] == "2026-11-24");
}

TEST_CASE("a lesson's or a review's entry that makes no sense costs that entry", "[guide]") {
    const Place place;
    place.write(R"({"warpwise_progress": 1,
        "lessons": {"hello": {"run": 7}, "add": {"run": "2026-11-21"}}, "pages": {"a": []}, "last_start": 3,
        "reviews": {"a/1": {"in_a_row": -1}, "b/1": {"date": 4}, "c/1": 5, "d/1": {"right": "yes"},
                    "e/1": {"date": "2026-11-21"}}})");
    ProgressFile file = place.open();
    const Progress progress = file.read();
    CHECK(progress.lessons.size() == 1);
    CHECK(progress.pages.empty());
    CHECK(progress.last_start.empty());
    CHECK(progress.reviews.size() == 1);
    CHECK_THAT(file.take_message(), ContainsSubstring("the entry of hello has a 'run' that is no date"));
}

TEST_CASE("a chapter is run when its last lesson is, and a later run of a lesson is noted beside the first",
          "[guide]") {
    const Catalog catalog = catalog_with_path();
    const Chapter& chapter = catalog.chapters()[0];
    Progress progress;
    progress.note_run(chapter, {"hello"}, "2026-11-20");
    progress.note_run(chapter, {"hello"}, "2026-11-20");
    CHECK(progress.lessons["hello"] == LessonProgress{"2026-11-20", ""});
    progress.note_run(chapter, {"hello"}, "2026-11-23");
    progress.note_run(chapter, {"hello"}, "2026-11-21");  // a clock that was wrong
    CHECK(progress.lessons["hello"] == LessonProgress{"2026-11-20", "2026-11-23"});
    CHECK(progress.chapters.empty());
    progress.note_run(chapter, {"add"}, "2026-11-24");
    CHECK(progress.chapters["1_basics"] == "2026-11-24");
}

TEST_CASE("what was done last is found by its date, and on one day by its place on the path", "[guide]") {
    const Catalog catalog = catalog_with_path();
    Progress progress;
    CHECK_FALSE(last_done(catalog.way(), progress).station);
    progress.lessons["hello"].run = "2026-11-20";
    progress.exercises["guard"].passed = "2026-11-20";
    CHECK(last_done(catalog.way(), progress).station.key() == "exercise/guard");
    progress.lessons["hello"].again = "2026-11-21";
    CHECK(last_done(catalog.way(), progress).station.key() == "lesson/hello");
    CHECK(last_done(catalog.way(), progress).date == "2026-11-21");
}
