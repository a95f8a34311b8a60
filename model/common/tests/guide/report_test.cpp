// The report: reading results, choosing plots, describing them, the page, and the command as a whole in a copy with a
// chapter that is a shell script.

#include "common/guide/report.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/guide/command.h"
#include "common/guide/ideas.h"
#include "common/guide/report_charts.h"
#include "common/guide/report_page.h"
#include "common/guide/report_plots.h"
#include "common/guide/report_results.h"
#include "common/guide/report_traces.h"
#include "common/helpers/json.h"
#include "common/lesson/refusal.h"
#include "common/lesson/roofline.h"
#include "common/lesson/trace_file.h"

using namespace guide;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

// ---- results --------------------------------------------------------------------------------------------------------

json check(bool passed) {
    return {{"passed", passed},    {"largest_error", 0.0},        {"tolerance", 1e-6},
            {"sizes_compared", 3}, {"mismatches", json::array()}, {"failures", json::array()}};
}

json step(int number, const std::string& name, const std::string& kind = "device") {
    return {{"number", number},
            {"name", name},
            {"change", "a change"},
            {"kind", kind},
            {"size", {64, 32}},
            {"comparison", check(true)},
            {"seconds", nullptr},
            {"bytes", 24576.0},
            {"operations", 2048.0},
            {"gb_per_s", nullptr},
            {"gop_per_s", nullptr},
            {"share_of_roof", nullptr},
            {"share_of_vendor", nullptr},
            {"speed_up", nullptr},
            {"figures", json::array()},
            {"launches", nullptr},
            {"diagnostics", json::array()}};
}

json timed(json step, double seconds) {
    step["seconds"] = {{"median", seconds}, {"minimum", seconds}, {"maximum", seconds},
                       {"p10", seconds},    {"p90", seconds},     {"samples", 10}};
    step["speed_up"] = 1.0;
    return step;
}

json at_rate(json step, double gb_per_s) {
    step = timed(step, 24576.0 / gb_per_s * 1e-9);
    step["gb_per_s"] = gb_per_s;
    step["gop_per_s"] = gb_per_s / 12;
    return step;
}

/// With one launch whose loads and stores touch so many sectors, and so many bank conflicts.
json counted(json step, double sectors, double conflicts = 0) {
    const auto operation = [](double requests, double touched, double wavefronts, double least) {
        return json{{"requests", requests}, {"lanes", requests * 32},   {"bytes", requests * 128},
                    {"sectors", touched},   {"wavefronts", wavefronts}, {"least_wavefronts", least},
                    {"same_address", 0}};
    };
    json counters = {{"global_load", operation(64, sectors / 2, 0, 0)},
                     {"global_store", operation(64, sectors / 2, 0, 0)},
                     {"barriers", 0},
                     {"steps", 100},
                     {"active_lanes", 3200}};
    if (conflicts > 0) counters["shared_load"] = operation(64, 0, 64 + conflicts, 64);
    step["launches"] =
        json::array({{{"kernel", "kernel"},
                      {"file", "no_such.cu"},
                      {"line", 7},
                      {"grid", {64, 1, 1}},
                      {"block", {32, 1, 1}},
                      {"shared_bytes", 0},
                      {"blocks", 64},
                      {"instrumented_blocks", 64},
                      {"occupancy", 0.5},
                      {"counters", counters},
                      {"lines", json::array({{{"file", "no_such.cu"}, {"line", 3}, {"counters", counters}}})},
                      {"arrays", json::array()}}});
    return step;
}

/// The story of a lesson, by pairs of part and text.
json told(const std::vector<std::pair<std::string, std::string>>& parts) {
    json story = json::array();
    for (const auto& [part, text] : parts) story.push_back({{"part", part}, {"text", text}});
    return story;
}

json lesson(const std::string& name, const std::vector<json>& steps) {
    return {{"name", name},
            {"size", {64, 32}},
            {"story", told({{"question", "What it is about."}})},
            {"steps", steps},
            {"roof", nullptr},
            {"tables", json::array()},
            {"expectations", json::array()},
            {"diagnostics", json::array()},
            {"failure", nullptr},
            {"passed", true}};
}

json with_roof(json lesson, double gb_per_s) {
    lesson["roof"] = {
        {"name", "copy"}, {"bytes", 1e9}, {"gb_per_s", gb_per_s}, {"seconds", timed({}, 1e-3)["seconds"]}};
    return lesson;
}

json chapter_results(const std::vector<json>& lessons, bool on_gpu = false) {
    return {{"warpwise", 1},
            {"date", "2026-11-21T12:34:56Z"},
            {"chapter", {{"number", 1}, {"title", "Basics"}, {"folder", "1_basics"}}},
            {"device",
             {{"name", on_gpu ? "NVIDIA H200" : "Warpwise CPU device"},
              {"kind", on_gpu ? "cuda" : "cpu"},
              {"compute_capability", "9.0"},
              {"driver_version", 13000},
              {"runtime_version", 13000},
              {"processors", on_gpu ? 132 : 16},
              {"clock_mhz", on_gpu ? json(1980) : json(nullptr)},
              {"l2_bytes", 62914560},
              {"memory_bytes", 1 << 30}}},
            {"command", {"build/bin/cpu/basics", "--device", "cpu"}},
            {"lessons", lessons},
            {"passed", true}};
}

ChapterResults parsed(const json& results) { return parse_results(warpwise::json_text(results)); }

