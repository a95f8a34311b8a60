#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "common/lesson/device_choice.h"
#include "common/lesson/memory.h"
#include "common/lesson/output.h"
#include "common/lesson/results.h"
#include "common/lesson/size_text.h"
#include "common/lesson/step_table.h"
#include "common/lesson/suggest.h"
#include "common/lesson/terminal.h"

using namespace warpwise;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
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
    result.sizes_checked = 1;
    result.check = Comparison{.passed = true, .compared = 1000, .missed = 0, .largest_error = 3e-8, .tolerance = 1e-6};
    result.work = work;
    if (seconds) result.timing = timing_of({*seconds, *seconds, *seconds});
    return result;
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
    CHECK(lines_of(table) == Lines{"name    count",  //
                                   "------  -----",  //
                                   "a           5",  //
                                   "longer   1234",  //
                                   "none        -"});
}

TEST_CASE("a table that is too wide wraps its widest text") {
    Terminal terminal;
    terminal.table_width = 40;
    const Lines lines =
        lines_of(format_table({"step", "what changed", "time"},
                              {{{"naive"}, {"one element a thread in a grid of many blocks"}, {"1.23 ms"}}}, terminal));
    REQUIRE(lines.size() == 4);
    for (const std::string& line : lines) CHECK(line.size() <= 40);
    CHECK_THAT(lines[2], ContainsSubstring("1.23 ms"));
    CHECK_THAT(lines[3], ContainsSubstring("many blocks"));
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
    derive_rates(steps, Roof{"roof C", 4e9, timing_of({0.8}), 5});
    CHECK(*steps[0].gb_per_s == Approx(1));
    CHECK(*steps[1].gop_per_s == Approx(0.5));
    CHECK(*steps[1].share_of_roof == Approx(0.4));
    CHECK(*steps[1].share_of_vendor == Approx(0.5));
    CHECK(*steps[1].speed_up == Approx(2));
    CHECK(*steps[2].share_of_vendor == Approx(1));
    CHECK_FALSE(steps[3].gb_per_s.has_value());
    CHECK_FALSE(steps[3].speed_up.has_value());
}

TEST_CASE("on a GPU the table shows times, rates, shares and the roof") {
    std::vector<StepResult> steps = {step(1, "naive", StepKind::device, 4e-3, {.bytes = 4e9}),
                                     step(2, "better", StepKind::device, 2e-3, {.bytes = 4e9}),
                                     step(0, "library", StepKind::vendor, 1e-3, {.bytes = 4e9})};
    const std::optional<Roof> roof = Roof{"roof C", 4e9, timing_of({1e-3}), 4000};
    derive_rates(steps, roof);
    const StepTable table = make_step_table(steps, roof, true);
    CHECK(table.header == std::vector<std::string>{"step", "what changed", "check", "time", "spread", "GB/s", "of roof",
                                                   "of vendor", "speed-up"});
    REQUIRE(table.rows.size() == 4);
    CHECK(table.rows[1][0].text == " 2 better");
    CHECK(table.rows[1][2].text == "ok, 3.0e-08");
    CHECK(table.rows[1][3].text == "2.00 ms");
    CHECK(table.rows[1][5].text == "2000");
    CHECK(table.rows[1][6].text == "0.50");
    CHECK(table.rows[1][7].text == "0.50");
    CHECK(table.rows[1][8].text == "2.00x");
    CHECK(table.rows[2][0].text == "   library (vendor)");
    CHECK(table.rows[3][0].text == "   roof C");
    CHECK(table.footnotes.empty());
}

TEST_CASE("a step above the roof is marked") {
    std::vector<StepResult> steps = {step(1, "sum", StepKind::device, 1e-3, {.bytes = 4e9})};
    const std::optional<Roof> roof = Roof{"roof C", 4e9, timing_of({1.1e-3}), 3600};
    derive_rates(steps, roof);
    const StepTable table = make_step_table(steps, roof, true);
    CHECK(table.rows[0][6].text == "1.11!");
    REQUIRE(table.footnotes.size() == 1);
    CHECK_THAT(table.footnotes[0], ContainsSubstring("above the roof"));
}

TEST_CASE("without bytes there is no bandwidth and no roof, only operations") {
    std::vector<StepResult> steps = {step(1, "pi", StepKind::device, 1.0, {.operations = 5e9})};
    derive_rates(steps, std::nullopt);
    const StepTable table = make_step_table(steps, std::nullopt, true);
    CHECK(table.header ==
          std::vector<std::string>{"step", "what changed", "check", "time", "spread", "Gop/s", "speed-up"});
    CHECK(table.rows[0][5].text == "5.00");
}

TEST_CASE("the CPU device shows no times but those of host steps") {
    std::vector<StepResult> steps = {step(1, "serial", StepKind::host, 2e-3, {.bytes = 1e6}),
                                     step(2, "kernel", StepKind::device, std::nullopt, {.bytes = 1e6})};
    derive_rates(steps, std::nullopt);
    const StepTable table = make_step_table(steps, std::nullopt, false);
    CHECK(table.header == std::vector<std::string>{"step", "what changed", "check", "time (host)"});
    CHECK(table.rows[0][3].text == "2.00 ms");
    CHECK(table.rows[1][3].text == "-");

    const StepTable kernels = make_step_table({steps[1]}, std::nullopt, false);
    CHECK(kernels.header.back() == "time");
}

TEST_CASE("figures become columns, with a dash where a step has none") {
    std::vector<StepResult> steps = {step(1, "a", StepKind::device, std::nullopt),
                                     step(2, "b", StepKind::device, std::nullopt)};
    steps[0].figures = {{"error", 1.5e-7, ""}};
    steps[1].figures = {{"registers", 32, "a thread"}};
    const StepTable table = make_step_table(steps, std::nullopt, false);
    CHECK(table.header.back() == "registers");
    CHECK(table.rows[0][4].text == "1.5e-07");
    CHECK(table.rows[0][5].text == "-");
    CHECK(table.rows[1][4].text == "-");
    CHECK(table.rows[1][5].text == "32 a thread");
}

TEST_CASE("a step that never had its turn has not passed") {
    StepResult result = step(1, "late", StepKind::device, std::nullopt);
    CHECK(result.passed());
    result.check.reset();
    CHECK_FALSE(result.passed());
    CHECK(make_step_table({result}, std::nullopt, false).rows[0][2].text == "not run");
}

TEST_CASE("misses name size, index and both values") {
    StepResult wrong = step(2, "wrong", StepKind::device, std::nullopt);
    CHECK(describe_misses(wrong).empty());
    Comparison comparison;
    comparison.compared = 33;
    comparison.missed = 7;
    comparison.misses = {{32, std::numeric_limits<double>::quiet_NaN(), 0.123}};
    wrong.wrong = {{{33}, comparison, ""}, {{1000, 7}, comparison, ""}};
    CHECK(describe_misses(wrong) == Lines{"wrong at size 33: index 32: got nan, expected 0.123",
                                          "wrong at size 33: 7 of 33 wrong", "also wrong at size 1000 x 7"});
    wrong.wrong = {{{1}, {}, "launch failed"}};
    CHECK(describe_misses(wrong) == Lines{"wrong at size 1: launch failed"});
    CHECK(make_step_table({wrong}, std::nullopt, true).rows[0][2].text == "WRONG");
}
