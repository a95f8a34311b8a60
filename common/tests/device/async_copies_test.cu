// Asynchronous barriers, copies to shared memory, and pipelines: cuda::barrier, cuda::memcpy_async, cuda::pipeline.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstddef>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <utility>
#include <vector>

#include "common/tests/device/results_of.h"
#include "common/tests/device_or_skip.h"

#ifndef __CPU_DEVICE__
// A cuda::barrier has a constructor, which does not run in shared memory.
#pragma nv_diag_suppress static_var_with_dynamic_init
#endif

namespace cg = cooperative_groups;

namespace {

using Barrier = cuda::barrier<cuda::thread_scope_block>;
using cuda::pipeline_role;

/// Element i is i.
template <class T = int>
std::vector<T> ascending(std::size_t count) {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i);
    return values;
}

/// Runs `launch(d_in, d_out)` with an input of ascending numbers.
template <class T, class Launch>
std::vector<T> results_from(std::size_t in_count, std::size_t out_count, const Launch& launch) {
    const std::vector<T> in = ascending<T>(in_count);
    T* d_in = nullptr;
    REQUIRE(cudaMalloc(&d_in, in_count * sizeof(T)) == cudaSuccess);
    REQUIRE(cudaMemcpy(d_in, in.data(), in_count * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
    const std::vector<T> out = results_of<T>(out_count, [&](T* d_out) { launch(d_in, d_out); });
    REQUIRE(cudaFree(d_in) == cudaSuccess);
    return out;
}

template <class T = int>
std::vector<T> reversed_in_parts(std::size_t count, std::size_t part) {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i / part * part + part - 1 - i % part);
    return values;
}

// ---- barriers --------------------------------------------------------------------------------------------

__global__ void rotate_by_phases(int* out, int rounds) {
    __shared__ int values[2][96];
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    int value = static_cast<int>(threadIdx.x);
    for (int round = 0; round < rounds; ++round) {
        values[round % 2][threadIdx.x] = value;
        barrier.arrive_and_wait();
        value = values[round % 2][(threadIdx.x + 1) % blockDim.x];
    }
    out[threadIdx.x] = value;
}

__global__ void arrive_and_wait_later(int* out) {
    __shared__ int values[64];
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    values[threadIdx.x] = 3 * static_cast<int>(threadIdx.x);
    Barrier::arrival_token token = barrier.arrive();
    const int own = static_cast<int>(threadIdx.x);
    barrier.wait(std::move(token));
    out[threadIdx.x] = values[63 - threadIdx.x] + own;
}

__global__ void one_arrival_for_each_warp(int* out) {
    __shared__ int values[128];
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x / 32);
    __syncthreads();
    values[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncwarp();
    if (threadIdx.x % 32 == 0) (void)barrier.arrive();
    barrier.wait_parity(false);
    out[threadIdx.x] = values[127 - threadIdx.x];
}

__global__ void several_arrivals_at_once(int* out) {
    __shared__ int value;
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) {
        init(&barrier, 40);
        value = 0;
    }
    __syncthreads();
    atomicAdd(&value, static_cast<int>(threadIdx.x));
    Barrier::arrival_token token = barrier.arrive(threadIdx.x < 8 ? 2 : 1);  // 8 * 2 + 24
    barrier.wait(std::move(token));
    out[threadIdx.x] = value;
}

__global__ void leave_one_by_one(int* out) {
    __shared__ int rounds[64];
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    rounds[threadIdx.x] = 0;
    for (unsigned round = 0; round < threadIdx.x / 8; ++round) {
        ++rounds[threadIdx.x];
        barrier.arrive_and_wait();
    }
    barrier.arrive_and_drop();
    out[threadIdx.x] = rounds[threadIdx.x];
}

__global__ void take_turns(int* out, int rounds) {
    // Warp 0 produces a number, and warp 1 adds it up: two barriers, of which each waits for the other warp.
    __shared__ int number;
    __shared__ Barrier filled, empty;
    if (threadIdx.x == 0) {
        init(&filled, 32);
        init(&empty, 32);
    }
    __syncthreads();
    int sum = 0;
    for (int round = 0; round < rounds; ++round) {
        const bool parity = round % 2 != 0;
        if (threadIdx.x < 32) {
            empty.wait_parity(!parity);
            if (threadIdx.x == 0) number = round + 1;
            (void)filled.arrive();
        } else {
            filled.wait_parity(parity);
            sum += number;
            (void)empty.arrive();
        }
    }
    out[threadIdx.x] = sum;
}

