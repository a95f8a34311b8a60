// The order of threads and blocks: ascending by default, shuffled by a seed, the same on any number of cores; and
// threads that wait for each other by spinning.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <numeric>
#include <vector>

#include "cpu_device/diagnostics.h"
#include "cpu_device/execution.h"

namespace {

struct DefaultSchedule {
    ~DefaultSchedule() {
        cpu_device::set_schedule_seed(0);
        cpu_device::set_cores(2);
    }
};

__global__ void note_order(unsigned* ticket, unsigned* order) {
    order[atomicAdd(ticket, 1u)] = blockIdx.x * blockDim.x + threadIdx.x;
}

std::vector<unsigned> order_of_threads(unsigned blocks, unsigned threads, std::uint64_t seed) {
    cpu_device::set_cores(1);
    cpu_device::set_schedule_seed(seed);
    unsigned* ticket = nullptr;
    unsigned* d_order = nullptr;
    REQUIRE(cudaMalloc(&ticket, sizeof(unsigned)) == cudaSuccess);
    REQUIRE(cudaMalloc(&d_order, blocks * threads * sizeof(unsigned)) == cudaSuccess);
    REQUIRE(cudaMemset(ticket, 0, sizeof(unsigned)) == cudaSuccess);
    note_order<<<blocks, threads>>>(ticket, d_order);
    std::vector<unsigned> order(blocks * threads);
    REQUIRE(cudaMemcpy(order.data(), d_order, order.size() * sizeof(unsigned), cudaMemcpyDeviceToHost) == cudaSuccess);
    REQUIRE(cudaFree(ticket) == cudaSuccess);
    REQUIRE(cudaFree(d_order) == cudaSuccess);
    return order;
}

bool is_permutation(std::vector<unsigned> order) {
    std::sort(order.begin(), order.end());
    for (unsigned i = 0; i < order.size(); ++i) {
        if (order[i] != i) return false;
    }
    return true;
}

__global__ void count_under_lock(int* lock, int* counter) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    const int seen = *counter;
    *counter = seen + 1;
    __threadfence();
    atomicExch(lock, 0);
}

__global__ void hand_made_grid_barrier(unsigned* arrived, int* before, int* sum) {
    before[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
    __threadfence();
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1u);
        while (atomicAdd(arrived, 0u) < gridDim.x) {
        }
    }
    __syncthreads();
    int total = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) total += before[i];
    if (threadIdx.x == 0) sum[blockIdx.x] = total;
}

__global__ void write_coordinates(uint3* thread, uint3* block) {
    const unsigned rank = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned place = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned i = place * blockDim.x * blockDim.y * blockDim.z + rank;
    thread[i] = threadIdx;
    block[i] = blockIdx;
    __syncthreads();
    thread[i] = threadIdx;  // still the same after others ran
}

}  // namespace

TEST_CASE("threads and blocks run in ascending order without a seed") {
    const DefaultSchedule afterwards;
    std::vector<unsigned> expected(7 * 40);
    std::iota(expected.begin(), expected.end(), 0u);
    CHECK(order_of_threads(7, 40, 0) == expected);
}

TEST_CASE("a seed shuffles threads and blocks, the same way every time") {
    const DefaultSchedule afterwards;
    // The launch's number takes part, so that two launches of one program see two orders.
    const std::vector<unsigned> first = order_of_threads(8, 64, 5);
    CHECK(is_permutation(first));
    CHECK_FALSE(std::is_sorted(first.begin(), first.end()));
    CHECK_FALSE(std::is_sorted(first.begin(), first.begin() + 64));
    CHECK(order_of_threads(8, 64, 6) != first);
}

TEST_CASE("every thread knows its place for every shape, order and number of cores") {
    const DefaultSchedule afterwards;
    for (const dim3 shape : {dim3(1), dim3(33), dim3(5, 3), dim3(3, 5, 7), dim3(1, 1, 64), dim3(32, 32)}) {
        for (const std::uint64_t seed : {0, 1, 99}) {
            for (const unsigned cores : {1u, 2u}) {
                cpu_device::set_schedule_seed(seed);
                cpu_device::set_cores(cores);
                const dim3 grid(4, 3, 2);
                const unsigned in_block = shape.x * shape.y * shape.z;
                uint3 *thread = nullptr, *block = nullptr;
                REQUIRE(cudaMallocManaged(&thread, 24 * in_block * sizeof(uint3)) == cudaSuccess);
                REQUIRE(cudaMallocManaged(&block, 24 * in_block * sizeof(uint3)) == cudaSuccess);
                write_coordinates<<<grid, shape>>>(thread, block);
                REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
                bool right = true;
                for (unsigned i = 0; i < 24 * in_block; ++i) {
                    const unsigned rank = thread[i].x + shape.x * (thread[i].y + shape.y * thread[i].z);
                    const unsigned place = block[i].x + grid.x * (block[i].y + grid.y * block[i].z);
                    right &= rank == i % in_block && place == i / in_block;
                }
                CHECK(right);
                REQUIRE(cudaFree(thread) == cudaSuccess);
                REQUIRE(cudaFree(block) == cudaSuccess);
            }
        }
    }
}

TEST_CASE("a lock that threads of many blocks spin on is taken by each of them") {
    const DefaultSchedule afterwards;
    for (const unsigned cores : {1u, 2u}) {
        cpu_device::set_cores(cores);
        int* words = nullptr;
        REQUIRE(cudaMallocManaged(&words, 2 * sizeof(int)) == cudaSuccess);
        words[0] = words[1] = 0;
        count_under_lock<<<64, 64>>>(&words[0], &words[1]);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        CHECK(words[1] == 64 * 64);
        REQUIRE(cudaFree(words) == cudaSuccess);
    }
}

TEST_CASE("blocks may wait for blocks that come later, as long as a GPU would hold them all") {
    const DefaultSchedule afterwards;
    for (const unsigned cores : {1u, 2u}) {
        cpu_device::set_cores(cores);
        constexpr int blocks = 32;
        unsigned* arrived = nullptr;
        int *before = nullptr, *sum = nullptr;
        REQUIRE(cudaMallocManaged(&arrived, sizeof(unsigned)) == cudaSuccess);
        REQUIRE(cudaMallocManaged(&before, blocks * sizeof(int)) == cudaSuccess);
        REQUIRE(cudaMallocManaged(&sum, blocks * sizeof(int)) == cudaSuccess);
        *arrived = 0;
        hand_made_grid_barrier<<<blocks, 64>>>(arrived, before, sum);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        for (int i = 0; i < blocks; ++i) CHECK(sum[i] == blocks * (blocks + 1) / 2);
        REQUIRE(cudaFree(arrived) == cudaSuccess);
        REQUIRE(cudaFree(before) == cudaSuccess);
        REQUIRE(cudaFree(sum) == cudaSuccess);
    }
}
