// Warp-wide functions: shuffles, votes, matches, reductions and __syncwarp.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <type_traits>
#include <vector>

#include "common/tests/device/results_of.h"
#include "common/tests/device_or_skip.h"

namespace {

constexpr unsigned full = 0xFFFFFFFFu;

enum class Shuffle { index, up, down, exclusive_or };

struct Case {
    Shuffle kind;
    int operand;
    int width;
};

/// A value that tells the lane, and in 64-bit types uses both halves.
template <class T>
__host__ __device__ T value_of(unsigned thread) {
    if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(thread) + static_cast<T>(0.25);
    } else if constexpr (sizeof(T) == 8) {
        return static_cast<T>(thread * 0x0101000000000101ull);
    } else {
        return static_cast<T>(thread * 0x01000011u);
    }
}

template <class T>
__device__ T shuffle(const Case& c, unsigned mask, T value) {
    switch (c.kind) {
        case Shuffle::index:
            return __shfl_sync(mask, value, c.operand, c.width);
        case Shuffle::up:
            return __shfl_up_sync(mask, value, static_cast<unsigned>(c.operand), c.width);
        case Shuffle::down:
            return __shfl_down_sync(mask, value, static_cast<unsigned>(c.operand), c.width);
        case Shuffle::exclusive_or:
            return __shfl_xor_sync(mask, value, c.operand, c.width);
    }
    return T{};
}

template <class T>
__global__ void shuffle_everywhere(const Case* cases, int count, unsigned mask, T* out) {
    if ((mask >> threadIdx.x % 32 & 1) == 0) return;
    for (int i = 0; i < count; ++i) {
        out[i * blockDim.x + threadIdx.x] = shuffle(cases[i], mask, value_of<T>(threadIdx.x));
    }
}

/// Lane that a shuffle reads, after the pseudocode of `shfl.sync` in the PTX ISA.
int source_lane(const Case& c, int lane) {
    const int first = lane / c.width * c.width;
    const int last = first + c.width - 1;
    const int operand = c.operand & 31;
    int source = lane;
    switch (c.kind) {
        case Shuffle::index:
            return first + (c.operand & (c.width - 1));
        case Shuffle::up:
            source = lane - operand;
            return source >= first ? source : lane;
        case Shuffle::down:
            source = lane + operand;
            break;
        case Shuffle::exclusive_or:
            source = lane ^ operand;
            break;
    }
    return source <= last ? source : lane;
}

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    for (const Shuffle kind : {Shuffle::index, Shuffle::up, Shuffle::down, Shuffle::exclusive_or}) {
        for (const int width : {1, 2, 4, 8, 16, 32}) {
            for (const int operand : {0, 1, 2, 3, 5, 8, 15, 16, 31}) cases.push_back({kind, operand, width});
        }
    }
    for (const int source : {-1, 32, 45}) cases.push_back({Shuffle::index, source, 32});
    cases.push_back({Shuffle::index, -3, 8});
    return cases;
}

/// Checks every case in blocks of `threads` threads whose lanes outside `mask` have returned.
template <class T>
void check_shuffles(unsigned mask, int threads) {
    const std::vector<Case> cases = all_cases();
    const int count = static_cast<int>(cases.size());
    Case* d_cases = nullptr;
    REQUIRE(cudaMalloc(&d_cases, cases.size() * sizeof(Case)) == cudaSuccess);
    REQUIRE(cudaMemcpy(d_cases, cases.data(), cases.size() * sizeof(Case), cudaMemcpyHostToDevice) == cudaSuccess);
    const auto out = results_of<T>(cases.size() * static_cast<std::size_t>(threads), [&](T* d_out) {
        shuffle_everywhere<T><<<1, threads>>>(d_cases, count, mask, d_out);
    });
    REQUIRE(cudaFree(d_cases) == cudaSuccess);
    for (int i = 0; i < count; ++i) {
        for (int thread = 0; thread < threads; ++thread) {
            const int source = source_lane(cases[static_cast<std::size_t>(i)], thread % 32);
            const int source_thread = thread / 32 * 32 + source;
            // What comes from a lane that does not take part is undefined.
            if ((mask >> thread % 32 & 1) == 0 || (mask >> source & 1) == 0 || source_thread >= threads) continue;
            const T got = out[static_cast<std::size_t>(i * threads + thread)];
            if (got == value_of<T>(static_cast<unsigned>(source_thread))) continue;
            const Case& c = cases[static_cast<std::size_t>(i)];
            CAPTURE(static_cast<int>(c.kind), c.operand, c.width, thread, source_thread, mask);
            CHECK(got == value_of<T>(static_cast<unsigned>(source_thread)));
            return;
        }
    }
    SUCCEED();
}

