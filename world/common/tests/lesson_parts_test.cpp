#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "common/helpers/child_process.h"
#include "common/helpers/counts.h"
#include "common/lesson/counter_columns.h"
#include "common/lesson/device_choice.h"
#include "common/lesson/kernel_files.h"
#include "common/lesson/memory.h"
#include "common/lesson/output.h"
#include "common/lesson/plain_program.h"
#include "common/lesson/recorded_columns.h"
#include "common/lesson/results.h"
#include "common/lesson/size_text.h"
#include "common/lesson/source_listing.h"
#include "common/lesson/step_table.h"
#include "common/lesson/suggest.h"
#include "common/lesson/terminal.h"

using namespace warpwise;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

namespace {

using Lines = std::vector<std::string>;

Lines split(const std::string& text) {
    Lines lines;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = text.find('\n', begin);
        lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

StepResult step(int number, const std::string& name, StepKind kind, std::optional<double> seconds, Work work = {}) {
    StepResult result;
    if (kind != StepKind::vendor) result.number = number;
    result.name = name;
    result.change = "changed " + name;
    result.kind = kind;
    result.size = {1000};
    result.sizes_compared = 1;
    result.comparison =
        Comparison{.passed = true, .compared = 1000, .mismatched = 0, .largest_error = 3e-8, .tolerance = 1e-6};
    result.work = work;
    if (seconds) result.timing = timing_of({*seconds, *seconds, *seconds});
    return result;
}

/// A launch of 8 blocks of 256 threads, all of them instrumented.
LaunchCounts launch_of(const std::string& kernel, const Counts& counts) {
    LaunchCounts launch;
    launch.kernel = kernel;
    launch.grid = {8, 1, 1};
    launch.block = {256, 1, 1};
    launch.blocks = launch.instrumented_blocks = 8;
    launch.occupancy = 1;
    launch.total = counts;
    return launch;
}

/// Global loads or stores of full warps, of 4 bytes per lane unless said.
RequestCounts global_requests(double requests, double sectors_per_request, double bytes_per_lane = 4) {
    return {.requests = requests,
            .lanes = 32 * requests,
            .bytes = 32 * bytes_per_lane * requests,
            .sectors = sectors_per_request * requests,
            .needed_sectors = bytes_per_lane * requests};
}

/// Full warps that load and store neighboring floats.
Counts copy_counts() {
    Counts counts;
    counts.global_load = global_requests(8192, 4);
    counts.global_store = global_requests(8192, 4);
    counts.steps = 100;
    counts.active_lanes = 3200;
    return counts;
}

StepResult counted_step(int number, const std::string& name, const std::vector<LaunchCounts>& launches) {
    StepResult result = step(number, name, StepKind::device, std::nullopt);
    result.launches = launches;
    return result;
}

std::vector<std::string> headers_of(const std::vector<CounterColumn>& columns) {
    std::vector<std::string> headers;
    for (const CounterColumn& column : columns) headers.push_back(column.header);
    return headers;
}

std::string refusal_of_size(const std::string& text) {
    try {
        parse_size(text);
    } catch (const Refusal& refusal) {
        return refusal.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("commands in a lesson's text are shown as the reader types them") {
    const std::string text =
        "Run basics_and_pi again:\n\n    basics_and_pi pi\n    SEED=7 basics_and_pi pi\n    my_basics_and_pi x\n";
    CHECK(with_typed_command(text, "basics_and_pi", "./warpwise run 1") ==
          "Run basics_and_pi again:\n\n    ./warpwise run 1 pi\n    SEED=7 ./warpwise run 1 pi\n"
          "    my_basics_and_pi x\n");
    CHECK(with_typed_command(text, "basics_and_pi", "") == text);
    CHECK(with_typed_command("", "basics_and_pi", "x").empty());
}

TEST_CASE("sizes are read with their suffixes and extents") {
    CHECK(parse_size("1000") == Size{1000});
    CHECK(parse_size("0") == Size{0});
    CHECK(parse_size("16Mi") == Size{std::size_t{16} << 20});
    CHECK(parse_size("2Ki") == Size{2048});
    CHECK(parse_size("1Gi") == Size{std::size_t{1} << 30});
    CHECK(parse_size("3K") == Size{3000});
    CHECK(parse_size("3M") == Size{3'000'000});
    CHECK(parse_size("1000x700") == Size{1000, 700});
    CHECK(parse_size("4Kix7X2") == Size{4096, 7, 2});
    CHECK(parse_size("0x5") == Size{0, 5});
}

TEST_CASE("what is no size is refused in one line that quotes it") {
    for (const std::string text : {"", "abc", "-1", "1000x", "x5", "10x10y", "1.5", "1e6", "16MiB", "1 000", "+5"}) {
        INFO(text);
        const std::string message = refusal_of_size(text);
        CHECK_THAT(message, ContainsSubstring("--size " + text + ": "));
        CHECK(message.find('\n') == std::string::npos);
    }
    CHECK_THAT(refusal_of_size("12q"), ContainsSubstring("unknown suffix 'q'"));
}

TEST_CASE("sizes beyond all memory are refused, without overflow") {
    for (const std::string text :
         {"99999999999999999999", "18446744073709551615", "100000Gi", "1Gix1Gi", "0x18446744073709551615"}) {
        CHECK_THAT(refusal_of_size(text), ContainsSubstring("too large"));
    }
    CHECK(parse_size("16384Gi").count() == std::size_t{1} << 44);
}

TEST_CASE("a size knows its text and its number of elements") {
    CHECK(Size{1000, 700}.text() == "1000 x 700");
    CHECK(Size{1000, 700}.count() == 700'000);
    CHECK(Size{5}.text() == "5");
    CHECK(Size{5, 0}.count() == 0);
}

TEST_CASE("paragraphs are filled to the width and verbatim lines are kept") {
    const std::string text = "one two\nthree four five\n\n    int  x = 1;   \nsix seven\n";
    CHECK(wrap(text, 13) == "one two three\nfour five\n\n    int  x = 1;   \nsix seven\n");
    CHECK(wrap("", 60).empty());
    CHECK(wrap("extraordinarily long", 5) == "extraordinarily\nlong\n");
}

TEST_CASE("a table is aligned, numbers to the right and text to the left") {
    const std::string table =
        format_table({"name", "count"}, {{{"a"}, {"5"}}, {{"longer"}, {"1234"}}, {{"none"}, {"-"}}}, Terminal{});
    CHECK(split(table) == Lines{"name    count",  //
                                "------  -----",  //
                                "a           5",  //
                                "longer   1234",  //
                                "none        -"});
}

TEST_CASE("a table that is too wide wraps its widest text") {
    Terminal terminal;
    terminal.table_width = 40;
    const Lines lines =
        split(format_table({"step", "what changed", "time"},
                           {{{"naive"}, {"one element per thread in a grid of many blocks"}, {"1.23 ms"}}}, terminal));
    REQUIRE(lines.size() == 4);
    for (const std::string& line : lines) CHECK(line.size() <= 40);
    CHECK_THAT(lines[2], ContainsSubstring("1.23 ms"));
    CHECK_THAT(lines[3], ContainsSubstring("many blocks"));
}

TEST_CASE("a table that stays too wide becomes several with the first column") {
    Terminal terminal;
    terminal.table_width = 20;
    const std::vector<std::string> header = {"step", "first", "second", "third", "fourth"};
    const std::vector<std::vector<Cell>> rows = {{{"one"}, {"11"}, {"12"}, {"13"}, {"14"}}, {{"two"}, {"21"}, {"22"}}};
    CHECK(format_table(header, rows, terminal) ==
          "step  first  second\n----  -----  ------\none      11      12\ntwo      21      22\n\n"
          "step  third  fourth\n----  -----  ------\none      13      14\ntwo\n");
    terminal.table_width = 5;  // one column at least, and two columns are never parted
    CHECK(format_table({"step", "first", "second"}, {{{"one"}, {"11"}, {"12"}}}, terminal) ==
          "step  first\n----  -----\none      11\n\nstep  second\n----  ------\none       12\n");
    CHECK(format_table({"step", "first"}, {}, terminal) == "step  first\n----  -----\n");
}

TEST_CASE("colors do not disturb the alignment") {
    Terminal colored;
    colored.colors = true;
    const auto visible = [](std::string text) {
        for (std::size_t begin = text.find('\033'); begin != std::string::npos; begin = text.find('\033')) {
            text.erase(begin, text.find('m', begin) + 1 - begin);
        }
        return text;
    };
    const std::vector<std::vector<Cell>> rows = {{{"ok", Style::good}, {"1"}}, {{"WRONG", Style::bad}, {"20"}}};
    const std::string painted = format_table({"check", "n"}, rows, colored);
    CHECK(painted != visible(painted));
    CHECK(visible(painted) == format_table({"check", "n"}, rows, Terminal{}));
}

TEST_CASE("numbers have three digits") {
    CHECK(three_digits(0) == "0");
    CHECK(three_digits(1234.4) == "1234");
    CHECK(three_digits(999.9) == "1000");
    CHECK(three_digits(99.96) == "100");
    CHECK(three_digits(12.34) == "12.3");
    CHECK(three_digits(9.996) == "10.0");
    CHECK(three_digits(1.234) == "1.23");
    CHECK(three_digits(0.1234) == "0.123");
    CHECK(three_digits(-1.2e-7) == "-1.2e-07");
    CHECK(three_digits(std::numeric_limits<double>::quiet_NaN()) == "nan");
}

TEST_CASE("times have the unit that fits") {
    CHECK(time_text(2.5) == "2.50 s");
    CHECK(time_text(0.9999) == "1.00 s");
    CHECK(time_text(0.0123) == "12.3 ms");
    CHECK(time_text(1.5e-6) == "1.50 us");
}

TEST_CASE("a misspelled name finds the nearest ones") {
    const std::vector<std::string> names = {"device_query", "vector_add", "matrix_add", "pi"};
    CHECK(suggest("vectoradd", names) == std::vector<std::string>{"vector_add"});
    CHECK(suggest("add", names) == std::vector<std::string>{"vector_add", "matrix_add"});
    CHECK(suggest("devicequerry", names) == std::vector<std::string>{"device_query"});
    CHECK(suggest("p1", names) == std::vector<std::string>{"pi"});
    CHECK(suggest("zzzzzz", names).empty());
    CHECK(suggest("", names).empty());
}

TEST_CASE("a step is chosen by its name or by a part of it") {
    const std::vector<std::string> names = {"tree", "tree_shuffle", "atomic"};
    CHECK(chooses_step("tree", "tree", names));
    CHECK_FALSE(chooses_step("tree", "tree_shuffle", names));  // an exact name means that step only
    CHECK(chooses_step("tree_", "tree_shuffle", names));
    CHECK(chooses_step("tom", "atomic", names));
    CHECK_FALSE(chooses_step("nothing", "atomic", names));
}

TEST_CASE("the program built for the wanted device stays, the other hands over") {
    using enum DeviceChoice;
    using enum WantedDevice;
    // wanted, built for a GPU, GPU usable, sibling exists
    CHECK(choose_device({cpu, false, true, true}) == stay);
    CHECK(choose_device({cpu, true, true, true}) == hand_over);
    CHECK(choose_device({cpu, true, true, false}) == not_built);
    CHECK(choose_device({cuda, false, false, true}) == hand_over);  // the CUDA program tells what is missing
    CHECK(choose_device({cuda, false, true, false}) == not_built);
    CHECK(choose_device({cuda, true, true, false}) == stay);
    CHECK(choose_device({cuda, true, false, true}) == no_gpu);
}

TEST_CASE("left to choose, a usable GPU is taken, else the CPU device") {
    using enum DeviceChoice;
    using enum WantedDevice;
    CHECK(choose_device({automatic, false, true, true}) == hand_over);
    CHECK(choose_device({automatic, false, true, false}) == stay);
    CHECK(choose_device({automatic, false, false, true}) == stay);
    CHECK(choose_device({automatic, true, true, true}) == stay);
    CHECK(choose_device({automatic, true, false, true}) == hand_over);
    CHECK(choose_device({automatic, true, false, false}) == no_gpu);
}

TEST_CASE("programs do not hand over to each other for ever") {
    using enum DeviceChoice;
    using enum WantedDevice;
    CHECK(choose_device({automatic, false, true, true, 1}) == stay);  // the GPU turned out not to be usable
    CHECK(choose_device({automatic, true, false, true, 1}) == hand_over);
    CHECK(choose_device({automatic, true, false, true, 2}) == no_gpu);
    CHECK(choose_device({cuda, false, true, true, 2}) == not_built);  // ../cuda holds a program for the CPU device
}

TEST_CASE("a count is halved until it takes half of the free device memory, and not below the least") {
    const std::size_t half = free_device_bytes() / 2;
    const auto times = [](std::size_t bytes) { return [bytes](std::size_t count) { return count * bytes; }; };
    CHECK(halve_to_fit(1024, 32, times(1)) == 1024);
    CHECK(halve_to_fit(1024, 32, times(half / 2048)) == 1024);
    CHECK(halve_to_fit(1024, 32, times(half / 300)) == 256);
    CHECK(halve_to_fit(1024, 32, times(half)) == 32);
    CHECK(halve_to_fit(1000, 300, times(half)) == 250);
}

TEST_CASE("the largest extent is halved until a size fits") {
    const auto fits = [](std::size_t most) { return [most](const Size& size) { return size.count() <= most; }; };
    CHECK(halve_until({1024}, fits(1024)) == Size{1024});
    CHECK(halve_until({1024}, fits(300)) == Size{256});
    CHECK(halve_until({1000, 100}, fits(30'000)) == Size{250, 100});
    CHECK(halve_until({64, 64}, fits(1024)) == Size{32, 32});
    CHECK(halve_until({4}, fits(0)) == Size{1});
    CHECK(halve_until({0, 0}, [](const Size&) { return false; }) == Size{0, 0});
}

TEST_CASE("a problem may take four fifths of the free memory") {
    constexpr std::size_t gibi = std::size_t{1} << 30;
    CHECK(why_it_does_not_fit(8 * gibi, 10 * gibi, 100 * gibi, false).empty());
    CHECK(why_it_does_not_fit(9 * gibi, 10 * gibi, 100 * gibi, false) ==
          "needs 9.00 GiB of device memory, 10.0 GiB are free");
    CHECK(why_it_does_not_fit(8 * gibi, 10 * gibi, 15 * gibi, false) ==
          "needs about 16.0 GiB of host memory, 15.0 GiB are free");
    CHECK(why_it_does_not_fit(4 * gibi, 10 * gibi, 10 * gibi, true) ==
          "needs about 12.0 GiB of host memory, 10.0 GiB are free");
    CHECK(why_it_does_not_fit(0, 0, 0, true).empty());
    CHECK(bytes_text(96) == "96 bytes");
    CHECK(bytes_text(1536) == "1.50 KiB");
    CHECK(free_host_bytes() > 0);
}

TEST_CASE("rates, shares and speed-ups follow from times and work") {
    const Work work = {.bytes = 4e9, .operations = 1e9};
    std::vector<StepResult> steps = {
        step(1, "naive", StepKind::device, 4.0, work), step(2, "better", StepKind::device, 2.0, work),
        step(0, "library", StepKind::vendor, 1.0, work), step(3, "wrong", StepKind::device, std::nullopt, work)};
    derive_rates(steps, Roof{"copy", 4e9, timing_of({0.8}), 5});
    CHECK(*steps[0].gb_per_s == Approx(1));
    CHECK(*steps[1].gop_per_s == Approx(0.5));
    CHECK(*steps[1].share_of_roof == Approx(0.4));
    CHECK(*steps[1].share_of_vendor == Approx(0.5));
    CHECK(*steps[1].speed_up == Approx(2));
    CHECK(*steps[2].share_of_vendor == Approx(1));
    CHECK_FALSE(steps[3].gb_per_s.has_value());
    CHECK_FALSE(steps[3].speed_up.has_value());
}

TEST_CASE("on a GPU the table shows times, rates, shares and the copy") {
    std::vector<StepResult> steps = {step(1, "naive", StepKind::device, 4e-3, {.bytes = 4e9}),
                                     step(2, "better", StepKind::device, 2e-3, {.bytes = 4e9}),
                                     step(0, "library", StepKind::vendor, 1e-3, {.bytes = 4e9})};
    const std::optional<Roof> roof = Roof{"copy", 4e9, timing_of({1e-3}), 4000};
    derive_rates(steps, roof);
    const StepTable table = make_step_table(steps, roof, true);
    CHECK(table.header == std::vector<std::string>{"step", "what changed", "result", "time", "spread", "GB/s",
                                                   "of copy", "of vendor", "speed-up"});
    REQUIRE(table.rows.size() == 4);
    CHECK(table.rows[1][0].text == " 2 better");
    CHECK(table.rows[1][2].text == "ok, 3.0e-08");
    CHECK(table.rows[1][3].text == "2.00 ms");
    CHECK(table.rows[1][5].text == "2000");
    CHECK(table.rows[1][6].text == "0.50");
    CHECK(table.rows[1][7].text == "0.50");
    CHECK(table.rows[1][8].text == "2.00x");
    CHECK(table.rows[2][0].text == "   library (vendor)");
    CHECK(table.rows[3][0].text == "   copy");
    CHECK(table.footnotes.empty());
}

TEST_CASE("a step above copy bandwidth is marked") {
    std::vector<StepResult> steps = {step(1, "sum", StepKind::device, 1e-3, {.bytes = 4e9})};
    const std::optional<Roof> roof = Roof{"copy", 4e9, timing_of({1.1e-3}), 3600};
    derive_rates(steps, roof);
    const StepTable table = make_step_table(steps, roof, true);
    CHECK(table.rows[0][6].text == "1.11!");
    REQUIRE(table.footnotes.size() == 1);
    CHECK_THAT(table.footnotes[0], ContainsSubstring("above copy bandwidth"));
}

TEST_CASE("without bytes there is no bandwidth and no share of copy bandwidth, only operations") {
    std::vector<StepResult> steps = {step(1, "pi", StepKind::device, 1.0, {.operations = 5e9})};
    derive_rates(steps, std::nullopt);
    const StepTable table = make_step_table(steps, std::nullopt, true);
    CHECK(table.header ==
          std::vector<std::string>{"step", "what changed", "result", "time", "spread", "Gop/s", "speed-up"});
    CHECK(table.rows[0][5].text == "5.00");
}

TEST_CASE("the CPU device shows no times but those of host steps") {
    std::vector<StepResult> steps = {step(1, "serial", StepKind::host, 2e-3, {.bytes = 1e6}),
                                     step(2, "kernel", StepKind::device, std::nullopt, {.bytes = 1e6})};
    derive_rates(steps, std::nullopt);
    const StepTable table = make_step_table(steps, std::nullopt, false);
    CHECK(table.header == std::vector<std::string>{"step", "what changed", "result", "time (host)"});
    CHECK(table.rows[0][3].text == "2.00 ms");
    CHECK(table.rows[1][3].text == "-");

    CHECK_THAT(table.footnotes.at(0), ContainsSubstring("no times for kernels"));

    const StepTable kernels = make_step_table({steps[1]}, std::nullopt, false);
    CHECK(kernels.header == std::vector<std::string>{"step", "what changed", "result"});
    CHECK(kernels.footnotes.empty());
}

TEST_CASE("a column without a figure in any row is left out, on every device") {
    std::vector<StepResult> steps = {step(1, "serial", StepKind::host, std::nullopt, {.bytes = 1e6}),
                                     step(2, "kernel", StepKind::device, std::nullopt, {.bytes = 1e6})};
    derive_rates(steps, std::nullopt);
    for (const bool on_gpu : {false, true}) {
        const StepTable table = make_step_table(steps, std::nullopt, on_gpu);
        CHECK(table.header == std::vector<std::string>{"step", "what changed", "result"});
        CHECK(table.footnotes.empty());
    }
}

TEST_CASE("a lesson's own table loses columns of dashes and blanks, but not its first one") {
    const TableResult table = without_empty_columns(
        {{"rates", "Rates"}, {"step", "counted", "GB/s", ""}, {{"-", "-", "53", ""}, {"-", "-", "-", "-"}}});
    CHECK(table.title.text == "Rates");
    CHECK(table.header == Lines{"step", "GB/s"});
    CHECK(table.rows == std::vector<Lines>{{"-", "53"}, {"-", "-"}});
    CHECK(without_empty_columns({{}, {"step", "GB/s"}, {}}).header == Lines{"step", "GB/s"});
}

namespace {

RecordedStep recorded_step(const std::string& name, double seconds, std::optional<double> gb_per_s,
                           std::optional<double> gop_per_s, std::optional<double> share) {
    RecordedStep result;
    result.name = name;
    result.seconds = seconds;
    result.gb_per_s = gb_per_s;
    result.gop_per_s = gop_per_s;
    result.share_of_copy = share;
    return result;
}

Recording recording_on_h200() {
    return {.label = "H200",
            .device = "NVIDIA H200",
            .cuda = "13.0",
            .date = "2026-11-21",
            .file = "docs/results/h200_chapter_1.json",
            .size = {1 << 28},
            .copy = RecordedCopy{4000, 1e-3},
            .vendors = {}};
}

}  // namespace

TEST_CASE("recorded times stand in columns named after the GPU, with their source below") {
    std::vector<StepResult> steps = {step(1, "serial", StepKind::host, 1e-3), step(2, "naive", StepKind::device, {}),
                                     step(3, "new", StepKind::device, {})};
    steps[0].recorded = recorded_step("serial", 0.33, 9.7, 0.8, 0.002);
    steps[0].recorded->on_host = true;
    steps[1].recorded = recorded_step("naive", 9.34e-4, 3450, 287, 0.81);
    Recording recording = recording_on_h200();
    recording.vendors = {recorded_step("vendor", 7.3e-4, 4386, 365, 1.03)};
    recording.vendors[0].change = "cub::DeviceTransform";
    const RecordedColumns recorded = recorded_columns(steps, recording, {1000});
    CHECK(headers_of(recorded.columns) == Lines{"H200 time", "H200 GB/s"});
    CHECK(recorded.columns[0].cells == Lines{"330 ms*", "934 us", "-", "730 us", "1.00 ms"});
    CHECK(recorded.columns[1].cells == Lines{"9.70", "3450", "-", "4386", "4000"});
    CHECK(recorded.note ==
          "H200: recorded on one NVIDIA H200 (CUDA 13.0, 2026-11-21) at size 268435456, while the counts are those of "
          "size 1000; docs/results/h200_chapter_1.json. Times with a * are those of its host. vendor (H200) is "
          "cub::DeviceTransform; copy (H200) is copy bandwidth (cudaMemcpy).");

    StepTable table = make_step_table(steps, std::nullopt, false);
    add_rows(table, recorded);
    append(table, recorded.columns);
    append(table, {{"requests", "", "", {"-", "8", "4"}}});
    REQUIRE(table.rows.size() == 5);
    CHECK(table.header == Lines{"step", "what changed", "result", "time (host)", "H200 time", "H200 GB/s", "requests"});
    CHECK(table.rows[3][0].text == "   vendor (H200)");
    CHECK(table.rows[3][1].text == "cub::DeviceTransform");
    CHECK(table.rows[4][0].text == "   copy (H200)");
    CHECK(table.rows[4][4].text == "1.00 ms");
    CHECK(table.rows[4][6].text.empty());
    for (const auto& row : table.rows) CHECK(row.size() == table.header.size());
}

TEST_CASE("steps far from copy bandwidth show recorded operations, and no copy") {
    std::vector<StepResult> steps = {step(1, "nearest", StepKind::device, {})};
    steps[0].recorded = recorded_step("nearest", 0.01, 0.2, 10676, 0.0003);
    Recording recording = recording_on_h200();
    recording.size = {1000};
    const RecordedColumns recorded = recorded_columns(steps, recording, {1000});
    CHECK(headers_of(recorded.columns) == Lines{"H200 time", "H200 Gop/s"});
    CHECK(recorded.columns[1].cells == Lines{"10676"});
    CHECK(recorded.note ==
          "H200: recorded on one NVIDIA H200 (CUDA 13.0, 2026-11-21) at size 1000; "
          "docs/results/h200_chapter_1.json.");
    steps[0].recorded->gop_per_s.reset();  // operations that nobody counts
    CHECK(headers_of(recorded_columns(steps, recording, {1000}).columns) == Lines{"H200 time", "H200 GB/s"});
    steps[0].recorded->gb_per_s.reset();
    CHECK(headers_of(recorded_columns(steps, recording, {1000}).columns) == Lines{"H200 time"});
}

TEST_CASE("nothing is said of recordings where no step has one") {
    std::vector<StepResult> steps = {step(1, "new", StepKind::device, {})};
    const RecordedColumns none = recorded_columns(steps, recording_on_h200(), {1000});
    CHECK(none.columns.empty());
    CHECK(none.rows.empty());
    CHECK(none.note.empty());
    steps[0].recorded = recorded_step("new", 1e-3, {}, {}, {});
    CHECK(recorded_columns(steps, std::nullopt, {1000}).columns.empty());
    CHECK_FALSE(recorded_columns(steps, recording_on_h200(), {1000}).columns.empty());
}

TEST_CASE("on a narrow terminal recorded times stand beside the counts, with rows for what only was recorded") {
    std::vector<StepResult> steps = {counted_step(1, "add_one_per_thread", {launch_of("a", copy_counts())}),
                                     counted_step(2, "add_float4", {launch_of("b", copy_counts())})};
    for (StepResult& each : steps) each.recorded = recorded_step(each.name, 9e-4, 3450, 287, 0.81);
    const RecordedColumns recorded = recorded_columns(steps, recording_on_h200(), {1000});
    StepTable table = make_step_table(steps, std::nullopt, false);
    add_rows(table, recorded);
    std::vector<CounterColumn> columns = recorded.columns;
    for (const CounterColumn& column : counter_columns(steps)) columns.push_back(column);
    Terminal terminal;
    terminal.table_width = 80;
    REQUIRE_FALSE(fits(table, columns, terminal));
    const std::vector<StepTable> below = counter_tables(table, columns, terminal);
    REQUIRE(below.size() == 1);
    CHECK(below[0].header == Lines{"step", "H200 time", "H200 GB/s", "sectors/ld", "sectors/st", "moved"});
    REQUIRE(below[0].rows.size() == 3);
    CHECK(below[0].rows[2][0].text == "   copy (H200)");
    CHECK(below[0].rows[1][3].text == "4 of 4");
    for (const std::string& line : split(format_table(below[0].header, below[0].rows, terminal))) {
        CHECK(line.size() <= 80);
    }
}

TEST_CASE("figures become columns, with a dash where a step has none") {
    std::vector<StepResult> steps = {step(1, "a", StepKind::device, std::nullopt),
                                     step(2, "b", StepKind::device, std::nullopt)};
    steps[0].figures = {{"error", 1.5e-7, ""}};
    steps[1].figures = {{"registers", 32, "a thread"}};
    const StepTable table = make_step_table(steps, std::nullopt, false);
    CHECK(table.header.back() == "registers");
    CHECK(table.rows[0][3].text == "1.5e-07");
    CHECK(table.rows[0][4].text == "-");
    CHECK(table.rows[1][3].text == "-");
    CHECK(table.rows[1][4].text == "32 a thread");
}

TEST_CASE("a step that never had its turn has not passed") {
    StepResult result = step(1, "late", StepKind::device, std::nullopt);
    CHECK(result.passed());
    result.comparison.reset();
    CHECK_FALSE(result.passed());
    CHECK(make_step_table({result}, std::nullopt, false).rows[0][2].text == "not run");
}

TEST_CASE("mismatches name size, index and both values") {
    StepResult wrong = step(2, "wrong", StepKind::device, std::nullopt);
    CHECK(describe_mismatches(wrong).empty());
    Comparison comparison;
    comparison.compared = 33;
    comparison.mismatched = 7;
    comparison.mismatches = {{32, std::numeric_limits<double>::quiet_NaN(), 0.123}};
    wrong.wrong = {{{33}, comparison, ""}, {{1000, 7}, comparison, ""}};
    CHECK(describe_mismatches(wrong) == Lines{"wrong at size 33: index 32: got nan, expected 0.123",
                                              "wrong at size 33: 7 of 33 wrong", "also wrong at size 1000 x 7"});
    wrong.wrong = {{{1}, {}, "launch failed"}};
    CHECK(describe_mismatches(wrong) == Lines{"wrong at size 1: launch failed"});
    CHECK(make_step_table({wrong}, std::nullopt, true).rows[0][2].text == "WRONG");
}

TEST_CASE("a step that made mistakes has not passed, and the table counts them") {
    StepResult result = step(1, "races", StepKind::device, std::nullopt);
    result.diagnostics = {{"data_race", "a.cu:1", "data race: ...", "{}"}};
    CHECK_FALSE(result.passed());
    CHECK(make_step_table({result}, std::nullopt, false).rows[0][2].text == "1 error");
    result.diagnostics.push_back({"out_of_bounds", "a.cu:2", "out of bounds: ...", "{}"});
    CHECK(make_step_table({result}, std::nullopt, false).rows[0][2].text == "2 errors");
    result.wrong = {{{1}, {}, "launch failed"}};
    CHECK(make_step_table({result}, std::nullopt, false).rows[0][2].text == "WRONG, 2 errors");
}

TEST_CASE("a lesson with mistakes has not passed") {
    LessonResult lesson;
    CHECK(lesson.passed());
    lesson.diagnostics = {{"memory_leak", "", "memory leak: ...", "{}"}};
    CHECK_FALSE(lesson.passed());
}

TEST_CASE("counts know their ratios, and are 0 without requests") {
    const RequestCounts requests = global_requests(8192, 32);
    CHECK(requests.sectors_per_request() == 32);
    CHECK(requests.lanes_per_request() == 32);
    CHECK(requests.bytes_moved() == 8192 * 32 * 32);
    CHECK(RequestCounts{}.sectors_per_request() == 0);
    CHECK(RequestCounts{}.wavefronts_per_request() == 0);
    CHECK(Counts{}.active_lanes_per_step() == 0);
    const RequestCounts shared = {.requests = 10, .wavefronts = 320, .least_wavefronts = 10};
    CHECK(shared.conflicts() == 310);
    CHECK(shared.wavefronts_per_request() == 32);
}

TEST_CASE("a sample of the blocks stands for all of them") {
    LaunchCounts sampled = launch_of("copy", copy_counts());
    sampled.blocks = 32;
    sampled.lines = {{"copy.cu", 7, copy_counts()}};
    sampled.arrays = {{"tile", copy_counts()}};
    const std::vector<LaunchCounts> launches = {sampled, launch_of("copy", copy_counts())};
    CHECK(sum_of(launches).global_load.requests == 5 * 8192);
    CHECK(sum_of(launches).global_load.sectors_per_request() == 4);
    REQUIRE(lines_of(launches).size() == 1);
    CHECK(lines_of(launches)[0].counts.global_store.requests == 4 * 8192);
    CHECK(array_of(launches, "tile")->global_load.requests == 4 * 8192);
    CHECK_FALSE(array_of(launches, "other").has_value());
}

TEST_CASE("barriers are counted for each warp") {
    Counts counts;
    counts.barriers = 8 * 8 * 9;  // 8 blocks of 8 warps
    CHECK(launch_of("tree", counts).barriers_per_warp() == 9);
    LaunchCounts ragged = launch_of("tree", counts);
    ragged.block = {10, 10, 1};  // 4 warps
    CHECK(ragged.barriers_per_warp() == 18);
    ragged.instrumented_blocks = 0;
    CHECK(ragged.barriers_per_warp() == 0);
}

TEST_CASE("counts and bytes are short") {
    CHECK(count_text(0) == "0");
    CHECK(count_text(8192) == "8192");
    CHECK(count_text(999999) == "999999");
    CHECK(count_text(1015808) == "1.02 M");
    CHECK(count_text(123456789) == "123 M");
    CHECK(bytes_moved_text(96) == "96 B");
    CHECK(bytes_moved_text(8192 * 32 * 32) == "8.39 MB");
    CHECK(bytes_moved_text(999700) == "1.00 MB");
    CHECK(ratio_text(32) == "32");
    CHECK(ratio_text(4.5) == "4.5");
    CHECK(ratio_text(31.064) == "31.06");
    CHECK(ratio_text(0) == "0");
}

TEST_CASE("counters become columns where a step has something to say") {
    Counts strided = copy_counts();
    strided.global_load = global_requests(8192, 32);
    Counts transposed = copy_counts();
    transposed.shared_load = {.requests = 8192, .wavefronts = 8192 * 32, .least_wavefronts = 8192};
    transposed.barriers = 64;
    std::vector<StepResult> steps = {step(1, "serial", StepKind::host, 1e-3),
                                     counted_step(2, "strided", {launch_of("strided", strided)}),
                                     counted_step(3, "transposed", {launch_of("transposed", transposed)})};
    const std::vector<CounterColumn> columns = counter_columns(steps);
    CHECK(headers_of(columns) == Lines{"sectors/ld", "sectors/st", "moved", "conflicts", "barriers"});
    CHECK(columns[0].cells == Lines{"-", "32 of 4", "4 of 4"});
    CHECK(columns[1].cells == Lines{"-", "4 of 4", "4 of 4"});
    CHECK(columns[2].cells == Lines{"-", "9.44 MB", "2.10 MB"});
    CHECK(columns[3].cells == Lines{"-", "0", "253952"});
    CHECK(columns[4].cells == Lines{"-", "0", "1"});
    CHECK_THAT(columns[0].legend(),
               ContainsSubstring("sectors/ld: ") &&
                   ContainsSubstring("(l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio)"));
}

TEST_CASE("there are no columns where nothing was counted") {
    CHECK(counter_columns({step(1, "serial", StepKind::host, 1e-3)}).empty());
    CHECK(counter_columns({}).empty());
    CHECK(counter_columns({counted_step(1, "no kernels", {})}).empty());
}

TEST_CASE("a wide access touches more sectors and needs all of them") {
    Counts wide = copy_counts();
    wide.global_load = global_requests(2048, 16, 16);
    Counts mixed = copy_counts();
    mixed.global_load = global_requests(1000, 4);
    mixed.global_load += global_requests(500, 16.5, 16);
    const std::vector<CounterColumn> columns = counter_columns(
        {counted_step(1, "wide", {launch_of("wide", wide)}), counted_step(2, "mixed", {launch_of("mixed", mixed)})});
    CHECK(columns[0].cells == Lines{"16 of 16", "8.17 of 8"});
    mixed.global_load.needed_sectors = 0;  // as in results of an earlier version
    CHECK(counter_columns({counted_step(1, "old", {launch_of("old", mixed)})})[0].cells == Lines{"8.17"});
}

TEST_CASE("cells like \"32 of 4\" stand under each other like numbers") {
    const std::string table = format_table({"sectors/ld"}, {{{"4 of 4"}}, {{"16.5 of 16"}}}, Terminal());
    CHECK(split(table).back() == "16.5 of 16");
    CHECK(split(table)[2] == "    4 of 4");
    CHECK(split(format_table({"what was done"}, {{{"4 of four"}}}, Terminal()))[2] == "4 of four");
}

TEST_CASE("lanes, launches, requests and occupancy are shown where steps differ") {
    Counts one_lane = copy_counts();
    one_lane.active_lanes = 100;
    Counts wide = copy_counts();
    wide.global_load = global_requests(2048, 16);
    LaunchCounts half = launch_of("half", copy_counts());
    half.occupancy = 0.5;
    LaunchCounts one = launch_of("one_lane", one_lane);
    LaunchCounts four = launch_of("wide", wide);
    for (LaunchCounts* launch : {&one, &four, &half}) launch->registers = 32;
    const std::vector<CounterColumn> columns = counter_columns(
        {counted_step(1, "one lane", {one}), counted_step(2, "wide", {four}), counted_step(3, "twice", {half, half})});
    CHECK(headers_of(columns) ==
          Lines{"sectors/ld", "sectors/st", "requests", "moved", "lanes", "launches", "occupancy"});
    CHECK(columns[2].cells == Lines{"16384", "10240", "32768"});
    CHECK(columns[4].cells == Lines{"1.0", "32.0", "32.0"});
    CHECK(columns[5].cells == Lines{"1", "1", "2"});
    CHECK(columns[6].cells == Lines{"100 %", "100 %", "50 %"});
}

TEST_CASE("without registers there is a limit to the occupancy where block or shared memory set one") {
    LaunchCounts half = launch_of("half", copy_counts());
    half.occupancy = 0.5;
    const LaunchCounts full = launch_of("full", copy_counts());
    const std::vector<CounterColumn> columns =
        counter_columns({counted_step(1, "full", {full}), counted_step(2, "half", {half})});
    CHECK(headers_of(columns) == Lines{"sectors/ld", "sectors/st", "moved", "max occupancy"});
    CHECK(columns.back().cells == Lines{"-", "50 %"});  // never "100 %", which registers may forbid
    CHECK(headers_of(counter_columns({counted_step(1, "full", {full})})) == Lines{"sectors/ld", "sectors/st", "moved"});
}

// These columns come with lessons 1.3 and 1.4, before the book has introduced the words.
TEST_CASE("legends of the first lessons explain global and shared memory, registers, and lanes") {
    Counts one_lane = copy_counts();
    one_lane.active_lanes = one_lane.steps;
    LaunchCounts half = launch_of("half", one_lane);
    half.occupancy = 0.5;
    const std::vector<CounterColumn> columns =
        counter_columns({counted_step(1, "full", {launch_of("full", copy_counts())}), counted_step(2, "half", {half})});
    const auto legend_of = [&](const std::string& header) {
        for (const CounterColumn& column : columns) {
            if (column.header == header) return column.meaning;
        }
        return header + " is not shown";
    };
    CHECK_THAT(legend_of("sectors/ld"), ContainsSubstring("global memory (what cudaMalloc gives)"));
    CHECK_THAT(legend_of("max occupancy"), ContainsSubstring("fast memory of the SM") &&
                                               ContainsSubstring("(shared memory)") &&
                                               ContainsSubstring("the variables of a thread take (registers)"));
    CHECK_THAT(legend_of("lanes"), ContainsSubstring("threads of a warp (its lanes)"));
}

TEST_CASE("constant reads and atomics are shown where lanes wait for each other") {
    Counts fine = copy_counts();
    fine.constant_load = {.requests = 64, .lanes = 2048, .wavefronts = 64, .least_wavefronts = 64};
    fine.global_atomic = {.requests = 64, .lanes = 64, .sectors = 64};
    CHECK(headers_of(counter_columns({counted_step(1, "fine", {launch_of("fine", fine)})})) ==
          Lines{"sectors/ld", "sectors/st", "moved"});
    Counts serial = fine;
    serial.constant_load.wavefronts = 64 * 32;
    serial.global_atomic.same_address = 64 * 31;
    const std::vector<CounterColumn> columns = counter_columns({counted_step(1, "serial", {launch_of("s", serial)})});
    CHECK(headers_of(columns) == Lines{"sectors/ld", "sectors/st", "moved", "const rd", "serialized"});
    CHECK(columns[3].cells == Lines{"32"});
    CHECK(columns[4].cells == Lines{"1984"});
}

TEST_CASE("a sample is stated") {
    LaunchCounts sampled = launch_of("copy", copy_counts());
    CHECK(sample_note({counted_step(1, "copy", {sampled})}).empty());
    sampled.blocks = 4096;
    sampled.instrumented_blocks = 256;
    CHECK_THAT(sample_note({counted_step(1, "copy", {sampled})}),
               ContainsSubstring("256 blocks of each launch (the largest has 4096)"));
}

TEST_CASE("counters stand beside the table where there is room, else below it") {
    Counts conflicting = copy_counts();
    conflicting.shared_load = {.requests = 8192, .wavefronts = 8192 * 32, .least_wavefronts = 8192};
    conflicting.barriers = 64;
    const std::vector<StepResult> steps = {counted_step(1, "transpose_tile", {launch_of("t", conflicting)}),
                                           counted_step(2, "transpose_padded", {launch_of("p", copy_counts())})};
    const std::vector<CounterColumn> columns = counter_columns(steps);
    StepTable table = make_step_table(steps, std::nullopt, false);
    Terminal terminal;
    CHECK(fits(table, columns, terminal));
    terminal.table_width = 80;
    CHECK_FALSE(fits(table, columns, terminal));

    const std::vector<StepTable> below = counter_tables(table, columns, terminal);
    REQUIRE(below.size() == 1);
    CHECK(below[0].header == Lines{"step", "sectors/ld", "sectors/st", "moved", "conflicts", "barriers"});
    CHECK(below[0].rows[0][0].text == " 1 transpose_tile");
    CHECK(below[0].rows[1][4].text == "0");
    terminal.table_width = 60;
    CHECK(counter_tables(table, columns, terminal).size() == 2);
    for (const StepTable& part : counter_tables(table, columns, terminal)) {
        for (const std::string& line : split(format_table(part.header, part.rows, terminal))) {
            CHECK(line.size() <= 60);
        }
    }

    append(table, columns);
    CHECK(table.header.back() == "barriers");
    CHECK(table.rows[0].back().text == "1");
    CHECK(table.rows[0].size() == table.header.size());
}

TEST_CASE("the last of several tables of counters has at least three columns") {
    const std::vector<StepResult> steps = {counted_step(1, "tree", {launch_of("t", copy_counts())})};
    const StepTable table = make_step_table(steps, std::nullopt, false);
    std::vector<CounterColumn> columns;
    for (const char* header : {"counter 1", "counter 2", "counter 3", "counter 4", "counter 5"}) {
        columns.push_back({header, "", "", {"8"}});
    }
    Terminal terminal;
    terminal.table_width = 52;  // a name of 7 characters, and four columns of 9 with their gaps: 51
    const std::vector<StepTable> tables = counter_tables(table, columns, terminal);
    REQUIRE(tables.size() == 2);
    CHECK(tables[0].header == Lines{"step", "counter 1", "counter 2", "counter 3"});
    CHECK(tables[1].header == Lines{"step", "counter 4", "counter 5"});  // three stay where they are
    columns.push_back({"counter 6", "", "", {"8"}});
    columns.push_back({"counter 7", "", "", {"8"}});
    columns.push_back({"counter 8", "", "", {"8"}});
    columns.push_back({"counter 9", "", "", {"8"}});
    const std::vector<StepTable> three = counter_tables(table, columns, terminal);
    REQUIRE(three.size() == 3);
    CHECK(three[1].header.size() + three[2].header.size() == 7);
    CHECK(three[2].header.size() == 3);
}

TEST_CASE("all metrics that are named can be given to Nsight Compute") {
    CHECK_THAT(all_metrics(),
               ContainsSubstring("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio,") &&
                   ContainsSubstring("smsp__thread_inst_executed_per_inst_executed.ratio"));
    CHECK_THAT(all_metrics(), ContainsSubstring("op_ld.sum,") && ContainsSubstring("op_st.sum,"));
    CHECK(all_metrics().find_first_of(" {}") == std::string::npos);
}

namespace {

const Lines kernel_source = {
    "#include <cuda_runtime.h>",                   // 1
    "",                                            // 2
    "template <class T>",                          // 3
    "__device__ T twice(T value) {",               // 4
    "    return value + value;",                   // 5
    "}",                                           // 6
    "",                                            // 7
    "// Not of this kernel.",                      // 8
    "__global__ void other(float* out) {",         // 9
    "    out[0] = 1;",                             // 10
    "}",                                           // 11
    "",                                            // 12
    "__global__ void scale(const float* in,",      // 13
    "                      float* out, int n) {",  // 14
    "    const int i = threadIdx.x * 32;",         // 15
    "    if (i < n) {",                            // 16
    "\tfloat v = twice(in[i]);",                   // 17
    "        out[i] = v;",                         // 18
    "    }",                                       // 19
    "}",                                           // 20
    "",                                            // 21
};

}  // namespace

TEST_CASE("source is shown from the head of a function to its end") {
    CHECK(regions_around(kernel_source, {17, 18}) == std::vector<SourceRegion>{{13, 20}});
    CHECK(regions_around(kernel_source, {5, 17, 18}) == std::vector<SourceRegion>{{3, 6}, {13, 20}});
    CHECK(regions_around(kernel_source, {}).empty());
    CHECK(regions_around(kernel_source, {999}).empty());
    CHECK(regions_around({"a", "b", "c"}, {2}) == std::vector<SourceRegion>{{2, 2}});  // no function to be seen
    Lines far_apart(100, "    ;");
    CHECK(regions_around(far_apart, {10, 20, 90}) == std::vector<SourceRegion>{{10, 20}, {90, 90}});
}

TEST_CASE("the listing shows counts beside the lines and marks the most expensive one") {
    const TemporaryFile file;
    {
        std::ofstream stream(file.path());
        for (const std::string& line : kernel_source) stream << line << '\n';
    }
    Counts load;
    load.global_load = global_requests(64, 32);
    Counts store;
    store.global_store = global_requests(64, 4);
    Counts sum = load;
    LaunchCounts launch = launch_of("scale", sum += store);
    Counts call;  // the launch itself is none of the kernel's lines
    call.steps = 8;
    call.active_lanes = 8;
    launch.file = file.path();
    launch.line = 1;
    launch.lines = {{file.path(), 1, call}, {file.path(), 17, load}, {file.path(), 18, store}};
    Terminal terminal;
    const Lines lines = split(list_source({launch, launch}, terminal));
    REQUIRE(lines.size() == 12);
    CHECK(lines[0] == "Kernel scale, 2 launches");
    CHECK(lines[1] == "requests  sectors    moved   line  source");
    CHECK_THAT(lines[2], ContainsSubstring(file.path()));
    CHECK_THAT(lines[3], ContainsSubstring("  13  __global__ void scale(const float* in,"));
    CHECK(lines[7] == "     128       32   131 kB  >  17      float v = twice(in[i]);");
    CHECK(lines[8] == "     128        4  16.4 kB     18          out[i] = v;");
    CHECK_THAT(lines[10], ContainsSubstring("  20  }"));
    CHECK(lines[11].empty());

    terminal.table_width = 60;
    for (const std::string& line : split(list_source({launch}, terminal))) {
        if (line.find(file.path()) == std::string::npos) CHECK(line.size() <= 60);
    }
}

TEST_CASE("the listing copes with files that are not there and kernels that did nothing") {
    LaunchCounts launch = launch_of("scale", copy_counts());
    CHECK_THAT(list_source({launch}, Terminal{}), ContainsSubstring("nothing was counted"));
    launch.lines = {{"no/such/file.cu", 3, copy_counts()}};
    CHECK_THAT(list_source({launch}, Terminal{}),
               ContainsSubstring("no/such/file.cu") && ContainsSubstring("cannot be read"));
    CHECK(list_source({}, Terminal{}).empty());
}

TEST_CASE("a child process has its own output, variables and status") {
    const TemporaryFile output;
    ChildProcess child({"/bin/sh", "-c", "echo $COLOR; echo $HOME; cat; echo warning >&2; exit 3"}, {{"COLOR", "red"}},
                       output.path());
    CHECK(child.wait() == 3);
    CHECK(child.wait() == 3);
    const Lines lines = split(output.read());
    REQUIRE(lines.size() == 3);
    CHECK(lines[0] == "red");
    CHECK(lines[2] == "warning");
    CHECK(ChildProcess({"/bin/sh", "-c", "kill -TERM $$"}, {}).wait() == 128 + 15);
    CHECK(ChildProcess({"/no/such/program"}, {}).wait() == 127);
    CHECK(std::filesystem::exists(own_program()));
}

namespace {

/// A stand-in for the plain program: a script that keeps its arguments and writes `json`.
struct PlainProgram {
    explicit PlainProgram(const std::string& json) {
        std::ofstream(program.path()) << "#!/bin/sh\necho \"$@\" > '" << arguments.path()
                                      << "'\nwhile [ \"$1\" != --json ]; do shift; done\ncat > \"$2\" <<'END'\n"
                                      << json << "\nEND\n";
        std::filesystem::permissions(program.path(), std::filesystem::perms::owner_all);
    }
    TemporaryFile program;
    TemporaryFile arguments;
};

}  // namespace

TEST_CASE("host code is timed by the plain program") {
    const PlainProgram plain(R"({"lessons": [{"steps": [
        {"name": "serial", "seconds": {"median": 0.5, "minimum": 0.4, "maximum": 0.9, "p10": 0.45, "p90": 0.8, "samples": 7}},
        {"name": "openmp", "seconds": null}]}]})");
    const HostTimes times = time_in_plain_program({plain.program.path(), "pi", {1000, 70}, {"serial", "openmp"}, 4});
    CHECK(times.failure.empty());
    REQUIRE(times.by_step.size() == 1);
    CHECK(times.by_step.at("serial").median == 0.5);
    CHECK(times.by_step.at("serial").p90 == 0.8);
    CHECK(times.by_step.at("serial").samples == 7);
    const std::string arguments = plain.arguments.read();
    CHECK_THAT(arguments, ContainsSubstring("pi --device cpu --size 1000x70 --json ") &&
                              ContainsSubstring("--step serial --step openmp --repeat 4"));
}

TEST_CASE("a plain program that fails leaves host code without times") {
    const PlainProgram silent("");
    CHECK_THAT(time_in_plain_program({silent.program.path(), "pi", {1}, {"serial"}, {}}).failure,
               ContainsSubstring("ended with status 0"));
    CHECK_THAT(time_in_plain_program({"/no/such/program", "pi", {1}, {"serial"}, {}}).failure,
               ContainsSubstring("/no/such/program ended with status 127"));
}

TEST_CASE("the listing shows conflicts, waiting lanes and idle lanes where there are any") {
    Counts counts;
    counts.shared_load = {.requests = 8, .lanes = 256, .wavefronts = 8, .least_wavefronts = 8};
    counts.steps = 8;
    counts.active_lanes = 256;
    LaunchCounts launch = launch_of("sum", counts);
    launch.lines = {{"no/such/file.cu", 3, counts}};
    CHECK_THAT(list_source({launch}, Terminal{}), ContainsSubstring("\nrequests   line  source\n"));
    launch.lines[0].counts.shared_load.wavefronts = 64;
    launch.lines[0].counts.shared_atomic = {.requests = 8, .lanes = 256, .same_address = 248};
    launch.lines[0].counts.active_lanes = 128;
    const std::string text = list_source({launch}, Terminal{});
    CHECK_THAT(text, ContainsSubstring("\nrequests  conflicts  serialized  lanes   line  source\n"));
    CHECK_THAT(text, ContainsSubstring("\n      16         56         248   16.0  >   3  ("));
}

TEST_CASE("the kernels of a lesson are shown without the heads of their files, in the order of their names") {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / fmt::format("warpwise_kernels_{}", getpid());
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "step_02.cuh") << "// About.\n#pragma once\n\n#include <cstddef>\n\nnamespace a {\n\n"
                                          << "// Why.\n__global__ void second() {\n}\n\n}  // namespace a\n";
    std::ofstream(folder / "step_01.cuh") << "__global__ void first() {}\n";
    std::ofstream(folder / "lesson.cu") << "void lesson() {}\n";
    std::ofstream(folder / "empty.cuh") << "// nothing\n#pragma once\n";
    const std::vector<KernelFile> files = kernel_files(folder);
    std::filesystem::remove_all(folder);
    REQUIRE(files.size() == 3);
    CHECK(files[0].name == "empty.cuh");
    CHECK(files[0].lines.empty());
    CHECK(files[1].lines == Lines{"__global__ void first() {}"});
    CHECK(files[2].lines == Lines{"// Why.", "__global__ void second() {", "}"});
    CHECK(kernel_files(folder).empty());
}

TEST_CASE("the kernels that are shown before a guess do not say why they are fast or slow") {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / fmt::format("warpwise_reasons_{}", getpid());
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "kernels.cuh") << "#pragma once\n\n// Step 1, a float per thread. It is slow.\n"
                                          << "// Slow because few bytes\n// are in flight.\n"
                                          << "__global__ void first() {\n    // Slow because it waits.\n}\n\n"
                                          << "// Step 2.\n// Faster for long vectors because it has more.\n"
                                          << "// Still slow because of the loop.\n__global__ void second() {}\n";
    const std::vector<KernelFile> files = kernel_files(folder);
    std::filesystem::remove_all(folder);
    REQUIRE(files.size() == 1);
    CHECK(files[0].lines == Lines{"// Step 1, a float per thread. It is slow.", "__global__ void first() {",
                                  "    // Slow because it waits.", "}", "", "// Step 2.",
                                  "__global__ void second() {}"});
}

TEST_CASE("files that differ from the last commit are named") {
    std::string name = (std::filesystem::temp_directory_path() / "edited_files_XXXXXX").string();
    const std::filesystem::path root = mkdtemp(name.data());
    const std::filesystem::path folder = root / "chapters" / "one";
    std::filesystem::create_directories(folder);
    const auto git = [&](const std::string& command) {
        const std::string all = "cd '" + root.string() + "' && env -u GIT_DIR -u GIT_WORK_TREE -u GIT_INDEX_FILE git " +
                                "-c user.name=n -c user.email=e -c commit.gpgsign=false " + command;
        return output_of({"sh", "-c", all + " >/dev/null 2>&1 && printf done"}) == "done";
    };
    std::ofstream(folder / "kernels.cuh") << "// as handed out\n";
    std::ofstream(root / "elsewhere.h") << "// as handed out\n";
    CHECK(edited_files(folder).empty());  // no repository, or no git
    if (git("init")) {
        REQUIRE(git("add ."));
        REQUIRE(git("commit -m first"));
        CHECK(edited_files(folder).empty());
        std::ofstream(root / "elsewhere.h") << "// edited\n";
        CHECK(edited_files(folder).empty());
        std::ofstream(folder / "kernels.cuh") << "// edited\n";
        CHECK(edited_files(folder) == Lines{"chapters/one/kernels.cuh"});
    }
    std::filesystem::remove_all(root);
    CHECK(edited_files(folder).empty());
}
