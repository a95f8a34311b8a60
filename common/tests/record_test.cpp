#include "common/lesson/record.h"

#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "common/helpers/text.h"
#include "common/lesson/lesson.h"
#include "common/lesson/options.h"
#include "common/lesson/output.h"
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

const char* const two_lessons = R"({
    "date": "2026-01-31T12:00:00Z", "device": {"name": "NVIDIA H200"},
    "command": ["build/bin/cuda/chapter", "LESSON", "--device", "cuda"],
    "lessons": [
        {"name": "first",
         "steps": [{"name": "naive", "seconds": {"median": 0.002}, "gb_per_s": 512.5, "gop_per_s": null},
                   {"name": "never_timed", "seconds": null}, {"name": "counted_only"}],
         "tables": [{"title": "Rates, 12 rows", "header": ["streams", "chunks", "GB/s"],
                     "rows": [["1", "8", "53.5"], ["1", "16", "54.1"], ["2", "8", "-"]]},
                    {"title": "Rates", "header": ["stride", "GB/s"], "rows": [["1", "928 GB/s"]]}]},
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

void two_tables(Lesson& lesson) {
    lesson.show_recorded("Rates, ");
    lesson.show_recorded("Another");
    lesson.show_recorded_steps("The same steps", {"naive", "another"}, "time", [](const RecordedStep& step) {
        return std::to_string(static_cast<int>(*step.microseconds())) + " us";
    });
}

}  // namespace

TEST_CASE("a record knows machine, program and date of the file, or those of its lesson") {
    const File file(two_lessons);
    CHECK(Record::read(file.path(), "first").where() ==
          "recorded on one NVIDIA H200 (chapter --device cuda, 2026-01-31)");
    CHECK(Record::read(file.path(), "second").where() ==
          "recorded on one NVIDIA A100 (other --device cuda, 2026-02-01)");
}

TEST_CASE("a record finds a cell by the row's first cells and the column, and a dash where there is none") {
    const File file(two_lessons);
    const Record record = Record::read(file.path(), "first");
    CHECK(record.cell("Rates, ", {"1", "16"}, "GB/s") == "54.1");
    CHECK(record.cell("Rates, ", {"1"}, "GB/s") == "53.5");
    CHECK(record.cell("Rates", {"1"}, "GB/s") == "928 GB/s");  // the whole title before the beginning of one
    CHECK(record.cell("Rates, ", {"3", "16"}, "GB/s") == "-");
    CHECK(record.cell("Rates, ", {"1", "16"}, "us") == "-");
    CHECK(record.cell("Times", {"1", "16"}, "GB/s") == "-");
    CHECK(record.number("Rates", {"1"}, "GB/s") == 928);
    CHECK(record.number("Rates, ", {"2", "8"}, "GB/s") == std::nullopt);
}

TEST_CASE("a record has the figures of steps, as far as they were measured") {
    const File file(two_lessons);
    const Record record = Record::read(file.path(), "first");
    REQUIRE(record.step("naive") != nullptr);
    CHECK(record.step("naive")->microseconds() == 2000);
    CHECK(record.step("naive")->gb_per_s == 512.5);
    CHECK(record.step("naive")->gop_per_s == std::nullopt);
    REQUIRE(record.step("never_timed") != nullptr);
    CHECK(record.step("never_timed")->seconds == std::nullopt);
    REQUIRE(record.step("counted_only") != nullptr);
    CHECK(record.step("counted_only")->seconds == std::nullopt);
    CHECK(record.step("unknown") == nullptr);
}

TEST_CASE("a figure that is not there is a dash") {
    CHECK(text_or_dash("%.1f GB/s", 928.04) == "928.0 GB/s");
    CHECK(text_or_dash("%.1f GB/s", std::nullopt) == "-");
}

TEST_CASE("nothing is recorded without a file, and of a lesson that the file does not have") {
    CHECK_FALSE(Record::read("/no/such/file.json", "first"));
    const File file(two_lessons);
    CHECK_FALSE(Record::read(file.path(), "third"));
    CHECK(Record::read(file.path(), "first"));
    CHECK(Record().cell("Rates", {"1"}, "GB/s") == "-");
}

TEST_CASE("a file of records that is none is named") {
    const File file(R"({"lessons": [{}]})");
    CHECK_THROWS_WITH(Record::read(file.path(), "first"), ContainsSubstring(file.path()));
}

TEST_CASE("a lesson shows recorded tables and steps with their source, and leaves out what is not recorded") {
    const File file(two_lessons);
    const LessonResult with = shown(file.path(), two_tables);
    REQUIRE(with.tables.size() == 2);
    CHECK(with.tables[0].title == "Rates, 12 rows, recorded on one NVIDIA H200 (chapter --device cuda, 2026-01-31)");
    CHECK(with.tables[0].rows.size() == 3);
    CHECK(with.tables[1].rows == std::vector<std::vector<std::string>>{{"naive", "2000 us"}});
    CHECK(shown("/no/such/file.json", two_tables).tables.empty());
}

TEST_CASE("the source tree has records of every chapter's lessons") {
    CHECK(Record::read(recorded_file(1), "pi").step("sum_per_thread") != nullptr);
    CHECK(Record::read(recorded_file(2), "coalescing").cell("Lane k reads element k * stride", {"8"}, "useful GB/s") !=
          "-");
    CHECK(Record::read(recorded_file(3), "transpose").table("GB/s for each shape") != nullptr);
}
