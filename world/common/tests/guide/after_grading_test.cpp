#include "common/guide/after_grading.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/guide/improvement.h"
#include "common/lesson/refusal.h"

using namespace guide;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

constexpr const char* stub =
    "// Exercise: one thread per element.\n__global__ void add(int* a) {\n"
    "    // TODO 1: replace 0 by the\n    // index.\n    const int i = 0;  // so far\n\n    a[i] = 1;\n}\n";

/// A copy of the tutorial with one exercise.
class Copy {
public:
    Copy() {
        std::string name = (fs::temp_directory_path() / "warpwise_after_XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw Refusal("no temporary folder");
        project.root = project.caller = name;
        exercise.name = "add";
        exercise.chapter = "1_basics";
        exercise.kind = "fill";
        exercise.folder = project.root / "exercises/1_basics/add";
        exercise.answers = project.root / "answers/1_basics/add";
        write(exercise.stub(), stub);
        write(exercise.task(), "# add\n\nAdd **one** to\neach element.\n\n**Do**\n1. TODO 1.\n");
        prepare_answer(exercise);
    }
    ~Copy() {
        std::error_code error;
        fs::remove_all(project.root, error);
    }
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;

    void write(const fs::path& file, const std::string& text) const {
        fs::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }

    Project project;
    Exercise exercise;
};

std::string call(const std::string& name, int sectors, int conflicts, double lanes) {
    return "{\"name\": \"" + name + "\", \"launches\": 1, \"global_sectors\": " + std::to_string(sectors) +
           ", \"bank_conflicts\": " + std::to_string(conflicts) + ", \"active_lanes\": " + std::to_string(lanes) + "}";
}

}  // namespace

TEST_CASE("code is compared without comments and white space") {
    CHECK(bare_code("int a;  // one\n\n\tint  b; /* two\n*/ int c;\n") == "int a; int b; int c;");
    CHECK(bare_code("a = \"// no comment\"; b = '\"'; // one") == "a = \"// no comment\"; b = '\"';");
    CHECK(bare_code("a = \"\\\"//\"; // one") == "a = \"\\\"//\";");
    CHECK(bare_code("int a") != bare_code("inta"));
    CHECK(bare_code("// only\n/* open") == "");
}

TEST_CASE("an answer is untouched until its code differs from what was handed out") {
    const Copy copy;
    CHECK(is_untouched(copy.exercise));
    std::string text = stub;
    copy.write(copy.exercise.own_answer(), "// I begin tomorrow.\n" + text + "\n\n");
    CHECK(is_untouched(copy.exercise));
    text.replace(text.find("i = 0"), 5, "i = 1");
    copy.write(copy.exercise.own_answer(), text);
    CHECK_FALSE(is_untouched(copy.exercise));
    Exercise missing = copy.exercise;
    missing.folder = missing.answers = copy.project.root / "nowhere";
    CHECK_FALSE(is_untouched(missing));
}

TEST_CASE("the first TODO is found with its lines of text") {
    const Todo todo = first_todo(stub);
    CHECK(todo.line == 3);
    CHECK(todo.text == "TODO 1: replace 0 by the index.");
    CHECK(first_todo("int a;  // TODO 2: b\nint c;\n").text == "TODO 2: b");
    CHECK(first_todo("// TODO 1: a\n// TODO 2: b\n").text == "TODO 1: a");
    CHECK(first_todo("int a;\n").line == 0);
}

TEST_CASE("who has edited nothing is told the task, the file, and where to begin") {
    const Copy copy;
    const std::string text = invitation(copy.project, copy.exercise, answer_to(copy.exercise), 80);
    CHECK_THAT(text, ContainsSubstring("does not count as an attempt"));
    CHECK_THAT(text, ContainsSubstring("\n\nAdd one to each element.\n\n"));
    CHECK_THAT(text, !ContainsSubstring("Do"));
    CHECK_THAT(text, ContainsSubstring("Begin at answers/1_basics/add/add.cu:3\n"
                                       "    TODO 1: replace 0 by the index.\n"));
    copy.write(copy.exercise.own_answer(), "int fixed;\n");
    CHECK_THAT(invitation(copy.project, copy.exercise, answer_to(copy.exercise), 80),
               ContainsSubstring("Edit answers/1_basics/add/add.cu and save it.\n"));
}

TEST_CASE("what was learned is a section of the task, which the task itself is shown without") {
    const std::string task =
        "# add\n\nDo it.\n\n## What you have learned\n\nOne thread\nper element.\n\nMore.\n\n## Next\n\nx\n";
    CHECK(learned_from(task) == "One thread per element.");
    CHECK(without_learned(task) == "# add\n\nDo it.\n\n## Next\n\nx\n");
    CHECK(learned_from("# add\n\nDo it.\n").empty());
    CHECK(without_learned("# add\n\nDo it.\n") == "# add\n\nDo it.\n");
}

TEST_CASE("every exercise says what one has learned, in both languages") {
    const fs::path root = WARPWISE_SOURCE;
    std::size_t exercises = 0;
    for (const fs::directory_entry& chapter : fs::directory_iterator(root / "exercises")) {
        if (!chapter.is_directory()) continue;
        for (const fs::directory_entry& folder : fs::directory_iterator(chapter)) {
            INFO(folder.path().string());
            ++exercises;
            const std::string learned = learned_from(read_file(folder.path() / "README.md").value_or(""));
            CHECK(learned.size() > 40);
            CHECK(learned.size() < 400);
            CHECK(learned.ends_with('.'));
            const fs::path twin =
                root / "docs/zh/exercises" / chapter.path().filename() / (folder.path().filename().string() + ".md");
            CHECK_THAT(read_file(twin).value_or(""), ContainsSubstring("\n## 你学到了什么\n\n"));
        }
    }
    CHECK(exercises >= 34);
}

