#include "common/guide/catalog.h"

#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/lesson/refusal.h"

using namespace guide;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;
namespace fs = std::filesystem;

namespace {

const std::string catalog_text = R"({
  "warpwise_catalog": 1,
  "chapters": [
    {"folder": "1_basics_and_pi", "program": "basics_and_pi", "lessons": ["device_query", "vector_add", "pi"],
     "exercises": [
       {"name": "index_and_guard", "kind": "fill", "formerly": ["guard", "first_index"]},
       {"name": "grid_stride", "kind": "fill", "formerly": []},
       {"name": "pi_block_sum", "kind": "fill"},
       {"name": "pi_accuracy", "kind": "fix"}]},
    {"folder": "2_memory_model", "program": "memory_model", "lessons": ["bank_conflicts", "banks"],
     "exercises": [{"name": "grid_of_tiles", "kind": "speed"}, {"name": "memory_guard", "kind": "fix"}]},
    {"folder": "10_more_memory", "title": "More CUDA", "program": "more_memory", "lessons": [], "exercises": []}
  ]
})";

/// A copy with this catalog.
class Copy {
public:
    Copy() {
        std::string name = (fs::temp_directory_path() / "catalog_test_XXXXXX").string();
        project.root = fs::canonical(::mkdtemp(name.data()));
        project.caller = project.root;
        file("build/cpu/catalog.json", catalog_text);
    }
    ~Copy() { fs::remove_all(project.root); }
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;

    void file(const std::string& name, const std::string& text) const {
        fs::create_directories((project.root / name).parent_path());
        std::ofstream(project.root / name) << text;
    }
    void program(const std::string& name, const std::string& script) const {
        file("build/bin/cpu/" + name, "#!/bin/sh\n" + script);
        fs::permissions(project.root / "build/bin/cpu" / name, fs::perms(0755));
    }
    Catalog load() const { return Catalog::load(project); }

    Project project;
};

Catalog catalog() { return Catalog::from_json(catalog_text, "/copy"); }

std::string exercise(const std::string& word) { return catalog().find_exercise(word).name; }
std::string chapter(const std::string& word) { return catalog().find_chapter(word).folder; }
std::string lesson(const std::string& word) {
    const Catalog all = catalog();
    return Catalog::find_lesson(all.chapters().front(), word).name;
}

}  // namespace

TEST_CASE("chapters get their number from the folder, and their title as well where the list tells none", "[guide]") {
    const Catalog all = catalog();
    REQUIRE(all.chapters().size() == 3);
    CHECK(all.chapters()[0].number == 1);
    CHECK(all.chapters()[0].title == "Basics and pi");
    CHECK(all.chapters()[0].lessons.size() == 3);
    CHECK(all.chapters()[0].lessons[1].name == "vector_add");
    CHECK(all.chapters()[0].lessons[1].title.empty());
    CHECK(all.chapters()[2].number == 10);
    CHECK(all.chapters()[2].title == "More CUDA");
}

TEST_CASE("exercises know their files and their former names", "[guide]") {
    const Catalog all = catalog();
    const Exercise& first = *all.exercises().front();
    CHECK(first.name == "index_and_guard");
    CHECK(first.kind == "fill");
    CHECK(first.chapter == "1_basics_and_pi");
    CHECK(first.former_names == std::vector<std::string>{"guard", "first_index"});
    CHECK(first.stub() == "/copy/exercises/1_basics_and_pi/index_and_guard/index_and_guard.cu");
    CHECK(first.own_answer() == "/copy/answers/1_basics_and_pi/index_and_guard/index_and_guard.cu");
    CHECK(first.solution == "/copy/solutions/1_basics_and_pi/index_and_guard/index_and_guard.cu");
}

namespace {

std::vector<std::string> names_on(const std::vector<Station>& way) {
    std::vector<std::string> names;
    for (const Station& station : way) names.push_back(station.key());
    return names;
}

const std::string catalog_with_path = R"({"warpwise_catalog": 1, "chapters": [
    {"folder": "1_basics", "program": "basics", "lessons": ["hello", "add"],
     "exercises": [{"name": "guard", "kind": "fill"}, {"name": "stride", "kind": "fix"}],
     "path": [{"kind": "page", "name": "execution_model", "idea": "warps"},
              {"kind": "lesson", "name": "hello", "idea": "indices"},
              {"kind": "exercise", "name": "guard", "idea": "indices"},
              {"kind": "lesson", "name": "add"},
              {"kind": "exercise", "name": "stride", "idea": "loops"}]},
    {"folder": "2_memory", "program": "memory", "lessons": ["tiles", "pitch"], "exercises": [],
     "path": [{"kind": "lesson", "name": "tiles", "idea": "tiles"}, {"kind": "lesson", "name": "pitch"}]}]})";

}  // namespace

