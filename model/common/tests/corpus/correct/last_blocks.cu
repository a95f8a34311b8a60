// The last one to finish goes on with what all others have left: blocks of a grid, warps or threads of a block.
#include <cooperative_groups.h>
#include <cuda/atomic>

#include "common/tests/corpus/correct/expect.h"

namespace corpus {
namespace {

constexpr int kThreads = 64, kBlocks = 6, kWarps = kThreads / 32;
constexpr unsigned kAllLanes = 0xFFFFFFFFu;

using cuda::memory_order_acq_rel;
using cuda::memory_order_acquire;
using cuda::memory_order_release;

using DeviceCount = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
using BlockCount = cuda::atomic_ref<unsigned, cuda::thread_scope_block>;

__device__ int sum_of_warp(int value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(kAllLanes, value, step);
    return value;
}

/// All kernels here add up the numbers from 0 to kBlocks * kThreads - 1.
void check_sum(void (*kernel)(const int*, int*, unsigned*, int*)) {
    DeviceBuffer<int> d_in(sequence<int>(kBlocks * kThreads, [](int i) { return i; }));
    DeviceBuffer<int> d_partial(kBlocks * kThreads), d_out(1);
    DeviceBuffer<unsigned> d_done(std::vector<unsigned>(8, 0));
    kernel<<<kBlocks, kThreads>>>(d_in.data(), d_partial.data(), d_done.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), {kBlocks * kThreads * (kBlocks * kThreads - 1) / 2});
}

__global__ void ticket_acquires_and_releases(const int* in, int* partial, unsigned* done, int* out) {
    __shared__ unsigned ticket;
    partial[blockIdx.x * kThreads + threadIdx.x] = in[blockIdx.x * kThreads + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) ticket = DeviceCount(*done).fetch_add(1, memory_order_acq_rel);
    __syncthreads();
    if (ticket != kBlocks - 1 || threadIdx.x >= 32) return;
    int sum = 0;
    for (int i = threadIdx.x; i < kBlocks * kThreads; i += 32) sum += partial[i];
    sum = sum_of_warp(sum);
    if (threadIdx.x == 0) *out = sum;
}

void ticket_by_atomic_ref() { check_sum(ticket_acquires_and_releases); }

/// All blocks release; only the last one has to acquire.
__global__ void only_the_last_acquires(const int* in, int* partial, unsigned* done, int* out) {
    __shared__ bool is_last;
    partial[blockIdx.x * kThreads + threadIdx.x] = in[blockIdx.x * kThreads + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        is_last = DeviceCount(*done).fetch_add(1, memory_order_release) == kBlocks - 1;
        if (is_last) cuda::atomic_thread_fence(memory_order_acquire, cuda::thread_scope_device);
    }
    __syncthreads();
    if (!is_last || threadIdx.x >= 32) return;
    int sum = 0;
    for (int i = threadIdx.x; i < kBlocks * kThreads; i += 32) sum += partial[i];
    sum = sum_of_warp(sum);
    if (threadIdx.x == 0) *out = sum;
}

void acquire_fence_of_the_last_block_alone() { check_sum(only_the_last_acquires); }

/// One warp per block goes on; the ticket goes from lane to lane by a shuffle, the order by __syncwarp.
__global__ void warp_takes_the_ticket(const int* in, int* partial, unsigned* done, int* out) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int part = blockIdx.x * kWarps + warp;
    const int sum = sum_of_warp(in[blockIdx.x * kThreads + threadIdx.x]);
    unsigned ticket = 0;
    if (lane == 0) {
        partial[part] = sum;
        __threadfence();
        ticket = atomicAdd(done, 1u);
        __threadfence();
    }
    ticket = __shfl_sync(kAllLanes, ticket, 0);
    __syncwarp();
    if (ticket != kBlocks * kWarps - 1) return;
    int total = 0;
    for (int i = lane; i < kBlocks * kWarps; i += 32) total += partial[i];
    total = sum_of_warp(total);
    if (lane == 0) *out = total;
}

void last_warp_of_the_grid() { check_sum(warp_takes_the_ticket); }

/// The partial sums are volatile and so need no barrier of the compiler; the fences order them.
__global__ void volatile_parts(const int* in, int* partial, unsigned* done, int* out) {
    if (threadIdx.x != 0) return;
    volatile int* const parts = partial;
    int sum = 0;
    for (int i = 0; i < kThreads; ++i) sum += in[blockIdx.x * kThreads + i];
    parts[blockIdx.x] = sum;
    __threadfence();
    if (atomicInc(done, kBlocks - 1) != kBlocks - 1) return;
    __threadfence();
    int total = 0;
    for (int block = 0; block < kBlocks; ++block) total += parts[block];
    *out = total;
}

void volatile_partial_sums() { check_sum(volatile_parts); }

/// Two stages: the last of three blocks adds up its group, the last of the groups adds up all.
__global__ void last_of_a_group_then_of_all(const int* in, int* partial, unsigned* done, int* out) {
    if (threadIdx.x != 0) return;
    const int group = blockIdx.x / 3;
    int sum = 0;
    for (int i = 0; i < kThreads; ++i) sum += in[blockIdx.x * kThreads + i];
    partial[blockIdx.x] = sum;
    if (DeviceCount(done[1 + group]).fetch_add(1, memory_order_acq_rel) != 2) return;
    for (int other = 3 * group; other < 3 * group + 3; ++other) {
        if (other != static_cast<int>(blockIdx.x)) sum += partial[other];
    }
    partial[kBlocks + group] = sum;
    if (DeviceCount(done[0]).fetch_add(1, memory_order_acq_rel) != kBlocks / 3 - 1) return;
    *out = partial[kBlocks] + partial[kBlocks + 1];
}

