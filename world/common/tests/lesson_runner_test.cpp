// Drives run_chapter through a small chapter whose steps are right, wrong, NaN, throwing ...

#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/instrument.h"
#include "common/helpers/json.h"
#include "common/lesson/chapter.h"
#include "common/tests/device_or_skip.h"

#ifdef __CPU_DEVICE__
#include "cpu_device/diagnostics.h"
#endif

using namespace warpwise;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

/// Counts from 0; steps write the numbers into `values`, which compare() takes through device memory.
struct Counting {
    explicit Counting(const Size& size) : values(size.count()), d_values(size.count()) { ++constructed; }
    void poison() { std::fill(values.begin(), values.end(), std::numeric_limits<float>::quiet_NaN()); }
    Comparison compare() {
        d_values.upload(values);
        return compare_each(d_values.download(), values.size(), [](std::size_t i) { return static_cast<double>(i); });
    }
    Work work() const {
        return {.bytes = 4.0 * static_cast<double>(values.size()), .operations = static_cast<double>(values.size())};
    }
    static std::size_t device_bytes(const Size& size) { return size.count() * sizeof(float); }
    std::vector<Figure> figures() { return {{"last", values.empty() ? -1.0 : values.back(), ""}}; }

    void count() {
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    }

    std::vector<float> values;
    DeviceBuffer<float> d_values;
    static inline int constructed = 0;
};

const Sizes counting_sizes = {.gpu = {1000}, .cpu = {1000}, .awkward = {{0}, {1}, {33}}};

int runs_of_rotten = 0;

const std::vector<Step<Counting>> right_steps = {
    {"serial", "plain loop", [](Counting& problem) { problem.count(); }, StepKind::host},
    {"naive", "one element per thread", [](Counting& problem) { problem.count(); }},
    {"naive_again", "the same", [](Counting& problem) { problem.count(); }},
};

void right(Lesson& lesson) {
    lesson.question("Counting writes\nevery number once.\n\n    verbatim   line");
    lesson.predict({.question = "Which step is the fastest?",
                    .answer = Choice{{"the first", "the last", "none of them"}, 2},
                    .because = "They write the same numbers."});
    lesson.predict({.question = "What is the last number?",
                    .answer = Number{.value = 999, .unit = "units", .shown_by = StepFigure{"naive", "last"}},
                    .because = "Counting begins at 0."});
    lesson.steps<Counting>(counting_sizes, right_steps);
    lesson.text("|--|");
    lesson.drawing("bars", "As it was:\n\n    1 >#<");
    lesson.conclusion("They write the same.");
}

void talkative(Lesson& lesson) {
    std::string words;
    for (int i = 0; i < 61; ++i) words += "word ";
    lesson.predict({.question = words, .answer = Number{.value = 0}, .because = "Words are counted."});
}

void wrong(Lesson& lesson) {
    lesson.steps<Counting>(counting_sizes, {
                                               {"fine", "right", [](Counting& problem) { problem.count(); }},
                                               {"off_by_one", "forgets the last element",
                                                [](Counting& problem) {
                                                    for (std::size_t i = 0; i + 1 < problem.values.size(); ++i) {
                                                        problem.values[i] = static_cast<float>(i);
                                                    }
                                                }},
                                               {"lazy", "writes nothing", [](Counting&) {}},
                                               {"throws", "calls CUDA wrongly",
                                                [](Counting& problem) {
                                                    problem.count();
                                                    check(cudaErrorInvalidValue);
                                                }},
                                               {"unchecked", "ignores what CUDA returns",
                                                [](Counting& problem) {
                                                    problem.count();
                                                    (void)cudaMemcpy(nullptr, nullptr, 1,
                                                                     static_cast<cudaMemcpyKind>(99));
                                                }},
                                               {"also_fine", "right", [](Counting& problem) { problem.count(); }},
                                           });
}