TEST_CASE("the way goes through the chapters' paths: pages, lessons, and exercises", "[guide]") {
    const Catalog all = Catalog::from_json(catalog_with_path, "/copy");
    const std::vector<Station> way = all.way();
    CHECK(names_on(way) == std::vector<std::string>{"page/execution_model", "lesson/hello", "exercise/guard",
                                                    "lesson/add", "exercise/stride", "lesson/tiles", "lesson/pitch"});
    CHECK(way[0].text() == "the page execution_model");
    CHECK(way[1].text() == "lesson 1.1, hello");
    CHECK(way[2].text() == "exercise guard");
    CHECK(way[6].number() == "2.2");
    CHECK(way[0].idea() == "warps");
    CHECK(way[2].idea() == "indices");
    CHECK(way[3].idea().empty());
    CHECK(station_before(way, way[5]) == way[4]);
    CHECK_FALSE(station_before(way, way[0]));
    CHECK_FALSE(station_before(way, {}));
}

TEST_CASE("a page of the path has the title of its heading", "[guide]") {
    const Copy copy;
    copy.file("build/cpu/catalog.json", catalog_with_path);
    CHECK(copy.load().way()[0].title().empty());
    copy.file("docs/execution_model.md", "---\nkey: value\n---\n\n# How a GPU runs a kernel\n\n# Not this\n");
    CHECK(copy.load().way()[0].title() == "How a GPU runs a kernel");
    CHECK(copy.load().way()[0].text() == "the page How a GPU runs a kernel");
}

TEST_CASE("without a path the lessons of a chapter come before its exercises", "[guide]") {
    CHECK(names_on(catalog().way()) == std::vector<std::string>{"lesson/device_query", "lesson/vector_add", "lesson/pi",
                                                                "exercise/index_and_guard", "exercise/grid_stride",
                                                                "exercise/pi_block_sum", "exercise/pi_accuracy",
                                                                "lesson/bank_conflicts", "lesson/banks",
                                                                "exercise/grid_of_tiles", "exercise/memory_guard"});
}

TEST_CASE("a path that names what the chapter does not have is refused", "[guide]") {
    for (const char* entry : {R"({"kind": "lesson", "name": "nothing"})", R"({"kind": "film", "name": "hello"})"}) {
        const std::string text = R"({"warpwise_catalog": 1, "chapters": [{"folder": "1_a", "program": "a",
            "lessons": ["hello"], "exercises": [], "path": [)" +
                                 std::string(entry) + "]}]}";
        CHECK_THROWS_MATCHES(Catalog::from_json(text, "/copy"), Refusal,
                             MessageMatches(ContainsSubstring("the catalog cannot be read: a path ")));
    }
}

TEST_CASE("a lesson is found in any chapter, and a chapter before a lesson that only begins like it", "[guide]") {
    const Catalog all = catalog();
    const auto found = [&](const std::string& word) {
        const Station station = all.find_chapter_or_lesson(word);
        return station.chapter->folder + "/" + station.name();
    };
    CHECK(found("vector_add") == "1_basics_and_pi/vector_add");
    CHECK(found("Vector-Add") == "1_basics_and_pi/vector_add");
    CHECK(found("1.2") == "1_basics_and_pi/vector_add");
    CHECK(found("banks") == "2_memory_model/banks");
    CHECK(found("conflicts") == "2_memory_model/bank_conflicts");
    CHECK(found("pi") == "1_basics_and_pi/pi");
    CHECK(found("2") == "2_memory_model/");
    CHECK(found("memory_m") == "2_memory_model/");
    CHECK(found("more") == "10_more_memory/");
    CHECK_THROWS_MATCHES(
        found("vectr_add"), Refusal,
        Message("no chapter or lesson 'vectr_add'; did you mean vector_add? './warpwise list' shows all"));
    CHECK_THROWS_MATCHES(found("7"), Refusal, MessageMatches(ContainsSubstring("no chapter or lesson '7'")));
    CHECK_THROWS_MATCHES(found("bank"), Refusal, MessageMatches(ContainsSubstring("could be")));
    CHECK_THROWS_MATCHES(found(""), Refusal, MessageMatches(ContainsSubstring("which chapter?")));
}

