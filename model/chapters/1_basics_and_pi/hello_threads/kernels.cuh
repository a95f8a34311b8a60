// The kernels of hello_threads, in the order in which the lesson runs them. Each thread
// writes down who it is.
#pragma once

#include <cstdio>

namespace basics_and_pi {
namespace {

// 1. Hello. Every thread prints a line. On a GPU, the lines of different blocks come in any
// order, and they appear only when the host waits for the device: printf fills a buffer on
// the device, and the host empties it when it synchronizes.
__global__ void say_hello() {
    printf("    hello from thread %u of %u in block %u of %u\n", threadIdx.x, blockDim.x,
           blockIdx.x, gridDim.x);
}

/// Who computed an element.
struct Identity {
    uint3 block;    ///< place of the block in the grid
    uint3 thread;   ///< place of the thread in its block
    unsigned warp;  ///< of the block
    unsigned lane;  ///< of the warp, 0 to 31
};

// 2. One dimension. The index counts the threads of the whole grid: first those of all
// blocks before this one, then this thread's place in its own block. The number of elements
// is seldom a multiple of the block size, so the last block has too many threads. Without
// the guard, they would write past the end of the array.
__global__ void who_am_i_1d(Identity* who, unsigned count) {
    const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= count) return;
    const unsigned rank = threadIdx.x;  // among the threads of the block
    who[index] = {{blockIdx.x, blockIdx.y, blockIdx.z},
                  {threadIdx.x, threadIdx.y, threadIdx.z},
                  rank / warpSize,
                  rank % warpSize};
}

// 3. Two dimensions: one index for each direction, and a guard for each. x runs along a
// row, because threads with neighboring x share a warp, and neighboring columns are
// neighbors in memory. The rank of a thread in its block counts the rows of the block above
// it first.
__global__ void who_am_i_2d(Identity* who, unsigned rows, unsigned cols) {
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || col >= cols) return;
    const unsigned rank = threadIdx.y * blockDim.x + threadIdx.x;
    who[row * cols + col] = {{blockIdx.x, blockIdx.y, blockIdx.z},
                             {threadIdx.x, threadIdx.y, threadIdx.z},
                             rank / warpSize,
                             rank % warpSize};
}

// 4. Three dimensions: z is the layer. The formulas nest. The element is
// (layer * rows + row) * cols + col, and the rank of the thread has the same form, with the
// extents of the block.
__global__ void who_am_i_3d(Identity* who, unsigned layers, unsigned rows, unsigned cols) {
    const unsigned layer = blockIdx.z * blockDim.z + threadIdx.z;
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    if (layer >= layers || row >= rows || col >= cols) return;
    const unsigned rank =
        (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    who[(layer * rows + row) * cols + col] = {{blockIdx.x, blockIdx.y, blockIdx.z},
                                              {threadIdx.x, threadIdx.y, threadIdx.z},
                                              rank / warpSize,
                                              rank % warpSize};
}

// 5. Does the hardware form warps as the rank says? This kernel finds out without a formula
// for the warp: each thread gets the rank of its warp's lane 0. __shfl_sync(mask, rank, 0)
// hands each lane the value that `rank` has in lane 0, and it reaches only lanes of the
// same warp. In a block of 48 threads, for example, threads 0 to 31 get 0, and threads 32
// to 47 get 32. The mask must name exactly the lanes that exist: if the block size is not a
// multiple of 32, the last warp is a partial one.
__global__ void first_rank_of_my_warp(unsigned* first) {
    const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    const unsigned rank =
        (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const unsigned lanes =
        min(threads - rank / warpSize * warpSize, static_cast<unsigned>(warpSize));
    const unsigned mask = lanes == 32 ? 0xFFFFFFFFu : (1u << lanes) - 1;
    first[rank] = __shfl_sync(mask, rank, 0);
}

// 6. Order. One thread of each block draws a ticket: atomicAdd gives every caller a
// different one. The language does not say which block comes first, so the result of a
// program must not depend on it.
__global__ void draw_tickets(unsigned* tickets_drawn, unsigned* block_of_ticket) {
    if (threadIdx.x == 0) block_of_ticket[atomicAdd(tickets_drawn, 1u)] = blockIdx.x;
}

}  // namespace
}  // namespace basics_and_pi
