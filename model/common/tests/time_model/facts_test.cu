// What the CPU device tells the time model of kernels whose instructions, chains and footprints can be worked out.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include "common/helpers/device_buffer.h"
#include "common/helpers/instrument.h"

using Catch::Matchers::WithinRel;
using warpwise::DeviceBuffer;
using warpwise::model::Latency;
using warpwise::model::LaunchFacts;
using warpwise::model::Pipe;

namespace {

__global__ void copy(const float* x, float* y) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i];
}

/// One load after the other: each address comes from memory.
__global__ void chase(const unsigned* next, unsigned* last, int steps) {
    unsigned at = threadIdx.x;
    for (int i = 0; i < steps; ++i) at = next[at];
    last[threadIdx.x] = at;
}

/// Loads that do not depend on each other, which nvcc issues four at a time.
__global__ void sum_columns(const float* __restrict__ x, float* __restrict__ y, int rows) {
    float sum = 0;
    for (int row = 0; row < rows; ++row) sum += x[row * blockDim.x + threadIdx.x];
    y[threadIdx.x] = sum;
}

template <class T>
__global__ void multiply_and_add(T* x, int times) {
    T value = x[threadIdx.x];
    for (int i = 0; i < times; ++i) value = value * T(1.5) + T(0.25);
    x[threadIdx.x] = value;
}

__global__ void count(unsigned* counter) { atomicAdd(counter, threadIdx.x); }

__global__ void wait_twice(float* x) {
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    const float other = tile[threadIdx.x ^ 1];
    __syncthreads();
    x[threadIdx.x] = other;
}

template <class Launch>
LaunchFacts facts_of(Launch launch) {
    const auto launches = warpwise::count_launches(launch, {.lines = false});
    REQUIRE(launches.size() == 1);
    REQUIRE(launches.front().facts.known);
    return launches.front().facts;
}

double of(const LaunchFacts& facts, Pipe pipe) { return facts.instructions[static_cast<std::size_t>(pipe)]; }
double of(const LaunchFacts& facts, Latency latency) { return facts.chain[static_cast<std::size_t>(latency)]; }

}  // namespace

TEST_CASE("a copy touches every sector once, and its warps wait once") {
    if (!warpwise::can_instrument()) SKIP("only the CPU device counts");
    constexpr unsigned n = 1 << 16;
    DeviceBuffer<float> x(n);
    DeviceBuffer<float> y(n);
    x.fill_bytes(0);
    const LaunchFacts facts = facts_of([&] { copy<<<n / 256, 256>>>(x.data(), y.data()); });
    REQUIRE(facts.arrays.size() == 2);
    for (const auto& array : facts.arrays) {
        CHECK_THAT(array.unique_sectors, WithinRel(n / 8.0, 0.02));
        CHECK_THAT(array.load_sectors + array.store_sectors, WithinRel(n / 8.0, 0.001));
    }
    CHECK(of(facts, Latency::global) == 1);
    CHECK_THAT(facts.loads_in_flight(), WithinRel(1.0, 0.001));
    CHECK_THAT(of(facts, Pipe::memory), WithinRel(2.0 * n / 32, 0.001));
    CHECK(of(facts, Pipe::fp32) == 0);
}

TEST_CASE("dependent loads follow each other, independent ones are in flight together") {
    if (!warpwise::can_instrument()) SKIP("only the CPU device counts");
    constexpr int steps = 40;
    DeviceBuffer<unsigned> next(1 << 20);
    DeviceBuffer<unsigned> last(32);
    next.fill_bytes(0);
    const LaunchFacts dependent = facts_of([&] { chase<<<1, 32>>>(next.data(), last.data(), steps); });
    // All but the first two find the sector in L1, which is another wait, but a wait for each.
    CHECK(of(dependent, Latency::global) + of(dependent, Latency::shared) >= steps);

    DeviceBuffer<float> x(32 * steps);
    DeviceBuffer<float> y(32);
    x.fill_bytes(0);
    const LaunchFacts independent = facts_of([&] { sum_columns<<<1, 32>>>(x.data(), y.data(), steps); });
    CHECK(of(independent, Latency::global) == steps / 4);
    CHECK_THAT(independent.loads_in_flight(), WithinRel(4.0, 0.05));
}

TEST_CASE("a product and a sum are one instruction of their pipe, and one wait") {
    if (!warpwise::can_instrument()) SKIP("only the CPU device counts");
    constexpr int times = 200;
    DeviceBuffer<float> x(32);
    x.fill_bytes(0);
    const LaunchFacts floats = facts_of([&] { multiply_and_add<<<1, 32>>>(x.data(), times); });
    CHECK_THAT(of(floats, Pipe::fp32), WithinRel(double{times}, 0.02));
    CHECK_THAT(of(floats, Latency::arithmetic), WithinRel(double{times}, 0.1));
    DeviceBuffer<double> z(32);
    z.fill_bytes(0);
    const LaunchFacts doubles = facts_of([&] { multiply_and_add<<<1, 32>>>(z.data(), times); });
    CHECK_THAT(of(doubles, Pipe::fp64), WithinRel(double{times}, 0.02));
    CHECK_THAT(of(doubles, Latency::fp64), WithinRel(double{times}, 0.1));
    CHECK(of(doubles, Pipe::fp32) == 0);
}

TEST_CASE("the address with the most atomics is known") {
    if (!warpwise::can_instrument()) SKIP("only the CPU device counts");
    DeviceBuffer<unsigned> counter(1);
    counter.fill_bytes(0);
    const LaunchFacts facts = facts_of([&] { count<<<16, 64>>>(counter.data()); });
    CHECK(facts.hottest_address == 16 * 64);
    CHECK(facts.global_atomic_lanes == 16 * 64);
}

TEST_CASE("barriers and shared memory are waits of the chain") {
    if (!warpwise::can_instrument()) SKIP("only the CPU device counts");
    DeviceBuffer<float> x(64);
    x.fill_bytes(0);
    const LaunchFacts facts = facts_of([&] { wait_twice<<<1, 64>>>(x.data()); });
    CHECK(of(facts, Latency::barrier) == 1);  // the load from shared memory outlasts the second one
    CHECK(of(facts, Latency::shared) == 1);
    CHECK(facts.shared_wavefronts == 4);
    CHECK(facts.shared_bytes == 256);
}
