// CUB: storage that is used again too early, primitives to which not all threads come, and arrays that are not what an
// algorithm was told they are.
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_partition.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <cub/device/device_select.cuh>
#include <cuda/functional>
#include <vector>

#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;

using Reduce = cub::BlockReduce<int, 64>;
using Scan = cub::BlockScan<int, 64>;

std::vector<int> ascending(std::size_t count) {
    std::vector<int> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<int>(i);
    return values;
}

template <class Kernel>
void run(Kernel kernel, unsigned threads = 64) {
    DeviceBuffer<int> d_in(ascending(256)), d_out(256);
    kernel<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void sum_and_most(const int* in, int* out) {
    __shared__ typename Reduce::TempStorage storage;
    const int sum = Reduce(storage).Sum(in[threadIdx.x]);  // OTHER: thread 0 reads the sums of the warps
    const int most = Reduce(storage).Reduce(in[threadIdx.x], cuda::maximum<>());  // MISTAKE(data_race): no barrier
    if (threadIdx.x == 0) {
        out[0] = sum;
        out[1] = most;
    }
}

void reduce_storage_used_again() { run(sum_and_most); }

__global__ void sums_in_loop(const int* in, int* out) {
    __shared__ typename Reduce::TempStorage storage;
    for (int part = 0; part < 3; ++part) {
        const int sum = Reduce(storage).Sum(in[64 * part + threadIdx.x]);  // MISTAKE(data_race): no barrier in the loop
        if (threadIdx.x == 0) out[part] = sum;
    }
}

void reduce_storage_in_a_loop() { run(sums_in_loop); }

__global__ void scan_then_reduce(const int* in, int* out) {
    __shared__ union {
        typename Scan::TempStorage scan;
        typename Reduce::TempStorage reduce;
    } storage;
    int before;
    Scan(storage.scan).ExclusiveSum(in[threadIdx.x], before);  // OTHER: all threads read the sums of the warps
    out[threadIdx.x] = before;
    const int sum = Reduce(storage.reduce).Sum(before);  // MISTAKE(data_race): the same memory, and no barrier
    if (threadIdx.x == 0) out[64] = sum;
}

void union_of_scan_and_reduce() { run(scan_then_reduce); }

__global__ void load_then_scan(const int* in, int* out) {
    using Load = cub::BlockLoad<int, 64, 2, cub::BLOCK_LOAD_TRANSPOSE>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Scan::TempStorage scan;
    } storage;
    int values[2];
    Load(storage.load).Load(in, values);              // OTHER: its values lie there
    Scan(storage.scan).InclusiveSum(values, values);  // MISTAKE(data_race): overwrites what others still read
    out[2 * threadIdx.x] = values[0];
    out[2 * threadIdx.x + 1] = values[1];
}

void union_of_load_and_scan() { run(load_then_scan); }

__global__ void exchange_twice(const int* in, int* out) {
    using Exchange = cub::BlockExchange<int, 64, 2>;
    __shared__ typename Exchange::TempStorage storage;
    int values[2] = {in[threadIdx.x], in[threadIdx.x + 64]};
    Exchange(storage).StripedToBlocked(values);  // OTHER: reads what others have written
    values[0] += 1;
    Exchange(storage).StripedToBlocked(values);  // MISTAKE(data_race): no barrier between the two
    out[threadIdx.x] = values[0];
    out[threadIdx.x + 64] = values[1];
}

void exchange_storage_used_again() { run(exchange_twice); }

__global__ void reduce_of_one_warp(const int* in, int* out) {
    __shared__ typename Reduce::TempStorage storage;
    if (threadIdx.x < 32) {
        const int sum = Reduce(storage).Sum(in[threadIdx.x], 32);  // MISTAKE(divergent_barrier): one warp of two
        if (threadIdx.x == 0) out[0] = sum;
    }
    __syncthreads();  // MISTAKE(divergent_barrier): the other warp waits here
}

void half_of_the_block_reduces() { run(reduce_of_one_warp); }

__global__ void reduce_after_return(const int* in, int* out) {
    __shared__ typename Reduce::TempStorage storage;
    if (threadIdx.x >= 50) return;
    const int sum = Reduce(storage).Sum(in[threadIdx.x]);  // MISTAKE(undefined_shuffle): lanes 50 to 63 have returned
    if (threadIdx.x == 0) out[0] = sum;
}

void threads_return_before_the_reduction() { run(reduce_after_return); }

__global__ void reduce_for_64(const int* in, int* out) {
    __shared__ typename Reduce::TempStorage storage;
    const int sum = Reduce(storage).Sum(in[threadIdx.x]);  // MISTAKE(kernel_trap): the block has 128 threads
    if (threadIdx.x == 0) out[0] = sum;
}

void block_of_another_size() { run(reduce_for_64, 128); }

/// The two phases of an algorithm, with storage that is large enough.
template <class Call>
void in_two_phases(Call call) {
    std::size_t bytes = 0;
    check(call(nullptr, bytes));
    DeviceBuffer<unsigned char> storage(bytes);
    (void)call(storage.data(), bytes);
    (void)cudaDeviceSynchronize();
}