// ---- copies ----------------------------------------------------------------------------------------------

template <class T>
__global__ void reverse_by_group(const T* in, T* out) {
    __shared__ alignas(16) T tile[64];
    const cg::thread_block block = cg::this_thread_block();
    for (unsigned part = 0; part < 3; ++part) {
        cg::memcpy_async(block, tile, in + 64 * part, sizeof tile);
        cg::wait(block);
        out[64 * part + threadIdx.x] = tile[63 - threadIdx.x];
        block.sync();
    }
}

__global__ void reverse_with_two_tiles(const int* in, int* out, unsigned parts) {
    __shared__ alignas(16) int tiles[2][64];
    const cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tiles[0], in, sizeof tiles[0]);
    for (unsigned part = 0; part < parts; ++part) {
        if (part + 1 < parts) {
            cg::memcpy_async(block, tiles[(part + 1) % 2], in + 64 * (part + 1), cuda::aligned_size_t<16>(256));
            cg::wait_prior<1>(block);
        } else {
            cg::wait(block);
        }
        out[64 * part + threadIdx.x] = tiles[part % 2][63 - threadIdx.x];
        block.sync();
    }
}

/// `Aligned`: the size is promised to be a multiple of 16 bytes.
template <class T, bool Aligned>
__global__ void reverse_by_barrier(const T* in, T* out) {
    __shared__ alignas(16) T tile[64];
    __shared__ Barrier barrier;
    const cg::thread_block block = cg::this_thread_block();
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    block.sync();
    for (unsigned part = 0; part < 3; ++part) {
        if constexpr (Aligned) {
            cuda::memcpy_async(block, tile, in + 64 * part, cuda::aligned_size_t<16>(sizeof tile), barrier);
        } else {
            cuda::memcpy_async(block, tile, in + 64 * part, sizeof tile, barrier);
        }
        barrier.arrive_and_wait();
        out[64 * part + threadIdx.x] = tile[63 - threadIdx.x];
        block.sync();
    }
}

__global__ void copy_own_element(const int* in, int* out) {
    __shared__ int tile[64];
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int), barrier);
    barrier.arrive_and_wait();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

// ---- pipelines -------------------------------------------------------------------------------------------

template <unsigned Stages>
__global__ void reverse_by_own_pipeline(const int* in, int* out, unsigned parts) {
    __shared__ alignas(16) int tiles[Stages][64];
    const cg::thread_block block = cg::this_thread_block();
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    unsigned next = 0;
    for (; next + 1 < Stages; ++next) {
        pipe.producer_acquire();
        if (next < parts) cuda::memcpy_async(block, tiles[next], in + 64 * next, sizeof tiles[0], pipe);
        pipe.producer_commit();
    }
    for (unsigned part = 0; part < parts; ++part, ++next) {
        pipe.consumer_wait();
        block.sync();
        pipe.producer_acquire();
        if (next < parts) cuda::memcpy_async(block, tiles[next % Stages], in + 64 * next, sizeof tiles[0], pipe);
        pipe.producer_commit();
        out[64 * part + threadIdx.x] = tiles[part % Stages][63 - threadIdx.x];
        pipe.consumer_release();
    }
}

__global__ void sum_of_own_copies(const int* in, int* out) {
    __shared__ int tiles[3][64];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    for (unsigned stage = 0; stage < 3; ++stage) {
        cuda::memcpy_async(&tiles[stage][threadIdx.x], &in[64 * stage + threadIdx.x], sizeof(int), pipe);
        pipe.producer_commit();
    }
    cuda::pipeline_consumer_wait_prior<1>(pipe);
    int sum = tiles[0][threadIdx.x] + tiles[1][threadIdx.x];
    cuda::pipeline_consumer_wait_prior<0>(pipe);
    sum += tiles[2][threadIdx.x];
    out[threadIdx.x] = sum;
}

