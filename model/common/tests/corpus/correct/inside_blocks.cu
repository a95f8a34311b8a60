// Warps and lanes of one block that hand values to each other without __syncthreads(): flags in shared memory,
// __syncwarp beside shuffles and votes, groups and their sync().
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>

#include "common/tests/corpus/correct/expect.h"

namespace corpus {
namespace {

namespace cg = cooperative_groups;

constexpr unsigned kAllLanes = 0xFFFFFFFFu;

using BlockRef = cuda::atomic_ref<int, cuda::thread_scope_block>;

using cuda::memory_order_acquire;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;

/// Runs a kernel that doubles 32 values.
void check_doubled(void (*kernel)(const int*, int*), int threads) {
    DeviceBuffer<int> d_in(sequence<int>(32, [](int i) { return i + 1; })), d_out(32);
    kernel<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<int>(32, [](int i) { return 2 * i + 2; }));
}

// ---- from warp to warp ---------------------------------------------------------------------------------------

__global__ void warp_to_warp_by_ref(const int* in, int* out) {
    __shared__ int values[32], ready;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (warp == 0) {
        values[lane] = 2 * in[lane];
        __syncwarp();
        if (lane == 0) BlockRef(ready).store(1, memory_order_release);
    } else {
        if (lane == 0) {
            while (BlockRef(ready).load(memory_order_acquire) == 0) {
            }
        }
        __syncwarp();
        out[lane] = values[lane];
    }
}

void flag_in_shared_memory_by_ref() { check_doubled(warp_to_warp_by_ref, 64); }

__global__ void warp_to_warp_by_fences(const int* in, int* out) {
    __shared__ int values[32], ready;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (warp == 0) {
        values[lane] = 2 * in[lane];
        __threadfence_block();
        __syncwarp();
        if (lane == 0) atomicExch(&ready, 1);
    } else {
        while (atomicAdd(&ready, 0) == 0) {
        }
        __threadfence_block();
        out[lane] = values[lane];
    }
}

void flag_in_shared_memory_by_fences() { check_doubled(warp_to_warp_by_fences, 64); }

__global__ void warp_to_warp_by_volatile(const int* in, int* out) {
    __shared__ int values[32];
    __shared__ volatile int ready;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (warp == 0) {
        values[lane] = 2 * in[lane];
        __syncwarp();
        if (lane == 0) {
            __threadfence_block();
            ready = 1;
        }
    } else {
        while (ready == 0) {
        }
        __threadfence_block();
        out[lane] = values[lane];
    }
}

void volatile_flag_in_shared_memory() { check_doubled(warp_to_warp_by_volatile, 64); }

/// One warp loads, the other one works, and two buffers go back and forth between them.
__global__ void producer_and_consumer(const int* in, int* out, int rounds) {
    __shared__ int buffer[2][32], full[2], empty[2];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x < 2) {
        full[threadIdx.x] = 0;
        empty[threadIdx.x] = 1;
    }
    __syncthreads();
    for (int round = 0; round < rounds; ++round) {
        const int slot = round % 2;
        BlockRef mine(warp == 0 ? empty[slot] : full[slot]), theirs(warp == 0 ? full[slot] : empty[slot]);
        if (lane == 0) {
            while (mine.exchange(0, memory_order_acquire) == 0) {
            }
        }
        __syncwarp();
        if (warp == 0) {
            buffer[slot][lane] = in[32 * round + lane];
        } else {
            out[32 * round + lane] = buffer[slot][31 - lane] + 1;
        }
        __syncwarp();
        if (lane == 0) theirs.store(1, memory_order_release);
    }
}

void two_buffers_between_two_warps() {
    constexpr int rounds = 9;
    const std::vector<int> values = scrambled(32 * rounds, 1000);
    DeviceBuffer<int> d_in(values), d_out(32 * rounds);
    producer_and_consumer<<<1, 64>>>(d_in.data(), d_out.data(), rounds);
    check_finished();
    expect_equal(d_out.download(),
                 sequence<int>(32 * rounds, [&](int i) { return values[i / 32 * 32 + 31 - i % 32] + 1; }));
}

/// Warp after warp adds to what the one before has left.
__global__ void warps_in_a_chain(const int* in, int* out) {
    __shared__ int sum, turn;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) sum = turn = 0;
    __syncthreads();
    int value = in[threadIdx.x];
    for (int step = 1; step < 32; step *= 2) {
        const int before = __shfl_up_sync(kAllLanes, value, step);
        if (lane >= step) value += before;
    }
    int start = 0;
    if (lane == 31) {
        while (BlockRef(turn).load(memory_order_acquire) != warp) {
        }
        start = sum;
        sum = start + value;
        BlockRef(turn).store(warp + 1, memory_order_release);
    }
    start = __shfl_sync(kAllLanes, start, 31);
    out[threadIdx.x] = start + value;
}