/// Right when it is checked, wrong once it has been measured: only a GPU measures device steps.
void rots(Lesson& lesson) {
    runs_of_rotten = 0;
    lesson.steps<Counting>(counting_sizes, {{"rotten", "wrong after many runs", [](Counting& problem) {
                                                 problem.count();
                                                 if (++runs_of_rotten > 6 && !problem.values.empty()) {
                                                     problem.values[0] = 5;
                                                 }
                                             }}});
}

void no_steps(Lesson& lesson) {
    lesson.table({"limits", "Limits"}, {"what", "value"}, {{"threads", "1024"}, {"warp", "32"}});
    lesson.expect(true, "this holds");
}

void unmet(Lesson& lesson) { lesson.expect(false, "the sky is green"); }

void matrix(Lesson& lesson) {
    lesson.steps<Counting>({.gpu = {30, 20}, .cpu = {30, 20}, .awkward = {}},
                           {{"fill", "", [](Counting& problem) { problem.count(); }}});
}

/// Stands for a mistake that the CPU device found in a kernel.
void make_mistake([[maybe_unused]] int line) {
#ifdef __CPU_DEVICE__
    cpu_device::report({.kind = cpu_device::DiagnosticKind::data_race,
                        .message = "two threads wrote",
                        .kernel = {},
                        .site = {"mistaken.cu", line},
                        .hint = {}});
#endif
}

void mistaken(Lesson& lesson) {
    lesson.steps<Counting>(counting_sizes, {{"fine", "right", [](Counting& problem) { problem.count(); }},
                                            {"races", "right by luck", [](Counting& problem) {
                                                 problem.count();
                                                 make_mistake(7);
                                                 make_mistake(7);
                                             }}});
}

void mistaken_outside(Lesson& lesson) {
    make_mistake(9);
    lesson.steps<Counting>(counting_sizes, {{"fine", "right", [](Counting& problem) { problem.count(); }}});
}

int runs_of_counted = 0;

void counts(Lesson& lesson) {
    const std::optional<Counts> counted = lesson.count([] { ++runs_of_counted; });
    lesson.expect(!counted.has_value(), "nothing is counted in a program that was not compiled for it");
}

void fails(Lesson&) { throw std::runtime_error("the lesson itself is broken"); }

void no_memory(Lesson&) { check(cudaErrorMemoryAllocation); }

void no_host_memory(Lesson&) { throw std::bad_alloc(); }

const Chapter chapter = {9,
                         "Testing",
                         "9_testing",
                         {{"right", "all steps right", right},
                          {"wrong", "most steps wrong", wrong},
                          {"rots", "wrong after a while", rots},
                          {"no_steps", "a table", no_steps},
                          {"unmet", "an expectation that fails", unmet},
                          {"matrix", "two extents", matrix},
                          {"talkative", "a long story", talkative},
                          {"mistaken", "a mistake in a step", mistaken},
                          {"mistaken_outside", "a mistake outside of steps", mistaken_outside},
                          {"counts", "counts by itself", counts},
                          {"fails", "throws", fails},
                          {"no_memory", "no device memory", no_memory},
                          {"no_host_memory", "no host memory", no_host_memory}}};

struct Captured {
    int status;
    std::string out;
    std::string err;
};

/// Sends a standard stream into a temporary file, and brings it back.
class Redirection {
public:
    explicit Redirection(std::FILE* stream) : stream_(stream), file_(std::tmpfile()) {
        std::fflush(stream_);
        saved_ = dup(fileno(stream_));
        dup2(fileno(file_), fileno(stream_));
    }

    std::string finish() {
        std::fflush(stream_);
        dup2(saved_, fileno(stream_));
        close(saved_);
        std::rewind(file_);
        std::string text;
        for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) text.push_back(static_cast<char>(c));
        std::fclose(file_);
        return text;
    }

private:
    std::FILE* stream_;
    std::FILE* file_;
    int saved_;
};