std::string why_unreadable(const std::string& text) {
    try {
        (void)parse_results(text);
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "it was read";
}

const BarChart& bars(const Chart& chart) { return std::get<BarChart>(chart.plot); }

// ---- traces ---------------------------------------------------------------------------------------------------------

json step_event(int line) { return {{"kind", "step"}, {"file", 0}, {"line", line}, {"lanes", "ffffffff"}}; }
json barrier_event(int line) { return {{"kind", "barrier"}, {"file", 0}, {"line", line}, {"lanes", "ffffffff"}}; }
json load_event(int line, int first) {
    return {{"kind", "global_load"}, {"file", 0},      {"line", line},
            {"lanes", "ffffffff"},   {"array", 0},     {"bytes", 4},
            {"sectors", 4},          {"first", first}, {"stride", 4}};
}
json uneven_load_event(int line, const std::vector<int>& at) {
    return {{"kind", "shared_load"},
            {"file", 0},
            {"line", line},
            {"lanes", "00000007"},
            {"array", 0},
            {"bytes", 4},
            {"wavefronts", 1},
            {"least_wavefronts", 1},
            {"at", at}};
}

json traced_warp(int number, const std::vector<json>& events) {
    return {{"block", {0, 0, 0}}, {"warp", number}, {"threads", 32}, {"cut", false}, {"events", events}};
}

json traced_launch(const std::string& lesson, const std::string& step, const std::vector<json>& warps) {
    return {{"lesson", lesson},
            {"step", step.empty() ? json(nullptr) : json(step)},
            {"kernel", "kernel"},
            {"file", "chapters/1_basics/add.cu"},
            {"line", 9},
            {"grid", {1, 1, 1}},
            {"block", {64, 1, 1}},
            {"shared_bytes", 0},
            {"blocks", 1},
            {"arrays", {{{"name", "values"}, {"space", "global"}, {"bytes", 4096}, {"begin", 0}}}},
            {"files", {{{"path", "chapters/1_basics/add.cu"}, {"first", 7}, {"lines", {"value = in[i];"}}}}},
            {"warps", warps}};
}

json chapter_trace(const std::vector<json>& launches) {
    return {{"warpwise_trace", 1},
            {"date", "2026-11-21T12:34:56Z"},
            {"command", {"/home/reader/copy/build/bin/cpu/basics", "--device", "cpu", "--trace", "x", "--trace-brief"}},
            {"launches", launches}};
}

json one_launch(const std::string& lesson) {
    return chapter_trace({traced_launch(lesson, "first", {traced_warp(0, {step_event(7), load_event(7, 0)})})});
}

std::string why_no_trace(const std::string& text) {
    try {
        (void)parse_traces(text, "");
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "it was read";
}

// ---- pages ----------------------------------------------------------------------------------------------------------

Chapter basics() {
    Chapter chapter;
    chapter.number = 1;
    chapter.folder = "1_basics";
    chapter.program = "basics";
    chapter.title = "Basics";
    chapter.lessons = {{"add", "adding <two> vectors"}};
    Exercise exercise;
    exercise.name = "grid_stride";
    exercise.title = "any number of elements";
    chapter.exercises = {exercise};
    return chapter;
}

std::string page_of(const Chapter& chapter, const json& results, const Progress& progress = {},
                    const std::vector<LessonTrace>& traces = {}) {
    Report report;
    report.root = "/home/reader/copy";
    report.typed = "./warpwise";
    report.date = "2026-11-22 08:00 UTC";
    report.machine = {{"processor", "some <processor>"}};
    report.chapters = {{&chapter, parsed(results), {}, {}, traces}};
    report.progress = progress;
    return report_page(report);
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
    return count;
}

BarChart two_bars() {
    return {
        "A title", "GB/s", {{"1 slow", "1 GB/s", 1, BarKind::host}, {"2 fast", "9 GB/s", 9}}, {{"copy: 10 GB/s", 10}}};
}

// ---- a copy ---------------------------------------------------------------------------------------------------------

void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
}

void write_program(const fs::path& file, const std::string& script) {
    write(file, "#!/bin/sh\n" + script);
    fs::permissions(file, fs::perms(0755));
}

std::string read(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// A copy with one chapter, with a ninja that builds nothing, and with stdout put aside.
class Copy {
public:
    Copy() {
        std::string name = (fs::temp_directory_path() / "report_test_XXXXXX").string();
        project.root = fs::canonical(::mkdtemp(name.data()));
        project.caller = project.root;
        write(project.root / "build/cpu/build.ninja", "");
        write(project.root / "build/cpu/catalog.json", R"({"warpwise_catalog": 1, "chapters": [{"folder": "1_basics",
            "program": "basics", "lessons": ["add"], "exercises": [{"name": "grid_stride", "kind": "fill"}]}]})");
        write(project.root / "chapters/1_basics/add.cu", "// the lesson\n");
        write_program(project.root / "fake/ninja", "echo built >> '" + (project.root / "builds").string() + "'\n");
        setenv("PATH", ((project.root / "fake").string() + ":" + path_).c_str(), 1);
        write(project.root / "trace.json", one_launch("add").dump());
        chapter_writes(chapter_results({lesson("add", {step(1, "first")})}));
    }
    ~Copy() {
        setenv("PATH", path_.c_str(), 1);
        fs::remove_all(project.root);
    }
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;

    /// The chapter's program writes this to the file behind --json, trace.json to that behind --trace, and notes that
    /// it ran.
    void chapter_writes(const json& results, int status = 0) const {
        write(project.root / "to_write.json", warpwise::json_text(results));
        chapter_does(
            "while [ $# -gt 0 ]; do case \"$1\" in --json) cp to_write.json \"$2\";; --trace) cp trace.json \"$2\";; "
            "esac; shift; done\n"
            "exit " +
            std::to_string(status) + "\n");
    }
    void chapter_does(const std::string& commands) const {
        write_program(project.programs() / "basics",
                      "case \"$*\" in *--list*) exit 1;; esac\necho ran \"$@\" >> runs\n" + commands);
    }

    int report(const ReportOptions& options = {}) const {
        const Catalog catalog = Catalog::load(project);
        ProgressFile progress(project.progress_file(), catalog);
        std::fflush(stdout);
        const int saved = dup(STDOUT_FILENO);
        (void)!std::freopen((project.root / "printed").c_str(), "w", stdout);
        struct Restore {
            int descriptor;
            ~Restore() {
                std::fflush(stdout);
                dup2(descriptor, STDOUT_FILENO);
                close(descriptor);
            }
        } const restore{saved};
        return write_report(project, catalog, progress, options);
    }

    std::size_t runs() const { return count_of(read(project.root / "runs"), "ran"); }
    std::string page() const { return read(project.root / "build/report.html"); }
    std::string printed() const { return read(project.root / "printed"); }
    fs::path results() const { return project.results() / "1_basics.json"; }
    fs::path trace() const { return project.results() / "1_basics.trace.json"; }

    Project project;

private:
    std::string path_ = std::getenv("PATH");
};

}  // namespace

// ---- reading results ------------------------------------------------------------------------------------------------

TEST_CASE("results are read back as they were written") {
    json add = lesson("add", {counted(step(1, "first"), 512), at_rate(step(2, "second"), 3000)});
    add["steps"][1]["number"] = nullptr;
    add["steps"][1]["kind"] = "vendor";
    add["expectations"] = {{{"what", "it works"}, {"passed", false}}};
    const ChapterResults results = parsed(chapter_results({with_roof(add, 4000)}, true));
    CHECK(results.folder == "1_basics");
    CHECK(results.date == "2026-11-21 12:34 UTC");
    CHECK(results.device.on_gpu);
    CHECK(results.device.major == 9);
    CHECK(results.device.clock == 1980);
    REQUIRE(results.lessons.size() == 1);
    const warpwise::LessonResult& read_lesson = results.lessons.front();
    REQUIRE(read_lesson.steps.size() == 2);
    const warpwise::StepResult& first = read_lesson.steps.front();
    CHECK(first.number == 1);
    CHECK(text_of(first.size) == "64 x 32");
    REQUIRE(first.launches);
    CHECK(warpwise::sum_of(*first.launches).global_load.sectors == 256);
    CHECK(is_right(first));
    CHECK_FALSE(read_lesson.steps[1].number);
    CHECK(read_lesson.steps[1].kind == warpwise::StepKind::vendor);
    CHECK(read_lesson.steps[1].gb_per_s == 3000);
    CHECK_FALSE(read_lesson.steps[1].launches);
    REQUIRE(read_lesson.roof);
    CHECK(read_lesson.roof->gb_per_s == 4000);
    CHECK_FALSE(is_right(read_lesson));  // one expectation was not met
}

TEST_CASE("results of an earlier version, without counters and diagnostics, are read") {
    json old = chapter_results({lesson("add", {step(1, "first")})});
    old["lessons"][0].erase("diagnostics");
    old["lessons"][0]["steps"][0].erase("diagnostics");
    old["lessons"][0]["steps"][0].erase("launches");
    CHECK(is_right(parsed(old).lessons.front()));
}

TEST_CASE("a step with mismatches, with a failure, with a diagnostic, or without its turn is wrong") {
    json wrong = step(1, "first");
    SECTION("mismatches, where a value was not a number") {
        wrong["comparison"]["passed"] = false;
        wrong["comparison"]["mismatches"] = {{{"size", {33}}, {"index", 32}, {"got", nullptr}, {"expected", 0.5}}};
        const warpwise::StepResult read_step = parsed(chapter_results({lesson("add", {wrong})})).lessons[0].steps[0];
        REQUIRE(read_step.wrong.size() == 1);
        REQUIRE(read_step.wrong[0].comparison.mismatches.size() == 1);
        CHECK(std::isnan(read_step.wrong[0].comparison.mismatches[0].got));
        CHECK(text_of(read_step.wrong[0].size) == "33");
    }
    SECTION("a failure") {
        wrong["comparison"]["passed"] = false;
        wrong["comparison"]["failures"] = {{{"size", {33}}, {"message", "it threw"}}};
    }
    SECTION("a diagnostic") {
        wrong["comparison"]["passed"] = false;
        wrong["diagnostics"] = {
            {{"kind", "data_race"}, {"message", "two threads"}, {"site", nullptr}, {"other", nullptr}}};
    }
    SECTION("no turn") {
        wrong["comparison"] = {{"passed", false}, {"largest_error", nullptr}, {"tolerance", nullptr}};
    }
    SECTION("nothing but the word") { wrong["comparison"]["passed"] = false; }
    CHECK_FALSE(is_right(parsed(chapter_results({lesson("add", {wrong})})).lessons[0].steps[0]));
}

