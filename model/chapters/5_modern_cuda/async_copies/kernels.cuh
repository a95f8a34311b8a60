// The kernels of the lesson async_copies, in the order of the steps. The array is cut into
// windows of 256 floats. Each kernel computes how rough the signal is in each window: the
// sum of the squares of its second differences, in[i - 1] - 2 * in[i] + in[i + 1].
#pragma once

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cuda/barrier>
#include <cuda/pipeline>

#ifndef __CPU_DEVICE__
// A cuda::barrier has a constructor, which does not run in shared memory.
#pragma nv_diag_suppress static_var_with_dynamic_init
#endif

namespace modern_cuda {
namespace {

namespace cg = cooperative_groups;

constexpr unsigned kThreads = 256;  // per block, that compute
constexpr unsigned kWarps = kThreads / 32;
constexpr unsigned kWindow = 256;             // floats: one warp adds up a window
constexpr unsigned kTile = kWarps * kWindow;  // floats that a block has at a time
constexpr unsigned kHalo = 32;                // more floats on both sides of a tile
constexpr unsigned kBuffer = kTile + 2 * kHalo;

__host__ __device__ constexpr std::size_t tiles_of(std::size_t count,
                                                   unsigned tile = kTile) {
    return (count + tile - 1) / tile;
}

// What a tile needs of the array: with the halo, as far as the array has it. One neighbor
// on each side would be enough. A halo of 32 floats lets each copy begin at a multiple of
// 128 bytes, in the array (which begins at one, too) and in the buffer. 16 bytes are what
// the copies require, but on an H200 they take longer where the two addresses differ modulo
// 128 bytes (the table read_share).
struct Part {
    std::size_t first;    // in the array
    unsigned place;       // of this float in the buffer
    unsigned quads;       // groups of four floats
    unsigned after_them;  // single floats: 0 to 3
};
__device__ Part part_of(std::size_t tile, std::size_t count, unsigned floats = kTile) {
    const std::size_t begin = tile * floats;
    const std::size_t first = tile == 0 ? 0 : begin - kHalo;
    std::size_t end = begin + floats + kHalo;
    if (end > count) end = count;
    const unsigned length = static_cast<unsigned>(end - first);
    return {first, tile == 0 ? kHalo : 0, length / 4, length % 4};
}

// A warp adds up one window of the tile. Lanes read neighboring floats, so there are no
// bank conflicts. Each float is read three times, which is why it is in shared memory.
__device__ void add_up_window(const float* buffer, std::size_t window, unsigned place,
                              std::size_t count, float* out) {
    const std::size_t begin = window * kWindow;
    if (begin >= count) return;
    const unsigned lane = threadIdx.x % 32;
    // The first and the last float of the array lack a neighbor.
    const unsigned first = begin == 0 ? 1 : 0;
    const unsigned end =
        count - 1 - begin < kWindow ? static_cast<unsigned>(count - 1 - begin) : kWindow;
    float sum = 0;
#pragma unroll
    for (unsigned i = 0; i < kWindow; i += 32) {
        const unsigned k = i + lane;
        if (k >= first && k < end) {
            const float* const at = buffer + place + k;
            const float bend = at[-1] - 2 * at[0] + at[1];
            sum += bend * bend;
        }
    }
#pragma unroll
    for (unsigned distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xFFFFFFFFu, sum, distance);
    if (lane == 0) out[window] = sum;
}

__device__ void add_up_tile(const float* buffer, std::size_t tile, std::size_t count,
                            float* out) {
    const unsigned warp = threadIdx.x / 32;
    add_up_window(buffer, tile * kWarps + warp, kHalo + warp * kWindow, count, out);
}

// Step 2, through registers. As many blocks as are resident take turns at the tiles. Each
// thread loads up to three times 16 bytes into registers, stores them to shared memory, and
// waits at a barrier.
// Slow because a block does one thing at a time: while it computes, it has no loads in
// flight, and while its loads are in flight, it does not compute. Only other blocks of the
// SM can fill these gaps. Besides, the registers hold the tile on its way.
__global__ void windows_through_registers(const float* in, std::size_t count, float* out) {
    __shared__ alignas(128) float buffer[kBuffer];
    constexpr unsigned loads = (kBuffer / 4 + kThreads - 1) / kThreads;
    for (std::size_t t = blockIdx.x; t < tiles_of(count); t += gridDim.x) {
        const Part part = part_of(t, count);
        const float4* const from = reinterpret_cast<const float4*>(in + part.first);
        float4* const to = reinterpret_cast<float4*>(buffer + part.place);
        float4 quads[loads];
#pragma unroll
        for (unsigned k = 0; k < loads; ++k) {
            const unsigned i = k * kThreads + threadIdx.x;
            if (i < part.quads) quads[k] = from[i];
        }
#pragma unroll
        for (unsigned k = 0; k < loads; ++k) {
            const unsigned i = k * kThreads + threadIdx.x;
            if (i < part.quads) to[i] = quads[k];
        }
        if (threadIdx.x < part.after_them) {
            const unsigned i = 4 * part.quads + threadIdx.x;
            buffer[part.place + i] = in[part.first + i];
        }
        __syncthreads();
        add_up_tile(buffer, t, count, out);
        __syncthreads();  // before the next tile overwrites this one
    }
}

// Step 3, cg::memcpy_async: the block asks for a copy from global to shared memory, and
// waits for it. From compute capability 8.0 on, the bytes do not pass through registers.
// cuda::aligned_size_t promises that both addresses and the size are multiples of 16 bytes,
// so that each instruction copies that much. Up to three floats are left for a second copy.
// Better because no registers are needed, and because there are no stores to wait for.
// Little can be gained, because the block still waits right after it has asked. On an H200
// it takes about as long as step 2.
__global__ void windows_memcpy_async(const float* in, std::size_t count, float* out) {
    __shared__ alignas(128) float buffer[kBuffer];
    const cg::thread_block block = cg::this_thread_block();
    for (std::size_t t = blockIdx.x; t < tiles_of(count); t += gridDim.x) {
        const Part part = part_of(t, count);
        const unsigned floats = 4 * part.quads;
        cg::memcpy_async(block, buffer + part.place, in + part.first,
                         cuda::aligned_size_t<16>(floats * sizeof(float)));
        if (part.after_them > 0) {
            cg::memcpy_async(block, buffer + part.place + floats, in + part.first + floats,
                             part.after_them * sizeof(float));
        }
        cg::wait(block);  // for the copies of all threads: it ends with a barrier
        add_up_tile(buffer, t, count, out);
        block.sync();  // before the next tile overwrites this one
    }
}

// What the steps from 4 on share: the threads of a group copy a tile. `arrives` is the
// pipeline or the barrier that tells when it has arrived.
template <class Group, class Arrives>
__device__ void copy_part(const Group& group, const Part& part, const float* in,
                          float* buffer, Arrives& arrives) {
    const unsigned floats = 4 * part.quads;
    if (floats > 0) {
        cuda::memcpy_async(group, buffer + part.place, in + part.first,
                           cuda::aligned_size_t<16>(floats * sizeof(float)), arrives);
    }
    if (part.after_them > 0) {
        cuda::memcpy_async(group, buffer + part.place + floats, in + part.first + floats,
                           part.after_them * sizeof(float), arrives);
    }
}

// Steps 4 and 5, cuda::pipeline. There are several buffers (stages). While the block works
// on one tile, the copies of the next Stages - 1 tiles are in flight. A pipeline of thread
// scope orders the copies of one thread: producer_commit() ends a stage, and
// consumer_wait() waits for the oldest stage. Other threads have copied other parts of the
// tile, so a barrier has to follow. It also says that all threads have done with the tile
// before, whose buffer takes the next copy.
// This should be faster because bytes are in flight all the time, with one barrier per tile
// instead of two. On an H200 it gains next to nothing: eight blocks of an SM fill each
// other's gaps in step 3 already, and with stages fewer of them are resident.
template <unsigned Stages>
__global__ void windows_pipeline(const float* in, std::size_t count, float* out) {
    __shared__ alignas(128) float buffers[Stages][kBuffer];
    const cg::thread_block block = cg::this_thread_block();
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    const std::size_t tiles = tiles_of(count);
    std::size_t next = blockIdx.x;  // the tile that is copied next
    for (unsigned stage = 0; stage + 1 < Stages; ++stage, next += gridDim.x) {
        pipe.producer_acquire();
        if (next < tiles) copy_part(block, part_of(next, count), in, buffers[stage], pipe);
        pipe.producer_commit();  // an empty stage, too: so their number stays the same
    }
    unsigned stage = 0, free = Stages - 1;
    for (std::size_t t = blockIdx.x; t < tiles; t += gridDim.x, next += gridDim.x) {
        pipe.consumer_wait();
        block.sync();
        pipe.producer_acquire();
        if (next < tiles) copy_part(block, part_of(next, count), in, buffers[free], pipe);
        pipe.producer_commit();
        add_up_tile(buffers[stage], t, count, out);
        pipe.consumer_release();
        free = stage;
        stage = stage + 1 < Stages ? stage + 1 : 0;
    }
}

// Steps 6 and 7, a warp that does nothing but copy. Each stage has two barriers in shared
// memory. The producer warp waits until a stage is empty, begins the copy, and arrives at
// `filled`. A phase of `filled` completes when its 32 lanes have arrived and their copies
// have landed. The other warps wait for that, and arrive at `empty` when they have done.
// Nobody waits for the whole block. wait_parity(p) waits for a phase of parity p to
// complete; phases have the parities 0, 1, 0 ... Before the first phase it is as if one of
// parity 1 had completed, so that the producer finds all stages empty.
// Faster because a fast warp need not wait for a slow one at each tile, and because the
// warps that compute do not compute addresses for copies. From compute capability 9.0 on,
// one lane hands the whole tile to the copy engine (TMA) in one instruction.
// Still slow because a tile of 8 KiB is over soon, so there are many waits.
template <unsigned Stages>
__global__ void windows_producer_warp(const float* in, std::size_t count, float* out) {
    __shared__ alignas(128) float buffers[Stages][kBuffer];
    __shared__ cuda::barrier<cuda::thread_scope_block> filled[Stages], empty[Stages];
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    if (block.thread_rank() < Stages) {
        init(&filled[block.thread_rank()], 32);     // lanes of the producer
        init(&empty[block.thread_rank()], kWarps);  // warps that compute
    }
    block.sync();
    unsigned stage = 0;
    bool parity = false;
    for (std::size_t t = blockIdx.x; t < tiles_of(count); t += gridDim.x) {
        if (warp.meta_group_rank() == kWarps) {
            empty[stage].wait_parity(!parity);
            copy_part(warp, part_of(t, count), in, buffers[stage], filled[stage]);
            (void)filled[stage].arrive();
        } else {
            filled[stage].wait_parity(parity);
            add_up_tile(buffers[stage], t, count, out);
            warp.sync();  // all lanes have read
            if (warp.thread_rank() == 0) (void)empty[stage].arrive();
        }
        if (++stage == Stages) {
            stage = 0;
            parity = !parity;
        }
    }
}

// Steps 7 and 8 have numbers to choose: stages, windows per warp in a tile, by how many
// floats the buffers are off a multiple of 128 bytes, and whether a lane reads 16 bytes at
// a time from shared memory.
template <unsigned Stages, unsigned Windows, unsigned Off = 0, bool Wide = false>
struct Tuning {
    static constexpr bool wide = Wide;
    static constexpr unsigned stages = Stages;
    static constexpr unsigned windows = Windows;
    static constexpr unsigned off = Off;
    static constexpr unsigned tile = Windows * kTile;  // floats
    static constexpr unsigned buffer = tile + 2 * kHalo;
    static constexpr std::size_t shared_bytes = (Off + Stages * buffer) * sizeof(float);
};

// What step 8 does instead of add_up_window: a lane loads four neighboring floats at once,
// of each row of 128. The floats beside them are those of the lanes next to it, which hand
// them over in registers. Only both ends of a row are loaded by themselves. Windows at the
// ends of the array are added up as before.
__device__ void add_up_window_wide(const float* buffer, std::size_t window, unsigned place,
                                   std::size_t count, float* out) {
    const std::size_t begin = window * kWindow;
    if (begin == 0 || begin + kWindow >= count)
        return add_up_window(buffer, window, place, count, out);
    const unsigned lane = threadIdx.x % 32;
    float sum = 0;
#pragma unroll
    for (unsigned row = 0; row < kWindow; row += 128) {
        const float* const at = buffer + place + row;
        const float4 four = reinterpret_cast<const float4*>(at)[lane];
        float before = __shfl_up_sync(0xFFFFFFFFu, four.w, 1);
        float after = __shfl_down_sync(0xFFFFFFFFu, four.x, 1);
        if (lane == 0) before = at[-1];
        if (lane == 31) after = at[128];
        const float bends[4] = {before - 2 * four.x + four.y, four.x - 2 * four.y + four.z,
                                four.y - 2 * four.z + four.w, four.z - 2 * four.w + after};
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) sum += bends[k] * bends[k];
    }
#pragma unroll
    for (unsigned distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xFFFFFFFFu, sum, distance);
    if (lane == 0) out[window] = sum;
}

// Step 7, larger tiles: a warp adds up several windows before it says that a stage is
// empty. The buffers are in dynamic shared memory, because they need more than 48 KiB.
// Faster because a wait and two arrivals are for more bytes, and because each copy is
// longer. Still slow, probably, because each float is loaded three times from shared
// memory. Step 8, wide reads: one load of 16 bytes and two exchanges where step 7 has
// twelve loads of 4 bytes. This should be faster because shared memory has a third of the
// bytes to give.
template <class Numbers>
__global__ void windows_tuned(const float* in, std::size_t count, float* out) {
    extern __shared__ __align__(128) float4 dynamic_buffers[];
    float* const buffers = reinterpret_cast<float*>(dynamic_buffers) + Numbers::off;
    constexpr unsigned stages = Numbers::stages;
    __shared__ cuda::barrier<cuda::thread_scope_block> filled[stages], empty[stages];
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    if (block.thread_rank() < stages) {
        init(&filled[block.thread_rank()], 32);
        init(&empty[block.thread_rank()], kWarps);
    }
    block.sync();
    const unsigned rank = warp.meta_group_rank();
    unsigned stage = 0;
    bool parity = false;
    for (std::size_t t = blockIdx.x; t < tiles_of(count, Numbers::tile); t += gridDim.x) {
        float* const buffer = buffers + stage * Numbers::buffer;
        if (rank == kWarps) {
            empty[stage].wait_parity(!parity);
            copy_part(warp, part_of(t, count, Numbers::tile), in, buffer, filled[stage]);
            (void)filled[stage].arrive();
        } else {
            filled[stage].wait_parity(parity);
#pragma unroll
            for (unsigned k = 0; k < Numbers::windows; ++k) {
                const unsigned window = k * kWarps + rank;
                const std::size_t of_array = t * Numbers::windows * kWarps + window;
                if constexpr (Numbers::wide)
                    add_up_window_wide(buffer, of_array, kHalo + window * kWindow, count,
                                       out);
                else
                    add_up_window(buffer, of_array, kHalo + window * kWindow, count, out);
            }
            warp.sync();
            if (warp.thread_rank() == 0) (void)empty[stage].arrive();
        }
        if (++stage == stages) {
            stage = 0;
            parity = !parity;
        }
    }
}

using Tuned = Tuning<2, 2>;
using WideReads = Tuning<2, 2, 0, true>;

}  // namespace
}  // namespace modern_cuda
