// Mistakes with clusters, for the CPU device to find. On a GPU these kernels may end with
// an error, hang, or give wrong results, so they do not run there. Each is launched with
// one cluster of two blocks of 64 threads, and adds up how many of 128 numbers are even.
#pragma once

#include <cuda_runtime.h>

#include "chapters/5_modern_cuda/clusters/kernels.cuh"

namespace modern_cuda {
namespace {

__device__ unsigned is_even(const unsigned* keys) {
    return keys[blockIdx.x * blockDim.x + threadIdx.x] % 2 == 0 ? 1 : 0;
}

// WRONG: the block of rank 0 may have ended when the other one adds to its counter.
__global__ void ends_too_early(const unsigned* keys, unsigned* counts) {
    __shared__ unsigned sum;
    const auto cluster = this_cluster();
    if (threadIdx.x == 0) sum = 0;
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(&sum, 0), is_even(keys));
    if (cluster.block_rank() == 0 && threadIdx.x == 0) counts[0] = keys[0];
}

// WRONG: the block of rank 0 may not have started, and it clears the counter later.
__global__ void counts_before_the_start(const unsigned* keys, unsigned* counts) {
    __shared__ unsigned sum;
    const auto cluster = this_cluster();
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(cluster.map_shared_rank(&sum, 0), is_even(keys));
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) counts[0] = sum;
}

// WRONG: all blocks have started, but nothing makes the others wait until it is cleared.
__global__ void clears_too_late(const unsigned* keys, unsigned* counts) {
    __shared__ unsigned sum;
    const auto cluster = this_cluster();
    cluster.sync();
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(cluster.map_shared_rank(&sum, 0), is_even(keys));
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) counts[0] = sum;
}

// WRONG: __syncthreads() waits for the threads of one block.
__global__ void barrier_of_the_block(const unsigned* keys, unsigned* counts) {
    __shared__ unsigned sum;
    const auto cluster = this_cluster();
    if (threadIdx.x == 0) sum = 0;
    cluster.sync();
    atomicAdd(&sum, is_even(keys));
    __syncthreads();
    if (cluster.block_rank() == 0 && threadIdx.x == 0)
        counts[0] = sum + *cluster.map_shared_rank(&sum, 1);
    cluster.sync();
}

// WRONG: only the first warp of each block comes to the second barrier of the cluster. The
// other warp waits at the next barrier of its block, where the first one never arrives.
__global__ void barrier_in_a_branch(const unsigned* keys, unsigned* counts) {
    __shared__ unsigned sum;
    const auto cluster = this_cluster();
    if (threadIdx.x == 0) sum = 0;
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(&sum, 0), is_even(keys));
    if (threadIdx.x < 32) cluster.sync();
    __syncthreads();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) counts[0] = sum;
    cluster.sync();
}

// WRONG: the neighbor of the last block has a rank that the cluster does not have.
__global__ void rank_past_the_last(const unsigned* keys, unsigned* counts) {
    __shared__ unsigned sum;
    const auto cluster = this_cluster();
    if (threadIdx.x == 0) sum = 0;
    cluster.sync();
    const int neighbor = static_cast<int>(cluster.block_rank()) + 1;
    atomicAdd(cluster.map_shared_rank(&sum, neighbor), is_even(keys));
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) counts[0] = sum;
}

// WRONG: 65 counters are used, and the array has 64.
__global__ void past_the_other_array(const unsigned* keys, unsigned* counts) {
    __shared__ unsigned sums[64];
    const auto cluster = this_cluster();
    sums[threadIdx.x] = 0;
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(sums, 0) + threadIdx.x + 1, is_even(keys));
    cluster.sync();
    if (cluster.block_rank() == 0) atomicAdd(counts, sums[threadIdx.x]);
}

}  // namespace
}  // namespace modern_cuda
