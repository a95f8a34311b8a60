#include "common/guide/ideas.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sstream>
#include <string>
#include <vector>

using namespace guide;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Three chapters; an idea of two exercises, one of a lesson alone, and one that comes again in the second chapter.
const Catalog& catalog() {
    static const Catalog catalog = Catalog::from_json(R"({"warpwise_catalog": 1, "chapters": [
        {"folder": "1_basics", "program": "basics", "lessons": ["hello", "add", "query"],
         "exercises": [{"name": "guard", "kind": "fill"}, {"name": "stride", "kind": "fix"},
                       {"name": "loop", "kind": "speed"}],
         "path": [{"kind": "lesson", "name": "hello", "idea": "thread indices"},
                  {"kind": "exercise", "name": "guard", "idea": "thread indices"},
                  {"kind": "lesson", "name": "add", "idea": "grid-stride loops"},
                  {"kind": "exercise", "name": "stride", "idea": "grid-stride loops"},
                  {"kind": "exercise", "name": "loop", "idea": "grid-stride loops"},
                  {"kind": "lesson", "name": "query", "idea": "what a device has"}]},
        {"folder": "2_memory", "program": "memory", "lessons": ["tiles"],
         "exercises": [{"name": "indices_again", "kind": "fix"}],
         "path": [{"kind": "lesson", "name": "tiles", "idea": "shared memory"},
                  {"kind": "exercise", "name": "indices_again", "idea": "thread indices"}]},
        {"folder": "3_more", "program": "more", "lessons": ["last"], "exercises": [],
         "path": [{"kind": "lesson", "name": "last", "idea": "the end"}]}]})",
                                                      "/copy");
    return catalog;
}

Idea idea(const std::string& name, const Progress& progress) {
    for (const Idea& each : ideas_of(catalog(), progress)) {
        if (each.name == name) return each;
    }
    FAIL("there is no idea " << name);
    return {};
}

void predict(Progress& progress, const std::string& key, bool right) {
    PredictionProgress prediction;
    prediction.lesson = key.substr(0, key.find('/'));
    prediction.answer = "32";
    prediction.right = right;
    prediction.date = "2026-11-20";
    progress.predictions[key] = prediction;
}

void pass(Progress& progress, const std::string& exercise) { progress.exercises[exercise].passed = "2026-11-20"; }

std::string text(const Progress& progress, const MapOptions& options) {
    return map_text(catalog(), progress, options, {});
}

}  // namespace

TEST_CASE("ideas: mastered once all exercises are passed, in every chapter") {
    Progress progress;
    CHECK(idea("thread indices", progress).mastery == Mastery::open);
    progress.lessons["hello"].run = "2026-11-20";
    CHECK(idea("thread indices", progress).mastery == Mastery::begun);
    pass(progress, "guard");
    CHECK(idea("thread indices", progress).mastery == Mastery::begun);
    pass(progress, "indices_again");
    CHECK(idea("thread indices", progress).mastery == Mastery::mastered);
    CHECK(idea("thread indices", progress).reasons.empty());
}

TEST_CASE("ideas: shaky when fewer than two thirds of the predictions are right, and why is said") {
    Progress progress;
    pass(progress, "stride");
    pass(progress, "loop");
    progress.lessons["add"].run = "2026-11-20";
    predict(progress, "add/1", true);
    predict(progress, "add/2", true);
    predict(progress, "add/3", false);
    CHECK(idea("grid-stride loops", progress).mastery == Mastery::mastered);
    predict(progress, "add/2", false);
    const Idea shaky = idea("grid-stride loops", progress);
    CHECK(shaky.mastery == Mastery::shaky);
    CHECK(shaky.reasons == std::vector<std::string>{"1 of 3 predictions right"});
    CHECK(shaky.look_at.text() == "lesson 1.2, add");

    // The last answer counts.
    progress.reviews["add/2"] = {"2026-11-21", true, 1, "32"};
    CHECK(idea("grid-stride loops", progress).mastery == Mastery::mastered);
}

