// Correct answer: all lanes read, wait, write and wait, as in warpReduce of the samples
#include <cuda_runtime.h>

#include "exercises/2_memory_model/warp_tail/warp_tail.h"

constexpr unsigned tile_size = 256;  // floats in a tile, and threads in a block

__device__ void warp_reduce(float* part, unsigned lane) {
    float v = part[lane];
    v += part[lane + 32];
    __syncwarp();
    part[lane] = v;
    __syncwarp();
    v += part[lane + 16];
    __syncwarp();
    part[lane] = v;
    __syncwarp();
    v += part[lane + 8];
    __syncwarp();
    part[lane] = v;
    __syncwarp();
    v += part[lane + 4];
    __syncwarp();
    part[lane] = v;
    __syncwarp();
    v += part[lane + 2];
    __syncwarp();
    part[lane] = v;
    __syncwarp();
    v += part[lane + 1];
    __syncwarp();
    part[lane] = v;
}

__global__ void sum_one_tile(const float* values, int count, float* sums) {
    __shared__ float part[tile_size];
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * tile_size + tid;
    float mine = 0.0f;
    if (i < static_cast<size_t>(count)) mine = values[i];
    part[tid] = mine;
    __syncthreads();
    if (tid < 128) part[tid] += part[tid + 128];
    __syncthreads();
    if (tid < 64) part[tid] += part[tid + 64];
    __syncthreads();
    if (tid < 32) warp_reduce(part, tid);
    if (tid == 0) sums[blockIdx.x] = part[0];
}

void sum_tiles(const float* d_values, int count, float* d_sums) {
    if (count == 0) return;
    const unsigned tiles = (count + tile_size - 1) / tile_size;
    sum_one_tile<<<tiles, tile_size>>>(d_values, count, d_sums);
}
