// `warpwise new`: what it writes, and what it refuses. Whether that builds and passes its tests: new_files_test.sh.
#include "common/guide/new_files.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/lesson/refusal.h"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using guide::create;
using guide::NewItem;
using guide::Refusal;

namespace {

namespace fs = std::filesystem;

const fs::path source = WARPWISE_SOURCE;

constexpr const char* first_list = R"({
    "title": "Basics",
    "program": "basics",
    "path": [
        {"lesson": "vector_add", "about": "five moves; \"all\" of them"},
        {"exercise": "grid_stride", "kind": "fill", "formerly": ["strided"]},
        {"lesson": "pi", "about": "many threads"}
    ]
}
)";

/// A repository with the chapters 2 and 10, and the real templates.
class Copy {
public:
    Copy() {
        std::string name = (fs::temp_directory_path() / "new_files_test_XXXXXX").string();
        project.root = mkdtemp(name.data());
        fs::create_directories(project.root / "common/guide");
        fs::copy(source / "common/guide/templates", project.root / "common/guide/templates",
                 fs::copy_options::recursive);
        write("chapters/2_basics/chapter.json", first_list);
        write("chapters/10_more/chapter.json", "{\"title\": \"More\", \"program\": \"more\", \"path\": []}");
        fs::create_directories(project.root / "chapters/11_to_come");
    }
    ~Copy() { fs::remove_all(project.root); }
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;

    void write(const std::string& file, const std::string& text) const {
        fs::create_directories((project.root / file).parent_path());
        std::ofstream(project.root / file) << text;
    }
    std::string read(const std::string& file) const { return guide::read_file(project.root / file).value_or(""); }
    /// All files but the templates, below the root.
    std::vector<std::string> files() const {
        std::vector<std::string> all;
        for (const auto& entry : fs::recursive_directory_iterator(project.root)) {
            const std::string file = entry.path().lexically_relative(project.root).string();
            if (entry.is_regular_file() && !file.starts_with("common/")) all.push_back(file);
        }
        std::sort(all.begin(), all.end());
        return all;
    }

    guide::Project project;
};

bool has_no_mark_left(const std::string& text) { return text.find('@') == std::string::npos; }

}  // namespace

TEST_CASE("the lists of all chapters are written as they are read") {
    int lists = 0;
    for (const auto& chapter : fs::directory_iterator(source / "chapters")) {
        const auto text = guide::read_file(chapter.path() / "chapter.json");
        if (!text) continue;
        CHECK(guide::formatted_list(*text) == *text);
        ++lists;
    }
    CHECK(lists >= 4);
    CHECK(guide::formatted_list(first_list) == first_list);
    CHECK(guide::formatted_list(R"({"title": "a", "program": "b", "path": []})") ==
          "{\n    \"title\": \"a\",\n    \"program\": \"b\",\n    \"path\": []\n}\n");
    CHECK_THROWS_AS(guide::formatted_list("{}"), Refusal);
    CHECK_THROWS_AS(guide::formatted_list("nothing"), Refusal);
}

TEST_CASE("a new lesson has its files, and stands at the end of the last chapter's list") {
    const Copy copy;
    const guide::NewFiles files = create(copy.project, {.what = "lesson", .name = "prefix_sum", .about = "a \"scan\""});
    CHECK(copy.files() ==
          std::vector<std::string>{"chapters/10_more/chapter.json", "chapters/10_more/prefix_sum/kernels.cuh",
                                   "chapters/10_more/prefix_sum/lesson.cu", "chapters/2_basics/chapter.json",
                                   "docs/10_more/prefix_sum.md", "docs/zh/10_more/prefix_sum.md"});
    CHECK(files.created.size() == 4);
    CHECK(files.chapter == 10);
    CHECK_THAT(copy.read("chapters/10_more/chapter.json"),
               ContainsSubstring("\n        {\"lesson\": \"prefix_sum\", \"about\": \"a \\\"scan\\\"\"}\n"));
    CHECK(copy.read("chapters/2_basics/chapter.json") == first_list);
    CHECK_THAT(copy.read("chapters/10_more/prefix_sum/lesson.cu"),
               ContainsSubstring("namespace more {") && ContainsSubstring("void prefix_sum(warpwise::Lesson& lesson)"));
    CHECK_THAT(copy.read("docs/10_more/prefix_sum.md"),
               ContainsSubstring("# Prefix sum\n") && ContainsSubstring("./warpwise run 10 prefix_sum"));
    for (const fs::path& file : files.created) CHECK(has_no_mark_left(guide::read_file(file).value_or("@")));
}

