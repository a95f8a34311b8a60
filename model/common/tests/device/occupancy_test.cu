// How many blocks fit on a multiprocessor, and the calls that choose a launch shape by it.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>

#ifdef __CPU_DEVICE__
#include "cpu_device/occupancy.h"

using cpu_device::occupancy;
using cpu_device::OccupancyLimit;
#endif

namespace {

/// So small that registers limit nothing.
__global__ void copy_through_shared(float* data, int count) {
    extern __shared__ float staged[];
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) staged[i] = data[i];
    __syncthreads();
    if (i < count) data[i] = staged[count - 1 - i];
}

template <class T>
__global__ void fill(T* data, T value) {
    data[threadIdx.x] = value;
}

__global__ void asks_for_more() {
    __shared__ int own[256];
    own[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    if (own[(threadIdx.x + 1) % 32] > 31) __trap();
}
template <class T>
__global__ void asks_for_nothing() {}

struct BytesOfBlock {
    __host__ __device__ size_t operator()(int threads) const { return static_cast<size_t>(threads) * 128; }
};

int resident_blocks(int threads, size_t shared_bytes) {
    int blocks = -1;
    REQUIRE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, copy_through_shared, threads, shared_bytes) ==
            cudaSuccess);
    return blocks;
}

cudaDeviceProp properties() {
    cudaDeviceProp p{};
    REQUIRE(cudaGetDeviceProperties(&p, 0) == cudaSuccess);
    return p;
}

}  // namespace

TEST_CASE("whole warps of a block share the multiprocessor's threads") {
    const int threads_per_sm = properties().maxThreadsPerMultiProcessor;
    CHECK(resident_blocks(256, 0) == threads_per_sm / 256);
    CHECK(resident_blocks(96, 0) == threads_per_sm / 96);
    CHECK(resident_blocks(100, 0) == threads_per_sm / 128);
    CHECK(resident_blocks(1, 0) == properties().maxBlocksPerMultiProcessor);
    CHECK(resident_blocks(1025, 0) == 0);
}

TEST_CASE("shared memory beyond 48 KB must be asked for") {
    const cudaDeviceProp p = properties();
    CHECK(resident_blocks(128, 48 * 1024 + 1) == 0);
    const int most = static_cast<int>(p.sharedMemPerBlockOptin);
    CHECK(cudaFuncSetAttribute(copy_through_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, most) == cudaSuccess);
    CHECK(resident_blocks(128, p.sharedMemPerBlockOptin) == 1);
    CHECK(resident_blocks(128, p.sharedMemPerBlockOptin + 1) == 0);
    const size_t half = p.sharedMemPerMultiprocessor / 2 - p.reservedSharedMemPerBlock;
    CHECK(resident_blocks(128, half) == 2);
    CHECK(resident_blocks(128, half + 1) == 1);

    cudaFuncAttributes attributes{};
    CHECK(cudaFuncGetAttributes(&attributes, copy_through_shared) == cudaSuccess);
    CHECK(attributes.maxDynamicSharedSizeBytes == most);
    CHECK(attributes.numRegs > 0);
    CHECK(attributes.maxThreadsPerBlock == 1024);
    CHECK(cudaFuncSetAttribute(copy_through_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1) ==
          cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(copy_through_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 48 * 1024) ==
          cudaSuccess);
    cudaGetLastError();
}

TEST_CASE("a kernel may have the dynamic shared memory that was allowed to it, and not to others") {
    const auto error_of = [](auto kernel, size_t bytes) {
        kernel<<<1, 32, bytes>>>();
        const cudaError_t error = cudaGetLastError();
        return error == cudaSuccess ? cudaDeviceSynchronize() : error;
    };
    CHECK(cudaFuncSetAttribute(asks_for_more, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024) == cudaSuccess);
    asks_for_more<<<1, 32, 64 * 1024>>>();
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(error_of(asks_for_more, 64 * 1024) == cudaSuccess);  // beside 1 KB of its own
    CHECK(error_of(asks_for_more, 64 * 1024 + 1) == cudaErrorInvalidValue);
    asks_for_nothing<int><<<1, 32, 64 * 1024>>>();
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(error_of(asks_for_nothing<int>, 48 * 1024) == cudaSuccess);
    CHECK(cudaFuncSetAttribute(asks_for_more, cudaFuncAttributeMaxDynamicSharedMemorySize, 0) == cudaSuccess);
    CHECK(error_of(asks_for_more, 0) == cudaSuccess);
    CHECK(error_of(asks_for_more, 4) == cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(asks_for_more, cudaFuncAttributeMaxDynamicSharedMemorySize, 48 * 1024) == cudaSuccess);
}

