// In which order the CPU device puts what the lanes of a warp have printed.
#include "common/cpu_device/src/device_output.h"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

using cpu_device::Print;

namespace {

/// Made-up call sites, told apart by their formats.
const char sites[8] = {};

/// What lanes print, "ab" for a call at site a and then one at site b, and the order in which it comes: "a0 a1 b0 ".
std::string order_of(const std::vector<std::string>& lanes, unsigned threads_between = 1) {
    std::vector<Print> prints;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        for (const char site : lanes[lane]) {
            Print print;
            print.thread = static_cast<std::uint32_t>(lane) * threads_between;
            print.format = &sites[site - 'a'];
            print.text = std::string(1, site) + std::to_string(lane) + " ";
            prints.push_back(print);
        }
    }
    std::string text;
    for (const Print* print : cpu_device::in_order_of_warps(prints)) text += print->text;
    return text;
}

}  // namespace

TEST_CASE("lanes print in turn, one call after the other") {
    CHECK(order_of({"a", "a", "a"}) == "a0 a1 a2 ");
    CHECK(order_of({"ab", "ab"}) == "a0 a1 b0 b1 ");
    CHECK(order_of({"aaa", "aaa"}) == "a0 a1 a0 a1 a0 a1 ");
}

TEST_CASE("the sides of an if print one after the other, and what follows is printed together") {
    CHECK(order_of({"ac", "bc", "ac", "bc"}) == "a0 a2 b1 b3 c0 c1 c2 c3 ");
    CHECK(order_of({"abe", "cde", "abe"}) == "a0 a2 b0 b2 c1 d1 e0 e1 e2 ");
    CHECK(order_of({"b", "ab"}) == "a1 b0 b1 ");
    CHECK(order_of({"", "ab", "b"}) == "a1 b1 b2 ");
}

TEST_CASE("rounds of a loop come in turn") {
    CHECK(order_of({"b", "ab", "aaab"}) == "a1 a2 a2 a2 b0 b1 b2 ");
    CHECK(order_of({"aaa", "bbb"}) == "a0 b1 a0 b1 a0 b1 ");
    CHECK(order_of({"abab", "cdcd"}) == "a0 b0 c1 d1 a0 b0 c1 d1 ");
    // `if (i == lane) a; b;`: each waits for the other, and a stands first in the source.
    CHECK(order_of({"abb", "bab"}) == "a0 b0 b1 a1 b0 b1 ");
}

TEST_CASE("warps come one after the other") {
    CHECK(order_of({"ab", "ab", "ab"}, 32) == "a0 b0 a1 b1 a2 b2 ");
    CHECK(order_of({"ab", "ab", "ab", "ab"}, 16) == "a0 a1 b0 b1 a2 a3 b2 b3 ");
}

TEST_CASE("barriers and blocks separate what was printed") {
    std::vector<Print> prints(4);
    const char* texts[] = {"late ", "second block ", "second phase ", "first "};
    for (std::size_t i = 0; i < 4; ++i) prints[i].text = texts[i];
    prints[0].grid_phase = 1;
    prints[1].block = 1;
    prints[2].block_phase = 1;
    std::string text;
    for (const Print* print : cpu_device::in_order_of_warps(prints)) text += print->text;
    CHECK(text == "first second phase second block late ");
}
