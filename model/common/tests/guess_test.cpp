#include "common/lesson/guess.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace warpwise;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

struct Typed {
    std::string text;
    std::string unit;
    double value;
};

}  // namespace

TEST_CASE("a number is read as people write numbers") {
    const std::vector<Typed> all = {
        {"32", "sectors", 32},
        {"  32  ", "sectors", 32},
        {"32 sectors", "sectors", 32},
        {"32 Sectors", "sectors per request", 32},
        {"1 sector", "sectors", 1},
        {"-3", "", -3},
        {"+3.5", "", 3.5},
        {".5", "", 0.5},
        {"4.2k", "requests", 4200},
        {"4.2 k", "requests", 4200},
        {"4.2k requests", "requests", 4200},
        {"4.2 k requests", "requests", 4200},
        {"16Ki", "", 16384},
        {"16mi", "", 16.0 * 1024 * 1024},
        {"2M", "", 2e6},
        {"1,024", "", 1024},
        {"1,048,576", "", 1048576},
        {"4,2", "", 4.2},
        {"270'336", "threads", 270336},
        {"270_336", "threads", 270336},
        {"1e6", "", 1e6},
        {"1.5e-3", "", 0.0015},
        {"1/32", "", 1.0 / 32},
        {"1 / 32", "", 1.0 / 32},
        {"2^20", "", 1048576},
        {"2**20", "", 1048576},
        {"4*32", "", 128},
        {"4 x 32", "", 128},
        {"3*2^4", "", 1296},  // from left to right
        {"25 %", "%", 25},
        {"25%", "% of copy bandwidth", 25},
        {"25", "%", 25},
        {"1/4", "%", 25},
        {"25 %", "", 0.25},
        {"10 percent", "%", 10},
        {"94x", "times", 94},
        {"94 times", "times as fast", 94},
        {"94-fold", "times", 94},
        {"~100", "", 100},
        {"about 100", "", 100},
        {"None", "lanes", 0},
        {"none", "", 0},
        {"twelve", "blocks", 12},
        {"three blocks", "blocks", 3},
        {"3.9 TB/s", "GB/s", 3900},
        {"3900 gb/s", "GB/s", 3900},
        {"3900", "GB/s", 3900},
        {"2 ms", "us", 2000},
        {"500 ns", "us", 0.5},
        {"1 s", "ms", 1000},
        {"2 seconds", "ms", 2000},
        {"4 KiB", "bytes", 4096},
        {"4kB", "bytes", 4000},
        {"128 bytes", "bytes", 128},
        {"128 B", "bytes", 128},
        {"1 kB", "KiB", 1000.0 / 1024},
    };
    for (const Typed& typed : all) {
        INFO(typed.text << " as " << typed.unit);
        const GuessedNumber guess = read_number(typed.text, typed.unit);
        REQUIRE(guess.value);
        CHECK_THAT(*guess.value, WithinRel(typed.value, 1e-12));
        CHECK(guess.why_not.empty());
    }
}

TEST_CASE("what is no number is told in one line") {
    for (const auto& [text, unit] : std::vector<std::pair<std::string, std::string>>{{"many", "sectors"},
                                                                                     {"?", ""},
                                                                                     {"-", ""},
                                                                                     {"32 apples", "sectors"},
                                                                                     {"3 or 4", "sectors"},
                                                                                     {"32 or so", ""},
                                                                                     {"1/0", ""},
                                                                                     {"5 GB", "us"},
                                                                                     {"1e999", ""},
                                                                                     {"\x1b[A", "sectors"}}) {
        INFO(text << " as " << unit);
        const GuessedNumber guess = read_number(text, unit);
        CHECK_FALSE(guess.value);
        CHECK_FALSE(guess.why_not.empty());
        CHECK(guess.why_not.find('\n') == std::string::npos);
    }
    CHECK_THAT(read_number("many", "sectors").why_not, ContainsSubstring("32, 4.2k, 1/32, or 25 %"));
    CHECK_THAT(read_number("32 apples", "sectors").why_not, ContainsSubstring("a number of sectors"));
}

TEST_CASE("a choice is read by its letter, its number, or its text") {
    const std::vector<std::string> choices = {"one block", "one warp", "the whole grid"};
    for (const char* text : {"b", "B", " b ", "b)", "(b)", "b.", "2", "one warp", "One Warp", "one w"}) {
        INFO(text);
        const GuessedChoice guess = read_choice(text, choices);
        REQUIRE(guess.index);
        CHECK(*guess.index == 1);
    }
    CHECK(read_choice("the", choices).index == 2);
    CHECK_THAT(read_choice("d", choices).why_not, ContainsSubstring("no choice 'd'. Type a letter from a to c."));
    CHECK_THAT(read_choice("4", choices).why_not, ContainsSubstring("no choice '4'"));
    CHECK_THAT(read_choice("0", choices).why_not, ContainsSubstring("no choice '0'"));
    CHECK_THAT(read_choice("one", choices).why_not, ContainsSubstring("Several choices begin with 'one'"));
    CHECK_THAT(read_choice("both", choices).why_not, ContainsSubstring("'both' is none of the choices"));
    CHECK_FALSE(read_choice(")", choices).index);
}

TEST_CASE("a choice that is a number is found by that number") {
    const std::vector<std::string> choices = {"2 times", "1", "32"};
    CHECK(read_choice("1", choices).index == 1);
    CHECK(read_choice("32", choices).index == 2);
    CHECK(read_choice("3", choices).index == 2);  // the third
    CHECK(read_choice("2", choices).index == 1);  // the second
}

TEST_CASE("exact answers are exact, but for rounding, and others lie within a factor") {
    CHECK(is_right(32, 32, 1));
    CHECK_FALSE(is_right(31, 32, 1));
    CHECK_FALSE(is_right(10000, 10001, 1));
    CHECK(is_right(3.9, 3.88, 1));
    CHECK_FALSE(is_right(4, 3.88, 1));
    CHECK(is_right(0, 0, 1));
    CHECK_FALSE(is_right(1, 0, 1));
    CHECK(is_right(4000, 4800, 1.2));
    CHECK(is_right(4800, 4000, 1.2));
    CHECK_FALSE(is_right(3990, 4800, 1.2));
    CHECK(is_right(30, 94, 3.2));
    CHECK_FALSE(is_right(-30, 30, 3));
    CHECK_FALSE(is_right(0, 30, 3));
    CHECK(is_right(0, 0, 3));
}

TEST_CASE("numbers are shown with their units") {
    CHECK(number_text(32) == "32");
    CHECK(number_text(16777216) == "16777216");
    CHECK(number_text(3.875) == "3.88");
    CHECK(number_text(0.03125) == "0.0312");
    CHECK(number_text(4194.7) == "4195");
    CHECK(number_text(-1) == "-1");
    CHECK(with_unit("32", "sectors") == "32 sectors");
    CHECK(with_unit("1", "sectors") == "1 sector");
    CHECK(with_unit("1", "sectors per request") == "1 sector per request");
    CHECK(with_unit("1", "launches") == "1 launch");
    CHECK(with_unit("1", "lanes") == "1 lane");
    CHECK(with_unit("1", "times") == "1 times");
    CHECK(with_unit("1", "ms") == "1 ms");
    CHECK(with_unit("7", "") == "7");
    CHECK(choice_text({"one", "two"}, 1) == "b) two");
}
