// Wrong answer: the host sums the tiles, the kernel is empty
// Rejected by: sums full tiles
// Message: kernels have to write the result
#include <cuda_runtime.h>

#include "exercises/2_memory_model/warp_tail/warp_tail.h"

#include <vector>

__global__ void sum_one_tile() {}

void sum_tiles(const float* d_values, int count, float* d_sums) {
    if (count == 0) return;
    const int tiles = (count + 255) / 256;
    std::vector<float> values(count), sums(tiles);
    cudaMemcpy(values.data(), d_values, count * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; ++i) sums[i / 256] += values[i];
    cudaMemcpy(d_sums, sums.data(), tiles * sizeof(float), cudaMemcpyHostToDevice);
    sum_one_tile<<<tiles, 256>>>();
}