/// Runs the chapter with these arguments, on the device that this test was built for.
Captured run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"9_testing", "--device", Lesson::on_gpu() ? "cuda" : "cpu"});
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    Redirection out(stdout);
    Redirection err(stderr);
    const int status = run_chapter(static_cast<int>(arguments.size()), argv.data(), chapter);
    std::string err_text = err.finish();
    return {status, out.finish(), std::move(err_text)};
}

long lines_in(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

/// Makes a recording of chapter 9 the only one that there is, until it dies.
class RecordedChapter {
public:
    RecordedChapter()
        : folder_(std::filesystem::temp_directory_path() / ("lesson_runner_recordings_" + std::to_string(getpid()))) {
        std::filesystem::create_directory(folder_);
        std::ofstream(folder_ / "h200_chapter_9.json") << R"({
            "date": "2026-01-31", "command": ["9_testing"],
            "device": {"name": "NVIDIA H200", "kind": "cuda", "runtime_version": 13000},
            "lessons": [{"name": "right", "size": [5000], "tables": [],
                "roof": {"name": "copy", "gb_per_s": 4000, "seconds": {"median": 0.001}},
                "steps": [
                    {"number": 1, "name": "serial", "kind": "host", "seconds": {"median": 0.25}},
                    {"number": 2, "name": "naive", "kind": "device", "seconds": {"median": 0.002},
                     "gb_per_s": 2000, "share_of_roof": 0.5},
                    {"name": "vendor", "kind": "vendor", "change": "cub::DeviceCount",
                     "seconds": {"median": 0.001}, "gb_per_s": 4000}]}]})";
        setenv("WARPWISE_RECORDINGS", folder_.c_str(), 1);
    }
    ~RecordedChapter() {
        unsetenv("WARPWISE_RECORDINGS");
        std::filesystem::remove_all(folder_);
    }
    RecordedChapter(const RecordedChapter&) = delete;
    RecordedChapter& operator=(const RecordedChapter&) = delete;

private:
    std::filesystem::path folder_;
};

/// A JSON file that is removed again.
struct JsonFile {
    std::string path =
        (std::filesystem::temp_directory_path() / ("lesson_runner_test_" + std::to_string(getpid()) + ".json"))
            .string();
    ~JsonFile() { std::filesystem::remove(path); }
    nlohmann::json read() const {
        std::ifstream stream(path);
        return parse_json<nlohmann::json>(stream);
    }
};

}  // namespace

TEST_CASE("a lesson whose steps are right ends with status 0") {
    device_or_skip();
    const Captured captured = run({"right"});
    CHECK(captured.status == 0);
    CHECK(captured.err.empty());
    CHECK_THAT(captured.out, StartsWith("Chapter 9: Testing\non "));
    CHECK_THAT(captured.out, ContainsSubstring("9.1 right: all steps right\n===="));
    CHECK_THAT(captured.out, ContainsSubstring("Counting writes every number once.\n\n    verbatim   line\n\nPredict\n"
                                               "Which step is the fastest?\n"));
    CHECK_THAT(
        captured.out,
        ContainsSubstring(
            "|--|\n\nAs it was:\n\n    1 >#<\n\nWhich step is the fastest? It is c) none of them. They write the same "
            "numbers.\n\nWhat is the last number? It is 999 units. Counting "
            "begins at 0.\n\nConclusion\nThey write the same.\n\nWhy it is so, mistakes to "
            "avoid, and more to try: './warpwise docs right' shows\nthis lesson's page of the book\n"));
    CHECK_THAT(captured.out, ContainsSubstring("Size 1000\n"));
    CHECK_THAT(captured.out, ContainsSubstring(" 1 serial"));
    CHECK_THAT(captured.out, ContainsSubstring(" 2 naive "));
    CHECK_THAT(captured.out, ContainsSubstring("one element per thread"));
    CHECK_THAT(captured.out, ContainsSubstring("ok, exact"));
    CHECK_THAT(captured.out, ContainsSubstring("last\n"));  // the column of the figure
    CHECK(captured.out.find("WRONG") == std::string::npos);
    CHECK(captured.out.find('\033') == std::string::npos);  // no terminal, no colors
}