template <unsigned Stages>
__global__ void reverse_by_shared_pipeline(const int* in, int* out, unsigned parts) {
    __shared__ alignas(16) int tiles[Stages][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, Stages> state;
    const cg::thread_block block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    unsigned next = 0;
    for (unsigned part = 0; part < parts; ++part) {
        for (; next < parts && next < part + Stages; ++next) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, tiles[next % Stages], in + 64 * next, sizeof tiles[0], pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        out[64 * part + threadIdx.x] = tiles[part % Stages][63 - threadIdx.x];
        pipe.consumer_release();
    }
}

/// The first warp produces, and the other two consume.
template <bool ByRole>
__global__ void reverse_by_roles(const int* in, int* out, unsigned parts) {
    constexpr unsigned stages = 2;
    __shared__ alignas(16) int tiles[stages][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    const cg::thread_block block = cg::this_thread_block();
    const bool produces = threadIdx.x < 32;
    auto work = [&](auto pipe) {
        for (unsigned part = 0; part < parts; ++part) {
            int* const tile = tiles[part % stages];
            if (produces) {
                pipe.producer_acquire();
                cuda::memcpy_async(&tile[2 * threadIdx.x], &in[64 * part + 2 * threadIdx.x], 2 * sizeof(int), pipe);
                pipe.producer_commit();
            } else {
                pipe.consumer_wait();
                out[64 * part + threadIdx.x - 32] = tile[95 - threadIdx.x];
                pipe.consumer_release();
            }
        }
    };
    if constexpr (ByRole) {
        work(cuda::make_pipeline(block, &state, produces ? pipeline_role::producer : pipeline_role::consumer));
    } else {
        work(cuda::make_pipeline(block, &state, std::size_t{32}));
    }
}

// ---- primitives ------------------------------------------------------------------------------------------

/// Reverses parts of 64 values, two of them in flight at a time.
__global__ void reverse_by_primitives(const int* in, int* out, unsigned parts) {
    __shared__ int tile[2][64];
    const unsigned i = threadIdx.x;
    if (parts > 0) __pipeline_memcpy_async(&tile[0][i], in + i, sizeof(int));
    __pipeline_commit();
    for (unsigned part = 0; part < parts; ++part) {
        if (part + 1 < parts) {
            __pipeline_memcpy_async(&tile[(part + 1) % 2][i], in + (part + 1) * 64 + i, sizeof(int));
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        out[part * 64 + i] = tile[part % 2][63 - i];
        __syncthreads();
    }
}

/// The first values of each four, and zeros for the others.
__global__ void copy_with_zeros(const int* in, int* out) {
    __shared__ __align__(16) int tile[4 * 32];
    const unsigned i = threadIdx.x;
    __pipeline_memcpy_async(tile + 4 * i, in + 4 * i, 16, 4 * (i % 5));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    for (unsigned k = 0; k < 4; ++k) out[4 * i + k] = tile[4 * i + k];
}

}  // namespace

TEST_CASE("a barrier waits for the arrivals of each phase") {
    device_or_skip();
    const int rounds = GENERATE(0, 1, 2, 7);
    const std::vector<int> out = results_of<int>(96, [&](int* d_out) { rotate_by_phases<<<1, 96>>>(d_out, rounds); });
    for (int i = 0; i < 96; ++i) CHECK(out[static_cast<std::size_t>(i)] == (i + rounds) % 96);
}

TEST_CASE("a thread may do something between its arrival at a barrier and its wait") {
    device_or_skip();
    const std::vector<int> out = results_of<int>(64, [](int* d_out) { arrive_and_wait_later<<<1, 64>>>(d_out); });
    for (int i = 0; i < 64; ++i) CHECK(out[static_cast<std::size_t>(i)] == 3 * (63 - i) + i);
}

TEST_CASE("a barrier counts arrivals, whoever makes them") {
    device_or_skip();
    const std::vector<int> by_warp =
        results_of<int>(128, [](int* d_out) { one_arrival_for_each_warp<<<1, 128>>>(d_out); });
    for (int i = 0; i < 128; ++i) CHECK(by_warp[static_cast<std::size_t>(i)] == 127 - i);
    const std::vector<int> several =
        results_of<int>(32, [](int* d_out) { several_arrivals_at_once<<<1, 32>>>(d_out); });
    CHECK(several == std::vector<int>(32, 31 * 32 / 2));
}

TEST_CASE("who drops out of a barrier is not waited for any more") {
    device_or_skip();
    const std::vector<int> out = results_of<int>(64, [](int* d_out) { leave_one_by_one<<<1, 64>>>(d_out); });
    for (int i = 0; i < 64; ++i) CHECK(out[static_cast<std::size_t>(i)] == i / 8);
}

TEST_CASE("two barriers let two warps take turns") {
    device_or_skip();
    const int rounds = GENERATE(0, 1, 2, 9);
    const std::vector<int> out = results_of<int>(64, [&](int* d_out) { take_turns<<<1, 64>>>(d_out, rounds); });
    for (std::size_t i = 0; i < 64; ++i) CHECK(out[i] == (i < 32 ? 0 : rounds * (rounds + 1) / 2));
}

TEMPLATE_TEST_CASE("a group copies to shared memory and waits", "", unsigned char, short, int, double) {
    device_or_skip();
    const auto out = results_from<TestType>(
        192, 192, [](const TestType* d_in, TestType* d_out) { reverse_by_group<<<1, 64>>>(d_in, d_out); });
    CHECK(out == reversed_in_parts<TestType>(192, 64));
}

TEST_CASE("a group waits for all copies but the last") {
    device_or_skip();
    const unsigned parts = GENERATE(1u, 2u, 5u);
    const auto out = results_from<int>(64 * parts, 64 * parts, [&](const int* d_in, int* d_out) {
        reverse_with_two_tiles<<<1, 64>>>(d_in, d_out, parts);
    });
    CHECK(out == reversed_in_parts(64 * parts, 64));
}

TEMPLATE_TEST_CASE("copies complete a phase of a barrier", "", unsigned char, short, int, double) {
    device_or_skip();
    const auto any = results_from<TestType>(192, 192, [](const TestType* d_in, TestType* d_out) {
        reverse_by_barrier<TestType, false><<<1, 64>>>(d_in, d_out);
    });
    CHECK(any == reversed_in_parts<TestType>(192, 64));
    const auto aligned = results_from<TestType>(192, 192, [](const TestType* d_in, TestType* d_out) {
        reverse_by_barrier<TestType, true><<<1, 64>>>(d_in, d_out);
    });
    CHECK(aligned == reversed_in_parts<TestType>(192, 64));
}

TEST_CASE("each thread copies an element of its own") {
    device_or_skip();
    const auto by_barrier =
        results_from<int>(64, 64, [](const int* d_in, int* d_out) { copy_own_element<<<1, 64>>>(d_in, d_out); });
    CHECK(by_barrier == reversed_in_parts(64, 64));
    const auto by_pipeline =
        results_from<int>(192, 64, [](const int* d_in, int* d_out) { sum_of_own_copies<<<1, 64>>>(d_in, d_out); });
    for (int i = 0; i < 64; ++i) CHECK(by_pipeline[static_cast<std::size_t>(i)] == 3 * i + 64 + 128);
}

TEST_CASE("stages of a pipeline are waited for in their order") {
    device_or_skip();
    const unsigned parts = GENERATE(0u, 1u, 2u, 3u, 4u, 11u);
    const std::size_t count = 64 * parts;
    const auto check = [&](void (*kernel)(const int*, int*, unsigned), unsigned threads) {
        const auto out = results_from<int>(
            count + 1, count + 1, [&](const int* d_in, int* d_out) { kernel<<<1, threads>>>(d_in, d_out, parts); });
        CHECK(std::vector<int>(out.begin(), out.end() - 1) == reversed_in_parts(count, 64));
    };
    check(reverse_by_own_pipeline<2>, 64);
    check(reverse_by_own_pipeline<4>, 64);
    check(reverse_by_shared_pipeline<1>, 64);
    check(reverse_by_shared_pipeline<3>, 64);
    check(reverse_by_roles<false>, 96);
    check(reverse_by_roles<true>, 96);
}

TEST_CASE("a thread waits for all groups of its copies but the last") {
    device_or_skip();
    const unsigned parts = GENERATE(0u, 1u, 2u, 7u);
    const std::size_t count = 64 * parts;
    const auto out = results_from<int>(count + 1, count + 1, [&](const int* d_in, int* d_out) {
        reverse_by_primitives<<<1, 64>>>(d_in, d_out, parts);
    });
    CHECK(std::vector<int>(out.begin(), out.end() - 1) == reversed_in_parts(count, 64));
}

TEST_CASE("the end of a copy is filled with zeros") {
    device_or_skip();
    const auto out =
        results_from<int>(128, 128, [](const int* d_in, int* d_out) { copy_with_zeros<<<1, 32>>>(d_in, d_out); });
    for (int i = 0; i < 128; ++i) CHECK(out[static_cast<std::size_t>(i)] == (i % 4 < 4 - i / 4 % 5 ? i : 0));
}