TEST_CASE("the title of an exercise is in the first line of the stub, or else of what was handed out", "[guide]") {
    const Copy copy;
    const std::string folder = "exercises/1_basics_and_pi/";
    copy.file(folder + "index_and_guard/index_and_guard.cu",
              "// Exercise: one thread per element. See README.md beside this file.\r\nint i;");
    copy.file("answers/1_basics_and_pi/index_and_guard/.handed_out", "// Exercise: not this one.");
    copy.file("answers/1_basics_and_pi/grid_stride/.handed_out",
              "// Exercise: e.g. a grid. See README.md beside this file.");
    copy.file(folder + "pi_block_sum/pi_block_sum.cu",
              "#include <cmath>\n// Exercise: too late. See README.md beside this file.\n");
    fs::create_directories(copy.project.root / folder / "pi_accuracy/pi_accuracy.cu");
    const Catalog all = copy.load();
    CHECK(all.find_exercise("index_and_guard").title == "one thread per element");
    CHECK(all.find_exercise("grid_stride").title == "e.g. a grid");
    CHECK(all.find_exercise("pi_block_sum").title.empty());
    CHECK(all.find_exercise("pi_accuracy").title.empty());
}

TEST_CASE("a catalog that is missing or makes no sense is refused with the way to a new one", "[guide]") {
    const Copy copy;
    const auto refusal = [&](const std::string& text) -> std::string {
        copy.file("build/cpu/catalog.json", text);
        try {
            copy.load();
        } catch (const Refusal& refused) {
            return refused.what();
        }
        return "nothing was refused";
    };
    const auto with_chapter = [](const std::string& lessons, const std::string& exercises) {
        return R"({"warpwise_catalog": 1, "chapters": [{"folder": "1_a", "program": "a", "lessons": )" + lessons +
               R"(, "exercises": )" + exercises + "}]}";
    };
    const std::vector<std::string> senseless = {
        "",
        "{",
        "[]",
        "7",
        "{}",
        R"({"warpwise_catalog": 2, "chapters": []})",
        R"({"warpwise_catalog": "1", "chapters": []})",
        R"({"warpwise_catalog": 1})",
        R"({"warpwise_catalog": 1, "chapters": [7]})",
        with_chapter("[7]", "[]"),
        with_chapter("[]", R"([{"name": 1, "kind": "fill"}])"),
        with_chapter("[]", R"([{"name": "a"}])"),
    };
    for (const std::string& text : senseless) {
        INFO(text);
        CHECK_THAT(refusal(text), ContainsSubstring("build/cpu/catalog.json") &&
                                      ContainsSubstring("cmake --preset cpu -G Ninja") &&
                                      !ContainsSubstring("json.exception"));
    }
    CHECK(refusal(R"({"warpwise_catalog": 1, "chapters": []})") == "nothing was refused");
    fs::remove_all(copy.project.root / "build");
    CHECK_THROWS_MATCHES(copy.load(), Refusal,
                         Message("build/cpu/catalog.json is missing; write it anew: cmake --preset cpu -G Ninja"));
}

TEST_CASE("finds an exercise by name, by a former name, and in its chapter", "[guide]") {
    CHECK(exercise("grid_stride") == "grid_stride");
    CHECK(exercise("first_index") == "index_and_guard");
    CHECK(exercise("1/grid_stride") == "grid_stride");
    CHECK(exercise("basics_and_pi/grid_stride") == "grid_stride");
    CHECK(exercise("1_basics_and_pi/grid_stride/") == "grid_stride");
    CHECK(exercise("1/first_index") == "index_and_guard");
    CHECK(exercise("1/block") == "pi_block_sum");
    // A former name is as good as a name: "guard" is in two names, too.
    CHECK(exercise("guard") == "index_and_guard");
}

TEST_CASE("upper and lower case, hyphens, spaces and an ending make no difference", "[guide]") {
    CHECK(exercise("Grid-Stride") == "grid_stride");
    CHECK(exercise(" grid stride ") == "grid_stride");
    CHECK(exercise("grid_stride.cu") == "grid_stride");
    CHECK(chapter("Basics and pi") == "1_basics_and_pi");
    CHECK(lesson("VECTOR-ADD.cu") == "vector_add");
}