void algorithm_reads_past_the_end() {
    DeviceBuffer<int> d_in(ascending(100)), d_out(1);
    in_two_phases([&](void* storage, std::size_t& bytes) {
        return cub::DeviceReduce::Sum(storage, bytes, d_in.data(), d_out.data(), 128);  // MISTAKE(out_of_bounds): 100
    });
}

void algorithm_writes_past_the_end() {
    DeviceBuffer<int> d_in(ascending(100)), d_out(99);
    in_two_phases([&](void* storage, std::size_t& bytes) {
        return cub::DeviceScan::InclusiveSum(  // MISTAKE(out_of_bounds): room for 99
            storage, bytes, d_in.data(), d_out.data(), 100);
    });
}

void too_many_elements_are_kept() {
    DeviceBuffer<int> d_in(ascending(100)), d_out(49), d_kept(1);
    in_two_phases([&](void* storage, std::size_t& bytes) {
        return cub::DeviceSelect::Flagged(  // MISTAKE(out_of_bounds): 99 are kept, and there is room for 49
            storage, bytes, d_in.data(), d_in.data(), d_out.data(), d_kept.data(), 100);
    });
}

void too_many_runs() {
    DeviceBuffer<int> d_keys(ascending(100)), d_values(ascending(100)), d_unique(100), d_sums(50), d_runs(1);
    in_two_phases([&](void* storage, std::size_t& bytes) {
        return cub::DeviceReduce::ReduceByKey(  // MISTAKE(out_of_bounds): each key is a run
            storage, bytes, d_keys.data(), d_unique.data(), d_values.data(), d_sums.data(), d_runs.data(),
            cuda::std::plus<>(), 100);
    });
}

struct BelowTen {
    __device__ bool operator()(int value) const { return value < 10; }
};
struct FromNinety {
    __device__ bool operator()(int value) const { return value >= 90; }
};

void no_room_for_the_others() {
    DeviceBuffer<int> d_in(ascending(100)), d_small(10), d_large(10), d_others(79), d_sizes(2);
    in_two_phases([&](void* storage, std::size_t& bytes) {
        return cub::DevicePartition::If(  // MISTAKE(out_of_bounds): 80 are neither small nor large
            storage, bytes, d_in.data(), d_small.data(), d_large.data(), d_others.data(), d_sizes.data(), 100,
            BelowTen{}, FromNinety{});
    });
}

void last_segment_is_too_long() {
    DeviceBuffer<int> d_in(ascending(100)), d_out(100), d_offsets(std::vector<int>{0, 50, 101});
    in_two_phases([&](void* storage, std::size_t& bytes) {
        return cub::DeviceSegmentedSort::SortKeys(  // MISTAKE(out_of_bounds): the last segment ends at 101
            storage, bytes, d_in.data(), d_out.data(), 100, 2, d_offsets.data(), d_offsets.data() + 1);
    });
}

void result_on_the_host() {
    DeviceBuffer<int> d_in(ascending(100));
    static int sum;
    in_two_phases([&](void* storage, std::size_t& bytes) {
        return cub::DeviceReduce::Sum(storage, bytes, d_in.data(), &sum, 100);  // MISTAKE(host_memory): not d_out
    });
}

void storage_freed_too_early() {
    DeviceBuffer<int> d_in(ascending(100)), d_out(1);
    std::size_t bytes = 0;
    check(cub::DeviceReduce::Sum(nullptr, bytes, d_in.data(), d_out.data(), 100));
    void* storage = nullptr;
    check(cudaMalloc(&storage, bytes));
    check(cudaFree(storage));
    (void)cub::DeviceReduce::Sum(storage, bytes, d_in.data(), d_out.data(), 100);  // MISTAKE(use_after_free): storage
    (void)cudaDeviceSynchronize();
}

}  // namespace

namespace corpus {

CaseList cub_mistakes() {
    return {__FILE__,
            {{"reduce_storage_used_again", "two reductions, no barrier", reduce_storage_used_again},
             {"reduce_storage_in_a_loop", "no barrier in the loop", reduce_storage_in_a_loop},
             {"union_of_scan_and_reduce", "no barrier between two members", union_of_scan_and_reduce},
             {"union_of_load_and_scan", "no barrier after the load", union_of_load_and_scan},
             {"exchange_storage_used_again", "there and back without a barrier", exchange_storage_used_again},
             {"half_of_the_block_reduces", "a block-wide sum in a branch", half_of_the_block_reduces, true},
             {"threads_return_before_the_reduction", "early return", threads_return_before_the_reduction},
             {"block_of_another_size", "a primitive for 64 threads", block_of_another_size},
             {"algorithm_reads_past_the_end", "128 of 100 elements", algorithm_reads_past_the_end},
             {"algorithm_writes_past_the_end", "100 results, room for 99", algorithm_writes_past_the_end},
             {"too_many_elements_are_kept", "99 results, room for 49", too_many_elements_are_kept},
             {"too_many_runs", "100 sums, room for 50", too_many_runs},
             {"no_room_for_the_others", "80 elements, room for 79", no_room_for_the_others},
             {"last_segment_is_too_long", "a segment past the end", last_segment_is_too_long},
             {"result_on_the_host", "a host variable as output", result_on_the_host},
             {"storage_freed_too_early", "storage that was freed", storage_freed_too_early}}};
}

}  // namespace corpus
