// Asynchronous copies and barriers: a tile that is read before its copy has landed, a copy into a tile that others
// still read, phases and arrivals that do not fit together, and barriers that nobody has initialized.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include <cuda/barrier>
#include <cuda/pipeline>
#include <utility>

#include "common/tests/corpus/mistakes/mistakes.h"

#ifndef __CPU_DEVICE__
// A cuda::barrier has a constructor, which does not run in shared memory.
#pragma nv_diag_suppress static_var_with_dynamic_init
#endif

namespace {

namespace cg = cooperative_groups;
using namespace corpus;

using Barrier = cuda::barrier<cuda::thread_scope_block>;

std::vector<float> ones(int count) { return std::vector<float>(static_cast<std::size_t>(count), 1.0f); }

/// Each case reverses 64 floats, or several times 64, in one block of 64 threads.
template <class Kernel>
void run(Kernel kernel, int parts = 1) {
    DeviceBuffer<float> d_in(ones(64 * parts)), d_out(static_cast<std::size_t>(64 * parts));
    kernel<<<1, 64>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void no_wait_for_the_group(const float* in, float* out) {
    __shared__ alignas(16) float tile[64];
    const cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tile, in, sizeof tile);  // OTHER: the copy
    block.sync();
    out[threadIdx.x] = tile[63 - threadIdx.x];  // MISTAKE(data_race): block.sync() waits for threads, not for copies
    cg::wait(block);
}

void barrier_in_place_of_cg_wait() {
    // HINT: wait for the copy first
    run(no_wait_for_the_group);
}

__global__ void no_wait_for_the_pipeline(const float* in, float* out) {
    __shared__ alignas(16) float tile[64];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(float), pipe);  // OTHER: the copy
    pipe.producer_commit();
    out[threadIdx.x] = tile[threadIdx.x];  // MISTAKE(data_race): its own element, and yet it may not be there
    pipe.consumer_wait();
}

void own_element_read_before_the_wait() { run(no_wait_for_the_pipeline); }

__global__ void no_barrier_after_the_wait(const float* in, float* out) {
    __shared__ alignas(16) float tile[64];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(float), pipe);  // OTHER: the copy
    pipe.producer_commit();
    pipe.consumer_wait();
    out[threadIdx.x] = tile[63 - threadIdx.x];  // MISTAKE(data_race): another thread copies this element
}

void wait_for_own_copies_only() { run(no_barrier_after_the_wait); }

__global__ void one_stage_too_few(const float* in, float* out) {
    __shared__ alignas(16) float tiles[2][64];
    const cg::thread_block block = cg::this_thread_block();
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    for (unsigned stage = 0; stage < 2; ++stage) {
        cuda::memcpy_async(block, tiles[stage], in + 64 * stage, sizeof tiles[0], pipe);  // OTHER: the copy
        pipe.producer_commit();
    }
    pipe.consumer_wait();
    block.sync();
    out[threadIdx.x] = tiles[0][63 - threadIdx.x];
    out[64 + threadIdx.x] = tiles[1][63 - threadIdx.x];  // MISTAKE(data_race): only the first stage was waited for
}

void second_stage_read_after_one_wait() { run(one_stage_too_few, 2); }

__global__ void stage_without_commit(const float* in, float* out) {
    __shared__ alignas(16) float tile[64];
    const cg::thread_block block = cg::this_thread_block();
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    pipe.producer_commit();
    cuda::memcpy_async(block, tile, in, sizeof tile, pipe);  // OTHER: belongs to the stage that is still open
    pipe.consumer_wait();
    block.sync();
    out[threadIdx.x] = tile[63 - threadIdx.x];  // MISTAKE(data_race): the wait was for an empty stage
}

void commit_before_the_copy() { run(stage_without_commit); }

__global__ void copy_too_early(const float* in, float* out) {
    __shared__ alignas(16) float tile[64];
    const cg::thread_block block = cg::this_thread_block();
    for (unsigned part = 0; part < 2; ++part) {
        cg::memcpy_async(block, tile, in + 64 * part, sizeof tile);  // OTHER: into a tile that is still read
        cg::wait(block);
        out[64 * part + threadIdx.x] = tile[63 - threadIdx.x];  // MISTAKE(data_race): no barrier before the next copy
    }
}