TEST_CASE("a trace is parted into lessons, and what their launches have in common is held once") {
    json launch_below =
        traced_launch("add", "", {traced_warp(0, {uneven_load_event(8, {12, 4, 16}), barrier_event(9)})});
    launch_below["files"][0]["first"] = 8;
    launch_below["files"][0]["lines"] = {"line 8", "line 9"};
    json launch_far_away = traced_launch("add", "far", {traced_warp(0, {step_event(70)})});
    launch_far_away["files"][0]["first"] = 70;
    const json trace =
        chapter_trace({traced_launch("add", "first",
                                     {traced_warp(0, {step_event(7), load_event(7, 0), load_event(7, 128)}),
                                      traced_warp(1, {step_event(7), load_event(7, 256), load_event(7, -4)})}),
                       launch_below, launch_far_away,
                       traced_launch("sum", "", {traced_warp(0, {uneven_load_event(8, {20, 12, 24})})})});
    const std::vector<LessonTrace> traces = parse_traces(warpwise::json_text(trace), "/home/reader/copy");
    REQUIRE(traces.size() == 2);
    CHECK(traces[0].lesson == "add");
    CHECK(traces[0].has_barriers);
    CHECK(traces[1].lesson == "sum");
    CHECK_FALSE(traces[1].has_barriers);
    const json add = warpwise::parse_json<json>(traces[0].json);
    CHECK(add["command"] == json{"build/bin/cpu/basics", "--device", "cpu"});
    // json sorts names; traces as programs write them keep their order.
    CHECK(add["keys"] ==
          json{{"file", "kind", "lanes", "line"},
               {"array", "bytes", "file", "first", "kind", "lanes", "line", "sectors", "stride"},
               {"array", "at", "bytes", "file", "kind", "lanes", "least_wavefronts", "line", "wavefronts"}});
    CHECK(add["shapes"] == json{{0, 0, "step", "ffffffff", 7},
                                {1, 0, 4, 0, nullptr, "global_load", "ffffffff", 7, 4, 4},
                                {2, 0, {-8, 12}, 4, 0, "shared_load", "00000007", 1, 8, 1},
                                {0, 0, "barrier", "ffffffff", 9},
                                {0, 0, "step", "ffffffff", 70}});
    CHECK(add["sequences"] == json{{0, 1, 1}, {2, 3}, json::array({4})});
    CHECK(add["sources"]["chapters/1_basics/add.cu"] ==
          json{{7, "value = in[i];", "line 8", "line 9"}, {70, "value = in[i];"}});
    REQUIRE(add["launches"].size() == 3);
    const json& launch = add["launches"][0];
    CHECK(launch["kernel"] == "kernel");
    CHECK(launch["files"][0]["lines"] == 1);
    CHECK(launch["warps"][0]["events"] == json{0, 0, 128});
    CHECK(launch["warps"][1]["events"] == json{0, 256, -4});
    CHECK(add["launches"][1]["files"][0]["lines"] == 2);
    CHECK(add["launches"][1]["warps"][0]["events"] == json{1, 12});
    CHECK(warpwise::parse_json<json>(traces[1].json)["sequences"] == json{json::array({0})});
    CHECK(parse_traces(chapter_trace({}).dump(), "").empty());
}

TEST_CASE("what is no trace of a chapter is refused with the reason") {
    CHECK_THAT(why_no_trace(""), ContainsSubstring("parse error"));
    CHECK_THAT(why_no_trace("[1, 2]"), ContainsSubstring("no trace"));
    CHECK_THAT(why_no_trace(R"({"warpwise_trace": 2})"), ContainsSubstring("another version"));
    CHECK(why_no_trace(R"({"warpwise_trace": 1, "command": []})") != "it was read");
    json odd = one_launch("add");
    odd["launches"][0].erase("lesson");
    CHECK(why_no_trace(warpwise::json_text(odd)) != "it was read");
    odd["launches"][0]["lesson"] = nullptr;
    CHECK(why_no_trace(warpwise::json_text(odd)) != "it was read");
    odd = one_launch("add");
    odd["launches"][0]["warps"][0]["events"] = 3;
    CHECK(why_no_trace(warpwise::json_text(odd)) != "it was read");
}

TEST_CASE("a brief trace holds the first launch of each kernel of a step, its first warps and their first events") {
    const auto launch = [](const std::string& kernel, int warps, int events) {
        json all = json::array();
        for (int warp = 0; warp < warps; ++warp) {
            std::vector<json> list(static_cast<std::size_t>(events), load_event(7, 0));
            all.push_back(traced_warp(warp, list));
        }
        warpwise::LaunchCounts counts;
        counts.kernel = kernel;
        counts.trace = json{{"arrays", json::array()}, {"files", {"no_such.cu"}}, {"warps", all}}.dump();
        return counts;
    };
    const std::vector<warpwise::TracedStep> steps = {
        {"one", {launch("a", 4, 1000), launch("a", 4, 3), launch("b", 32, 3)}, "add"},
        {"two", {launch("a", 1, 3)}, "add"},
        {"", {launch("a", 1, 3), launch("c", 1, 3), launch("c", 1, 3)}, "add"},
        {"", {launch("a", 1, 3)}, "sum"}};
    const fs::path file = fs::temp_directory_path() / ("report_test_" + std::to_string(getpid()) + ".json");
    const auto written = [&](warpwise::TraceParts parts) {
        write_trace(file.string(), steps, {"basics"}, parts);
        const json trace = warpwise::parse_json<json>(read(file));
        fs::remove(file);
        return trace;
    };
    const json brief = written(warpwise::TraceParts::brief);
    std::string launches;
    for (const json& one : brief["launches"]) {
        launches += one["lesson"].get<std::string>() + "." + one["kernel"].get<std::string>() + " ";
    }
    CHECK(launches == "add.a add.b add.a add.c sum.a ");
    CHECK(brief["launches"][0]["warps"].size() == 2);
    CHECK(brief["launches"][0]["warps"][0]["events"].size() == 128);
    CHECK(brief["launches"][0]["warps"][0]["cut"] == true);
    CHECK(brief["launches"][1]["warps"].size() == 2);
    CHECK(brief["launches"][1]["warps"][0]["cut"] == false);
    CHECK_THAT(brief["trimmed"]["en"].get<std::string>(), ContainsSubstring("the first 128 events"));
    const json whole = written(warpwise::TraceParts::all);
    CHECK(whole["launches"].size() == 8);
    CHECK(whole["launches"][0]["warps"][3]["events"].size() == 1000);
    CHECK_FALSE(whole.contains("trimmed"));
}

