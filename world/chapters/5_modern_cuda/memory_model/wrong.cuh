// Versions of the relay that are wrong between blocks. Each differs from step 4 in the
// accesses to the flag only. They give up after many looks at the flag, because some of
// them would wait for ever.
#pragma once

#include <cuda_runtime.h>

#include <cuda/atomic>

#include "chapters/5_modern_cuda/memory_model/kernels.cuh"

namespace modern_cuda {
namespace {

constexpr unsigned kMostLooks = 20000;

// WRONG: plain loads and stores. The compiler may load the flag once, before the loop, as
// nothing in the loop changes it. It may also move the stores of the message behind that of
// the flag.
__global__ void relay_plain(unsigned* words, unsigned* turn, unsigned rounds,
                            unsigned* seen) {
    for (unsigned round = blockIdx.x; round < rounds; round += 2) {
        for (unsigned looks = 0; *turn != round; ++looks)
            if (looks == kMostLooks) return;
        unsigned sum = 0;
        for (unsigned k = 0; k < kWords; ++k) sum += words[k];
        seen[round] = sum;
        for (unsigned k = 0; k < kWords; ++k) words[k] = round + 1;
        *turn = round + 1;
    }
}

// WRONG: a volatile flag. Each look is a load now, but nothing orders the message.
__global__ void relay_volatile(unsigned* words, unsigned* turn, unsigned rounds,
                               unsigned* seen) {
    volatile unsigned* const flag = turn;
    for (unsigned round = blockIdx.x; round < rounds; round += 2) {
        for (unsigned looks = 0; *flag != round; ++looks)
            if (looks == kMostLooks) return;
        unsigned sum = 0;
        for (unsigned k = 0; k < kWords; ++k) sum += words[k];
        seen[round] = sum;
        for (unsigned k = 0; k < kWords; ++k) words[k] = round + 1;
        *flag = round + 1;
    }
}

// WRONG: an atomic flag, relaxed on both sides. No better than volatile.
__global__ void relay_relaxed(unsigned* words, unsigned* turn, unsigned rounds,
                              unsigned* seen) {
    for (unsigned round = blockIdx.x; round < rounds; round += 2) {
        for (unsigned looks = 0;
             DeviceFlag(*turn).load(cuda::memory_order_relaxed) != round; ++looks)
            if (looks == kMostLooks) return;
        unsigned sum = 0;
        for (unsigned k = 0; k < kWords; ++k) sum += words[k];
        seen[round] = sum;
        for (unsigned k = 0; k < kWords; ++k) words[k] = round + 1;
        DeviceFlag(*turn).store(round + 1, cuda::memory_order_relaxed);
    }
}

// WRONG: the writer releases, but the reader does not acquire. Its loads of the message may
// find old words in the L1 cache of its SM.
__global__ void relay_release_only(unsigned* words, unsigned* turn, unsigned rounds,
                                   unsigned* seen) {
    for (unsigned round = blockIdx.x; round < rounds; round += 2) {
        for (unsigned looks = 0;
             DeviceFlag(*turn).load(cuda::memory_order_relaxed) != round; ++looks)
            if (looks == kMostLooks) return;
        unsigned sum = 0;
        for (unsigned k = 0; k < kWords; ++k) sum += words[k];
        seen[round] = sum;
        for (unsigned k = 0; k < kWords; ++k) words[k] = round + 1;
        DeviceFlag(*turn).store(round + 1, cuda::memory_order_release);
    }
}

// WRONG: the reader acquires, but the writer does not release. The flag may arrive first.
__global__ void relay_acquire_only(unsigned* words, unsigned* turn, unsigned rounds,
                                   unsigned* seen) {
    for (unsigned round = blockIdx.x; round < rounds; round += 2) {
        for (unsigned looks = 0;
             DeviceFlag(*turn).load(cuda::memory_order_acquire) != round; ++looks)
            if (looks == kMostLooks) return;
        unsigned sum = 0;
        for (unsigned k = 0; k < kWords; ++k) sum += words[k];
        seen[round] = sum;
        for (unsigned k = 0; k < kWords; ++k) words[k] = round + 1;
        DeviceFlag(*turn).store(round + 1, cuda::memory_order_relaxed);
    }
}

// WRONG between blocks: release and acquire, but of block scope. That is the flag of step
// 6, where both players are in one block.
__global__ void relay_narrow_scope(unsigned* words, unsigned* turn, unsigned rounds,
                                   unsigned* seen) {
    for (unsigned round = blockIdx.x; round < rounds; round += 2) {
        for (unsigned looks = 0; BlockFlag(*turn).load(cuda::memory_order_acquire) != round;
             ++looks)
            if (looks == kMostLooks) return;
        unsigned sum = 0;
        for (unsigned k = 0; k < kWords; ++k) sum += words[k];
        seen[round] = sum;
        for (unsigned k = 0; k < kWords; ++k) words[k] = round + 1;
        BlockFlag(*turn).store(round + 1, cuda::memory_order_release);
    }
}

}  // namespace
}  // namespace modern_cuda
