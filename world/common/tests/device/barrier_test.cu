// __syncthreads and its relatives.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <vector>

#include "common/tests/device/results_of.h"
#include "common/tests/device_or_skip.h"

namespace {

__global__ void exchange_with_every_thread(int* mismatches) {
    extern __shared__ int values[];
    const int threads = static_cast<int>(blockDim.x);
    const int self = static_cast<int>(threadIdx.x);
    int wrong = 0;
    for (int distance = 0; distance < threads; ++distance) {
        values[self] = 1000 * distance + self;
        __syncthreads();
        const int other = (self + distance) % threads;
        if (values[other] != 1000 * distance + other) ++wrong;
        __syncthreads();
    }
    mismatches[blockIdx.x * threads + self] = wrong;
}

__global__ void reverse(int* out) {
    __shared__ int values[1024];
    values[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
}

__device__ void add_halves(int* values, unsigned width) {
    if (threadIdx.x < width) values[threadIdx.x] += values[threadIdx.x + width];
    __syncthreads();
}

__global__ void sum_in_device_function(int* out) {
    __shared__ int values[256];
    values[threadIdx.x] = static_cast<int>(threadIdx.x + blockIdx.x);
    __syncthreads();
    for (unsigned width = blockDim.x / 2; width > 0; width /= 2) add_halves(values, width);
    if (threadIdx.x == 0) out[blockIdx.x] = values[0];
}

struct Votes {
    int count, any, all;
};

/// Threads whose rank modulo `step` is 0 vote yes, with values other than 1.
__global__ void vote(int step, Votes* out) {
    const int self = static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
    const int predicate = step > 0 && self % step == 0 ? -7 - self : 0;
    Votes votes;
    votes.count = __syncthreads_count(predicate);
    votes.any = __syncthreads_or(predicate);
    votes.all = __syncthreads_and(predicate);
    out[self] = votes;
}

__global__ void barrier_in_branch_of_whole_blocks(int* out) {
    __shared__ int value;
    if (blockIdx.x % 2 == 0) {
        if (threadIdx.x == blockDim.x - 1) value = static_cast<int>(blockIdx.x);
        __syncthreads();
        out[blockIdx.x * blockDim.x + threadIdx.x] = value;
    } else {
        out[blockIdx.x * blockDim.x + threadIdx.x] = -1;
    }
}

__global__ void loop_of_different_length_in_every_block(int* out) {
    __shared__ int turns;
    if (threadIdx.x == 0) turns = 0;
    __syncthreads();
    for (unsigned turn = 0; turn <= blockIdx.x; ++turn) {
        if (threadIdx.x == turn % blockDim.x) ++turns;
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = turns;
}

__global__ void neighbors_in_three_dimensions(int* out) {
    __shared__ int values[4][3][5];
    values[threadIdx.z][threadIdx.y][threadIdx.x] =
        static_cast<int>(100 * threadIdx.z + 10 * threadIdx.y + threadIdx.x);
    __syncthreads();
    const unsigned rank = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    out[rank] = values[3 - threadIdx.z][2 - threadIdx.y][4 - threadIdx.x];
}

}  // namespace

TEST_CASE("a barrier lets every thread see what every other wrote") {
    device_or_skip();
    const int threads = GENERATE(1, 2, 31, 32, 33, 64, 100, 257);
    const auto mismatches = results_of<int>(static_cast<std::size_t>(3 * threads), [&](int* d_out) {
        exchange_with_every_thread<<<3, threads, threads * sizeof(int)>>>(d_out);
    });
    CHECK(mismatches == std::vector<int>(mismatches.size(), 0));
}

TEST_CASE("a barrier holds in blocks of any size up to 1024 threads") {
    device_or_skip();
    const int threads = GENERATE(1, 2, 3, 31, 32, 33, 63, 65, 128, 500, 992, 1000, 1023, 1024);
    const auto out =
        results_of<int>(static_cast<std::size_t>(threads), [&](int* d_out) { reverse<<<1, threads>>>(d_out); });
    std::vector<int> expected(out.size());
    for (int i = 0; i < threads; ++i) expected[static_cast<std::size_t>(i)] = threads - 1 - i;
    CHECK(out == expected);
}

TEST_CASE("a barrier works in a loop inside a device function") {
    device_or_skip();
    const auto sums = results_of<int>(20, [](int* d_out) { sum_in_device_function<<<20, 256>>>(d_out); });
    for (int block = 0; block < 20; ++block) CHECK(sums[static_cast<std::size_t>(block)] == 255 * 128 + 256 * block);
}

TEST_CASE("barriers that vote count the threads of the block whose predicate is not zero") {
    device_or_skip();
    const dim3 block = GENERATE(dim3(1), dim3(40), dim3(32), dim3(1024), dim3(8, 9), dim3(5, 4, 7));
    const int step = GENERATE(0, 1, 2, 7, 5000);
    const int threads = static_cast<int>(block.x * block.y * block.z);
    const auto votes =
        results_of<Votes>(static_cast<std::size_t>(threads), [&](Votes* d_out) { vote<<<1, block>>>(step, d_out); });
    const int expected = step == 0 ? 0 : (threads + step - 1) / step;
    bool all_right = true;
    for (const Votes& seen : votes) {
        all_right = all_right && seen.count == expected && (seen.any != 0) == (expected > 0) &&
                    (seen.all != 0) == (expected == threads);
    }
    CAPTURE(threads, step, expected, votes[0].count, votes[0].any, votes[0].all);
    CHECK(all_right);
}

TEST_CASE("a barrier may stand in a branch that whole blocks take") {
    device_or_skip();
    const auto out = results_of<int>(8 * 48, [](int* d_out) { barrier_in_branch_of_whole_blocks<<<8, 48>>>(d_out); });
    for (int i = 0; i < 8 * 48; ++i) {
        const int block = i / 48;
        REQUIRE(out[static_cast<std::size_t>(i)] == (block % 2 == 0 ? block : -1));
    }
}

TEST_CASE("blocks may pass different numbers of barriers") {
    device_or_skip();
    const auto out =
        results_of<int>(50 * 96, [](int* d_out) { loop_of_different_length_in_every_block<<<50, 96>>>(d_out); });
    for (int i = 0; i < 50 * 96; ++i) REQUIRE(out[static_cast<std::size_t>(i)] == i / 96 + 1);
}

TEST_CASE("a barrier joins all threads of a three-dimensional block") {
    device_or_skip();
    const auto out =
        results_of<int>(60, [](int* d_out) { neighbors_in_three_dimensions<<<1, dim3(5, 3, 4)>>>(d_out); });
    for (int i = 0; i < 60; ++i) {
        REQUIRE(out[static_cast<std::size_t>(i)] == 100 * (3 - i / 15) + 10 * (2 - i / 5 % 3) + 4 - i % 5);
    }
}