TEST_CASE("what is no results of a chapter is refused with the reason") {
    CHECK_THAT(why_unreadable(""), ContainsSubstring("parse error"));
    CHECK_THAT(why_unreadable("[1, 2]"), ContainsSubstring("results of a chapter"));
    CHECK_THAT(why_unreadable(R"({"warpwise": 2})"), ContainsSubstring("another version"));
    const std::string whole = chapter_results({lesson("add", {step(1, "first")})}).dump();
    CHECK(why_unreadable(whole) == "it was read");
    for (const std::size_t length : {whole.size() / 4, whole.size() / 2, whole.size() - 1}) {
        CHECK_THAT(why_unreadable(whole.substr(0, length)), ContainsSubstring("parse error"));
    }
    json odd = chapter_results({});
    odd["lessons"] = "none";
    CHECK_THAT(why_unreadable(warpwise::json_text(odd)), ContainsSubstring("\"lessons\" is no list"));
    odd = chapter_results({});
    odd["device"]["compute_capability"] = "new";
    CHECK_THAT(why_unreadable(warpwise::json_text(odd)), ContainsSubstring("compute capability"));
    odd = chapter_results({});
    odd["passed"] = nullptr;
    CHECK(why_unreadable(warpwise::json_text(odd)) != "it was read");
}

// ---- choosing plots -------------------------------------------------------------------------------------------------

TEST_CASE("on a GPU bandwidth is plotted against the copy and the vendor's routine") {
    json vendor = at_rate(step(0, "vendor", "vendor"), 4400);
    vendor["number"] = nullptr;
    const ChapterResults results = parsed(chapter_results(
        {with_roof(lesson("add", {at_rate(step(1, "slow"), 10), at_rate(step(2, "fast"), 4300), vendor}), 4000)},
        true));
    const std::vector<Chart> charts = step_charts(results.lessons[0], results.device);
    REQUIRE(charts.size() == 1);
    const BarChart& chart = bars(charts[0]);
    REQUIRE(chart.bars.size() == 3);
    CHECK(chart.bars[1].label == "2 fast");
    CHECK(chart.bars[1].value_text == "4300 GB/s");
    CHECK(chart.bars[2].kind == BarKind::vendor);
    REQUIRE(chart.marks.size() == 2);
    CHECK(chart.marks[0].value == 4000);
    CHECK(chart.marks[1].value == 4400);
    CHECK_THAT(charts[0].caption, ContainsSubstring("fast is the fastest with 4300 GB/s, 1.07 of copy bandwidth") &&
                                      ContainsSubstring("0.98 of the vendor's routine") &&
                                      ContainsSubstring("slow is the slowest"));
}

TEST_CASE("steps that move no bytes are plotted by their operations, and those without either by their time") {
    json compute = at_rate(step(1, "compute"), 10);
    compute["gb_per_s"] = nullptr;
    const ChapterResults by_operations = parsed(chapter_results({lesson("pi", {compute})}, true));
    CHECK(bars(step_charts(by_operations.lessons[0], by_operations.device).at(0)).axis == "Gop/s");
    const ChapterResults by_time =
        parsed(chapter_results({lesson("wait", {timed(step(1, "long"), 0.02), timed(step(2, "short"), 0.01)})}, true));
    const Chart chart = step_charts(by_time.lessons[0], by_time.device).at(0);
    CHECK(bars(chart).axis == "ms");
    CHECK_THAT(bars(chart).bars[0].value, WithinRel(20.0));
    CHECK_THAT(chart.caption,
               ContainsSubstring("shorter is better") && ContainsSubstring("2.00 times as fast as long"));
}

TEST_CASE("a wrong step is marked, and is never called the fastest") {
    json wrong = at_rate(step(2, "wrong_but_fast"), 9000);
    wrong["comparison"]["passed"] = false;
    const ChapterResults results =
        parsed(chapter_results({lesson("add", {at_rate(step(1, "right"), 10), wrong})}, true));
    const Chart chart = step_charts(results.lessons[0], results.device).at(0);
    CHECK(bars(chart).bars[1].kind == BarKind::wrong);
    CHECK_THAT(bars(chart).bars[1].label, ContainsSubstring("WRONG"));
    CHECK_THAT(chart.caption, ContainsSubstring("right is the fastest"));
    CHECK_THAT(chart.caption, !ContainsSubstring("wrong_but_fast"));
}

TEST_CASE("on the CPU device the counters that tell the steps apart are plotted") {
    const ChapterResults results = parsed(
        chapter_results({lesson("transpose", {counted(step(1, "naive"), 4096), counted(step(2, "tile"), 1024, 900),
                                              counted(step(3, "padded"), 1024)}),
                         lesson("same", {counted(step(1, "one"), 768), counted(step(2, "two"), 768)}),
                         lesson("host", {timed(step(1, "serial", "host"), 1)})}));
    const std::vector<Chart> charts = step_charts(results.lessons[0], results.device);
    REQUIRE(charts.size() == 2);
    CHECK_THAT(charts[0].caption, ContainsSubstring("naive has the most, 131 kB") &&
                                      ContainsSubstring("4.00 times less") && ContainsSubstring("Counted, not timed") &&
                                      ContainsSubstring("everything once takes 24.6 kB"));
    CHECK(bars(charts[0]).marks.size() == 1);
    CHECK(bars(charts[1]).bars[1].value_text == "900");
    const std::vector<Chart> same = step_charts(results.lessons[1], results.device);
    REQUIRE(same.size() == 1);
    CHECK_THAT(same[0].caption, ContainsSubstring("All steps have the same"));
    CHECK(step_charts(results.lessons[2], results.device).empty());
}

TEST_CASE("the peak rate follows from the device's data, where they are known") {
    warpwise::DeviceInfo device = parsed(chapter_results({}, true)).device;
    CHECK_THAT(peak_gop_per_s(device).value(), WithinRel(66908.16));
    device.clock.reset();
    CHECK_FALSE(peak_gop_per_s(device));
    CHECK_FALSE(peak_gop_per_s(parsed(chapter_results({})).device));
    device = parsed(chapter_results({}, true)).device;
    device.major = 99;
    CHECK_FALSE(peak_gop_per_s(device));
}

TEST_CASE("the roofline of a GPU holds what was measured on it, that of the CPU device says that nothing was") {
    const ChapterResults gpu = parsed(chapter_results(
        {with_roof(lesson("add", {at_rate(step(1, "serial", "host"), 5), at_rate(step(2, "fast"), 3000)}), 4000)},
        true));
    const std::optional<Chart> measured = roofline_of(gpu);
    REQUIRE(measured);
    const auto& under_roof = std::get<Roofline>(measured->plot);
    CHECK(under_roof.gb_per_s == 4000);
    REQUIRE(under_roof.series.size() == 1);
    REQUIRE(under_roof.series[0].points.size() == 1);  // not the host's
    CHECK_THAT(under_roof.series[0].points[0].intensity, WithinRel(1.0 / 12));
    CHECK_THAT(under_roof.series[0].points[0].gop_per_s, WithinRel(250.0));
    CHECK_THAT(measured->caption,
               ContainsSubstring("Measured.") && ContainsSubstring("132 SMs x 128 lanes x 2 x 1980 MHz"));

    const ChapterResults cpu = parsed(chapter_results({lesson("add", {counted(step(1, "first"), 1024)})}));
    const std::optional<Chart> attainable = roofline_of(cpu);
    REQUIRE(attainable);
    const auto& reference = std::get<Roofline>(attainable->plot);
    CHECK(reference.gb_per_s == 4800);
    CHECK_THAT(reference.series.at(0).points.at(0).intensity, WithinRel(2048.0 / (1024 * 32)));
    CHECK_THAT(reference.series[0].points[0].gop_per_s, WithinRel(2048.0 / (1024 * 32) * 4800));
    CHECK_THAT(attainable->caption, ContainsSubstring("Attainable, not measured") && ContainsSubstring("NVIDIA H200"));

    CHECK_FALSE(roofline_of(parsed(chapter_results({lesson("talk", {})}))));
    CHECK_FALSE(roofline_of(parsed(chapter_results({lesson("add", {at_rate(step(1, "no_roof"), 5)})}, true))));
}