TEST_CASE("finds an exercise by a part of its name when only one has it, the beginning before other parts", "[guide]") {
    CHECK(exercise("grid_s") == "grid_stride");
    CHECK(exercise("index") == "index_and_guard");
    CHECK(exercise("block") == "pi_block_sum");
    CHECK(exercise("memory") == "memory_guard");
    CHECK(exercise("1/grid") == "grid_stride");
    CHECK(exercise("2/grid") == "grid_of_tiles");
    CHECK_THROWS_MATCHES(exercise("grid"), Refusal,
                         Message("'grid' could be grid_stride or grid_of_tiles; type more of the name"));
    CHECK_THROWS_MATCHES(exercise("_"), Refusal,
                         MessageMatches(ContainsSubstring("index_and_guard, grid_stride, pi_block_sum, pi_accuracy")));
}

TEST_CASE("finds an exercise by a path into its folder", "[guide]") {
    Copy copy;
    const fs::path root = copy.project.root;
    copy.file("exercises/1_basics_and_pi/grid_stride/grid_stride.cu", "");
    copy.file("exercises/1_basics_and_pi/grid_stride/wrong_answers/x.cu", "");
    copy.file("exercises/1_basics_and_pi/grid_stride_2/x.cu", "");
    copy.file("answers/1_basics_and_pi/grid_stride/grid_stride.cu", "");
    copy.file("solutions/1_basics_and_pi/grid_stride/grid_stride.cu", "");
    const auto found = [&](const fs::path& word) { return copy.load().find_exercise(word.string()).name; };

    CHECK(found("exercises/1_basics_and_pi/grid_stride") == "grid_stride");
    CHECK(found("./exercises/1_basics_and_pi/grid_stride/") == "grid_stride");
    CHECK(found("exercises/1_basics_and_pi/grid_stride/grid_stride.cu") == "grid_stride");
    CHECK(found("1_basics_and_pi/grid_stride/grid_stride.cu") == "grid_stride");
    CHECK(found(root / "exercises/1_basics_and_pi/grid_stride/wrong_answers/x.cu") == "grid_stride");
    fs::create_directory_symlink(root / "exercises", root / "mine");
    CHECK(found(root / "mine/1_basics_and_pi/grid_stride") == "grid_stride");

    copy.project.caller = root / "exercises/1_basics_and_pi/grid_stride/wrong_answers";
    CHECK(found("..") == "grid_stride");
    CHECK(found("x.cu") == "grid_stride");
    CHECK(found("answers/1_basics_and_pi/grid_stride/grid_stride.cu") == "grid_stride");
    // Not everything that is typed there is a path.
    CHECK(found("pi_block_sum") == "pi_block_sum");
    CHECK_THROWS_AS(found("2/nothing"), Refusal);

    // The answer may have been lost; checking says so then.
    fs::remove(root / "exercises/1_basics_and_pi/grid_stride/grid_stride.cu");
    CHECK(found("exercises/1_basics_and_pi/grid_stride/grid_stride.cu") == "grid_stride");

    CHECK_THROWS_AS(found("exercises/1_basics_and_pi/grid_stride_2/x.cu"), Refusal);
    CHECK_THROWS_AS(found("exercises/1_basics_and_pi"), Refusal);
    // The solution is not the learner's answer.
    CHECK_THROWS_MATCHES(found("solutions/1_basics_and_pi/grid_stride/grid_stride.cu"), Refusal,
                         MessageMatches(ContainsSubstring("did you mean grid_stride?")));
}

TEST_CASE("an unknown exercise is refused with what is near, and the command as the reader types it", "[guide]") {
    CHECK_THROWS_MATCHES(exercise("grd_stride"), Refusal,
                         Message("no exercise 'grd_stride'; did you mean grid_stride? './warpwise list' shows all"));
    CHECK_THROWS_MATCHES(exercise("qqqqqqqq"), Refusal, Message("no exercise 'qqqqqqqq'; './warpwise list' shows all"));
    CHECK_THROWS_MATCHES(exercise(""), Refusal, Message("which exercise? './warpwise list' shows all"));
    CHECK_THROWS_MATCHES(exercise("  "), Refusal, Message("which exercise? './warpwise list' shows all"));
    CHECK_THROWS_AS(exercise("/"), Refusal);
    CHECK_THROWS_AS(exercise("1/"), Refusal);
    CHECK_THROWS_AS(exercise("2/grid_stride"), Refusal);
    CHECK_THROWS_AS(exercise(std::string(100000, 'x')), Refusal);

    Copy copy;
    copy.project.typed = "../warpwise";
    CHECK_THROWS_MATCHES(copy.load().find_exercise("qqqqqqqq"), Refusal,
                         MessageMatches(ContainsSubstring("'../warpwise list'")));
}

