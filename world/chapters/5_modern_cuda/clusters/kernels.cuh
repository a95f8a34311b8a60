// The kernels of the lesson clusters, in the order of the steps: a histogram with so many
// bins that the counters of all of them may not fit into one block's shared memory. A key
// is the number of its bin.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "common/helpers/this_cluster.cuh"

namespace modern_cuda {
namespace {

// Step 2, counters in global memory, where there is room for any number of them.
// Slow because each increment travels to the L2 cache and is carried out there. The lanes
// of a warp want 32 counters in 32 sectors, so one instruction makes 32 updates.
__global__ void count_global(const unsigned* keys, std::size_t key_count,
                             unsigned* counts) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < key_count;
         i += stride)
        atomicAdd(&counts[keys[i]], 1u);
}

// The bins that one launch counts: `bins` of them, from `first` on.
struct Slice {
    unsigned first;
    unsigned bins;
};

// Step 3, as many counters as fit into 48 KiB of shared memory, and a launch for each slice
// of the bins. A key of another slice is left to another launch: `keys[i] - slice.first` is
// then a large number, also where it would be negative.
// Faster because increments stay on the SM. Slow because each launch reads all keys.
__global__ void count_slice(const unsigned* keys, std::size_t key_count, Slice slice,
                            unsigned* counts) {
    extern __shared__ unsigned counters[];
    for (unsigned i = threadIdx.x; i < slice.bins; i += blockDim.x) counters[i] = 0;
    __syncthreads();
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < key_count;
         i += stride) {
        const unsigned bin = keys[i] - slice.first;
        if (bin < slice.bins) atomicAdd(&counters[bin], 1u);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < slice.bins; i += blockDim.x)
        if (counters[i] > 0) atomicAdd(&counts[slice.first + i], counters[i]);
}

// Step 4 is the same kernel, launched with as much shared memory as a block can have: 227
// KiB on an H200. A block gets more than 48 KiB only after cudaFuncSetAttribute.
// Faster because 58,112 counters fit, so there are fewer launches. Still slow because only
// one such block fits on an SM, and each of its threads has one key in flight.

// What the steps from here on do with their keys: 16 bytes per load, and kDeep loads in
// flight before the first key is counted.
constexpr unsigned kDeep = 4;
constexpr unsigned kThreads = 1024;  // per block of these steps

template <class Count>
__device__ void count_quad(uint4 quad, Count count) {
    count(quad.x);
    count(quad.y);
    count(quad.z);
    count(quad.w);
}

template <class Count>
__device__ void for_each_key(const unsigned* keys, std::size_t key_count, Count count) {
    const uint4* const quads = reinterpret_cast<const uint4*>(keys);
    const std::size_t quad_count = key_count / 4;
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    for (; i + (kDeep - 1) * stride < quad_count; i += kDeep * stride) {
        uint4 loaded[kDeep];
#pragma unroll
        for (unsigned k = 0; k < kDeep; ++k) loaded[k] = quads[i + k * stride];
#pragma unroll
        for (unsigned k = 0; k < kDeep; ++k) count_quad(loaded[k], count);
    }
    for (; i < quad_count; i += stride) count_quad(quads[i], count);
    const std::size_t rest = 4 * quad_count + threadIdx.x;
    if (blockIdx.x == 0 && rest < key_count) count(keys[rest]);
}

// Step 5, more bytes in flight. 1024 threads with 64 bytes each are 64 KiB per SM, even
// where one block fills the SM.
// Faster because the memory is busy all the time. Still slow where the bins need several
// slices, because then all keys are read several times.
__global__ void __launch_bounds__(kThreads)
    count_slice_wide(const unsigned* keys, std::size_t key_count, Slice slice,
                     unsigned* counts) {
    extern __shared__ unsigned counters[];
    for (unsigned i = threadIdx.x; i < slice.bins; i += blockDim.x) counters[i] = 0;
    __syncthreads();
    for_each_key(keys, key_count, [&](unsigned key) {
        const unsigned bin = key - slice.first;
        if (bin < slice.bins) atomicAdd(&counters[bin], 1u);
    });
    __syncthreads();
    for (unsigned i = threadIdx.x; i < slice.bins; i += blockDim.x)
        if (counters[i] > 0) atomicAdd(&counts[slice.first + i], counters[i]);
}