TEST_CASE("where one step of a table is faster than the FP32 peak, the table's steps are not compared with it") {
    const auto below = [](const std::vector<warpwise::StepRate>& rates) {
        return warpwise::are_below_fp32_peak(rates, 100);
    };
    // The second table is one of tensor cores, its vendor routine with it.
    CHECK(below({{1, 10}, {2, 99}, {{}, 98}, {1, 50}, {2, 300}, {{}, 400}, {1, 20}}) ==
          std::vector<bool>{true, true, true, false, false, false, true});
    CHECK(below({{1, 104}, {{}, 0}}) == std::vector<bool>{true, true});
    CHECK(below({}).empty());
}

TEST_CASE("a roofline names steps without bytes and those of tensor cores instead of drawing them") {
    const auto computing = [](int number, const char* name, double gop_per_s) {
        json result = at_rate(step(number, name), 1);
        result["bytes"] = 0;
        result["gop_per_s"] = gop_per_s;
        return result;
    };
    json product = lesson("product", {computing(1, "tiles", 3e4), computing(2, "registers", 5e4),
                                      computing(1, "mma", 2e4), computing(2, "wgmma", 4e5)});
    const ChapterResults results = parsed(chapter_results(
        {with_roof(lesson("add", {at_rate(step(1, "slow"), 30), at_rate(step(2, "fast"), 3000)}), 4000), product},
        true));
    const std::optional<Chart> chart = roofline_of(results);
    REQUIRE(chart);
    const auto& roofline = std::get<Roofline>(chart->plot);
    REQUIRE(roofline.series.size() == 1);
    CHECK(roofline.series[0].points.size() == 2);
    CHECK_THAT(chart->caption, ContainsSubstring("no bytes are counted and arithmetic alone is a limit: product.") &&
                                   ContainsSubstring("product (mma, wgmma)."));

    ChapterResults other_gpu = results;
    other_gpu.device.name = "another GPU";
    other_gpu.date = "2020-01-01";
    const std::optional<Chart> all = roofline_of_all({&other_gpu, &results});
    REQUIRE(all);
    const auto& best = std::get<Roofline>(all->plot);
    REQUIRE(best.series.size() == 1);  // of the latest GPU alone
    REQUIRE(best.series[0].points.size() == 1);
    CHECK_THAT(best.series[0].points[0].gop_per_s, WithinRel(250.0));
    CHECK_THAT(best.title, ContainsSubstring("NVIDIA H200"));
    CHECK_THAT(all->caption, ContainsSubstring("no limit to tensor cores: steps of product."));
    const ChapterResults cpu = parsed(chapter_results({lesson("add", {counted(step(1, "first"), 1024)})}));
    CHECK_FALSE(roofline_of_all({&cpu}));
    CHECK_FALSE(roofline_of_all({}));
}

TEST_CASE("tables called 'against' become curves, others stay tables") {
    const warpwise::TableResult table{{"times", "time against size"},
                                      {"size", "mine", "library"},
                                      {{"1 KiB", "2 us", "1 us"}, {"1 MiB", "3 ms", "-"}, {"1 GiB", "3 s", "2 s"}}};
    const std::optional<Chart> chart = curves_of(table);
    REQUIRE(chart);
    const auto& curves = std::get<Curves>(chart->plot);
    REQUIRE(curves.series.size() == 2);
    CHECK(curves.series[0].points.size() == 3);
    CHECK(curves.series[1].points.size() == 2);
    CHECK(curves.series[0].points[1] == std::pair(1048576.0, 3e-3));
    CHECK(curves.y_axis == "time");
    warpwise::TableResult other = table;
    other.title.text = "time and size";
    CHECK_FALSE(curves_of(other));
    other = table;
    other.rows[1][1] = "unknown";
    CHECK_FALSE(curves_of(other));
    other = table;
    other.rows.clear();
    CHECK_FALSE(curves_of(other));
}

TEST_CASE("numbers are found in cells with their units, and not in words") {
    CHECK(number_in("12") == 12);
    CHECK(number_in("-1.2e-07") == -1.2e-07);
    CHECK(number_in("16 KiB") == 16384);
    CHECK(number_in("2ms") == 2e-3);
    CHECK(number_in("25 %") == 25);
    for (const char* text : {"", "-", "inf", "nan", "1e999", "12 apples", "1.2.3", "x", "0 .. 31"}) {
        INFO(text);
        CHECK_FALSE(number_in(text));
    }
}

// ---- describing plots -----------------------------------------------------------------------------------------------

TEST_CASE("a plot's description holds what is drawn, and its table the same numbers") {
    BarChart chart = two_bars();
    chart.bars[1].value = 9.00000049;
    chart.bars[1].kind = BarKind::wrong;
    CHECK(warpwise::parse_json<json>(plot_json(chart)) ==
          json{{"kind", "bars"},
               {"title", "A title"},
               {"axis", "GB/s"},
               {"bars",
                {{{"label", "1 slow"}, {"text", "1 GB/s"}, {"value", 1.0}, {"kind", "host"}},
                 {{"label", "2 fast"}, {"text", "9 GB/s"}, {"value", 9.0}, {"kind", "wrong"}}}},
               {"marks", {{{"label", "copy: 10 GB/s"}, {"value", 10.0}, {"kind", "roof"}}}}});
    CHECK(numbers_of(chart).rows ==
          std::vector<std::vector<std::string>>{{"1 slow", "1 GB/s"}, {"2 fast", "9 GB/s"}, {"copy: 10 GB/s", "10.0"}});

    const Curves curves{"Curves", "size", "time", {{"a", {{1, 1}, {1000, 1e-6}}}, {"none", {}}}};
    const json described = warpwise::parse_json<json>(plot_json(curves));
    CHECK(described["x"]["title"] == "size");
    CHECK(described["series"][0]["points"] == json{{1.0, 1.0}, {1000.0, 1e-6}});
    CHECK(described["series"][1]["points"] == json::array());
    CHECK(numbers_of(curves).rows.size() == 2);

    const Roofline roofline{"Roofline", 4000, "copy", {}, {}, {{"add", {{0.25, 300}, {4, 600}}}}};
    const json under_roof = warpwise::parse_json<json>(plot_json(roofline));
    CHECK(under_roof["gb_per_s"] == 4000);
    CHECK_FALSE(under_roof.contains("gop_per_s"));
    CHECK(under_roof["series"][0]["points"] == json{{0.25, 300.0}, {4.0, 600.0}});
    CHECK(numbers_of(roofline).rows.at(1) == std::vector<std::string>{"add", "4.00", "600"});
}

// ---- the page -------------------------------------------------------------------------------------------------------

