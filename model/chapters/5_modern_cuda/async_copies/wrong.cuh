// Mistakes with asynchronous copies, for the CPU device to find. On a GPU these kernels may
// hang or give wrong results, so they do not run there. All of them have one block of 64
// threads, and reverse 64 floats, or two times 64, through shared memory.
#pragma once

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_runtime.h>

#include <cuda/barrier>
#include <cuda/pipeline>

namespace modern_cuda {
namespace {

namespace cg = cooperative_groups;

// WRONG: a barrier of the block waits for threads, and not for their copies.
__global__ void barrier_instead_of_wait(const float* in, float* out) {
    __shared__ alignas(16) float tile[64];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    cuda::memcpy_async(tile + threadIdx.x, in + threadIdx.x, sizeof(float), pipe);
    pipe.producer_commit();
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
    pipe.consumer_wait();
}

// WRONG: each thread has waited for its own copies only, and reads what another one copies.
__global__ void wait_without_barrier(const float* in, float* out) {
    __shared__ alignas(16) float tile[64];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    cuda::memcpy_async(tile + threadIdx.x, in + threadIdx.x, sizeof(float), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

// WRONG: two stages were committed, and the wait leaves the last one in flight. The threads
// read that one.
__global__ void wait_for_the_other_stage(const float* in, float* out) {
    __shared__ alignas(16) float tiles[2][64];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    for (unsigned stage = 0; stage < 2; ++stage) {
        cuda::memcpy_async(&tiles[stage][threadIdx.x], in + threadIdx.x, sizeof(float),
                           pipe);
        pipe.producer_commit();
    }
    cuda::pipeline_consumer_wait_prior<1>(pipe);
    __syncthreads();
    out[threadIdx.x] = tiles[1][63 - threadIdx.x];
}

// WRONG: the second copy overwrites the tile while other threads still read the first one.
__global__ void copy_into_a_tile_in_use(const float* in, float* out) {
    __shared__ alignas(16) float tile[64];
    const cg::thread_block block = cg::this_thread_block();
    for (unsigned round = 0; round < 2; ++round) {
        cg::memcpy_async(block, tile, in + 64 * round, sizeof tile);
        cg::wait(block);
        out[64 * round + threadIdx.x] = tile[63 - threadIdx.x];
    }
}

// WRONG: the barrier counts on 64 arrivals in each phase, and one warp does not arrive.
__global__ void too_few_arrivals(const float* in, float* out) {
    __shared__ alignas(16) float tile[64];
    __shared__ cuda::barrier<cuda::thread_scope_block> filled;
    if (threadIdx.x == 0) init(&filled, blockDim.x);
    __syncthreads();
    if (threadIdx.x < 32) {
        cuda::memcpy_async(&tile[2 * threadIdx.x], in + 2 * threadIdx.x, 2 * sizeof(float),
                           filled);
        (void)filled.arrive();
    } else {
        filled.wait_parity(false);
        out[threadIdx.x] = tile[63 - threadIdx.x];
    }
}

// WRONG: nothing makes the other threads wait until thread 0 has initialized the barrier.
__global__ void arrive_before_init(const float* in, float* out) {
    __shared__ alignas(16) float tile[64];
    __shared__ cuda::barrier<cuda::thread_scope_block> filled;
    if (threadIdx.x == 0) init(&filled, blockDim.x);
    cuda::memcpy_async(tile + threadIdx.x, in + threadIdx.x, sizeof(float), filled);
    filled.arrive_and_wait();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

}  // namespace
}  // namespace modern_cuda
