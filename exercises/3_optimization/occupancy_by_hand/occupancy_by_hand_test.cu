#include "exercises/3_optimization/occupancy_by_hand/occupancy_by_hand.h"

#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <initializer_list>
#include <string>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"

const grading::Exercise grading::exercise{"3_optimization", "occupancy_by_hand"};

namespace {

// Three chips, by compute capability (CUDA C++ Programming Guide, "Compute Capabilities").
constexpr Multiprocessor sm_75 = {32, 16, 65536, 64 * 1024, 0, 256};      // Turing
constexpr Multiprocessor sm_86 = {48, 16, 65536, 100 * 1024, 1024, 128};  // Ampere, for graphics
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
    return "a block of " + std::to_string(block.threads) + " threads with " +
           std::to_string(block.registers_of_a_thread) + " registers each and " + std::to_string(block.shared_bytes) +
           " bytes of shared memory";
}

std::string text_of(const Multiprocessor& sm) {
    return "an SM with " + std::to_string(sm.warps) + " warps, " + std::to_string(sm.blocks) + " blocks, " +
           std::to_string(sm.registers) + " registers, " + std::to_string(sm.shared_bytes) +
           " bytes of shared memory, of which each block costs " + std::to_string(sm.reserved_bytes) +
           ", in units of " + std::to_string(sm.shared_unit);
}

struct Case {
    Multiprocessor sm;
    Block block;
    int resident_blocks;
    Limit limit;
};

void check_blocks(std::initializer_list<Case> cases, const std::string& hint) {
    for (const Case& one : cases) {
        INFO(text_of(one.block) << "\non " << text_of(one.sm));
        INFO(hint);
        CHECK(occupancy_of(one.sm, one.block).resident_blocks == one.resident_blocks);
    }
}

void check_limits(std::initializer_list<Case> cases, const std::string& hint) {
    check_blocks(cases, hint);
    for (const Case& one : cases) {
        INFO(text_of(one.block) << "\non " << text_of(one.sm));
        INFO(hint);
        CHECK(text_of(occupancy_of(one.sm, one.block).limit) == text_of(one.limit));
    }
}

}  // namespace

TEST_CASE("counts whole and begun warps") {
    check_blocks({{sm_90, {64, 16, 0}, 32, Limit::blocks},
                  {sm_90, {256, 32, 0}, 8, Limit::warps},
                  {sm_90, {1024, 16, 0}, 2, Limit::warps},
                  {sm_90, {96, 16, 0}, 21, Limit::warps},
                  {sm_90, {65, 16, 0}, 21, Limit::warps},
                  {sm_90, {257, 16, 0}, 7, Limit::warps},
                  {sm_86, {1024, 16, 0}, 1, Limit::warps},
                  {sm_75, {100, 16, 256}, 8, Limit::warps}},
                 "How many warps do 32 threads need, how many 33?");
}

TEST_CASE("rounds the registers of a warp up") {
    check_blocks({{sm_90, {256, 64, 0}, 4, Limit::registers},
                  {sm_90, {128, 128, 0}, 4, Limit::registers},
                  {sm_90, {256, 33, 0}, 6, Limit::registers},
                  {sm_90, {64, 41, 0}, 20, Limit::registers},
                  {sm_90, {1024, 33, 0}, 1, Limit::registers},
                  {sm_90, {128, 255, 0}, 2, Limit::registers}},
                 "A warp takes its registers in units of 256: what do 33 registers a thread take?");
}

// 16384 registers of a quarter: 12 warps of 1280 and a rest, 48 warps in all. 65536 undivided would be 51.
TEST_CASE("gives a warp its registers in one quarter") {
    check_blocks({{sm_90, {32, 40, 0}, 32, Limit::blocks},
                  {sm_90, {96, 40, 0}, 16, Limit::registers},
                  {sm_90, {32, 72, 0}, 28, Limit::registers},
                  {sm_90, {32, 168, 0}, 12, Limit::registers},
                  {sm_90, {288, 168, 0}, 1, Limit::registers},
                  {sm_75, {32, 255, 256}, 8, Limit::registers}},
                 "How many whole warps fit into one quarter of the registers?");
}

