// Wrong answer: rounds over the whole block, with a barrier in each
// Rejected by: waits for the block at most twice
// Message: barriers
#include <cuda_runtime.h>

#include "exercises/4_examples/scan_in_a_block/scan_in_a_block.h"

__global__ void scan_one_tile(const float* values, int count, float* scanned, float* sums) {
    __shared__ float part[2][1024];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < count ? values[i] : 0.0f;
    int now = 0;
    part[now][threadIdx.x] = value;
    for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
        __syncthreads();
        if (threadIdx.x >= distance) value += part[now][threadIdx.x - distance];
        now = 1 - now;
        part[now][threadIdx.x] = value;
    }
    if (i < count) scanned[i] = value;
    if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = value;
}

void scan_tiles(const float* d_values, int count, float* d_scanned, float* d_sums,
                int threads_per_block) {
    if (count == 0) return;
    const int tiles = (count + threads_per_block - 1) / threads_per_block;
    scan_one_tile<<<tiles, threads_per_block>>>(d_values, count, d_scanned, d_sums);
}
