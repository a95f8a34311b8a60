// Solution: blocks that wait for each other, in the right order.
//
// There were two mistakes, in three places. A tile told its state first and stored the
// number afterwards. A release makes visible what the thread has stored *before* it, so
// whoever saw the state could read the number of an earlier call, or none. Now the number
// is stored first, for the sum and for the prefix.
//
// And the tile was that of blockIdx.x. Nothing promises that blocks start in this order. If
// as many blocks as fit on the device wait for tiles of blocks that have not started,
// nobody ever goes on. Now a block draws the number of its tile when it starts, so it only
// waits for blocks that have started before.
#include <cuda_runtime.h>

#include <cuda/atomic>

#include "exercises/4_examples/look_back_order/look_back_order.h"

constexpr unsigned threads_per_block = 128;  // and floats per tile

// What a tile has told: nothing, its own sum, or the sum of everything up to its end.
constexpr unsigned nothing = 0, sum_is_known = 1, prefix_is_known = 2;
using State = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

/// The sum of the values of this thread and of all threads of the block before it.
__device__ float scan_of_block(float value) {
    __shared__ float warp_sums[threads_per_block / 32];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const float before = __shfl_up_sync(0xffffffff, value, distance);
        if (lane >= distance) value += before;
    }
    if (lane == 31) warp_sums[warp] = value;
    __syncthreads();
    for (unsigned w = 0; w < warp; ++w) value += warp_sums[w];
    return value;
}

__global__ void scan_in_one_launch(const float* values, int count, float* results,
                                   float* sums, float* prefixes, unsigned* states,
                                   unsigned* drawn) {
    __shared__ float before_tile;
    __shared__ unsigned drawn_tile;
    if (threadIdx.x == 0) drawn_tile = atomicAdd(drawn, 1u);
    __syncthreads();
    const unsigned tile = drawn_tile;
    const int i = tile * threads_per_block + threadIdx.x;
    const float value = scan_of_block(i < count ? values[i] : 0.0f);

    if (threadIdx.x == threads_per_block - 1) {  // whose value is the sum of the tile
        float before = 0;
        if (tile > 0) {
            sums[tile] = value;
            State(states[tile]).store(sum_is_known, cuda::memory_order_release);
            unsigned other = tile, state;
            do {  // ends at tile 0, which tells its prefix at once
                --other;
                do {
                    state = State(states[other]).load(cuda::memory_order_acquire);
                } while (state == nothing);
                before += state == prefix_is_known ? prefixes[other] : sums[other];
            } while (state != prefix_is_known);
        }
        prefixes[tile] = before + value;
        State(states[tile]).store(prefix_is_known, cuda::memory_order_release);
        before_tile = before;
    }
    __syncthreads();
    if (i < count) results[i] = before_tile + value;
}

void prefix_sums(const float* d_values, int count, float* d_results, float* d_sums,
                 float* d_prefixes, unsigned* d_states, unsigned* d_drawn) {
    if (count == 0) return;
    const unsigned tiles = (count + threads_per_block - 1) / threads_per_block;
    scan_in_one_launch<<<tiles, threads_per_block>>>(d_values, count, d_results, d_sums,
                                                     d_prefixes, d_states, d_drawn);
}
