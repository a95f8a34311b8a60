#include "common/lesson/record.h"

#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "common/lesson/beside_record.h"
#include "common/lesson/lesson.h"
#include "common/lesson/options.h"
#include "common/lesson/output.h"
#include "common/lesson/refusal.h"
#include "common/lesson/terminal.h"

using namespace warpwise;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A file of its own, gone with its owner.
class File {
public:
    explicit File(const std::string& text)
        : path_(std::filesystem::temp_directory_path() / ("warpwise_record_" + std::to_string(getpid()) + ".json")) {
        std::ofstream(path_) << text;
    }
    ~File() { std::filesystem::remove(path_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    std::string path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// A folder of its own, gone with its owner.
class Folder {
public:
    Folder() : path_(std::filesystem::temp_directory_path() / ("warpwise_recordings_" + std::to_string(getpid()))) {
        std::filesystem::create_directory(path_);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string path() const { return path_; }
    void write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }

private:
    std::filesystem::path path_;
};

const char* const two_lessons = R"({
    "date": "2026-01-31T12:00:00Z", "device": {"name": "NVIDIA H200", "kind": "cuda", "runtime_version": 12040},
    "command": ["build/bin/cuda/chapter", "LESSON", "--device", "cuda"],
    "lessons": [
        {"name": "first", "size": [4096, 12], "roof": {"name": "copy", "gb_per_s": 4000, "seconds": {"median": 0.001}},
         "steps": [{"name": "naive", "seconds": {"median": 0.002}, "gb_per_s": 512.5, "gop_per_s": null},
                   {"name": "never_timed", "seconds": null}, {"name": "counted_only"}],
         "tables": [{"name": "copies", "title": "Rates, 12 rows", "header": ["streams", "chunks", "GB/s"],
                     "rows": [["1", "8", "53.5"], ["1", "16", "54.1"], ["2", "8", "-"]]},
                    {"name": "rates", "title": "Rates", "header": ["stride", "GB/s"], "rows": [["1", "928 GB/s"]]}]},
        {"name": "second", "date": "2026-02-01T00:00:00Z", "device": {"name": "NVIDIA A100"},
         "command": ["build/bin/cuda/other", "second"], "steps": [], "tables": []}]})";

/// What the lesson `show` prints where a chapter's records are in `file`.
LessonResult shown(const std::string& file, void (*show)(Lesson&)) {
    Lesson::Options options;
    options.once = true;  // as on a machine without a GPU
    options.recorded_file = file;
    Lesson::Output output(Terminal::detect(false), query_device());
    output.begin_lesson("first");
    Lesson lesson("first", options, output);
    show(lesson);
    return output.end_lesson();
}

void show_two_tables(Lesson& lesson) {
    lesson.show_recorded("copies");
    lesson.show_recorded("another");
}

}  // namespace

TEST_CASE("a record knows machine, program and date of the file, or those of its lesson") {
    const File file(two_lessons);
    CHECK(Record::read(file.path(), "first").where() ==
          "recorded on one NVIDIA H200 (chapter --device cuda, 2026-01-31)");
    CHECK(Record::read(file.path(), "second").where() ==
          "recorded on one NVIDIA A100 (other --device cuda, 2026-02-01)");
}

TEST_CASE("every recorded table that a lesson shows was recorded") {
    const std::filesystem::path results = recorded_folder();
    const std::regex show(R"re(show_recorded\("([^"]+)"\))re");
    int found = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(results / "../../chapters")) {
        if (entry.path().extension() != ".cu") continue;
        std::ifstream stream(entry.path());
        const std::string source{std::istreambuf_iterator<char>(stream), {}};
        const std::filesystem::path folder = entry.path().parent_path();
        const std::string chapter = folder.parent_path().filename().string().substr(0, 1);
        const Record record = Record::read(results / ("h200_chapter_" + chapter + ".json"), folder.filename().string());
        if (!record) continue;  // a lesson that no GPU has run yet
        for (std::sregex_iterator match(source.begin(), source.end(), show), end; match != end; ++match) {
            INFO(entry.path() << ": " << match->str());
            CHECK(record.table(match->str(1)) != nullptr);
            ++found;
        }
    }
    CHECK(found > 5);  // names in constants are not read
}