// Step 6, two counters of 16 bits in each word. A counter that would pass 65535 hands 65536
// on to global memory and begins anew.
// Faster because twice as many counters fit, so there are half as many slices. Slower than
// step 5 where counters of 32 bits fit as well: the increment has to return the old value,
// and the kernel has to look whether a counter is full. Whether that is the reason was not
// examined.
constexpr unsigned kHalf = 1u << 16;

// The lower counter of a word carries into the upper one, and the carry is taken back. The
// word counts modulo 2^32, so it is enough to tell global memory whenever the upper counter
// passes 65535 in either direction, for whatever reason.
__device__ void count_in_half(unsigned* words, unsigned bin, unsigned* counts) {
    unsigned* const word = &words[bin / 2];
    const unsigned upper = bin | 1;
    if (bin == upper) {
        if (atomicAdd(word, kHalf) >= kHalf * (kHalf - 1)) atomicAdd(&counts[upper], kHalf);
        return;
    }
    const unsigned old = atomicAdd(word, 1u);
    if (old % kHalf < kHalf - 1) return;
    atomicAdd(&counts[bin], kHalf);
    if (old / kHalf == kHalf - 1) atomicAdd(&counts[upper], kHalf);
    if (atomicSub(word, kHalf) < kHalf) atomicSub(&counts[upper], kHalf);
}

__global__ void __launch_bounds__(kThreads)
    count_packed(const unsigned* keys, std::size_t key_count, Slice slice,
                 unsigned* counts) {
    extern __shared__ unsigned counters[];
    unsigned* const of_slice = counts + slice.first;
    for (unsigned i = threadIdx.x; i < (slice.bins + 1) / 2; i += blockDim.x)
        counters[i] = 0;
    __syncthreads();
    for_each_key(keys, key_count, [&](unsigned key) {
        const unsigned bin = key - slice.first;
        if (bin < slice.bins) count_in_half(counters, bin, of_slice);
    });
    __syncthreads();
    for (unsigned i = threadIdx.x; i < slice.bins; i += blockDim.x) {
        const unsigned sum = counters[i / 2] >> (i % 2 * 16) & (kHalf - 1);
        if (sum > 0) atomicAdd(&of_slice[i], sum);
    }
}

// cooperative_groups::this_cluster(). For a GPU without clusters, nvcc has no such
// function, and this_cluster.cuh puts another one in its place.
using warpwise::this_cluster;

// Steps 7 and 8, a cluster of blocks shares the counters. Bins are dealt out to its blocks
// in turn: of 4 blocks, the one of rank 3 has the bins 3, 7, 11 ... The number of blocks is
// a power of two. map_shared_rank turns the address of a variable in the block's own shared
// memory into that of the same variable in another block, and atomicAdd works there, too.
// Two barriers of the whole cluster are needed: nobody may count before all counters are 0,
// and no block may end while others still count in its shared memory.
// Twice as many blocks have room for twice as many bins, so one pass over the keys is
// enough. All the same, slower than steps 5 and 6 on an H200: at least half of the
// increments travel to another SM, each by itself, which takes longer than more passes.
__global__ void __launch_bounds__(kThreads)
    count_in_cluster(const unsigned* keys, std::size_t key_count, Slice slice,
                     unsigned* counts) {
    extern __shared__ unsigned counters[];
    const auto cluster = this_cluster();
    const unsigned blocks = cluster.num_blocks();
    const unsigned rank = cluster.block_rank();
    const unsigned shift = static_cast<unsigned>(__popc(blocks - 1));
    const unsigned own = (slice.bins - rank + blocks - 1) >> shift;
    for (unsigned i = threadIdx.x; i < own; i += blockDim.x) counters[i] = 0;
    cluster.sync();  // all counters are 0
    for_each_key(keys, key_count, [&](unsigned key) {
        const unsigned bin = key - slice.first;
        if (bin >= slice.bins) return;
        const unsigned owner = bin & (blocks - 1);
        atomicAdd(cluster.map_shared_rank(&counters[bin >> shift], static_cast<int>(owner)),
                  1u);
    });
    cluster.sync();  // all keys are counted
    for (unsigned i = threadIdx.x; i < own; i += blockDim.x)
        if (counters[i] > 0)
            atomicAdd(&counts[slice.first + (i << shift) + rank], counters[i]);
}