void last_block_of_each_group() { check_sum(last_of_a_group_then_of_all); }

/// Inside a block, without a barrier behind the work: the last thread to come has seen all others.
__global__ void last_thread_of_the_block(const int* in, int* partial, unsigned*, int* out) {
    __shared__ int values[kThreads];
    __shared__ unsigned count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    values[threadIdx.x] = in[blockIdx.x * kThreads + threadIdx.x];
    if (BlockCount(count).fetch_add(1, memory_order_acq_rel) != kThreads - 1) return;
    int sum = 0;
    for (const int value : values) sum += value;
    atomicAdd(&partial[0], sum);
    if (blockIdx.x == 0) *out = 0;
}

void last_thread_to_come() {
    DeviceBuffer<int> d_in(sequence<int>(kBlocks * kThreads, [](int i) { return i; })), d_out(1);
    DeviceBuffer<int> d_sum(std::vector<int>{0});
    last_thread_of_the_block<<<kBlocks, kThreads>>>(d_in.data(), d_sum.data(), nullptr, d_out.data());
    check_finished();
    expect_equal(d_sum.download(), {kBlocks * kThreads * (kBlocks * kThreads - 1) / 2});
}

__global__ void last_warp_of_the_block(const int* in, int* sums) {
    __shared__ int partial[4];
    __shared__ unsigned count;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    int sum = sum_of_warp(in[blockIdx.x * 128 + threadIdx.x]);
    unsigned ticket = 0;
    if (lane == 0) {
        partial[warp] = sum;
        __threadfence_block();
        ticket = atomicAdd_block(&count, 1u);
        __threadfence_block();
    }
    ticket = __shfl_sync(kAllLanes, ticket, 0);
    __syncwarp();
    if (ticket != 3) return;
    sum = sum_of_warp(lane < 4 ? partial[lane] : 0);
    if (lane == 0) sums[blockIdx.x] = sum;
}

void last_warp_to_come() {
    DeviceBuffer<int> d_in(std::vector<int>(3 * 128, 2)), d_sums(3);
    last_warp_of_the_block<<<3, 128>>>(d_in.data(), d_sums.data());
    check_finished();
    expect_equal(d_sums.download(), std::vector<int>(3, 256));
}

/// A launch that finds its counter where the last one left it: the last block resets it by an atomic.
__global__ void counter_reset_by_the_last(const int* in, int* partial, unsigned* done, int* out) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < kThreads; ++i) sum += in[blockIdx.x * kThreads + i];
        partial[blockIdx.x] = sum;
        __threadfence();
        is_last = atomicAdd(done, 1u) % kBlocks == kBlocks - 1;
        __threadfence();
    }
    __syncthreads();
    if (!is_last) return;
    if (threadIdx.x == 0) {
        int total = 0;
        for (int block = 0; block < kBlocks; ++block) total += partial[block];
        *out = total;
        atomicExch(done, 0u);
    }
}

void counter_that_is_reset() { check_sum(counter_reset_by_the_last); }

/// The barrier of a cooperative group stands where __syncthreads() would.
__global__ void ticket_among_groups(const int* in, int* partial, unsigned* done, int* out) {
    namespace cg = cooperative_groups;
    __shared__ bool is_last;
    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<32>(block);
    partial[blockIdx.x * kThreads + block.thread_rank()] = in[blockIdx.x * kThreads + block.thread_rank()];
    block.sync();
    if (block.thread_rank() == 0) {
        __threadfence();
        is_last = atomicAdd(done, 1u) == kBlocks - 1;
        __threadfence();
    }
    block.sync();
    if (!is_last || tile.meta_group_rank() != 0) return;
    int sum = 0;
    for (int i = tile.thread_rank(); i < kBlocks * kThreads; i += 32) sum += partial[i];
    for (int step = 16; step > 0; step /= 2) sum += tile.shfl_down(sum, step);
    if (tile.thread_rank() == 0) *out = sum;
}

void last_block_with_cooperative_groups() { check_sum(ticket_among_groups); }

}  // namespace

CaseList last_blocks() {
    return {
        __FILE__,
        {
            {"ticket_by_atomic_ref", "fetch_add acquires and releases", ticket_by_atomic_ref},
            {"acquire_fence_of_the_last_block_alone", "the others only release", acquire_fence_of_the_last_block_alone},
            {"last_warp_of_the_grid", "ticket by shuffle, order by __syncwarp", last_warp_of_the_grid},
            {"volatile_partial_sums", "fences around atomicInc", volatile_partial_sums},
            {"last_block_of_each_group", "two stages of tickets", last_block_of_each_group},
            {"last_thread_to_come", "block scope, shared memory", last_thread_to_come},
            {"last_warp_to_come", "__threadfence_block around atomicAdd_block", last_warp_to_come},
            {"counter_that_is_reset", "by an atomic of the last block", counter_that_is_reset},
            {"last_block_with_cooperative_groups", "block.sync and fences", last_block_with_cooperative_groups},
        }};
}

}  // namespace corpus