void warps_take_turns() {
    DeviceBuffer<int> d_in(std::vector<int>(128, 3)), d_out(128);
    warps_in_a_chain<<<1, 128>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<int>(128, [](int i) { return 3 * (i + 1); }));
}

// ---- lanes of a warp -----------------------------------------------------------------------------------------

__global__ void shuffle_and_syncwarp(const int* in, int* out) {
    __shared__ int values[32];
    const int lane = threadIdx.x;
    values[lane] = in[31 - lane];
    const int first = __shfl_sync(kAllLanes, in[lane], 0);
    __syncwarp();
    out[lane] = (first + 1) * values[31 - lane];
}

void syncwarp_beside_a_shuffle() { check_doubled(shuffle_and_syncwarp, 32); }

/// A vote tells who takes part; the barrier of exactly those lanes orders them.
__global__ void vote_and_syncwarp(const int* in, int* out) {
    __shared__ int values[32];
    const int lane = threadIdx.x;
    const unsigned odd = __ballot_sync(kAllLanes, in[lane] % 2);
    out[lane] = 2 * in[lane];
    if ((odd >> lane & 1) != 0) {
        values[lane] = in[lane];
        __syncwarp(odd);
        out[lane] = values[(lane + 2) % 32] + values[(lane + 30) % 32];
        if (lane == 0 || lane == 30) out[lane] = 2 * in[lane];
    }
}

void syncwarp_of_the_lanes_that_voted() { check_doubled(vote_and_syncwarp, 32); }

/// Registers alone: no memory is shared between the shuffles.
__global__ void butterfly_in_registers(const int* in, int* out) {
    int sum = in[threadIdx.x], largest = sum;
    for (int bit = 1; bit < 32; bit *= 2) {
        sum += __shfl_xor_sync(kAllLanes, sum, bit);
        largest = max(largest, __shfl_xor_sync(kAllLanes, largest, bit));
    }
    out[threadIdx.x] = 2 * in[threadIdx.x] + (sum - 528) + (largest - 32);
}

void shuffles_without_memory() { check_doubled(butterfly_in_registers, 32); }

/// Every lane reads back only what it wrote itself: nothing has to be ordered.
__global__ void own_element_across_shuffles(const int* in, int* out) {
    __shared__ int values[32];
    const int lane = threadIdx.x;
    values[lane] = in[lane];
    for (int step = 0; step < 32; ++step) {
        const int other = __shfl_sync(kAllLanes, values[lane], (lane + 1) % 32);
        if (__any_sync(kAllLanes, other > 1000)) values[lane] = 0;
    }
    out[lane] = 2 * values[lane];
}

void own_element_of_shared_memory() { check_doubled(own_element_across_shuffles, 32); }

/// The lane that writes tells the others by __shfl_sync, but the values go through memory: so __syncwarp comes first.
__global__ void leader_fills_a_table(const int* in, int* out) {
    __shared__ int table[8], length;
    const int lane = threadIdx.x;
    if (lane == 3) {
        length = 8;
        for (int i = 0; i < 8; ++i) table[i] = in[4 * i];
    }
    __syncwarp();
    int sum = 0;
    for (int i = 0; i < length; ++i) sum += table[i] * (4 * i == lane / 4 * 4);
    out[lane] = 2 * (sum + lane % 4);
}

void table_filled_by_one_lane() { check_doubled(leader_fills_a_table, 32); }

// ---- groups --------------------------------------------------------------------------------------------------

__global__ void tile_sync_beside_shuffles(const int* in, int* out) {
    __shared__ int values[32];
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int thread = threadIdx.x;
    values[thread] = in[thread];
    const int last = tile.shfl(in[thread], 7);
    tile.sync();
    const int mirrored = values[thread ^ 7];
    out[thread] = 2 * (last - mirrored) - 2 * (7 - static_cast<int>(tile.thread_rank())) + 2 * in[thread] -
                  2 * static_cast<int>(tile.thread_rank()) + 2 * (7 - static_cast<int>(tile.thread_rank()));
}

void tile_sync_orders_its_lanes() { check_doubled(tile_sync_beside_shuffles, 32); }

