// Asynchronous copies and barriers that are used as they should be.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <utility>

#include "common/tests/corpus/correct/expect.h"

#ifndef __CPU_DEVICE__
// A cuda::barrier has a constructor, which does not run in shared memory.
#pragma nv_diag_suppress static_var_with_dynamic_init
#endif

namespace cg = cooperative_groups;

namespace corpus {
namespace {

using Barrier = cuda::barrier<cuda::thread_scope_block>;

/// Runs a kernel of one block on ascending numbers, and expects that it has reversed each 64 of them.
template <class Kernel>
void expect_reversed(Kernel kernel, int parts, int threads = 64) {
    DeviceBuffer<int> d_in(sequence<int>(64 * parts, [](int i) { return i; }));
    DeviceBuffer<int> d_out(static_cast<std::size_t>(64 * parts));
    kernel<<<1, threads>>>(d_in.data(), d_out.data(), parts);
    check_finished();
    expect_equal(d_out.download(), sequence<int>(64 * parts, [](int i) { return i / 64 * 64 + 63 - i % 64; }));
}

__global__ void by_group(const int* in, int* out, int parts) {
    __shared__ alignas(16) int tile[64];
    const cg::thread_block block = cg::this_thread_block();
    for (int part = 0; part < parts; ++part) {
        cg::memcpy_async(block, tile, in + 64 * part, sizeof tile);
        cg::wait(block);
        out[64 * part + threadIdx.x] = tile[63 - threadIdx.x];
        block.sync();
    }
}

void group_waits_for_each_copy() { expect_reversed(by_group, 3); }

__global__ void by_stages(const int* in, int* out, int parts) {
    constexpr int stages = 3;
    __shared__ alignas(16) int tiles[stages][64];
    const cg::thread_block block = cg::this_thread_block();
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    for (int part = 0; part < stages - 1; ++part) {
        if (part < parts) cuda::memcpy_async(block, tiles[part], in + 64 * part, sizeof tiles[0], pipe);
        pipe.producer_commit();
    }
    for (int part = 0; part < parts; ++part) {
        pipe.consumer_wait();
        block.sync();
        const int next = part + stages - 1;
        if (next < parts) cuda::memcpy_async(block, tiles[next % stages], in + 64 * next, sizeof tiles[0], pipe);
        pipe.producer_commit();
        out[64 * part + threadIdx.x] = tiles[part % stages][63 - threadIdx.x];
        pipe.consumer_release();
    }
}

void three_stages_with_a_barrier_each() { expect_reversed(by_stages, 7); }

__global__ void own_copies_only(const int* in, int* out, int parts) {
    // No thread reads what another one copies: no barrier is needed.
    __shared__ int tiles[2][64];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    const auto copy = [&](int part) {
        const int from = 64 * part + 63 - static_cast<int>(threadIdx.x);
        if (part < parts) cuda::memcpy_async(&tiles[part % 2][threadIdx.x], &in[from], sizeof(int), pipe);
        pipe.producer_commit();
    };
    copy(0);
    for (int part = 0; part < parts; ++part) {
        copy(part + 1);
        cuda::pipeline_consumer_wait_prior<1>(pipe);
        out[64 * part + threadIdx.x] = tiles[part % 2][threadIdx.x];
    }
}

void each_thread_reads_its_own_copies() { expect_reversed(own_copies_only, 4); }

__global__ void by_phases(const int* in, int* out, int parts) {
    __shared__ alignas(16) int tiles[2][64];
    __shared__ Barrier barrier;
    const cg::thread_block block = cg::this_thread_block();
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    block.sync();
    for (int part = 0; part < parts; ++part) {
        // A thread that is here has passed the phase before, so all have read the tile of two rounds ago.
        cuda::memcpy_async(block, tiles[part % 2], in + 64 * part, cuda::aligned_size_t<16>(sizeof tiles[0]), barrier);
        Barrier::arrival_token token = barrier.arrive();
        barrier.wait(std::move(token));
        out[64 * part + threadIdx.x] = tiles[part % 2][63 - threadIdx.x];
    }
}

void two_tiles_and_one_barrier() { expect_reversed(by_phases, 6); }

__global__ void by_producer(const int* in, int* out, int parts) {
    constexpr int stages = 2;
    __shared__ alignas(16) int tiles[stages][64];
    __shared__ Barrier filled[stages], empty[stages];
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    if (threadIdx.x < stages) {
        init(&filled[threadIdx.x], 32);
        init(&empty[threadIdx.x], 2);
    }
    __syncthreads();
    for (int part = 0; part < parts; ++part) {
        const int stage = part % stages;
        const bool parity = part / stages % 2 != 0;
        if (threadIdx.x >= 64) {
            empty[stage].wait_parity(!parity);
            cuda::memcpy_async(warp, tiles[stage], in + 64 * part, sizeof tiles[0], filled[stage]);
            (void)filled[stage].arrive();
        } else {
            filled[stage].wait_parity(parity);
            out[64 * part + threadIdx.x] = tiles[stage][63 - threadIdx.x];
            warp.sync();
            if (warp.thread_rank() == 0) (void)empty[stage].arrive();
        }
    }
}

void warp_that_only_copies() { expect_reversed(by_producer, 7, 96); }

__global__ void by_one_lane(const int* in, int* out, int parts) {
    // One thread begins the copies, and never arrives: the phase waits for its copies all the same.
    __shared__ alignas(16) int tile[64];
    __shared__ Barrier filled;
    if (threadIdx.x == 0) init(&filled, 64);
    __syncthreads();
    for (int part = 0; part < parts; ++part) {
        if (threadIdx.x == 64) {
            cuda::memcpy_async(tile, in + 64 * part, cuda::aligned_size_t<16>(sizeof tile), filled);
        }
        __syncthreads();
        if (threadIdx.x < 64) {
            filled.arrive_and_wait();
            out[64 * part + threadIdx.x] = tile[63 - threadIdx.x];
        }
        __syncthreads();
    }
}

void copies_by_a_thread_that_does_not_arrive() { expect_reversed(by_one_lane, 3, 96); }

__global__ void by_roles(const int* in, int* out, int parts) {
    constexpr unsigned stages = 2;
    __shared__ alignas(16) int tiles[stages][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    const cg::thread_block block = cg::this_thread_block();
    const bool produces = threadIdx.x >= 64;
    auto pipe =
        cuda::make_pipeline(block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    for (int part = 0; part < parts; ++part) {
        int* const tile = tiles[part % stages];
        if (produces) {
            const unsigned first = 2 * (threadIdx.x - 64);
            pipe.producer_acquire();
            cuda::memcpy_async(tile + first, in + 64 * part + first, 2 * sizeof(int), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            out[64 * part + threadIdx.x] = tile[63 - threadIdx.x];
            pipe.consumer_release();
        }
    }
}

void pipeline_with_roles() { expect_reversed(by_roles, 5, 96); }

__global__ void handed_on_twice(const int* in, int* out, int parts) {
    // What a thread has learned at a barrier goes on by __syncwarp, by another barrier, and by a flag.
    __shared__ int tile[64];
    __shared__ Barrier first, second;
    __shared__ int flag;
    if (threadIdx.x == 0) {
        init(&first, 65);
        init(&second, 1);
        flag = 0;
    }
    __syncthreads();
    const unsigned lane = threadIdx.x % 32;
    if (threadIdx.x < 64) {
        for (int part = 0; part < parts; ++part) tile[threadIdx.x] = in[threadIdx.x];
        (void)first.arrive();
    } else if (threadIdx.x < 96) {
        if (lane == 0) first.arrive_and_wait();
        __syncwarp();
        if (lane == 7) (void)second.arrive();
    } else {
        if (lane == 3) {
            second.wait_parity(false);
            cuda::atomic_ref<int, cuda::thread_scope_block>(flag).store(1, cuda::memory_order_release);
        }
        while (cuda::atomic_ref<int, cuda::thread_scope_block>(flag).load(cuda::memory_order_acquire) == 0) {
        }
        out[lane] = tile[63 - lane];
        out[32 + lane] = tile[31 - lane];
    }
}

void order_passed_on_from_barrier_to_barrier() { expect_reversed(handed_on_twice, 1, 128); }

__global__ void leaves_early(const int* in, int* out, int parts) {
    __shared__ int tiles[2][64];
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    if (threadIdx.x >= 64) return barrier.arrive_and_drop();
    for (int part = 0; part < parts; ++part) {
        tiles[part % 2][threadIdx.x] = in[64 * part + threadIdx.x];
        barrier.arrive_and_wait();
        out[64 * part + threadIdx.x] = tiles[part % 2][63 - threadIdx.x];
    }
}

void threads_that_drop_out() { expect_reversed(leaves_early, 5, 128); }

}  // namespace

CaseList correct_async_copies() {
    return {__FILE__,
            {{"group_waits_for_each_copy", "cg::memcpy_async and cg::wait", group_waits_for_each_copy},
             {"three_stages_with_a_barrier_each", "a pipeline of thread scope", three_stages_with_a_barrier_each},
             {"each_thread_reads_its_own_copies", "no barrier at all", each_thread_reads_its_own_copies},
             {"two_tiles_and_one_barrier", "copies that complete phases", two_tiles_and_one_barrier},
             {"warp_that_only_copies", "filled and empty", warp_that_only_copies},
             {"copies_by_a_thread_that_does_not_arrive", "the phase waits for them",
              copies_by_a_thread_that_does_not_arrive},
             {"pipeline_with_roles", "a pipeline of block scope", pipeline_with_roles},
             {"order_passed_on_from_barrier_to_barrier", "by lanes, a barrier, and a flag",
              order_passed_on_from_barrier_to_barrier},
             {"threads_that_drop_out", "arrive_and_drop()", threads_that_drop_out}}};
}

}  // namespace corpus