// Step 9, the other way round: each block has counters for all bins of the slice, as in
// step 5, and the cluster adds them up. Each block takes a part of the bins and reads the
// counters of all blocks.
// Faster than step 7 because increments stay on the SM, and loads from other SMs are
// coalesced. There are fewer atomics in global memory than in step 5: one per bin and
// cluster, and not one per bin and block. That gains something only where the adding up
// weighs. Still slow where the bins do not fit into one block, as in step 5.
__global__ void __launch_bounds__(kThreads)
    sum_in_cluster(const unsigned* keys, std::size_t key_count, Slice slice,
                   unsigned* counts) {
    extern __shared__ unsigned counters[];
    const auto cluster = this_cluster();
    const unsigned blocks = cluster.num_blocks();
    const unsigned rank = cluster.block_rank();
    for (unsigned i = threadIdx.x; i < slice.bins; i += blockDim.x) counters[i] = 0;
    __syncthreads();
    for_each_key(keys, key_count, [&](unsigned key) {
        const unsigned bin = key - slice.first;
        if (bin < slice.bins) atomicAdd(&counters[bin], 1u);
    });
    cluster.sync();  // all blocks have counted
    for (unsigned i = rank * blockDim.x + threadIdx.x; i < slice.bins;
         i += blocks * blockDim.x) {
        unsigned sum = 0;
        // Each block begins with its own counters, so that not all ask the same SM.
        for (unsigned k = 0; k < blocks; ++k) {
            const unsigned from = (rank + k) & (blocks - 1);
            sum += *cluster.map_shared_rank(&counters[i], static_cast<int>(from));
        }
        if (sum > 0) atomicAdd(&counts[slice.first + i], sum);
    }
    cluster.sync();  // nobody reads this block's counters any more
}

// Step 10, keys are sent to the block that owns their bins, and counted there. In each
// round a warp sorts its keys by owner, and writes those of another block into a part of
// that block's inbox which is its own. It writes them side by side, so the stores are
// coalesced.
// A key needs 16 bits: its place among the owner's counters. After the barrier of the
// cluster, each block counts what is in its inbox. While threads wait for the barrier, the
// keys of the next round are loaded and those of the block's own bins are counted. Two
// inboxes take turns, so that one barrier per round is enough.
// With 2 or 4 blocks, and up to 131,072 bins, faster than increments that travel: what
// travels is packed. With 8 blocks it is slower on an H200, because of the work of sorting,
// which grows with the number of blocks, or for another reason: that was not examined.
// Slower than steps 5, 6, and 9, which send no keys.
constexpr unsigned kWarps = kThreads / 32;
constexpr unsigned kNoKey = 0xFFFFFFFF;

// Of a block: what the warps of each block of the cluster send, by the sender's rank.
// `Quads`: 16-byte loads per thread and round.
template <unsigned Blocks, unsigned Quads>
struct Inbox {
    unsigned sizes[Blocks][kWarps];
    unsigned short places[Blocks][kWarps][4 * Quads * 32];
};

