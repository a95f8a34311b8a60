// Solution: scan a tile with few barriers.
//
// Within a warp, a lane adds the value of the lane 1, 2, 4, 8, and 16 places below it. The
// first lanes have no such lane: __shfl_up_sync gives them their own value back, and they
// must not add it. All 32 lanes call the shuffle in every round.
//
// Then the sums of the warps are scanned in the same way. Lane 31 of each warp holds the
// sum of its warp and stores it. After a barrier, warp 0 scans these sums, and after
// another barrier each warp adds the sum of all warps before it, which is the scanned sum
// of the warp just before.
//
// Threads past the end bring 0 along, so the last thread of the block holds the sum of the
// tile, whether the tile is short or not.
#include <cuda_runtime.h>

#include "exercises/4_examples/scan_in_a_block/scan_in_a_block.h"

/// The sum of the lanes of the warp up to this one.
__device__ float scan_of_warp(float value) {
    const unsigned lane = threadIdx.x % 32;
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const float before = __shfl_up_sync(0xffffffff, value, distance);
        if (lane >= distance) value += before;
    }
    return value;
}

/// One block per tile, one thread per value: scanned[i] is the sum of the tile up to value
/// i, and sums[blockIdx.x] is the sum of the whole tile.
__global__ void scan_one_tile(const float* values, int count, float* scanned, float* sums) {
    __shared__ float warp_sums[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float value = scan_of_warp(i < count ? values[i] : 0.0f);
    if (lane == 31) warp_sums[warp] = value;
    __syncthreads();
    if (warp == 0) {
        const float sum = lane < blockDim.x / 32 ? warp_sums[lane] : 0.0f;
        warp_sums[lane] = scan_of_warp(sum);
    }
    __syncthreads();
    if (warp > 0) value += warp_sums[warp - 1];
    if (i < count) scanned[i] = value;
    if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = value;
}

void scan_tiles(const float* d_values, int count, float* d_scanned, float* d_sums,
                int threads_per_block) {
    if (count == 0) return;
    const int tiles = (count + threads_per_block - 1) / threads_per_block;
    scan_one_tile<<<tiles, threads_per_block>>>(d_values, count, d_scanned, d_sums);
}