TEST_CASE("a new exercise has its files, and stands after the item that was named") {
    const Copy copy;
    const guide::NewFiles files =
        create(copy.project,
               {.what = "exercise", .name = "straighten", .chapter = "basics", .kind = "speed", .after = "vector_add"});
    CHECK_THAT(copy.read("chapters/2_basics/chapter.json"),
               ContainsSubstring("of them\"},\n        {\"exercise\": \"straighten\", \"kind\": \"speed\"},\n        "
                                 "{\"exercise\": \"grid_stride\""));
    const std::string folder = "exercises/2_basics/straighten/";
    const std::string stub = copy.read(folder + "straighten.cu");
    CHECK_THAT(stub, ContainsSubstring("// Exercise: ") && ContainsSubstring("32 * (thread % columns)"));
    for (const char* file : {"straighten.h", "straighten_test.cpp", "README.md", "hints.md"}) {
        CHECK_THAT(copy.read(folder + file), ContainsSubstring("straighten"));
    }
    CHECK_THAT(copy.read("solutions/2_basics/straighten/straighten.cu"), ContainsSubstring("// Solution: "));
    CHECK_THAT(copy.read("docs/zh/exercises/2_basics/straighten.md"), ContainsSubstring("straighten"));
    for (const char* answers : {"wrong_answers", "correct_answers"}) {
        CHECK(std::distance(fs::directory_iterator(copy.project.root / folder / answers), {}) >= 3);
    }
    for (const fs::path& file : files.created) CHECK(has_no_mark_left(guide::read_file(file).value_or("@")));
}

TEST_CASE("a new lesson may stand after a page, and may have the name of one") {
    const Copy copy;
    copy.write(
        "chapters/2_basics/chapter.json",
        R"({"title": "Basics", "program": "basics", "path": [{"page": "scan"}, {"lesson": "pi", "about": ""}]})");
    create(copy.project, {.what = "lesson", .name = "scan", .chapter = "2", .about = "", .after = "scan"});
    CHECK_THAT(copy.read("chapters/2_basics/chapter.json"),
               ContainsSubstring("        {\"page\": \"scan\"},\n        {\"lesson\": \"scan\", \"about\": \"\"},\n"
                                 "        {\"lesson\": \"pi\", \"about\": \"\"}\n"));
}

TEST_CASE("the Chinese page of a new lesson names the English text that it renders") {
    const Copy copy;
    const guide::NewFiles files = create(copy.project, {.what = "lesson", .name = "scan"});
    if (!files.stamped) SKIP("no sha256sum on this machine");
    const std::string page = copy.read("docs/zh/10_more/scan.md");
    const std::string head = "---\ntranslated_from: ";
    REQUIRE(page.starts_with(head));
    CHECK(page.find_first_not_of("0123456789abcdef", head.size()) == head.size() + 12);
}

TEST_CASE("a lesson or exercise that cannot be created is refused with the reason, and nothing changes") {
    const Copy copy;
    copy.write("docs/2_basics/unlisted.md", "written by somebody");
    const std::vector<std::string> before = copy.files();
    const auto refused = [&](const NewItem& item, const std::string& reason) {
        INFO(item.what << " " << item.name);
        CHECK_THROWS_MATCHES(create(copy.project, item), Refusal, MessageMatches(ContainsSubstring(reason)));
    };
    for (const char* name : {"", "2d", "Scan", "prefix-sum", "a b", "prefix__sum", "_scan", "../scan", "größe"}) {
        refused({.what = "lesson", .name = name}, "cannot be a name: it becomes a function of C++");
    }
    for (const char* name : {"for", "double", "requires", "main", "test"}) {
        refused({.what = "exercise", .name = name}, "C++ or the build uses this word");
    }
    refused({.what = "lesson", .name = "pi"}, "the name 'pi' is taken: lesson pi in chapter 2 has it");
    refused({.what = "exercise", .name = "pi", .chapter = "10"}, "taken: lesson pi in chapter 2 has it");
    refused({.what = "lesson", .name = "strided"}, "taken: exercise grid_stride in chapter 2 once had it");
    refused({.what = "lesson", .name = "more"}, "taken: the program of chapter 10 has it");
    refused({.what = "lesson", .name = "scan", .chapter = "3"}, "there is no chapter '3'; there are 2_basics, 10_more");
    refused({.what = "exercise", .name = "scan", .kind = "hard"}, "fill, fix or speed, not 'hard'");
    refused({.what = "page", .name = "scan"}, "'page' cannot be created; lesson and exercise can");
    refused({.what = "lesson", .name = "scan", .chapter = "2", .after = "vector_ad"},
            "chapter 2 has no lesson, exercise or page of that name; did you mean vector_add?");
    refused({.what = "lesson", .name = "unlisted", .chapter = "2"}, "docs/2_basics/unlisted.md is there already");
    CHECK(copy.files() == before);
    CHECK(copy.read("chapters/2_basics/chapter.json") == first_list);

    copy.write("chapters/2_basics/chapter.json", "{\"title\": ");
    refused({.what = "lesson", .name = "scan"}, "chapters/2_basics/chapter.json: not a chapter's list");
}
