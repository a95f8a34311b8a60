#include "exercises/3_optimization/occupancy_by_hand/occupancy_by_hand.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"

const grading::Exercise grading::exercise{"3_optimization", "occupancy_by_hand"};

namespace {

// Three chips, by compute capability (CUDA C++ Programming Guide, "Compute Capabilities").
constexpr Multiprocessor sm_75 = {32, 16, 65536, 64 * 1024, 0, 256};  // Turing
constexpr Multiprocessor sm_86 = {48,         16,   65536,
                                  100 * 1024, 1024, 128};  // Ampere, for graphics
constexpr Multiprocessor sm_90 = {64, 32, 65536, 228 * 1024, 1024, 128};  // Hopper

std::string text_of(Limit limit) {
    switch (limit) {
        case Limit::blocks:
            return "blocks";
        case Limit::warps:
            return "warps";
        case Limit::registers:
            return "registers";
        case Limit::shared_memory:
            return "shared memory";
    }
    return "none of the four";
}

std::string text_of(const Block& block) {
    return "a block of " + grading::counted(block.threads, "thread") + " with " +
           grading::counted(block.registers_of_a_thread, "register") + " each and " +
           grading::counted(block.shared_bytes, "byte") + " of shared memory";
}

std::string text_of(const Multiprocessor& sm) {
    return "an SM with " + grading::counted(sm.warps, "warp") + ", " +
           grading::counted(sm.blocks, "block") + ", " +
           grading::counted(sm.registers, "register") + ", " +
           grading::counted(sm.shared_bytes, "byte") +
           " of shared memory, of which each block costs " +
           std::to_string(sm.reserved_bytes) + ", in units of " +
           std::to_string(sm.shared_unit);
}

/// How to count: as the README says, or with one of the mistakes that are easily made.
/// Hints need a cause.
enum class Warps { begun_too, whole_only, one_more, threads };
enum class Registers {
    by_quarter,
    not_rounded,
    rounded_for_block,
    undivided,
    block_in_a_quarter,
    no_limit
};
enum class Shared {
    right,
    without_reserved,
    not_rounded,
    reserved_after_rounding,
    own_only_if_any,
    no_limit
};
enum class Tie { first, last };
enum class Share { of_warps, of_threads, of_blocks, whole_number };

struct Rules {
    Warps warps = Warps::begun_too;
    Registers registers = Registers::by_quarter;
    Shared shared = Shared::right;
    Tie tie = Tie::first;
    Share share = Share::of_warps;
    int least = 0;  ///< blocks that always fit
};

struct Mistake {
    Rules rules;
    const char* hint;
};

const Mistake mistakes[] = {
    {{.warps = Warps::whole_only},
     "Only whole warps are counted. How many warps do 33 threads need?"},
    {{.warps = Warps::one_more},
     "A warp too many is counted where 32 divides the threads. What do 64 threads need?"},
    {{.warps = Warps::threads},
     "Places for threads are counted. How many places for warps do 33 threads take?"},
    {{.registers = Registers::not_rounded},
     "The registers of a warp are not rounded up. In which units are they given?"},
    {{.registers = Registers::rounded_for_block},
     "The registers are rounded up for a block. What is rounded up instead?"},
    {{.registers = Registers::undivided},
     "The registers are not divided. How many whole warps fit into one quarter?"},
    {{.registers = Registers::block_in_a_quarter},
     "Each block has all of its warps in one quarter. Which of them have to be in the same "
     "quarter?"},
    {{.registers = Registers::no_limit},
     "The registers are never the limit. For how many blocks do they suffice?"},
    {{.shared = Shared::without_reserved},
     "The reserved bytes are left out. Which sum is to be rounded up?"},
    {{.shared = Shared::not_rounded},
     "Shared memory is not rounded up. In which units does a block take it?"},
    {{.shared = Shared::reserved_after_rounding},
     "The reserved bytes are added after rounding. Which sum is to be rounded up?"},
    {{.shared = Shared::own_only_if_any},
     "Blocks without shared memory of their own take nothing here. What does the system "
     "reserve for them?"},
    {{.shared = Shared::no_limit},
     "Shared memory is never the limit. For how many blocks does it suffice?"},
    {{.tie = Tie::last},
     "Of equal limits, the last one is named. Which one does the task ask for?"},
    {{.share = Share::of_threads},
     "The share counts threads. How many places does a begun warp take?"},
    {{.share = Share::of_blocks},
     "The share is the one of the places for blocks. Of which places is it to be?"},
    {{.share = Share::whole_number},
     "The share is rounded down to a whole number. Of which type are its parts?"},
    {{.least = 1},
     "One block is said to fit where none does. What is left of the SM then?"},
};

std::size_t round_up(std::size_t value, std::size_t unit) {
    return (value + unit - 1) / unit * unit;
}

Occupancy occupancy_by(const Rules& rules, const Multiprocessor& sm, const Block& block) {
    const int enough = sm.blocks;
    const auto quotient = [&](std::size_t has, std::size_t takes) {
        return takes == 0 ? enough : static_cast<int>(has / takes);
    };
    const auto number = [](int value) { return static_cast<std::size_t>(value); };
    const int begun_warps = (block.threads + 31) / 32;
    int warps = begun_warps;
    if (rules.warps == Warps::whole_only) warps = block.threads / 32;
    if (rules.warps == Warps::one_more) warps = block.threads / 32 + 1;
    const int by_warps = rules.warps == Warps::threads
                             ? 32 * sm.warps / block.threads
                             : quotient(number(sm.warps), number(warps));

    const auto registers = number(sm.registers);
    std::size_t of_a_warp = 32 * number(block.registers_of_a_thread);
    if (rules.registers != Registers::not_rounded) of_a_warp = round_up(of_a_warp, 256);
    int by_registers = quotient(4 * (registers / 4 / of_a_warp), number(warps));
    if (rules.registers == Registers::rounded_for_block) {
        by_registers = quotient(
            registers, round_up(number(block.threads * block.registers_of_a_thread), 256));
    }
    if (rules.registers == Registers::undivided)
        by_registers = quotient(registers, of_a_warp * number(warps));
    if (rules.registers == Registers::block_in_a_quarter) {
        by_registers = 4 * quotient(registers / 4, of_a_warp * number(warps));
    }
    if (rules.registers == Registers::no_limit) by_registers = enough;

    std::size_t bytes = round_up(block.shared_bytes + sm.reserved_bytes, sm.shared_unit);
    if (rules.shared == Shared::without_reserved)
        bytes = round_up(block.shared_bytes, sm.shared_unit);
    if (rules.shared == Shared::not_rounded) bytes = block.shared_bytes + sm.reserved_bytes;
    if (rules.shared == Shared::reserved_after_rounding) {
        bytes = round_up(block.shared_bytes, sm.shared_unit) + sm.reserved_bytes;
    }
    if (rules.shared == Shared::no_limit) bytes = 0;
    if (rules.shared == Shared::own_only_if_any && block.shared_bytes == 0) bytes = 0;
    const int by_shared_memory = quotient(sm.shared_bytes, bytes);

    Occupancy result = {sm.blocks, Limit::blocks, 0};
    const auto limit_to = [&](int blocks, Limit limit) {
        if (blocks > result.resident_blocks) return;
        if (blocks == result.resident_blocks && rules.tie == Tie::first) return;
        result.resident_blocks = blocks;
        result.limit = limit;
    };
    limit_to(by_warps, Limit::warps);
    limit_to(by_registers, Limit::registers);
    limit_to(by_shared_memory, Limit::shared_memory);
    result.resident_blocks = std::max(result.resident_blocks, rules.least);
    result.share = static_cast<double>(result.resident_blocks * begun_warps) / sm.warps;
    if (rules.share == Share::of_threads) {
        result.share =
            static_cast<double>(result.resident_blocks * block.threads) / (32 * sm.warps);
    }
    if (rules.share == Share::of_blocks)
        result.share = static_cast<double>(result.resident_blocks) / sm.blocks;
    if (rules.share == Share::whole_number)
        result.share = result.resident_blocks * begun_warps / sm.warps;
    return result;
}

struct Case {
    Multiprocessor sm;
    Block block;
};
using Cases = std::vector<Case>;

enum class Part { blocks, limit, share };

bool same(const Occupancy& a, const Occupancy& b, Part part) {
    if (part == Part::blocks) return a.resident_blocks == b.resident_blocks;
    if (part == Part::limit) return a.limit == b.limit;
    return std::fabs(a.share - b.share) <= 1e-6;  // not so for NaN
}

std::string text_of(const Occupancy& occupancy, Part part) {
    if (part == Part::blocks) return std::to_string(occupancy.resident_blocks);
    return part == Part::limit ? text_of(occupancy.limit) : std::to_string(occupancy.share);
}

/// The hint of the mistake that gives the same in all cases; none if there is no such
/// mistake, or several.
std::string hint_for(const Cases& cases, const std::vector<Occupancy>& got, Part part) {
    std::string hint;
    for (const Mistake& mistake : mistakes) {
        bool all_same = true;
        for (std::size_t i = 0; i < cases.size() && all_same; ++i) {
            all_same = same(occupancy_by(mistake.rules, cases[i].sm, cases[i].block),
                            got[i], part);
        }
        if (all_same && !hint.empty()) return {};
        if (all_same) hint = std::string("\n") + mistake.hint;
    }
    return hint;
}

void check(const Cases& cases, Part part) {
    std::vector<Occupancy> got;
    std::size_t wrong = 0;
    std::string first;
    for (const Case& one : cases) {
        got.push_back(occupancy_of(one.sm, one.block));
        const Occupancy expected = occupancy_by({}, one.sm, one.block);
        if (same(got.back(), expected, part)) continue;
        if (++wrong > 1) continue;
        const char* const name = part == Part::blocks  ? "resident_blocks"
                                 : part == Part::limit ? "limit"
                                                       : "share";
        first = text_of(one.block) + "\non " + text_of(one.sm) + "\n" + name + " is " +
                text_of(got.back(), part) + ", should be " + text_of(expected, part);
    }
    if (wrong == 0) return;
    const std::string hint = hint_for(cases, got, part);
    FAIL_CHECK(first << "\n"
                     << wrong << " of " << cases.size() << " cases are wrong"
                     << (hint.empty()
                             ? "\nFor how many blocks does each resource of the SM "
                               "suffice, worked out by hand?"
                             : hint));
}

std::uint64_t stream = 0;
std::size_t random_number(std::size_t low, std::size_t high) {
    return grading::random_size(low, high, ++stream);
}

/// An SM that nobody builds, so that no number of a chip is right by chance.
Multiprocessor random_sm() {
    return {static_cast<int>(random_number(32, 80)),
            static_cast<int>(random_number(8, 40)),
            static_cast<int>(1024 * random_number(16, 128)),
            1024 * random_number(24, 300),
            random_number(0, 3) == 0 ? 0 : random_number(1, 3000),
            std::size_t{64} << random_number(0, 3)};
}

Block random_block(const Multiprocessor& sm) {
    const std::size_t most =
        sm.shared_bytes / sm.shared_unit * sm.shared_unit - sm.reserved_bytes;
    const std::size_t few = std::min<std::size_t>(most, 10'000);
    return {static_cast<int>(random_number(1, random_number(0, 1) == 0 ? 160 : 1024)),
            static_cast<int>(random_number(1, random_number(0, 1) == 0 ? 40 : 255)),
            random_number(0, 2) == 0
                ? 0
                : random_number(0, random_number(0, 1) == 0 ? few : most)};
}

/// So many random cases for which `wanted` holds.
template <class Wanted>
Cases random_cases(std::size_t count, const Wanted& wanted) {
    constexpr Multiprocessor chips[] = {sm_75, sm_86, sm_90};
    Cases cases;
    stream = 0;  // the same cases, whichever tests ran before
    for (std::size_t tries = 0; cases.size() < count && tries < 1'000'000; ++tries) {
        const Multiprocessor sm =
            random_number(0, 1) == 0 ? random_sm() : chips[random_number(0, 2)];
        const Block block = random_block(sm);
        if (wanted(sm, block)) cases.push_back({sm, block});
    }
    return cases;
}

Cases joined(Cases cases, const Cases& more) {
    cases.insert(cases.end(), more.begin(), more.end());
    return cases;
}

/// Random cases that this limit decides.
Cases decided_by(Limit limit) {
    return random_cases(200, [limit](const Multiprocessor& sm, const Block& block) {
        const Occupancy occupancy = occupancy_by({}, sm, block);
        return occupancy.limit == limit && occupancy.resident_blocks > 0;
    });
}

/// Whether two of the four limits are the least one.
bool has_equal_limits(const Multiprocessor& sm, const Block& block) {
    return occupancy_by({}, sm, block).limit !=
           occupancy_by({.tie = Tie::last}, sm, block).limit;
}

}  // namespace

TEST_CASE("counts whole and begun warps") {
    check(joined({{sm_90, {64, 16, 0}},
                  {sm_90, {256, 32, 0}},
                  {sm_90, {1024, 16, 0}},
                  {sm_90, {96, 16, 0}},
                  {sm_90, {65, 16, 0}},
                  {sm_90, {257, 16, 0}},
                  {sm_86, {1024, 16, 0}},
                  {sm_75, {100, 16, 256}}},
                 decided_by(Limit::warps)),
          Part::blocks);
}

TEST_CASE("gives a warp whole units of registers in one quarter") {
    // 16384 registers of a quarter: 12 warps of 1280 and a remainder, 48 warps in all.
    // 65536 undivided would be 51.
    check(joined({{sm_90, {256, 64, 0}},
                  {sm_90, {128, 128, 0}},
                  {sm_90, {256, 33, 0}},
                  {sm_90, {64, 41, 0}},
                  {sm_90, {1024, 33, 0}},
                  {sm_90, {128, 255, 0}},
                  {sm_90, {32, 40, 0}},
                  {sm_90, {96, 40, 0}},
                  {sm_90, {32, 72, 0}},
                  {sm_90, {32, 168, 0}},
                  {sm_90, {288, 168, 0}},
                  {sm_75, {32, 255, 256}}},
                 decided_by(Limit::registers)),
          Part::blocks);
}

TEST_CASE("adds what the system reserves and rounds shared memory up") {
    check(joined({{sm_90, {32, 16, 16 * 1024}},
                  {sm_90, {128, 16, 48 * 1024}},
                  {sm_90, {32, 16, 227 * 1024}},
                  {sm_90, {32, 16, 113 * 1024}},
                  {sm_90, {32, 16, 113 * 1024 + 1}},
                  {sm_86, {32, 16, 8 * 1024}},
                  {sm_86, {32, 16, 7213}},
                  {sm_75, {32, 16, 16 * 1024}},
                  {sm_75, {32, 16, 4353}},
                  {sm_75, {64, 16, 64 * 1024}},
                  {{64, 32, 65536, 16 * 1024, 100, 256}, {32, 16, 924}}},
                 decided_by(Limit::shared_memory)),
          Part::blocks);
}

TEST_CASE("finds no limit in shared memory that nobody takes") {
    check(joined({{sm_75, {64, 16, 0}}, {sm_90, {32, 16, 0}}},
                 random_cases(50,
                              [](const Multiprocessor& sm, const Block& block) {
                                  return sm.reserved_bytes == 0 && block.shared_bytes == 0;
                              })),
          Part::blocks);
}

TEST_CASE("takes reserved bytes for blocks without shared memory") {
    // 20 blocks and no more, though they take no shared memory of their own. In the last
    // case they do.
    check({{{48, 32, 65536, 20 * 1024, 1024, 128}, {32, 16, 0}},
           {{64, 32, 65536, 24 * 1024, 1000, 256}, {64, 16, 0}},
           {{48, 32, 65536, 20 * 1024, 1024, 128}, {32, 16, 1000}}},
          Part::blocks);
}

TEST_CASE("lets no block in that does not fit") {
    const Cases cases =
        joined({{sm_90, {1024, 65, 0}}, {sm_90, {512, 168, 0}}},
               random_cases(50, [](const Multiprocessor& sm, const Block& block) {
                   return occupancy_by({}, sm, block).resident_blocks == 0;
               }));
    check(cases, Part::blocks);
    check(cases, Part::limit);
}

TEST_CASE("names the limit that decides") {
    const Cases cases =
        joined({{sm_90, {32, 16, 0}},
                {sm_90, {256, 24, 1024}},
                {sm_90, {256, 48, 1024}},
                {sm_90, {256, 48, 64 * 1024}}},
               random_cases(200, [](const Multiprocessor& sm, const Block& block) {
                   return !has_equal_limits(sm, block);
               }));
    check(cases, Part::blocks);
    check(cases, Part::limit);
}

TEST_CASE("names the first of several equal limits") {
    const Cases cases = joined({{sm_90, {64, 32, 6 * 1024}},
                                {sm_90, {256, 32, 27 * 1024}},
                                {sm_90, {512, 64, 113 * 1024}}},
                               random_cases(100, has_equal_limits));
    check(cases, Part::blocks);
    check(cases, Part::limit);
}

TEST_CASE("works out the share of the warps") {
    check(
        joined({{sm_90, {256, 32, 0}},
                {sm_90, {32, 16, 0}},
                {sm_90, {33, 16, 0}},
                {sm_90, {256, 40, 0}},
                {sm_90, {1024, 65, 0}},
                {sm_86, {1024, 16, 0}}},
               random_cases(200, [](const Multiprocessor&, const Block&) { return true; })),
        Part::share);
}

namespace {

// Kernels for which the API is asked. On a GPU they differ in registers; the CPU device
// counts with 32.
__global__ void copy(const float* in, float* out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
}

template <int held>
__global__ void turn_around(const float* in, float* out) {
    float values[held];
    for (int k = 0; k < held; ++k) values[k] = in[k * blockDim.x + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < held; ++k) out[k * blockDim.x + threadIdx.x] = values[held - 1 - k];
}

void compare_with_api(void (*kernel)(const float*, float*)) {
    int number = 0;
    REQUIRE_THAT(cudaGetDevice(&number), grading::Succeeds());
    cudaDeviceProp device{};
    REQUIRE_THAT(cudaGetDeviceProperties(&device, number), grading::Succeeds());
    const Multiprocessor sm = {device.maxThreadsPerMultiProcessor / 32,
                               device.maxBlocksPerMultiProcessor,
                               device.regsPerMultiprocessor,
                               device.sharedMemPerMultiprocessor,
                               device.reservedSharedMemPerBlock,
                               device.major >= 8 ? std::size_t{128} : std::size_t{256}};
    cudaFuncAttributes attributes{};
    REQUIRE_THAT(cudaFuncGetAttributes(&attributes, kernel), grading::Succeeds());
    const std::size_t most = device.sharedMemPerBlockOptin;
    REQUIRE_THAT(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(most)),
                 grading::Succeeds());
    std::size_t compared = 0, wrong = 0;
    std::string first;
    for (int threads = 1; threads <= 1024; threads += threads < 32 ? 31 : 16) {
        for (const std::size_t shared :
             {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{12345},
              std::size_t{49152}, std::size_t{60000}, most}) {
            int blocks = 0;
            REQUIRE_THAT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel,
                                                                       threads, shared),
                         grading::Succeeds());
            const Block block = {threads, attributes.numRegs, shared};
            const int got = occupancy_of(sm, block).resident_blocks;
            ++compared;
            if (got == blocks || ++wrong > 1) continue;
            first = text_of(block) + "\non " + text_of(sm) + "\nresident_blocks is " +
                    std::to_string(got) +
                    ", cudaOccupancyMaxActiveBlocksPerMultiprocessor says " +
                    std::to_string(blocks);
        }
    }
    if (wrong > 0)
        FAIL_CHECK(first << "\n"
                         << wrong << " of " << compared
                         << " shapes are wrong\nFor how many blocks does each resource of "
                            "the SM suffice, worked out by hand?");
}

}  // namespace

TEST_CASE("agrees with the API on this device") {
    // The grader's own way of counting has to agree with the chips as well. These numbers
    // were worked out by hand.
    const auto blocks = [](const Multiprocessor& sm, const Block& block) {
        return occupancy_by({}, sm, block).resident_blocks;
    };
    REQUIRE(blocks(sm_90, {65, 16, 0}) == 21);
    REQUIRE(blocks(sm_90, {64, 41, 0}) == 20);
    REQUIRE(blocks(sm_90, {96, 40, 0}) == 16);
    REQUIRE(blocks(sm_90, {288, 168, 0}) == 1);
    REQUIRE(blocks(sm_90, {32, 16, 113 * 1024 + 1}) == 1);
    REQUIRE(blocks(sm_86, {32, 16, 7213}) == 12);
    REQUIRE(blocks(sm_75, {32, 16, 4353}) == 14);
    REQUIRE(blocks(sm_90, {512, 168, 0}) == 0);
    compare_with_api(copy);
    compare_with_api(turn_around<16>);
    compare_with_api(turn_around<64>);
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
}