void copy_into_a_tile_that_is_read() { run(copy_too_early, 2); }

__global__ void released_too_early(const float* in, float* out) {
    __shared__ alignas(16) float tile[64];
    __shared__ Barrier filled, empty;
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    if (threadIdx.x == 0) {
        init(&filled, 32);
        init(&empty, 32);
    }
    __syncthreads();
    for (unsigned part = 0; part < 3; ++part) {
        const bool parity = part % 2 != 0;
        if (threadIdx.x < 32) {
            empty.wait_parity(!parity);
            cuda::memcpy_async(warp, tile, in + 64 * part, sizeof tile, filled);  // OTHER: the next copy
            (void)filled.arrive();
        } else {
            filled.wait_parity(parity);
            (void)empty.arrive();
            out[64 * part + threadIdx.x - 32] = tile[threadIdx.x - 32];  // MISTAKE(data_race): after it was released
        }
    }
}

void tile_released_before_it_is_read() { run(released_too_early, 3); }

__global__ void wrong_parity(const float* in, float* out) {
    __shared__ alignas(16) float tile[64];
    __shared__ Barrier filled;
    const cg::thread_block block = cg::this_thread_block();
    if (threadIdx.x == 0) init(&filled, 64);
    block.sync();
    cuda::memcpy_async(block, tile, in, sizeof tile, filled);  // OTHER: the copy
    (void)filled.arrive();
    if (threadIdx.x >= 32) return;
    filled.wait_parity(true);                   // the phase before the first one, which seems to have completed
    out[threadIdx.x] = tile[63 - threadIdx.x];  // MISTAKE(data_race): the first phase has parity 0
}

void wait_for_the_wrong_parity() { run(wrong_parity); }

__global__ void parity_of_the_round(const float* in, float* out) {
    __shared__ alignas(16) float tiles[2][64];
    __shared__ Barrier filled[2];
    const cg::thread_block block = cg::this_thread_block();
    if (threadIdx.x < 2) init(&filled[threadIdx.x], 64);
    block.sync();
    for (unsigned stage = 0; stage < 2; ++stage) {
        cuda::memcpy_async(block, tiles[stage], in + 64 * stage, sizeof tiles[0], filled[stage]);  // OTHER: the copy
        (void)filled[stage].arrive();
    }
    block.sync();
    for (unsigned part = 0; part < 2; ++part) {
        filled[part].wait_parity(part % 2 != 0);                       // the first phase of both barriers has parity 0
        out[64 * part + threadIdx.x] = tiles[part][63 - threadIdx.x];  // MISTAKE(data_race): in the second round
    }
}

void parity_that_counts_rounds() { run(parity_of_the_round, 2); }

__global__ void old_token(const float* in, float* out) {
    __shared__ float tile[64];
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) init(&barrier, 64);
    __syncthreads();
    Barrier::arrival_token first = barrier.arrive();
    barrier.arrive_and_wait();
    tile[threadIdx.x] = in[threadIdx.x];
    barrier.arrive_and_wait();
    barrier.wait(std::move(first));  // MISTAKE(barrier_misuse): the token of a phase that is long over
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

void wait_with_an_old_token() { run(old_token); }

__global__ void half_of_the_arrivals(const float* in, float* out) {
    __shared__ float tile[64];
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    if (threadIdx.x < 32) {
        tile[threadIdx.x] = in[threadIdx.x];
        (void)barrier.arrive();
    } else {
        barrier.wait_parity(false);  // MISTAKE(missing_arrival): 32 arrivals, and the barrier counts on 64
        out[threadIdx.x] = tile[63 - threadIdx.x];
    }
}

void too_few_arrive_at_a_barrier() { run(half_of_the_arrivals); }

__global__ void early_exit(const float* in, float* out) {
    __shared__ float tile[64];
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    tile[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x >= 50) return;
    barrier.arrive_and_wait();  // MISTAKE(missing_arrival): 14 threads have left without arrive_and_drop()
    out[threadIdx.x] = tile[49 - threadIdx.x];
}

void threads_leave_without_arriving() { run(early_exit); }

