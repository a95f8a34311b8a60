// Wrong answer: adds all elements to sums by atomics, and nobody has cleared them
// Rejected by: sums full tiles
// Message: element 0 is nan
#include <cuda_runtime.h>

#include "exercises/2_memory_model/warp_tail/warp_tail.h"

constexpr unsigned tile_size = 256;  // floats in a tile, and threads in a block

__global__ void sum_one_tile(const float* values, int count, float* sums) {
    const int i = blockIdx.x * tile_size + threadIdx.x;
    if (i < count) atomicAdd(&sums[blockIdx.x], values[i]);
}

void sum_tiles(const float* d_values, int count, float* d_sums) {
    if (count == 0) return;
    const unsigned tiles = (count + tile_size - 1) / tile_size;
    sum_one_tile<<<tiles, tile_size>>>(d_values, count, d_sums);
}