TEST_CASE("only a GPU gives times for kernels") {
    device_or_skip();
    const Captured captured = run({"right", "--repeat", "2"});
    CHECK((captured.out.find("speed-up") != std::string::npos) == Lesson::on_gpu());
    CHECK((captured.out.find("   copy  ") != std::string::npos) == Lesson::on_gpu());
    CHECK((captured.out.find("time (host)") != std::string::npos) == !Lesson::on_gpu());
}

TEST_CASE("the CPU device shows the recorded times of a GPU, and says in the JSON file whose they are") {
    device_or_skip();
    const RecordedChapter recorded;
    const JsonFile file;
    const Captured captured = run({"right", "--json", file.path});
    CHECK((captured.out.find("H200 time") != std::string::npos) == !Lesson::on_gpu());
    const nlohmann::json lesson = file.read()["lessons"][0];
    if (Lesson::on_gpu()) {
        CHECK(lesson["recording"].is_null());
        CHECK(lesson["steps"][1]["recorded"].is_null());
        return;
    }
    CHECK_THAT(captured.out, ContainsSubstring("H200: recorded on one NVIDIA H200"));
    CHECK_THAT(captured.out, ContainsSubstring("250 ms*"));
    CHECK_THAT(captured.out, ContainsSubstring("   vendor (H200)"));
    CHECK_THAT(captured.out, ContainsSubstring("   copy (H200)"));
    CHECK(lesson["recording"]["device"] == "NVIDIA H200");
    CHECK(lesson["recording"]["size"] == std::vector<int>{5000});
    CHECK(lesson["recording"]["copy"]["gb_per_s"] == 4000);
    CHECK(lesson["recording"]["vendors"][0]["change"] == "cub::DeviceCount");
    CHECK(lesson["steps"][0]["recorded"]["on_host"] == true);
    CHECK(lesson["steps"][1]["recorded"]["seconds"] == 0.002);
    CHECK(lesson["steps"][1]["seconds"].is_null());
    CHECK(lesson["steps"][2]["recorded"].is_null());  // not among the recorded ones
}

TEST_CASE("a recording is chosen by its name, or none is") {
    device_or_skip();
    const RecordedChapter recorded;
    // Not "H200" alone: the chapter's title names the device, and that may be an H200.
    const Captured without = run({"right", "--recorded", "none"});
    CHECK(without.status == 0);
    CHECK(without.out.find("H200 time") == std::string::npos);
    CHECK(without.out.find("H200: recorded on") == std::string::npos);
    CHECK((run({"right", "--recorded", "h200"}).out.find("H200 time") != std::string::npos) == !Lesson::on_gpu());
    const Captured unknown = run({"right", "--recorded", "h100"});
    CHECK(unknown.status == 2);
    CHECK_THAT(unknown.err, ContainsSubstring("no recording 'h100' of chapter 9; there are h200, none"));
}

TEST_CASE("with --once each step runs at one size, and nothing is timed") {
    device_or_skip();
    const JsonFile file;
    const Captured captured = run({"right", "--once", "--json", file.path});
    CHECK(captured.status == 0);
    CHECK_THAT(captured.out, ContainsSubstring("ok, exact"));
    CHECK(captured.out.find("speed-up") == std::string::npos);
    CHECK(captured.out.find("   copy  ") == std::string::npos);
    const auto results = file.read();
    for (const auto& step : results["lessons"][0]["steps"]) {
        CHECK(step["comparison"]["sizes_compared"] == 1);
        CHECK(step["seconds"].is_null());
    }
}