__device__ float as_float(__half value) { return __half2float(value); }
__device__ float as_float(__half2 value) { return __low2float(value) + 100 * __high2float(value); }
__device__ float as_float(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ float as_float(__nv_bfloat162 value) { return __low2float(value) + 100 * __high2float(value); }

template <class T>
__device__ T half_of(float value);
template <>
__device__ __half half_of<__half>(float value) {
    return __float2half(value);
}
template <>
__device__ __half2 half_of<__half2>(float value) {
    return __floats2half2_rn(value, value + 1);
}
template <>
__device__ __nv_bfloat16 half_of<__nv_bfloat16>(float value) {
    return __float2bfloat16(value);
}
template <>
__device__ __nv_bfloat162 half_of<__nv_bfloat162>(float value) {
    return __floats2bfloat162_rn(value, value + 1);
}

template <class T>
__global__ void shuffle_halves(float* out) {
    const T value = half_of<T>(static_cast<float>(threadIdx.x));
    out[threadIdx.x] = as_float(__shfl_sync(full, value, 7));
    out[32 + threadIdx.x] = as_float(__shfl_up_sync(full, value, 3, 16));
    out[64 + threadIdx.x] = as_float(__shfl_down_sync(full, value, 3, 16));
    out[96 + threadIdx.x] = as_float(__shfl_xor_sync(full, value, 5));
}

__global__ void promote_small_integers(int* out) {
    const short narrow = static_cast<short>(-2 - static_cast<int>(threadIdx.x));
    const unsigned char byte = static_cast<unsigned char>(200 + threadIdx.x);
    const bool odd = threadIdx.x % 2 == 1;
    out[threadIdx.x] = __shfl_sync(full, narrow, 4);
    out[32 + threadIdx.x] = __shfl_xor_sync(full, byte, 1);
    out[64 + threadIdx.x] = __shfl_down_sync(full, odd, 1);
}

__global__ void shuffle_in_halves_of_a_warp(int* out) {
    const int lane = static_cast<int>(threadIdx.x);
    int value = 3 * lane;
    if (lane < 16) {
        for (int distance = 8; distance > 0; distance /= 2) value += __shfl_xor_sync(0x0000FFFFu, value, distance);
    } else {
        for (int distance = 1; distance < 16; distance *= 2)
            value += __shfl_down_sync(0xFFFF0000u, value, distance, 16);
        value = __shfl_sync(0xFFFF0000u, value, 16);
    }
    out[lane] = value;
}

__global__ void sum_of_a_warp(const int* in, int* out) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = in[thread];
    for (unsigned distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(full, sum, distance);
    if (threadIdx.x % 32 == 0) out[thread / 32] = sum;
}

struct Votes {
    unsigned ballot;
    int any, all;
};

/// Each lane of `mask` votes with its bit of `yes`.
__global__ void vote(unsigned mask, unsigned yes, Votes* out) {
    const unsigned rank = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    if ((mask >> rank % 32 & 1) == 0) return;
    const int predicate = (yes >> rank % 32 & 1) != 0 ? 1 << 20 : 0;
    Votes votes;
    votes.ballot = __ballot_sync(mask, predicate);
    votes.any = __any_sync(mask, predicate);
    votes.all = __all_sync(mask, predicate);
    out[rank] = votes;
}

__global__ void vote_in_thirds(unsigned* out) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned thirds[3] = {0x49249249u, 0x92492492u, 0x24924924u};  // lanes 0, 3, ...; 1, 4, ...; 2, 5, ...
    const bool even = lane % 2 == 0;
    if (lane % 3 == 0) {
        out[threadIdx.x] = __ballot_sync(thirds[0], even);
    } else if (lane % 3 == 1) {
        out[threadIdx.x] = __ballot_sync(thirds[1], even);
    } else {
        out[threadIdx.x] = __ballot_sync(thirds[2], even);
    }
}

__global__ void active_lanes(unsigned* out) {
    out[threadIdx.x] = __activemask();
    if (threadIdx.x < 7) out[32 + threadIdx.x] = __activemask();
}