TEST_CASE("a record finds a cell by the row's first cells and the column, and a dash where there is none") {
    const File file(two_lessons);
    const Record record = Record::read(file.path(), "first");
    CHECK(record.cell("copies", {"1", "16"}, "GB/s") == "54.1");
    CHECK(record.cell("copies", {"1"}, "GB/s") == "53.5");
    CHECK(record.cell("rates", {"1"}, "GB/s") == "928 GB/s");
    CHECK(record.cell("rate", {"1"}, "GB/s") == "-");  // the beginning of a name is no name
    CHECK(record.cell("copies", {"3", "16"}, "GB/s") == "-");
    CHECK(record.cell("copies", {"1", "16"}, "us") == "-");
    CHECK(record.cell("times", {"1", "16"}, "GB/s") == "-");
    CHECK(record.number("rates", {"1"}, "GB/s") == 928);
    CHECK(record.number("copies", {"2", "8"}, "GB/s") == std::nullopt);
}

TEST_CASE("a record has the figures of steps, as far as they were measured") {
    const File file(two_lessons);
    const Record record = Record::read(file.path(), "first");
    REQUIRE(record.step("naive") != nullptr);
    CHECK(record.step("naive")->seconds == 0.002);
    CHECK(record.step("naive")->gb_per_s == 512.5);
    CHECK(record.step("naive")->gop_per_s == std::nullopt);
    REQUIRE(record.step("never_timed") != nullptr);
    CHECK(record.step("never_timed")->seconds == std::nullopt);
    REQUIRE(record.step("counted_only") != nullptr);
    CHECK(record.step("counted_only")->seconds == std::nullopt);
    CHECK(record.step("unknown") == nullptr);
}

TEST_CASE("a record knows size, copy bandwidth, CUDA version and date, as far as they were kept") {
    const File file(two_lessons);
    const Record first = Record::read(file.path(), "first");
    CHECK(first.device() == "NVIDIA H200");
    CHECK(first.label() == "H200");
    CHECK(first.cuda() == "12.4");
    CHECK(first.date() == "2026-01-31");
    CHECK(first.file() == file.path());
    CHECK(first.size() == std::vector<std::size_t>{4096, 12});
    REQUIRE(first.copy().has_value());
    CHECK(first.copy()->gb_per_s == 4000);
    CHECK(first.copy()->seconds == 0.001);
    const Record second = Record::read(file.path(), "second");
    CHECK(second.label() == "A100");
    CHECK(second.cuda().empty());
    CHECK(second.size().empty());
    CHECK_FALSE(second.copy().has_value());
}

TEST_CASE("a column calls a GPU by its model") {
    CHECK(short_device_name("NVIDIA H200") == "H200");
    CHECK(short_device_name("NVIDIA GeForce RTX 4090") == "RTX 4090");
    CHECK(short_device_name("NVIDIA A100-SXM4-80GB") == "A100");
    CHECK(short_device_name("Tesla T4") == "T4");
}

TEST_CASE("of several lists of steps, the one that has the steps is found, with its library routine") {
    const File file(R"({
        "date": "2026-01-31", "device": {"name": "NVIDIA H200"}, "command": ["chapter"],
        "lessons": [{"name": "first", "tables": [], "steps": [
            {"name": "serial", "number": 1, "kind": "host"}, {"name": "tile", "number": 2},
            {"name": "vendor", "kind": "vendor", "change": "cublasSgemm"},
            {"name": "tile", "number": 1}, {"name": "wgmma", "number": 2}, {"name": "vendor", "kind": "vendor"}]}]})");
    const Record record = Record::read(file.path(), "first");
    const auto names_of = [](const std::vector<RecordedStep>& steps) {
        std::vector<std::string> names;
        for (const RecordedStep& step : steps) names.push_back(step.name);
        return names;
    };
    const std::vector<RecordedStep> list = record.list_with({"serial", "tile", "unknown"});
    CHECK(names_of(list) == std::vector<std::string>{"serial", "tile", "vendor"});
    CHECK(list[0].on_host);
    CHECK_FALSE(list[1].on_host);
    CHECK(list[2].is_vendor);
    CHECK(list[2].change == "cublasSgemm");
    CHECK(names_of(record.list_with({"wgmma"})) == std::vector<std::string>{"tile", "wgmma", "vendor"});
    CHECK(record.list_with({"unknown", "vendor"}).empty());
    CHECK(record.list_with({}).empty());
}

