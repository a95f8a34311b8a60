// CUB as it should be used: barriers between two uses of the same storage, storage of its own for each use, all threads
// in every call.
#include <algorithm>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cuda/functional>
#include <vector>

#include "common/tests/corpus/correct/expect.h"

namespace corpus {
namespace {

__global__ void sum_and_most(const int* in, int* out, int rounds) {
    using Reduce = cub::BlockReduce<int, 96>;
    __shared__ typename Reduce::TempStorage storage;
    for (int round = 0; round < rounds; ++round) {
        const int sum = Reduce(storage).Sum(in[96 * round + threadIdx.x]);
        __syncthreads();
        const int most = Reduce(storage).Reduce(in[96 * round + threadIdx.x], cuda::maximum<>());
        __syncthreads();
        if (threadIdx.x == 0) {
            out[2 * round] = sum;
            out[2 * round + 1] = most;
        }
    }
}

void reduce_storage_after_a_barrier() {
    const std::vector<int> in = scrambled(3 * 96, 1000);
    DeviceBuffer<int> d_in(in), d_out(6);
    sum_and_most<<<1, 96>>>(d_in.data(), d_out.data(), 3);
    check_finished();
    std::vector<int> wanted(6);
    for (int i = 0; i < 3 * 96; ++i) {
        wanted[2 * (i / 96)] += in[i];
        if (in[i] > wanted[2 * (i / 96) + 1]) wanted[2 * (i / 96) + 1] = in[i];
    }
    expect_equal(d_out.download(), wanted);
}

__global__ void two_storages(const int* in, int* out) {
    using Reduce = cub::BlockReduce<int, 64>;
    __shared__ typename Reduce::TempStorage storage[2];
    const int sum = Reduce(storage[0]).Sum(in[threadIdx.x]);
    const int least = Reduce(storage[1]).Reduce(in[threadIdx.x], cuda::minimum<>());
    if (threadIdx.x == 0) {
        out[0] = sum;
        out[1] = least;
    }
}

void a_storage_for_each_use() {
    DeviceBuffer<int> d_in(sequence<int>(64, [](int i) { return i + 5; })), d_out(2);
    two_storages<<<1, 64>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), {64 * 5 + 63 * 32, 5});
}

__global__ void sort_tile(int* values) {
    using Load = cub::BlockLoad<int, 64, 4, cub::BLOCK_LOAD_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<int, 64, 4>;
    using Store = cub::BlockStore<int, 64, 4, cub::BLOCK_STORE_TRANSPOSE>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Sort::TempStorage sort;
        typename Store::TempStorage store;
    } storage;
    int items[4];
    Load(storage.load).Load(values, items);
    __syncthreads();
    Sort(storage.sort).Sort(items);
    __syncthreads();
    Store(storage.store).Store(values, items);
}

void union_with_barriers() {
    std::vector<int> values = scrambled(256, 500);
    DeviceBuffer<int> d_values(values);
    sort_tile<<<1, 64>>>(d_values.data());
    check_finished();
    std::sort(values.begin(), values.end());
    expect_equal(d_values.download(), values);
}

__global__ void storage_per_warp(const int* in, int* out) {
    using Reduce = cub::WarpReduce<int, 16>;
    __shared__ typename Reduce::TempStorage storage[6];
    const int sum = Reduce(storage[threadIdx.x / 16]).Sum(in[threadIdx.x]);
    if (threadIdx.x % 16 == 0) out[threadIdx.x / 16] = sum;
}

void parts_of_warps() {
    DeviceBuffer<int> d_in(sequence<int>(96, [](int i) { return i; })), d_out(6);
    storage_per_warp<<<1, 96>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<int>(6, [](int w) { return 16 * (16 * w) + 120; }));
}

__global__ void warps_exchange(const int* in, int* out) {
    using Exchange = cub::BlockExchange<int, 64, 3>;
    __shared__ typename Exchange::TempStorage storage;
    int items[3];
    for (int i = 0; i < 3; ++i) items[i] = in[threadIdx.x / 32 * 96 + i * 32 + threadIdx.x % 32];
    Exchange(storage).WarpStripedToBlocked(items);
    for (int i = 0; i < 3; ++i) items[i] *= 2;
    __syncwarp();
    Exchange(storage).BlockedToWarpStriped(items);
    for (int i = 0; i < 3; ++i) out[threadIdx.x / 32 * 96 + i * 32 + threadIdx.x % 32] = items[i];
}

void exchange_within_warps() {
    DeviceBuffer<int> d_in(sequence<int>(192, [](int i) { return i; })), d_out(192);
    warps_exchange<<<1, 64>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<int>(192, [](int i) { return 2 * i; }));
}

void algorithms_one_after_the_other() {
    const std::vector<int> in = scrambled(1009, 100);
    DeviceBuffer<int> d_in(in), d_out(1009), d_sum(1);
    std::size_t bytes = 0, more = 0;
    check(cub::DeviceScan::InclusiveSum(nullptr, bytes, d_in.data(), d_out.data(), 1009));
    check(cub::DeviceReduce::Sum(nullptr, more, d_out.data(), d_sum.data(), 1009));
    DeviceBuffer<unsigned char> storage(bytes > more ? bytes : more);
    check(cub::DeviceScan::InclusiveSum(storage.data(), bytes, d_in.data(), d_out.data(), 1009));
    check(cub::DeviceReduce::Sum(storage.data(), more, d_out.data(), d_sum.data(), 1009));
    check_finished();
    int prefix = 0, sum = 0;
    for (const int value : in) sum += prefix += value;
    expect_equal(d_sum.download()[0], sum);
}

__global__ void write_each(int* out) { out[threadIdx.x] = static_cast<int>(threadIdx.x); }

void algorithm_on_managed_memory() {
    int* values = nullptr;
    check(cudaMallocManaged(&values, 64 * sizeof *values));
    DeviceBuffer<int> d_sum(1);
    std::size_t bytes = 0;
    check(cub::DeviceReduce::Sum(nullptr, bytes, values, d_sum.data(), 64));
    DeviceBuffer<unsigned char> storage(bytes);
    write_each<<<1, 64>>>(values);
    check(cub::DeviceReduce::Sum(storage.data(), bytes, values, d_sum.data(), 64));
    check_finished();
    expect_equal(d_sum.download()[0], 63 * 64 / 2);
    check(cudaFree(values));
}

}  // namespace

CaseList correct_cub() {
    return {__FILE__,
            {{"reduce_storage_after_a_barrier", "__syncthreads() before each new use", reduce_storage_after_a_barrier},
             {"a_storage_for_each_use", "no barrier is needed", a_storage_for_each_use},
             {"union_with_barriers", "load, sort, and store in the same memory", union_with_barriers},
             {"parts_of_warps", "logical warps of 16 lanes", parts_of_warps},
             {"exchange_within_warps", "__syncwarp() between two exchanges", exchange_within_warps},
             {"algorithms_one_after_the_other", "the same storage in stream order", algorithms_one_after_the_other},
             {"algorithm_on_managed_memory", "after a kernel of the same stream", algorithm_on_managed_memory}}};
}

}  // namespace corpus