TEST_CASE("adds what the system reserves and rounds shared memory up") {
    check_blocks({{sm_90, {32, 16, 16 * 1024}, 13, Limit::shared_memory},
                  {sm_90, {128, 16, 48 * 1024}, 4, Limit::shared_memory},
                  {sm_90, {32, 16, 227 * 1024}, 1, Limit::shared_memory},
                  {sm_90, {32, 16, 113 * 1024}, 2, Limit::shared_memory},
                  {sm_90, {32, 16, 113 * 1024 + 1}, 1, Limit::shared_memory},
                  {sm_86, {32, 16, 8 * 1024}, 11, Limit::shared_memory},
                  {sm_86, {32, 16, 7213}, 12, Limit::shared_memory},
                  {sm_75, {32, 16, 16 * 1024}, 4, Limit::shared_memory},
                  {sm_75, {32, 16, 4353}, 14, Limit::shared_memory},
                  {sm_75, {64, 16, 64 * 1024}, 1, Limit::shared_memory}},
                 "A block takes its own bytes and the reserved ones; is the sum rounded up?");
}

TEST_CASE("finds no limit in shared memory that nobody takes") {
    check_blocks({{sm_75, {64, 16, 0}, 16, Limit::blocks}, {sm_90, {32, 16, 0}, 32, Limit::blocks}},
                 "What does a block take that has no shared memory, on a chip that reserves none?");
}

TEST_CASE("lets no block in that does not fit") {
    check_limits({{sm_90, {1024, 65, 0}, 0, Limit::registers}, {sm_90, {512, 168, 0}, 0, Limit::registers}},
                 "Where not even one block fits, the answer is 0.");
}

TEST_CASE("names the limit that decides") {
    check_limits({{sm_90, {32, 16, 0}, 32, Limit::blocks},
                  {sm_90, {256, 24, 1024}, 8, Limit::warps},
                  {sm_90, {256, 48, 1024}, 5, Limit::registers},
                  {sm_90, {256, 48, 64 * 1024}, 3, Limit::shared_memory}},
                 "Which of the four quotients is the least?");
}

TEST_CASE("names the first of several equal limits") {
    check_limits({{sm_90, {64, 32, 6 * 1024}, 32, Limit::blocks},
                  {sm_90, {256, 32, 27 * 1024}, 8, Limit::warps},
                  {sm_90, {512, 64, 113 * 1024}, 2, Limit::registers}},
                 "Blocks, warps, registers, shared memory: only a smaller quotient replaces an earlier one.");
}

TEST_CASE("works out the share of the warps") {
    const auto share = [](const Multiprocessor& sm, const Block& block) { return occupancy_of(sm, block).share; };
    INFO("The share is that of warps: resident blocks times warps a block, over the SM's places for warps.");
    CHECK(share(sm_90, {256, 32, 0}) == 1);
    CHECK(share(sm_90, {32, 16, 0}) == 0.5);
    CHECK(share(sm_90, {33, 16, 0}) == 1);
    CHECK(share(sm_90, {256, 40, 0}) == 0.75);
    CHECK(share(sm_90, {1024, 65, 0}) == 0);
    CHECK(share(sm_86, {1024, 16, 0}) == 32 / 48.0);
}

namespace {

// Kernels for which the API is asked. On a GPU they differ in registers; the CPU device counts with 32.
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
    REQUIRE_THAT(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(most)),
                 grading::Succeeds());
    for (int threads = 1; threads <= 1024; threads += threads < 32 ? 31 : 16) {
        for (const std::size_t shared : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{12345},
                                         std::size_t{49152}, std::size_t{60000}, most}) {
            int blocks = 0;
            REQUIRE_THAT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared),
                         grading::Succeeds());
            const Block block = {threads, attributes.numRegs, shared};
            INFO(text_of(block) << "\non " << text_of(sm));
            INFO("What cudaOccupancyMaxActiveBlocksPerMultiprocessor says stands on the right.");
            CHECK(occupancy_of(sm, block).resident_blocks == blocks);
        }
    }
}

}  // namespace

TEST_CASE("agrees with the API on this device") {
    compare_with_api(copy);
    compare_with_api(turn_around<16>);
    compare_with_api(turn_around<64>);
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
}