TEST_CASE("ideas: a prediction counts for the idea that it names, and for its lesson's where there is no such idea") {
    Progress progress;
    progress.lessons["hello"].run = progress.lessons["add"].run = "2026-11-20";
    predict(progress, "add/1", false);
    progress.predictions["add/1"].idea = "thread indices";
    CHECK(idea("grid-stride loops", progress).mastery == Mastery::begun);
    CHECK(idea("thread indices", progress).mastery == Mastery::shaky);
    CHECK(idea("thread indices", progress).look_at.name() == "hello");
    progress.lessons.erase("hello");  // asked before the lesson of its idea was reached
    CHECK(idea("thread indices", progress).look_at.name() == "add");
    progress.predictions["add/1"].idea = "a name that it had once";
    CHECK(idea("grid-stride loops", progress).mastery == Mastery::shaky);
}

TEST_CASE("ideas: shaky after many attempts, until the lesson was run again on a later day") {
    Progress progress;
    pass(progress, "stride");
    pass(progress, "loop");
    progress.lessons["add"].run = "2026-11-20";
    progress.exercises["loop"].attempts = many_attempts - 1;
    CHECK(idea("grid-stride loops", progress).mastery == Mastery::mastered);
    progress.exercises["loop"].attempts = many_attempts;
    CHECK(idea("grid-stride loops", progress).mastery == Mastery::shaky);
    CHECK(idea("grid-stride loops", progress).reasons == std::vector<std::string>{"5 attempts at loop"});
    predict(progress, "add/1", true);
    predict(progress, "add/2", true);
    predict(progress, "add/3", false);  // two of three are enough: the wrong one is no reason
    CHECK(idea("grid-stride loops", progress).reasons == std::vector<std::string>{"5 attempts at loop"});
    progress.lessons["add"].again = "2026-11-21";
    CHECK(idea("grid-stride loops", progress).mastery == Mastery::mastered);
    progress.exercises["loop"].passed = "";  // without an answer that passes, reading again is not enough
    CHECK(idea("grid-stride loops", progress).mastery == Mastery::shaky);
}

TEST_CASE("ideas: shaky when the solution was seen before the exercise passed") {
    Progress progress;
    progress.exercises["guard"].solution_seen = true;
    const Idea shaky = idea("thread indices", progress);
    CHECK(shaky.mastery == Mastery::shaky);
    CHECK(shaky.reasons == std::vector<std::string>{"solution of guard seen before it passed"});
    CHECK(shaky.look_at.name() == "hello");
}

TEST_CASE("ideas: without exercises predictions show it, and running the lesson alone is only a beginning") {
    Progress progress;
    progress.lessons["query"].run = "2026-11-20";
    CHECK(idea("what a device has", progress).mastery == Mastery::begun);
    predict(progress, "query/1", true);
    CHECK(idea("what a device has", progress).mastery == Mastery::mastered);
    predict(progress, "query/1", false);
    CHECK(idea("what a device has", progress).mastery == Mastery::shaky);
}

TEST_CASE("map: shows what is done, where the learner is, and chapters that were not begun as a line") {
    Progress progress;
    progress.lessons["hello"].run = "2026-11-20";
    progress.skipped["exercise/guard"] = "2026-11-20";
    const std::string map = text(progress, {.typed = "./warpwise", .today = "2026-11-21"});
    CHECK_THAT(map, ContainsSubstring("Chapter 1: Basics  1 of 6 stops done\n"
                                      "  1.1  #-   thread indices     begun\n"
                                      "  1.2  >..  grid-stride loops            add\n"
                                      "  1.3  .    what a device has\n"));
    CHECK_THAT(
        map, ContainsSubstring("\nChapter 2: Memory  ..  0 of 2 stops done\nChapter 3: More    .  0 of 1 stop done\n"));
    CHECK_THAT(map,
               ContainsSubstring("Ideas: 0 mastered, 0 shaky, 1 begun, 4 open.\n"
                                 "Shaky: too many wrong predictions or answers, or the solution was seen first.\n"
                                 "Predictions count for the idea that they are about, in all lessons together.\n"));
    CHECK_THAT(map, ContainsSubstring("# done   > here   . open   - left out"));
    CHECK(map.find("shared memory") == std::string::npos);
    CHECK_THAT(text(progress, {.typed = "./warpwise", .all = true}), ContainsSubstring("  2.1  .    shared memory\n"));
    const std::string second = text(progress, {.typed = "./warpwise", .chapter = "2_memory"});
    CHECK_THAT(second, ContainsSubstring("shared memory"));
    CHECK(second.find("Chapter 1") == std::string::npos);
}