TEST_CASE("a wrong step shows its first mismatches and ends with status 1") {
    device_or_skip();
    const Captured captured = run({"wrong"});
    CHECK(captured.status == 1);
    CHECK_THAT(captured.out, ContainsSubstring("WRONG"));
    CHECK_THAT(captured.out, ContainsSubstring("off_by_one\n    wrong at size 1: index 0: got nan, expected 0\n"));
    CHECK_THAT(captured.out, ContainsSubstring("also wrong at size 33, 1000"));
    CHECK_THAT(captured.out, ContainsSubstring("throws\n    wrong at size 0: "));
    CHECK_THAT(captured.out, ContainsSubstring("cudaErrorInvalidValue"));
    CHECK_THAT(captured.out,
               ContainsSubstring("unchecked\n    wrong at size 0: a call or launch of this step failed: cudaError"));
    CHECK_THAT(captured.out, ContainsSubstring("also_fine"));  // the steps after a wrong one run
}

TEST_CASE("a step that is wrong only after it was timed is found on a GPU") {
    device_or_skip();
    if (!Lesson::on_gpu()) SKIP("the CPU device times no kernels");
    const Captured captured = run({"rots"});
    CHECK(captured.status == 1);
    CHECK_THAT(captured.out, ContainsSubstring("wrong at size 1000: index 0: got 5, expected 0"));
}

TEST_CASE("one problem serves all steps of a size") {
    device_or_skip();
    Counting::constructed = 0;
    CHECK(run({"right"}).status == 0);
    CHECK(Counting::constructed == 4);  // three awkward sizes and the main one
}

TEST_CASE("a lesson without steps shows its tables") {
    device_or_skip();
    const Captured captured = run({"no_steps"});
    CHECK(captured.status == 0);
    CHECK_THAT(captured.out,
               ContainsSubstring("Limits\nwhat     value\n-------  -----\nthreads   1024\nwarp        32\n"));
}

TEST_CASE("an expectation that fails is printed and gives status 1") {
    device_or_skip();
    const Captured captured = run({"unmet"});
    CHECK(captured.status == 1);
    CHECK_THAT(captured.out, ContainsSubstring("WRONG. It should be: the sky is green"));
}

TEST_CASE("a lesson that throws gives one line and status 1, and the next one runs") {
    device_or_skip();
    const Captured captured = run({"fails", "no_steps"});
    CHECK(captured.status == 1);
    CHECK(captured.err == "fails: the lesson itself is broken\n");
    CHECK_THAT(captured.out, ContainsSubstring("Limits"));
}

TEST_CASE("no memory gives one line and status 2") {
    device_or_skip();
    for (const std::string lesson : {"no_memory", "no_host_memory"}) {
        const Captured captured = run({lesson});
        CHECK(captured.status == 2);
        CHECK_THAT(captured.err, ContainsSubstring(lesson + ": "));
        CHECK_THAT(captured.err, ContainsSubstring("memory"));
        CHECK(lines_in(captured.err) == 1);
    }
}

TEST_CASE("the list names all lessons and needs no device") {
    const Captured captured = run({"--list"});
    CHECK(captured.status == 0);
    CHECK_THAT(captured.out, ContainsSubstring("9.1  right"));
    CHECK_THAT(captured.out, ContainsSubstring("9.6  matrix"));
    CHECK_THAT(captured.out, ContainsSubstring("two extents"));
}

TEST_CASE("help shows examples and the exit status") {
    const Captured captured = run({"--help"});
    CHECK(captured.status == 0);
    for (const std::string part : {"--list", "--step", "--size", "--repeat", "--json", "--pause", "--device",
                                   "--no-color", "--counters", "--diagnose", "--lines", "--all-blocks", "--registers",
                                   "--recorded", "--once", "--trace", "Examples:", "Exit status: 0"}) {
        CHECK_THAT(captured.out, ContainsSubstring(part));
    }
}