template <class T>
struct Matches {
    unsigned any, all_different, all_same;
    int different_predicate, same_predicate;
};

template <class T>
__global__ void match(unsigned mask, Matches<T>* out) {
    const unsigned lane = threadIdx.x % 32;
    if ((mask >> lane & 1) == 0) return;
    Matches<T> matches;
    matches.any = __match_any_sync(mask, value_of<T>(lane % 5));
    matches.all_different = __match_all_sync(mask, value_of<T>(lane % 5), &matches.different_predicate);
    matches.all_same = __match_all_sync(mask, value_of<T>(threadIdx.x / 32), &matches.same_predicate);
    out[threadIdx.x] = matches;
}

struct Reductions {
    int add, min, max;
    unsigned unsigned_add, unsigned_min, unsigned_max, bits_and, bits_or, bits_xor;

    bool operator==(const Reductions&) const = default;
};

__host__ __device__ int signed_sample(unsigned thread) { return static_cast<int>(thread * 2654435761u); }
__host__ __device__ unsigned unsigned_sample(unsigned thread) { return thread * 2246822519u | 0x10u; }

__global__ void reduce(unsigned mask, Reductions* out) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    if ((mask >> threadIdx.x % 32 & 1) == 0) return;
    const int number = signed_sample(threadIdx.x);
    const unsigned bits = unsigned_sample(threadIdx.x);
    out[threadIdx.x] = {
        __reduce_add_sync(mask, number), __reduce_min_sync(mask, number), __reduce_max_sync(mask, number),
        __reduce_add_sync(mask, bits),   __reduce_min_sync(mask, bits),   __reduce_max_sync(mask, bits),
        __reduce_and_sync(mask, bits),   __reduce_or_sync(mask, bits),    __reduce_xor_sync(mask, bits)};
#endif
}

Reductions reduce_on_host(unsigned mask, unsigned warp, unsigned threads) {
    Reductions result{0, 2147483647, -2147483647 - 1, 0, full, 0, full, 0, 0};
    unsigned sum = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned thread = 32 * warp + lane;
        if ((mask >> lane & 1) == 0 || thread >= threads) continue;
        const int number = signed_sample(thread);
        const unsigned bits = unsigned_sample(thread);
        sum += static_cast<unsigned>(number);
        if (number < result.min) result.min = number;
        if (number > result.max) result.max = number;
        result.unsigned_add += bits;
        if (bits < result.unsigned_min) result.unsigned_min = bits;
        if (bits > result.unsigned_max) result.unsigned_max = bits;
        result.bits_and &= bits;
        result.bits_or |= bits;
        result.bits_xor ^= bits;
    }
    result.add = static_cast<int>(sum);
    return result;
}

__global__ void rotate_through_shared_memory(int* out) {
    __shared__ int values[64];
    const unsigned thread = threadIdx.x;
    const unsigned neighbor = thread / 32 * 32 + (thread + 1) % 32;
    int value = static_cast<int>(thread);
    for (int turn = 0; turn < 10; ++turn) {
        values[thread] = value;
        __syncwarp();
        value = values[neighbor];
        __syncwarp();
    }
    out[thread] = value;
}

__global__ void exchange_in_part_of_a_warp(int* out) {
    __shared__ int values[8];
    if (threadIdx.x >= 8) return;
    values[threadIdx.x] = static_cast<int>(10 * threadIdx.x);
    __syncwarp(0xFFu);
    out[threadIdx.x] = values[7 - threadIdx.x];
}

__global__ void function_with_a_mask_from_its_caller(int* out) {
    const auto lane = static_cast<int>(threadIdx.x);
    const unsigned small = __ballot_sync(full, lane < 11);
    if (lane < 11) out[lane] = __shfl_sync(small, lane * lane, 10);
}

}  // namespace

TEMPLATE_TEST_CASE("shuffles read the lane that the PTX manual says", "", int, unsigned, long, unsigned long, long long,
                   unsigned long long, float, double) {
    device_or_skip();
    SECTION("in a full warp") { check_shuffles<TestType>(full, 32); }
    SECTION("in several warps") { check_shuffles<TestType>(full, 96); }
    SECTION("in a block whose last warp is not full") { check_shuffles<TestType>(full, 40); }
    SECTION("in the lower half of a warp") { check_shuffles<TestType>(0x0000FFFFu, 32); }
    SECTION("in the upper half of a warp") { check_shuffles<TestType>(0xFFFF0000u, 64); }
    SECTION("in scattered lanes") { check_shuffles<TestType>(0x8421A55Cu, 32); }
    SECTION("in one lane") { check_shuffles<TestType>(0x00100000u, 32); }
}

