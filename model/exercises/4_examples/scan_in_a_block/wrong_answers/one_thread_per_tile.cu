// Wrong answer: one thread scans its tile in a loop
// Rejected by: scans tiles of several warps
// Message: thread
#include <cuda_runtime.h>

#include "exercises/4_examples/scan_in_a_block/scan_in_a_block.h"

__global__ void scan_one_tile(const float* values, int count, float* scanned, float* sums) {
    if (threadIdx.x != 0) return;
    const int first = blockIdx.x * blockDim.x;
    float sum = 0;
    for (int i = first; i < first + static_cast<int>(blockDim.x) && i < count; ++i) {
        sum += values[i];
        scanned[i] = sum;
    }
    sums[blockIdx.x] = sum;
}

void scan_tiles(const float* d_values, int count, float* d_scanned, float* d_sums,
                int threads_per_block) {
    if (count == 0) return;
    const int tiles = (count + threads_per_block - 1) / threads_per_block;
    scan_one_tile<<<tiles, threads_per_block>>>(d_values, count, d_scanned, d_sums);
}