__global__ void nothing_released(const float* in, float* out) {
    constexpr unsigned stages = 2;
    __shared__ alignas(16) float tiles[stages][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    const cg::thread_block block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    for (unsigned part = 0; part < 4; ++part) {
        pipe.producer_acquire();  // MISTAKE(missing_arrival): waits for the release of the third round's stage
        cuda::memcpy_async(block, tiles[part % stages], in + 64 * part, sizeof tiles[0], pipe);
        pipe.producer_commit();
        if (part % stages == 0) pipe.consumer_wait();
        out[64 * part + threadIdx.x] = 1;
    }
}

void stages_that_nobody_releases() { run(nothing_released, 4); }

__global__ void never_initialized(const float* in, float* out) {
    __shared__ float tile[64];
    __shared__ Barrier barrier;
    tile[threadIdx.x] = in[threadIdx.x];
    barrier.arrive_and_wait();  // MISTAKE(barrier_misuse): nobody has called init()
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

void barrier_without_init() { run(never_initialized); }

__global__ void arrive_without_order(const float* in, float* out) {
    __shared__ float tile[64];
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);  // OTHER: thread 0, and the others do not wait for it
    tile[threadIdx.x] = in[threadIdx.x];
    barrier.arrive_and_wait();  // MISTAKE(data_race): may come before init()
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

void no_barrier_after_init() { run(arrive_without_order); }

__global__ void one_warp_too_many(const float* in, float* out) {
    __shared__ float tile[64];
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) init(&barrier, 32);
    __syncthreads();
    tile[threadIdx.x] = in[threadIdx.x];        // OTHER: by the second warp
    barrier.arrive_and_wait();                  // the first warp completes the phase alone
    out[threadIdx.x] = tile[63 - threadIdx.x];  // MISTAKE(data_race): the second warp may not have arrived
}

void barrier_for_half_of_the_threads() { run(one_warp_too_many); }

__global__ void past_the_tile(const float* in, float* out) {
    __shared__ alignas(16) float tile[60];
    const cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tile, in, 64 * sizeof(float));  // MISTAKE(out_of_bounds): the tile has 60 floats
    cg::wait(block);
    out[threadIdx.x] = tile[threadIdx.x % 60];
}

void copy_larger_than_the_tile() { run(past_the_tile); }

}  // namespace

namespace corpus {

CaseList async_copies() {
    return {__FILE__,
            {{"barrier_in_place_of_cg_wait", "block.sync() where cg::wait belongs", barrier_in_place_of_cg_wait},
             {"own_element_read_before_the_wait", "no consumer_wait()", own_element_read_before_the_wait},
             {"wait_for_own_copies_only", "no barrier after consumer_wait()", wait_for_own_copies_only},
             {"second_stage_read_after_one_wait", "one wait for two stages", second_stage_read_after_one_wait},
             {"commit_before_the_copy", "the copy belongs to no stage", commit_before_the_copy},
             {"copy_into_a_tile_that_is_read", "the next copy comes too early", copy_into_a_tile_that_is_read},
             {"tile_released_before_it_is_read", "arrives first, and then reads", tile_released_before_it_is_read},
             {"wait_for_the_wrong_parity", "parity 1 in the first round", wait_for_the_wrong_parity, true},
             {"parity_that_counts_rounds", "one parity for two barriers", parity_that_counts_rounds, true},
             {"wait_with_an_old_token", "the token of two phases ago", wait_with_an_old_token, true},
             {"too_few_arrive_at_a_barrier", "32 of 64 arrivals", too_few_arrive_at_a_barrier, true},
             {"threads_leave_without_arriving", "early return", threads_leave_without_arriving, true},
             {"stages_that_nobody_releases", "no consumer_release()", stages_that_nobody_releases, true},
             {"barrier_without_init", "never initialized", barrier_without_init, true},
             {"no_barrier_after_init", "init() by one thread, no __syncthreads()", no_barrier_after_init},
             {"barrier_for_half_of_the_threads", "init() with too small a number", barrier_for_half_of_the_threads},
             {"copy_larger_than_the_tile", "64 floats into 60", copy_larger_than_the_tile}}};
}

}  // namespace corpus