TEST_CASE("requests that cannot be met give one line and status 2") {
    const auto refused = [](const std::vector<std::string>& arguments, const std::string& part) {
        const Captured captured = run(arguments);
        INFO(captured.err);
        CHECK(captured.status == 2);
        CHECK_THAT(captured.err, StartsWith("9_testing: "));
        CHECK_THAT(captured.err, ContainsSubstring(part));
        CHECK(lines_in(captured.err) == 1);
    };
    refused({"rihgt"}, "no lesson 'rihgt'; did you mean right?");
    refused({"zzzzzzzz"}, "there are right, wrong");
    refused({"--size", "12q"}, "unknown suffix 'q'");
    refused({"--size", "-5"}, "--size");
    refused({"--repeat", "0"}, "--repeat");
    refused({"--repeat", "many"}, "--repeat");
    refused({"--device", "abacus"}, "--device");
    refused({"--nonsense"}, "--nonsense");
    refused({"--registers", "0"}, "--registers");
    refused({"--lines", "--no-counters"}, "--lines needs the counters");
    device_or_skip();
    refused({"right", "--step", "fastest"}, "no step 'fastest'; the steps are serial, naive, naive_again");
    refused({"no_steps", "--step", "fastest"}, "no steps to choose from");
    refused({"right", "--size", "10x10"}, "right takes sizes like 1000, not 10 x 10");
    refused({"matrix", "--size", "10"}, "matrix takes sizes like 30 x 20, not 10");
    refused({"right", "--size", "4096Gi"}, "right: size 4398046511104 needs 16384 GiB of device memory");
    refused({"no_steps", "--json", "no/such/folder/results.json"}, "cannot write");
}

TEST_CASE("the size of the command line replaces the main size") {
    device_or_skip();
    const Captured captured = run({"right", "--size", "2Ki"});
    CHECK(captured.status == 0);
    CHECK_THAT(captured.out, ContainsSubstring("Size 2048\n"));
    CHECK_THAT(run({"matrix", "--size", "7x3"}).out, ContainsSubstring("Size 7 x 3\n"));
    CHECK(run({"right", "--size", "0"}).status == 0);
}

TEST_CASE("the old name --check goes on meaning --diagnose, with a note") {
    device_or_skip();
    const Captured captured = run({"right", "--check"});
    CHECK(captured.status == 0);
    CHECK_THAT(captured.err, ContainsSubstring("note: --check is called --diagnose now\n"));
    CHECK(run({"right", "--diagnose"}).err.find("note:") == std::string::npos);
}

TEST_CASE("a story that is longer than a screen is an error of the lesson's author") {
    device_or_skip();
    const Captured captured = run({"talkative"});
    CHECK(captured.status == 1);
    CHECK_THAT(captured.err, ContainsSubstring("a prediction of 61 words, at most 60"));
}

TEST_CASE("steps are chosen by name and keep their numbers") {
    device_or_skip();
    const Captured exact = run({"right", "--step", "naive"});
    CHECK_THAT(exact.out, ContainsSubstring(" 2 naive"));
    CHECK(exact.out.find("naive_again") == std::string::npos);
    CHECK(exact.out.find("serial") == std::string::npos);
    const Captured parts = run({"right", "--step", "again", "--step", "ser"});
    CHECK_THAT(parts.out, ContainsSubstring(" 1 serial"));
    CHECK_THAT(parts.out, ContainsSubstring(" 3 naive_again"));
    CHECK(parts.out.find(" 2 naive") == std::string::npos);
}

TEST_CASE("a step chosen in one lesson leaves the others without a table") {
    device_or_skip();
    const Captured captured = run({"right", "matrix", "--step", "fill"});
    CHECK(captured.status == 0);
    CHECK(captured.out.find("serial") == std::string::npos);
    CHECK_THAT(captured.out, ContainsSubstring(" 1 fill"));
}

