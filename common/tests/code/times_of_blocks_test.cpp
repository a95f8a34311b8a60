// How often basic blocks run, for machine code whose blocks are written down here.
#include <catch2/catch_test_macros.hpp>

#include "common/code/kernel_code.h"

using namespace warpwise::code;

namespace {

constexpr unsigned kFma = 0x023;
constexpr unsigned kAdd = 0x010;
constexpr unsigned kLoad = 0x181;
constexpr unsigned kStore = 0x186;
constexpr unsigned kSwap = 0x1a9;

Count count(unsigned line, unsigned code, unsigned times, unsigned bytes = 0) {
    return {line, code, bytes, false, times};
}

/// Lines 1 to 9 of a file; their indices are one less.
KernelCode kernel(std::vector<Block> blocks) {
    KernelCode code;
    for (int line = 1; line < 10; ++line) code.lines.push_back({"kernel.cu", line});
    code.blocks = std::move(blocks);
    return code;
}

SeenLine& line(SeenLines& seen, int number) { return seen[{"/home/me/kernel.cu", number}]; }

using Times = std::vector<double>;

}  // namespace

TEST_CASE("without branches, all warps run the block") {
    const KernelCode code = kernel({{{count(0, kLoad, 1, 4), count(0, kStore, 1, 4)}, {}, true}});
    CHECK(times_of_blocks(code, {}, 64) == Times{64});
    CHECK(mix_of(code, {64}).all == 128);
}

TEST_CASE("a copied loop takes whole iterations, and the other one the remainder") {
    // Four loads at a time, then one at a time.
    const KernelCode code = kernel({{{count(0, kAdd, 1)}, {1, 2}},
                                    {{count(1, kLoad, 4, 4), count(1, kAdd, 1)}, {1, 2}},
                                    {{count(0, kAdd, 1)}, {3, 4}},
                                    {{count(1, kLoad, 1, 4), count(1, kAdd, 1)}, {3, 4}},
                                    {{count(2, kStore, 1, 4)}, {}, true}});
    const auto times = [&](double iterations) {
        SeenLines seen;
        line(seen, 1).times = 10;
        line(seen, 2).times = 10 * iterations;
        line(seen, 2)[Counted::load_global] = 40 * iterations;
        line(seen, 3).times = 10;
        line(seen, 3)[Counted::store_global] = 40;
        return times_of_blocks(code, seen, 10);
    };
    CHECK(times(11) == Times{10, 20, 10, 30, 10});
    CHECK(times(3) == Times{10, 0, 10, 30, 10});
    CHECK(times(8) == Times{10, 20, 10, 0, 10});
}

TEST_CASE("a wider load moves as many bytes in fewer instructions") {
    const KernelCode code = kernel({{{count(0, kAdd, 1)}, {1}}, {{count(1, kLoad, 1, 16)}, {1, 2}}, {{}, {}, true}});
    SeenLines seen;
    line(seen, 2).times = 400;
    line(seen, 2)[Counted::load_global] = 1600;
    CHECK(times_of_blocks(code, seen, 1) == Times{1, 100, 1});
}

TEST_CASE("a loop with nothing but integers runs as often as its lines") {
    const KernelCode code = kernel({{{count(0, kAdd, 1)}, {1}}, {{count(1, kAdd, 3)}, {1, 2}}, {{}, {}, true}});
    SeenLines seen;
    line(seen, 1).times = 2;
    line(seen, 2).times = 50;
    CHECK(times_of_blocks(code, seen, 2) == Times{2, 50, 2});
}

TEST_CASE("a branch is taken as often as its work was seen") {
    const KernelCode code =
        kernel({{{count(0, kAdd, 1)}, {1, 2}}, {{count(1, kStore, 1, 4)}, {2}}, {{count(2, kStore, 1, 4)}, {}, true}});
    SeenLines seen;
    line(seen, 2).times = 25;
    line(seen, 2)[Counted::store_global] = 100;
    CHECK(times_of_blocks(code, seen, 100) == Times{100, 25, 100});
}

TEST_CASE("a loop in a loop, each with its own work") {
    const KernelCode code = kernel({{{count(0, kAdd, 1)}, {1}},
                                    {{count(1, kLoad, 1, 4)}, {2}},
                                    {{count(2, kFma, 8)}, {2, 3}},
                                    {{count(3, kStore, 1, 4)}, {1, 4}},
                                    {{}, {}, true}});
    SeenLines seen;
    line(seen, 2)[Counted::load_global] = 5 * 4;
    line(seen, 3)[Counted::flops] = 5 * 32 * 2;
    line(seen, 4)[Counted::store_global] = 5 * 4;
    for (int number = 1; number <= 4; ++number) line(seen, number).times = 5;
    CHECK(times_of_blocks(code, seen, 1) == Times{1, 5, 20, 5, 1});
}

TEST_CASE("a subroutine for rare operands is left out, and a compare-and-swap is tried once") {
    Block rare{{count(0, kAdd, 1)}, {3}};
    rare.is_rare = true;
    const KernelCode code = kernel(
        {{{count(0, kAdd, 1)}, {1, 2}}, rare, {{count(1, kSwap, 1)}, {2, 3}}, {{count(2, kStore, 1, 4)}, {}, true}});
    SeenLines seen;
    line(seen, 1).times = 7;
    line(seen, 2)[Counted::atomic_global] = 7;
    line(seen, 2).times = 7;
    const Times times = times_of_blocks(code, seen, 7);
    CHECK(times[1] == 0);
    CHECK(times[2] == 7);
}