TEST_CASE("map: says why an idea is shaky, and what to do about it") {
    Progress progress;
    progress.exercises["stride"].attempts = 6;
    predict(progress, "add/1", false);
    predict(progress, "add/2", true);
    predict(progress, "add/3", false);
    CHECK_THAT(text(progress, {.typed = "./warpwise"}),
               ContainsSubstring("\ngrid-stride loops is shaky: 1 of 3 predictions right; 6 attempts at stride.\n"
                                 "    Look again at lesson 1.2, add: ./warpwise run add\n"));
}

TEST_CASE("map: fits into 80 columns, has no colors unless asked, and ends when all is done") {
    Progress progress;
    for (const char* lesson : {"hello", "add", "query", "tiles", "last"}) progress.lessons[lesson].run = "2026-11-20";
    for (const char* exercise : {"guard", "stride", "loop", "indices_again"}) pass(progress, exercise);
    const std::string map = text(progress, {.typed = "./warpwise", .all = true});
    CHECK(map.find('\033') == std::string::npos);
    CHECK(map.find(">  ") == std::string::npos);
    std::istringstream lines(map);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() < 80);
    warpwise::Terminal terminal;
    terminal.colors = true;
    CHECK_THAT(map_text(catalog(), progress, {.typed = "./warpwise"}, terminal), ContainsSubstring("\033["));
}

TEST_CASE("map: an idea that goes on in another chapter says in which one") {
    Progress progress;
    progress.lessons["hello"].run = "2026-11-20";
    pass(progress, "guard");
    CHECK_THAT(text(progress, {.typed = "./warpwise"}),
               ContainsSubstring("  1.1  ##   thread indices     begun     more in chapter 2\n"));
}

TEST_CASE("map: a long name is moved to the left, or stands below, and is never cut") {
    const auto map_with = [](const std::string& name) {
        const std::string idea = "where code runs and variables live";
        const Catalog wide = Catalog::from_json(R"({"warpwise_catalog": 1, "chapters": [
            {"folder": "1_basics", "program": "basics", "lessons": ["short"],
             "exercises": [{"name": ")" + name + R"(", "kind": "fill"}],
             "path": [{"kind": "lesson", "name": "short", "idea": ")" +
                                                    idea + R"("},
                      {"kind": "exercise", "name": ")" +
                                                    name + R"(", "idea": ")" + idea + R"("}]}]})",
                                                "/copy");
        Progress progress;
        progress.lessons["short"].run = "2026-11-20";
        return map_text(wide, progress, {.typed = "./warpwise"}, {});
    };
    const std::string moved(24, 'm'), below(30, 'b');
    CHECK_THAT(map_with(moved),
               ContainsSubstring("  1.1  #>  where code runs and variables live  begun   " + moved + "\n"));
    CHECK_THAT(map_with(below), ContainsSubstring("live  begun\n" + std::string(49, ' ') + below + "\n"));
}

TEST_CASE("map: as JSON it names each stop, each idea, and what is due") {
    Progress progress;
    progress.lessons["hello"].run = "2026-11-20";
    predict(progress, "add/1", false);
    const auto json = map_json(catalog(), progress, {.typed = "./warpwise", .today = "2026-11-21"});
    CHECK(json["chapters"].size() == 3);
    CHECK(json["chapters"][0]["stops"][0]["state"] == "done");
    CHECK(json["chapters"][0]["stops"][1]["kind"] == "exercise");
    CHECK(json["chapters"][0]["stops"][1]["state"] == "here");
    CHECK(json["here"]["name"] == "guard");
    CHECK(json["ideas"][1]["state"] == "shaky");
    CHECK(json["ideas"][1]["reasons"][0] == "0 of 1 prediction right");
    CHECK(json["ideas"][1]["look_at"] == "add");
    CHECK(json["ideas"][0]["look_at"].is_null());
    CHECK(json["reviews_due"] == 1);
}