TEMPLATE_TEST_CASE("shuffles carry half-precision numbers", "", __half, __half2, __nv_bfloat16, __nv_bfloat162) {
    device_or_skip();
    const auto out = results_of<float>(128, [](float* d_out) { shuffle_halves<TestType><<<1, 32>>>(d_out); });
    constexpr bool pair = sizeof(TestType) == 4;
    for (int lane = 0; lane < 32; ++lane) {
        const int sources[4] = {7, lane % 16 >= 3 ? lane - 3 : lane, lane % 16 <= 12 ? lane + 3 : lane, lane ^ 5};
        for (int i = 0; i < 4; ++i) {
            const int expected = pair ? sources[i] + 100 * (sources[i] + 1) : sources[i];
            REQUIRE(out[static_cast<std::size_t>(32 * i + lane)] == static_cast<float>(expected));
        }
    }
}

TEST_CASE("shuffles promote small integers to int") {
    device_or_skip();
    const auto out = results_of<int>(96, [](int* d_out) { promote_small_integers<<<1, 32>>>(d_out); });
    for (int lane = 0; lane < 32; ++lane) {
        REQUIRE(out[static_cast<std::size_t>(lane)] == -6);
        REQUIRE(out[static_cast<std::size_t>(32 + lane)] == 200 + (lane ^ 1));
        REQUIRE(out[static_cast<std::size_t>(64 + lane)] == (lane == 31 ? 1 : (lane + 1) % 2));
    }
}

TEST_CASE("the two halves of a warp shuffle in branches of their own") {
    device_or_skip();
    const auto out = results_of<int>(32, [](int* d_out) { shuffle_in_halves_of_a_warp<<<1, 32>>>(d_out); });
    for (int lane = 0; lane < 32; ++lane) {
        REQUIRE(out[static_cast<std::size_t>(lane)] == (lane < 16 ? 3 * 120 : 3 * (120 + 256)));
    }
}

TEST_CASE("every warp of a grid adds up its own lanes") {
    device_or_skip();
    constexpr int threads = 5 * 256;
    int* d_in = nullptr;
    std::vector<int> in(threads);
    for (int i = 0; i < threads; ++i) in[static_cast<std::size_t>(i)] = i * i % 1009;
    REQUIRE(cudaMalloc(&d_in, threads * sizeof(int)) == cudaSuccess);
    REQUIRE(cudaMemcpy(d_in, in.data(), threads * sizeof(int), cudaMemcpyHostToDevice) == cudaSuccess);
    const auto sums = results_of<int>(threads / 32, [&](int* d_out) { sum_of_a_warp<<<5, 256>>>(d_in, d_out); });
    REQUIRE(cudaFree(d_in) == cudaSuccess);
    for (int warp = 0; warp < threads / 32; ++warp) {
        int expected = 0;
        for (int lane = 0; lane < 32; ++lane) expected += in[static_cast<std::size_t>(32 * warp + lane)];
        REQUIRE(sums[static_cast<std::size_t>(warp)] == expected);
    }
}

TEST_CASE("votes count the lanes that the mask names") {
    device_or_skip();
    const dim3 block = GENERATE(dim3(32), dim3(40), dim3(128), dim3(9, 7), dim3(3, 5, 6));
    const unsigned mask = GENERATE(full, 0x000000FFu, 0xFFFF0000u, 0xA5A5A5A5u);
    const unsigned yes = GENERATE(0u, full, 0x12345678u, 0x00000001u, 0x80000000u);
    const unsigned threads = block.x * block.y * block.z;
    const auto out = results_of<Votes>(threads, [&](Votes* d_out) { vote<<<1, block>>>(mask, yes, d_out); });
    for (unsigned rank = 0; rank < threads; ++rank) {
        if ((mask >> rank % 32 & 1) == 0) continue;
        const unsigned in_warp = threads - rank / 32 * 32;
        const unsigned lanes = mask & (in_warp >= 32 ? full : (1u << in_warp) - 1);
        CAPTURE(threads, mask, yes, rank);
        REQUIRE(out[rank].ballot == (lanes & yes));
        REQUIRE((out[rank].any != 0) == ((lanes & yes) != 0));
        REQUIRE((out[rank].all != 0) == ((lanes & yes) == lanes));
    }
}

