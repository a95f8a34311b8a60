// Solution: a sum of tiles that waits, and whose threads stay.
//
// The lanes of a warp do not go in lockstep, at least not since 2017. A round of the tail
// reads what other lanes wrote in the round before, so there is a __syncwarp() before each.
// It stands in front of the `if`, where all 32 lanes pass: inside it, the call would name
// lanes that do not come, which CUDA does not allow. One is enough: in a round nobody
// reads a part that somebody else writes.
//
// Nobody returns before a barrier that others wait at. Threads without an element put 0
// into their places, which the tree adds without harm, and come to every barrier.
#include <cuda_runtime.h>

#include "exercises/2_memory_model/warp_tail/warp_tail.h"

constexpr unsigned tile_size = 256;  // floats in a tile, and threads in a block

__global__ void sum_one_tile(const float* values, int count, float* sums) {
    __shared__ float part[tile_size];
    const unsigned thread = threadIdx.x;
    const int i = blockIdx.x * tile_size + thread;
    part[thread] = i < count ? values[i] : 0.0f;

    for (unsigned half = tile_size / 2; half >= 32; half /= 2) {
        __syncthreads();
        if (thread < half) part[thread] += part[thread + half];
    }

    // One warp is left, and its lanes wait for each other only.
    if (thread < 32) {
        for (unsigned half = 16; half > 0; half /= 2) {
            __syncwarp();
            if (thread < half) part[thread] += part[thread + half];
        }
    }
    if (thread == 0) sums[blockIdx.x] = part[0];
}

void sum_tiles(const float* d_values, int count, float* d_sums) {
    if (count == 0) return;
    const unsigned tiles = (count + tile_size - 1) / tile_size;
    sum_one_tile<<<tiles, tile_size>>>(d_values, count, d_sums);
}