TEST_CASE("the best block size fills the multiprocessors") {
    const cudaDeviceProp p = properties();
    int grid = 0, block = 0;
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, copy_through_shared) == cudaSuccess);
    CHECK(block % 32 == 0);
    CHECK(grid * block == p.multiProcessorCount * p.maxThreadsPerMultiProcessor);
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, fill<float>, 0, 100) == cudaSuccess);
    CHECK(block == 64);  // 2048 threads at a time; 96 would give 2016
    CHECK(grid == 32 * p.multiProcessorCount);
}

TEST_CASE("the best block size takes its shared memory into account") {
    CHECK(cudaFuncSetAttribute(copy_through_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024) ==
          cudaSuccess);
    int grid = 0, block = 0;
    CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, copy_through_shared, BytesOfBlock{}) ==
          cudaSuccess);
    CHECK(block == 896);  // 112 KB: two blocks
    CHECK(grid == 2 * properties().multiProcessorCount);
}

TEST_CASE("wrong questions about occupancy are refused") {
    int blocks = -7;
    size_t bytes = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, copy_through_shared, 0, 0) == cudaErrorInvalidValue);
    CHECK(blocks == -7);
    CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, copy_through_shared, 3, 1024) == cudaErrorInvalidValue);
    CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, copy_through_shared, 0, 64) == cudaErrorInvalidValue);
    cudaGetLastError();
}

#ifdef __CPU_DEVICE__

TEST_CASE("as many blocks fit as the call says when each takes what is available") {
    CHECK(cudaFuncSetAttribute(copy_through_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024) ==
          cudaSuccess);
    for (int blocks : {1, 2, 3, 7, 16, 31, 32}) {
        size_t bytes = 0;
        CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, copy_through_shared, blocks, 64) == cudaSuccess);
        CHECK(resident_blocks(64, bytes) >= blocks);
        CHECK(resident_blocks(64, bytes + 128) < blocks);
    }
}

TEST_CASE("occupancy names what limits it") {
    const auto is = [](cpu_device::Occupancy o, int blocks, OccupancyLimit limit) {
        return o.blocks_per_sm == blocks && o.limit == limit;
    };
    CHECK(is(occupancy(32, 32, 0), 32, OccupancyLimit::blocks));
    CHECK(is(occupancy(256, 32, 0), 8, OccupancyLimit::threads));
    CHECK(is(occupancy(1024, 32, 0), 2, OccupancyLimit::threads));
    CHECK(is(occupancy(256, 40, 0), 6, OccupancyLimit::registers));  // 12 warps a quarter of the register file
    CHECK(is(occupancy(1024, 64, 0), 1, OccupancyLimit::registers));
    CHECK(is(occupancy(256, 255, 0), 1, OccupancyLimit::registers));
    CHECK(is(occupancy(128, 32, 48 * 1024), 4, OccupancyLimit::shared_memory));
    CHECK(is(occupancy(128, 32, 227 * 1024), 1, OccupancyLimit::shared_memory));
    CHECK(is(occupancy(1024, 65, 0), 0, OccupancyLimit::impossible));  // 72 registers after rounding, of 64
    CHECK(is(occupancy(1025, 32, 0), 0, OccupancyLimit::impossible));
    CHECK(is(occupancy(0, 32, 0), 0, OccupancyLimit::impossible));
    CHECK(is(occupancy(128, 256, 0), 0, OccupancyLimit::impossible));
    CHECK(is(occupancy(128, 32, 227 * 1024 + 1), 0, OccupancyLimit::impossible));
}

#endif
