// Wrong answer: each thread loads all values before its own
// Rejected by: reads each value once in whole sectors
// Message: of global memory moved, at most
#include <cuda_runtime.h>

#include "exercises/4_examples/scan_in_a_block/scan_in_a_block.h"

__global__ void scan_one_tile(const float* values, int count, float* scanned, float* sums) {
    const int first = blockIdx.x * blockDim.x;
    const int i = first + threadIdx.x;
    float sum = 0;
    for (int j = first; j <= i && j < count; ++j) sum += values[j];
    if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = sum;
    if (i < count) scanned[i] = sum;
}

void scan_tiles(const float* d_values, int count, float* d_scanned, float* d_sums,
                int threads_per_block) {
    if (count == 0) return;
    const int tiles = (count + threads_per_block - 1) / threads_per_block;
    scan_one_tile<<<tiles, threads_per_block>>>(d_values, count, d_scanned, d_sums);
}