TEST_CASE("finds a chapter by number, folder, program, or the beginning of one", "[guide]") {
    CHECK(chapter("1") == "1_basics_and_pi");
    CHECK(chapter("10") == "10_more_memory");
    CHECK(chapter("2_memory_model") == "2_memory_model");
    CHECK(chapter("memory_model") == "2_memory_model");
    CHECK(chapter("mem") == "2_memory_model");
    CHECK(chapter("1_b") == "1_basics_and_pi");
    CHECK(chapter("1/") == "1_basics_and_pi");
    CHECK_THROWS_MATCHES(chapter("m"), Refusal,
                         Message("'m' could be 2_memory_model or 10_more_memory; type more of the name"));
    CHECK_THROWS_MATCHES(chapter("basic_and_pi"), Refusal,
                         Message("no chapter 'basic_and_pi'; did you mean basics_and_pi? './warpwise list' shows all"));
    CHECK_THROWS_AS(chapter("3"), Refusal);
    CHECK_THROWS_AS(chapter(""), Refusal);

    Copy copy;
    copy.file("chapters/2_memory_model/main.cpp", "");
    CHECK(copy.load().find_chapter("chapters/2_memory_model/").folder == "2_memory_model");
    copy.project.caller = copy.project.root / "chapters/2_memory_model";
    CHECK(copy.load().find_chapter(".").folder == "2_memory_model");
}

TEST_CASE("finds a lesson by name, by a part of it, and by number", "[guide]") {
    CHECK(lesson("pi") == "pi");
    CHECK(lesson("vec") == "vector_add");
    CHECK(lesson("query") == "device_query");
    CHECK(lesson("2") == "vector_add");
    CHECK(lesson("1.3") == "pi");
    CHECK_THROWS_AS(lesson("2.3"), Refusal);
    CHECK_THROWS_AS(lesson("4"), Refusal);
    CHECK_THROWS_MATCHES(lesson("vectoradd"), Refusal,
                         Message("no lesson 'vectoradd'; did you mean vector_add? chapter 1 has "
                                 "device_query, vector_add, pi"));
    const Catalog all = catalog();
    CHECK(Catalog::find_lesson(all.chapters()[1], "bank_").name == "bank_conflicts");
    CHECK(Catalog::find_lesson(all.chapters()[1], "banks").name == "banks");
    CHECK_THROWS_AS(Catalog::find_lesson(all.chapters()[1], "bank"), Refusal);
}

TEST_CASE("titles of lessons come from the programs that are built, whatever else these print", "[guide]") {
    const Copy copy;
    copy.program("basics_and_pi", R"(test "$*" = '--list --json -' || exit 2
echo 'a warning of the driver' >&2
echo '{"warpwise": 1, "lessons": [{"name": "pi", "title": "many threads {}"}, {"name": "vector_add", "title": 7},
       {"name": "unknown", "title": "x"}, 7]}'
)");
    copy.program("memory_model", "echo '{\"lessons\": [{\"name\": \"banks\", \"title\": \"lost\"}]}'; exit 1");
    copy.program("more_memory", "echo nothing");
    Catalog all = copy.load();
    all.add_lesson_titles(copy.project);
    CHECK(all.chapters()[0].lessons[2].title == "many threads {}");
    CHECK(all.chapters()[0].lessons[1].title.empty());
    CHECK(all.chapters()[0].lessons.size() == 3);
    CHECK(all.chapters()[1].lessons[1].title.empty());
}

TEST_CASE("a chapter's program that hangs costs its titles and two seconds", "[guide]") {
    const Copy copy;
    copy.program("basics_and_pi", "sleep 30");
    copy.program("memory_model", "echo '{\"lessons\": [{\"name\": \"banks\", \"title\": \"32 of them\"}]}'");
    Catalog all = copy.load();
    const auto begin = std::chrono::steady_clock::now();
    all.add_lesson_titles(copy.project);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
    CHECK(all.chapters()[0].lessons[2].title.empty());
    CHECK(all.chapters()[1].lessons[1].title == "32 of them");
}