TEST_CASE("the page holds every part, and nothing that a browser would load") {
    json add = with_roof(lesson("add", {at_rate(step(1, "first"), 10)}), 20);
    add["story"] = told({{"question", "The question.\n\nMore of `it`."},
                         {"prediction", "More?"},
                         {"conclusion", "Again:\n\n    basics add --size 64Ki"}});
    add["texts"] = {"|--|"};
    add["drawings"] = {{{"name", "bars"}, {"text", "    1 >#<"}}};
    add["tables"] = {{{"name", "own"},
                      {"title", "Own table"},
                      {"header", {"what", ""}},
                      {"rows", json::array({json::array({"one", "2"})})}}};
    Progress progress;
    progress.exercises["grid_stride"] = {"2026-11-20", 4, 2, false};
    const std::string page = page_of(basics(), chapter_results({add}, true), progress);
    for (const char* part : {"<h2 id=\"environment\">",
                             "<h2 id=\"summary\">",
                             "Chapter 1: Basics</h2>",
                             "1.1 add: adding &lt;two&gt; vectors",
                             "<h2 id=\"exercises\">",
                             "some &lt;processor&gt;",
                             "More of <code>it</code>.",
                             "<p>More?</p>",
                             "|--|",
                             "./warpwise run 1 add --size 64Ki",
                             "Own table",
                             "1 of 1</b>steps right",
                             "2026-11-20",
                             "<td class=\"number\">4</td><td class=\"number\">2</td>",
                             "NVIDIA H200, build/bin/cpu/basics --device cpu, 2026-11-21 12:34 UTC",
                             "prefers-color-scheme:dark",
                             "@media print",
                             "scope=\"col\"",
                             "scope=\"row\"",
                             "Steps of add, size 64 x 32"}) {
        INFO(part);
        CHECK(page.find(part) != std::string::npos);
    }
    for (const char* loaded : {"http:", "https:", "src=", "url(", "@import", "<iframe"}) {
        INFO(loaded);
        CHECK(page.substr(0, page.find("<script nonce")).find(loaded) == std::string::npos);
    }
    CHECK(count_of(page, "<figure>") == 3);  // the steps, the chapter's roofline and that of all chapters
    for (const char* part :
         {"data-chart=\"plot-", "<script type=\"application/json\" id=\"plot-", "<noscript>\n<div"}) {
        INFO(part);
        CHECK(count_of(page, part) == 3);
    }
    for (const std::string element :
         {"span", "td", "th", "tr", "table", "div", "section", "article", "details", "summary", "ul", "li", "p", "a"}) {
        INFO(element);
        CHECK(count_of(page, "<" + element + " ") + count_of(page, "<" + element + ">") ==
              count_of(page, "</" + element + ">"));
    }
}

TEST_CASE(
    "the page holds a GPU's times as a program writes them, for the book's roofline, and none of the CPU device") {
    json wrong = at_rate(step(3, "</script>"), 9000);
    wrong["comparison"]["passed"] = false;
    const std::vector<json> steps = {at_rate(step(1, "serial", "host"), 5), at_rate(step(2, "fast"), 3000), wrong};
    const json written = chapter_results({with_roof(lesson("add", steps), 4000), lesson("empty", {})}, true);
    const std::string page = page_of(basics(), written);
    const std::string begin = "<script type=\"application/json\" id=\"times-1_basics\">";
    REQUIRE(count_of(page, begin) == 1);
    const std::size_t from = page.find(begin) + begin.size();
    const auto times = warpwise::parse_json<json>(page.substr(from, page.find("</script>", from) - from));
    CHECK(times["device"]["name"] == written["device"]["name"]);
    for (const char* known : {"kind", "compute_capability", "processors", "clock_mhz"}) {
        CHECK(times["device"][known] == written["device"][known]);
    }
    CHECK(times["chapter"]["folder"] == written["chapter"]["folder"]);
    CHECK(times["command"].at(0) == "build/bin/cpu/basics");
    REQUIRE(times["lessons"].size() == 2);
    const json& add = times["lessons"][0];
    CHECK(add["roof"]["gb_per_s"] == 4000);
    CHECK(add["size"] == json::array({64, 32}));
    REQUIRE(add["steps"].size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        INFO(i);
        for (const char* known : {"number", "name", "kind", "bytes", "operations"}) {
            CHECK(add["steps"][i][known] == steps[i][known]);
        }
        CHECK(add["steps"][i]["seconds"]["median"] == steps[i]["seconds"]["median"]);
    }
    CHECK(add["steps"][1]["comparison"]["passed"] == true);
    CHECK(add["steps"][2]["comparison"]["passed"] == false);

    CHECK(page_of(basics(), chapter_results({lesson("add", {step(1, "first")})})).find("id=\"times-") ==
          std::string::npos);
}

TEST_CASE("results of the CPU device show a GPU's recorded times, and whose they are") {
    json add = lesson("add", {counted(step(1, "serial", "host"), 512), counted(step(2, "kernel"), 512)});
    add["recording"] = {{"label", "H200"},
                        {"device", "NVIDIA H200"},
                        {"cuda", "13.0"},
                        {"date", "2026-11-21"},
                        {"file", "docs/results/h200_chapter_1.json"},
                        {"size", {4096, 64}},
                        {"copy", {{"gb_per_s", 4000}, {"seconds", 0.001}}},
                        {"vendors", {{{"name", "vendor"}, {"change", "cub::Add"}, {"seconds", 0.0011}}}}};
    const auto recorded = [](double seconds, bool on_host) {
        return json{{"seconds", seconds}, {"gb_per_s", 3450}, {"share_of_copy", 0.8}, {"on_host", on_host}};
    };
    add["steps"][0]["recorded"] = recorded(0.25, true);
    add["steps"][1]["recorded"] = recorded(9e-4, false);
    const std::string page = page_of(basics(), chapter_results({add}), Progress());
    for (const char* part : {"H200 time</th>", "H200 GB/s</th>", ">250 ms*</td>", ">900 us</td>", "vendor (H200)",
                             ">copy (H200)", "cub::Add", "H200: recorded on one NVIDIA H200 (CUDA 13.0, 2026-11-21) at",
                             "size 4096 x 64, while the counts are those of size 64 x 32"}) {
        INFO(part);
        CHECK(page.find(part) != std::string::npos);
    }
    for (json& each : add["steps"]) each.erase("recorded");
    const std::string without = page_of(basics(), chapter_results({add}), Progress());
    CHECK(without.find("H200 time") == std::string::npos);
    CHECK(without.find("recorded on one") == std::string::npos);
}

TEST_CASE("whatever results hold is text in the page") {
    const std::string evil = "</table><script>alert('\"&')</script>";
    json add = lesson(evil, {step(1, evil)});
    add["steps"][0]["change"] = evil;
    add["steps"][0]["comparison"] = {{"passed", false},
                                     {"largest_error", 1.0},
                                     {"tolerance", 0.0},
                                     {"mismatches", {{{"size", {1}}, {"index", 0}, {"got", nullptr}, {"expected", 1}}}},
                                     {"failures", {{{"size", {2}}, {"message", evil}}}}};
    add["steps"][0]["diagnostics"] = {{{"kind", evil}, {"message", evil}, {"hint", evil}}};
    add["steps"][0]["figures"] = {{{"column", evil}, {"value", 1.0}, {"unit", evil}}};
    add["story"] = told({{"question", evil}, {"conclusion", "`" + evil + "`:"}});
    add["texts"] = {evil};
    add["drawings"] = {{{"name", evil}, {"text", evil}}};
    add["tables"] = {{{"name", evil}, {"title", evil}, {"note", evil}, {"header", {evil}}, {"rows", {{evil}}}}};
    add["expectations"] = {{{"what", evil}, {"passed", false}}};
    add["failure"] = evil;
    json results = chapter_results({add});
    results["command"] = {evil};
    results["date"] = evil;
    results["device"]["name"] = evil;
    Chapter chapter = basics();
    chapter.title = chapter.exercises[0].title = chapter.exercises[0].name = evil;
    const std::string page = page_of(chapter, results);
    CHECK(count_of(page, "<script") == 1);
    CHECK(page.find("alert('") == std::string::npos);
    CHECK(count_of(page, "</table>") == count_of(page, "<table"));
}

