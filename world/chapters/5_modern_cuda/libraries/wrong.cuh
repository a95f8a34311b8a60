// Mistakes with CUB, for the CPU device to find. On a GPU these kernels may hang or give
// wrong results, so they do not run there. All of them have one block of 64 threads.
#pragma once

#include <cuda_runtime.h>

#include <cub/block/block_reduce.cuh>
#include <cuda/functional>

namespace modern_cuda {
namespace {

using SmallReduce = cub::BlockReduce<unsigned, 64>;

// WRONG: the second reduction writes to the storage while thread 0 may still read what the
// first one left there.
__global__ void storage_used_again(const unsigned* in, unsigned* out) {
    __shared__ typename SmallReduce::TempStorage storage;
    const unsigned sum = SmallReduce(storage).Sum(in[threadIdx.x]);
    const unsigned most = SmallReduce(storage).Reduce(in[threadIdx.x], cuda::maximum<>());
    if (threadIdx.x == 0) {
        out[0] = sum;
        out[1] = most;
    }
}

// WRONG: all threads of the block have to take part, and only the first warp comes.
__global__ void reduce_in_branch(const unsigned* in, unsigned* out) {
    __shared__ typename SmallReduce::TempStorage storage;
    if (threadIdx.x < 32) {
        const unsigned sum = SmallReduce(storage).Sum(in[threadIdx.x]);
        if (threadIdx.x == 0) out[0] = sum;
    }
    __syncthreads();
}

// WRONG: the primitive is made for 128 threads, and the block has 64.
__global__ void reduce_for_another_block(const unsigned* in, unsigned* out) {
    using LargeReduce = cub::BlockReduce<unsigned, 128>;
    __shared__ typename LargeReduce::TempStorage storage;
    const unsigned sum = LargeReduce(storage).Sum(in[threadIdx.x]);
    if (threadIdx.x == 0) out[0] = sum;
}

}  // namespace
}  // namespace modern_cuda