TEST_CASE("the JSON file holds what the tables show") {
    device_or_skip();
    const JsonFile file;
    CHECK(run({"right", "wrong", "no_steps", "--json", file.path}).status == 1);
    const nlohmann::json json = file.read();
    CHECK(json["warpwise"] == 1);
    CHECK(json["date"].get<std::string>().size() == std::string("2026-01-31T12:00:00Z").size());
    CHECK(json["chapter"] == nlohmann::json{{"number", 9}, {"title", "Testing"}, {"folder", "9_testing"}});
    CHECK(json["device"]["kind"] == (Lesson::on_gpu() ? "cuda" : "cpu"));
    CHECK(json["command"][3] == "right");
    CHECK(json["passed"] == false);
    REQUIRE(json["lessons"].size() == 3);

    const nlohmann::json& good = json["lessons"][0];
    CHECK(good["name"] == "right");
    CHECK(good["passed"] == true);
    CHECK(good["failure"].is_null());
    CHECK(good["size"] == std::vector<int>{1000});
    CHECK(good["roof"].is_null() == !Lesson::on_gpu());
    CHECK(good["texts"] == nlohmann::json{"|--|"});
    CHECK(good["drawings"] == nlohmann::json{{{"name", "bars"}, {"text", "As it was:\n\n    1 >#<"}}});
    REQUIRE(good["story"].size() == 6);  // the question, two predictions and their answers, the conclusion
    CHECK(good["story"][5] == nlohmann::json{{"part", "conclusion"}, {"text", "They write the same."}});
    REQUIRE(good["steps"].size() == 3);
    const nlohmann::json& serial = good["steps"][0];
    CHECK(serial["number"] == 1);
    CHECK(serial["name"] == "serial");
    CHECK(serial["kind"] == "host");
    CHECK(serial["bytes"] == 4000);
    CHECK(serial["comparison"]["passed"] == true);
    CHECK(serial["comparison"]["largest_error"] == 0);
    CHECK(serial["comparison"]["sizes_compared"] == 4);
    CHECK(serial["seconds"]["samples"] >= 3);
    CHECK(serial["figures"][0] == nlohmann::json{{"column", "last"}, {"value", 999}, {"unit", ""}});
    CHECK(good["steps"][1]["seconds"].is_null() == !Lesson::on_gpu());
    CHECK(good["steps"][1]["launches"].is_null());  // this program was not compiled for instrumenting
    CHECK(good["steps"][1]["diagnostics"].empty());
    CHECK(good["diagnostics"].empty());

    const nlohmann::json& bad = json["lessons"][1];
    CHECK(bad["passed"] == false);
    CHECK(bad["steps"][0]["comparison"]["passed"] == true);
    const nlohmann::json& off_by_one = bad["steps"][1];
    CHECK(off_by_one["comparison"]["passed"] == false);
    CHECK(off_by_one["seconds"].is_null());
    CHECK(off_by_one["comparison"]["largest_error"].is_null());  // NaN
    CHECK(off_by_one["comparison"]["mismatches"][1] ==
          nlohmann::json{{"size", {33}}, {"index", 32}, {"got", nullptr}, {"expected", 32}});
    CHECK_THAT(bad["steps"][3]["comparison"]["failures"][0]["message"].get<std::string>(),
               ContainsSubstring("cudaErrorInvalidValue"));

    CHECK(json["lessons"][2]["size"].is_null());
    CHECK(json["lessons"][2]["tables"][0]["rows"][1] == std::vector<std::string>{"warp", "32"});
}

TEST_CASE("the JSON file tells what ended a lesson early") {
    device_or_skip();
    const JsonFile file;
    CHECK(run({"fails", "unmet", "--json", file.path}).status == 1);
    const nlohmann::json json = file.read();
    CHECK(json["lessons"][0]["failure"] == "the lesson itself is broken");
    CHECK(json["lessons"][0]["passed"] == false);
    CHECK(json["lessons"][1]["expectations"][0]["passed"] == false);
}