TEST_CASE("three parts of a warp vote in three branches") {
    device_or_skip();
    const auto out = results_of<unsigned>(64, [](unsigned* d_out) { vote_in_thirds<<<1, 64>>>(d_out); });
    for (unsigned thread = 0; thread < 64; ++thread) {
        unsigned expected = 0;
        for (unsigned lane = 0; lane < 32; lane += 2) {
            if (lane % 3 == thread % 32 % 3) expected |= 1u << lane;
        }
        REQUIRE(out[thread] == expected);
    }
}

TEST_CASE("the active mask names the caller and nobody outside the branch") {
    device_or_skip();
    const auto out = results_of<unsigned>(39, [](unsigned* d_out) { active_lanes<<<1, 32>>>(d_out); });
    for (unsigned lane = 0; lane < 32; ++lane) REQUIRE((out[lane] >> lane & 1) == 1);
    for (unsigned lane = 0; lane < 7; ++lane) {
        REQUIRE((out[32 + lane] >> lane & 1) == 1);
        REQUIRE((out[32 + lane] & ~0x7Fu) == 0);
    }
}

TEMPLATE_TEST_CASE("matches find the lanes with the same value", "", int, unsigned, long, unsigned long, long long,
                   unsigned long long, float, double) {
    device_or_skip();
    const unsigned mask = GENERATE(full, 0x0000FFFFu, 0x842173C6u);
    const unsigned threads = GENERATE(32u, 64u, 56u);
    const auto out = results_of<Matches<TestType>>(
        threads, [&](Matches<TestType>* d_out) { match<TestType><<<1, threads>>>(mask, d_out); });
    for (unsigned thread = 0; thread < threads; ++thread) {
        if ((mask >> thread % 32 & 1) == 0) continue;
        unsigned lanes = 0;
        unsigned same = 0;
        for (unsigned lane = 0; lane < 32 && thread / 32 * 32 + lane < threads; ++lane) {
            if ((mask >> lane & 1) == 0) continue;
            lanes |= 1u << lane;
            if (lane % 5 == thread % 32 % 5) same |= 1u << lane;
        }
        CAPTURE(mask, threads, thread);
        REQUIRE(out[thread].any == same);
        REQUIRE(out[thread].all_different == 0);
        REQUIRE(out[thread].different_predicate == 0);
        REQUIRE(out[thread].all_same == lanes);
        REQUIRE(out[thread].same_predicate != 0);
    }
}

TEST_CASE("warp reductions combine the lanes that the mask names") {
    device_or_skip();
    cudaDeviceProp properties{};
    REQUIRE(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
    if (properties.major < 8) SKIP("warp reductions need compute capability 8.0");
    const unsigned mask = GENERATE(full, 0x00000001u, 0xFFFF0000u, 0x5A5A0FF1u);
    const unsigned threads = GENERATE(32u, 96u, 60u);
    const auto out = results_of<Reductions>(threads, [&](Reductions* d_out) { reduce<<<1, threads>>>(mask, d_out); });
    for (unsigned thread = 0; thread < threads; ++thread) {
        if ((mask >> thread % 32 & 1) == 0) continue;
        CAPTURE(mask, threads, thread);
        REQUIRE(out[thread] == reduce_on_host(mask, thread / 32, threads));
    }
}

TEST_CASE("__syncwarp lets lanes see what others wrote to shared memory") {
    device_or_skip();
    const auto out = results_of<int>(64, [](int* d_out) { rotate_through_shared_memory<<<1, 64>>>(d_out); });
    for (int thread = 0; thread < 64; ++thread) {
        REQUIRE(out[static_cast<std::size_t>(thread)] == thread / 32 * 32 + (thread + 10) % 32);
    }
    const auto part = results_of<int>(8, [](int* d_out) { exchange_in_part_of_a_warp<<<1, 32>>>(d_out); });
    CHECK(part == std::vector<int>{70, 60, 50, 40, 30, 20, 10, 0});
}

TEST_CASE("a mask may come from a vote before the branch") {
    device_or_skip();
    const auto out = results_of<int>(11, [](int* d_out) { function_with_a_mask_from_its_caller<<<1, 32>>>(d_out); });
    CHECK(out == std::vector<int>(11, 100));
}