__global__ void coalesced_group_sync(const int* in, int* out) {
    __shared__ int values[32];
    const int thread = threadIdx.x;
    const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    const cg::coalesced_group group = cg::binary_partition(tile, thread % 2 == 0);
    out[thread] = 2 * in[thread];
    if (thread % 2 == 0) {
        values[thread] = 2 * in[thread];
        group.sync();
        out[thread] = values[(thread + 2) % 32] + (thread == 30 ? 60 : -4);
    }
}

void coalesced_group_orders_its_lanes() { check_doubled(coalesced_group_sync, 32); }

__global__ void reduce_then_sync(const int* in, int* out) {
    __shared__ int sums[2];
    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<32>(block);
    const int sum = cg::reduce(tile, in[threadIdx.x % 32], cg::plus<int>());
    if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = sum;
    block.sync();
    if (threadIdx.x < 32) out[threadIdx.x] = 2 * in[threadIdx.x] + sums[0] - sums[1];
}

void group_reduction_then_block_sync() { check_doubled(reduce_then_sync, 64); }

__global__ void halves_of_a_tile(const int* in, int* out) {
    __shared__ int values[32];
    const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    const auto part = cg::binary_partition(tile, in[threadIdx.x] % 3 == 0);
    values[threadIdx.x] = in[threadIdx.x];
    part.sync();
    const int next = (static_cast<int>(part.thread_rank()) + 1) % static_cast<int>(part.size());
    const int lane = part.shfl(static_cast<int>(threadIdx.x), next);
    out[threadIdx.x] = values[lane] - (lane + 1) + 2 * in[threadIdx.x];
}

void parts_of_a_tile_sync_for_themselves() { check_doubled(halves_of_a_tile, 32); }

__global__ void grid_of_two_steps(const int* in, int* scratch, int* out, int n, int steps) {
    const auto grid = cg::this_grid();
    const int i = grid.thread_rank();
    scratch[i] = in[i];
    for (int step = 0; step < steps; ++step) {
        grid.sync();
        const int next = scratch[(i + 1) % n];
        grid.sync();
        scratch[i] = next;
    }
    out[i] = scratch[i];
}

void grid_barriers_between_reads_and_writes() {
    int n = 128, steps = 5;
    DeviceBuffer<int> d_in(sequence<int>(n, [](int i) { return i; })), d_scratch(n), d_out(n);
    const int* in = d_in.data();
    int *scratch = d_scratch.data(), *out = d_out.data();
    void* arguments[] = {&in, &scratch, &out, &n, &steps};
    check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(grid_of_two_steps), dim3(4), dim3(32), arguments, 0,
                                      nullptr));
    check_finished();
    expect_equal(d_out.download(), sequence<int>(n, [&](int i) { return (i + steps) % n; }));
}

}  // namespace

CaseList inside_blocks() {
    return {
        __FILE__,
        {
            {"flag_in_shared_memory_by_ref", "release and acquire of block scope", flag_in_shared_memory_by_ref},
            {"flag_in_shared_memory_by_fences", "__threadfence_block on both sides", flag_in_shared_memory_by_fences},
            {"volatile_flag_in_shared_memory", "__threadfence_block on both sides", volatile_flag_in_shared_memory},
            {"two_buffers_between_two_warps", "producer and consumer", two_buffers_between_two_warps},
            {"warps_take_turns", "a chain of warps", warps_take_turns},
            {"syncwarp_beside_a_shuffle", "__syncwarp orders, the shuffle need not", syncwarp_beside_a_shuffle},
            {"syncwarp_of_the_lanes_that_voted", "mask from a ballot", syncwarp_of_the_lanes_that_voted},
            {"shuffles_without_memory", "registers alone", shuffles_without_memory},
            {"own_element_of_shared_memory", "nobody else touches it", own_element_of_shared_memory},
            {"table_filled_by_one_lane", "__syncwarp behind it", table_filled_by_one_lane},
            {"tile_sync_orders_its_lanes", "tile.sync() beside a shuffle", tile_sync_orders_its_lanes},
            {"coalesced_group_orders_its_lanes", "group.sync()", coalesced_group_orders_its_lanes},
            {"group_reduction_then_block_sync", "cg::reduce, then block.sync()", group_reduction_then_block_sync},
            {"parts_of_a_tile_sync_for_themselves", "binary_partition", parts_of_a_tile_sync_for_themselves},
            {"grid_barriers_between_reads_and_writes", "two grid.sync() per step",
             grid_barriers_between_reads_and_writes},
        }};
}

}  // namespace corpus