TEST_CASE("wrong steps stand out with their first mismatches, on top of the page too") {
    json wrong = step(2, "second");
    wrong["comparison"]["passed"] = false;
    wrong["comparison"]["mismatches"] = {{{"size", {33}}, {"index", 32}, {"got", nullptr}, {"expected", 0.5}}};
    json race = step(3, "third");
    race["diagnostics"] = {
        {{"kind", "data_race"},
         {"name", "data race"},
         {"message", "two threads"},
         {"other", nullptr},
         {"site", {{"file", "/home/reader/copy/chapters/add.cu"}, {"line", 7}, {"source", "x = 1;"}}}}};
    json results = chapter_results({lesson("add", {step(1, "first"), wrong, race})});
    results["passed"] = false;
    const std::string page = page_of(basics(), results);
    CHECK_THAT(page, ContainsSubstring("at size 33: index 32: got not a finite number, expected 0.5") &&
                         ContainsSubstring("data race: two threads\n    chapters/add.cu:7: x = 1;") &&
                         ContainsSubstring("add</a>: second, third") && ContainsSubstring("1 of 3</b>steps right"));
    CHECK(count_of(page, "<tr class=\"wrong\">") == 3);  // the chapter and two steps
    CHECK(page.find("/home/reader") == std::string::npos);
}

TEST_CASE("a chapter without results says why") {
    const Chapter chapter = basics();
    Report report;
    report.typed = "./warpwise";
    report.chapters = {{&chapter, std::nullopt, "This chapter could not be built.", "error: <int>"}};
    const std::string page = report_page(report);
    CHECK_THAT(page, ContainsSubstring("This chapter could not be built.") && ContainsSubstring("error: &lt;int&gt;") &&
                         ContainsSubstring("no results") && ContainsSubstring("0 of 1</b>lessons run"));
}

TEST_CASE("a lesson with a trace has places for its views, and the page one script that may run") {
    const std::string evil = "</script><script>alert(1)</script>";
    json trace = one_launch("add");
    trace["launches"][0]["files"][0]["lines"] = {"kernel<<<1, 64>>>(in); // " + evil};
    std::vector<LessonTrace> traces = parse_traces(warpwise::json_text(trace), "");
    const json results = chapter_results({lesson("add", {step(1, "first")}), lesson("sum", {step(1, "second")})});
    const std::string page = page_of(basics(), results, {}, traces);
    CHECK(count_of(page, "<script") == 2);
    CHECK(count_of(page, "</script>") == 2);
    CHECK(count_of(page, "<details data-view=\"warp\" data-trace=\"trace-of-lesson-1_basics-add\">") == 1);
    CHECK(count_of(page, "<script type=\"application/json\" id=\"trace-of-lesson-1_basics-add\">") == 1);
    CHECK(page.find("data-view=\"block\"") == std::string::npos);
    CHECK_THAT(page, ContainsSubstring("kernel\\u003c\\u003c\\u003c1, 64>>>(in)") && ContainsSubstring("<noscript>") &&
                         ContainsSubstring("function warpView(") && ContainsSubstring(".ww {"));
    const std::string start = "script-src 'nonce-";
    const std::string nonce = page.substr(page.find(start) + start.size(), 32);
    CHECK(nonce.find_first_not_of("0123456789abcdef") == std::string::npos);
    CHECK(count_of(page, "<script nonce=\"" + nonce + "\">") == 1);
    CHECK(page_of(basics(), results, {}, traces).find(nonce) == std::string::npos);

    traces[0].has_barriers = true;
    CHECK_THAT(page_of(basics(), results, {}, traces), ContainsSubstring("data-view=\"block\""));
    CHECK(page_of(basics(), results).find("<details data-view") == std::string::npos);
}

TEST_CASE("a report of a GPU says where the views are, a chapter without a trace why it has none") {
    CHECK_THAT(page_of(basics(), chapter_results({lesson("add", {})}, true)),
               ContainsSubstring("<code>./warpwise --device cpu report</code>"));
    CHECK(page_of(basics(), chapter_results({lesson("add", {})})).find("A GPU does not tell") == std::string::npos);
    const Chapter chapter = basics();
    Report report;
    report.chapters = {{&chapter, parsed(chapter_results({lesson("add", {})})), {}, {}, {}, "No trace: `why` <not>."}};
    CHECK_THAT(report_page(report), ContainsSubstring("No trace: <code>why</code> &lt;not&gt;."));
}

TEST_CASE("commands are shown without what only concerns the one who ran them") {
    CHECK(
        shown_command({"/home/me/copy/build/bin/cpu/basics", "--device", "cpu", "--json", "/tmp/x.json", "--no-color"},
                      "/home/me/copy") == "build/bin/cpu/basics --device cpu");
    CHECK(shown_command({"basics", "--json=x", "--size", "1Mi"}, "") == "basics --size 1Mi");
    CHECK(shown_command({"basics", "--trace", "x", "--trace-brief", "--once"}, "") == "basics --once");
    CHECK(shown_command({"basics", "--json"}, "/root").find("basics") == 0);
    CHECK(shown_command({}, "/root").empty());
}

// ---- the command ----------------------------------------------------------------------------------------------------

TEST_CASE("a chapter without results is run, its results are kept, and the second report runs nothing") {
    const Copy copy;
    CHECK(copy.report() == 0);
    CHECK(copy.runs() == 1);
    CHECK(fs::exists(copy.results()));
    CHECK_THAT(copy.page(), ContainsSubstring("Steps of add") && ContainsSubstring("</html>"));
    CHECK_THAT(copy.printed(), ContainsSubstring("Chapter 1, Basics: running") && ContainsSubstring("all right") &&
                                   ContainsSubstring("The report: build/report.html"));
    CHECK(copy.report() == 0);
    CHECK(copy.runs() == 1);
    CHECK(copy.report({.run_all = true}) == 0);
    CHECK(copy.runs() == 2);
}

TEST_CASE("the run that gives results gives a trace; where only that is missing, only that is made") {
    const Copy copy;
    const auto has_view = [&] { return copy.page().find("data-view=\"warp\"") != std::string::npos; };
    REQUIRE(copy.report() == 0);
    CHECK(has_view());
    CHECK(count_of(read(copy.project.root / "runs"), "--once") == 0);
    const fs::file_time_type written = fs::last_write_time(copy.results());
    SECTION("removed") { fs::remove(copy.trace()); }
    SECTION("older than the lesson") {
        fs::last_write_time(copy.trace(), fs::last_write_time(copy.project.root / "chapters/1_basics/add.cu") -
                                              std::chrono::seconds(5));
    }
    fs::last_write_time(copy.results(), written);
    CHECK(copy.report({.run_missing = false}) == 0);
    CHECK(copy.runs() == 1);
    CHECK(copy.report() == 0);
    CHECK(copy.runs() == 2);
    CHECK(count_of(read(copy.project.root / "runs"), "--once") == 1);
    CHECK_THAT(copy.printed(), ContainsSubstring("Chapter 1, Basics: tracing its warps"));
    CHECK(fs::last_write_time(copy.results()) == written);
    CHECK(has_view());
    CHECK(copy.report() == 0);
    CHECK(copy.runs() == 2);
}

TEST_CASE("a chapter whose trace cannot be made or read is told so, and the report is all right") {
    const Copy copy;
    REQUIRE(copy.report() == 0);
    SECTION("the program fails") {
        fs::remove(copy.trace());
        copy.chapter_does("exit 2\n");
        fs::last_write_time(copy.results(),
                            fs::last_write_time(copy.project.programs() / "basics") + std::chrono::seconds(5));
        CHECK(copy.report() == 0);
        CHECK_THAT(copy.page(), ContainsSubstring("could not be traced: its program ended with status 2"));
    }
    SECTION("it is broken") {
        write(copy.trace(), "{");
        CHECK(copy.report() == 0);
        CHECK_THAT(copy.page(), ContainsSubstring("1_basics.trace.json</code> could not be read"));
    }
    SECTION("it is missing, and nothing is run") {
        fs::remove(copy.trace());
        CHECK(copy.report({.run_missing = false}) == 0);
        CHECK_THAT(copy.page(), ContainsSubstring("<code>./warpwise report</code> makes one"));
    }
    CHECK(copy.page().find("<details data-view") == std::string::npos);
    CHECK_THAT(copy.page(), ContainsSubstring("There are no warp views here") && ContainsSubstring("Steps of add"));
}