template <unsigned Blocks, unsigned Quads>
__global__ void __launch_bounds__(kThreads)
    send_to_owners(const unsigned* keys, std::size_t key_count, Slice slice,
                   unsigned* counts) {
    extern __shared__ unsigned counters[];
    auto* const inboxes = reinterpret_cast<Inbox<Blocks, Quads>*>(counters);
    unsigned* const own_counters = reinterpret_cast<unsigned*>(inboxes + 2);
    const auto cluster = this_cluster();
    const unsigned rank = cluster.block_rank();
    const unsigned warp = threadIdx.x / 32;
    const unsigned lane = threadIdx.x % 32;
    const unsigned own = (slice.bins - rank + Blocks - 1) / Blocks;
    for (unsigned i = threadIdx.x; i < own; i += kThreads) own_counters[i] = 0;
    cluster.sync();  // all blocks have started

    const uint4* const quads = reinterpret_cast<const uint4*>(keys);
    const std::size_t quad_count = key_count / 4;
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    const std::size_t start = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    const auto load = [&](std::size_t round, uint4(&loaded)[Quads]) {
#pragma unroll
        for (unsigned k = 0; k < Quads; ++k) {
            const std::size_t i = start + (round * Quads + k) * stride;
            loaded[k] =
                i < quad_count ? quads[i] : make_uint4(kNoKey, kNoKey, kNoKey, kNoKey);
        }
    };
    // All threads of the cluster make the same number of rounds.
    const std::size_t rounds = (quad_count + Quads * stride - 1) / (Quads * stride);
    uint4 next[Quads];
    load(0, next);
    for (std::size_t round = 0; round < rounds; ++round) {
        uint4 now[Quads];
#pragma unroll
        for (unsigned k = 0; k < Quads; ++k) now[k] = next[k];
        Inbox<Blocks, Quads>* const inbox = inboxes + round % 2;
        unsigned sent[Blocks] = {};
        const auto send = [&](unsigned key) {
            const unsigned bin = key - slice.first;
            const unsigned owner = bin < slice.bins ? bin % Blocks : rank;
#pragma unroll
            for (unsigned to = 0; to < Blocks; ++to) {
                if (to == rank) continue;
                const unsigned same = __ballot_sync(0xFFFFFFFFu, owner == to);
                if (owner == to) {
                    const unsigned before = same & ((1u << lane) - 1);
                    const unsigned place = sent[to] + static_cast<unsigned>(__popc(before));
                    *cluster.map_shared_rank(&inbox->places[rank][warp][place],
                                             static_cast<int>(to)) =
                        static_cast<unsigned short>(bin / Blocks);
                }
                sent[to] += static_cast<unsigned>(__popc(same));
            }
        };
#pragma unroll
        for (unsigned k = 0; k < Quads; ++k) count_quad(now[k], send);
        if (lane == 0) {
#pragma unroll
            for (unsigned to = 0; to < Blocks; ++to)
                if (to != rank)
                    *cluster.map_shared_rank(&inbox->sizes[rank][warp],
                                             static_cast<int>(to)) = sent[to];
        }
        __syncwarp();
        cluster.barrier_arrive();  // this warp has sent all of this round

        load(round + 1, next);
#pragma unroll
        for (unsigned k = 0; k < Quads; ++k) {
            count_quad(now[k], [&](unsigned key) {
                const unsigned bin = key - slice.first;
                if (bin < slice.bins && bin % Blocks == rank)
                    atomicAdd(&own_counters[bin / Blocks], 1u);
            });
        }
        __syncwarp();
        cluster.barrier_wait();  // all warps of the cluster have

        for (unsigned from = 0; from < Blocks; ++from) {
            if (from == rank) continue;
            const unsigned size = inbox->sizes[from][warp];
            for (unsigned i = lane; i < size; i += 32)
                atomicAdd(&own_counters[inbox->places[from][warp][i]], 1u);
        }
    }
    // Up to three keys after the last 16 bytes.
    const std::size_t rest = 4 * quad_count + threadIdx.x;
    if (blockIdx.x == 0 && rest < key_count && keys[rest] - slice.first < slice.bins)
        atomicAdd(&counts[keys[rest]], 1u);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < own; i += kThreads)
        if (own_counters[i] > 0)
            atomicAdd(&counts[slice.first + i * Blocks + rank], own_counters[i]);
}

}  // namespace
}  // namespace modern_cuda
