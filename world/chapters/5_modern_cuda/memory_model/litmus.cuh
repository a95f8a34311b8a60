// Litmus tests: programs of four accesses, run by very many pairs of threads at once, which
// count how often an outcome appears that a reader of the source would not expect.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cuda/atomic>

#include "chapters/5_modern_cuda/memory_model/kernels.cuh"

namespace modern_cuda {
namespace {

constexpr unsigned kApart = 32;       // words between two pairs' places: a cache line
constexpr unsigned kFewLooks = 64;    // at a flag
constexpr unsigned kScatter = 10007;  // a prime number of pairs between partners

// The ways to send one word beside a flag. `receive` returns 0 if the flag was not seen, 1
// if flag and word were seen, and 2 if the flag was seen and the word was not.
constexpr unsigned kNoFlag = 0, kBoth = 1, kFlagAlone = 2;

struct VolatileFlag {
    static __device__ void send(unsigned* word, unsigned* flag) {
        *word = 1;
        *static_cast<volatile unsigned*>(flag) = 1;
    }
    static __device__ unsigned receive(const unsigned* word, unsigned* flag) {
        for (unsigned looks = 0; *static_cast<volatile unsigned*>(flag) == 0; ++looks)
            if (looks == kFewLooks) return kNoFlag;
        return *word == 1 ? kBoth : kFlagAlone;
    }
};
struct RelaxedFlag {
    static __device__ void send(unsigned* word, unsigned* flag) {
        *word = 1;
        DeviceFlag(*flag).store(1, cuda::memory_order_relaxed);
    }
    static __device__ unsigned receive(const unsigned* word, unsigned* flag) {
        for (unsigned looks = 0; DeviceFlag(*flag).load(cuda::memory_order_relaxed) == 0;
             ++looks)
            if (looks == kFewLooks) return kNoFlag;
        return *word == 1 ? kBoth : kFlagAlone;
    }
};
struct AcquireOnly {
    static __device__ void send(unsigned* word, unsigned* flag) {
        *word = 1;
        DeviceFlag(*flag).store(1, cuda::memory_order_relaxed);
    }
    static __device__ unsigned receive(const unsigned* word, unsigned* flag) {
        for (unsigned looks = 0; DeviceFlag(*flag).load(cuda::memory_order_acquire) == 0;
             ++looks)
            if (looks == kFewLooks) return kNoFlag;
        return *word == 1 ? kBoth : kFlagAlone;
    }
};
struct RelaxedAndFences {
    static __device__ void send(unsigned* word, unsigned* flag) {
        *word = 1;
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
        DeviceFlag(*flag).store(1, cuda::memory_order_relaxed);
    }
    static __device__ unsigned receive(const unsigned* word, unsigned* flag) {
        for (unsigned looks = 0; DeviceFlag(*flag).load(cuda::memory_order_relaxed) == 0;
             ++looks)
            if (looks == kFewLooks) return kNoFlag;
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        return *word == 1 ? kBoth : kFlagAlone;
    }
};
struct ReleaseAcquire {
    static __device__ void send(unsigned* word, unsigned* flag) {
        *word = 1;
        DeviceFlag(*flag).store(1, cuda::memory_order_release);
    }
    static __device__ unsigned receive(const unsigned* word, unsigned* flag) {
        for (unsigned looks = 0; DeviceFlag(*flag).load(cuda::memory_order_acquire) == 0;
             ++looks)
            if (looks == kFewLooks) return kNoFlag;
        return *word == 1 ? kBoth : kFlagAlone;
    }
};

// Holds all blocks until the last one is there, so that partners act at about the same
// time. All blocks have to be resident.
__device__ void start_together(unsigned* arrived) {
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1u);
        while (atomicAdd(arrived, 0u) < gridDim.x) {
        }
    }
    __syncthreads();
}

// Message passing. Each thread sends to one partner and receives from another, which is far
// away in the grid. Word and flag of a pair stand in different cache lines, and the flags
// in another order than the words, so that stores go to different parts of the L2 cache.
// With `near`, a thread has read the place beside the word before, so that its L1 cache has
// the word's sector, without the new word. `outcomes` counts the values of `receive`.
template <class Way>
__global__ void pass_messages(unsigned* words, unsigned* flags, bool near,
                              unsigned* arrived, unsigned* outcomes) {
    const unsigned pairs = gridDim.x * blockDim.x;
    const unsigned own = blockIdx.x * blockDim.x + threadIdx.x;
    const auto place_of_flag = [pairs](unsigned pair) {
        return (static_cast<unsigned long long>(pair) * kScatter) % pairs * kApart;
    };
    const unsigned other = (own + pairs / 2 + kScatter) % pairs;
    const unsigned beside = near ? words[std::size_t{other} * kApart + 1] : 0;  // is 0
    start_together(arrived);
    Way::send(words + std::size_t{own} * kApart, flags + place_of_flag(own));
    const unsigned outcome =
        Way::receive(words + std::size_t{other} * kApart, flags + place_of_flag(other));
    atomicAdd(outcomes + outcome + beside, 1u);
}

// Store buffering. Two threads share two words, x and y, which are 0. One stores 1 in x and
// then loads y, the other one stores 1 in y and then loads x. If accesses took place one
// after the other in any order, at least one of the threads would load a 1.
struct RelaxedAtomics {
    static __device__ unsigned store_and_load(unsigned* mine, unsigned* other) {
        DeviceFlag(*mine).store(1, cuda::memory_order_relaxed);
        return DeviceFlag(*other).load(cuda::memory_order_relaxed);
    }
};
struct ReleaseThenAcquire {
    static __device__ unsigned store_and_load(unsigned* mine, unsigned* other) {
        DeviceFlag(*mine).store(1, cuda::memory_order_release);
        return DeviceFlag(*other).load(cuda::memory_order_acquire);
    }
};
struct FenceOfAll {
    static __device__ unsigned store_and_load(unsigned* mine, unsigned* other) {
        DeviceFlag(*mine).store(1, cuda::memory_order_relaxed);
        cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
        return DeviceFlag(*other).load(cuda::memory_order_relaxed);
    }
};

// The first half of the blocks are the threads with x, the second half those with y.
// loaded[2 * pair] and loaded[2 * pair + 1]: what the two threads of a pair have loaded.
template <class Way>
__global__ void store_then_load(unsigned* x, unsigned* y, unsigned* arrived,
                                unsigned* loaded) {
    const unsigned pairs = gridDim.x / 2 * blockDim.x;
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    const bool is_second = thread >= pairs;
    const unsigned pair = is_second ? (thread - pairs + kScatter) % pairs : thread;
    unsigned* const of_x = x + std::size_t{pair} * kApart;
    unsigned* const of_y =
        y + (static_cast<unsigned long long>(pair) * kScatter) % pairs * kApart;
    start_together(arrived);
    loaded[2 * pair + (is_second ? 1 : 0)] =
        is_second ? Way::store_and_load(of_y, of_x) : Way::store_and_load(of_x, of_y);
}

}  // namespace
}  // namespace modern_cuda