TEST_CASE("results that are broken, partial, from elsewhere, or older than the lesson are made anew") {
    const Copy copy;
    REQUIRE(copy.report() == 0);
    std::string reason;
    SECTION("broken") {
        write(copy.results(), "{\"warpwise\": 1, ");
        reason = "could not be read";
    }
    SECTION("empty, as an interrupted run leaves them") {
        write(copy.results(), "");
        reason = "could not be read";
    }
    SECTION("partial") {
        write(copy.results(), chapter_results({}).dump());
        reason = "they do not hold the lesson add";
    }
    SECTION("some steps") {
        json some = chapter_results({lesson("add", {})});
        some["command"].push_back("--step=first");
        write(copy.results(), warpwise::json_text(some));
        reason = "some of the steps only";
    }
    SECTION("another device") {
        write(copy.results(), chapter_results({lesson("add", {})}, true).dump());
        reason = "they come from another device";
    }
    SECTION("older than the lesson") {
        fs::last_write_time(copy.project.root / "chapters/1_basics/add.cu",
                            fs::last_write_time(copy.results()) + std::chrono::seconds(5));
        reason = "have changed since";
    }
    SECTION("removed") {
        fs::remove(copy.results());
        reason = "This chapter was not run";
    }
    CHECK(copy.report({.run_missing = false}) == 0);
    CHECK(copy.runs() == 1);
    CHECK_THAT(copy.page(), ContainsSubstring(reason));
    CHECK(copy.report() == 0);
    CHECK(copy.runs() == 2);
    CHECK(copy.page().find(reason) == std::string::npos);
}

TEST_CASE("a wrong step makes the status 1, and the report is written") {
    const Copy copy;
    json results = chapter_results({lesson("add", {step(1, "first")})});
    results["lessons"][0]["steps"][0]["comparison"]["passed"] = false;
    results["passed"] = false;
    copy.chapter_writes(results, 1);
    CHECK(copy.report() == 1);
    CHECK_THAT(copy.page(), ContainsSubstring("WRONG"));
    CHECK_THAT(copy.printed(), ContainsSubstring("something is wrong"));
}

TEST_CASE("a chapter that cannot be run or built is told with its last words, beside older results") {
    const Copy copy;
    SECTION("the program fails") {
        copy.chapter_does("echo 'no memory left' >&2\nexit 2\n");
        CHECK(copy.report() == 1);
        CHECK_THAT(copy.page(), ContainsSubstring("ended with status 2") && ContainsSubstring("no memory left"));
    }
    SECTION("the program writes nothing") {
        copy.chapter_does("exit 0\n");
        CHECK(copy.report() == 1);
        CHECK_THAT(copy.page(), ContainsSubstring("This chapter could not be run"));
    }
    SECTION("the program fails, and there are older results") {
        REQUIRE(copy.report() == 0);
        copy.chapter_does("exit 2\n");
        CHECK(copy.report({.run_all = true}) == 1);
        CHECK_THAT(copy.page(),
                   ContainsSubstring("What follows are older results") && ContainsSubstring("Steps of add"));
    }
    SECTION("the build fails") {
        write_program(copy.project.root / "fake/ninja", "echo 'add.cu:1:1: error: unknown type'\nexit 1\n");
        CHECK(copy.report() == 1);
        CHECK(copy.runs() == 0);
        CHECK_THAT(copy.page(), ContainsSubstring("could not be built") && ContainsSubstring("unknown type"));
    }
    const auto leftover = [](const fs::directory_entry& entry) {
        return entry.path().string().find(".new") != std::string::npos;
    };
    fs::create_directories(copy.project.results());
    CHECK(std::none_of(fs::directory_iterator(copy.project.results()), fs::directory_iterator(), leftover));
}

TEST_CASE("a report that cannot be written is refused before any chapter runs") {
    const Copy copy;
    CHECK_THROWS_MATCHES(copy.report({.output = "no/such/folder/report.html"}), Refusal,
                         MessageMatches(ContainsSubstring("mkdir -p")));
    CHECK(copy.runs() == 0);
}

TEST_CASE("the report goes where the reader wants it, into a folder too, seen from where the reader is") {
    Copy copy;
    copy.project.caller = copy.project.root / "chapters";
    CHECK(copy.report({.output = "mine.html"}) == 0);
    CHECK(fs::exists(copy.project.root / "chapters/mine.html"));
    CHECK(copy.report({.output = "1_basics"}) == 0);
    CHECK(fs::exists(copy.project.root / "chapters/1_basics/report.html"));
}

TEST_CASE("Ctrl-C ends the running chapter, and leaves neither a report nor half of any file") {
    const Copy copy;
    copy.chapter_does(
        "while [ $# -gt 0 ]; do [ \"$1\" = --json ] && echo '{' > \"$2\"; shift; done\ntouch started\nsleep 110\n");
    std::thread impatient([&] {
        for (int i = 0; i < 400 && !fs::exists(copy.project.root / "started"); ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(25));
        }
        kill(getpid(), SIGINT);
    });
    const auto begin = std::chrono::steady_clock::now();
    const int status = copy.report();
    const auto took = std::chrono::steady_clock::now() - begin;
    impatient.join();
    CHECK(status == 130);
    CHECK(took < std::chrono::seconds(100));
    CHECK_FALSE(fs::exists(copy.project.root / "build/report.html"));
    CHECK(fs::is_empty(copy.project.results()));
    CHECK_THAT(copy.printed(), ContainsSubstring("no report was written"));
}

TEST_CASE("report: the path shows what is done, and why an idea is shaky") {
    const Catalog catalog = Catalog::from_json(R"({"warpwise_catalog": 1, "chapters": [{"folder": "1_basics",
        "program": "basics", "lessons": ["add"],
        "exercises": [{"name": "guard", "kind": "fill"}, {"name": "stride", "kind": "fix"}],
        "path": [{"kind": "lesson", "name": "add", "idea": "<loops>"}, {"kind": "exercise", "name": "guard", "idea": "<loops>"},
                 {"kind": "exercise", "name": "stride", "idea": "tails"}]}]})",
                                               "/copy");
    Report report;
    report.typed = "./warpwise";
    report.date = "2026-11-22 08:00 UTC";
    report.chapters = {{&catalog.chapters()[0], std::nullopt}};
    report.progress.lessons["add"].run = "2026-11-20";
    report.progress.exercises["guard"].attempts = 7;
    CHECK(report_page(report).find("id=\"path\"") == std::string::npos);
    report.path = path_map(catalog, report.progress);
    const std::string page = report_page(report);
    for (const char* part :
         {"<h2 id=\"path\">The path</h2>", "ideas: 0 mastered, 1 shaky, 0 begun, 1 open", "1 of 3 stops done",
          "&lt;loops&gt;", "\xE2\x9C\x93 add", "<b>guard (here)</b>", "<span class=\"bad\">shaky</span>",
          "7 attempts at guard. Look again at lesson 1.1, add: <code>./warpwise run add</code>",
          "<span class=\"soft\">stride</span>"}) {
        INFO(part);
        CHECK(page.find(part) != std::string::npos);
    }
}