TEST_CASE("the recording called h200 is taken, else the newest, else the one that was named") {
    const Folder folder;
    const std::string gpu = R"(", "device": {"name": "NVIDIA A100", "kind": "cuda"}, "lessons": []})";
    folder.write("cpu_chapter_1.json", R"({"date": "2026-03-01", "device": {"kind": "cpu"}})");
    folder.write("broken_chapter_1.json", "{");
    CHECK(recordings(folder.path(), 1).empty());
    CHECK(recorded_file(folder.path(), 1).empty());
    folder.write("a100_chapter_1.json", R"({"date": "2026-02-01)" + gpu);
    folder.write("l4_chapter_1.json", R"({"date": "2026-01-01)" + gpu);
    CHECK(recordings(folder.path(), 1) == std::vector<std::string>{"a100", "l4"});
    CHECK(recordings(folder.path(), 2).empty());
    CHECK(recordings(folder.path() + "/none", 1).empty());
    CHECK(recorded_file(folder.path(), 1) == folder.path() + "/a100_chapter_1.json");
    CHECK(recorded_file(folder.path(), 1, "l4") == folder.path() + "/l4_chapter_1.json");
    CHECK(recorded_file(folder.path(), 1, "none").empty());
    folder.write("h200_chapter_1.json", R"({"date": "2025-01-01)" + gpu);
    CHECK(recorded_file(folder.path(), 1) == folder.path() + "/h200_chapter_1.json");
    CHECK_THROWS_WITH(recorded_file(folder.path(), 1, "h100"),
                      "no recording 'h100' of chapter 1; there are a100, h200, l4, none");
    CHECK_THROWS_AS(recorded_file(folder.path(), 1, "cpu"), Refusal);
}

TEST_CASE("nothing is recorded without a file, and of a lesson that the file does not have") {
    CHECK_FALSE(Record::read("/no/such/file.json", "first"));
    const File file(two_lessons);
    CHECK_FALSE(Record::read(file.path(), "third"));
    CHECK(Record::read(file.path(), "first"));
    CHECK(Record().cell("rates", {"1"}, "GB/s") == "-");
}

TEST_CASE("a file of records that is none is named") {
    const File file(R"({"lessons": [{}]})");
    CHECK_THROWS_WITH(Record::read(file.path(), "first"), ContainsSubstring(file.path()));
}

TEST_CASE("a lesson shows recorded tables with their source, and leaves out what is not recorded") {
    const File file(two_lessons);
    const LessonResult with = shown(file.path(), show_two_tables);
    REQUIRE(with.tables.size() == 1);
    CHECK(with.tables[0].title.name == "copies");
    CHECK(with.tables[0].title.heading() ==
          "Rates, 12 rows; recorded on one NVIDIA H200 (chapter --device cuda, 2026-01-31)");
    CHECK(with.tables[0].rows.size() == 3);
    CHECK(shown("/no/such/file.json", show_two_tables).tables.empty());
}

TEST_CASE("a table has a column of what a GPU had, named after it, and the record's source in its title") {
    const File file(two_lessons);
    const auto show = [](Lesson& lesson) {
        table_beside_record(lesson, {"rates", "Rates"}, {"stride", "GB/s", "meaning"},
                            {{"1", "-", "near"}, {"2", "-", "far"}}, "GB/s");
        table_beside_record(lesson, {"unknown", "Unknown"}, {"stride", "GB/s"}, {{"1", "7"}}, "GB/s");
    };
    const LessonResult with = shown(file.path(), show);
    REQUIRE(with.tables.size() == 2);
    CHECK(with.tables[0].title.heading() ==
          "Rates; H200 recorded on one NVIDIA H200 (chapter --device cuda, 2026-01-31)");
    CHECK(with.tables[0].header == std::vector<std::string>{"stride", "H200", "meaning"});  // own GB/s are dashes
    CHECK(with.tables[0].rows == std::vector<std::vector<std::string>>{{"1", "928 GB/s", "near"}, {"2", "-", "far"}});
    CHECK(with.tables[1].title.heading() == "Unknown");
    CHECK(shown("/no/such/file.json", show).tables[0].header == std::vector<std::string>{"stride", "meaning"});
}

TEST_CASE("the source tree has records of every chapter's lessons") {
    CHECK(Record::read(recorded_file(recorded_folder(), 1), "pi").step("sum_per_thread") != nullptr);
    CHECK(Record::read(recorded_file(recorded_folder(), 2), "coalescing").cell("stride", {"8"}, "useful GB/s") != "-");
    CHECK(Record::read(recorded_file(recorded_folder(), 3), "transpose").table("shapes") != nullptr);
}