TEST_CASE("improvements are the counts that differ in the call that the stub failed for") {
    const std::string stub_facts = "{\"failure\": {\"call\": \"moves little #1\"}, \"counts\": [" +
                                   call("is right #1", 1, 1, 1) + ", " + call("moves little #1", 4096, 96, 16) + "]}";
    const std::string answer_facts = "{\"failure\": null, \"counts\": [" + call("moves little #1", 1000, 0, 32) + ", " +
                                     call("moves little #2", 7, 7, 7) + "]}";
    const std::vector<Improvement> found = improvements(stub_facts, answer_facts);
    REQUIRE(found.size() == 3);
    CHECK(found[0] == Improvement{"sectors of global memory", 4096, 1000, "4.10 times fewer"});
    CHECK(found[1] == Improvement{"bank conflicts", 96, 0, "none left"});
    CHECK(found[2] == Improvement{"active lanes of 32, on average", 16, 32, "2.00 times as many"});
    const std::string table = improvement_table(found, {});
    CHECK_THAT(table, ContainsSubstring("the stub  your answer"));
    CHECK_THAT(table, ContainsSubstring("4096         1000  4.10 times fewer"));

    CHECK(improvements(stub_facts, stub_facts).empty());
    CHECK(improvements("{\"failure\": {\"call\": \"\"}, \"counts\": []}", answer_facts).empty());
    CHECK(improvements("", answer_facts).empty());
    CHECK(improvements(stub_facts, "").empty());
    // Worse is told as well.
    CHECK(improvements(answer_facts, stub_facts).empty());
    const std::string worse = "{\"failure\": null, \"counts\": [" + call("moves little #1", 4300, 96, 16) + "]}";
    CHECK(improvements(stub_facts, worse).empty());  // 5 % are the same
    const std::string far_worse = "{\"failure\": null, \"counts\": [" + call("moves little #1", 6144, 96, 16) + "]}";
    CHECK(improvements(stub_facts, far_worse)[0].change == "50 % more");
}

TEST_CASE("improvements are the figures that differ in the test that the stub fails, before its counts") {
    const auto figure = [](const std::string& test, const std::string& name, double value) {
        return "{\"test\": \"" + test + "\", \"name\": \"" + name + "\", \"value\": " + std::to_string(value) + "}";
    };
    const std::string failure = "{\"failure\": {\"test\": \"waits little\", \"call\": \"waits little #1\"}, ";
    // The stub's test ends at its second figure of waits; the answer's goes on.
    const std::string stub_facts = failure + "\"counts\": [" + call("waits little #1", 400, 0, 32) +
                                   "], \"figures\": [" + figure("is right", "waits", 99) + ", " +
                                   figure("waits little", "waits", 2) + ", " + figure("waits little", "loads", 1) +
                                   ", " + figure("waits little", "launches", 3) + ", " +
                                   figure("waits little", "waits", 8) + "]}";
    const std::string answer_facts = "{\"failure\": null, \"counts\": [" + call("waits little #1", 100, 0, 32) +
                                     "], \"figures\": [" + figure("waits little", "loads", 4) + ", " +
                                     figure("waits little", "launches", 3) + ", " + figure("waits little", "waits", 2) +
                                     ", " + figure("waits little", "waits", 2.5) + ", " +
                                     figure("waits little", "waits", 7) + ", " + figure("is right", "waits", 1) + "]}";
    const std::vector<Improvement> found = improvements(stub_facts, answer_facts);
    REQUIRE(found.size() == 3);
    CHECK(found[0] == Improvement{"loads", 1, 4, "4.00 times as much"});
    CHECK(found[1] == Improvement{"waits", 8, 2.5, "3.20 times less"});
    CHECK(found[2] == Improvement{"sectors of global memory", 400, 100, "4.00 times fewer"});
    // Figures without counts, as on a GPU; and facts of an older grader, which has no figures.
    CHECK(improvements("{\"failure\": {\"test\": \"a\"}, \"figures\": [" + figure("a", "time", 30) + "]}",
                       "{\"failure\": null, \"figures\": [" + figure("a", "time", 20) + "]}") ==
          std::vector<Improvement>{{"time", 30, 20, "33 % less"}});
    CHECK(improvements("{\"failure\": {\"test\": \"a\"}}", answer_facts).empty());
    CHECK(improvements(stub_facts, "{\"failure\": null}").empty());
}

TEST_CASE("of a compiler's messages the first error is shown with its line") {
    const std::string messages =
        "a.cu: In function 'void f()':\na.cu:2: warning: unused\na.cu:8:3: error: no match for 'operator*' (operand "
        "types are 'const unsigned int' and 'const cpu_device::ConstantDim3')\n    8 |     const int i = blockIdx.x * "
        "blockDim;\n      |                   ~~ ^ ~~\n      |                   |\n      |                   int\n"
        "a.cu:9:3: error: 'x' was not declared\n    9 |   x\n      |   ^\na.h:1: note: there\n";
    const std::string shown = first_error(messages);
    CHECK_THAT(shown, Catch::Matchers::StartsWith("a.cu:8:3: error: no match"));
    CHECK_THAT(shown, ContainsSubstring("~~ ^ ~~\nthreadIdx, blockIdx, blockDim, and gridDim have three members. Is .x "
                                        "missing?\nand 1 more error, which may follow from it\n"));
    CHECK_THAT(shown, !ContainsSubstring("warning") && !ContainsSubstring("|                   |\n"));
    CHECK(first_error("ninja: no such target\n") == "ninja: no such target\n");
}