TEST_CASE("the pause between lessons ends with Enter, or with the input") {
    device_or_skip();
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    REQUIRE(write(ends[1], "\n", 1) == 1);
    close(ends[1]);
    const int saved = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    const Captured captured = run({"no_steps", "matrix", "right", "--pause"});
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(ends[0]);
    CHECK(captured.status == 0);
    CHECK_THAT(captured.out, ContainsSubstring("Enter goes on with matrix"));
    CHECK_THAT(captured.out, ContainsSubstring("Enter goes on with right"));  // asked, and the input ended
    CHECK_THAT(captured.out, ContainsSubstring("9.1 right"));
    CHECK(run({"no_steps", "matrix", "--no-pause"}).out.find("Enter") == std::string::npos);
}

TEST_CASE("a program that cannot be instrumented says why there are no counters, to those who ask for them") {
    device_or_skip();
    const auto says = [](const std::vector<std::string>& arguments) {
        return run(arguments).out.find("no errors are looked for") != std::string::npos;
    };
    CHECK(says({"right", "--counters"}) == !Lesson::on_gpu());
    CHECK(says({"right", "--lines"}) == !Lesson::on_gpu());
    CHECK(says({"right", "--diagnose"}) == !Lesson::on_gpu());
    CHECK_FALSE(says({"right"}));
    CHECK(run({"right", "--no-counters"}).out.find("nothing is counted") == std::string::npos);
    CHECK(run({"right", "--lines", "--diagnose", "--all-blocks", "--registers", "64"}).status == 0);
}

TEST_CASE("on a GPU the runner says where counters come from") {
    device_or_skip();
    if (!Lesson::on_gpu()) SKIP("the CPU device counts by itself");
    CHECK(run({"right"}).out.find("ncu") == std::string::npos);
    CHECK_THAT(run({"right", "--counters"}).out, ContainsSubstring("    ncu --profile-from-start off --metrics"));
    CHECK_THAT(run({"right", "--lines"}).out, ContainsSubstring("--import-source yes"));
    CHECK_THAT(run({"right", "--diagnose"}).out, ContainsSubstring("    compute-sanitizer "));
}

TEST_CASE("a lesson's own count runs its kernels whether they are counted or not") {
    device_or_skip();
    runs_of_counted = 0;
    CHECK(run({"counts"}).status == 0);
    CHECK(runs_of_counted == 1);
}

#ifdef __CPU_DEVICE__
TEST_CASE("a step whose kernels make mistakes is marked and gives status 1") {
    const JsonFile file;
    const Captured captured = run({"mistaken", "--json", file.path});
    CHECK(captured.status == 1);
    CHECK_THAT(captured.out, ContainsSubstring("right by luck  1 error "));  // of one line, at all sizes
    CHECK(captured.out.find("WRONG") == std::string::npos);
    CHECK_THAT(captured.err, ContainsSubstring("two threads wrote"));
    const nlohmann::json steps = file.read()["lessons"][0]["steps"];
    CHECK(steps[0]["diagnostics"].empty());
    REQUIRE(steps[1]["diagnostics"].size() == 1);
    CHECK(steps[1]["diagnostics"][0]["kind"] == "data_race");
    CHECK(steps[1]["diagnostics"][0]["site"]["line"] == 7);
    CHECK(steps[1]["comparison"]["sizes_compared"] == 2);  // the first, and the main size
}

TEST_CASE("a mistake outside of steps fails the lesson and no step") {
    const JsonFile file;
    const Captured captured = run({"mistaken_outside", "right", "--json", file.path});
    CHECK(captured.status == 1);
    CHECK_THAT(captured.err, ContainsSubstring("two threads wrote"));
    const nlohmann::json lessons = file.read()["lessons"];
    CHECK(lessons[0]["passed"] == false);
    CHECK(lessons[0]["diagnostics"].size() == 1);
    CHECK(lessons[0]["steps"][0]["diagnostics"].empty());
    CHECK(lessons[1]["passed"] == true);
}
#endif
