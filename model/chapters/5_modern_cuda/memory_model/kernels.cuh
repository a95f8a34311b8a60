// The kernels of the lesson memory_model, in the order of the steps. All of them play the
// same relay: two threads hand a message to each other, back and forth.
#pragma once

#include <cuda_runtime.h>

#include <cuda/atomic>

namespace modern_cuda {
namespace {

// A message has eight words, which is one sector. In round r the thread whose turn it is
// finds r in each word, leaves the sum of the words in seen[r], and writes r + 1 into each
// word: the message of the next round, which the other thread reads. So seen[r] is 8 r,
// unless a thread has read words that are older than its turn.
constexpr unsigned kWords = 8;

// Step 1, a launch per round. Everything that a kernel wrote is visible to the next kernel
// in the same stream, so nothing else is needed.
// Slow because each hand-over is a launch, and the device is idle between two of them.
__global__ void relay_by_launches(unsigned* words, unsigned round, unsigned* seen) {
    unsigned sum = 0;
    for (unsigned k = 0; k < kWords; ++k) sum += words[k];
    seen[round] = sum;
    for (unsigned k = 0; k < kWords; ++k) words[k] = round + 1;
}

// Step 2, one launch for all rounds, with two blocks of one thread. `turn` is a flag: the
// number of the round that may begin. CUDA's older functions do it: an atomic operation on
// the flag, and a fence between flag and message on either side. The fence after the loop
// keeps the loads of the message behind the load of the flag, and the fence before
// atomicExch keeps the stores of the message before the store of the flag.
// (A block may wait for another one only if that one is sure to run, too. The launch is
// cooperative, so both are resident.)
// Faster because no launch is left in the chain. Still slow because each look at the flag
// is an atomicAdd of 0, which reads and writes, and because __threadfence() is stronger
// than a hand-over needs: it is the fence with memory_order_seq_cst of step 3's functions,
// which also keeps the thread's later loads behind its earlier stores.
__global__ void relay_threadfence(unsigned* words, unsigned* turn, unsigned rounds,
                                  unsigned* seen) {
    for (unsigned round = blockIdx.x; round < rounds; round += 2) {
        while (atomicAdd(turn, 0u) != round) {
        }
        __threadfence();
        unsigned sum = 0;
        for (unsigned k = 0; k < kWords; ++k) sum += words[k];
        seen[round] = sum;
        for (unsigned k = 0; k < kWords; ++k) words[k] = round + 1;
        __threadfence();
        atomicExch(turn, round + 1);
    }
}

// Step 3, the same in terms of C++: relaxed loads and stores of the flag, which are atomic
// and order nothing else, and beside them a fence that acquires and one that releases.
// Should be faster because a look at the flag is a load now, and because the fences promise
// less: an acquire keeps what follows it behind, and a release keeps what precedes it
// before. Still slow because a fence speaks of all memory accesses of the thread, whichever
// flag is meant.
using DeviceFlag = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

__global__ void relay_relaxed_and_fences(unsigned* words, unsigned* turn, unsigned rounds,
                                         unsigned* seen) {
    for (unsigned round = blockIdx.x; round < rounds; round += 2) {
        while (DeviceFlag(*turn).load(cuda::memory_order_relaxed) != round) {
        }
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        unsigned sum = 0;
        for (unsigned k = 0; k < kWords; ++k) sum += words[k];
        seen[round] = sum;
        for (unsigned k = 0; k < kWords; ++k) words[k] = round + 1;
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
        DeviceFlag(*turn).store(round + 1, cuda::memory_order_relaxed);
    }
}

// Step 4, the order belongs to the access: a load that acquires, and a store that releases.
// Better because it says what is meant, in two places instead of four, and because hardware
// that can order by the access needs no fence. Each look at the flag acquires here, also
// those that find the wrong round, so step 3 may be as fast.
__global__ void relay_release_acquire(unsigned* words, unsigned* turn, unsigned rounds,
                                      unsigned* seen) {
    for (unsigned round = blockIdx.x; round < rounds; round += 2) {
        while (DeviceFlag(*turn).load(cuda::memory_order_acquire) != round) {
        }
        unsigned sum = 0;
        for (unsigned k = 0; k < kWords; ++k) sum += words[k];
        seen[round] = sum;
        for (unsigned k = 0; k < kWords; ++k) words[k] = round + 1;
        DeviceFlag(*turn).store(round + 1, cuda::memory_order_release);
    }
}

// Step 5, system scope, which is what cuda::atomic_ref has if no scope is named. The other
// thread may now also be on the host or on another GPU.
// Slower, or at best as fast: a release has to be complete for the whole system, although
// both threads are on this device.
using SystemFlag = cuda::atomic_ref<unsigned, cuda::thread_scope_system>;

__global__ void relay_system_scope(unsigned* words, unsigned* turn, unsigned rounds,
                                   unsigned* seen) {
    for (unsigned round = blockIdx.x; round < rounds; round += 2) {
        while (SystemFlag(*turn).load(cuda::memory_order_acquire) != round) {
        }
        unsigned sum = 0;
        for (unsigned k = 0; k < kWords; ++k) sum += words[k];
        seen[round] = sum;
        for (unsigned k = 0; k < kWords; ++k) words[k] = round + 1;
        SystemFlag(*turn).store(round + 1, cuda::memory_order_release);
    }
}

// Step 6, block scope. The players are the first lanes of two warps of one block, so they
// run on one SM and share its L1 cache. Message and flag are in global memory, as before.
// Faster because what the other thread wrote is found in the L1 cache of the SM: no trip to
// the L2 cache is needed. Still slow because global memory is behind that cache, and its
// addresses have to be looked up there.
using BlockFlag = cuda::atomic_ref<unsigned, cuda::thread_scope_block>;

__global__ void relay_block_scope(unsigned* words, unsigned* turn, unsigned rounds,
                                  unsigned* seen) {
    if (threadIdx.x % 32 != 0) return;
    for (unsigned round = threadIdx.x / 32; round < rounds; round += 2) {
        while (BlockFlag(*turn).load(cuda::memory_order_acquire) != round) {
        }
        unsigned sum = 0;
        for (unsigned k = 0; k < kWords; ++k) sum += words[k];
        seen[round] = sum;
        for (unsigned k = 0; k < kWords; ++k) words[k] = round + 1;
        BlockFlag(*turn).store(round + 1, cuda::memory_order_release);
    }
}

// Step 7, message and flag in shared memory. The order and the scope are those of step 6.
// Faster because shared memory has a shorter way. Still slow because a player looks again
// and again, and each look takes a whole latency of shared memory.
__global__ void relay_in_shared_memory(unsigned rounds, unsigned* seen) {
    __shared__ unsigned words[kWords];
    __shared__ unsigned turn;
    if (threadIdx.x < kWords) words[threadIdx.x] = 0;
    if (threadIdx.x == 0) turn = 0;
    __syncthreads();
    if (threadIdx.x % 32 != 0) return;
    for (unsigned round = threadIdx.x / 32; round < rounds; round += 2) {
        while (BlockFlag(turn).load(cuda::memory_order_acquire) != round) {
        }
        unsigned sum = 0;
        for (unsigned k = 0; k < kWords; ++k) sum += words[k];
        seen[round] = sum;
        for (unsigned k = 0; k < kWords; ++k) words[k] = round + 1;
        BlockFlag(turn).store(round + 1, cuda::memory_order_release);
    }
}

// Step 8, for comparison: a barrier per round instead of a flag. __syncthreads() is a
// release of each thread and an acquire of each thread, at block scope, and it waits.
// Better where all threads of a block have to go on together. It cannot replace the flag
// between blocks, or between two warps of a block whose other warps must not wait.
__global__ void relay_by_barriers(unsigned rounds, unsigned* seen) {
    __shared__ unsigned words[kWords];
    if (threadIdx.x < kWords) words[threadIdx.x] = 0;
    for (unsigned round = 0; round < rounds; ++round) {
        __syncthreads();
        if (threadIdx.x != round % 2 * 32) continue;
        unsigned sum = 0;
        for (unsigned k = 0; k < kWords; ++k) sum += words[k];
        seen[round] = sum;
        for (unsigned k = 0; k < kWords; ++k) words[k] = round + 1;
    }
}

}  // namespace
}  // namespace modern_cuda
