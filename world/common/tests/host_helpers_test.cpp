// Helpers that need no device: UTF-8, other programs.

#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/helpers/child_process.h"
#include "common/helpers/json.h"
#include "common/helpers/utf8.h"
#include "common/lesson/roofline.h"

using namespace warpwise;

TEST_CASE("UTF-8: characters of all lengths are decoded, and encoded to the same bytes") {
    for (const char32_t character : {U'\0', U'a', U'\x7F', U'\x80', U'ß', U'\x7FF', U'\x800', U'€', U'\xD7FF',
                                     U'\xE000', U'\xFFFD', U'\xFFFF', U'\x10000', U'😀', U'\x10FFFF'}) {
        const std::string bytes = encode_utf8(character);
        const Utf8Character decoded = decode_utf8(bytes + "more");
        CHECK(decoded.valid);
        CHECK(decoded.value == character);
        CHECK(decoded.length == bytes.size());
        for (std::size_t i = 0; i < bytes.size(); ++i) CHECK(continues_utf8(bytes[i]) == (i > 0));
    }
    CHECK(encode_utf8(U'€') == "\xE2\x82\xAC");
    CHECK(encode_utf8(U'😀') == "\xF0\x9F\x98\x80");
}

TEST_CASE("UTF-8: bytes that are no character are told from text that ends too early") {
    const auto is = [](std::string_view bytes, std::size_t length, bool unfinished) {
        const Utf8Character decoded = decode_utf8(bytes);
        return !decoded.valid && decoded.value == U'\uFFFD' && decoded.length == length &&
               decoded.unfinished == unfinished;
    };
    for (const char* bytes : {"\x80z", "\xBFz", "\xC0\xAF", "\xC1\xBF", "\xC3z", "\xE2\x82z", "\xF0\x9F\x98z",
                              "\xF5\x80\x80\x80", "\xFFz"}) {
        INFO(bytes);
        CHECK(is(bytes, 1, false));
    }
    CHECK(is("\xE0\x9F\xBF", 3, false));      // longer than it has to be
    CHECK(is("\xF0\x8F\xBF\xBF", 4, false));  // the same
    CHECK(is("\xED\xA0\x80", 3, false));      // half of a pair of UTF-16
    CHECK(is("\xED\xBF\xBF", 3, false));      // the other half
    CHECK(is("\xF4\x90\x80\x80", 4, false));  // beyond the last character
    for (const char* bytes : {"\xC3", "\xE2", "\xE2\x82", "\xF0", "\xF0\x9F", "\xF0\x9F\x98"})
        CHECK(is(bytes, 1, true));
}

TEST_CASE("the output of a program is what it prints on stdout") {
    CHECK(output_of({"sh", "-c", "echo one; echo dropped >&2; cat; printf two"}) == "one\ntwo");
    CHECK(output_of({"true"}) == "");
    CHECK(output_of({"no_such_program_anywhere"}) == std::nullopt);
    const std::optional<std::string> much = output_of({"sh", "-c", "yes | head -c 300000"});
    REQUIRE(much);
    CHECK(much->size() == 300000);
}

TEST_CASE("a child's status is known where the end of children was ignored") {
    std::signal(SIGCHLD, SIG_IGN);
    CHECK(output_of({"echo", "said"}) == "said\n");
    CHECK(std::signal(SIGCHLD, SIG_IGN) == SIG_IGN);  // left as it was
    CHECK(ChildProcess({"/bin/sh", "-c", "exit 3"}, {}).wait() == 3);
    std::signal(SIGCHLD, SIG_DFL);
    CHECK(ChildProcess({"/bin/sh", "-c", "kill -TERM $$"}, {}).wait() == 128 + SIGTERM);
    CHECK(ChildProcess({"/no/such/program"}, {}).wait() == 127);
}

TEST_CASE("variables replace those of the same name") {
    ::setenv("WARPWISE_TEST_A", "old", 1);
    ::setenv("WARPWISE_TEST_AB", "other", 1);
    int found = 0;
    for (const std::string& variable : environment_with({{"WARPWISE_TEST_A", "new"}})) {
        CHECK(variable != "WARPWISE_TEST_A=old");
        found += variable == "WARPWISE_TEST_A=new" ? 1 : 0;
        found += variable == "WARPWISE_TEST_AB=other" ? 1 : 0;
    }
    CHECK(found == 2);
}

// The book's roofline reads the file, the report and lessons call the function.
TEST_CASE("FP32 units: the book and the lessons have the same table") {
    std::ifstream file(WARPWISE_SOURCE "/common/views/fp32_lanes.json");
    const nlohmann::json lanes = parse_json<nlohmann::json>(file);
    CHECK(lanes.size() >= 13);
    for (const auto& [capability, expected] : lanes.items()) {
        const std::size_t dot = capability.find('.');
        const int major = std::stoi(capability.substr(0, dot)), minor = std::stoi(capability.substr(dot + 1));
        CAPTURE(capability);
        CHECK(fp32_lanes(major, minor) == expected.get<int>());
    }
    CHECK(fp32_lanes(6, 1) == 0);
    CHECK(fp32_lanes(13, 0) == 0);
}
